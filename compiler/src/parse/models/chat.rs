//! Chat models: providers and parameters.

use aigo_ir::diagnostic;
use aigo_ir::program::{Dialect, Structured};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader};
use crate::ast::{Chat, Header, HeaderValue, Parameter};
use crate::catalog;
use crate::families::{self, EFFORTS};

/// A provider: its name, its dialect, the address and the variable of its key unless the task says others.
struct Provider {
    name: &'static str,
    dialect: Dialect,
    base_url: Option<&'static str>,
    api_key: Option<&'static str>,
}

static PROVIDERS: [Provider; 3] = [
    Provider {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        base_url: Some("https://api.anthropic.com"),
        api_key: Some("ANTHROPIC_API_KEY"),
    },
    Provider {
        name: "openai",
        dialect: Dialect::OpenAi,
        base_url: Some("https://api.openai.com/v1"),
        api_key: Some("OPENAI_API_KEY"),
    },
    Provider { name: "openai_compatible", dialect: Dialect::OpenAiCompatible, base_url: None, api_key: None },
];

/// What `extra` may not set, and what to do instead.
const RESERVED: [(&str, &str); 23] = [
    ("model", "the model is what `model` names"),
    ("messages", "the messages are the conversation"),
    ("system", "instructions are the task's `system` steps"),
    ("stream", "write it beside `model`"),
    ("stream_options", "aigo sets it where answers are streamed"),
    ("response_format", "the shape of an answer is what asks for it; `structured` says how"),
    ("tools", "tools are the task's `tools`"),
    ("tool_choice", "tools are the task's `tools`"),
    ("n", "write `epochs`, or `runs` of a scorer"),
    ("max_completion_tokens", "write `max_tokens` beside `model`"),
    ("max_output_tokens", "write `max_tokens` beside `model`"),
    ("input", "the messages are the conversation"),
    ("instructions", "instructions are the task's `system` steps"),
    ("previous_response_id", "the whole conversation is sent with every call"),
    ("background", "write `timeout` beside `model`, as long as it may take"),
    ("stop_sequences", "write `stop` beside `model`"),
    ("temperature", "write it beside `model`"),
    ("top_p", "write it beside `model`"),
    ("max_tokens", "write it beside `model`"),
    ("seed", "write it beside `model`"),
    ("stop", "write it beside `model`"),
    ("reasoning_effort", "write it beside `model`"),
    ("api_key", "write `api_key: {env: NAME}` beside `model`"),
];

/// Headers that aigo sets itself.
const OWN_HEADERS: [(&str, &str); 5] = [
    ("authorization", "write `api_key: {env: NAME}`"),
    ("x-api-key", "write `api_key: {env: NAME}`"),
    ("content-type", "remove it: JSON is sent"),
    ("content-length", "remove it"),
    ("host", "remove it"),
];

/// What is added to a `base_url`, by dialect.
const ENDPOINTS: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/messages"];

