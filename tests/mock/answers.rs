//! What the model says, in the dialect in which it is asked, whole or as a stream.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::wire::reply;

/// The APIs, by the end of the path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Chat,
    Messages,
    Responses,
}

/// What of a request decides its answer and its bill.
pub(super) struct Asked {
    pub(super) model: String,
    dialect: Dialect,
    stream: bool,
    bytes: usize,
    /// Of the texts of its messages.
    text: u64,
    most: u64,
}

impl Asked {
    pub(super) fn new(path: &str, body: &Value, bytes: usize) -> Self {
        let whole = |key: &str| body.get(key).and_then(Value::as_u64);
        let most = whole("max_tokens").or_else(|| whole("max_completion_tokens")).or(whole("max_output_tokens"));
        let dialect = if path.ends_with("/messages") {
            Dialect::Messages
        } else if path.ends_with("/responses") {
            Dialect::Responses
        } else {
            Dialect::Chat
        };
        let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let text = |message: &Value| message.get("content").and_then(Value::as_str).map_or(0, |text| text.len() as u64);
        Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            dialect,
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            bytes,
            text: messages.map(|message| text(message) + 10).sum::<u64>() + 50,
            most: most.unwrap_or(1000),
        }
    }

    /// Tokens of the prompt and of the answer. The worst that a tokenizer can do is a token for each byte of the texts, and
    /// chats have some between them.
    pub(super) fn usage(&self, worst: bool) -> (u64, u64) {
        if worst { (self.text, self.most) } else { (self.bytes as u64 / 4, 6) }
    }
}

/// The bytes of an answer.
pub(super) fn answer(asked: &Asked, body: &Value, mark: &str, worst: bool, headers: &[(String, String)]) -> Vec<u8> {
    let text = content(body, mark);
    let (input, output) = asked.usage(worst);
    let kind = if asked.stream { "text/event-stream" } else { "application/json" };
    let mut all = vec![("content-type", kind)];
    all.extend(headers.iter().map(|(name, value)| (&**name, &**value)));
    let body = match (asked.dialect, asked.stream) {
        (Dialect::Chat, false) => chat(asked, &text, mark, (input, output)).to_string(),
        (Dialect::Chat, true) => chat_stream(asked, &text, mark, (input, output)),
        (Dialect::Messages, false) => json!({
            "id": mark, "type": "message", "role": "assistant", "model": asked.model,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": input, "output_tokens": output},
        })
        .to_string(),
        (Dialect::Messages, true) => messages_stream(asked, &text, mark, (input, output)),
        (Dialect::Responses, stream) => responses(asked, &text, mark, (input, output), stream),
    };
    reply(200, &all, body.as_bytes())
}

fn chat(asked: &Asked, text: &str, mark: &str, (input, output): (u64, u64)) -> Value {
    json!({
        "id": mark, "object": "chat.completion", "model": asked.model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": input, "completion_tokens": output},
    })
}

/// Pieces of a text, as models send them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

fn chat_stream(asked: &Asked, text: &str, mark: &str, (input, output): (u64, u64)) -> String {
    let mut out = String::new();
    let mut chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": mark, "object": "chat.completion.chunk", "model": asked.model, "choices": choices, "usage": usage,
        });
        let _ = write!(out, "data: {chunk}\n\n");
    };
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    chunk(choice(json!({"role": "assistant", "content": ""}), Value::Null), Value::Null);
    for piece in pieces(text) {
        chunk(choice(json!({"content": piece}), Value::Null), Value::Null);
    }
    chunk(choice(json!({}), json!("stop")), Value::Null);
    chunk(json!([]), json!({"prompt_tokens": input, "completion_tokens": output}));
    out.push_str("data: [DONE]\n\n");
    out
}

fn event(out: &mut String, data: &Value) {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

fn messages_stream(asked: &Asked, text: &str, mark: &str, (input, output): (u64, u64)) -> String {
    let mut out = String::new();
    let message = json!({
        "id": mark, "type": "message", "role": "assistant", "model": asked.model, "content": [], "stop_reason": null,
        "usage": {"input_tokens": input, "output_tokens": 1},
    });
    event(&mut out, &json!({"type": "message_start", "message": message}));
    let block = json!({"type": "text", "text": ""});
    event(&mut out, &json!({"type": "content_block_start", "index": 0, "content_block": block}));
    for piece in pieces(text) {
        let delta = json!({"type": "text_delta", "text": piece});
        event(&mut out, &json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    }
    event(&mut out, &json!({"type": "content_block_stop", "index": 0}));
    let usage = json!({"output_tokens": output});
    event(&mut out, &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}));
    event(&mut out, &json!({"type": "message_stop"}));
    out
}

fn responses(asked: &Asked, text: &str, mark: &str, (input, output): (u64, u64), stream: bool) -> String {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    let item = json!({"type": "message", "id": mark, "role": "assistant", "status": "completed", "content": [part]});
    let response = json!({
        "id": mark, "object": "response", "status": "completed", "model": asked.model, "output": [item],
        "usage": {"input_tokens": input, "output_tokens": output},
    });
    if !stream {
        return response.to_string();
    }
    let mut out = String::new();
    for piece in pieces(text) {
        let delta = json!({
            "type": "response.output_text.delta", "item_id": mark, "output_index": 0, "content_index": 0,
            "delta": piece,
        });
        event(&mut out, &delta);
    }
    event(&mut out, &json!({"type": "response.completed", "response": response}));
    out
}

/// What the model says: a user's turn or a verdict where one is asked for, else a sentence.
fn content(request: &Value, mark: &str) -> String {
    let format = request.pointer("/response_format/json_schema").or_else(|| request.pointer("/text/format"));
    match format.and_then(|format| format.get("name")).and_then(Value::as_str) {
        Some("user_turn") => {
            let said = request.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
            let status = if said >= 7 { "done" } else { "going" };
            json!({"message": format!("Go on, please {mark}"), "status": status}).to_string()
        }
        Some("verdict") => {
            let score = format.and_then(|format| format.pointer("/schema/properties/score"));
            let best = score.and_then(|score| score.get("enum")).and_then(Value::as_array).and_then(|all| all.last());
            let best = best.cloned().unwrap_or(Value::Bool(true));
            json!({"evidence": [], "reason": format!("fine {mark}"), "score": best}).to_string()
        }
        _ => format!("Noted. {mark}"),
    }
}
