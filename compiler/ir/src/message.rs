//! Messages, turns, labels, transcripts.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::key::KeyWriter;
use crate::ty::Type;
use crate::value::Value;

/// The role whose messages begin turns.
pub const USER: &str = "user";
/// The role under test.
pub const ASSISTANT: &str = "assistant";

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// An instruction that only the named role sees.
    System {
        /// Who sees it.
        audience: Arc<str>,
    },
    /// Something said to the others.
    Say,
    /// A tool call.
    Call {
        /// The provider's id of the call.
        id: Arc<str>,
        /// The tool's name.
        tool: Arc<str>,
        /// Its arguments, as the provider wrote them: JSON text.
        arguments: Arc<str>,
    },
    /// What a tool answered; the text is the result.
    Result {
        /// The id of the call that it answers.
        id: Arc<str>,
        /// The tool's name.
        tool: Arc<str>,
    },
    /// A chunk that an application has read for what it says next; the text is the chunk. Judges see it, nobody else does.
    Read,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The role that it comes from.
    pub author: Arc<str>,
    /// What it is.
    pub kind: MessageKind,
    /// Its text.
    pub text: Arc<str>,
    /// The exchange it belongs to: 1 from the first user message on, 0 before it.
    pub turn: u32,
}

impl Message {
    /// As expressions and templates see it.
    pub fn to_value(&self) -> Value {
        let kind = match self.kind {
            MessageKind::System { .. } => "system",
            MessageKind::Say => "say",
            MessageKind::Call { .. } => "call",
            MessageKind::Result { .. } => "result",
            MessageKind::Read => "read",
        };
        Value::map([
            ("author", Value::Str(self.author.clone())),
            ("kind", Value::str(kind)),
            ("text", Value::Str(self.text.clone())),
            ("turn", Value::Int(i64::from(self.turn))),
        ])
    }

    /// A message of a recorded history: `{author, text}` or `{role, content}`; what the system says is for the assistant.
    /// Its turn is counted where it is appended. `None` where the value is no message.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |one: &str, other: &str| value.get(one).or_else(|| value.get(other)).and_then(Value::as_str);
        let author: Arc<str> = text("author", "role")?.into();
        let is_system = &*author == "system" || text("kind", "kind") == Some("system");
        let audience = || ASSISTANT.into();
        let kind = if is_system { MessageKind::System { audience: audience() } } else { MessageKind::Say };
        let author = if &*author == "system" { audience() } else { author };
        Some(Self { author, kind, text: text("text", "content")?.into(), turn: 0 })
    }

    /// Whether values of a type are surely messages of a recorded history.
    pub fn is_of(ty: &Type) -> bool {
        let text = |one: &str, other: &str| {
            ty.attribute(one).or_else(|| ty.attribute(other)).is_some_and(|ty| ty.fits(&Type::Str))
        };
        text("author", "role") && text("text", "content")
    }

    fn record(&self) -> Value {
        let text = |text: &Arc<str>| Value::Str(text.clone());
        let mut pairs = vec![("author", text(&self.author))];
        match &self.kind {
            MessageKind::Say => {}
            MessageKind::System { audience } => pairs.push(("system", text(audience))),
            MessageKind::Call { id, tool, arguments } => {
                let call = [("id", text(id)), ("tool", text(tool)), ("arguments", text(arguments))];
                pairs.push(("call", Value::map(call)));
                if self.text.is_empty() {
                    return Value::map(pairs);
                }
            }
            MessageKind::Result { id, tool } => {
                pairs.push(("result", Value::map([("id", text(id)), ("tool", text(tool))])));
            }
            MessageKind::Read => {
                pairs.push(("context", Value::list(vec![text(&self.text)])));
                return Value::map(pairs);
            }
        }
        pairs.push(("text", text(&self.text)));
        Value::map(pairs)
    }

    /// The message that stands for "nothing was said yet".
    pub fn none() -> Self {
        Self { author: "".into(), kind: MessageKind::Say, text: "".into(), turn: 0 }
    }

    fn is_said(&self) -> bool {
        matches!(self.kind, MessageKind::Say)
    }
}

/// The messages of one sample in one epoch, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    messages: Vec<Message>,
    /// How long answers took: the turn, who answered, and the time in milliseconds.
    took: Vec<(u32, Arc<str>, u64)>,
}

impl Conversation {
    /// Appends a message and counts its turn: what the user says begins the next one.
    pub fn push(&mut self, author: Arc<str>, kind: MessageKind, text: Arc<str>) {
        let begins = &*author == USER && kind == MessageKind::Say;
        let turn = self.turn() + u32::from(begins);
        self.messages.push(Message { author, kind, text, turn });
    }

    /// Notes how long a role took for an answer in the present turn, in milliseconds.
    pub fn took(&mut self, role: Arc<str>, ms: u64) {
        let turn = self.turn();
        self.took.push((turn, role, ms));
    }

