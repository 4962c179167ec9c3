//! A comparison as one JSON object.

use std::sync::Arc;

use aigo_ir::value::Value;

use super::{Change, Compared, Comparison};

fn number(x: Option<f64>) -> Value {
    x.and_then(Value::float).unwrap_or_default()
}

fn count(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn keys(keys: &[Arc<str>]) -> Value {
    Value::list(keys.iter().cloned().map(Value::Str).collect())
}

/// `{task, before, after, exit, scorers, only_before, only_after, edited}` on one line. Numbers are exact.
pub fn json(comparison: &Comparison, exit: i32) -> String {
    let alone = comparison.alone.iter().map(|(scorer, run)| (Arc::clone(scorer), Value::str(run.as_str())));
    Value::map([
        ("task", Value::str(comparison.task.as_str())),
        ("before", Value::str(comparison.runs.0.as_str())),
        ("after", Value::str(comparison.runs.1.as_str())),
        ("exit", Value::Int(exit.into())),
        ("scorers", Value::map(comparison.scorers.iter().map(|one| (Arc::clone(&one.scorer), scorer(one))))),
        ("alone", Value::map(alone)),
        ("only_before", keys(&comparison.only_before)),
        ("only_after", keys(&comparison.only_after)),
        ("edited", keys(&comparison.edited)),
    ])
    .to_json()
}

fn scorer(compared: &Compared) -> Value {
    let paired = compared.paired;
    let interval = paired.and_then(|paired| paired.interval).map_or(Value::Null, |interval| {
        Value::list([interval.low, interval.high].map(|end| number(Some(end))).to_vec())
    });
    let of_pairs = |n: fn(&crate::Paired) -> u32| count(paired.as_ref().map_or(0, n).into());
    let changes = |changes: &[Change]| Value::list(changes.iter().map(change).collect());
    Value::map([
        ("verdict", Value::str(compared.verdict.word())),
        ("before", number(compared.before)),
        ("after", number(compared.after)),
        ("difference", number(paired.map(|paired| paired.difference))),
        ("error", number(paired.and_then(|paired| paired.error))),
        ("interval", interval),
        ("scenarios", of_pairs(|paired| paired.scenarios)),
        ("clusters", of_pairs(|paired| paired.clusters)),
        ("p_t", number(paired.and_then(|paired| paired.p_t))),
        ("p_flip", number(paired.map(|paired| paired.p_flip))),
        ("p_flip_is_exact", paired.map_or(Value::Null, |paired| Value::Bool(paired.is_exact))),
        ("p_adjusted", number(Some(compared.p_adjusted))),
        (
            "mcnemar",
            compared.flipped.map_or(Value::Null, |(worse, better, p)| {
                Value::map([
                    ("worse", count(worse.into())),
                    ("better", count(better.into())),
                    ("p_mid", number(Some(p))),
                ])
            }),
        ),
        ("detectable", number(paired.and_then(|paired| paired.detectable))),
        ("worse", changes(&compared.worse)),
        ("better", changes(&compared.better)),
        ("moved", keys(&compared.moved)),
        ("missing", Value::list(vec![count(compared.missing.0), count(compared.missing.1)])),
    ])
}

fn change(change: &Change) -> Value {
    Value::map([
        ("sample", Value::Str(Arc::clone(&change.key))),
        ("before", number(Some(change.before))),
        ("after", number(Some(change.after))),
        ("edited", Value::Bool(change.edited)),
    ])
}
