//! The evaluator of expressions: pure, total but for the faults it names.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use crate::expr::{At, Comparison, Expr, Function, Kind, Operator};
use crate::message::{ASSISTANT, Conversation};
use crate::value::Value;

/// What an expression can read.
pub trait Scope {
    /// A name's value; `None` where there is no such name.
    fn get(&self, name: &str) -> Option<Value>;
    /// The conversation so far.
    fn conversation(&self) -> &Conversation;
}

/// Why an expression has no value. It ends its sample as a task error.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What was seen, and what was expected.
    pub message: String,
    /// Which part of the expression.
    pub at: At,
}

type Computed = Result<Value, Fault>;

fn fault<T>(expr: &Expr, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { message: message.into(), at: expr.at })
}

/// Computes an expression.
pub fn eval(expr: &Expr, scope: &dyn Scope) -> Computed {
    match &expr.kind {
        Kind::Literal(value) => Ok(value.clone()),
        Kind::Name(name) => scope.get(name).map_or_else(|| fault(expr, format!("`{name}` is not defined here")), Ok),
        Kind::Attribute(object, name) => {
            let value = eval(object, scope)?;
            match value.get(name) {
                Some(found) => Ok(found.clone()),
                None => fault(expr, format!("{} has no `{name}`", value.kind())),
            }
        }
        Kind::Item(object, index) => item(expr, &eval(object, scope)?, &eval(index, scope)?),
        Kind::Not(a) => Ok(Value::Bool(!truth(a, scope)?)),
        Kind::Minus(a) => negative(expr, &eval(a, scope)?),
        Kind::And(a, b) => Ok(Value::Bool(truth(a, scope)? && truth(b, scope)?)),
        Kind::Or(a, b) => Ok(Value::Bool(truth(a, scope)? || truth(b, scope)?)),
        Kind::Compare(op, a, b) => compare(expr, *op, &eval(a, scope)?, &eval(b, scope)?),
        Kind::In(a, b) => contains(expr, &eval(b, scope)?, &eval(a, scope)?),
        Kind::Arithmetic(op, a, b) => arithmetic(expr, *op, &eval(a, scope)?, &eval(b, scope)?),
        Kind::Defined(a) => Ok(Value::Bool(is_defined(a, scope))),
        Kind::If(test, yes, no) => eval(if truth(test, scope)? { yes } else { no }, scope),
        Kind::Call(function, arguments) => call(expr, *function, arguments, scope),
        Kind::List(items) => items.iter().map(|item| eval(item, scope)).collect::<Result<Vec<_>, _>>().map(Value::list),
        Kind::Map(pairs) => {
            let values: Result<Vec<_>, _> =
                pairs.iter().map(|(key, value)| Ok((key.clone(), eval(value, scope)?))).collect();
            values.map(Value::map)
        }
    }
}

/// Computes a condition. Only booleans are conditions.
pub fn truth(expr: &Expr, scope: &dyn Scope) -> Result<bool, Fault> {
    match eval(expr, scope)? {
        Value::Bool(b) => Ok(b),
        other => fault(expr, format!("{} is no condition: compare it with something", other.kind())),
    }
}

/// A name or attribute is defined where it exists and is not null.
fn is_defined(expr: &Expr, scope: &dyn Scope) -> bool {
    eval(expr, scope).is_ok_and(|value| value != Value::Null)
}

fn item(expr: &Expr, object: &Value, index: &Value) -> Computed {
    match (object, index) {
        (Value::List(items), Value::Int(n)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = usize::try_from(if *n < 0 { length + n } else { *n }).ok();
            match at.and_then(|at| items.get(at)) {
                Some(found) => Ok(found.clone()),
                None => fault(expr, format!("item {n} of a list of {length}")),
            }
        }
        (Value::Map(map), Value::Str(key)) => match map.get(key) {
            Some(found) => Ok(found.clone()),
            None => fault(expr, format!("the map has no key `{key}`")),
        },
        (object, index) => fault(expr, format!("{} cannot be indexed by {}", object.kind(), index.kind())),
    }
}

fn negative(expr: &Expr, value: &Value) -> Computed {
    match value {
        Value::Int(n) => n.checked_neg().map(Value::Int).map_or_else(|| fault(expr, "a number out of range"), Ok),
        Value::Float(x) => number(expr, -x),
        other => fault(expr, format!("the negative of {}", other.kind())),
    }
}

fn number(expr: &Expr, x: f64) -> Computed {
    Value::float(x).map_or_else(|| fault(expr, "the result is not a finite number"), Ok)
}

/// The order of two values of one kind; `None` where they have none.
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        _ => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
    }
}

fn equal(expr: &Expr, a: &Value, b: &Value) -> Result<bool, Fault> {
    if matches!(a, Value::Null) || matches!(b, Value::Null) {
        return Ok(a == b);
    }
    if a.kind() != b.kind() {
        return fault(expr, format!("{} is compared with {}", a.kind(), b.kind()));
    }
    Ok(order(a, b).map_or_else(|| a == b, Ordering::is_eq))
}

