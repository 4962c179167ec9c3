//! Scorers and gates.

use std::sync::Arc;

use super::Read;
use super::check::between;
use crate::gate::{Decide, Gate, Selection};
use crate::lines::Cursor;
use crate::program::Scorer;
use crate::read_graph;
use crate::reduce::Reducer;
use crate::schema::SKIP;
use crate::value::Value;
use crate::verdict::{EvidenceRule, Scale};

pub(super) fn scorer(mut cursor: Cursor<'_>) -> Read<Scorer> {
    let name: Arc<str> = cursor.text("the scorer's name")?.into();
    let scale = scale(&mut cursor)?;
    let pass = cursor.needed_number("pass")?;
    let over = match cursor.word_of("over")? {
        None => None,
        Some(word) => match Reducer::parse(word) {
            Some(reducer) => Some(reducer),
            None => return cursor.fail(format!("unknown reducer `{word}`")),
        },
    };
    let (evidence, skips) = (evidence(&mut cursor)?, skips(&mut cursor)?);
    let at = cursor.text_of("at")?.map(Arc::from);
    let turns = match cursor.value_of("turns")? {
        None => None,
        Some(ends) => match between(ends).filter(|range| range.least.or(range.most).is_some()) {
            Some(range) => Some(range),
            None => return cursor.fail("`turns=` is a map of `min`, `max` or both"),
        },
    };
    let completion = match cursor.word_of("completion")? {
        None => false,
        Some("true") => true,
        Some(other) => return cursor.fail(format!("`completion` is `true` or absent, not `{other}`")),
    };
    let tags = match cursor.value_of("tags")? {
        None => Vec::new(),
        Some(tags) => {
            let words = tags.as_list().unwrap_or_default().iter().map(|tag| tag.as_str().map(Arc::from));
            let words = words.collect::<Option<Vec<_>>>().filter(|words| !words.is_empty());
            words.map_or_else(|| cursor.fail("`tags=` is a list of words"), Ok)?
        }
    };
    let graph = if cursor.has_block() {
        Some(read_graph::named(&name, cursor)?)
    } else {
        cursor.finish()?;
        None
    };
    Ok(Scorer { name, scale, pass, over, evidence, skips, at, turns, completion, tags, graph })
}

pub(crate) fn evidence(cursor: &mut Cursor<'_>) -> Read<EvidenceRule> {
    let word = cursor.needed_word("evidence")?;
    let found = EvidenceRule::ALL.into_iter().find(|rule| rule.word() == word);
    found.map_or_else(|| cursor.fail(format!("unknown evidence rule `{word}`")), Ok)
}

/// Whether a judge may say that there is nothing to judge.
pub(crate) fn skips(cursor: &mut Cursor<'_>) -> Read<bool> {
    match cursor.word_of("skips")? {
        None => Ok(false),
        Some(SKIP) => Ok(true),
        Some(other) => cursor.fail(format!("`skips={other}`: the one word is `{SKIP}`")),
    }
}

pub(crate) fn scale(cursor: &mut Cursor<'_>) -> Read<Scale> {
    if let Some(word) = cursor.word_of("scale")? {
        return Scale::parse(word).map_or_else(|| cursor.fail(format!("`{word}` is no scale")), Ok);
    }
    let labels = cursor.value_of("labels")?.and_then(Value::as_map);
    let Some(labels) = labels.filter(|labels| !labels.is_empty()) else {
        return cursor.fail("a scorer needs `scale=` or `labels=`");
    };
    let pairs = labels.iter().map(|(label, x)| x.as_f64().map(|x| (label.clone(), x))).collect::<Option<Vec<_>>>();
    pairs.map_or_else(|| cursor.fail("labels are worth numbers"), |pairs| Ok(Scale::Labels(pairs)))
}

pub(super) fn gate(mut cursor: Cursor<'_>) -> Read<Gate> {
    let text = cursor.text("the gate")?;
    let written = Gate::parse(text).or_else(|error| cursor.fail(format!("the gate `{text}`: {}", error.message)))?;
    if written.over != Selection::One {
        return cursor.fail(format!("the gate `{text}`: a gate of a program is over one scorer"));
    }
    let mut gate = written.gate;
    let Some(min_n) = cursor.count_of("min_n")? else { return cursor.fail("`min_n=` is missing") };
    gate.min_n = min_n;
    gate.max_missing = cursor.needed_number("max_missing")?;
    if let Some(word) = cursor.word_of("decide")? {
        let found = Decide::ALL.into_iter().find(|decide| decide.word() == word);
        gate.decide = found.map_or_else(|| cursor.fail(format!("`decide={word}`: no such way")), Ok)?;
    }
    cursor.finish()?;
    Ok(gate)
}
