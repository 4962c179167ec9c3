//! A subset of JSON Schema, draft 2020-12: what an answer in JSON must look like.
//!
//! Schemas come from tasks and are checked there, so that a keyword that is not known here is an error and never passed over.

use crate::eval::{order, regex};
use crate::value::{Map, Value};

/// What the value of a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// A word of a type, or several.
    Types,
    Anything,
    Values,
    Schema,
    Schemas,
    SchemaMap,
    Count,
    Number,
    Positive,
    Boolean,
    Pattern,
    Names,
    Reference,
    Text,
}

/// The keywords and what their values are.
const TABLE: [(&str, Wants); 38] = [
    ("type", Wants::Types),
    ("enum", Wants::Values),
    ("const", Wants::Anything),
    ("properties", Wants::SchemaMap),
    ("patternProperties", Wants::SchemaMap),
    ("additionalProperties", Wants::Schema),
    ("required", Wants::Names),
    ("minProperties", Wants::Count),
    ("maxProperties", Wants::Count),
    ("items", Wants::Schema),
    ("prefixItems", Wants::Schemas),
    ("contains", Wants::Schema),
    ("minItems", Wants::Count),
    ("maxItems", Wants::Count),
    ("uniqueItems", Wants::Boolean),
    ("minLength", Wants::Count),
    ("maxLength", Wants::Count),
    ("pattern", Wants::Pattern),
    ("minimum", Wants::Number),
    ("maximum", Wants::Number),
    ("exclusiveMinimum", Wants::Number),
    ("exclusiveMaximum", Wants::Number),
    ("multipleOf", Wants::Positive),
    ("allOf", Wants::Schemas),
    ("anyOf", Wants::Schemas),
    ("oneOf", Wants::Schemas),
    ("not", Wants::Schema),
    ("if", Wants::Schema),
    ("then", Wants::Schema),
    ("else", Wants::Schema),
    ("$ref", Wants::Reference),
    ("$defs", Wants::SchemaMap),
    ("$schema", Wants::Text),
    ("$comment", Wants::Text),
    ("title", Wants::Text),
    ("description", Wants::Text),
    ("default", Wants::Anything),
    ("examples", Wants::Values),
];

/// The keywords that a schema may use.
pub const KEYWORDS: [&str; 38] = {
    let mut words = [""; 38];
    let mut at = 0;
    while at < 38 {
        words[at] = TABLE[at].0;
        at += 1;
    }
    words
};

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// How deep a schema and its references may go.
const MOST_DEPTH: usize = 64;
/// How many looks at a value one text is worth: references can ask the same again and again.
const MOST_WORK: usize = 1_000_000;

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The keys and numbers of items from the schema to the place.
    pub path: Vec<String>,
    /// Whether it is about the key itself, and not about its value.
    pub of_key: bool,
    /// What was seen and expected.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// Everything that is wrong with a schema, in its order.
pub fn schema_errors(schema: &Value) -> Vec<SchemaError> {
    let mut found = Found { root: schema, path: Vec::new(), errors: Vec::new() };
    found.schema(schema);
    found.errors
}

struct Found<'s> {
    root: &'s Value,
    path: Vec<String>,
    errors: Vec<SchemaError>,
}

