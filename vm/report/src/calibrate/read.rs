//! Labels and verdicts from JSON Lines. `spec/statistics.md` defines the form.

use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::text::excerpt;
use aigo_ir::value::{Map, Value};

use super::{Answer, Preference, Vote};

/// Labels that cannot be read.
pub static BAD_LABELS: Row = Row::error("R0232", "labels that cannot be read");

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it says, of the item that it names.
    pub vote: Vote,
    /// The sample and the epoch that it is of, where it names a sample of a run.
    pub sample: Option<(Arc<str>, u32)>,
    /// The scorer, where it names one.
    pub scorer: Option<Arc<str>>,
    /// The value as it is written; null of a preference.
    pub value: Value,
    /// The file, and the line in it.
    pub place: Arc<str>,
}

/// Reads lines. `rater` is who says what names nobody; `by` is the key whose values make groups.
pub fn lines(name: &str, text: &str, rater: &str, by: Option<&str>) -> Result<Vec<Line>, Box<Diagnostic>> {
    let mut read = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let taken = match Value::of_json(line) {
            Some(Value::Map(map)) => one(&map, rater, by),
            _ => Err("it is no JSON object".to_owned()),
        };
        let place = format!("{name}, line {}", at + 1);
        let taken = taken.map(|line| Line { place: place.as_str().into(), ..line });
        read.push(taken.map_err(|why| {
            let help = "a line is `{\"item\": …, \"value\": …}`, `{\"sample\": …, \"value\": …}` or \
                        `{\"item\": …, \"first\": …, \"second\": …, \"winner\": …}`";
            Box::new(BAD_LABELS.nowhere(format!("{place}: {why}")).help(help))
        })?);
    }
    Ok(read)
}

/// A text, or a whole number or a truth as it prints.
fn plain(map: &Map, key: &str) -> Result<Option<Arc<str>>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Str(text)) => Ok(Some(Arc::clone(text))),
        Some(other @ (Value::Int(_) | Value::Bool(_))) => Ok(Some(other.to_json().into())),
        Some(other) => Err(format!("`{key}` is {}, and a text was expected", other.kind())),
    }
}

fn one(map: &Map, rater: &str, by: Option<&str>) -> Result<Line, String> {
    let epoch = match map.get("epoch") {
        None => 1,
        Some(epoch) => epoch
            .as_int()
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| *n > 0)
            .ok_or("`epoch` is no whole number from 1 on")?,
    };
    let sample = plain(map, "sample")?.map(|key| (key, epoch));
    let item = match (plain(map, "item")?, &sample) {
        (Some(item), _) => item,
        (None, Some((key, epoch))) => format!("{key}#{epoch}").into(),
        (None, None) => return Err("it names neither `item` nor `sample`".to_owned()),
    };
    let cluster = plain(map, "cluster")?.unwrap_or_else(|| sample.as_ref().map_or(&item, |(key, _)| key).clone());
    let group = by.map(|by| plain(map, by)).transpose()?.flatten();
    let (item, answer, is_swapped) = match map.get("winner") {
        Some(winner) => preference(map, &item, winner)?,
        None => (item, answer(map.get("value"))?, false),
    };
    Ok(Line {
        vote: Vote {
            item,
            rater: plain(map, "rater")?.unwrap_or_else(|| rater.into()),
            answer,
            cluster,
            group,
            is_swapped,
        },
        sample,
        scorer: plain(map, "scorer")?,
        value: map.get("value").cloned().unwrap_or_default(),
        place: "".into(),
    })
}

fn answer(value: Option<&Value>) -> Result<Answer, String> {
    match value {
        Some(Value::Bool(pass)) => Ok(Answer::Bool(*pass)),
        Some(number @ (Value::Int(_) | Value::Float(_))) => number
            .as_f64()
            .map(Answer::Number)
            .ok_or_else(|| "`value` is no number that can be counted with".to_owned()),
        Some(Value::Str(word)) => Ok(Answer::Word(Arc::clone(word))),
        Some(other) => Err(format!("`value` is {}: true or false, a number or a word was expected", other.kind())),
        None => Err("it has neither `value` nor `winner`".to_owned()),
    }
}

/// Which of two is better. The item is what both are about and both names, in the order of the alphabet.
fn preference(map: &Map, item: &str, winner: &Value) -> Result<(Arc<str>, Answer, bool), String> {
    let name = |key: &str| plain(map, key)?.ok_or_else(|| format!("it has a `winner` and no `{key}`"));
    let (first, second) = (name("first")?, name("second")?);
    if first == second {
        return Err(format!("`first` and `second` are both `{}`", excerpt(&first, 40)));
    }
    let is_swapped = first > second;
    let won = match winner {
        Value::Str(word) if **word == *first => Some(!is_swapped),
        Value::Str(word) if **word == *second => Some(is_swapped),
        Value::Str(word) if **word == *"tie" => None,
        other => {
            let (first, second) = (excerpt(&first, 40), excerpt(&second, 40));
            return Err(format!(
                "`winner` is {}, and neither the first (`{first}`), the second (`{second}`) nor `tie`",
                excerpt(&other.to_json(), 40)
            ));
        }
    };
    let preference = match won {
        Some(true) => Preference::First,
        Some(false) => Preference::Second,
        None => Preference::Tie,
    };
    let (low, high) = if is_swapped { (second, first) } else { (first, second) };
    Ok((format!("{item}\u{1f}{low}\u{1f}{high}").into(), Answer::Prefers(preference), is_swapped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_others_are_told() {
        let text = concat!(
            r#"{"item": 81, "first": "b", "second": "a", "winner": "b", "rater": "anna", "cluster": "q81", "turn": 2}"#,
            "\n\n",
            r#"{"sample": "seats", "epoch": 3, "value": 4, "scorer": "tone"}"#
        );
        let read = lines("x", text, "person", Some("turn")).unwrap();
        let [pair, point] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!((&*pair.vote.item, pair.vote.is_swapped), ("81\u{1f}a\u{1f}b", true));
        assert_eq!(pair.vote.answer, Answer::Prefers(Preference::Second));
        assert_eq!((pair.vote.group.as_deref(), &*pair.vote.cluster), (Some("2"), "q81"));
        assert_eq!((point.sample.clone(), point.scorer.as_deref()), (Some(("seats".into(), 3)), Some("tone")));
        assert_eq!((&*point.vote.rater, &*point.vote.cluster), ("person", "seats"));
        let cases = [
            ("[]", "no JSON object"),
            (r#"{"value": 1}"#, "neither `item` nor `sample`"),
            (r#"{"item": "a"}"#, "neither `value` nor `winner`"),
            (r#"{"item": "a", "value": [1]}"#, "`value` is "),
            (r#"{"item": "a", "winner": "x"}"#, "a `winner` and no `first`"),
            (r#"{"item": "a", "first": "x", "second": "x", "winner": "x"}"#, "both `x`"),
            (r#"{"item": "a", "first": "x", "second": "y", "winner": "z"}"#, "neither the first (`x`)"),
            (r#"{"sample": "a", "epoch": 0, "value": 1}"#, "`epoch` is no whole number"),
        ];
        for (text, wanted) in cases {
            let error = lines("labels.jsonl", text, "person", None).expect_err(text);
            assert!(
                error.message.contains(wanted) && error.message.contains("labels.jsonl, line 1"),
                "{}",
                error.message
            );
        }
    }
}
