//! The dialects of chat APIs as pure functions: what is sent for a request, and what a reply means, whole or as a stream.
//!
//! ```text
//! (ChatModel, Request) -> Wire -> url, headers, body
//!                          |
//! status, body ----------> reply --> Reply or Fault
//! parts of a stream -----> Stream -> Reply or Fault
//! ```

use aigo_ir::program::{ChatModel, Dialect, Structured};
use aigo_ir::text::json_string;
use aigo_ir::value::Value;
use aigo_machine::Request;

use super::events::Events;
use super::said::Said;
use super::{Reply, anthropic, chat, refusal, responses, shape};
use crate::fault::{Class, Fault};

/// A log's line holds 64 MiB, and a character can take six bytes in it.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// A chat model as it is spoken to.
#[derive(Clone, Debug)]
pub struct Wire {
    dialect: Dialect,
    base_url: String,
    url: String,
    /// The body's beginning: the model and the parameters that are set.
    head: String,
    /// Parameters that are maps of which the shape of an answer becomes a part.
    merged: Vec<(String, Value)>,
    /// The names of the parameters that are set.
    set: Vec<String>,
    pub(super) structured: Structured,
    pub(super) streams: bool,
    /// The word for instructions.
    pub(super) system: &'static str,
}

impl Wire {
    /// What is the same for every request to a model.
    pub fn new(model: &ChatModel) -> Self {
        let (mut head, mut merged) = (String::from("{\"model\":"), Vec::new());
        json_string(&model.model, &mut head);
        let joined = match model.dialect {
            Dialect::Anthropic => "output_config",
            Dialect::OpenAiResponses | Dialect::CompatibleResponses => "text",
            Dialect::OpenAi | Dialect::OpenAiCompatible => "",
        };
        for (name, value) in &model.parameters {
            if **name == *joined && value.as_map().is_some() {
                merged.push((name.to_string(), value.clone()));
                continue;
            }
            head.push(',');
            json_string(name, &mut head);
            head.push(':');
            head.push_str(&value.to_json());
        }
        // Providers that are known to stream well do so by themselves: then a model that thinks for long is told from one
        // that is gone.
        let streams = model.stream.unwrap_or(match model.dialect {
            Dialect::OpenAi | Dialect::OpenAiResponses | Dialect::Anthropic => true,
            Dialect::OpenAiCompatible | Dialect::CompatibleResponses => false,
        });
        Self {
            dialect: model.dialect,
            base_url: model.base_url.to_string(),
            url: url(&model.base_url, path(model)),
            head,
            merged,
            set: model.parameters.iter().map(|(name, _)| name.to_string()).collect(),
            structured: model.structured,
            streams,
            system: chat::system_word(model.dialect, &model.model),
        }
    }

