//! `POST /chat/completions` as `OpenAI` defined it and vLLM, llama.cpp, Ollama, `OpenRouter` and others speak it; whole replies.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::ChatModel;
use aigo_ir::text::json_string;
use aigo_machine::{Answer, ChatMessage, Request, ToolCall, Usage};
use serde::Deserialize;

use super::Reply;
use crate::error::NO_CLIENT;
use crate::fault::{Class, Fault};
use crate::rates::Rates;

/// A client of one endpoint with one credential.
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    authorization: Option<reqwest::header::HeaderValue>,
    /// The body's beginning: the model and the parameters that are set.
    head: String,
    headers: reqwest::header::HeaderMap,
    /// The key and other secrets, to be taken out of whatever comes back: servers echo headers, and quote keys in refusals.
    secrets: Vec<(String, String)>,
}

/// A header that the task sets.
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
    /// The secret in it, and the name of its variable.
    pub(super) secret: Option<(String, String)>,
}

const CONNECT: Duration = Duration::from_secs(10);
/// A whole reply can take long: a model that thinks sends nothing until it is through.
const WHOLE: Duration = Duration::from_mins(10);
const IDLE_CONNECTION: Duration = Duration::from_secs(4);
/// A log's line holds 64 MiB, and a character can take six bytes in it.
const MOST_BYTES: usize = 8 << 20;

