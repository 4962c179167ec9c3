//! Anthropic's `POST /v1/messages`: instructions apart from the messages, turns that alternate, tools as parts of messages.

use std::borrow::Cow;

use aigo_ir::text::json_string;
use aigo_machine::{ChatMessage, ChatRole, Request, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{Count, Parsed, arguments, lenient, parse};
use super::said::{Said, SaidCall, Stop};
use super::shape::{TOOL_TEXT, Wanted, wanted};
use super::{refusal, wire};
use crate::fault::{Class, Fault};

/// The version of the API that is spoken.
pub(super) const VERSION: &str = "2023-06-01";

/// The API refuses messages without text, and conversations that the model begins.
const NO_TEXT: &str = "(no text)";
const BEGINNING: &str = "(The conversation begins.)";
/// Arguments that are no JSON object stand in one under this key, as the provider advises.
const BROKEN: &str = "INVALID_JSON";

/// Writes what follows the parameters in a body.
pub(super) fn body(wire: &wire::Wire, request: &Request, out: &mut String) {
    let system = request.messages.iter().filter(|message| message.role == ChatRole::System);
    let system: Vec<&str> = system.map(|message| &*message.text).filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty() {
        out.push_str(",\"system\":");
        json_string(&system.join("\n\n"), out);
    }
    out.push_str(",\"messages\":[");
    messages(request, out);
    out.push(']');
    let wanted = wanted(wire.structured, request);
    wire.merged(out, "output_config", |out| {
        let Wanted::Schema(_, schema) = &wanted else { return false };
        out.push_str("\"format\":{\"type\":\"json_schema\",\"schema\":");
        out.push_str(&schema.to_json());
        out.push('}');
        true
    });
    if !request.tools.is_empty() {
        out.push_str(",\"tools\":[");
        wire::list(&request.tools, out, |tool, out| {
            wire::tool(&tool.name, &tool.description, "input_schema", &tool.parameters, out);
        });
        out.push(']');
    }
    if let Wanted::Tool(name, schema) = wanted {
        out.push_str(",\"tools\":[");
        wire::tool(name, TOOL_TEXT, "input_schema", schema, out);
        out.push_str("],\"tool_choice\":{\"type\":\"tool\",\"name\":");
        json_string(name, out);
        out.push('}');
    }
    if wire.streams {
        out.push_str(",\"stream\":true");
    }
}

/// The turns, each of them all that one side says before the other speaks again.
fn messages(request: &Request, out: &mut String) {
    let mut turns = Turns { out, open: None, ids: Vec::new() };
    for message in request.messages.iter().filter(|message| message.role != ChatRole::System) {
        turns.message(message);
    }
    if turns.open.is_none() {
        turns.part(Side::User, |out| text(BEGINNING, out));
    }
    turns.out.push_str("]}");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Assistant,
}

struct Turns<'o> {
    out: &'o mut String,
    /// Whose turn is being written.
    open: Option<Side>,
    /// The ids of calls, as the conversation has them and as they are sent.
    ids: Vec<(String, String)>,
}

