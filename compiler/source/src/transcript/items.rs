//! The messages of a record, in the shapes that are around.

use std::sync::Arc;

use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::value::{Map, Value};

/// The keys that say who speaks.
pub(super) const AUTHORS: [&str; 4] = ["author", "role", "from", "speaker"];
/// The keys that hold what is said.
const TEXTS: [&str; 4] = ["text", "content", "value", "message"];
/// The keys that hold what was looked up for the turn.
const CONTEXTS: [&str; 2] = ["context", "retrieval_context"];
/// Others that belong to a message and not to its conversation.
const OTHERS: [&str; 10] = [
    "system",
    "call",
    "result",
    "calls",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "name",
    "timestamp",
    "created_at",
];

/// Whether a key of a row that is one message belongs to the message alone.
pub(super) fn is_of_message(key: &str) -> bool {
    [AUTHORS.as_slice(), &TEXTS, &CONTEXTS, &OTHERS].iter().any(|keys| keys.contains(&key))
}

/// Puts a conversation together.
#[derive(Default)]
pub(super) struct Reader {
    conversation: Conversation,
    /// Calls that have no result yet: id and tool.
    open: Vec<(Arc<str>, Arc<str>)>,
    calls: usize,
    /// Per turn, from turn 1.
    context: Vec<Vec<Value>>,
}

/// Who speaks, as far as the shapes agree.
enum Who {
    System,
    Tool,
    Call,
    Role(Arc<str>),
}

type Taken = Result<(), String>;

impl Reader {
    /// The conversation, and the context of its turns if a message had any.
    pub(super) fn finish(self) -> (Conversation, Option<Value>) {
        let any = !self.context.is_empty();
        let mut turns: Vec<Value> = self.context.into_iter().map(Value::list).collect();
        turns.resize(turns.len().max(self.conversation.turn() as usize), Value::list(Vec::new()));
        (self.conversation, any.then(|| Value::list(turns)))
    }

    /// Takes a message. What is wrong with it follows "message 3".
    pub(super) fn take(&mut self, item: &Value) -> Taken {
        let Some(map) = item.as_map() else {
            let more = match item {
                Value::Str(_) => "; texts alone are the lines of a `dataset`, which `script` says",
                _ => "",
            };
            let kind = item.kind();
            return Err(format!("is {kind}; a map was expected: {{\"role\": \"user\", \"content\": …}}{more}"));
        };
        self.message(map)?;
        if let Some((key, context)) = CONTEXTS.iter().find_map(|key| Some((key, map.get(key)?)))
            && *context != Value::Null
        {
            let Some(chunks) = context.as_list() else {
                return Err(format!("has a `{key}` that is {}; a list of chunks was expected", context.kind()));
            };
            let turn = (self.conversation.turn() as usize).max(1);
            if self.context.len() < turn {
                self.context.resize(turn, Vec::new());
            }
            if let Some(of_turn) = self.context.get_mut(turn - 1) {
                of_turn.extend(chunks.iter().cloned());
            }
        }
        Ok(())
    }

    fn message(&mut self, map: &Map) -> Taken {
        let Some(author) = AUTHORS.iter().find_map(|key| map.get(key)) else { return self.pair(map) };
        let Some(author) = author.as_str() else {
            return Err(format!("has an author that is {}; a text was expected, such as `user`", author.kind()));
        };
        if author.trim().is_empty() {
            return Err("has an empty author: `user` or `assistant` was expected".to_owned());
        }
        let text = text(map)?;
        if let Some(call) = map.get("call") {
            return self.call(author.into(), call, &text.unwrap_or_default());
        }
        if let Some(result) = map.get("result") {
            let part = |key: &str| result.get(key).and_then(Value::as_str).map(Arc::from);
            let (Some(id), Some(tool)) = (part("id"), part("tool")) else {
                return Err("has a `result` without `id` and `tool`".to_owned());
            };
            self.open.retain(|(known, _)| *known != id);
            self.conversation.push(author.into(), MessageKind::Result { id, tool }, text.unwrap_or_default().into());
            return Ok(());
        }
        if let Some(audience) = map.get("system").and_then(Value::as_str) {
            let kind = MessageKind::System { audience: audience.into() };
            self.conversation.push(author.into(), kind, text.unwrap_or_default().into());
            return Ok(());
        }
        // In a record of ours an author is what it says, whatever others call theirs.
        match if map.get("author").is_some() { Who::Role(author.into()) } else { who(author) } {
            Who::System => {
                let text = text.ok_or("has no text: `content` was expected")?;
                let kind = MessageKind::System { audience: ASSISTANT.into() };
                self.conversation.push(ASSISTANT.into(), kind, text.into());
                Ok(())
            }
            Who::Tool => self.result(map, &text.unwrap_or_default()),
            Who::Call => {
                let text = text.ok_or("has no text: the call as JSON was expected")?;
                let call = serde_json::from_str(&text).map_err(|_| "is a call that is no JSON")?;
                self.call(ASSISTANT.into(), &call, "")
            }
            Who::Role(author) => self.said(map, &author, text),
        }
    }

    /// A user's and an assistant's words in one map.
    fn pair(&mut self, map: &Map) -> Taken {
        let said = |keys: &[&str]| keys.iter().find_map(|key| map.get(key)).and_then(Value::as_str);
        let (Some(user), Some(reply)) = (said(&["user", "human"]), said(&["assistant", "sys", "bot", "gpt"])) else {
            return Err(
                "says not who speaks: `role` was expected, such as {\"role\": \"user\", \"content\": …}".to_owned()
            );
        };
        self.conversation.push(USER.into(), MessageKind::Say, user.into());
        self.conversation.push(ASSISTANT.into(), MessageKind::Say, reply.into());
        Ok(())
    }

