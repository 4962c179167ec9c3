//! Gates: read, their scorers looked up, `every_scorer` written out, and those reported whose answer is known before any run.

use std::ops::Range;
use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::expr::Comparison;
use aigo_ir::gate::{Aggregate, Gate, Selection, Written};
use aigo_ir::program::EXPECTATIONS;
use aigo_ir::reduce::Reducer;
use aigo_ir::selection;
use aigo_ir::span::{Origin, SourceMap, Spanned};
use aigo_ir::value::Value;
use aigo_ir::verdict::Scale;

use super::Checkpoint;
use crate::ast::{self, Task};
use crate::catalog;

/// The gates, the fields that they group by, and the tags that they choose samples by.
pub(super) struct Found {
    pub(super) gates: Vec<Gate>,
    pub(super) by: Vec<Spanned<Arc<str>>>,
    pub(super) tags: Vec<Spanned<String>>,
    pub(super) epochs: Vec<(u32, Diagnostic)>,
}

/// Reads the task's gates.
pub(super) fn gates(
    task: &Task,
    expects: bool,
    checkpoints: &[Checkpoint],
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Found {
    let found = Found { gates: Vec::new(), by: Vec::new(), tags: Vec::new(), epochs: Vec::new() };
    let mut reader = Reader { task, expects, checkpoints, sources, diagnostics, found };
    for written in &task.gates {
        reader.gate(written);
    }
    let mut found = reader.found;
    // Expectations are promises: unless the task says otherwise, all must hold, also of one sample alone.
    if expects
        && !found.gates.iter().any(|gate| &*gate.scorer == EXPECTATIONS)
        && let Ok(written) = Gate::parse("rate(expectations) == 1")
    {
        found.gates.push(Gate { min_n: 1, ..written.gate });
    }
    found
}

struct Reader<'r> {
    task: &'r Task,
    expects: bool,
    checkpoints: &'r [Checkpoint],
    sources: &'r SourceMap,
    diagnostics: &'r mut Diagnostics,
    found: Found,
}