impl Turns<'_> {
    fn message(&mut self, message: &ChatMessage) {
        if let Some(id) = &message.answers {
            let id = self.ids.iter().rev().find(|(known, _)| **known == **id).map(|(_, sent)| sent.clone());
            let id = id.unwrap_or_else(|| message.answers.as_deref().map(legal).unwrap_or_default());
            return self.part(Side::User, |out| {
                out.push_str("{\"type\":\"tool_result\",\"tool_use_id\":");
                json_string(&id, out);
                out.push_str(",\"content\":");
                json_string(&message.text, out);
                out.push('}');
            });
        }
        let is_empty = message.text.trim().is_empty();
        if message.role == ChatRole::User {
            return self.part(Side::User, |out| text(if is_empty { NO_TEXT } else { &message.text }, out));
        }
        if !is_empty {
            self.part(Side::Assistant, |out| text(&message.text, out));
        }
        for call in &message.calls {
            let id = self.id(&call.id);
            let input = input(&call.arguments);
            self.part(Side::Assistant, |out| {
                out.push_str("{\"type\":\"tool_use\",\"id\":");
                json_string(&id, out);
                out.push_str(",\"name\":");
                json_string(&call.tool, out);
                out.push_str(",\"input\":");
                out.push_str(&input);
                out.push('}');
            });
        }
    }

    /// A part of a side's turn.
    fn part(&mut self, side: Side, write: impl FnOnce(&mut String)) {
        if self.open.is_none() && side == Side::Assistant {
            self.turn(Side::User);
            text(BEGINNING, self.out);
        }
        self.turn(side);
        write(self.out);
    }

    /// Goes on with a side's turn, or begins it where it is the other's.
    fn turn(&mut self, side: Side) {
        if self.open == Some(side) {
            self.out.push(',');
            return;
        }
        if self.open.is_some() {
            self.out.push_str("]},");
        }
        self.out.push_str("{\"role\":\"");
        self.out.push_str(if side == Side::User { "user" } else { "assistant" });
        self.out.push_str("\",\"content\":[");
        self.open = Some(side);
    }

    /// An id that the API takes, and that no call before has.
    fn id(&mut self, id: &str) -> String {
        let mut sent = legal(id);
        while self.ids.iter().any(|(_, known)| *known == sent) {
            sent.push('_');
        }
        self.ids.push((id.to_owned(), sent.clone()));
        sent
    }
}

fn legal(id: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    if id.is_empty() { "call".to_owned() } else { id.chars().map(legal).collect() }
}

fn text(text: &str, out: &mut String) {
    out.push_str("{\"type\":\"text\",\"text\":");
    json_string(text, out);
    out.push('}');
}

/// The arguments of a call as an object.
fn input(arguments: &str) -> Cow<'_, str> {
    let arguments = arguments.trim();
    let is_object = arguments.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
    match arguments {
        "" => Cow::Borrowed("{}"),
        _ if is_object => Cow::Borrowed(arguments),
        _ => {
            let mut out = String::from("{\"");
            out.push_str(BROKEN);
            out.push_str("\":");
            json_string(arguments, &mut out);
            out.push('}');
            Cow::Owned(out)
        }
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default, deserialize_with = "lenient")]
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<UsageBody>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
struct Block {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct UsageBody {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Count,
}

impl UsageBody {
    /// The counts of both; the later ones count where they are.
    fn and(self, later: Self) -> Self {
        let count = |before: Count, after: Count| Count(after.0.or(before.0));
        Self {
            input_tokens: count(self.input_tokens, later.input_tokens),
            output_tokens: count(self.output_tokens, later.output_tokens),
            cache_read_input_tokens: count(self.cache_read_input_tokens, later.cache_read_input_tokens),
            cache_creation_input_tokens: count(self.cache_creation_input_tokens, later.cache_creation_input_tokens),
            output_tokens_details: later.output_tokens_details.or(self.output_tokens_details),
        }
    }

