//! A value as JSON for people: what fits in a line stands on one.

use std::sync::Arc;

use crate::value::Value;

/// The value as JSON over several lines, of which those that can be broken have at most so many bytes.
pub fn pretty(value: &Value, width: usize) -> String {
    let mut out = String::new();
    lay_out(value, 0, width, &mut out);
    out.push('\n');
    out
}

fn lay_out(value: &Value, indent: usize, width: usize, out: &mut String) {
    let start = out.len();
    if flat(value, start + width.saturating_sub(indent), out) {
        return;
    }
    out.truncate(start);
    let parts: Vec<(Option<&Arc<str>>, &Value)> = match value {
        Value::List(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Map(map) => map.iter().map(|(key, item)| (Some(key), item)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        out.push_str(&value.to_json());
        return;
    }
    let is_list = matches!(value, Value::List(_));
    out.push(if is_list { '[' } else { '{' });
    for (at, (key, part)) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&" ".repeat(indent + 2));
        if let Some(key) = key {
            crate::text::json_string(key, out);
            out.push_str(": ");
        }
        lay_out(part, indent + 2, width, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(if is_list { ']' } else { '}' });
}

/// Writes a value in one line, as `Value::to_json` does, unless `out` would become longer than `most`: then false, and what
/// was written is of no use. It stops there, so that the size of what does not fit costs nothing at each level around it.
fn flat(value: &Value, most: usize, out: &mut String) -> bool {
    match value {
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if !flat(item, most, out) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                crate::text::json_string(key, out);
                out.push(':');
                if !flat(item, most, out) {
                    return false;
                }
            }
            out.push('}');
        }
        Value::Str(text) if out.len() + text.len() > most => return false,
        Value::Str(text) => crate::text::json_string(text, out),
        _ => out.push_str(&value.to_json()),
    }
    out.len() <= most
}