impl Reader<'_> {
    fn gate(&mut self, written: &ast::Gate) {
        let read = match Gate::parse(&written.text.text) {
            Ok(read) => read,
            Err(error) => {
                let at = written.text.locate(self.sources, error.range);
                let mut diagnostic = catalog::BAD_GATE.at(at, error.message).maybe_help(error.help);
                if let Some(fix) = error.fix {
                    let title = if fix.is_empty() { "remove it".to_owned() } else { format!("write `{fix}`") };
                    diagnostic = diagnostic.fix(title, at, fix);
                }
                self.diagnostics.push(diagnostic);
                return;
            }
        };
        let gate = Gate {
            min_n: written.min_n.unwrap_or(read.gate.min_n),
            max_missing: written.max_missing.unwrap_or(read.gate.max_missing),
            decide: written.decide,
            origin: Origin::at(written.text.span),
            ..read.gate.clone()
        };
        if let Some(by) = &gate.by {
            let at = written.text.locate(self.sources, read.places.by.clone());
            self.found.by.push(Spanned::new(by.clone(), at));
        }
        for (range, tag) in gate.tags.iter().flat_map(|tags| selection::named(tags)) {
            let start = read.places.tags.start;
            let at = written.text.locate(self.sources, start + range.start..start + range.end);
            self.found.tags.push(Spanned::new(tag, at));
        }
        match &read.over {
            Selection::One => self.of_one(gate, written, &read),
            Selection::Scale(scale) => self.of_scale(&gate, scale, written, &read),
        }
    }

    fn report(
        &mut self,
        written: &ast::Gate,
        range: Range<usize>,
        make: impl FnOnce(aigo_ir::span::Span) -> Diagnostic,
    ) {
        let at = written.text.locate(self.sources, range);
        self.diagnostics.push(make(at));
    }

    fn of_one(&mut self, gate: Gate, written: &ast::Gate, read: &Written) {
        let task = self.task;
        let mut known: Vec<&str> = task.scorers.iter().map(|scorer| scorer.name.value.as_str()).collect();
        known.extend(self.checkpoints.iter().map(|checkpoint| checkpoint.name.value.as_str()));
        if self.expects {
            known.push(EXPECTATIONS);
        }
        if !known.contains(&&*gate.scorer) {
            if !task.damaged && !task.scorers_damaged {
                let message = format!("the gate is over `{}`, and no scorer is called that", gate.scorer);
                let near = diagnostic::nearest(&gate.scorer, known.iter().copied());
                let help = diagnostic::suggest(&gate.scorer, known.clone());
                self.report(written, read.places.scorer.clone(), |at| {
                    let found = catalog::UNKNOWN_SCORER.at(at, message).maybe_help(help);
                    near.map_or(found.clone(), |near| found.fix(format!("write `{near}`"), at, near))
                });
            }
            self.found.gates.push(gate);
            return;
        }
        let scorer = task.scorers.iter().find(|scorer| *scorer.name.value == *gate.scorer);
        let share = scorer.and_then(|scorer| scorer.over.as_ref()).is_some_and(|over| over.value.is_share());
        let checkpoint = self.checkpoints.iter().find(|checkpoint| *checkpoint.name.value == *gate.scorer);
        let scale = match (scorer, checkpoint) {
            (Some(scorer), _) => scorer.method.scale(),
            (None, Some(checkpoint)) => Some(&checkpoint.judge.scale),
            (None, None) => Some(&Scale::Boolean),
        };
        self.answer_is_known(&gate, scale, share, written, read);
        if gate.of_turns && scorer.is_some_and(|scorer| scorer.method.scale().is_some() && !scorer.method.has_turns()) {
            let message = format!("`turns.` addresses turns, and `{}` has one value per conversation", gate.scorer);
            self.report(written, read.places.aggregate.clone(), |at| {
                catalog::BAD_GATE.at(at, message).help("remove `turns.`, or score each turn: `per: turn`")
            });
        }
        self.found.gates.push(gate);
    }

    fn of_scale(&mut self, gate: &Gate, text: &str, written: &ast::Gate, read: &Written) {
        let Some(scale) = Scale::parse(text) else {
            let message = format!("`{text}` is no scale");
            self.report(written, read.places.scorer.clone(), |at| {
                catalog::BAD_GATE.at(at, message).help("write `boolean`, `0..1`, or a range such as `1..5`")
            });
            return;
        };
        let task = self.task;
        let of_scale = task.scorers.iter().filter(|scorer| scorer.method.scale() == Some(&scale));
        let names: Vec<Arc<str>> = of_scale.map(|scorer| scorer.name.value.as_str().into()).collect();
        if names.is_empty() {
            if task.damaged || task.scorers_damaged || task.scorers.iter().any(|s| s.method.scale().is_none()) {
                return;
            }
            let mut scales: Vec<String> = task
                .scorers
                .iter()
                .filter_map(|scorer| scorer.method.scale())
                .map(|scale| format!("`{scale}`"))
                .collect();
            scales.dedup();
            let help = format!("the scorers are on {}", scales.join(", "));
            let message = format!("the gate is over every scorer on `{text}`, and no scorer is on it");
            self.report(written, read.places.scorer.clone(), |at| catalog::NO_SUCH_SCALE.at(at, message).help(help));
            return;
        }
        self.answer_is_known(gate, Some(&scale), false, written, read);
        self.found.gates.extend(names.into_iter().map(|scorer| Gate { scorer, ..gate.clone() }));
    }

    /// Reports a gate that no run can pass, or that none can fail.
    fn answer_is_known(
        &mut self,
        gate: &Gate,
        scale: Option<&Scale>,
        share: bool,
        written: &ast::Gate,
        read: &Written,
    ) {
        let epochs = self.task.epochs.as_ref().map_or(1, |epochs| epochs.value);
        if let Aggregate::PassAt(k) | Aggregate::PassAll(k) = gate.aggregate
            && k > epochs
        {
            let message = format!(
                "`{}` is over {k} epochs, and {epochs} {} run",
                gate.aggregate.word(),
                if epochs == 1 { "is" } else { "are" }
            );
            let help = format!("write `epochs: {k}`, or a smaller number here");
            let at = written.text.locate(self.sources, read.places.number.clone());
            self.found.epochs.push((k, catalog::TOO_FEW_EPOCHS.at(at, message).help(help)));
            return;
        }
        let Some(scale) = scale else { return };
        let ends = if share { (0.0, 1.0) } else { scale.ends() };
        if let Some((comparison, number)) = gate.counted
            && let Some(all) = known(comparison, number, ends)
        {
            let what = if all { "every value" } else { "no value" };
            let message =
                format!("{what} of `{}` is {} {}: its scale is {scale}", gate.scorer, comparison.sign(), shown(number));
            let row = if all { &catalog::ALWAYS_HOLDS } else { &catalog::NEVER_HOLDS };
            let help = format!("compare with a number between {} and {}", shown(ends.0), shown(ends.1));
            self.report(written, read.places.counted.clone(), |at| row.at(at, message).help(help));
            return;
        }
        let Some((comparison, threshold)) = gate.condition else { return };
        let range = range_of(gate, ends);
        let Some(always) = known(comparison, threshold, range) else { return };
        let word = gate.aggregate.word();
        let span = match range {
            (low, high) if high.is_infinite() => format!("at least {}", shown(low)),
            (low, high) => format!("between {} and {}", shown(low), shown(high)),
        };
        let message = if always {
            format!("the gate always holds: `{word}` is {span}")
        } else {
            format!("the gate can never hold: `{word}` is {span}, and never {} {}", comparison.sign(), shown(threshold))
        };
        let row = if always { &catalog::ALWAYS_HOLDS } else { &catalog::NEVER_HOLDS };
        // A share that was written in per cent.
        let meant = (!always && gate.aggregate.is_share() && threshold > 1.0 && threshold <= 100.0)
            .then(|| shown(threshold / 100.0));
        self.report(written, read.places.threshold.clone(), |at| match meant {
            Some(meant) => {
                let help = format!("a share is 0 to 1: did you mean `{meant}`?");
                row.at(at, message).help(help).fix(format!("write `{meant}`"), at, meant)
            }
            None if always => row.at(at, message).help("compare with a number that can fail, or remove the gate"),
            None => row.at(at, message).help(format!("compare with a number that can be reached: {span}")),
        });
    }
}

