//! The shapes of structured answers: what a role is asked for, and how its answer is read.

mod items;
mod parameters;

pub use items::{ItemKind, Items, items_schema, read_items, record_of};
pub use parameters::parameters_schema;

use std::sync::Arc;

use crate::message::{Conversation, MessageKind, USER};
use crate::quote;
use crate::value::Value;
use crate::verdict::{Evidence, EvidenceRule, Outcome, Scale, Verdict};

/// What an answer must look like.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// What a simulated user says next: `{message, status: going | done | gave_up}`.
    UserTurn,
    /// A verdict of the named scorer: `{evidence, reason, score}`, on that scorer's scale.
    Verdict(Arc<str>),
    /// A verdict on a scale of its own: of a judge within a graph.
    Judged(Judged),
    /// A list of things found in the conversation.
    Items(Items),
    /// A verdict on each item of the list in the slot, in its order.
    Verdicts(Arc<str>, Judged),
}

/// What a verdict on a scale of its own is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The scale of its score.
    pub scale: Scale,
    /// The least number that passes.
    pub pass: f64,
    /// The evidence that a failing verdict must bring.
    pub rule: EvidenceRule,
    /// Whether [`SKIP`] may stand in the place of a score.
    pub skips: bool,
}

impl Judged {
    /// What an answer is held against.
    pub const fn contract<'c>(&'c self, conversation: &'c Conversation) -> Contract<'c> {
        Contract { scale: &self.scale, pass: self.pass, rule: self.rule, skips: self.skips, conversation }
    }
}

/// What a judge answers in the place of a score where there is nothing to judge.
pub const SKIP: &str = "skip";

/// The marker by which a simulated user without structured output says that it is done.
pub const DONE: &str = "[DONE]";

/// Longest texts in structured answers, in characters. Bounded strings keep a small model from never ending.
const MESSAGE: i64 = 400;
const REASON: i64 = 400;
const QUOTE: i64 = 240;
const MOST_EVIDENCE: i64 = 4;

fn object(properties: Vec<(&str, Value)>) -> Value {
    let required = properties.iter().map(|(name, _)| Value::str(*name)).collect();
    Value::map([
        ("type", Value::str("object")),
        ("properties", Value::map(properties)),
        ("required", Value::list(required)),
        ("additionalProperties", Value::Bool(false)),
    ])
}

fn text(longest: i64) -> Value {
    Value::map([("type", Value::str("string")), ("maxLength", Value::Int(longest))])
}

fn one_of(ty: &str, values: Vec<Value>) -> Value {
    Value::map([("type", Value::str(ty)), ("enum", Value::list(values))])
}

/// JSON Schema of a simulated user's turn.
pub fn user_turn_schema() -> Value {
    let status = ["going", "done", "gave_up"].map(Value::str).to_vec();
    object(vec![("message", text(MESSAGE)), ("status", one_of("string", status))])
}

/// JSON Schema of a score, and of the word in its place where there may be none.
fn score_schema(scale: &Scale, skips: bool) -> Value {
    let skip = || skips.then(|| Value::str(SKIP));
    let mixed = |ty: &str, values: Vec<Value>| {
        let types = Value::list(vec![Value::str(ty), Value::str("string")]);
        Value::map([("type", types), ("enum", Value::list(values.into_iter().chain(skip()).collect()))])
    };
    match scale {
        Scale::Boolean if skips => mixed("boolean", vec![Value::Bool(true), Value::Bool(false)]),
        Scale::Boolean => Value::map([("type", Value::str("boolean"))]),
        Scale::Range(low, high) if skips => mixed("integer", (*low..=*high).map(Value::Int).collect()),
        Scale::Range(low, high) => one_of("integer", (*low..=*high).map(Value::Int).collect()),
        Scale::Unit => {
            let number =
                Value::map([("type", Value::str("number")), ("minimum", Value::Int(0)), ("maximum", Value::Int(1))]);
            let either =
                |skip| Value::map([("anyOf", Value::list(vec![number.clone(), one_of("string", vec![skip])]))]);
            skip().map_or_else(|| number.clone(), either)
        }
        Scale::Labels(labels) => {
            let words = labels.iter().map(|(label, _)| Value::Str(label.clone()));
            one_of("string", words.chain(skip()).collect())
        }
    }
}

