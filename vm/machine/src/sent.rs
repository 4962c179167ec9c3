//! What is sent to an application, a tool or a call around a sample: requests with their templates filled in, lines of JSON
//! for programs. Pure, so that what is sent is a part of what a call is identified by.

use std::sync::Arc;

use aigo_ir::engine::{Engine, SharedScope};
use aigo_ir::key::KeyWriter;
use aigo_ir::program::{HeaderValue, HttpCall};
use aigo_ir::template::Template;
use aigo_ir::value::Value;

use crate::ask::{ChatMessage, Request, ToolCall};
use crate::scope::Sample;

/// The key of a map in a body that stands for JSON: its text is rendered, read, and put in the map's place.
const FROM_JSON: &str = "from_json";

/// A request, filled in. Secrets are no part of it: whoever sends it puts them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Where it goes.
    pub url: Arc<str>,
    /// The headers whose texts stand in the task.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// The body, JSON.
    pub body: Option<String>,
}

impl Sent {
    /// Fills a request in. The message of a failure stands alone.
    pub fn of(engine: &Engine, call: &HttpCall, scope: &SharedScope) -> Result<Self, String> {
        let url = engine.render(&call.url, scope)?;
        let mut headers = Vec::new();
        for header in &call.headers {
            if let HeaderValue::Text(text) = &header.value {
                headers.push((Arc::clone(&header.name), engine.render(text, scope)?));
            }
        }
        let body = call.body.as_ref().map(|body| Ok::<_, String>(filled(engine, body, scope)?.to_json()));
        Ok(Self { url, headers, body: body.transpose()? })
    }

    pub(crate) fn hash_into(&self, writer: &mut KeyWriter) {
        writer.str(&self.url).list(self.headers.len());
        for (name, value) in &self.headers {
            writer.str(name).str(value);
        }
        writer.maybe_str(self.body.as_deref());
    }
}

/// A tree whose texts are templates, filled in leaf by leaf: a text stays a text, whatever it holds.
fn filled(engine: &Engine, tree: &Value, scope: &SharedScope) -> Result<Value, String> {
    Ok(match tree {
        Value::Str(text) => Value::Str(engine.render(&Template::new(text.clone()), scope)?),
        Value::List(items) => {
            Value::list(items.iter().map(|item| filled(engine, item, scope)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => match (map.len(), map.get(FROM_JSON)) {
            (1, Some(Value::Str(text))) => {
                let text = engine.render(&Template::new(text.clone()), scope)?;
                let seen = || format!("`{FROM_JSON}` gives no JSON: {}", aigo_ir::text::excerpt(&text, 120));
                Value::of_json(&text).ok_or_else(seen)?
            }
            _ => {
                let pairs = map.iter().map(|(key, value)| Ok((key.clone(), filled(engine, value, scope)?)));
                Value::map(pairs.collect::<Result<Vec<_>, String>>()?)
            }
        },
        plain => plain.clone(),
    })
}

/// Messages as chat APIs have them.
pub(crate) fn chat(messages: &[ChatMessage]) -> Value {
    let text = |text: &Arc<str>| Value::Str(Arc::clone(text));
    let one = |message: &ChatMessage| {
        let mut pairs = vec![("role", Value::str(message.role.word())), ("content", text(&message.text))];
        if !message.calls.is_empty() {
            pairs.push(("tool_calls", Value::list(message.calls.iter().map(call).collect())));
        }
        pairs.extend(message.answers.as_ref().map(|id| ("tool_call_id", text(id))));
        Value::map(pairs)
    };
    Value::list(messages.iter().map(one).collect())
}

fn call(call: &ToolCall) -> Value {
    let function = [("name", Value::Str(call.tool.clone())), ("arguments", Value::Str(call.arguments.clone()))];
    Value::map([
        ("id", Value::Str(call.id.clone())),
        ("type", Value::str("function")),
        ("function", Value::map(function)),
    ])
}

/// The sample, as programs are told of it.
fn of_sample(sample: &Sample) -> Value {
    Value::map([
        ("id", Value::Str(sample.key.clone())),
        ("epoch", Value::Int(i64::from(sample.epoch))),
        ("fields", Value::Map(Arc::clone(&sample.row))),
    ])
}

/// A line with an object on it; `setup` is among its keys where there is one.
fn line(mut pairs: Vec<(&'static str, Value)>, setup: Option<&Value>) -> Arc<str> {
    pairs.extend(setup.map(|setup| ("setup", setup.clone())));
    Value::map(pairs).to_json().into()
}

/// What a program that plays a role is given: the sample, the turn, and all that the role is shown.
pub(crate) fn role_line(request: &Request, sample: &Sample, turn: u32, setup: Option<&Value>) -> Arc<str> {
    let messages = chat(&request.messages);
    let pairs = vec![("sample", of_sample(sample)), ("turn", Value::Int(i64::from(turn))), ("messages", messages)];
    line(pairs, setup)
}

/// What a program that answers a tool is given.
pub(crate) fn tool_line(tool: &Arc<str>, args: Value, sample: &Sample, setup: Option<&Value>) -> Arc<str> {
    line(vec![("tool", Value::Str(tool.clone())), ("args", args), ("sample", of_sample(sample))], setup)
}

/// What a program that is called around a sample is given.
pub(crate) fn around_line(sample: &Sample, setup: Option<&Value>) -> Arc<str> {
    line(vec![("sample", of_sample(sample))], setup)
}