impl Reader<'_> {
    /// A chat model; without fields where the role is the model's name alone.
    pub(super) fn chat(&mut self, fields: Option<&Fields<'_>>, value: NodeRef<'_>) -> Option<Chat> {
        let written = self.text(value, "model")?;
        let Some((provider, name)) = self.provider(value, &written) else {
            // The rest is read all the same, for its own mistakes.
            if let Some(fields) = fields {
                self.settings(fields);
            }
            return None;
        };
        let base_url = match fields.and_then(|fields| fields.get("base_url")) {
            Some(node) => self.base_url(node),
            None => match (provider.base_url, fields) {
                (Some(url), _) => Some(url.to_owned()),
                // A node that could not be read has been told.
                (None, Some(fields)) if fields.node.get("base_url").is_some() || fields.node.is_incomplete() => None,
                (None, _) => {
                    let message = format!("`{}/` needs the `base_url` of a server", provider.name);
                    let help = format!("write `{{model: {}, base_url: http://localhost:11434/v1}}`", written.value);
                    self.report(catalog::MISSING_KEY.at(written.span, message).help(help));
                    None
                }
            },
        };
        // A provider's usual key is for the provider: no other address gets it unless the task says so.
        let own = base_url.as_deref() == provider.base_url;
        let usual = provider.api_key.filter(|_| own).map(|name| Spanned::new(name.to_owned(), written.span));
        let key = fields.and_then(|fields| fields.get("api_key"));
        let api_key = key.map_or(usual, |node| self.secret(node, "api_key"));
        let dialect = self.dialect(provider, fields);
        let chat = fields.map(|fields| self.settings(fields)).unwrap_or_default();
        Some(Chat {
            dialect,
            endpoint: chat.endpoint.unwrap_or_else(|| provider.name.to_owned()),
            model: Spanned::new(name, written.span),
            base_url: base_url?,
            api_key,
            parameters: chat.parameters,
            extra: chat.extra,
            price: chat.price,
            has_price: fields.is_some_and(|fields| fields.has("price")),
            timeout_ms: chat.timeout_ms,
            stream: chat.stream,
            structured: chat.structured,
            headers: chat.headers,
        })
    }

    /// The dialect of a provider, by `api` where it has two.
    fn dialect(&mut self, provider: &Provider, fields: Option<&Fields<'_>>) -> Dialect {
        let Some((fields, node)) = fields.and_then(|fields| Some((fields, fields.get("api")?))) else {
            return provider.dialect;
        };
        let wants_responses = self.one_of(node, "api", &[("chat", false), ("responses", true)]);
        match (provider.dialect, wants_responses) {
            (Dialect::Anthropic, Some(_)) => {
                let message = "`api` means nothing for `anthropic/`, whose one API is that of messages";
                self.report(catalog::BAD_VALUE.at(fields.key_span("api"), message).help("remove it"));
                Dialect::Anthropic
            }
            (Dialect::OpenAi, Some(true)) => Dialect::OpenAiResponses,
            (Dialect::OpenAiCompatible, Some(true)) => Dialect::CompatibleResponses,
            (dialect, _) => dialect,
        }
    }

    fn settings(&mut self, fields: &Fields<'_>) -> Settings {
        let endpoint = fields.get("endpoint").and_then(|node| self.text(node, "endpoint"));
        Settings {
            endpoint: endpoint.map(|text| text.value),
            price: fields.get("price").and_then(|node| self.price(node)),
            timeout_ms: fields.get("timeout").and_then(|node| self.duration_ms(node, "timeout")),
            stream: fields.get("stream").and_then(|node| self.flag(node, "stream")),
            structured: fields
                .get("structured")
                .and_then(|node| self.one_of(node, "structured", &Structured::ALL.map(|known| (known.word(), known)))),
            headers: fields.get("headers").map(|node| self.chat_headers(node)).unwrap_or_default(),
            parameters: self.parameters(fields),
            extra: fields.get("extra").map(|node| self.extra(node)).unwrap_or_default(),
        }
    }

    /// The provider and the model's name of `PROVIDER/NAME`.
    fn provider(&mut self, node: NodeRef<'_>, written: &Spanned<String>) -> Option<(&'static Provider, String)> {
        let text = written.value.as_str();
        let (before, name) = text.split_once('/').unwrap_or(("", text));
        let known = PROVIDERS.iter().find(|provider| provider.name == before);
        if let Some(provider) = known.filter(|_| !name.is_empty() && !name.contains(char::is_whitespace)) {
            return Some((provider, name.to_owned()));
        }
        // Its rest may stand in what could not be read.
        if node.is_next_to_damage() {
            return None;
        }
        // In a plain scalar the place of a part of it is certain.
        let plain = node.raw() == text && !node.is_alias();
        let place = |end: usize| {
            if plain { Span { end: written.span.start + size(end), ..written.span } } else { written.span }
        };
        if known.is_some() {
            let message = format!("`{text}` names no model");
            let help = format!("write the model's name behind `{before}/`");
            self.report(catalog::BAD_VALUE.at(written.span, message).help(help));
            return None;
        }
        let names = PROVIDERS.iter().map(|provider| provider.name);
        let list: Vec<String> = names.clone().map(|name| format!("`{name}/`")).collect();
        let maker = || {
            let maker = families::family(text)?.maker;
            PROVIDERS.iter().map(|provider| provider.name).find(|name| name.eq_ignore_ascii_case(maker))
        };
        let (near, message, at) = if before.is_empty() {
            let at = place(text.len());
            (maker(), format!("`{text}` does not say who serves it: a model is `PROVIDER/NAME`"), at)
        } else {
            let message = format!("`{before}` is not a provider that aigo knows");
            (diagnostic::nearest(before, names), message, place(before.len()))
        };
        let mut diagnostic = catalog::UNKNOWN_PROVIDER.at(at, message);
        diagnostic = match near {
            Some(near) => {
                let meant = format!("{near}/{name}");
                let diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
                let safe = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
                if meant.chars().all(safe) && !node.is_alias() {
                    diagnostic.fix(format!("write `{meant}`"), written.span, meant)
                } else {
                    diagnostic
                }
            }
            None => {
                let help =
                    "any server that speaks OpenAI's chat completions is `openai_compatible/NAME` with its `base_url`";
                diagnostic.help(format!("known are {}; {help}", list.join(", ")))
            }
        };
        self.report(diagnostic);
        None
    }

    fn base_url(&mut self, node: NodeRef<'_>) -> Option<String> {
        let text = self.text(node, "base_url")?;
        let trimmed = text.value.trim_end_matches('/');
        if !(trimmed.starts_with("http://") || trimmed.starts_with("https://")) || trimmed.contains(char::is_whitespace)
        {
            let message = format!("`base_url` is `{}`, and must begin with `http://` or `https://`", text.value);
            let help = "write the address of the server, such as `http://localhost:11434/v1`";
            self.report(catalog::BAD_VALUE.at(text.span, message).help(help));
            return None;
        }
        if trimmed.contains('#') {
            let message = "`base_url` is an address without a fragment";
            self.report(catalog::BAD_VALUE.at(text.span, message).help("end it before `#`"));
            return None;
        }
        let (address, query) = trimmed.split_once('?').map_or((trimmed, None), |(before, query)| (before, Some(query)));
        let address = address.trim_end_matches('/');
        let with_query = |address: &str| query.map_or(address.to_owned(), |query| format!("{address}?{query}"));
        if let Some(end) = ENDPOINTS.into_iter().find(|end| address.ends_with(end)) {
            let message = format!("`base_url` ends with `{end}`, which is added to it");
            let right = with_query(address.trim_end_matches(end));
            let found = catalog::BAD_VALUE.at(text.span, message).help(format!("write `{right}`"));
            self.report(found.fix(format!("write `{right}`"), text.span, right));
            return None;
        }
        Some(with_query(address))
    }

    /// In the order of the table, so that equal parameters are equal however they were written.
    fn parameters(&mut self, fields: &Fields<'_>) -> Vec<Parameter> {
        let mut found: Vec<Parameter> = Vec::new();
        let mut add = |name: &'static str, node: NodeRef<'_>, value: Value| {
            found.push(Parameter { name, key: fields.key_span(name), value: Spanned::new(value, node.site()) });
        };
        for (key, least, most) in [("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)] {
            let Some(node) = fields.get(key) else { continue };
            match (self.number(node, key), node.value()) {
                (Some(x), Some(value)) if (least..=most).contains(&x) => add(key, node, value),
                (Some(x), _) => {
                    let message = format!("`{key}` is {x}, and must be {least} to {most}");
                    self.report(catalog::BAD_VALUE.at(node.site(), message).help("write a number in this range"));
                }
                _ => {}
            }
        }
        for (key, least) in [("max_tokens", 1), ("seed", 0)] {
            let Some(node) = fields.get(key) else { continue };
            if let Some(n) = self.whole(node, key, least, i64::MAX) {
                add(key, node, Value::Int(n));
            }
        }
        if let Some(node) = fields.get("stop") {
            let texts = self.items(node, "stop", "texts").into_iter().filter_map(|item| self.text(item, "stop"));
            let texts: Vec<Value> = texts.map(|text| Value::str(text.value)).collect();
            add("stop", node, Value::list(texts));
        }
        if let Some(node) = fields.get("reasoning_effort")
            && let Some(effort) = self.one_of(node, "reasoning_effort", &EFFORTS.map(|effort| (effort, effort)))
        {
            add("reasoning_effort", node, Value::str(effort));
        }
        found
    }

    fn extra(&mut self, node: NodeRef<'_>) -> Vec<(String, Value)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`extra`", "a map of the provider's parameters");
        }
        let mut found = Vec::new();
        for entry in node.entries() {
            let name = entry.key.value;
            if let Some((_, help)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
                let message = format!("`extra` cannot set `{name}`");
                self.report(catalog::BAD_VALUE.at(entry.key.span, message).help(*help));
            } else if ["output_config", "text"].contains(&name) && entry.value.get("format").is_some() {
                let message = format!("`extra` cannot set `format` of `{name}`");
                let help = "the shape of an answer is what asks for it; `structured` says how";
                self.report(catalog::BAD_VALUE.at(entry.key.span, message).help(help));
            } else if !entry.value.is_error()
                && let Some(value) = self.value(entry.value)
            {
                found.push((name.to_owned(), value));
            }
        }
        found
    }

    fn chat_headers(&mut self, node: NodeRef<'_>) -> Vec<Header> {
        let headers = self.headers(node, &OWN_HEADERS);
        for header in &headers {
            if let HeaderValue::Text(leaf) = &header.value
                && (leaf.text.contains("{{") || leaf.text.contains("{%"))
            {
                let message =
                    format!("the header `{}` of a model is no template: nothing is rendered in it", header.name.value);
                self.report(catalog::BAD_VALUE.at(leaf.span, message).help("write a plain text, or `{env: NAME}`"));
            }
        }
        headers
    }
}

/// What a chat model has beside its name, address and key.
#[derive(Default)]
struct Settings {
    endpoint: Option<String>,
    price: Option<aigo_ir::program::Price>,
    timeout_ms: Option<u64>,
    stream: Option<bool>,
    structured: Option<Structured>,
    headers: Vec<Header>,
    parameters: Vec<Parameter>,
    extra: Vec<(String, Value)>,
}

fn size(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