/// JSON Schema of a verdict: evidence, reason and score in this order, turns enumerated.
pub fn verdict_schema(scale: &Scale, rule: EvidenceRule, skips: bool, labels: &[String]) -> Value {
    let score = score_schema(scale, skips);
    let mut properties = Vec::new();
    if rule != EvidenceRule::None && !labels.is_empty() {
        let turn = one_of("string", labels.iter().map(|label| Value::str(label.as_str())).collect());
        properties.push((
            "evidence",
            Value::map([
                ("type", Value::str("array")),
                ("maxItems", Value::Int(MOST_EVIDENCE)),
                ("items", object(vec![("turn", turn), ("quote", text(QUOTE))])),
            ]),
        ));
    }
    properties.extend([("reason", text(REASON)), ("score", score)]);
    object(properties)
}

/// JSON Schema of a verdict on each of so many items.
pub fn verdicts_schema(judged: &Judged, count: usize, labels: &[String]) -> Value {
    let count = Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let list = Value::map([
        ("type", Value::str("array")),
        ("minItems", count.clone()),
        ("maxItems", count),
        ("items", verdict_schema(&judged.scale, judged.rule, judged.skips, labels)),
    ]);
    object(vec![("verdicts", list)])
}

/// The JSON objects in a text, first to last, those within others left out. What stands between them is passed over: a judge
/// may write about code before it answers. The work is bounded in bytes, whatever the text is.
fn objects(text: &str) -> Vec<Value> {
    const MOST_WORK: usize = 8 << 20;
    let (mut found, mut from, mut work) = (Vec::new(), 0, 0);
    while work < MOST_WORK {
        let Some(at) = text.get(from..).and_then(|rest| rest.find('{')) else { break };
        let start = from + at;
        let rest = text.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                from = start + stream.byte_offset();
                work += stream.byte_offset();
                found.push(value);
            }
            Some(Err(error)) => {
                // What was read before it failed: to the end, or to the error's place, whose line is not worth counting.
                work += if error.is_eof() { rest.len() } else { rest.len().min(error.column() + 80 * error.line()) };
                from = start + 1;
            }
            None => break,
        }
    }
    found
}

/// Reads a simulated user's turn. Without an object of the shape the whole text is the message, and the marker `[DONE]` in
/// it means done; the text beside the marker is kept. An object that was begun and is broken is nobody's words: the error
/// says so.
pub fn read_user_turn(answer: &str) -> Result<Value, &'static str> {
    let turn = |message: &str, status: &str| {
        Value::map([("message", Value::str(message.trim())), ("status", Value::str(status))])
    };
    for value in objects(answer).iter().rev() {
        let message = value.get("message").and_then(Value::as_str);
        let status = value.get("status").and_then(Value::as_str).filter(|s| ["going", "done", "gave_up"].contains(s));
        if let (Some(message), Some(status)) = (message, status) {
            return Ok(turn(&message.replace(DONE, ""), if message.contains(DONE) { "done" } else { status }));
        }
    }
    if answer.trim_start().starts_with('{') {
        return Err("the simulated user's object is broken off, or not of the shape");
    }
    Ok(turn(&answer.replace(DONE, ""), if answer.contains(DONE) { "done" } else { "going" }))
}

/// The turn of a user who says nothing.
pub fn silence() -> Value {
    Value::map([("message", Value::str("")), ("status", Value::str("going"))])
}

/// What a verdict is held against.
#[derive(Clone, Copy, Debug)]
pub struct Contract<'c> {
    /// The scale of its score.
    pub scale: &'c Scale,
    /// The least number that passes.
    pub pass: f64,
    /// The evidence that a failing verdict must bring.
    pub rule: EvidenceRule,
    /// Whether [`SKIP`] may stand in the place of a score.
    pub skips: bool,
    /// What the quotes must be found in.
    pub conversation: &'c Conversation,
}

/// Reads a judge's answer: the last object that has a score of the scale. What breaks the contract is an invalid verdict
/// whose reason says what was wrong, in words that a repair call can pass on.
pub fn read_verdict(answer: &str, contract: &Contract<'_>) -> Verdict {
    verdict_of(&objects(answer), contract)
}

