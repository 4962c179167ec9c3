//! A conversation as a record of ours: exact, one line of JSON.

use aigo_ir::message::{Conversation, Message, MessageKind};
use aigo_ir::value::{Map, Value};

/// The record of a conversation: `rest` (`id`, `tags` and fields) and then its messages, as one line of JSON without its line
/// break. Reading it gives the same again.
pub fn write(conversation: &Conversation, rest: &Map) -> String {
    let mut record = rest.clone();
    record.set("messages", Value::list(conversation.messages().iter().map(message).collect()));
    Value::Map(record.into()).to_json()
}

fn message(message: &Message) -> Value {
    let text = |text: &std::sync::Arc<str>| Value::Str(text.clone());
    let mut pairs = vec![("author", text(&message.author))];
    match &message.kind {
        MessageKind::Say => {}
        MessageKind::System { audience } => pairs.push(("system", text(audience))),
        MessageKind::Call { id, tool, arguments } => {
            let call = [("id", text(id)), ("tool", text(tool)), ("arguments", text(arguments))];
            pairs.push(("call", Value::map(call)));
            if message.text.is_empty() {
                return Value::map(pairs);
            }
        }
        MessageKind::Result { id, tool } => {
            pairs.push(("result", Value::map([("id", text(id)), ("tool", text(tool))])));
        }
    }
    pairs.push(("text", text(&message.text)));
    Value::map(pairs)
}
