//! A calibration as one JSON object.

use aigo_ir::value::Value;

use super::{Calibration, Figure, Part, Section};

fn count(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn number(x: f64) -> Value {
    Value::float(x).unwrap_or_default()
}

/// `{all: …, groups: {…}}` on one line. Numbers are exact.
pub fn json(calibration: &Calibration) -> String {
    let all = calibration.parts.iter().find(|part| part.group.is_none()).map_or(Value::Null, part);
    let groups = calibration.parts.iter().filter_map(|one| Some((one.group.clone()?, part(one))));
    Value::map([("all", all), ("groups", Value::map(groups))]).to_json()
}

fn part(part: &Part) -> Value {
    let confusion = part
        .confusion
        .iter()
        .map(|(answer, counts)| (answer.as_str(), Value::list(counts.iter().map(|n| count(*n)).collect())));
    let mut pairs = vec![("clusters", count(part.clusters.into()))];
    pairs.extend(part.sections.iter().map(|one| (one.title, section(one))));
    if part.flips.both > 0 {
        pairs.push(("both_orders", count(part.flips.both)));
        pairs.push(("flipped", count(part.flips.flipped)));
    }
    pairs.push(("split", count(part.split)));
    pairs.push(("without_label", count(part.unmatched.0)));
    pairs.push(("without_verdict", count(part.unmatched.1)));
    pairs.push(("confusion", Value::map(confusion)));
    Value::map(pairs)
}

fn section(section: &Section) -> Value {
    let mut pairs = vec![("items", count(section.items))];
    pairs.extend(section.figures.iter().map(|one| (one.name, figure(one))));
    Value::map(pairs)
}

fn figure(figure: &Figure) -> Value {
    let mut pairs = vec![("value", figure.value.map_or(Value::Null, number))];
    if let Some((same, of)) = figure.counts {
        pairs.extend([("same", count(same)), ("of", count(of))]);
    }
    let interval = figure.interval.map_or(Value::Null, |(low, high)| Value::list(vec![number(low), number(high)]));
    pairs.push(("interval", interval));
    Value::map(pairs)
}
