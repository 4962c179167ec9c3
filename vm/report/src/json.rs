//! The report as one JSON object: the same of a run and of its replay.

use std::fmt::Write as _;

use aigo_ir::text::json_string;
use aigo_ir::value::Value;

use crate::bought::cost_usd;
use crate::{Counts, Heading, Summary};

/// `{task, run, digest, exit, calls, cost_usd, usage, outcomes, gates}`, one line. Numbers are exact.
pub fn json(summary: &Summary, heading: Heading<'_>) -> String {
    let Heading { run, digest, exit } = heading;
    let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let number = |x: Option<f64>| x.and_then(Value::float).unwrap_or_default();
    let calls = Value::map(summary.calls.iter().map(|(role, bought)| (role.clone(), count(bought.answers))));
    let usage = Value::map(summary.calls.iter().map(|(role, bought)| (role.clone(), bought.to_value())));
    let cost = number(cost_usd(&summary.calls));
    let outcome = |counts: &Counts, mean: Option<f64>| {
        Value::map([
            ("mean", number(mean)),
            ("passed", count(counts.passed)),
            ("planned", count(counts.planned)),
            ("scored", count(counts.scored)),
            ("not_applicable", count(counts.not_applicable)),
            ("invalid", count(counts.invalid)),
            ("void", count(counts.void)),
            ("open", count(counts.open)),
        ])
    };
    let scorers = summary.program.scorers.iter().zip(&summary.counts).zip(&summary.means);
    let outcomes = Value::map(scorers.map(|((scorer, counts), mean)| (scorer.name.clone(), outcome(counts, *mean))));
    let gates = summary.gates.iter().map(|gate| {
        Value::map([
            ("gate", Value::str(gate.gate.as_str())),
            ("value", number(gate.value)),
            ("low", number(gate.low)),
            ("high", number(gate.high)),
            (
                "interval",
                gate.interval.map_or(Value::Null, |interval| {
                    Value::list([interval.low, interval.high].map(|end| number(Some(end))).to_vec())
                }),
            ),
            ("result", Value::str(gate.result.word())),
            ("note", Value::str(gate.note.as_str())),
        ])
    });
    let gates = Value::list(gates.collect());
    let mut out = String::from("{\"task\":");
    json_string(&summary.program.name, &mut out);
    out.push_str(",\"run\":");
    json_string(run, &mut out);
    out.push_str(",\"digest\":");
    json_string(digest, &mut out);
    let _ = write!(
        out,
        ",\"exit\":{exit},\"calls\":{calls},\"cost_usd\":{cost},\"usage\":{usage},\"outcomes\":{outcomes},\"gates\":{gates}}}"
    );
    out
}
