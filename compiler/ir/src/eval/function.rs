//! The functions, computed on values. Templates' filters are these too.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Value, arithmetic, bounded, contains, number, order, out_of_range, regex, text_of};
use crate::expr::{Function, Operator};

type Made = Result<Value, String>;

/// The longest list that a function may make.
const MOST_ITEMS: usize = 1 << 20;
/// The longest list that `range` makes.
pub(crate) const MOST_NUMBERS: i64 = 10_000;

/// Computes a function that does not ask for the conversation. The message of a failure stands alone.
pub(crate) fn apply(function: Function, values: &[Value]) -> Made {
    match (function, values) {
        (Function::Default, [value, otherwise]) => {
            Ok(if *value == Value::Null { otherwise.clone() } else { value.clone() })
        }
        (Function::Json, [value]) => {
            let json = value.to_json();
            bounded(json.len(), || json)
        }
        (Function::Text, [value]) => text_of(value).map(Value::str),
        (Function::Contains, [haystack, needle]) => contains(haystack, needle),
        (_, [Value::Str(subject), rest @ ..]) => of_text(function, subject, rest),
        (_, [Value::List(items), rest @ ..]) => of_list(function, items, rest),
        (Function::Length, [Value::Map(map)]) => Ok(count(map.len())),
        (Function::Items, [Value::Map(map)]) => {
            let there = map.iter().filter(|(_, value)| **value != Value::Null);
            Ok(Value::list(
                there.map(|(key, value)| Value::list(vec![Value::Str(key.clone()), value.clone()])).collect(),
            ))
        }
        (Function::ListOf, [Value::Map(map)]) => {
            Ok(Value::list(map.iter().map(|(key, _)| Value::Str(key.clone())).collect()))
        }
        (Function::Abs, [Value::Int(n)]) => n.checked_abs().map(Value::Int).ok_or_else(out_of_range),
        (Function::Abs, [Value::Float(x)]) => number(x.abs()),
        (Function::Round, [value, rest @ ..]) => round(value, rest.first()),
        (Function::Range, [Value::Int(to)]) => range(0, *to),
        (Function::Range, [Value::Int(from), Value::Int(to)]) => range(*from, *to),
        _ => unfit(function, values),
    }
}

fn unfit(function: Function, values: &[Value]) -> Made {
    let kinds: Vec<_> = values.iter().map(Value::kind).collect();
    Err(format!("`{}` of {}", function.name(), kinds.join(" and ")))
}

