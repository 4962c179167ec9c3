//! `POST /chat/completions` as `OpenAI` defined it and vLLM, llama.cpp, Ollama, `OpenRouter`, Azure and others speak it.

use aigo_ir::program::{Dialect, Structured};
use aigo_ir::text::json_string;
use aigo_machine::{ChatMessage, ChatRole, Request, ToolCall, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{Count, Parsed, Text, arguments, lenient, parse};
use super::said::{Said, SaidCall, Stop};
use super::shape::{TOOL_TEXT, Wanted, wanted};
use super::{refusal, wire};
use crate::fault::{Class, Fault};

/// Writes what follows the parameters in a body.
pub(super) fn body(wire: &wire::Wire, request: &Request, out: &mut String) {
    out.push_str(",\"messages\":[");
    for (at, said) in request.messages.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        message(said, wire.system, out);
    }
    out.push(']');
    shape(wire.structured, request, out);
    if wire.streams {
        out.push_str(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    }
}

/// The word for instructions: `OpenAI`'s reasoning models know `developer`, and take `system` for the same.
pub(super) fn system_word(dialect: Dialect, model: &str) -> &'static str {
    let number = |rest: &str| rest.chars().next().and_then(|digit| digit.to_digit(10));
    let reasons = match (model.strip_prefix("gpt-"), model.strip_prefix('o')) {
        (Some(version), _) => number(version).is_some_and(|version| version >= 5),
        (_, Some(version)) => number(version).is_some(),
        _ => false,
    };
    let is_own = matches!(dialect, Dialect::OpenAi | Dialect::OpenAiResponses);
    if is_own && reasons { "developer" } else { "system" }
}

fn message(message: &ChatMessage, system: &str, out: &mut String) {
    out.push_str("{\"role\":\"");
    out.push_str(if message.role == ChatRole::System { system } else { message.role.word() });
    out.push_str("\",\"content\":");
    if message.text.is_empty() && !message.calls.is_empty() {
        out.push_str("null");
    } else {
        json_string(&message.text, out);
    }
    if let Some(id) = &message.answers {
        out.push_str(",\"tool_call_id\":");
        json_string(id, out);
    }
    if !message.calls.is_empty() {
        out.push_str(",\"tool_calls\":[");
        wire::list(&message.calls, out, call);
        out.push(']');
    }
    out.push('}');
}

fn call(call: &ToolCall, out: &mut String) {
    out.push_str("{\"id\":");
    json_string(&call.id, out);
    out.push_str(",\"type\":\"function\",\"function\":{\"name\":");
    json_string(&call.tool, out);
    out.push_str(",\"arguments\":");
    json_string(&call.arguments, out);
    out.push_str("}}");
}

