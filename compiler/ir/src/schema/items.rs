//! Lists of things that a judge finds in a conversation: facts, requests, claims.

use std::sync::Arc;

use super::{QUOTE, REASON, object, objects, one_of, said, text};
use crate::message::Conversation;
use crate::quote;
use crate::ty::Type;
use crate::value::Value;

/// What the list is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// The parts of an item.
    pub fields: Vec<(Arc<str>, ItemKind)>,
    /// The most items.
    pub max: u32,
}

/// What a part of an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Text.
    Str,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// The label of a message: `2u`.
    Turn,
    /// Words of the message that the item's turn names, or where it names none of any message.
    Quote,
}

impl ItemKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Str, Self::Int, Self::Number, Self::Bool, Self::Turn, Self::Quote];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Str => "string",
            Self::Int => "integer",
            Self::Number => "number",
            Self::Bool => "boolean",
            Self::Turn => "turn",
            Self::Quote => "quote",
        }
    }

    /// The type of its values.
    pub const fn ty(self) -> Type {
        match self {
            Self::Str | Self::Turn | Self::Quote => Type::Str,
            Self::Int => Type::Int,
            Self::Number => Type::Number,
            Self::Bool => Type::Bool,
        }
    }
}

impl Items {
    /// The type of the list.
    pub fn list(&self) -> Type {
        let fields = self.fields.iter().map(|(name, kind)| (name.clone(), kind.ty())).collect();
        Type::List(Box::new(Type::Record(fields)))
    }

    /// What reading an answer gives: the items, and what was wrong with the answer.
    pub fn ty(&self) -> Type {
        record_of(self.list())
    }
}

/// The type of what reading a list gives.
pub fn record_of(list: Type) -> Type {
    Type::Record(vec![("items".into(), list), ("complaint".into(), Type::Str)])
}

/// JSON Schema of the list, turns enumerated.
pub fn items_schema(items: &Items, labels: &[String]) -> Value {
    let of = |kind: ItemKind| match kind {
        ItemKind::Str => text(REASON),
        ItemKind::Quote => text(QUOTE),
        ItemKind::Turn if !labels.is_empty() => {
            one_of("string", labels.iter().map(|label| Value::str(label.as_str())).collect())
        }
        ItemKind::Turn => text(20),
        ItemKind::Int | ItemKind::Number | ItemKind::Bool => Value::map([("type", Value::str(kind.word()))]),
    };
    let item = object(items.fields.iter().map(|(name, kind)| (&**name, of(*kind))).collect());
    let list =
        Value::map([("type", Value::str("array")), ("maxItems", Value::Int(i64::from(items.max))), ("items", item)]);
    object(vec![("items", list)])
}

/// Reads a list: of the last object that has one. The second part is what is wrong with the answer, in words that a repair
/// call can pass on; then the list is empty.
pub fn read_items(answer: &str, items: &Items, conversation: &Conversation) -> (Value, Option<String>) {
    let read = objects(answer).iter().rev().find_map(|found| found.get("items").cloned());
    let result = match read.as_ref().map(Value::as_list) {
        None => Err("the answer has no JSON object with `items` in it".to_owned()),
        Some(None) => Err("`items` is no list".to_owned()),
        Some(Some(list)) if list.len() > items.max as usize => {
            Err(format!("`items` has {} items, and {} are the most", list.len(), items.max))
        }
        Some(Some(list)) => list.iter().enumerate().map(|(at, item)| one(at, item, items, conversation)).collect(),
    };
    record(result)
}

/// What reading a list gives.
pub(super) fn record(result: Result<Vec<Value>, String>) -> (Value, Option<String>) {
    let (list, complaint) = match result {
        Ok(list) => (list, None),
        Err(complaint) => (Vec::new(), Some(complaint)),
    };
    let told = Value::str(complaint.clone().unwrap_or_default());
    (Value::map([("items", Value::list(list)), ("complaint", told)]), complaint)
}