fn count(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn of_text(function: Function, subject: &Arc<str>, rest: &[Value]) -> Made {
    let text: &str = subject;
    match (function, rest) {
        (Function::Length, []) => Ok(count(text.chars().count())),
        (Function::Lower, []) => Ok(Value::str(text.to_lowercase())),
        (Function::Upper, []) => Ok(Value::str(text.to_uppercase())),
        (Function::Capitalize, []) => Ok(Value::str(words_with_capitals(text, |at, _| at == 0))),
        (Function::Title, []) => Ok(Value::str(words_with_capitals(text, |_, before| {
            before.is_none_or(|c| !c.is_alphanumeric() && c != '\'')
        }))),
        (Function::Trim, []) => Ok(Value::str(text.trim())),
        (Function::Reverse, []) => Ok(Value::str(text.chars().rev().collect::<String>())),
        (Function::Words, []) => Ok(count(text.split_whitespace().count())),
        (Function::Indent, []) => indent(text, 4),
        (Function::Indent, [Value::Int(width)]) => indent(text, *width),
        (Function::Replace, [Value::Str(old), Value::Str(new)]) => replace(text, old, new),
        (Function::Split, []) => listed(text.split_whitespace().map(Value::str)),
        (Function::Split, [Value::Str(between)]) if !between.is_empty() => {
            listed(text.split(&**between).map(Value::str))
        }
        (Function::Split, [Value::Str(_)]) | (Function::ListOf, []) => {
            listed(text.chars().map(|c| Value::str(c.encode_utf8(&mut [0; 4]) as &str)))
        }
        (Function::StartsWith, [Value::Str(start)]) => Ok(Value::Bool(text.starts_with(&**start))),
        (Function::EndsWith, [Value::Str(end)]) => Ok(Value::Bool(text.ends_with(&**end))),
        (Function::Matches | Function::Capture, [Value::Str(pattern)]) => {
            let regex = regex(pattern).map_err(|why| format!("`{pattern}` is no regular expression: {why}"))?;
            if function == Function::Matches {
                return Ok(Value::Bool(regex.is_match(text)));
            }
            let Some(found) = regex.captures(text) else { return Ok(Value::Null) };
            let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
            Ok(group.map_or(Value::Null, |group| Value::str(group.as_str())))
        }
        _ => {
            let values: Vec<Value> =
                [Value::Str(Arc::clone(subject))].into_iter().chain(rest.iter().cloned()).collect();
            unfit(function, &values)
        }
    }
}

/// The text in lower case, but for the characters that `is_capital` picks by their place and the character before.
fn words_with_capitals(text: &str, is_capital: impl Fn(usize, Option<char>) -> bool) -> String {
    let (mut out, mut before) = (String::with_capacity(text.len()), None);
    for (at, c) in text.chars().enumerate() {
        if is_capital(at, before) {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    out
}

fn indent(text: &str, width: i64) -> Made {
    let width = usize::try_from(width).unwrap_or(0);
    let lines = text.split('\n').count();
    let blanks = || " ".repeat(width);
    bounded(text.len().saturating_add(lines.saturating_mul(width)), || {
        let blanks = blanks();
        let mut out = String::with_capacity(text.len());
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                out.push('\n');
            }
            if at > 0 && !line.trim().is_empty() {
                out.push_str(&blanks);
            }
            out.push_str(line);
        }
        out
    })
}

fn replace(text: &str, old: &str, new: &str) -> Made {
    let grows = new.len().saturating_sub(old.len());
    let found = if grows == 0 { 0 } else { text.matches(old).count() };
    bounded(text.len().saturating_add(found.saturating_mul(grows)), || text.replace(old, new))
}

/// A list of at most [`MOST_ITEMS`] items.
fn listed(items: impl Iterator<Item = Value>) -> Made {
    let list: Vec<Value> = items.take(MOST_ITEMS + 1).collect();
    if list.len() > MOST_ITEMS {
        return Err(format!("a list of more than {MOST_ITEMS} items"));
    }
    Ok(Value::list(list))
}

fn of_list(function: Function, items: &[Value], rest: &[Value]) -> Made {
    let end = |found: Option<&Value>| found.cloned().ok_or_else(|| format!("`{}` of an empty list", function.name()));
    match (function, rest) {
        (Function::Length, []) => Ok(count(items.len())),
        (Function::First, []) => end(items.first()),
        (Function::Last, []) => end(items.last()),
        (Function::Sum, []) => items.iter().try_fold(Value::Int(0), |sum, item| arithmetic(Operator::Add, &sum, item)),
        (Function::Min, []) => end(best(items, Ordering::Less)?),
        (Function::Max, []) => end(best(items, Ordering::Greater)?),
        (Function::Join, []) => join(items, ""),
        (Function::Join, [Value::Str(between)]) => join(items, between),
        (Function::Reverse, []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        (Function::ListOf, []) => Ok(Value::list(items.to_vec())),
        (Function::Sort, []) => sort(items),
        (Function::Unique, []) => {
            let mut seen = BTreeSet::new();
            Ok(Value::list(items.iter().filter(|item| seen.insert(identity(item))).cloned().collect()))
        }
        (Function::Any | Function::All, []) => {
            let wanted = function == Function::Any;
            for item in items {
                match item {
                    Value::Bool(holds) if *holds == wanted => return Ok(Value::Bool(wanted)),
                    Value::Bool(_) => {}
                    other => return Err(format!("`{}` of {} among the items", function.name(), other.kind())),
                }
            }
            Ok(Value::Bool(!wanted))
        }
        _ => {
            let values: Vec<Value> = [Value::list(Vec::new())].into_iter().chain(rest.iter().cloned()).collect();
            unfit(function, &values)
        }
    }
}

fn join(items: &[Value], between: &str) -> Made {
    let parts = items.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    let length = parts.iter().map(|part| part.len() + between.len()).sum();
    bounded(length, || parts.join(between))
}

/// The item that stands first in this order; the first of equal ones.
fn best(items: &[Value], wanted: Ordering) -> Result<Option<&Value>, String> {
    let mut best: Option<&Value> = None;
    for item in items {
        let better = match best {
            None => order(item, item).is_some(),
            Some(best) => order(item, best).ok_or_else(|| no_order(item, best))? == wanted,
        };
        if better {
            best = Some(item);
        } else if best.is_none() {
            return Err(no_order(item, item));
        }
    }
    Ok(best)
}

fn no_order(a: &Value, b: &Value) -> String {
    format!("{} has no order with {}", a.kind(), b.kind())
}

fn sort(items: &[Value]) -> Made {
    let mut sorted = items.to_vec();
    if let Some(first) = items.first()
        && let Some(other) = items.iter().find(|item| order(first, item).is_none())
    {
        return Err(no_order(first, other));
    }
    sorted.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    Ok(Value::list(sorted))
}

/// What equal items have in common: `1` and `1.0` are equal.
fn identity(value: &Value) -> String {
    match value {
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e15 => format!("{x:.0}"),
        other => other.to_json(),
    }
}

fn range(from: i64, to: i64) -> Made {
    if to.saturating_sub(from) > MOST_NUMBERS {
        return Err(format!("`range` of more than {MOST_NUMBERS} numbers"));
    }
    Ok(Value::list((from..to).map(Value::Int).collect()))
}

fn round(value: &Value, decimals: Option<&Value>) -> Made {
    let decimals = decimals.map_or(Some(0), Value::as_int).filter(|n| (0..=9).contains(n));
    let (Some(x), Some(decimals)) = (value.as_f64(), decimals) else {
        return Err("`round` takes a number, and 0 to 9 decimals".to_owned());
    };
    if let Value::Int(_) = value {
        return Ok(value.clone());
    }
    let scale = (0..decimals).fold(1.0, |scale, _| scale * 10.0);
    number(libm::round(x * scale) / scale)
}