fn compare(expr: &Expr, op: Comparison, a: &Value, b: &Value) -> Computed {
    let holds = match op {
        Comparison::Equal => equal(expr, a, b)?,
        Comparison::NotEqual => !equal(expr, a, b)?,
        _ => {
            let Some(order) = order(a, b) else {
                return fault(expr, format!("{} has no order with {}", a.kind(), b.kind()));
            };
            match op {
                Comparison::Less => order.is_lt(),
                Comparison::LessOrEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                _ => order.is_ge(),
            }
        }
    };
    Ok(Value::Bool(holds))
}

fn contains(expr: &Expr, haystack: &Value, needle: &Value) -> Computed {
    let found = match (haystack, needle) {
        (Value::Str(text), Value::Str(part)) => text.contains(&**part),
        (Value::List(items), needle) => {
            items.iter().any(|item| item.kind() == needle.kind() && equal(expr, item, needle) == Ok(true))
        }
        (Value::Map(map), Value::Str(key)) => map.get(key).is_some(),
        (haystack, needle) => return fault(expr, format!("{} in {}", needle.kind(), haystack.kind())),
    };
    Ok(Value::Bool(found))
}

fn arithmetic(expr: &Expr, op: Operator, a: &Value, b: &Value) -> Computed {
    if op == Operator::Concat {
        let (a, b) = (text(expr, a)?, text(expr, b)?);
        return bounded(expr, a.len() + b.len(), || a + &b);
    }
    if let (Value::Int(a), Value::Int(b)) = (a, b)
        && op != Operator::Divide
    {
        let result = match op {
            Operator::Add => a.checked_add(*b),
            Operator::Subtract => a.checked_sub(*b),
            Operator::Multiply => a.checked_mul(*b),
            _ if *b == 0 => return fault(expr, "division by zero"),
            Operator::FloorDivide => a.checked_div(*b).map(|q| q - i64::from((a % b != 0) && ((a < &0) != (b < &0)))),
            _ => a.checked_rem(*b).map(|r| if r != 0 && ((r < 0) != (*b < 0)) { r + b } else { r }),
        };
        return result.map(Value::Int).map_or_else(|| fault(expr, "a number out of range"), Ok);
    }
    let Some((a, b)) = a.as_f64().zip(b.as_f64()) else {
        return fault(expr, format!("{} {} {}", a.kind(), op.sign(), b.kind()));
    };
    match op {
        Operator::Add => number(expr, a + b),
        Operator::Subtract => number(expr, a - b),
        Operator::Multiply => number(expr, a * b),
        _ if b == 0.0 => fault(expr, "division by zero"),
        Operator::Divide => number(expr, a / b),
        Operator::FloorDivide => number(expr, (a / b).floor()),
        _ => number(expr, a - b * (a / b).floor()),
    }
}

/// The longest text that an expression or a template may make: loops that double a text must end as task errors, and not
/// in the memory.
pub const MOST_TEXT: usize = 16 << 20;

fn bounded(expr: &Expr, length: usize, text: impl FnOnce() -> String) -> Computed {
    if length > MOST_TEXT {
        return fault(expr, format!("a text of {length} bytes; at most {MOST_TEXT} are possible"));
    }
    Ok(Value::str(text()))
}

