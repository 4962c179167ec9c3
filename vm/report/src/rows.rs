//! One row for each verdict: the form in which other programs take what a run came to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::program::{Program, Scorer};
use aigo_ir::text::{json_string, printable};
use aigo_ir::value::Value;
use aigo_ir::verdict::{Evidence, Outcome, Verdict};

use crate::Told;

/// What became of one verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'t> {
    /// The sample's key.
    pub sample: &'t str,
    /// From 1.
    pub epoch: u32,
    /// Whose it is.
    pub scorer: &'t str,
    /// The turn; none for the conversation.
    pub turn: Option<u32>,
    /// `scored`, `not_applicable`, `invalid`, `void` or `open`.
    pub outcome: &'static str,
    /// The value on the scorer's scale, where scored.
    pub value: Option<&'t Value>,
    /// What the value counts as in gates.
    pub number: Option<f64>,
    /// Whether it passes.
    pub pass: Option<bool>,
    /// Why, in a sentence.
    pub reason: &'t str,
    /// The words it rests on.
    pub evidence: &'t [Evidence],
    /// How the conversation ended; none where it is open.
    pub ending: Option<&'static str>,
    /// The sample's tags.
    pub tags: &'t [Arc<str>],
    /// Which samples it belongs together with.
    pub cluster: &'t str,
}

/// The columns, in their order.
pub const COLUMNS: [&str; 13] = [
    "sample", "epoch", "scorer", "turn", "outcome", "value", "number", "pass", "reason", "evidence", "ending", "tags",
    "cluster",
];

/// The rows of a trial: for each scorer the conversation's verdict, then those of its turns. A trial without an end has a row
/// with the outcome `open` for each scorer.
pub fn rows<'t>(program: &'t Program, told: Told<'t>) -> Vec<Row<'t>> {
    match told {
        Told::Open(open) => {
            let row = |scorer: &'t Scorer| Row {
                sample: &open.key,
                epoch: open.epoch,
                scorer: &scorer.name,
                turn: None,
                outcome: "open",
                value: None,
                number: None,
                pass: None,
                reason: "",
                evidence: &[],
                ending: None,
                tags: &open.tags,
                cluster: &open.cluster,
            };
            program.scorers.iter().map(row).collect()
        }
        Told::Ended(trial) => {
            let mut rows = Vec::new();
            for (at, scorer) in program.scorers.iter().enumerate() {
                let row = |turn: Option<u32>, verdict: &'t Verdict| Row {
                    sample: &trial.key,
                    epoch: trial.epoch,
                    scorer: &scorer.name,
                    turn,
                    outcome: verdict.outcome.word(),
                    value: verdict.value.as_ref(),
                    number: verdict.value.as_ref().and_then(|value| scorer.scale.number_of_reduced(value)),
                    pass: verdict.pass,
                    reason: &verdict.reason,
                    evidence: &verdict.evidence,
                    ending: Some(trial.ending.word()),
                    tags: &trial.tags,
                    cluster: &trial.cluster,
                };
                let own = || trial.scores.iter().filter(|score| score.scorer == at);
                rows.extend(own().filter(|score| score.turn.is_none()).map(|score| row(None, &score.verdict)));
                rows.extend(own().filter(|score| score.turn.is_some()).map(|score| row(score.turn, &score.verdict)));
            }
            rows
        }
    }
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values with a line of names, as RFC 4180 says.
    Csv,
}

/// The rows of a run, as text. They are sorted by sample and epoch when they are written, whatever the order of trials.
#[derive(Debug)]
pub struct Table {
    form: Form,
    trials: BTreeMap<(Arc<str>, u32), String>,
}

impl Table {
    /// An empty table.
    pub const fn new(form: Form) -> Self {
        Self { form, trials: BTreeMap::new() }
    }

    /// Takes a trial in.
    pub fn add(&mut self, program: &Program, told: Told<'_>) {
        let mut out = String::new();
        for row in rows(program, told) {
            match self.form {
                Form::Jsonl => jsonl(&row, &mut out),
                Form::Csv => csv(&row, &mut out),
            }
        }
        let place = match told {
            Told::Ended(trial) => (Arc::clone(&trial.key), trial.epoch),
            Told::Open(open) => (Arc::clone(&open.key), open.epoch),
        };
        self.trials.insert(place, out);
    }