fn shown(x: f64) -> String {
    let text = Value::float(x).unwrap_or_default().to_json();
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The least and the greatest that the aggregate can be.
fn range_of(gate: &Gate, ends: (f64, f64)) -> (f64, f64) {
    match gate.aggregate {
        aggregate if aggregate.is_share() => (0.0, 1.0),
        Aggregate::Count => (0.0, f64::INFINITY),
        Aggregate::Delta(Reducer::Rate) => (-1.0, 1.0),
        Aggregate::Delta(_) => (ends.0 - ends.1, ends.1 - ends.0),
        _ => ends,
    }
}

/// Whether a comparison holds of every number of a range, or of none; nothing where it depends.
fn known(comparison: Comparison, threshold: f64, (low, high): (f64, f64)) -> Option<bool> {
    let (never, always) = match comparison {
        Comparison::GreaterOrEqual => (high < threshold, low >= threshold),
        Comparison::Greater => (high <= threshold, low > threshold),
        Comparison::LessOrEqual => (low > threshold, high <= threshold),
        Comparison::Less => (low >= threshold, high < threshold),
        Comparison::Equal => (threshold < low || threshold > high, false),
        Comparison::NotEqual => (false, threshold < low || threshold > high),
    };
    if never { Some(false) } else { always.then_some(true) }
}
