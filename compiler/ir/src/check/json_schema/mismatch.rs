//! Holding a text against a schema.

use super::{MOST_DEPTH, target};
use crate::eval::{order, regex};
use crate::value::{Map, Value};

/// How many looks at a value one text is worth: references can ask the same again and again.
const MOST_WORK: usize = 1_000_000;

/// Whether an order is one that a bound allows.
type Holds = fn(std::cmp::Ordering) -> bool;

/// Why a text is not JSON that the schema allows; none where it is. The sentence goes on from "the text".
pub(crate) fn mismatch(schema: &Value, text: &str) -> Option<String> {
    let value: Value = match serde_json::from_str(text.trim()) {
        Ok(value) => value,
        Err(error) => return Some(format!("is not JSON: {error}")),
    };
    let mut walk = Walk { root: schema, path: Vec::new(), depth: 0, work: 0 };
    walk.check(schema, &value).err()
}

struct Walk<'s> {
    root: &'s Value,
    path: Vec<String>,
    depth: usize,
    work: usize,
}

impl Walk<'_> {
    fn fail(&self, what: &str) -> Result<(), String> {
        let place = if self.path.is_empty() { "the JSON".to_owned() } else { format!("`{}`", self.path.join(".")) };
        Err(format!("{place} {what}"))
    }

    fn inside(&mut self, key: String, schema: &Value, value: &Value) -> Result<(), String> {
        self.path.push(key);
        let result = self.check(schema, value);
        self.path.pop();
        result
    }

    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        self.check(schema, value).is_ok()
    }

    fn check(&mut self, schema: &Value, value: &Value) -> Result<(), String> {
        self.work += 1;
        if self.depth > MOST_DEPTH || self.work > MOST_WORK {
            return self.fail("needs references nested too deeply");
        }
        self.depth += 1;
        let result = match schema {
            Value::Bool(true) => Ok(()),
            Value::Map(map) => self.map(map, value),
            _ => self.fail("is allowed by nothing"),
        };
        self.depth -= 1;
        result
    }

    fn map(&mut self, schema: &Map, value: &Value) -> Result<(), String> {
        if let Some(wanted) = schema.get("type") {
            let words: Vec<&str> = wanted.as_list().map_or_else(
                || wanted.as_str().into_iter().collect(),
                |l| l.iter().filter_map(Value::as_str).collect(),
            );
            if !words.iter().any(|word| is_of(value, word)) {
                return self.fail(&format!("is {}; {} is needed", value.kind(), words.join(" or ")));
            }
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_list)
            && !values.iter().any(|one| one.same(value))
        {
            return self.fail(&format!(
                "is {}, which is none of the values listed",
                crate::text::excerpt(&value.to_json(), 60)
            ));
        }
        if let Some(wanted) = schema.get("const")
            && !wanted.same(value)
        {
            return self.fail(&format!("is not {}", crate::text::excerpt(&wanted.to_json(), 60)));
        }
        match value {
            Value::Str(text) => self.text(schema, text)?,
            Value::Int(_) | Value::Float(_) => self.number(schema, value)?,
            Value::List(items) => self.items(schema, items)?,
            Value::Map(map) => self.object(schema, map)?,
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(schema, value)
    }

    fn text(&self, schema: &Map, text: &str) -> Result<(), String> {
        let length = text.chars().count() as u64;
        self.bounds(schema, ["minLength", "maxLength"], length, "characters")?;
        match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) if !regex(pattern).is_ok_and(|regex| regex.is_match(text)) => {
                self.fail(&format!("does not match `{pattern}`"))
            }
            _ => Ok(()),
        }
    }

    fn bounds(&self, schema: &Map, [least, most]: [&str; 2], seen: u64, of: &str) -> Result<(), String> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_int).and_then(|n| u64::try_from(n).ok());
        match (bound(least), bound(most)) {
            (Some(least), _) if seen < least => self.fail(&format!("has {seen} {of}; at least {least} are needed")),
            (_, Some(most)) if seen > most => self.fail(&format!("has {seen} {of}; at most {most} are allowed")),
            _ => Ok(()),
        }
    }

    fn number(&self, schema: &Map, value: &Value) -> Result<(), String> {
        let bounds: [(&str, Holds, &str); 4] = [
            ("minimum", std::cmp::Ordering::is_ge, "at least"),
            ("maximum", std::cmp::Ordering::is_le, "at most"),
            ("exclusiveMinimum", std::cmp::Ordering::is_gt, "above"),
            ("exclusiveMaximum", std::cmp::Ordering::is_lt, "below"),
        ];
        for (key, holds, words) in bounds {
            if let Some(bound) = schema.get(key)
                && !order(value, bound).is_some_and(holds)
            {
                return self.fail(&format!("is {}, and must be {words} {}", value.to_json(), bound.to_json()));
            }
        }
        let Some(of) = schema.get("multipleOf") else { return Ok(()) };
        let divides = match (value, of) {
            (Value::Int(n), Value::Int(of)) => n.checked_rem(*of) == Some(0),
            _ => value.as_f64().zip(of.as_f64()).is_some_and(|(x, of)| (x / of).fract() == 0.0),
        };
        if divides { Ok(()) } else { self.fail(&format!("is {}, no multiple of {}", value.to_json(), of.to_json())) }
    }

    fn items(&mut self, schema: &Map, items: &[Value]) -> Result<(), String> {
        self.bounds(schema, ["minItems", "maxItems"], items.len() as u64, "items")?;
        let first = schema.get("prefixItems").and_then(Value::as_list).unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            if let Some(one) = first.get(at).or_else(|| schema.get("items")) {
                self.inside(at.to_string(), one, item)?;
            }
        }
        if let Some(wanted) = schema.get("contains")
            && !items.iter().any(|item| self.fits(wanted, item))
        {
            return self.fail("has no item of the kind that `contains` asks for");
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            for (at, item) in items.iter().enumerate() {
                self.work += at;
                if self.work > MOST_WORK {
                    return self.fail("has too many items to be compared with each other");
                }
                if items.iter().take(at).any(|other| other.same(item)) {
                    return self.fail(&format!("has its item {at} twice"));
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, schema: &Map, map: &Map) -> Result<(), String> {
        self.bounds(schema, ["minProperties", "maxProperties"], map.len() as u64, "properties")?;
        for name in schema.get("required").and_then(Value::as_list).unwrap_or_default() {
            if let Some(name) = name.as_str().filter(|name| map.get(name).is_none()) {
                return self.fail(&format!("has no `{name}`"));
            }
        }
        let named = schema.get("properties").and_then(Value::as_map);
        let patterns = schema.get("patternProperties").and_then(Value::as_map);
        for (key, value) in map.iter() {
            let mut known = false;
            if let Some(one) = named.and_then(|named| named.get(key)) {
                known = true;
                self.inside(key.to_string(), one, value)?;
            }
            for (pattern, one) in patterns.into_iter().flat_map(Map::iter) {
                if regex(pattern).is_ok_and(|regex| regex.is_match(key)) {
                    known = true;
                    self.inside(key.to_string(), one, value)?;
                }
            }
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) if !known => return self.fail(&format!("has `{key}`, which is not allowed")),
                Some(one) if !known => self.inside(key.to_string(), one, value)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn combined(&mut self, schema: &Map, value: &Value) -> Result<(), String> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            match target(root, reference) {
                Some(one) => self.check(one, value)?,
                None => return self.fail("refers to nothing"),
            }
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_list).unwrap_or_default();
        for one in list("allOf") {
            self.check(one, value)?;
        }
        let any = list("anyOf");
        if !any.is_empty() && !any.iter().any(|one| self.fits(one, value)) {
            return self.fail("is none of what `anyOf` allows");
        }
        let one_of = list("oneOf");
        let fitting = one_of.iter().filter(|one| self.fits(one, value)).count();
        if !one_of.is_empty() && fitting != 1 {
            return self.fail(&format!("is {fitting} of what `oneOf` allows, not one"));
        }
        if let Some(not) = schema.get("not")
            && self.fits(not, value)
        {
            return self.fail("is what `not` forbids");
        }
        if let Some(test) = schema.get("if") {
            let branch = if self.fits(test, value) { "then" } else { "else" };
            if let Some(one) = schema.get(branch) {
                self.check(one, value)?;
            }
        }
        Ok(())
    }
}

fn is_of(value: &Value, word: &str) -> bool {
    match word {
        "null" => matches!(value, Value::Null),
        "boolean" => matches!(value, Value::Bool(_)),
        // As the draft says, 1.0 is an integer.
        "integer" => matches!(value, Value::Int(_)) || value.as_f64().is_some_and(|x| x.fract() == 0.0),
        "number" => value.as_f64().is_some(),
        "string" => matches!(value, Value::Str(_)),
        "array" => matches!(value, Value::List(_)),
        "object" => matches!(value, Value::Map(_)),
        _ => false,
    }
}