    /// How long the answers of a role took in a turn, all together, in milliseconds; none where nobody was asked.
    pub fn ms_in(&self, turn: u32, role: &str) -> Option<u64> {
        let of_turn = self.took.iter().filter(|(at, who, _)| *at == turn && **who == *role).map(|(_, _, ms)| *ms);
        of_turn.reduce(u64::saturating_add)
    }

    /// The messages as a list of maps, exactly: what transcripts and logs hold. `spec/transcript.md` says what each is.
    pub fn record(&self) -> Value {
        Value::list(self.messages.iter().map(Message::record).collect())
    }

    /// The messages of such a list; none where it is no such list.
    pub fn of_record(record: &Value) -> Option<Self> {
        let mut conversation = Self::default();
        for message in record.as_list()? {
            let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(Arc::<str>::from);
            let part = |of: &str, key: &str| message.get(of).and_then(|value| text(value, key));
            let kind = if message.get("call").is_some() {
                MessageKind::Call {
                    id: part("call", "id")?,
                    tool: part("call", "tool")?,
                    arguments: part("call", "arguments")?,
                }
            } else if message.get("result").is_some() {
                MessageKind::Result { id: part("result", "id")?, tool: part("result", "tool")? }
            } else if message.get("system").is_some() {
                MessageKind::System { audience: text(message, "system")? }
            } else if message.get("text").is_none() && message.get("context").is_some() {
                let chunks = message.get("context").and_then(Value::as_list)?;
                for chunk in chunks {
                    conversation.push(text(message, "author")?, MessageKind::Read, chunk.as_str()?.into());
                }
                continue;
            } else {
                MessageKind::Say
            };
            let said = text(message, "text").or_else(|| message.get("call").map(|_| "".into()))?;
            conversation.push(text(message, "author")?, kind, said);
        }
        Some(conversation)
    }

    /// The messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The number of the last turn; 0 before the user spoke.
    pub fn turn(&self) -> u32 {
        self.messages.last().map_or(0, |message| message.turn)
    }

    /// What was said last, by anyone.
    pub fn last(&self) -> Option<&Message> {
        self.messages.iter().rev().find(|message| message.is_said())
    }

    /// The turns in which a role said something, in order, each once.
    pub fn turns_of(&self, role: &str) -> Vec<u32> {
        let mut turns: Vec<u32> =
            self.messages.iter().filter(|m| &*m.author == role && m.is_said()).map(|m| m.turn).collect();
        turns.dedup();
        turns
    }

    /// Whether a role has said something or called a tool since the user spoke first: a call is an answer too, and whoever hands
    /// a conversation to a person by a tool has done something.
    pub fn has_acted(&self, role: &str) -> bool {
        self.messages.iter().any(|message| {
            let acts = matches!(message.kind, MessageKind::Say | MessageKind::Call { .. });
            &*message.author == role && acts && message.turn > 0
        })
    }

    /// What a role said in a turn, its messages joined by newlines.
    pub fn said_in(&self, turn: u32, role: &str) -> String {
        let said = self.messages.iter().filter(|m| m.turn == turn && &*m.author == role && m.is_said());
        said.map(|m| &*m.text).collect::<Vec<_>>().join("\n")
    }

    /// The messages from turn `first` to turn `last`, system messages left out, each with its label: `6u`, `6a`, `6t1`, `6c1`
    /// and so on. A second message of one author in a turn is `6a2`; other roles go by name, `6:critic`.
    pub fn labelled(&self, first: u32, last: u32) -> Vec<(String, &Message)> {
        // Counts of the present turn alone: turns never come back.
        let mut counts: Vec<(u32, String, u32)> = Vec::new();
        let mut out = Vec::new();
        let mut call = None;
        for message in &self.messages {
            let letter = match (&message.kind, &*message.author) {
                (MessageKind::System { .. }, _) => continue,
                (MessageKind::Call { .. } | MessageKind::Result { .. }, _) => "t".to_owned(),
                (MessageKind::Read, _) => "c".to_owned(),
                (MessageKind::Say, USER) => "u".to_owned(),
                (MessageKind::Say, ASSISTANT) => "a".to_owned(),
                (MessageKind::Say, other) => format!(":{other}"),
            };
            // A result has the label of its call.
            counts.retain(|(turn, ..)| *turn == message.turn);
            let label = if matches!(message.kind, MessageKind::Result { .. }) && call.is_some() {
                call.clone().unwrap_or_default()
            } else {
                let count = match counts.iter_mut().find(|(turn, l, _)| *turn == message.turn && *l == letter) {
                    Some((_, _, count)) => {
                        *count += 1;
                        *count
                    }
                    None => {
                        counts.push((message.turn, letter.clone(), 1));
                        1
                    }
                };
                let number =
                    if count > 1 || letter == "t" || letter == "c" { count.to_string() } else { String::new() };
                format!("{}{letter}{number}", message.turn)
            };
            if matches!(message.kind, MessageKind::Call { .. }) {
                call = Some(label.clone());
            }
            if (first..=last).contains(&message.turn) {
                out.push((label, message));
            }
        }
        out
    }

