//! Chat models: what their family takes, and what is sent.

use std::sync::Arc;

use aigo_ir::program::{ChatModel, Dialect, Structured};
use aigo_ir::span::Span;
use aigo_ir::value::Value;

use super::Checker;
use crate::ast::{Chat, Parameter};
use crate::catalog;
use crate::families::{self, Efforts, Family, Sampling};

/// The longest answer of a model whose API must be told one.
const MAX_TOKENS: i64 = 4096;

/// A refusal: what is said, and what to write instead of removing the parameter.
struct Refusal {
    message: String,
    instead: Option<String>,
}

impl Checker<'_> {
    pub(super) fn chat(&mut self, chat: &Chat, judges: bool) -> ChatModel {
        let family = families::family_at(chat.dialect, &chat.model.value);
        for parameter in &chat.parameters {
            let of_family = || family.and_then(|family| refusal(family, chat, parameter));
            if let Some(refusal) = refusal_of_api(chat, parameter).or_else(of_family) {
                self.refuse(parameter, refusal);
            }
        }
        ChatModel {
            dialect: chat.dialect,
            model: chat.model.value.as_str().into(),
            endpoint: chat.endpoint.as_str().into(),
            base_url: chat.base_url.as_str().into(),
            api_key: chat.api_key.as_ref().map(|name| name.value.as_str().into()),
            timeout_ms: chat.timeout_ms,
            stream: chat.stream,
            structured: structured(family, chat),
            headers: self.headers(&chat.headers, false),
            parameters: parameters(family, chat, judges),
            price: chat.price,
        }
    }

    fn refuse(&mut self, parameter: &Parameter, refusal: Refusal) {
        let help = match refusal.instead {
            Some(instead) => format!("remove `{}`, or {instead}", parameter.name),
            None => format!("remove `{}`", parameter.name),
        };
        let mut diagnostic = catalog::REFUSED_PARAMETER.at(parameter.key, refusal.message).help(help);
        if let Some(entry) = self.entry(parameter) {
            diagnostic = diagnostic.fix(format!("remove `{}`", parameter.name), entry, "");
        }
        self.found.push(diagnostic);
    }

    /// The text to take out so that the parameter is gone: its line, or the entry with a comma.
    fn entry(&self, parameter: &Parameter) -> Option<Span> {
        let (key, value) = (parameter.key, parameter.value.span);
        let text = &*self.sources.get(key.file)?.text;
        let (start, end) = (key.start as usize, value.end as usize);
        if value.file != key.file || value.start < key.end || text.get(start..end)?.contains('\n') {
            return None;
        }
        let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let (before, after) = (text.get(line..start)?, text.get(end..)?);
        let rest = after.split('\n').next().unwrap_or_default();
        let trimmed = rest.trim_start();
        let span = |from: usize, to: usize| Some(Span::new(key.file, from, to));
        if before.trim().is_empty() && (trimmed.trim_end().is_empty() || trimmed.starts_with('#')) {
            return span(line, (end + rest.len() + 1).min(text.len()));
        }
        let blanks = rest.len() - trimmed.len();
        if let Some(behind) = trimmed.strip_prefix(',') {
            let more = behind.len() - behind.trim_start_matches(' ').len();
            return span(start, end + blanks + 1 + more);
        }
        let head = before.trim_end();
        span(if head.ends_with(',') { line + head.len() - 1 } else { start }, end)
    }
}

/// What no model takes at an API.
fn refusal_of_api(chat: &Chat, parameter: &Parameter) -> Option<Refusal> {
    let name = parameter.name;
    let is_refused = chat.dialect.is_responses() && ["seed", "stop"].contains(&name);
    is_refused.then(|| Refusal { message: format!("the responses API takes no `{name}`"), instead: None })
}