/// A printable value as templates print it.
fn text(expr: &Expr, value: &Value) -> Result<String, Fault> {
    match value {
        Value::Str(text) => Ok(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(value.to_json()),
        other => fault(expr, format!("{} is not printable", other.kind())),
    }
}

fn call(expr: &Expr, function: Function, arguments: &[Expr], scope: &dyn Scope) -> Computed {
    if function == Function::Default
        && let [value, otherwise] = arguments
    {
        return if is_defined(value, scope) { eval(value, scope) } else { eval(otherwise, scope) };
    }
    let values = arguments.iter().map(|argument| eval(argument, scope)).collect::<Result<Vec<_>, _>>()?;
    match (function, values.as_slice()) {
        (Function::JudgedTurns, []) => {
            let turns = scope.conversation().turns_of(ASSISTANT);
            Ok(Value::list(
                turns.into_iter().filter(|&turn| turn > 0).map(|turn| Value::Int(i64::from(turn))).collect(),
            ))
        }
        (Function::Turns, []) => {
            Ok(Value::list((1..=scope.conversation().turn()).map(|turn| Value::Int(i64::from(turn))).collect()))
        }
        (Function::SaidIn, [Value::Int(turn), role @ ..]) => {
            let role = role.first().and_then(Value::as_str).unwrap_or(ASSISTANT);
            Ok(Value::str(scope.conversation().said_in(u32::try_from(*turn).unwrap_or(u32::MAX), role)))
        }
        (_, [Value::Str(one)]) if !matches!(function, Function::Text) => text_function(expr, function, one),
        (Function::Matches, [Value::Str(subject), Value::Str(pattern)]) => match regex(pattern) {
            Ok(regex) => Ok(Value::Bool(regex.is_match(subject))),
            Err(why) => fault(expr, format!("`{pattern}` is no regular expression: {why}")),
        },
        (Function::Capture, [Value::Str(subject), Value::Str(pattern)]) => match regex(pattern) {
            Ok(regex) => Ok(regex.captures(subject).map_or(Value::Null, |found| {
                Value::str(found.get(1).or_else(|| found.get(0)).map_or("", |group| group.as_str()))
            })),
            Err(why) => fault(expr, format!("`{pattern}` is no regular expression: {why}")),
        },
        (Function::Contains, [haystack, needle]) => contains(expr, haystack, needle),
        (Function::StartsWith, [Value::Str(a), Value::Str(b)]) => Ok(Value::Bool(a.starts_with(&**b))),
        (Function::EndsWith, [Value::Str(a), Value::Str(b)]) => Ok(Value::Bool(a.ends_with(&**b))),
        (Function::Text, [value]) => text(expr, value).map(Value::str),
        (Function::Join, [Value::List(items), Value::Str(between)]) => {
            let parts: Result<Vec<_>, _> = items.iter().map(|item| text(expr, item)).collect();
            let parts = parts?;
            let length = parts.iter().map(|part| part.len() + between.len()).sum();
            bounded(expr, length, || parts.join(between))
        }
        (Function::Length, [Value::Map(map)]) => Ok(count(map.len())),
        (_, [Value::List(items)]) => list_function(expr, function, items),
        (Function::Abs, [Value::Int(n)]) => {
            n.checked_abs().map(Value::Int).map_or_else(|| fault(expr, "a number out of range"), Ok)
        }
        (Function::Abs, [Value::Float(x)]) => number(expr, x.abs()),
        (Function::Round, [value, rest @ ..]) => round(expr, value, rest.first()),
        (_, values) => {
            let kinds: Vec<_> = values.iter().map(Value::kind).collect();
            fault(expr, format!("`{}` of {}", function.name(), kinds.join(" and ")))
        }
    }
}

fn count(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn text_function(expr: &Expr, function: Function, text: &str) -> Computed {
    match function {
        Function::Length => Ok(count(text.chars().count())),
        Function::Lower => Ok(Value::str(text.to_lowercase())),
        Function::Upper => Ok(Value::str(text.to_uppercase())),
        Function::Trim => Ok(Value::str(text.trim())),
        _ => fault(expr, format!("`{}` of a string", function.name())),
    }
}

fn list_function(expr: &Expr, function: Function, items: &[Value]) -> Computed {
    let end = |found: Option<&Value>| found.cloned().map_or_else(|| fault(expr, "an empty list"), Ok);
    match function {
        Function::Length => Ok(count(items.len())),
        Function::First => end(items.first()),
        Function::Last => end(items.last()),
        Function::Sum => {
            let zero = Expr { kind: Kind::Literal(Value::Int(0)), at: expr.at };
            items.iter().try_fold(Value::Int(0), |sum, item| arithmetic(&zero, Operator::Add, &sum, item))
        }
        Function::Min | Function::Max => {
            let mut best: Option<&Value> = None;
            for item in items {
                let better = match best {
                    None => true,
                    Some(best) => match order(item, best) {
                        Some(Ordering::Less) => function == Function::Min,
                        Some(Ordering::Greater) => function == Function::Max,
                        Some(Ordering::Equal) => false,
                        None => return fault(expr, format!("{} has no order with {}", item.kind(), best.kind())),
                    },
                };
                if better {
                    best = Some(item);
                }
            }
            end(best)
        }
        _ => fault(expr, format!("`{}` of a list", function.name())),
    }
}

fn round(expr: &Expr, value: &Value, decimals: Option<&Value>) -> Computed {
    let decimals = decimals.map_or(Some(0), Value::as_int).filter(|n| (0..=9).contains(n));
    let (Some(x), Some(decimals)) = (value.as_f64(), decimals) else {
        return fault(expr, "`round` takes a number, and 0 to 9 decimals");
    };
    if let Value::Int(_) = value {
        return Ok(value.clone());
    }
    let scale = (0..decimals).fold(1.0, |scale, _| scale * 10.0);
    number(expr, libm::round(x * scale) / scale)
}

/// A compiled pattern. The same few patterns are asked for again and again, so they are kept; what is kept cannot be seen
/// from the result.
pub fn regex(pattern: &str) -> Result<Regex, String> {
    static KEPT: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    const MOST_KEPT: usize = 256;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = kept.get(pattern) {
        return Ok(regex.clone());
    }
    let built = RegexBuilder::new(pattern).size_limit(1 << 20).build();
    let regex = built.map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())?;
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(pattern.to_owned(), regex.clone());
    Ok(regex)
}
