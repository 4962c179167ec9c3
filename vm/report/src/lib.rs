//! The report: a fold over what trials came to. Live run and replay feed the same fold, so equal trials give equal bytes,
//! whatever the order in which they ended. No time is in it.

mod column;
pub mod conversation;
pub mod export;
mod gates;
mod groups;
pub mod inspect;
mod interval;
mod json;
mod stats;
mod text;
mod trials;
pub mod zip;

pub use gates::{GateResult, GateValue};
pub use interval::{FEW_CLUSTERS, Interval, LEAST_CLUSTERS};
pub use json::json;
pub use text::text;

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::program::Program;
use aigo_ir::value::Map;
use aigo_ir::verdict::Verdict;

/// A verdict and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The scorer's place in the program.
    pub scorer: usize,
    /// The turn; none for the conversation.
    pub turn: Option<u32>,
    /// What it says.
    pub verdict: Verdict,
}

/// What a trial came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// The sample's key.
    pub key: Arc<str>,
    /// From 1.
    pub epoch: u32,
    /// How the conversation ended.
    pub ending: Ending,
    /// What was wrong with the task, where something was.
    pub fault: Option<String>,
    /// The conversation.
    pub conversation: Arc<Conversation>,
    /// Every verdict.
    pub scores: Vec<Scored>,
    /// The answered calls, by role.
    pub calls: Vec<Arc<str>>,
    /// The sample's fields.
    pub row: Arc<Map>,
    /// Its tags.
    pub tags: Arc<[Arc<str>]>,
    /// Which samples it belongs together with: values of one cluster are not independent.
    pub cluster: Arc<str>,
    /// Its part of the run's digest.
    pub leaf: Key,
}

/// A failing trial that is shown whole.
#[derive(Clone, Debug)]
struct Failure {
    /// How many scorers fail, most first.
    fails: usize,
    trial: TrialReport,
}

/// How many failing transcripts are shown.
const SHOWN: usize = 3;

/// The fold. It keeps some eighty bytes a trial, and the worst transcripts.
#[derive(Debug)]
pub struct Report {
    program: Arc<Program>,
    trials: trials::Trials,
    endings: BTreeMap<Ending, u64>,
    calls: BTreeMap<Arc<str>, u64>,
    failures: Vec<Failure>,
    failing: u64,
    open: u64,
    fault: Option<String>,
    /// Of the missing verdicts the first by sample: its key, and what was wrong.
    missing: Option<(Arc<str>, u32, String)>,
}

/// The counts of one scorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All trials.
    pub planned: u64,
    /// With a value.
    pub scored: u64,
    /// Where the scorer does not apply.
    pub not_applicable: u64,
    /// Whose judge broke its contract.
    pub invalid: u64,
    /// Whose simulator or infrastructure failed.
    pub void: u64,
    /// That did not end.
    pub open: u64,
    /// Of the scored ones, those that pass.
    pub passed: u64,
}

/// The folded run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The program.
    pub program: Arc<Program>,
    /// The counts of each scorer, in the program's order.
    pub counts: Vec<Counts>,
    /// The mean of each scorer's numbers, where it has any.
    pub means: Vec<Option<f64>>,
    /// The gates, in the program's order.
    pub gates: Vec<GateValue>,
    /// How conversations ended.
    pub endings: Vec<(Ending, u64)>,
    /// Answered calls by role, sorted.
    pub calls: Vec<(Arc<str>, u64)>,
    /// Trials that did not end.
    pub open: u64,
    /// Failing trials in all, and the first of them.
    pub failing: u64,
    /// The worst failing trials.
    shown: Vec<TrialReport>,
    /// Why a conversation ended badly, of one such.
    pub fault: Option<String>,
    /// What was wrong with a missing verdict, of one such.
    pub missing: Option<String>,
    /// The exit code that the results ask for.
    pub exit: i32,
}

impl Report {
    /// An empty fold.
    pub fn new(program: Arc<Program>) -> Self {
        Self {
            trials: trials::Trials::new(&program),
            program,
            endings: BTreeMap::new(),
            calls: BTreeMap::new(),
            failures: Vec::new(),
            failing: 0,
            open: 0,
            fault: None,
            missing: None,
        }
    }