    /// The whole text.
    pub fn finish(self) -> String {
        let head = match self.form {
            Form::Jsonl => String::new(),
            Form::Csv => COLUMNS.join(",") + "\r\n",
        };
        let length = head.len() + self.trials.values().map(String::len).sum::<usize>();
        let mut out = String::with_capacity(length);
        out.push_str(&head);
        out.extend(self.trials.values().map(String::as_str));
        out
    }
}

/// The evidence as JSON: a list of `{turn, quote}`.
fn evidence_json(evidence: &[Evidence], out: &mut String) {
    out.push('[');
    for (at, one) in evidence.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"turn\":" } else { "{\"turn\":" });
        json_string(&one.turn, out);
        out.push_str(",\"quote\":");
        json_string(&one.quote, out);
        out.push('}');
    }
    out.push(']');
}

fn jsonl(row: &Row<'_>, out: &mut String) {
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    let text = |name: &str, text: &str, out: &mut String| {
        let _ = write!(out, ",\"{name}\":");
        json_string(text, out);
    };
    out.push_str("{\"sample\":");
    json_string(row.sample, out);
    let _ = write!(out, ",\"epoch\":{}", row.epoch);
    text("scorer", row.scorer, out);
    let _ = write!(out, ",\"turn\":{}", or_null(row.turn.map(|turn| turn.to_string())));
    text("outcome", row.outcome, out);
    let _ = write!(
        out,
        ",\"value\":{},\"number\":{},\"pass\":{}",
        or_null(row.value.map(Value::to_json)),
        or_null(row.number.and_then(Value::float).map(|x| x.to_json())),
        or_null(row.pass.map(|pass| pass.to_string()))
    );
    text("reason", row.reason, out);
    out.push_str(",\"evidence\":");
    evidence_json(row.evidence, out);
    match row.ending {
        Some(ending) => text("ending", ending, out),
        None => out.push_str(",\"ending\":null"),
    }
    out.push_str(",\"tags\":[");
    for (at, tag) in row.tags.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        json_string(tag, out);
    }
    out.push(']');
    text("cluster", row.cluster, out);
    out.push_str("}\n");
}

fn csv(row: &Row<'_>, out: &mut String) {
    let number = |x: Option<f64>| x.and_then(Value::float).map_or_else(String::new, |x| x.to_json());
    let value = row.value.map_or_else(String::new, |value| match value {
        Value::Str(text) => cell(text),
        // A number is a number to a spreadsheet, also a negative one.
        other => other.to_json(),
    });
    let evidence = if row.evidence.is_empty() {
        String::new()
    } else {
        let mut json = String::new();
        evidence_json(row.evidence, &mut json);
        cell(&json)
    };
    let tags = row.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let cells = [
        cell(row.sample),
        row.epoch.to_string(),
        cell(row.scorer),
        row.turn.map_or_else(String::new, |turn| turn.to_string()),
        row.outcome.to_owned(),
        value,
        number(row.number),
        row.pass.map_or_else(String::new, |pass| pass.to_string()),
        cell(row.reason),
        evidence,
        row.ending.unwrap_or_default().to_owned(),
        cell(&tags),
        cell(row.cluster),
    ];
    out.push_str(&cells.join(","));
    out.push_str("\r\n");
}

/// A text as a cell: nothing in it that a terminal or a spreadsheet would act on. What a spreadsheet takes for a formula
/// begins with one of a few signs; an apostrophe before it makes it text, which is what the sign then is.
fn cell(text: &str) -> String {
    let mut text = printable(text);
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%']);
    if is_formula {
        text.insert(0, '\'');
    }
    if text.contains(['"', ',', '\n', '\'', ';']) || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// The word of a verdict that is missing or does not apply, for formats with one.
pub(crate) fn missing_word(row: &Row<'_>) -> Option<&'static str> {
    let scored = Outcome::Scored.word();
    (row.outcome != scored).then_some(row.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_reads_back() {
        let cells =
            ["=1+1", "  @SUM(A1)", "-2+3", "+1", "＝1", "plain", "a,b", "say \"hi\"", "two\nlines", "\u{1b}[31m"];
        assert_eq!(
            cells.map(cell),
            [
                "\"'=1+1\"",
                "\"'  @SUM(A1)\"",
                "\"'-2+3\"",
                "\"'+1\"",
                "\"'＝1\"",
                "plain",
                "\"a,b\"",
                "\"say \"\"hi\"\"\"",
                "\"two\nlines\"",
                "\\u{1b}[31m"
            ]
        );
    }
}