    /// These messages of one role, or of all where none is named. The labels are those of the whole conversation.
    pub fn shown<'c>(
        &'c self,
        first: u32,
        last: u32,
        only: Option<&'c str>,
    ) -> impl Iterator<Item = (String, &'c Message)> {
        let messages = self.labelled(first, last).into_iter();
        messages.filter(move |(_, message)| only.is_none_or(|only| *message.author == *only))
    }

    /// The messages from turn `first` to turn `last` as text, one label a message; of one role where one is named. Further
    /// lines of a message are indented: what begins with a label is a message, and none forges another.
    pub fn transcript(&self, first: u32, last: u32, only: Option<&str>) -> String {
        let mut out = String::new();
        for (label, message) in self.shown(first, last, only) {
            let _ = match &message.kind {
                MessageKind::Call { tool, arguments, .. } => {
                    writeln!(out, "[{label}] call of {tool}: {}", indented(arguments))
                }
                MessageKind::Result { tool, .. } => {
                    writeln!(out, "[{label}] result of {tool}: {}", indented(&message.text))
                }
                MessageKind::Read => {
                    writeln!(out, "[{label}] read by {}: {}", message.author, indented(&message.text))
                }
                _ => writeln!(out, "[{label}] {}: {}", message.author, indented(&message.text)),
            };
        }
        out
    }

    /// The instructions that were given up to turn `last` as text, each with the role that it is for.
    pub fn instructions(&self, last: u32) -> String {
        let mut out = String::new();
        for message in self.messages.iter().filter(|message| message.turn <= last) {
            if let MessageKind::System { audience } = &message.kind {
                let _ = writeln!(out, "[system] to {audience}: {}", indented(&message.text));
            }
        }
        out
    }

    /// A hash of all messages.
    pub fn hash_into(&self, writer: &mut KeyWriter) {
        writer.list(self.messages.len());
        for message in &self.messages {
            writer.str(&message.author).str(&message.text);
            match &message.kind {
                MessageKind::System { audience } => writer.str("system").str(audience),
                MessageKind::Say => writer.str("say"),
                MessageKind::Call { id, tool, arguments } => writer.str("call").str(id).str(tool).str(arguments),
                MessageKind::Result { id, tool } => writer.str("result").str(id).str(tool),
                MessageKind::Read => writer.str("read"),
            };
        }
    }
}

/// A text whose lines after the first are indented, whatever breaks them.
fn indented(text: &str) -> Cow<'_, str> {
    let is_break = |c| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    if !text.contains(is_break) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        // A pair of them is one break.
        if is_break(c) && !(c == '\r' && chars.peek() == Some(&'\n')) {
            out.push_str("    ");
        }
    }
    Cow::Owned(out)
}

/// The label of the first thing that a role says in a turn: `6u`, `6a`, `6:critic`.
pub fn label(turn: u32, role: &str) -> String {
    match role {
        USER => format!("{turn}u"),
        ASSISTANT => format!("{turn}a"),
        other => format!("{turn}:{other}"),
    }
}

/// A fence for a text that must be told from instructions: 16 hexadecimal digits of a hash of the sample's key, hashed
/// again until they do not occur in the text. The writer of the text does not know them; every run has the same.
pub fn fence(sample: &str, text: &str) -> String {
    let mut key = KeyWriter::new("aigo.fence.1").str(sample).finish();
    loop {
        let fence = key.hex(8);
        if !text.contains(&fence) {
            return fence;
        }
        key = KeyWriter::new("aigo.fence.1").key(&key).finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Conversation {
        let mut c = Conversation::default();
        let say = MessageKind::Say;
        c.push(ASSISTANT.into(), MessageKind::System { audience: ASSISTANT.into() }, "be kind".into());
        c.push(ASSISTANT.into(), say.clone(), "Hello!".into());
        c.push(USER.into(), say.clone(), "hi".into());
        let (id, tool) = (Arc::from("1"), Arc::from("f"));
        c.push(
            ASSISTANT.into(),
            MessageKind::Call { id: Arc::clone(&id), tool: Arc::clone(&tool), arguments: "{}".into() },
            "".into(),
        );
        c.push(tool.clone(), MessageKind::Result { id, tool }, "ok".into());
        c.push(ASSISTANT.into(), say.clone(), "done".into());
        c.push(ASSISTANT.into(), say.clone(), "really".into());
        c.push(USER.into(), say, "bye".into());
        c
    }

    #[test]
    fn turns_and_labels_count_as_the_language_says() {
        let c = sample();
        let labels: Vec<String> = c.labelled(0, 9).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["0a", "1u", "1t1", "1t1", "1a", "1a2", "2u"]);
        assert_eq!((c.turns_of(ASSISTANT), c.said_in(1, ASSISTANT)), (vec![0, 1], "done\nreally".to_owned()));
        assert_eq!(c.transcript(2, 2, None), "[2u] user: bye\n");
    }

    #[test]
    fn a_fence_does_not_occur_in_its_text() {
        let first = fence("s", "");
        let second = fence("s", &first);
        assert!(first != second && !first.contains(&second) && fence("s", &first) == second);
    }
}