fn one(at: usize, item: &Value, items: &Items, conversation: &Conversation) -> Result<Value, String> {
    let messages = conversation.labelled(0, u32::MAX);
    let named =
        items.fields.iter().find(|(_, kind)| *kind == ItemKind::Turn).and_then(|(name, _)| item.get(name)?.as_str());
    let named = named.map(|label| label.trim_matches(['[', ']']));
    let mut fields = Vec::new();
    for (name, kind) in &items.fields {
        let place = format!("item {}, `{name}`", at + 1);
        let value = item.get(name).cloned().ok_or_else(|| format!("{place} is missing"))?;
        let fits = match kind {
            ItemKind::Str | ItemKind::Turn | ItemKind::Quote => value.as_str().is_some(),
            ItemKind::Int => value.as_int().is_some(),
            ItemKind::Number => value.as_f64().is_some(),
            ItemKind::Bool => value.as_bool().is_some(),
        };
        if !fits {
            return Err(format!("{place} is {}, and must be {}", value.kind(), kind.ty()));
        }
        let words = value.as_str().unwrap_or_default();
        let value = match kind {
            ItemKind::Turn => {
                let label = words.trim_matches(['[', ']']);
                if !messages.iter().any(|(known, _)| known == label) {
                    return Err(format!("{place}: there is no message `{label}`"));
                }
                Value::str(label)
            }
            ItemKind::Quote => {
                let mut shown = messages.iter().filter(|(label, _)| named.is_none_or(|named| label == named));
                if !shown.any(|(_, message)| quote::occurs(words, said(message))) {
                    let whose = named
                        .map_or_else(|| "no message has".to_owned(), |n| format!("the message `{n}` does not have"));
                    return Err(format!("{place}: {whose} the words `{}`", crate::text::excerpt(words, 80)));
                }
                value
            }
            _ => value,
        };
        fields.push((name.clone(), value));
    }
    Ok(Value::map(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{MessageKind, USER};

    fn facts() -> Items {
        let fields = [("fact", ItemKind::Str), ("turn", ItemKind::Turn), ("quote", ItemKind::Quote)];
        Items { fields: fields.map(|(name, kind)| (name.into(), kind)).into(), max: 2 }
    }

    fn read(answer: &str) -> String {
        let mut conversation = Conversation::default();
        conversation.push(USER.into(), MessageKind::Say, "We are on the Team plan".into());
        let (value, complaint) = read_items(answer, &facts(), &conversation);
        complaint.unwrap_or_else(|| value.get("items").unwrap().to_json())
    }

    #[test]
    fn a_list_is_read_and_its_quotes_are_looked_up() {
        let good = r#"{"fact":"on Team","turn":"1u","quote":"on the team plan"}"#;
        assert_eq!(read(&format!(r#"Here: {{"items":[{good}]}}"#)), format!("[{good}]"));
        assert_eq!(read(r#"{"items":[]}"#), "[]");
        assert_eq!(read("none"), "the answer has no JSON object with `items` in it");
        assert!(read(&format!(r#"{{"items":[{good},{good},{good}]}}"#)).contains("2 are the most"));
        assert!(read(r#"{"items":[{"fact":"x","turn":"9u","quote":"on the"}]}"#).contains("there is no message `9u`"));
        assert!(
            read(r#"{"items":[{"fact":"x","turn":"1u","quote":"on the Pro plan"}]}"#)
                .contains("does not have the words")
        );
        assert_eq!(
            read(r#"{"items":[{"fact":1,"turn":"1u","quote":""}]}"#),
            "item 1, `fact` is a number, and must be string"
        );
        assert_eq!(read(r#"{"items":[{"turn":"1u"}]}"#), "item 1, `fact` is missing");
    }

    #[test]
    fn the_schema_enumerates_the_turns() {
        let schema = items_schema(&facts(), &["1u".to_owned()]).to_json();
        assert!(
            schema.contains(r#""turn":{"type":"string","enum":["1u"]}"#) && schema.contains(r#""maxItems":2"#),
            "{schema}"
        );
    }
}
