//! Expressions as text.

use std::fmt;

use super::{Expr, Kind, Operator};
use crate::value::Value;

/// How tightly an expression holds together; a part that holds less tightly than its place needs parentheses.
const fn strength(kind: &Kind) -> u8 {
    match kind {
        Kind::If(..) => 0,
        Kind::Or(..) => 1,
        Kind::And(..) => 2,
        // Jinja takes a word after `is defined` for an argument of the test, so it stands in parentheses like `not`.
        Kind::Not(_) | Kind::Defined(_) | Kind::Is(..) => 3,
        Kind::Compare(..) | Kind::In(..) => 4,
        Kind::Arithmetic(Operator::Add | Operator::Subtract, ..) => 5,
        Kind::Arithmetic(Operator::Concat, ..) => 6,
        Kind::Arithmetic(..) => 7,
        Kind::Minus(_) => 8,
        Kind::Literal(Value::Int(i64::MIN..=-1) | Value::Float(_)) => 9,
        _ => 10,
    }
}

fn write_at(f: &mut fmt::Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    if strength(&expr.kind) < least { write!(f, "({expr})") } else { write!(f, "{expr}") }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
    }
    Ok(())
}

/// A string in the quotes of expressions: single ones where nothing has to be escaped.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let plain = |c: char| !crate::text::is_dangerous(c) && c != '\'' && c != '\\';
    if text.chars().all(plain) {
        return write!(f, "'{text}'");
    }
    let mut quoted = String::new();
    crate::text::json_string(text, &mut quoted);
    f.write_str(&quoted)
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Null => f.write_str("none"),
        Value::Str(text) => write_text(f, text),
        Value::List(items) => {
            f.write_str("[")?;
            for (at, item) in items.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                write_value(f, item)?;
            }
            f.write_str("]")
        }
        Value::Map(map) => {
            f.write_str("{")?;
            for (at, (key, item)) in map.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                write_text(f, key)?;
                f.write_str(": ")?;
                write_value(f, item)?;
            }
            f.write_str("}")
        }
        other => f.write_str(&other.to_json()),
    }
}

/// As it is written in a task and in the text form; reading it back gives the same expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = strength(&self.kind);
        match &self.kind {
            Kind::Literal(value) => write_value(f, value),
            Kind::Name(name) => f.write_str(name),
            Kind::Attribute(a, name) => {
                write_at(f, a, 10)?;
                write!(f, ".{name}")
            }
            Kind::Item(a, i) => {
                write_at(f, a, 10)?;
                write!(f, "[{i}]")
            }
            Kind::Not(a) => {
                f.write_str("not ")?;
                write_at(f, a, own)
            }
            Kind::Minus(a) => {
                f.write_str("-")?;
                write_at(f, a, 10)
            }
            Kind::And(a, b) => write_pair(f, own, a, " and ", b),
            Kind::Or(a, b) => write_pair(f, own, a, " or ", b),
            Kind::Compare(op, a, b) => {
                write_at(f, a, own + 1)?;
                write!(f, " {} ", op.sign())?;
                write_at(f, b, own + 1)
            }
            Kind::In(a, b) => {
                write_at(f, a, own + 1)?;
                f.write_str(" in ")?;
                write_at(f, b, own + 1)
            }
            Kind::Arithmetic(op, a, b) => write_pair(f, own, a, &format!(" {} ", op.sign()), b),
            Kind::Defined(a) => {
                write_at(f, a, 10)?;
                f.write_str(" is defined")
            }
            Kind::Is(test, a) => {
                write_at(f, a, 10)?;
                write!(f, " is {}", test.name())
            }
            Kind::If(c, a, b) => {
                write_at(f, a, 4)?;
                f.write_str(" if ")?;
                write_at(f, c, 4)?;
                f.write_str(" else ")?;
                write_at(f, b, 4)
            }
            Kind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                write_list(f, arguments)?;
                f.write_str(")")
            }
            Kind::List(items) => {
                f.write_str("[")?;
                write_list(f, items)?;
                f.write_str("]")
            }
            Kind::Map(pairs) => {
                f.write_str("{")?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    write_text(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Binary operators group to the left.
fn write_pair(f: &mut fmt::Formatter<'_>, own: u8, a: &Expr, sign: &str, b: &Expr) -> fmt::Result {
    write_at(f, a, own)?;
    f.write_str(sign)?;
    write_at(f, b, own + 1)
}