    fn said(&mut self, map: &Map, author: &Arc<str>, text: Option<String>) -> Taken {
        let mut calls: Vec<&Value> = Vec::new();
        for key in ["tool_calls", "calls"] {
            match map.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::List(items)) => calls.extend(items.iter()),
                Some(other) => return Err(format!("has `{key}` that is {}; a list was expected", other.kind())),
            }
        }
        calls.extend(map.get("function_call").filter(|call| **call != Value::Null));
        match text {
            Some(text) if !text.is_empty() || calls.is_empty() => {
                self.conversation.push(Arc::clone(author), MessageKind::Say, text.into());
            }
            None if calls.is_empty() => return Err("has no text: `content` was expected".to_owned()),
            _ => {}
        }
        calls.into_iter().try_for_each(|call| self.call(Arc::clone(author), call, ""))
    }

    /// A call, in the shapes `{id, tool, arguments}`, `{id, function: {name, arguments}}`, `{id, function, arguments}`.
    fn call(&mut self, author: Arc<str>, call: &Value, text: &str) -> Taken {
        let inner = call.get("function").filter(|inner| inner.as_map().is_some()).unwrap_or(call);
        let tool = ["tool", "name", "function"].iter().find_map(|key| inner.get(key)?.as_str());
        let Some(tool) = tool.filter(|tool| !tool.is_empty()) else {
            return Err("has a call that names no tool: `{id, tool, arguments}` was expected".to_owned());
        };
        let arguments = match ["arguments", "args"].iter().find_map(|key| inner.get(key)) {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::Str(text)) => text.to_string(),
            Some(other) => other.to_json(),
        };
        self.calls += 1;
        let id = match call.get("id") {
            Some(Value::Str(id)) => Arc::clone(id),
            Some(Value::Int(id)) => id.to_string().into(),
            _ => format!("call_{}", self.calls).into(),
        };
        let tool: Arc<str> = tool.into();
        self.open.push((Arc::clone(&id), Arc::clone(&tool)));
        self.conversation.push(author, MessageKind::Call { id, tool, arguments: arguments.into() }, text.into());
        Ok(())
    }

    /// A result, by the id of its call, else by its tool, else of the first call without one.
    fn result(&mut self, map: &Map, text: &str) -> Taken {
        let named = ["tool_call_id", "id"].iter().find_map(|key| map.get(key)?.as_str());
        let tool = ["name", "function", "tool"].iter().find_map(|key| map.get(key)?.as_str());
        let at = match (named, tool) {
            (Some(id), _) => self.open.iter().position(|(known, _)| **known == *id),
            (None, Some(tool)) => self.open.iter().position(|(_, known)| **known == *tool),
            (None, None) => (!self.open.is_empty()).then_some(0),
        };
        let (id, tool): (Arc<str>, Arc<str>) = match (at, named, tool) {
            (Some(at), ..) => self.open.remove(at),
            (None, Some(id), Some(tool)) => (id.into(), tool.into()),
            (None, None, Some(tool)) => ("".into(), tool.into()),
            (None, ..) => {
                return Err("is the result of a tool, and no call before it waits for one".to_owned());
            }
        };
        self.conversation.push(Arc::clone(&tool), MessageKind::Result { id, tool }, text.into());
        Ok(())
    }
}

fn who(author: &str) -> Who {
    match author.trim().to_lowercase().as_str() {
        "user" | "human" | "customer" | "client" => Who::Role(USER.into()),
        "assistant" | "gpt" | "bot" | "ai" | "model" | "chatgpt" | "agent" => Who::Role(ASSISTANT.into()),
        "system" | "developer" => Who::System,
        "tool" | "function" | "observation" => Who::Tool,
        "function_call" | "tool_call" => Who::Call,
        _ => Who::Role(author.trim().into()),
    }
}

/// The text of a message; none where it has none, or null.
fn text(map: &Map) -> Result<Option<String>, String> {
    let Some((key, value)) = TEXTS.iter().find_map(|key| Some((key, map.get(key)?))) else { return Ok(None) };
    match value {
        Value::Null => Ok(None),
        Value::Str(text) => Ok(Some(text.to_string())),
        Value::List(parts) => {
            parts.iter().map(|part| part_text(key, part)).collect::<Result<Vec<_>, _>>().map(|parts| {
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                Some(parts.join("\n"))
            })
        }
        other => Err(format!("has a `{key}` that is {}; a text was expected", other.kind())),
    }
}

/// The text of a part; none of a part that is thought and not said.
fn part_text(key: &str, part: &Value) -> Result<Option<String>, String> {
    if let Some(text) = part.as_str() {
        return Ok(Some(text.to_owned()));
    }
    match part.get("type").and_then(Value::as_str) {
        Some("reasoning" | "thinking") => Ok(None),
        Some("text" | "input_text" | "output_text") | None => match part.get("text").and_then(Value::as_str) {
            Some(text) => Ok(Some(text.to_owned())),
            None => {
                Err(format!("has a part of `{key}` without `text`: {{\"type\": \"text\", \"text\": …}} was expected"))
            }
        },
        Some(other) => Err(format!("has a part of the type `{other}`; only text is read")),
    }
}