    /// What is read from the cache, and what is put into it, is counted apart here, and is part of the prompt all the same.
    fn usage(self) -> Usage {
        let cache = [self.cache_read_input_tokens.0, self.cache_creation_input_tokens.0];
        let cache = cache.into_iter().flatten().fold(0_u64, u64::saturating_add);
        Usage {
            input: self.input_tokens.0.map(|input| input.saturating_add(cache)),
            output: self.output_tokens.0,
            cached: self.cache_read_input_tokens.0,
            reasoning: self.output_tokens_details.and_then(|details| details.thinking_tokens.0),
        }
    }
}

/// Reads a whole reply of a good status.
pub(super) fn read(bytes: &[u8]) -> Result<Said, Fault> {
    let Parsed { value: body, is_lossy } =
        parse::<Body>(bytes).map_err(|error| wire::unreadable("message", &error, bytes))?;
    if let Some(error) = body.error.as_ref().filter(|error| !error.is_null()) {
        return Err(refusal::of_error(error));
    }
    let Some(content) = body.content else {
        return Err(Fault::new(Class::Protocol, "a reply without a content in it"));
    };
    let stop = body.stop_reason.as_deref().map(Stop::of).transpose()?;
    let usage = body.usage.unwrap_or_default().usage();
    let mut said = Said { stop, usage, model: body.model, is_lossy, ..Said::default() };
    for block in content {
        match block.kind.as_str() {
            "text" => said.text.push_str(&block.text.unwrap_or_default()),
            "tool_use" => said.calls.push(SaidCall {
                arguments: arguments(block.input.as_deref()),
                id: block.id.unwrap_or_default(),
                tool: block.name.unwrap_or_default(),
            }),
            // What it thought is none of its words.
            _ => {}
        }
    }
    Ok(said)
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: Option<Body>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    content_block: Option<Block>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<UsageBody>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
struct Delta {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    stop_reason: Option<String>,
}

/// What a stream has brought so far.
#[derive(Default)]
pub(super) struct Streamed {
    said: Said,
    usage: UsageBody,
    /// Of each call, the index of its block.
    indices: Vec<Option<u64>>,
    is_over: bool,
    has_begun: bool,
}

impl Streamed {
    /// Takes the data of an event.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(), Fault> {
        let Parsed { value: event, is_lossy } =
            parse::<Event>(data).map_err(|error| wire::unreadable("event of a message", &error, data))?;
        self.said.is_lossy |= is_lossy;
        match event.kind.as_str() {
            "error" => return Err(refusal::of_error(event.error.as_ref().unwrap_or(&serde_json::Value::Null))),
            "message_start" => {
                let message = event.message;
                self.said.model = message.as_ref().and_then(|message| message.model.clone());
                self.usage = message.and_then(|message| message.usage).unwrap_or_default();
            }
            "content_block_start" => self.block(event.index, event.content_block.unwrap_or_default()),
            "content_block_delta" => self.delta(event.index, event.delta.unwrap_or_default()),
            "message_delta" => {
                if let Some(word) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.said.stop = Some(Stop::of(&word)?);
                }
                self.usage = std::mem::take(&mut self.usage).and(event.usage.unwrap_or_default());
            }
            "message_stop" => self.is_over = true,
            _ => {}
        }
        Ok(())
    }

    fn block(&mut self, index: Option<u64>, block: Block) {
        self.has_begun = true;
        match block.kind.as_str() {
            "text" => self.said.text.push_str(&block.text.unwrap_or_default()),
            "tool_use" => {
                // The input is empty here, and comes in parts; what does stand here is the whole.
                let whole = Some(arguments(block.input.as_deref())).filter(|input| input.trim() != "{}");
                self.indices.push(index);
                self.said.calls.push(SaidCall {
                    id: block.id.unwrap_or_default(),
                    tool: block.name.unwrap_or_default(),
                    arguments: whole.unwrap_or_default(),
                });
            }
            _ => {}
        }
    }

    fn delta(&mut self, index: Option<u64>, delta: Delta) {
        if let Some(text) = delta.text {
            self.said.text.push_str(&text);
        }
        if let Some(json) = delta.partial_json {
            let at = self.indices.iter().rposition(|known| *known == index);
            if let Some(call) = at.and_then(|at| self.said.calls.get_mut(at)) {
                call.arguments.push_str(&json);
            }
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) const fn has_stopped(&self) -> bool {
        self.said.stop.is_some()
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What was said; none where no reason to stop was seen.
    pub(super) fn said(mut self) -> Option<Said> {
        self.said.usage = self.usage.usage();
        for call in &mut self.said.calls {
            if call.arguments.is_empty() {
                call.arguments.push_str("{}");
            }
        }
        self.said.stop.is_some().then_some(self.said)
    }
}
