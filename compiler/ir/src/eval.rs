//! The evaluator of expressions: pure, total but for the faults it names.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use crate::expr::{At, Comparison, Expr, Function, Kind, Operator, Test};
use crate::message::{ASSISTANT, Conversation};
use crate::value::Value;

mod function;

pub(crate) use function::{MOST_NUMBERS, apply};

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
        Kind::Minus(a) => negative(&eval(a, scope)?).or_else(|why| fault(expr, why)),
        Kind::And(a, b) => Ok(Value::Bool(truth(a, scope)? && truth(b, scope)?)),
        Kind::Or(a, b) => Ok(Value::Bool(truth(a, scope)? || truth(b, scope)?)),
        Kind::Compare(op, a, b) => compare(expr, *op, &eval(a, scope)?, &eval(b, scope)?),
        Kind::In(a, b) => {
            let (a, b) = (eval(a, scope)?, eval(b, scope)?);
            contains(&b, &a).or_else(|why| fault(expr, why))
        }
        Kind::Arithmetic(op, a, b) => {
            let (a, b) = (eval(a, scope)?, eval(b, scope)?);
            arithmetic(*op, &a, &b).or_else(|why| fault(expr, why))
        }
        Kind::Defined(a) => Ok(Value::Bool(is_defined(a, scope))),
        Kind::Is(test, a) => Ok(Value::Bool(passes(*test, &eval(a, scope)?))),
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

fn negative(value: &Value) -> Result<Value, String> {
    match value {
        Value::Int(n) => n.checked_neg().map(Value::Int).ok_or_else(out_of_range),
        Value::Float(x) => number(-x),
        other => Err(format!("the negative of {}", other.kind())),
    }
}

fn number(x: f64) -> Result<Value, String> {
    Value::float(x).ok_or_else(|| "the result is not a finite number".to_owned())
}

/// The order of two values of one kind; `None` where they have none.
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        _ => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
    }
}

fn equal(a: &Value, b: &Value) -> Result<bool, String> {
    if matches!(a, Value::Null) || matches!(b, Value::Null) {
        return Ok(a == b);
    }
    if a.kind() != b.kind() {
        return Err(format!("{} is compared with {}", a.kind(), b.kind()));
    }
    Ok(order(a, b).map_or_else(|| a == b, Ordering::is_eq))
}

fn compare(expr: &Expr, op: Comparison, a: &Value, b: &Value) -> Computed {
    let holds = match op {
        Comparison::Equal => equal(a, b).or_else(|why| fault(expr, why))?,
        Comparison::NotEqual => !equal(a, b).or_else(|why| fault(expr, why))?,
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

fn contains(haystack: &Value, needle: &Value) -> Result<Value, String> {
    let found = match (haystack, needle) {
        (Value::Str(text), Value::Str(part)) => text.contains(&**part),
        (Value::List(items), needle) => {
            items.iter().any(|item| item.kind() == needle.kind() && equal(item, needle) == Ok(true))
        }
        // Null counts as not there, here as everywhere.
        (Value::Map(map), Value::Str(key)) => map.get(key).is_some_and(|value| *value != Value::Null),
        (haystack, needle) => return Err(format!("{} in {}", needle.kind(), haystack.kind())),
    };
    Ok(Value::Bool(found))
}

fn arithmetic(op: Operator, a: &Value, b: &Value) -> Result<Value, String> {
    if op == Operator::Concat {
        let (a, b) = (text_of(a)?, text_of(b)?);
        return bounded(a.len() + b.len(), || a + &b);
    }
    if let (Value::Int(a), Value::Int(b)) = (a, b)
        && op != Operator::Divide
    {
        let result = match op {
            Operator::Add => a.checked_add(*b),
            Operator::Subtract => a.checked_sub(*b),
            Operator::Multiply => a.checked_mul(*b),
            _ if *b == 0 => return Err("division by zero".to_owned()),
            Operator::FloorDivide => a.checked_div(*b).map(|q| q - i64::from((a % b != 0) && ((a < &0) != (b < &0)))),
            _ => a.checked_rem(*b).map(|r| if r != 0 && ((r < 0) != (*b < 0)) { r + b } else { r }),
        };
        return result.map(Value::Int).ok_or_else(out_of_range);
    }
    let Some((a, b)) = a.as_f64().zip(b.as_f64()) else {
        return Err(format!("{} {} {}", a.kind(), op.sign(), b.kind()));
    };
    match op {
        Operator::Add => number(a + b),
        Operator::Subtract => number(a - b),
        Operator::Multiply => number(a * b),
        _ if b == 0.0 => Err("division by zero".to_owned()),
        Operator::Divide => number(a / b),
        Operator::FloorDivide => number((a / b).floor()),
        _ => number(a - b * (a / b).floor()),
    }
}

fn out_of_range() -> String {
    "a number out of range".to_owned()
}

/// The longest text that an expression or a template may make: loops that double a text must end as task errors, and not
/// in the memory.
pub const MOST_TEXT: usize = 16 << 20;

fn bounded(length: usize, text: impl FnOnce() -> String) -> Result<Value, String> {
    if length > MOST_TEXT {
        return Err(format!("a text of {length} bytes; at most {MOST_TEXT} are possible"));
    }
    Ok(Value::str(text()))
}

/// A printable value as templates print it; the error says what it is instead.
pub fn text_of(value: &Value) -> Result<String, String> {
    match value {
        Value::Str(text) => Ok(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(value.to_json()),
        other => Err(format!("{} is not printable", other.kind())),
    }
}

fn call(expr: &Expr, function: Function, arguments: &[Expr], scope: &dyn Scope) -> Computed {
    if function == Function::Default
        && let [value, otherwise] = arguments
    {
        // Once: nested defaults would be computed twice at every level.
        return match eval(value, scope) {
            Ok(there) if there != Value::Null => Ok(there),
            _ => eval(otherwise, scope),
        };
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
        (_, values) => function::apply(function, values).or_else(|message| fault(expr, message)),
    }
}

/// Whether the value is what the test asks for.
pub(crate) fn passes(test: Test, value: &Value) -> bool {
    match (test, value) {
        (Test::Text, Value::Str(_))
        | (Test::Number, Value::Int(_) | Value::Float(_))
        | (Test::Boolean, Value::Bool(_))
        | (Test::Sequence, Value::List(_))
        | (Test::Mapping, Value::Map(_)) => true,
        (Test::Odd, Value::Int(n)) => n % 2 != 0,
        (Test::Even, Value::Int(n)) => n % 2 == 0,
        _ => false,
    }
}

/// A compiled pattern. The same few patterns are asked for again and again, so they are kept; what is kept cannot be seen
/// from the result. It is shared: a copy of a pattern would begin with empty caches.
pub fn regex(pattern: &str) -> Result<Arc<Regex>, String> {
    static KEPT: Mutex<BTreeMap<String, Arc<Regex>>> = Mutex::new(BTreeMap::new());
    const MOST_KEPT: usize = 256;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = kept.get(pattern) {
        return Ok(Arc::clone(regex));
    }
    let built = RegexBuilder::new(pattern).size_limit(1 << 20).build();
    let why = |text: &str| text.lines().last().map(|line| line.trim().trim_start_matches("error: ").to_owned());
    let regex = Arc::new(built.map_err(|error| why(&error.to_string()).unwrap_or_default())?);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(pattern.to_owned(), Arc::clone(&regex));
    Ok(regex)
}