    /// Where requests go.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address, as the task has it.
    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The headers that the dialect wants, beside the key's and the task's.
    pub fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self.dialect {
            Dialect::Anthropic => &[("anthropic-version", anthropic::VERSION)],
            _ => &[],
        }
    }

    /// The header that carries the key as it is; none where it is `Authorization` with `Bearer`.
    pub fn key_header(&self) -> Option<&'static str> {
        (self.dialect == Dialect::Anthropic).then_some("x-api-key")
    }

    /// Whether answers are asked for as streams.
    pub fn streams(&self) -> bool {
        self.streams
    }

    /// The body of a request, JSON.
    pub fn body(&self, request: &Request) -> String {
        let text: usize = request.messages.iter().map(|message| message.text.len() + 40).sum();
        let mut out = String::with_capacity(self.head.len() + text + text / 8 + 256);
        out.push_str(&self.head);
        match self.dialect {
            Dialect::OpenAi | Dialect::OpenAiCompatible => chat::body(self, request, &mut out),
            Dialect::OpenAiResponses | Dialect::CompatibleResponses => responses::body(self, request, &mut out),
            Dialect::Anthropic => anthropic::body(self, request, &mut out),
        }
        out.push('}');
        out
    }

    /// What a whole reply means.
    pub fn reply(&self, request: &Request, status: u16, body: &[u8]) -> Result<Reply, Fault> {
        if !(200..300).contains(&status) {
            return Err(refusal::of_reply(status, body));
        }
        let said = match self.dialect {
            Dialect::OpenAi | Dialect::OpenAiCompatible => chat::read(body),
            Dialect::OpenAiResponses | Dialect::CompatibleResponses => responses::read(body),
            Dialect::Anthropic => anthropic::read(body),
        }?;
        Ok(said.reply(shape::wanted_tool(self.structured, request)))
    }

    /// A decoder for a reply of status 200 that comes as a stream.
    pub fn stream(&self, request: &Request) -> Stream {
        let so_far = match self.dialect {
            Dialect::OpenAi | Dialect::OpenAiCompatible => SoFar::Chat(Box::default()),
            Dialect::OpenAiResponses | Dialect::CompatibleResponses => SoFar::Response(Box::default()),
            Dialect::Anthropic => SoFar::Message(Box::default()),
        };
        let wanted = shape::wanted_tool(self.structured, request);
        Stream { events: Events::default(), so_far, wanted, bytes: 0, taken: 0 }
    }

    /// Whether a parameter is set.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|known| known == name)
    }

    /// Writes a parameter that is a map: its entries by the task, and those that `more` writes, if it writes any.
    pub(super) fn merged(&self, out: &mut String, name: &str, more: impl FnOnce(&mut String) -> bool) {
        let before = out.len();
        out.push(',');
        json_string(name, out);
        out.push_str(":{");
        let own = self.merged.iter().filter(|(known, _)| known == name).filter_map(|(_, value)| value.as_map());
        let mut is_empty = true;
        for (key, value) in own.flat_map(aigo_ir::value::Map::iter).filter(|(key, _)| &***key != "format") {
            if !std::mem::take(&mut is_empty) {
                out.push(',');
            }
            json_string(key, out);
            out.push(':');
            out.push_str(&value.to_json());
        }
        let after_own = out.len();
        if !is_empty {
            out.push(',');
        }
        let has_more = more(out);
        if !has_more {
            out.truncate(after_own);
        }
        if is_empty && !has_more {
            out.truncate(before);
        } else {
            out.push('}');
        }
    }
}

/// What a stream has brought, by dialect.
enum SoFar {
    Chat(Box<chat::Streamed>),
    Response(Box<responses::Streamed>),
    Message(Box<anthropic::Streamed>),
}

/// A decoder for a reply that comes in parts.
pub struct Stream {
    events: Events,
    so_far: SoFar,
    wanted: Option<&'static str>,
    bytes: usize,
    taken: u64,
}