/// Tools, and the shape of the answer.
fn shape(structured: Structured, request: &Request, out: &mut String) {
    if !request.tools.is_empty() {
        out.push_str(",\"tools\":[");
        wire::list(&request.tools, out, |tool, out| {
            out.push_str("{\"type\":\"function\",\"function\":");
            wire::tool(&tool.name, &tool.description, "parameters", &tool.parameters, out);
            out.push('}');
        });
        out.push(']');
    }
    match wanted(structured, request) {
        Wanted::Anything => {}
        Wanted::Schema(name, schema) => {
            out.push_str(",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":");
            json_string(name, out);
            out.push_str(",\"strict\":true,\"schema\":");
            out.push_str(&schema.to_json());
            out.push_str("}}");
        }
        Wanted::Tool(name, schema) => {
            out.push_str(",\"tools\":[{\"type\":\"function\",\"function\":");
            wire::tool(name, TOOL_TEXT, "parameters", schema, out);
            out.push_str("}],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":");
            json_string(name, out);
            out.push_str("}}");
        }
    }
}

/// A whole reply, or a part of a streamed one.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    error: Option<serde_json::Value>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<UsageBody>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    delta: Option<Message>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Text>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Option<Call>>>,
    /// Older servers make one call in this way.
    #[serde(default)]
    function_call: Option<Function>,
    /// What a model thinks is no part of what it says. That it does is a sign of life. Some servers say it twice.
    #[serde(default)]
    reasoning_content: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    reasoning: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct UsageBody {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "lenient")]
    completion_tokens_details: Option<CompletionDetails>,
    /// As `DeepSeek` says it.
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

impl UsageBody {
    fn usage(self) -> Usage {
        let details = self.prompt_tokens_details.and_then(|details| details.cached_tokens.0);
        Usage {
            input: self.prompt_tokens.0,
            output: self.completion_tokens.0,
            cached: details.or(self.prompt_cache_hit_tokens.0),
            reasoning: self.completion_tokens_details.and_then(|details| details.reasoning_tokens.0),
        }
    }
}

/// Reads a whole reply of a good status.
pub(super) fn read(bytes: &[u8]) -> Result<Said, Fault> {
    let Parsed { value: body, is_lossy } =
        parse::<Body>(bytes).map_err(|error| wire::unreadable("chat completion", &error, bytes))?;
    if let Some(error) = &body.error {
        return Err(refusal::of_error(error));
    }
    let choice = body.choices.and_then(|choices| choices.into_iter().next());
    if let Some(error) = choice.as_ref().and_then(|choice| choice.error.as_ref()) {
        return Err(refusal::of_error(error));
    }
    let Some(Choice { message: Some(message), finish_reason, .. }) = choice else {
        return Err(Fault::new(Class::Protocol, "a reply without a message in it"));
    };
    let stop = finish_reason.as_deref().map(Stop::of).transpose()?;
    let usage = body.usage.map(UsageBody::usage).unwrap_or_default();
    let mut said = Said { stop, usage, model: body.model, is_lossy, ..Said::default() };
    said.text = message.content.unwrap_or_default().0;
    said.refusal = message.refusal;
    for call in message.tool_calls.unwrap_or_default().into_iter().flatten() {
        let function = call.function.unwrap_or_default();
        said.calls.push(made(call.id.unwrap_or_default(), function));
    }
    said.calls.extend(message.function_call.map(|function| made(String::new(), function)));
    Ok(said)
}

fn made(id: String, function: Function) -> SaidCall {
    let arguments = arguments(function.arguments.as_deref());
    SaidCall { id, tool: function.name.unwrap_or_default(), arguments }
}

/// What a stream has brought so far.
#[derive(Default)]
pub(super) struct Streamed {
    said: Said,
    /// The index of each call, as the server counts them.
    indices: Vec<u64>,
    is_over: bool,
    has_begun: bool,
}

impl Streamed {
    /// Takes the data of an event.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            self.is_over = true;
            return Ok(());
        }
        let Parsed { value: part, is_lossy } =
            parse::<Body>(data).map_err(|error| wire::unreadable("part of a chat completion", &error, data))?;
        if let Some(error) = &part.error {
            return Err(refusal::of_error(error));
        }
        self.said.is_lossy |= is_lossy;
        self.said.model = self.said.model.take().or(part.model.filter(|model| !model.is_empty()));
        if let Some(usage) = part.usage {
            self.said.usage = usage.usage();
        }
        // A first part without a choice tells of filters, a last one of usage.
        let Some(choice) = part.choices.and_then(|choices| choices.into_iter().next()) else { return Ok(()) };
        if let Some(error) = &choice.error {
            return Err(refusal::of_error(error));
        }
        if let Some(word) = choice.finish_reason {
            self.said.stop = Some(Stop::of(&word)?);
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(delta);
        }
        Ok(())
    }

    fn delta(&mut self, delta: Message) {
        let text = delta.content.unwrap_or_default().0;
        let thinks = delta.reasoning_content.is_some() || delta.reasoning.is_some();
        self.has_begun |= !text.is_empty() || thinks || delta.tool_calls.is_some();
        self.said.text.push_str(&text);
        if let Some(refusal) = delta.refusal {
            self.said.refusal.get_or_insert_default().push_str(&refusal);
        }
        for call in delta.tool_calls.unwrap_or_default().into_iter().flatten() {
            self.call(call);
        }
        if let Some(function) = delta.function_call {
            self.call(Call { index: Some(0), id: None, function: Some(function) });
        }
    }

    /// A part of a call: it goes on with the call of its index, unless it has an id of its own.
    fn call(&mut self, call: Call) {
        let id = call.id.unwrap_or_default();
        let last = self.said.calls.len().checked_sub(1);
        let known = match call.index {
            Some(index) => self.indices.iter().rposition(|known| *known == index),
            None if id.is_empty() => last,
            None => None,
        };
        let known = known.and_then(|at| self.said.calls.get_mut(at)).filter(|call| id.is_empty() || call.id == id);
        let part = made(id, call.function.unwrap_or_default());
        match known {
            Some(known) => {
                known.arguments.push_str(&part.arguments);
                if known.tool.is_empty() {
                    known.tool = part.tool;
                }
            }
            None => {
                self.indices.push(call.index.unwrap_or(u64::MAX));
                self.said.calls.push(part);
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
    pub(super) fn said(self) -> Option<Said> {
        self.said.stop.is_some().then_some(self.said)
    }
}
