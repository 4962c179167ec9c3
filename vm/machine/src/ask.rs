//! Asks and answers: the only exchange with the world.

use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::value::Value;

/// Where in a program a call stands: it names a call for ever, whatever is asked elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The graph: `solve/NAME` or `score/NAME`.
    pub graph: Arc<str>,
    /// The node's path.
    pub node: Arc<str>,
    /// One number per enclosing loop (the pass, from 1) or map (the item, from 0), the outermost first.
    pub index: Vec<u32>,
}

impl Position {
    /// Feeds the position into a hash.
    pub fn hash_into(&self, writer: &mut KeyWriter) {
        writer.str(&self.graph).str(&self.node).list(self.index.len());
        for &n in &self.index {
            writer.u64(u64::from(n));
        }
    }
}

/// Who says a message, in the chat that a role is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// An instruction.
    System,
    /// Someone else.
    User,
    /// The role itself.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl ChatRole {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A tool call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id.
    pub id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments, JSON text as the provider wrote it.
    pub arguments: Arc<str>,
}

impl ToolCall {
    /// As slots and logs hold it.
    pub fn to_value(&self) -> Value {
        Value::map([
            ("id", Value::Str(self.id.clone())),
            ("tool", Value::Str(self.tool.clone())),
            ("arguments", Value::Str(self.arguments.clone())),
        ])
    }

    /// The other way; `None` where the value is no call.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |key: &str| match value.get(key) {
            Some(Value::Str(text)) => Some(text.clone()),
            _ => None,
        };
        Some(Self { id: text("id")?, tool: text("tool")?, arguments: text("arguments")? })
    }
}

/// A tool that a model is offered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    /// Its name.
    pub name: Arc<str>,
    /// What the model is told of it; may be empty.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// A message of the chat that a role is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who says it.
    pub role: ChatRole,
    /// Its text.
    pub text: Arc<str>,
    /// The calls that the role made with it.
    pub calls: Vec<ToolCall>,
    /// Of a tool's result: the call that it answers.
    pub answers: Option<Arc<str>>,
}

impl ChatMessage {
    /// A message without tool traffic.
    pub fn new(role: ChatRole, text: impl Into<Arc<str>>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), answers: None }
    }
}

/// What a role is asked.
#[derive(Clone)]
pub struct Request {
    /// The role.
    pub role: Arc<str>,
    /// What it is shown, oldest first; never empty but for a tool's role.
    pub messages: Vec<ChatMessage>,
    /// The name and JSON Schema of the answer that is wanted.
    pub schema: Option<(&'static str, Value)>,
    /// The tools that it may call.
    pub tools: Arc<[ToolOffer]>,
    /// Of a tool's role: the call to answer.
    pub tool: Option<ToolCall>,
    /// What a scripted role's rules may read, and the templates of an application's request; none for other roles.
    pub scope: Option<SharedScope>,
    /// What a program is given, a line of JSON; of a tool that is asked over HTTP its arguments, as JSON.
    pub input: Option<Arc<str>>,
}

/// A call that the machine waits for.
#[derive(Clone)]
pub struct Ask {
    /// Where it stands.
    pub position: Position,
    /// What it is: a hash of everything that can change the answer, and of the draw.
    pub content: Key,
    /// The call itself.
    pub request: Request,
    /// The longest that the answer may take, in seconds; no part of the identity of answers.
    pub timeout_s: Option<u64>,
}

/// Tokens that a call used, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub input: Option<u64>,
    /// Of the answer.
    pub output: Option<u64>,
    /// Of the prompt, read from the provider's cache.
    pub cached: Option<u64>,
    /// Of the answer, spent on thinking; they are among `output`.
    pub reasoning: Option<u64>,
}

/// The class of a fault that is the task's: the text says what is wrong with it.
pub const TASK_ERROR: &str = "task_error";

/// What came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text; empty where there is none.
    pub text: Arc<str>,
    /// Tool calls.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped: `stop`, `length`, `tool_calls`, `filter`, `refusal`; `unknown` where the provider did not say.
    pub stop: Arc<str>,
    /// The class of a fault that no repetition mends: `bad_request`, `filtered`, `no_rule`, `empty` and the like.
    pub fault: Option<Arc<str>>,
    /// Tokens used.
    pub usage: Usage,
    /// How long it took, in milliseconds; none where nobody outside was asked.
    pub ms: Option<u64>,
    /// Whether an earlier run has paid for it: no part of what a program sees.
    pub is_reused: bool,
    /// The chunks that an application has read for it.
    pub context: Vec<Arc<str>>,
    /// The id of the session that an application has made with it: no part of what a program sees.
    pub session: Option<Arc<str>>,
}

impl Answer {
    /// Hash of what a program can see of it: neither usage, time nor a session's id are part of it.
    pub fn key(&self) -> Key {
        let mut writer = KeyWriter::new("aigo.answer.1");
        writer.str(&self.text).str(&self.stop).maybe_str(self.fault.as_deref()).list(self.calls.len());
        for call in &self.calls {
            writer.str(&call.id).str(&call.tool).str(&call.arguments);
        }
        // Where nothing was read nothing is said of it, as in logs that are older than that.
        if !self.context.is_empty() {
            writer.list(self.context.len());
            for chunk in &self.context {
                writer.str(chunk);
            }
        }
        writer.finish()
    }

    /// As a reply slot holds it.
    pub fn to_value(&self) -> Value {
        Value::map([
            ("text", Value::Str(self.text.clone())),
            ("stop", Value::Str(self.stop.clone())),
            ("fault", self.fault.clone().map_or(Value::Null, Value::Str)),
            ("calls", Value::list(self.calls.iter().map(ToolCall::to_value).collect())),
        ])
    }
}