    /// Takes in the answers of a trial that did not end: they were made and paid, whatever came of it.
    pub fn add_calls(&mut self, role: &Arc<str>, answered: u64) {
        if answered > 0 {
            *self.calls.entry(Arc::clone(role)).or_default() += answered;
        }
    }

    /// Takes a trial in.
    pub fn add(&mut self, trial: TrialReport) {
        self.trials.add(&self.program, &trial);
        *self.endings.entry(trial.ending).or_default() += 1;
        for role in &trial.calls {
            *self.calls.entry(role.clone()).or_default() += 1;
        }
        // Of several faults the least text is kept, whichever trial ended first.
        if let Some(fault) = &trial.fault
            && self.fault.as_ref().is_none_or(|known| fault < known)
        {
            self.fault = Some(fault.clone());
        }
        let mut fails = 0;
        for (at, scorer) in self.program.scorers.iter().enumerate() {
            let verdict =
                trial.scores.iter().find(|row| row.scorer == at && row.turn.is_none()).map(|row| &row.verdict);
            fails += usize::from(verdict.is_some_and(|v| v.pass == Some(false)));
            if let Some(verdict) = verdict.filter(|v| v.outcome.is_missing() && !trial.ending.is_void()) {
                let what = format!(
                    "{}, for example {} of {}: {}",
                    verdict.outcome.word(),
                    scorer.name,
                    trial.key,
                    verdict.reason
                );
                let found = (trial.key.clone(), trial.epoch, what);
                if self.missing.as_ref().is_none_or(|known| found < *known) {
                    self.missing = Some(found);
                }
            }
        }
        if fails > 0 {
            self.failing += 1;
            self.failures.push(Failure { fails, trial });
            self.failures.sort_by(|a, b| {
                b.fails.cmp(&a.fails).then_with(|| (&a.trial.key, a.trial.epoch).cmp(&(&b.trial.key, b.trial.epoch)))
            });
            self.failures.truncate(SHOWN);
        }
    }

    /// Counts trials that did not end.
    pub const fn add_open(&mut self, count: u64) {
        self.open = self.open.saturating_add(count);
    }

    /// The trials' parts of the run's digest, by key and epoch: what the digest is of.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = (&str, u32, Key)> {
        self.trials.leaves()
    }

    /// The folded run.
    pub fn finish(&self) -> Summary {
        let order = self.trials.order();
        let mut counts = Vec::new();
        let mut means = Vec::new();
        for (at, scorer) in self.program.scorers.iter().enumerate() {
            let (count, column) = self.trials.whole(at, scorer, &order, self.open, self.program.epochs);
            counts.push(count);
            means.push(column.mean());
        }
        let gates: Vec<GateValue> = self
            .program
            .gates
            .iter()
            .map(|gate| gates::evaluate(gate, &self.trials.groups(&self.program, gate, &order, self.open)))
            .collect();
        let missing = counts.iter().any(|count| count.invalid + count.void > 0);
        Summary {
            exit: exit(&gates, self.open > 0 || self.trials.is_empty(), missing),
            means,
            program: Arc::clone(&self.program),
            counts,
            gates,
            endings: self.endings.iter().map(|(ending, n)| (*ending, *n)).collect(),
            calls: self.calls.iter().map(|(role, n)| (role.clone(), *n)).collect(),
            open: self.open,
            failing: self.failing,
            shown: self.failures.iter().map(|failure| failure.trial.clone()).collect(),
            fault: self.fault.clone(),
            missing: self.missing.as_ref().map(|(_, _, what)| what.clone()),
        }
    }
}

/// 1 where a gate is red; else 4 where something is open or undecided, or, without gates, missing; else 0.
fn exit(gates: &[GateValue], open: bool, missing: bool) -> i32 {
    if gates.iter().any(|gate| gate.result == GateResult::Red) {
        1
    } else if open || gates.iter().any(|gate| gate.result == GateResult::Undecided) || (gates.is_empty() && missing) {
        4
    } else {
        0
    }
}