impl Found<'_> {
    fn error(&mut self, of_key: bool, message: String, help: Option<String>) {
        self.errors.push(SchemaError { path: self.path.clone(), of_key, message, help });
    }

    fn at(&mut self, key: &str, f: impl FnOnce(&mut Self)) {
        self.path.push(key.to_owned());
        f(self);
        self.path.pop();
    }

    fn wants(&mut self, value: &Value, wanted: &str) {
        let key = self.path.last().cloned().unwrap_or_default();
        self.error(false, format!("`{key}` is {}, and must be {wanted}", value.kind()), None);
    }

    fn schema(&mut self, schema: &Value) {
        if self.path.len() > MOST_DEPTH {
            return self.error(false, format!("a schema nested more than {MOST_DEPTH} deep"), None);
        }
        let map = match schema {
            Value::Bool(_) => return,
            Value::Map(map) => map,
            other => {
                let message = format!("a schema is a map of keywords, or true or false, and this is {}", other.kind());
                return self.error(false, message, None);
            }
        };
        for (key, value) in map.iter() {
            self.at(key, |found| match TABLE.iter().find(|(known, _)| *known == &**key) {
                Some((_, wants)) => found.keyword(*wants, value),
                None => {
                    let message = format!("`{key}` is no keyword that is known here");
                    let help = if &**key == "format" {
                        Some("formats are not checked: use `pattern`".to_owned())
                    } else {
                        crate::diagnostic::nearest(key, KEYWORDS).map_or_else(
                            || Some("remove it: a keyword that is not known would be passed over".to_owned()),
                            |near| Some(format!("did you mean `{near}`?")),
                        )
                    };
                    found.error(true, message, help);
                }
            });
        }
    }

    fn keyword(&mut self, wants: Wants, value: &Value) {
        match (wants, value) {
            (Wants::Anything, _)
            | (Wants::Boolean, Value::Bool(_))
            | (Wants::Number, Value::Int(_) | Value::Float(_))
            | (Wants::Text, Value::Str(_)) => {}
            (Wants::Types, Value::Str(word)) => self.ty(word),
            (Wants::Types, Value::List(words)) if !words.is_empty() => {
                for (at, word) in words.iter().enumerate() {
                    self.at(&at.to_string(), |found| match word.as_str() {
                        Some(word) => found.ty(word),
                        None => found.wants(word, "a word"),
                    });
                }
            }
            (Wants::Types, other) => self.wants(other, "a type or a list of types"),
            (Wants::Values, Value::List(values)) if !values.is_empty() => {}
            (Wants::Values, other) => self.wants(other, "a list of values"),
            (Wants::Schema, schema) => self.schema(schema),
            (Wants::Schemas, Value::List(schemas)) if !schemas.is_empty() => {
                for (at, schema) in schemas.iter().enumerate() {
                    self.at(&at.to_string(), |found| found.schema(schema));
                }
            }
            (Wants::Schemas, other) => self.wants(other, "a list of schemas"),
            (Wants::SchemaMap, Value::Map(map)) => {
                let patterns = self.path.last().is_some_and(|key| key == "patternProperties");
                for (key, schema) in map.iter() {
                    self.at(key, |found| {
                        if patterns && let Some(error) = super::pattern_error(key) {
                            found.error(true, format!("`{key}` is no regular expression: {}", error.message), None);
                        }
                        found.schema(schema);
                    });
                }
            }
            (Wants::SchemaMap, other) => self.wants(other, "a map of names to schemas"),
            (Wants::Count, Value::Int(n)) if *n >= 0 => {}
            (Wants::Count, other) => self.wants(other, "a whole number that is not negative"),
            (Wants::Number, other) => self.wants(other, "a number"),
            (Wants::Positive, value) if value.as_f64().is_some_and(|x| x > 0.0) => {}
            (Wants::Positive, other) => self.wants(other, "a number above 0"),
            (Wants::Boolean, other) => self.wants(other, "true or false"),
            (Wants::Text, other) => self.wants(other, "text"),
            (Wants::Pattern, Value::Str(pattern)) => {
                if let Some(error) = super::pattern_error(pattern) {
                    let shown = crate::text::excerpt(pattern, 60);
                    self.error(false, format!("`{shown}` is no regular expression: {}", error.message), None);
                }
            }
            (Wants::Pattern, other) => self.wants(other, "a regular expression"),
            (Wants::Names, Value::List(names)) if names.iter().all(|name| name.as_str().is_some()) => {}
            (Wants::Names, other) => self.wants(other, "a list of names"),
            (Wants::Reference, Value::Str(reference)) => {
                if target(self.root, reference).is_none() {
                    let help = "a reference is `#`, or `#/$defs/NAME` with that name under `$defs`";
                    self.error(false, format!("`{reference}` refers to nothing"), Some(help.to_owned()));
                }
            }
            (Wants::Reference, other) => self.wants(other, "a reference such as `#/$defs/NAME`"),
        }
    }

    fn ty(&mut self, word: &str) {
        if !TYPES.contains(&word) {
            let help = crate::diagnostic::suggest(word, TYPES);
            self.error(false, format!("`{word}` is no type of JSON"), help);
        }
    }
}

fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    if reference == "#" {
        return Some(root);
    }
    root.get("$defs")?.get(reference.strip_prefix("#/$defs/")?)
}