fn refusal(family: &Family, chat: &Chat, parameter: &Parameter) -> Option<Refusal> {
    let model = chat.model.value.as_str();
    let value = &parameter.value.value;
    let name = parameter.name;
    let refused =
        |why: String, instead: Option<&str>| Some(Refusal { message: why, instead: instead.map(str::to_owned) });
    let set = |name: &str| chat.parameters.iter().find(|parameter| parameter.name == name);
    match name {
        "temperature" | "top_p" => {
            if name == "temperature" && value.as_f64().is_some_and(|x| x > family.most_temperature) {
                let most = family.most_temperature;
                return refused(format!("`{model}` takes a `temperature` of 0 to {most}"), Some("lower it"));
            }
            match family.sampling {
                // The later of the two is one too many.
                Sampling::OneOfBoth if name == "top_p" && set("temperature").is_some() => {
                    refused(format!("`{model}` takes `temperature` or `top_p`, not both"), Some("remove `temperature`"))
                }
                Sampling::Free | Sampling::Unsure | Sampling::OneOfBoth => None,
                Sampling::WithoutReasoning | Sampling::Fixed if value.as_f64() == Some(1.0) => None,
                Sampling::WithoutReasoning => {
                    let none =
                        set("reasoning_effort").is_some_and(|effort| effort.value.value.as_str() == Some("none"));
                    let message = format!("`{model}` takes `{name}` only where it does not reason");
                    if none { None } else { refused(message, Some("write `reasoning_effort: none` beside it")) }
                }
                Sampling::Fixed => refused(format!("`{model}` refuses every `{name}` but 1"), None),
            }
        }
        "seed" if !family.seed => refused(format!("`{model}` takes no `seed`"), None),
        "stop" if !family.stop => refused(format!("`{model}` refuses `stop`"), None),
        "reasoning_effort" => match family.efforts {
            Efforts::Any => None,
            Efforts::Only([]) => refused(format!("`{model}` takes no `reasoning_effort`"), None),
            Efforts::Only(known) => {
                let effort = value.as_str().unwrap_or_default();
                let list: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
                let list = list.join(", ");
                let message = format!("`{model}` does not know the `reasoning_effort` `{effort}`");
                if known.contains(&effort) { None } else { refused(message, Some(&format!("write one of {list}"))) }
            }
        },
        _ => None,
    }
}

/// What is sent. A judge draws as little as it can where its family surely takes that, and an answer of Anthropic's API needs
/// a greatest length; nothing else is filled in.
fn parameters(family: Option<&Family>, chat: &Chat, judges: bool) -> Vec<(Arc<str>, Value)> {
    let set = |name: &str| chat.parameters.iter().any(|parameter| parameter.name == name);
    let mut found: Vec<(Arc<str>, Value)> = Vec::new();
    let takes = match family.map(|family| family.sampling) {
        None | Some(Sampling::Free) => true,
        Some(Sampling::OneOfBoth) => !set("top_p"),
        Some(Sampling::WithoutReasoning | Sampling::Fixed | Sampling::Unsure) => false,
    };
    if judges && takes && !set("temperature") && !thinks(chat) {
        found.push(("temperature".into(), Value::Int(0)));
    }
    for parameter in &chat.parameters {
        let (name, value) = wire(family, chat.dialect, parameter.name, parameter.value.value.clone());
        found.push((name.into(), value));
    }
    if chat.dialect == Dialect::Anthropic && !set("max_tokens") {
        found.push(("max_tokens".into(), Value::Int(MAX_TOKENS)));
    }
    for (name, value) in &chat.extra {
        let known = found.iter_mut().find(|(known, _)| **known == **name).map(|(_, known)| known);
        match (known, value) {
            // Where what is set stands in a map, the rest of that map can only come from here.
            (Some(Value::Map(known)), Value::Map(more)) => {
                let mut joined = (**more).clone();
                known.iter().for_each(|(key, value)| joined.set(key.clone(), value.clone()));
                *known = Arc::new(joined);
            }
            _ => found.push((name.as_str().into(), value.clone())),
        }
    }
    found
}

/// Whether the task switches Anthropic's extended thinking on: it goes with no `temperature` and no forced tool.
fn thinks(chat: &Chat) -> bool {
    let thinking = chat.extra.iter().find(|(name, _)| name == "thinking").map(|(_, value)| value);
    let kind = thinking.and_then(|value| value.get("type")).and_then(Value::as_str);
    chat.dialect == Dialect::Anthropic && kind.is_some_and(|kind| kind != "disabled")
}

/// How the model is asked for objects: as the task says, else as its family takes it.
fn structured(family: Option<&Family>, chat: &Chat) -> Structured {
    let usual = match (family.map(|family| family.structured), chat.dialect) {
        (Some(Structured::Tool), _) if thinks(chat) => Structured::Prompt,
        (Some(known), _) => known,
        (None, Dialect::OpenAiCompatible | Dialect::CompatibleResponses) => Structured::BoundedSchema,
        (None, _) => Structured::Schema,
    };
    chat.structured.unwrap_or(usual)
}

/// A parameter on the wire.
fn wire(family: Option<&Family>, dialect: Dialect, name: &'static str, value: Value) -> (&'static str, Value) {
    match (name, dialect) {
        ("max_tokens", Dialect::OpenAi) => ("max_completion_tokens", value),
        ("max_tokens", Dialect::OpenAiCompatible) => (family.map_or(name, |family| family.max_tokens), value),
        ("max_tokens", Dialect::OpenAiResponses | Dialect::CompatibleResponses) => ("max_output_tokens", value),
        ("reasoning_effort", Dialect::OpenAiResponses | Dialect::CompatibleResponses) => {
            ("reasoning", Value::map([("effort", value)]))
        }
        ("reasoning_effort", Dialect::Anthropic) => ("output_config", Value::map([("effort", value)])),
        ("stop", Dialect::Anthropic) => ("stop_sequences", value),
        _ => (name, value),
    }
}
