//! A conversation as a record of ours: exact, one line of JSON.

use aigo_ir::message::Conversation;
use aigo_ir::value::{Map, Value};

/// The record of a conversation: `rest` (`id`, `tags` and fields) and then its messages, as one line of JSON without its line
/// break. Reading it gives the same again.
pub fn write(conversation: &Conversation, rest: &Map) -> String {
    let mut record = rest.clone();
    record.set("messages", conversation.record());
    Value::Map(record.into()).to_json()
}
