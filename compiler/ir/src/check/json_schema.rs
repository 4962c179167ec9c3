//! A subset of JSON Schema, draft 2020-12: what an answer in JSON must look like.
//!
//! Schemas come from tasks and are checked there, so that a keyword that is not known here is an error and never passed over.

mod mismatch;

pub(super) use mismatch::mismatch;

use crate::value::Value;

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
        assert_eq!(
            errors(r#"{"allOf":[3]}"#),
            ["allOf/0 false: a schema is a map of keywords, or true or false, and this is a number"]
        );
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