impl Stream {
    /// Takes the next bytes, however they are cut. A fault ends the stream.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.bytes += bytes.len();
        if self.bytes > MOST_BYTES {
            return Err(too_long());
        }
        let (so_far, taken) = (&mut self.so_far, &mut self.taken);
        self.events.push(bytes, |data| {
            *taken += 1;
            so_far.take(data)
        })
    }

    /// The stream has ended. Without a reason to stop it was cut off.
    pub fn finish(mut self) -> Result<Reply, Fault> {
        let so_far = &mut self.so_far;
        // The last event may be cut in two; what it was about to say is unknown.
        let last = self.events.finish(|data| so_far.take(data));
        let said: Option<Said> = match self.so_far {
            SoFar::Chat(streamed) => streamed.said(),
            SoFar::Response(streamed) => streamed.said(),
            SoFar::Message(streamed) => streamed.said(),
        };
        match (said, last) {
            (Some(said), _) => Ok(said.reply(self.wanted)),
            (None, Err(fault)) if fault.class != Class::Protocol => Err(fault),
            (None, _) => Err(Fault::new(
                Class::Transient,
                "the stream was cut off: it ended before the model said why it stopped",
            )),
        }
    }

    /// Whether nothing more is to come.
    pub fn is_over(&self) -> bool {
        match &self.so_far {
            SoFar::Chat(streamed) => streamed.is_over(),
            SoFar::Response(streamed) => streamed.is_over(),
            SoFar::Message(streamed) => streamed.is_over(),
        }
    }

    /// Whether the model has begun to speak, or is seen thinking.
    pub(super) fn has_begun(&self) -> bool {
        match &self.so_far {
            SoFar::Chat(streamed) => streamed.has_begun(),
            SoFar::Response(streamed) => streamed.has_begun(),
            SoFar::Message(streamed) => streamed.has_begun(),
        }
    }

    /// Whether the model has said why it stopped.
    pub(super) fn has_stopped(&self) -> bool {
        match &self.so_far {
            SoFar::Chat(streamed) => streamed.has_stopped(),
            SoFar::Response(streamed) => streamed.is_over(),
            SoFar::Message(streamed) => streamed.has_stopped(),
        }
    }

    /// What shows that the server is alive: a count that grows. Before the model speaks only events count, of which a server
    /// that merely keeps a connection open sends none.
    pub(super) fn signs(&self) -> u64 {
        if self.has_begun() { self.events.lines() } else { self.taken }
    }
}

impl SoFar {
    fn take(&mut self, data: &[u8]) -> Result<(), Fault> {
        match self {
            Self::Chat(streamed) => streamed.take(data),
            Self::Response(streamed) => streamed.take(data),
            Self::Message(streamed) => streamed.take(data),
        }
    }
}

/// A reply that never ends.
pub(super) fn too_long() -> Fault {
    Fault::new(Class::Protocol, format!("a reply of more than {MOST_BYTES} bytes"))
}

/// A reply that is not what it should be.
pub(super) fn unreadable(what: &str, error: &serde_json::Error, bytes: &[u8]) -> Fault {
    let start = bytes.get(..480).unwrap_or(bytes);
    let seen = aigo_ir::text::excerpt(&String::from_utf8_lossy(start), 120);
    Fault::new(Class::Protocol, format!("a reply that is no {what} ({error}): {seen}"))
}

/// Writes items with commas between them.
pub(super) fn list<T>(items: &[T], out: &mut String, write: impl Fn(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
}

/// Writes a tool as an object.
pub(super) fn tool(name: &str, description: &str, schema_key: &str, schema: &Value, out: &mut String) {
    out.push('{');
    tool_entries(name, description, schema_key, schema, out);
    out.push('}');
}

/// Writes what an object says of a tool.
pub(super) fn tool_entries(name: &str, description: &str, schema_key: &str, schema: &Value, out: &mut String) {
    out.push_str("\"name\":");
    json_string(name, out);
    if !description.is_empty() {
        out.push_str(",\"description\":");
        json_string(description, out);
    }
    out.push(',');
    json_string(schema_key, out);
    out.push(':');
    out.push_str(&schema.to_json());
}

/// What is put behind the address.
fn path(model: &ChatModel) -> &'static str {
    match model.dialect {
        Dialect::OpenAi | Dialect::OpenAiCompatible => "/chat/completions",
        Dialect::OpenAiResponses | Dialect::CompatibleResponses => "/responses",
        Dialect::Anthropic => "/v1/messages",
    }
}

/// An address with a path behind it, before its query.
pub(super) fn url(base_url: &str, path: &str) -> String {
    let (address, query) = base_url.split_once('?').unwrap_or((base_url, ""));
    // Some write Anthropic's address with its version.
    let path = path.strip_prefix("/v1").filter(|_| address.ends_with("/v1")).unwrap_or(path);
    if query.is_empty() { format!("{address}{path}") } else { format!("{address}{path}?{query}") }
}
