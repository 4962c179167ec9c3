//! Checks.

use std::sync::Arc;

use super::Read;
use crate::check::{
    Between, CallMode, CallPattern, CheckKind, Likeness, Measure, Operand, Repeated, Test, schema_errors,
};
use crate::lines::Cursor;
use crate::node::Node;
use crate::read_graph::needed_expr;
use crate::template::Template;
use crate::value::Value;

pub(crate) fn check(line: &mut Cursor<'_>) -> Read<Node> {
    for word in Test::WORDS {
        for (negated, prefix) in [(false, ""), (true, "not_")] {
            if let Some(test) = test(line, word, &format!("{prefix}{word}"))? {
                // `turns` is a test, and `turn` where the text is from.
                let (text, turn) = (needed_expr(line, "text")?, needed_expr(line, "turn")?);
                let (author, into) = (line.needed_text("author")?.into(), line.needed_text("into")?.into());
                return Ok(Node::Check { test, negated, text, author, turn, into });
            }
        }
    }
    line.fail(format!("a check needs one of {}, or its `not_` form", Test::WORDS.map(|w| format!("`{w}=`")).join(", ")))
}

fn test(line: &mut Cursor<'_>, word: &str, key: &str) -> Read<Option<Test>> {
    if let Some(kind) = CheckKind::parse(word) {
        return Ok(line.text_of(key)?.map(|wanted| Test::Text(kind, Template::new(wanted))));
    }
    if word == "expr" {
        let Some(text) = line.text_of(key)? else { return Ok(None) };
        return Ok(Some(Test::Expr(super::expr(line, text)?)));
    }
    let Some(value) = line.value_of(key)? else { return Ok(None) };
    let read = match word {
        "one_of" => {
            let texts = value.as_list().unwrap_or_default().iter().map(|text| text.as_str().map(Template::new));
            texts.collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty()).map(Test::OneOf)
        }
        "json_schema" => schema_errors(value).is_empty().then(|| Test::JsonSchema(value.clone())),
        "words" => between(value).map(Test::Words),
        "turns" => between(value).map(Test::Turns),
        "within" => value.get("ms").and_then(Value::as_int).and_then(|ms| u64::try_from(ms).ok()).map(Test::Within),
        "no_reply" => (*value == Value::Bool(true)).then_some(Test::NoReply),
        "no_repetition" => repetition(value),
        "tool_calls" => tool_calls(value),
        "state" => operands(value).map(Test::State),
        "state_after" => calls(value).map(Test::StateAfter),
        _ => similarity(value),
    };
    read.map_or_else(|| line.fail(format!("`{key}=` does not say what is checked")), |test| Ok(Some(test)))
}

/// A range as a map of its ends.
pub(super) fn between(value: &Value) -> Option<Between> {
    let end = |key: &str| match value.get(key) {
        None => Some(None),
        Some(n) => n.as_int().and_then(|n| u32::try_from(n).ok()).map(Some),
    };
    value.as_map()?;
    Some(Between { least: end("min")?, most: end("max")? })
}

fn alike(value: &Value) -> Option<Likeness> {
    let measure = Measure::parse(value.get("measure")?.as_str()?)?;
    Some(Likeness { measure, least: value.get("least")?.as_f64()? })
}

fn repetition(value: &Value) -> Option<Test> {
    let of = match value.get("of") {
        None => Repeated::default(),
        Some(word) => Repeated::ALL.into_iter().find(|of| Some(of.word()) == word.as_str())?,
    };
    Some(Test::NoRepetition(of, alike(value)?))
}

fn similarity(value: &Value) -> Option<Test> {
    Some(Test::Similarity(Template::new(value.get("to")?.as_str()?), alike(value)?))
}

fn tool_calls(value: &Value) -> Option<Test> {
    let mode = match value.get("mode") {
        None => CallMode::Strict,
        Some(word) => CallMode::ALL.into_iter().find(|mode| Some(mode.word()) == word.as_str())?,
    };
    Some(Test::ToolCalls(calls(value.get("calls")?)?, mode))
}

fn operands(value: &Value) -> Option<Vec<(Arc<str>, Operand)>> {
    let operand = |value: &Value| match value {
        Value::Str(text) => Operand::Text(Template::new(text.clone())),
        other => Operand::Data(other.clone()),
    };
    Some(value.as_map()?.iter().map(|(name, value)| (name.clone(), operand(value))).collect())
}

fn calls(value: &Value) -> Option<Vec<CallPattern>> {
    let call = |value: &Value| {
        let args = match value.get("args") {
            None => None,
            Some(args) => Some(operands(args)?),
        };
        Some(CallPattern { name: value.get("name")?.as_str()?.into(), args })
    };
    value.as_list()?.iter().map(call).collect()
}
