//! Which value a plain scalar is: the core schema of YAML 1.2, nothing of 1.1.

use std::sync::Arc;

use aigo_ir::value::Value;

use super::events::Core;

/// Why a scalar has no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A whole number that 64 bits cannot hold.
    TooBig,
    /// A number that is infinite or none.
    NotFinite,
    /// The tag wants something else.
    Mismatch,
}

/// The value of a plain scalar without a tag.
pub(super) fn plain(text: &Arc<str>) -> Result<Value, Refusal> {
    // Almost all scalars are text, and the first byte tells.
    let first = text.bytes().next().unwrap_or(b'~');
    if !matches!(first, b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'.' | b'+' | b'-' | b'0'..=b'9') {
        return Ok(Value::Str(text.clone()));
    }
    if is_null(text) {
        return Ok(Value::Null);
    }
    if let Some(truth) = boolean(text) {
        return Ok(Value::Bool(truth));
    }
    match number(text) {
        Some(value) => value,
        None => Ok(Value::Str(text.clone())),
    }
}

/// The value of a scalar with a tag.
pub(super) fn tagged(text: &Arc<str>, tag: Core) -> Result<Value, Refusal> {
    match tag {
        Core::Str | Core::Plain => Ok(Value::Str(text.clone())),
        Core::Null if is_null(text) => Ok(Value::Null),
        Core::Bool => boolean(text).map(Value::Bool).ok_or(Refusal::Mismatch),
        Core::Int => match number(text) {
            Some(Ok(Value::Int(n))) => Ok(Value::Int(n)),
            Some(Err(Refusal::TooBig)) => Err(Refusal::TooBig),
            _ => Err(Refusal::Mismatch),
        },
        Core::Float => {
            let value = number(text).ok_or(Refusal::Mismatch)?;
            match value {
                // A whole number that is too big for an integer is still a float.
                Err(Refusal::TooBig) => float(text),
                value => value?.as_f64().and_then(Value::float).ok_or(Refusal::NotFinite),
            }
        }
        Core::Null | Core::Seq | Core::Map => Err(Refusal::Mismatch),
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// `None` if the text is no number at all.
fn number(text: &str) -> Option<Result<Value, Refusal>> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            return all.then(|| i64::from_str_radix(digits, radix).map(Value::Int).map_err(|_| Refusal::TooBig));
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Err(Refusal::NotFinite));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().map(Value::Int).map_err(|_| Refusal::TooBig));
    }
    is_float(unsigned).then(|| float(text))
}

fn float(text: &str) -> Result<Value, Refusal> {
    text.parse().ok().and_then(Value::float).ok_or(Refusal::NotFinite)
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(unsigned: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !fraction.is_empty();
    some && digits(whole) && digits(fraction) && exponent.is_none_or(|e| !e.is_empty() && digits(e))
}

/// What YAML 1.1 tools make of a plain scalar, where it differs from what is read here.
pub(super) fn read_by_yaml_1_1(text: &str) -> Option<&'static str> {
    let first = text.bytes().next()?;
    if first.is_ascii_alphabetic() {
        // `y` and `n` are left out: the tools in use read them as text too, and they are frequent names.
        let is_word = text.len() <= 3
            && matches!(text, "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF");
        return is_word.then_some("a boolean");
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.bytes().next()?.is_ascii_digit() {
        return None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if unsigned.len() > 1 && unsigned.starts_with('0') && digits(unsigned) {
        let octal = unsigned.bytes().all(|b| b < b'8');
        return Some(if octal { "an octal number" } else { "text" });
    }
    if let Some(bits) = unsigned.strip_prefix("0b") {
        return (!bits.is_empty() && bits.bytes().all(|b| matches!(b, b'0' | b'1' | b'_')))
            .then_some("a binary number");
    }
    // All others have one of these.
    if !unsigned.bytes().any(|b| matches!(b, b'_' | b':' | b'-')) {
        return None;
    }
    if unsigned.contains('_') && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.')) {
        return Some("a number");
    }
    let parts: Vec<&str> = unsigned.split(':').collect();
    if let [head, tail @ ..] = parts.as_slice()
        && !tail.is_empty()
        && digits(head)
        && tail.iter().all(|part| digits(part.split('.').next().unwrap_or_default()) && part.len() <= 9 && sixty(part))
    {
        return Some("a number in base 60");
    }
    is_date(text).then_some("a date")
}

fn sixty(part: &str) -> bool {
    let whole = part.split('.').next().unwrap_or_default();
    whole.len() <= 2 && whole.parse::<u32>().is_ok_and(|n| n < 60)
}

fn is_date(text: &str) -> bool {
    let day = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split('-').collect();
    let digits = |text: &str, few: usize, many: usize| {
        (few..=many).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    let rest = text.get(day.len()..).unwrap_or_default();
    let time = rest.is_empty() || (rest.len() > 1 && rest.chars().skip(1).all(|c| "0123456789:.+-Zz ".contains(c)));
    matches!(parts.as_slice(), [y, m, d] if digits(y, 4, 4) && digits(m, 1, 2) && digits(d, 1, 2)) && time
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, Refusal> {
        plain(&Arc::from(text))
    }

    #[test]
    fn the_core_schema_of_1_2() {
        for (text, value) in [
            ("~", Value::Null),
            ("NULL", Value::Null),
            ("True", Value::Bool(true)),
            ("-12", Value::Int(-12)),
            ("+12", Value::Int(12)),
            ("017", Value::Int(17)),
            ("0o17", Value::Int(15)),
            ("0xfF", Value::Int(255)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("1.", Value::Float(1.0)),
            (".5", Value::Float(0.5)),
            ("-1e3", Value::Float(-1000.0)),
            ("1E-2", Value::Float(0.01)),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
        for text in [
            "yes",
            "y",
            "0b11",
            "1_000",
            "12:30",
            "2001-12-14",
            ".",
            "-",
            "+",
            "1e",
            "e5",
            "0x",
            "0o8",
            "-0x1",
            "nan",
            "inf",
            "1.2.3",
            "-.nan",
            "tRue",
        ] {
            assert_eq!(read(text), Ok(Value::str(text)), "{text}");
        }
        for text in [".inf", "-.INF", "+.Inf", ".nan", "1e400"] {
            assert_eq!(read(text), Err(Refusal::NotFinite), "{text}");
        }
        for text in ["9223372036854775808", "0xffffffffffffffff"] {
            assert_eq!(read(text), Err(Refusal::TooBig), "{text}");
        }
    }

    #[test]
    fn what_older_tools_read_otherwise() {
        for text in [
            "yes",
            "No",
            "ON",
            "off",
            "017",
            "08",
            "0b11",
            "1_000",
            "12:30",
            "1:30:00",
            "2001-12-14",
            "2001-12-14 10:00:00",
        ] {
            assert!(read_by_yaml_1_1(text).is_some(), "{text}");
        }
        for text in [
            "y",
            "n",
            "0",
            "10",
            "1.5",
            "yEs",
            "60m",
            "1..5",
            "12:70",
            "25 USD",
            "0x1f",
            "1-2-3",
            "2001-12-14x",
            "éa",
            "a_b",
            "3s",
        ] {
            assert_eq!(read_by_yaml_1_1(text), None, "{text}");
        }
    }
}
