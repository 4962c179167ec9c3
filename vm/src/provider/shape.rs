//! How an answer of a shape is asked for.

use std::borrow::Cow;

use aigo_ir::program::Structured;
use aigo_ir::value::{Map, Value};
use aigo_machine::Request;

/// What is asked for beside the messages.
pub(super) enum Wanted<'r> {
    /// Nothing, or by the words of the prompt alone.
    Anything,
    /// An answer that fits a schema.
    Schema(&'static str, Cow<'r, Value>),
    /// A call of a tool that takes what the schema says.
    Tool(&'static str, &'r Value),
}

/// What a request asks for, in the way that its model is asked.
pub(super) fn wanted(structured: Structured, request: &Request) -> Wanted<'_> {
    let Some((name, schema)) = &request.schema else { return Wanted::Anything };
    match structured {
        Structured::BoundedSchema => Wanted::Schema(name, Cow::Borrowed(schema)),
        Structured::Schema => Wanted::Schema(name, Cow::Owned(without_bounds(schema))),
        // A model that is offered tools of the task as well could not call them.
        Structured::Tool if request.tools.is_empty() => Wanted::Tool(name, schema),
        Structured::Tool | Structured::Prompt => Wanted::Anything,
    }
}

/// The tool whose call is the answer.
pub(super) fn wanted_tool(structured: Structured, request: &Request) -> Option<&'static str> {
    match wanted(structured, request) {
        Wanted::Tool(name, _) => Some(name),
        Wanted::Anything | Wanted::Schema(..) => None,
    }
}

/// What a model is told of the tool whose call is the answer.
pub(super) const TOOL_TEXT: &str = "Gives your answer.";

/// Bounds of lengths and numbers, which the decoders of large providers do not know.
const BOUNDS: [&str; 11] = [
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// A JSON Schema without its bounds. The names of properties are not keywords.
fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Map(map) => {
            let mut kept = Map::default();
            for (key, value) in map.iter().filter(|(key, _)| !BOUNDS.contains(&&***key)) {
                let value = match (&**key, value) {
                    ("properties" | "$defs", Value::Map(named)) => {
                        Value::map(named.iter().map(|(name, schema)| (name.clone(), without_bounds(schema))))
                    }
                    ("enum" | "const" | "default" | "required", value) => value.clone(),
                    (_, value) => without_bounds(value),
                };
                kept.set(key.clone(), value);
            }
            Value::Map(kept.into())
        }
        Value::List(items) => Value::list(items.iter().map(without_bounds).collect()),
        plain => plain.clone(),
    }
}