/// Reads a verdict on each of `count` items: of the last object that has a list of `verdicts`. The second part is what is
/// wrong with the answer; then the list is empty.
pub fn read_verdicts(answer: &str, count: usize, contract: &Contract<'_>) -> (Value, Option<String>) {
    let found = objects(answer).iter().rev().find_map(|found| found.get("verdicts").cloned());
    let result = match found.as_ref().map(Value::as_list) {
        None => Err("the answer has no JSON object with `verdicts` in it".to_owned()),
        Some(None) => Err("`verdicts` is no list".to_owned()),
        Some(Some(list)) if list.len() != count => {
            Err(format!("`verdicts` has {} entries for {count} items", list.len()))
        }
        Some(Some(list)) => {
            let one = |(at, item): (usize, &Value)| {
                let verdict = verdict_of(std::slice::from_ref(item), contract);
                match verdict.outcome {
                    Outcome::Scored | Outcome::NotApplicable => Ok(verdict.to_value()),
                    _ => Err(format!("verdict {}: {}", at + 1, verdict.reason)),
                }
            };
            list.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()
        }
    };
    items::record(result)
}

fn verdict_of(found: &[Value], contract: &Contract<'_>) -> Verdict {
    let invalid = |why: String| Verdict::without_value(Outcome::Invalid, why);
    if found.is_empty() {
        return invalid("the answer has no JSON object in it".to_owned());
    }
    let whole = |value: &Value| match value {
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 1e9 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 1e9")]
            Value::Int(*x as i64)
        }
        other => other.clone(),
    };
    let skipped = |object: &Value| {
        let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default();
        Verdict::without_value(Outcome::NotApplicable, reason)
    };
    let is_skip = |object: &Value| contract.skips && object.get("score").and_then(Value::as_str) == Some(SKIP);
    let on_scale = |object: &Value| {
        let score = object.get("score")?;
        let score = if matches!(contract.scale, Scale::Range(..)) { whole(score) } else { score.clone() };
        Some((contract.scale.number(&score)?, score))
    };
    let last = found.iter().rev().find(|object| is_skip(object) || on_scale(object).is_some());
    if let Some(object) = last.filter(|object| is_skip(object)) {
        return skipped(object);
    }
    let fits = last.and_then(|object| on_scale(object).map(|(number, score)| (object, number, score)));
    let Some((object, number, score)) = fits else {
        let seen = found.iter().rev().find_map(|object| object.get("score"));
        return invalid(match seen {
            Some(score) => format!("`score` is {}, which is not on the scale {}", score.to_json(), contract.scale),
            None => "the object has no `score`".to_owned(),
        });
    };
    let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default();
    let pass = number >= contract.pass;
    let (evidence, complaints) = read_evidence(object, contract.conversation);
    if !pass {
        if let Some(complaint) = complaints.into_iter().next() {
            return invalid(complaint);
        }
        if let Some(lacks) = lacking(contract.rule, &evidence, contract.conversation) {
            return invalid(lacks.to_owned());
        }
    }
    Verdict { evidence, ..Verdict::scored(score, pass, reason) }
}

fn read_evidence(object: &Value, conversation: &Conversation) -> (Vec<Evidence>, Vec<String>) {
    let (mut evidence, mut complaints) = (Vec::new(), Vec::new());
    let messages = conversation.labelled(0, u32::MAX);
    for item in object.get("evidence").and_then(Value::as_list).unwrap_or_default() {
        let field = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let (turn, quoted) = (field("turn").trim_matches(['[', ']']), field("quote"));
        let mut named = messages.iter().filter(|(label, _)| label == turn).peekable();
        if named.peek().is_none() {
            complaints.push(format!("there is no message `{turn}`"));
        } else if !quoted.is_empty() && !named.any(|(_, message)| quote::occurs(quoted, said(message))) {
            complaints.push(format!("the message `{turn}` has no words `{}`", crate::text::excerpt(quoted, 80)));
        } else {
            evidence.push(Evidence { turn: turn.into(), quote: quoted.into() });
        }
    }
    (evidence, complaints)
}

fn said(message: &crate::message::Message) -> &str {
    match &message.kind {
        MessageKind::Call { arguments, .. } => arguments,
        _ => &message.text,
    }
}

