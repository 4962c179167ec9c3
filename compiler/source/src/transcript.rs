//! Recorded conversations: rows of a data file to conversations and fields, generously, and back, exactly. The shapes are
//! defined in `spec/transcript.md`.

mod grouped;
mod items;
mod write;

pub use grouped::conversations;
pub use write::write;

use aigo_ir::message::Conversation;
use aigo_ir::value::{Map, Value};

use crate::rows::{Row, RowError};

/// The most messages of one conversation.
pub const MAX_MESSAGES: usize = 10_000;

/// The keys under which a record may hold its messages.
const MESSAGES: [&str; 5] = ["messages", "conversation", "conversations", "turns", "traj"];
/// The keys that name a conversation, beside `id`.
const NAMES: [&str; 3] = ["conversation_id", "session_id", "thread_id"];
/// The field that holds what the messages' `context` was, a list per turn from turn 1.
const CONTEXT: &str = "turn_context";

/// A recorded conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// Its row; the value is what is left of the record without its messages: `id`, `tags`, fields.
    pub row: Row,
    /// Its messages.
    pub conversation: Conversation,
}

/// Whether a row is one message of a conversation that it names.
fn is_message(row: &Map) -> bool {
    messages_key(row).is_none()
        && items::AUTHORS.iter().any(|key| row.get(key).is_some())
        && NAMES.iter().any(|key| row.get(key).is_some())
}

fn messages_key(row: &Map) -> Option<&'static str> {
    MESSAGES.into_iter().find(|key| match row.get(key) {
        Some(Value::List(_)) => true,
        Some(Value::Str(text)) => text.trim_start().starts_with('['),
        _ => false,
    })
}

/// A row that holds a whole conversation.
fn whole(mut row: Row) -> Result<Transcript, RowError> {
    let map = row.value.as_map().cloned().unwrap_or_default();
    let Some(key) = messages_key(&map) else {
        let message =
            "this record has no messages: a list was expected as `messages: [{\"role\": \"user\", \"content\": …}]`";
        let help = "`messages`, `conversation`, `conversations`, `turns` and `traj` are read; or one message a line, each \
                    with `role`, `content` and the `conversation_id` that it belongs to";
        return Err(RowError::of_row(&row, None, message).help(help));
    };
    let parsed = match map.get(key) {
        Some(Value::Str(text)) => serde_json::from_str(text).map_err(|error| {
            RowError::of_row(&row, Some(key), format!("`{key}` is a text that is no JSON list: {error}"))
        })?,
        other => other.cloned().unwrap_or_default(),
    };
    let list = parsed.as_list().unwrap_or_default();
    if list.is_empty() || list.len() > MAX_MESSAGES {
        let message = match list.len() {
            0 => format!("`{key}` is empty: a conversation has at least one message"),
            n => format!("`{key}` has {n} messages; a conversation has at most {MAX_MESSAGES}"),
        };
        return Err(RowError::of_row(&row, Some(key), message));
    }
    let mut reader = items::Reader::default();
    for (at, item) in list.iter().enumerate() {
        reader
            .take(item)
            .map_err(|message| RowError::of_row(&row, Some(key), format!("message {} {message}", at + 1)))?;
    }
    let mut rest = map;
    rest.retain(|name, _| name != key);
    let conversation = finish(reader, &mut rest).map_err(|message| RowError::of_row(&row, Some(CONTEXT), message))?;
    row.value = Value::Map(rest.into());
    Ok(Transcript { row, conversation })
}

/// Puts the context of the turns into the fields, and names the conversation if it has no `id`.
fn finish(reader: items::Reader, rest: &mut Map) -> Result<Conversation, String> {
    let (conversation, context) = reader.finish();
    if let Some(context) = context {
        if rest.get(CONTEXT).is_some() {
            return Err(format!("the messages have `context`, and the record has `{CONTEXT}`, which is the same"));
        }
        rest.set(CONTEXT, context);
    }
    if rest.get("id").is_none()
        && let Some(name) = NAMES.into_iter().find(|name| rest.get(name).is_some())
    {
        let id = rest.get(name).cloned().unwrap_or_default();
        rest.retain(|known, _| known != name);
        rest.set("id", id);
    }
    Ok(conversation)
}
