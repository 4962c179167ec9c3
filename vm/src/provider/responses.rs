//! `POST /responses` as `OpenAI` defined it. Nothing is stored there: the whole conversation goes with every call.

use aigo_ir::text::json_string;
use aigo_machine::{ChatMessage, ChatRole, Request, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{Count, Parsed, arguments, lenient, parse};
use super::said::{Said, SaidCall, Stop};
use super::shape::{TOOL_TEXT, Wanted, wanted};
use super::{refusal, wire};
use crate::fault::{Class, Fault};

/// Writes what follows the parameters in a body.
pub(super) fn body(wire: &wire::Wire, request: &Request, out: &mut String) {
    if !wire.sets("store") {
        out.push_str(",\"store\":false");
    }
    out.push_str(",\"input\":[");
    let mut is_first = true;
    for said in &request.messages {
        message(said, wire.system, &mut is_first, out);
    }
    out.push(']');
    let wanted = wanted(wire.structured, request);
    wire.merged(out, "text", |out| {
        let Wanted::Schema(name, schema) = &wanted else { return false };
        out.push_str("\"format\":{\"type\":\"json_schema\",\"name\":");
        json_string(name, out);
        out.push_str(",\"strict\":true,\"schema\":");
        out.push_str(&schema.to_json());
        out.push('}');
        true
    });
    if !request.tools.is_empty() {
        out.push_str(",\"tools\":[");
        wire::list(&request.tools, out, |tool, out| {
            out.push_str("{\"type\":\"function\",\"strict\":false,");
            wire::tool_entries(&tool.name, &tool.description, "parameters", &tool.parameters, out);
            out.push('}');
        });
        out.push(']');
    }
    if let Wanted::Tool(name, schema) = wanted {
        out.push_str(",\"tools\":[{\"type\":\"function\",\"strict\":false,");
        wire::tool_entries(name, TOOL_TEXT, "parameters", schema, out);
        out.push_str("}],\"tool_choice\":{\"type\":\"function\",\"name\":");
        json_string(name, out);
        out.push('}');
    }
    if wire.streams {
        out.push_str(",\"stream\":true");
    }
}

/// The items of a message: its text, then its calls.
fn message(message: &ChatMessage, system: &str, is_first: &mut bool, out: &mut String) {
    let mut item = |out: &mut String| {
        if !std::mem::take(is_first) {
            out.push(',');
        }
    };
    if let Some(id) = &message.answers {
        item(out);
        out.push_str("{\"type\":\"function_call_output\",\"call_id\":");
        json_string(id, out);
        out.push_str(",\"output\":");
        json_string(&message.text, out);
        out.push('}');
        return;
    }
    if !message.text.is_empty() || message.calls.is_empty() {
        item(out);
        out.push_str("{\"role\":\"");
        out.push_str(if message.role == ChatRole::System { system } else { message.role.word() });
        out.push_str("\",\"content\":");
        json_string(&message.text, out);
        out.push('}');
    }
    for call in &message.calls {
        item(out);
        out.push_str("{\"type\":\"function_call\",\"call_id\":");
        json_string(&call.id, out);
        out.push_str(",\"name\":");
        json_string(&call.tool, out);
        out.push_str(",\"arguments\":");
        json_string(&call.arguments, out);
        out.push('}');
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    error: Option<serde_json::Value>,
    #[serde(default)]
    incomplete_details: Option<Incomplete>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default)]
    output: Option<Vec<Item>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<UsageBody>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Item {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<Part>>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct UsageBody {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Count,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

/// Reads a whole reply of a good status.
pub(super) fn read(bytes: &[u8]) -> Result<Said, Fault> {
    let Parsed { value, is_lossy } =
        parse::<Body>(bytes).map_err(|error| wire::unreadable("response", &error, bytes))?;
    said(value, is_lossy)
}

fn said(body: Body, is_lossy: bool) -> Result<Said, Fault> {
    if let Some(error) = body.error.as_ref().filter(|error| !error.is_null()) {
        return Err(refusal::of_error(error));
    }
    let Some(output) = body.output else {
        return Err(Fault::new(Class::Protocol, "a reply without an output in it"));
    };
    let stop = match (body.status.as_deref(), body.incomplete_details) {
        (Some("incomplete"), Some(Incomplete { reason: Some(reason) })) => Some(Stop::of(&reason)?),
        (Some("failed" | "in_progress" | "queued"), _) => {
            let message = format!("a response that is `{}`", body.status.unwrap_or_default());
            return Err(Fault::new(Class::Transient, message));
        }
        (Some(status), _) => Some(Stop::of(status)?),
        (None, _) => None,
    };
    let usage = body.usage.map(|usage| Usage {
        input: usage.input_tokens.0,
        output: usage.output_tokens.0,
        cached: usage.input_tokens_details.and_then(|details| details.cached_tokens.0),
        reasoning: usage.output_tokens_details.and_then(|details| details.reasoning_tokens.0),
    });
    let mut said = Said { stop, usage: usage.unwrap_or_default(), model: body.model, is_lossy, ..Said::default() };
    for item in output {
        add(item, &mut said);
    }
    Ok(said)
}

/// An item of the output; what the model thought is none of its words.
fn add(item: Item, said: &mut Said) {
    match item.kind.as_str() {
        "message" => {
            for part in item.content.unwrap_or_default() {
                match part.kind.as_str() {
                    "output_text" => said.text.push_str(&part.text.unwrap_or_default()),
                    "refusal" => {
                        said.refusal.get_or_insert_default().push_str(&part.refusal.unwrap_or_default());
                    }
                    _ => {}
                }
            }
        }
        "function_call" => said.calls.push(SaidCall {
            id: item.call_id.unwrap_or_default(),
            tool: item.name.unwrap_or_default(),
            arguments: arguments(item.arguments.as_deref()),
        }),
        _ => {}
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    response: Option<Box<RawValue>>,
    #[serde(default)]
    item: Option<Item>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

/// What a stream has brought so far. Its last event holds the whole response, so the parts before it are only signs of life.
#[derive(Default)]
pub(super) struct Streamed {
    said: Option<Said>,
    /// Whole items, for servers whose last event holds none.
    items: Vec<Item>,
    is_lossy: bool,
    has_begun: bool,
}

impl Streamed {
    /// Takes the data of an event.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(());
        }
        let Parsed { value: event, is_lossy } =
            parse::<Event>(data).map_err(|error| wire::unreadable("event of a response", &error, data))?;
        self.is_lossy |= is_lossy;
        match (event.kind.as_str(), event.response) {
            ("error", _) => {
                let whole: serde_json::Value = serde_json::from_slice(data).unwrap_or_default();
                Err(refusal::of_error(event.error.as_ref().filter(|error| !error.is_null()).unwrap_or(&whole)))
            }
            ("response.completed" | "response.incomplete" | "response.failed", Some(response)) => {
                let body = serde_json::from_str::<Body>(response.get());
                let body = body.map_err(|error| wire::unreadable("response", &error, response.get().as_bytes()))?;
                let mut said = said(body, self.is_lossy)?;
                if said.text.is_empty() && said.calls.is_empty() && said.refusal.is_none() {
                    self.items.drain(..).for_each(|item| add(item, &mut said));
                }
                self.said = Some(said);
                Ok(())
            }
            ("response.output_item.done", _) => {
                self.items.extend(event.item);
                Ok(())
            }
            (kind, _) => {
                self.has_begun |=
                    kind.starts_with("response.output_text") || kind.starts_with("response.function_call");
                Ok(())
            }
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.said.is_some()
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What was said; none where the last event was not seen.
    pub(super) fn said(self) -> Option<Said> {
        self.said
    }
}