impl Client {
    pub(super) fn new(
        model: &ChatModel,
        key: Option<String>,
        headers: Vec<Header>,
        concurrency: usize,
    ) -> Result<Self, Box<Diagnostic>> {
        let failed = |why: String| {
            Box::new(NO_CLIENT.nowhere(format!("no connection to {} can be set up: {why}", model.base_url)))
        };
        // One process-wide choice; a second call finds it made.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .timeout(model.timeout_ms.map_or(WHOLE, Duration::from_millis))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(concurrency)
            .user_agent(concat!("aigo/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(error.to_string()))?;
        // A short key could be a word, and taking it out would change what was said.
        let name = model.api_key.as_deref().unwrap_or_default();
        let secrets = key.clone().map(|key| (key, name.to_owned())).into_iter();
        let secrets = secrets.chain(headers.iter().filter_map(|header| header.secret.clone()));
        let secrets = secrets.filter(|(secret, _)| secret.len() >= 12);
        let secrets = secrets.map(|(secret, name)| (secret, format!("{{{{secret:{name}}}}}"))).collect();
        let headers = header_map(headers).map_err(&failed)?;
        let authorization = match key {
            None => None,
            Some(key) => {
                let value = reqwest::header::HeaderValue::from_str(&format!("Bearer {key}"));
                let mut value =
                    value.map_err(|_| failed("the key has characters that a header cannot carry".to_owned()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let mut head = String::from("{\"model\":");
        json_string(&model.model, &mut head);
        for (name, value) in &model.parameters {
            head.push(',');
            json_string(name, &mut head);
            head.push(':');
            head.push_str(&value.to_json());
        }
        head.push_str(",\"messages\":");
        let url = format!("{}/chat/completions", model.base_url);
        Ok(Self { http, url, authorization, head, headers, secrets })
    }

    pub(super) async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        let mut outcome = self.post(request).await;
        for (secret, name) in &self.secrets {
            let clean = |text: &mut Arc<str>| {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), name).into();
                }
            };
            match &mut outcome {
                Ok(reply) => {
                    clean(&mut reply.answer.text);
                    reply.answer.calls.iter_mut().for_each(|call| clean(&mut call.arguments));
                    reply.model = reply.model.take().map(|model| model.replace(secret.as_str(), name));
                }
                Err(fault) => fault.message = fault.message.replace(secret.as_str(), name),
            }
        }
        outcome
    }

    async fn post(&self, request: &Request) -> Result<Reply, Fault> {
        let mut post = self
            .http
            .post(&self.url)
            .headers(self.headers.clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(self.body(request));
        if let Some(authorization) = &self.authorization {
            post = post.header(reqwest::header::AUTHORIZATION, authorization.clone());
        }
        let mut response = post.send().await.map_err(|error| connection(&error))?;
        let status = response.status().as_u16();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let rates = Rates::read(headers, SystemTime::now());
        let length = response.content_length().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let mut bytes = Vec::with_capacity(length.min(1 << 20));
        while let Some(chunk) = response.chunk().await.map_err(|error| connection(&error))? {
            if bytes.len() + chunk.len() > MOST_BYTES {
                return Err(Fault::new(Class::Protocol, format!("a reply of more than {MOST_BYTES} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        read(status, rates, bytes)
    }

    fn body(&self, request: &Request) -> String {
        let text: usize = request.messages.iter().map(|message| message.text.len() + 40).sum();
        let mut out = String::with_capacity(self.head.len() + text + 200);
        out.push_str(&self.head);
        out.push('[');
        for (at, one) in request.messages.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            message(one, &mut out);
        }
        out.push(']');
        if let Some((name, schema)) = &request.schema {
            out.push_str(",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":");
            json_string(name, &mut out);
            out.push_str(",\"strict\":true,\"schema\":");
            out.push_str(&schema.to_json());
            out.push_str("}}");
        }
        out.push('}');
        out
    }
}

/// Headers as they are sent; the message of a failure repeats no secret.
fn header_map(headers: Vec<Header>) -> Result<reqwest::header::HeaderMap, String> {
    let mut map = reqwest::header::HeaderMap::with_capacity(headers.len());
    for header in headers {
        let name = reqwest::header::HeaderName::from_bytes(header.name.as_bytes());
        let value = reqwest::header::HeaderValue::from_str(&header.value);
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(format!("the header `{}` has characters that a header cannot carry", header.name));
        };
        value.set_sensitive(header.secret.is_some());
        map.insert(name, value);
    }
    Ok(map)
}

fn message(message: &ChatMessage, out: &mut String) {
    out.push_str("{\"role\":\"");
    out.push_str(message.role.word());
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
    for (at, call) in message.calls.iter().enumerate() {
        out.push_str(if at == 0 { ",\"tool_calls\":[" } else { "," });
        out.push_str("{\"id\":");
        json_string(&call.id, out);
        out.push_str(",\"type\":\"function\",\"function\":{\"name\":");
        json_string(&call.tool, out);
        out.push_str(",\"arguments\":");
        json_string(&call.arguments, out);
        out.push_str("}}");
    }
    out.push_str(if message.calls.is_empty() { "}" } else { "]}" });
}

/// Whatever has no status.
fn connection(error: &reqwest::Error) -> Fault {
    if error.is_builder() || error.is_redirect() {
        return Fault::new(Class::Config, error.to_string());
    }
    Fault::of_connection(error, error.is_connect())
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    error: Option<ErrorBody>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<UsageBody>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<MessageBody>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct MessageBody {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallBody>>,
}

#[derive(Deserialize)]
struct CallBody {
    #[serde(default)]
    id: Option<String>,
    function: FunctionBody,
}

#[derive(Deserialize)]
struct FunctionBody {
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct UsageBody {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    message: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// A word with `OpenAI`, the status with llama.cpp.
    #[serde(default)]
    code: Option<serde_json::Value>,
}

fn read(status: u16, rates: Rates, bytes: Vec<u8>) -> Result<Reply, Fault> {
    let (text, mut lossy) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    let body: Result<Body, serde_json::Error> = serde_json::from_str(&text).or_else(|error| {
        let mended = mend_surrogates(&text).ok_or(error)?;
        lossy = true;
        serde_json::from_str(&mended)
    });
    let body = match body {
        Ok(body) => body,
        Err(_) if !(200..300).contains(&status) => return Err(Fault::of_status(status, "", &text, rates)),
        Err(error) => {
            let seen = aigo_ir::text::excerpt(&text, 120);
            return Err(Fault::new(Class::Protocol, format!("a reply that is no chat completion ({error}): {seen}")));
        }
    };
    if let Some(error) = &body.error {
        let code = error.code.as_ref();
        let word = format!(
            "{} {}",
            code.and_then(|code| code.as_str()).unwrap_or_default(),
            error.kind.as_deref().unwrap_or_default()
        );
        // Some servers put the status into the body of a 200.
        let inner = code.and_then(serde_json::Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status = if (200..300).contains(&status) { inner.unwrap_or(500) } else { status };
        return Err(Fault::of_status(status, word.trim(), error.message.as_deref().unwrap_or_default(), rates));
    }
    if !(200..300).contains(&status) {
        return Err(Fault::of_status(status, "", &text, rates));
    }
    let usage = body.usage.map_or_else(Usage::default, |usage| Usage {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
        cached: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
    });
    let choice = body.choices.and_then(|choices| choices.into_iter().next());
    let Some(Choice { message: Some(message), finish_reason }) = choice else {
        return Err(Fault::new(Class::Protocol, "a reply without a message in it"));
    };
    Ok(Reply { answer: answer(message, finish_reason.as_deref(), usage), model: body.model, lossy, rates })
}

fn answer(message: MessageBody, finish: Option<&str>, usage: Usage) -> Answer {
    let calls = message.tool_calls.unwrap_or_default().into_iter().enumerate().map(|(at, call)| ToolCall {
        id: call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{at}")).into(),
        tool: call.function.name.into(),
        arguments: call.function.arguments.into(),
    });
    let calls: Vec<ToolCall> = calls.collect();
    let refused = message.refusal.is_some();
    let text: Arc<str> = message.content.filter(|text| !text.is_empty()).or(message.refusal).unwrap_or_default().into();
    let stop = match finish {
        _ if refused => "refusal",
        Some("content_filter") => "filter",
        Some(word) => word,
        None => "unknown",
    };
    // A filter with text left something to judge; without, there is nothing.
    let fault = (stop == "filter" && text.is_empty()).then(|| Arc::from("filtered"));
    Answer { stop: stop.into(), text, calls, fault, usage }
}

/// Escapes of half a character (`\ud83d` alone) become U+FFFD; JSON readers refuse them, and models write them.
fn mend_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut mended) = (text, false);
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let unit = |text: &str| {
            text.strip_prefix("\\u").and_then(|hex| hex.get(..4)).and_then(|hex| u16::from_str_radix(hex, 16).ok())
        };
        let taken = match unit(from) {
            Some(0xd800..=0xdbff) => {
                let low = from.get(6..).and_then(unit).filter(|low| (0xdc00..=0xdfff).contains(low));
                if low.is_some() { 12 } else { 0 }
            }
            Some(0xdc00..=0xdfff) => 0,
            Some(_) => 6,
            // Any other escape is two characters; the second may be a backslash.
            None => 1 + from.chars().nth(1).map_or(0, char::len_utf8),
        };
        if taken == 0 {
            mended = true;
            out.push_str("\\ufffd");
            rest = from.get(6..).unwrap_or_default();
        } else {
            out.push_str(from.get(..taken).unwrap_or(from));
            rest = from.get(taken..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    mended.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_become_replacements_and_whole_ones_stay() {
        let read = |content: &str| {
            let body = format!(r#"{{"choices":[{{"message":{{"content":"{content}"}},"finish_reason":"stop"}}]}}"#);
            read(200, Rates::default(), body.into_bytes())
                .map(|reply| (reply.answer.text.to_string(), reply.lossy))
                .unwrap_or_default()
        };
        assert_eq!(read(r"a\ud83d b"), ("a\u{fffd} b".to_owned(), true));
        assert_eq!(read(r"\udc00\\ud83d"), ("\u{fffd}\\ud83d".to_owned(), true));
        assert_eq!(read(r"\ud83d\ude00"), ("😀".to_owned(), false));
    }

    #[test]
    fn faults_are_told_apart() {
        let class = |status, body: &str| {
            read(status, Rates::default(), body.as_bytes().to_vec()).err().map(|fault| fault.class)
        };
        let overflow = r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error"}}"#;
        assert_eq!(class(400, overflow), Some(Class::Request("context_length")));
        assert_eq!(class(429, r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#), Some(Class::Quota));
        assert_eq!(class(200, r#"{"error":{"code":429,"message":"slow down"}}"#), Some(Class::RateLimit));
        assert_eq!(class(200, "<html>"), Some(Class::Protocol));
        assert_eq!(class(200, r#"{"choices":null}"#), Some(Class::Protocol));
        assert_eq!(class(502, "<html>bad gateway"), Some(Class::Transient));
        assert_eq!(class(401, "{}"), Some(Class::Auth));
    }
}