fn lacking(rule: EvidenceRule, evidence: &[Evidence], conversation: &Conversation) -> Option<&'static str> {
    let messages = conversation.labelled(0, u32::MAX);
    let by_user = |e: &Evidence| messages.iter().any(|(label, message)| **label == *e.turn && &*message.author == USER);
    let from_user = evidence.iter().any(|e| by_user(e) && !e.quote.is_empty());
    let from_assistant = evidence.iter().any(|e| !by_user(e) && !e.quote.is_empty());
    match rule {
        EvidenceRule::Commission if !from_assistant => Some("a failing score needs evidence that quotes the assistant"),
        EvidenceRule::Pair if !(from_user && from_assistant) => {
            Some("a failing score needs evidence that quotes the user's statement and the assistant's breach")
        }
        EvidenceRule::Omission if !from_user => {
            Some("a failing score needs evidence that quotes the user's unanswered words")
        }
        EvidenceRule::User if !from_user => Some("a failing score needs evidence that quotes the user"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ASSISTANT;

    fn conversation() -> Conversation {
        let mut c = Conversation::default();
        c.push(USER.into(), MessageKind::Say, "I'm on Pro".into());
        c.push(ASSISTANT.into(), MessageKind::Say, "On Free you get two seats.".into());
        c
    }

    fn read(rule: EvidenceRule, answer: &str) -> Verdict {
        let contract =
            Contract { scale: &Scale::Range(1, 5), pass: 4.0, rule, skips: false, conversation: &conversation() };
        read_verdict(answer, &contract)
    }

    #[test]
    fn the_last_object_on_the_scale_counts() {
        let verdict =
            read(EvidenceRule::None, r#"{"score":9} Well. ```json {"reason":"ok","score":4}``` {"score": 11}"#);
        assert_eq!((verdict.value, verdict.pass, &*verdict.reason), (Some(Value::Int(4)), Some(true), "ok"));
        let after_code = format!("{} {{\"score\":2.0}} {{\"score\":4.7}}", "{x".repeat(5000));
        assert_eq!(read(EvidenceRule::None, &after_code).value, Some(Value::Int(2)));
    }

    #[test]
    fn a_broken_contract_is_invalid_and_says_why() {
        let why = |rule, answer: &str| read(rule, answer).reason.to_string();
        assert!(why(EvidenceRule::None, "No, the assistant forgot.").contains("no JSON object"));
        assert!(why(EvidenceRule::None, r#"{"score":"4"}"#).contains("not on the scale"));
        assert!(why(EvidenceRule::Commission, r#"{"score":1}"#).contains("quotes the assistant"));
        assert!(
            why(EvidenceRule::Commission, r#"{"score":1,"evidence":[{"turn":"1a","quote":"ten seats"}]}"#)
                .contains("no words")
        );
        assert!(
            why(EvidenceRule::Commission, r#"{"score":1,"evidence":[{"turn":"7a","quote":"x"}]}"#)
                .contains("no message")
        );
        let pair = r#"{"score":1,"evidence":[{"turn":"1u","quote":"on Pro"},{"turn":"[1a]","quote":"on free you"}]}"#;
        assert_eq!(read(EvidenceRule::Pair, pair).turn(), Some(1));
        for hostile in ["{".repeat(100_000), "{\"a\":".repeat(50_000), format!("{}1", "[".repeat(9999))] {
            assert_eq!(read(EvidenceRule::None, &hostile).outcome, Outcome::Invalid);
        }
    }

    #[test]
    fn a_list_of_verdicts_has_one_for_each_item() {
        let read = |count: usize, answer: &str| {
            let contract = Contract {
                scale: &Scale::Boolean,
                pass: 1.0,
                rule: EvidenceRule::None,
                skips: true,
                conversation: &conversation(),
            };
            let (value, complaint) = read_verdicts(answer, count, &contract);
            complaint.unwrap_or_else(|| value.get("items").and_then(Value::as_list).unwrap().len().to_string())
        };
        assert_eq!(read(2, r#"{"verdicts":[{"score":true},{"score":false}]}"#), "2");
        assert_eq!(read(1, r#"{"verdicts":[{"score":true},{"score":false}]}"#), "`verdicts` has 2 entries for 1 items");
        assert!(read(1, r#"{"verdicts":[{"score":7}]}"#).starts_with("verdict 1: `score` is 7"));
        assert!(read(1, "yes").contains("no JSON object with `verdicts`"));
    }

    #[test]
    fn a_user_turn_is_read_with_and_without_structure() {
        let read = |text: &str| read_user_turn(text).map_or_else(str::to_owned, |turn| turn.to_json());
        assert!(read("{ \"message\": \"You can add ten").contains("broken off"));
        assert_eq!(read(r#"{"message":"Bye","status":"done"}"#), r#"{"message":"Bye","status":"done"}"#);
        assert_eq!(read("Thanks! [DONE]"), r#"{"message":"Thanks!","status":"done"}"#);
        assert_eq!(read("Hm {x}"), r#"{"message":"Hm {x}","status":"going"}"#);
    }
}