/// Why a text is not JSON that the schema allows; none where it is. The sentence goes on from "the text".
pub(super) fn mismatch(schema: &Value, text: &str) -> Option<String> {
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
            let words: Vec<&str> =
                wanted.as_list().map_or_else(|| wanted.as_str().into_iter().collect(), |l| l.iter().filter_map(Value::as_str).collect());
            if !words.iter().any(|word| is_of(value, word)) {
                return self.fail(&format!("is {}; {} is needed", value.kind(), words.join(" or ")));
            }
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_list)
            && !values.iter().any(|one| same(one, value))
        {
            return self.fail(&format!("is {}, which is none of the values listed", crate::text::excerpt(&value.to_json(), 60)));
        }
        if let Some(wanted) = schema.get("const")
            && !same(wanted, value)
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
        let bounds: [(&str, fn(std::cmp::Ordering) -> bool, &str); 4] = [
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
                if items.iter().take(at).any(|other| same(other, item)) {
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

/// Equality as JSON Schema has it: numbers by value, maps whatever the order of their keys.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            order(a, b).is_some_and(std::cmp::Ordering::is_eq)
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn texts_are_held_against_schemas() {
        let schema = r##"{"type":"object","required":["n","tags"],"additionalProperties":false,
            "properties":{"n":{"type":"integer","minimum":1,"multipleOf":2},"tags":{"type":"array","items":{"$ref":"#/$defs/tag"},
            "minItems":1,"uniqueItems":true},"why":{"anyOf":[{"type":"null"},{"type":"string","pattern":"^a","maxLength":3}]}},
            "$defs":{"tag":{"enum":["x","y",1]}}}"##;
        let schema = json(schema);
        assert_eq!(schema_errors(&schema), []);
        let why = |text: &str| mismatch(&schema, text).unwrap_or_default();
        assert_eq!(why(r#" {"n":2.0,"tags":["x",1.0],"why":"abc"} "#), "");
        assert_eq!(why("Sure! {}"), "is not JSON: expected value at line 1 column 1");
        assert_eq!(why("[]"), "the JSON is a list; object is needed");
        assert_eq!(why(r#"{"n":2}"#), "the JSON has no `tags`");
        assert_eq!(why(r#"{"n":3,"tags":["x"]}"#), "`n` is 3, no multiple of 2");
        assert_eq!(why(r#"{"n":0,"tags":["x"]}"#), "`n` is 0, and must be at least 1");
        assert_eq!(why(r#"{"n":2,"tags":["x","z"]}"#), "`tags.1` is \"z\", which is none of the values listed");
        assert_eq!(why(r#"{"n":2,"tags":["x","x"]}"#), "`tags` has its item 1 twice");
        assert_eq!(why(r#"{"n":2,"tags":["x"],"why":"b"}"#), "`why` is none of what `anyOf` allows");
        assert_eq!(why(r#"{"n":2,"tags":["x"],"m":1}"#), "the JSON has `m`, which is not allowed");
    }

    #[test]
    fn what_is_wrong_with_a_schema_has_a_place() {
        let errors = |text: &str| -> Vec<String> {
            let found = schema_errors(&json(text));
            found.iter().map(|e| format!("{} {}: {}", e.path.join("/"), e.of_key, e.message)).collect()
        };
        assert_eq!(errors(r#"{"type":"strng"}"#), ["type false: `strng` is no type of JSON"]);
        assert_eq!(
            errors(r#"{"properties":{"a":{"minLenght":2}}}"#),
            ["properties/a/minLenght true: `minLenght` is no keyword that is known here"]
        );
        assert_eq!(errors(r##"{"$ref":"#/$defs/x"}"##), ["$ref false: `#/$defs/x` refers to nothing"]);
        assert_eq!(errors(r#"{"allOf":[3]}"#), ["allOf/0 false: a schema is a map of keywords, or true or false, and this is a number"]);
        let deep = format!("{}true{}", r#"{"not":"#.repeat(90), "}".repeat(90));
        assert_eq!(errors(&deep).len(), 1);
    }

    #[test]
    fn a_circle_of_references_ends() {
        let schema = json(r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}"##);
        assert!(schema_errors(&schema).is_empty());
        assert!(mismatch(&schema, "1").unwrap().contains("too deeply"));
    }
}
