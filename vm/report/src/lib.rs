//! The report: a fold over what trials came to. Live run and replay feed the same fold, so equal trials give equal bytes,
//! whatever the order in which they ended. No time is in it.

mod gates;
mod groups;
mod json;
mod text;

pub use gates::{GateResult, GateValue};
pub use json::json;
pub use text::text;

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::gate::Gate;
use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::program::Program;
use aigo_ir::value::Map;
use aigo_ir::verdict::{Outcome, Verdict};

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

/// What stands for "no number" in a cell.
const NONE: f64 = f64::NEG_INFINITY;

/// The fold. It keeps some sixty bytes a trial, and the worst transcripts.
#[derive(Debug)]
pub struct Report {
    program: Arc<Program>,
    /// The keys of the trials, side by side.
    keys: String,
    /// Of each trial: where its key begins, how long it is, its epoch.
    trials: Vec<(u32, u32, u32)>,
    /// Of each trial: its part of the run's digest.
    leaves: Vec<Key>,
    /// Of each trial and scorer: the outcome and the number of the conversation's verdict.
    outcomes: Vec<Cell>,
    numbers: Vec<f64>,
    grouping: groups::Grouping,
    endings: BTreeMap<Ending, u64>,
    calls: BTreeMap<Arc<str>, u64>,
    failures: Vec<Failure>,
    failing: u64,
    open: u64,
    fault: Option<String>,
    /// Of the missing verdicts the first by sample: its key, and what was wrong.
    missing: Option<(Arc<str>, u32, String)>,
}

/// The outcome of a scorer in a trial, and whether it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    outcome: Option<Outcome>,
    pass: bool,
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
            grouping: groups::Grouping::new(&program),
            program,
            keys: String::new(),
            trials: Vec::new(),
            leaves: Vec::new(),
            outcomes: Vec::new(),
            numbers: Vec::new(),
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
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.trials.push((place(self.keys.len()), place(trial.key.len()), trial.epoch));
        self.keys.push_str(&trial.key);
        self.leaves.push(trial.leaf);
        self.grouping.add(&trial.row);
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
            let number = verdict.and_then(|v| v.value.as_ref()).and_then(|value| scorer.scale.number_of_reduced(value));
            let pass = verdict.is_some_and(|v| v.pass == Some(true));
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
            self.outcomes.push(Cell { outcome: verdict.map(|v| v.outcome), pass });
            self.numbers.push(number.unwrap_or(NONE));
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

    /// The trials in the order of their keys and epochs: the order of every sum.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.trials.len()).collect();
        order.sort_by(|a, b| self.key(*a).cmp(&self.key(*b)));
        order
    }

    /// A trial's sample key and epoch.
    fn key(&self, at: usize) -> (&str, u32) {
        let (start, length, epoch) = self.trials.get(at).copied().unwrap_or_default();
        (self.keys.get(start as usize..(start + length) as usize).unwrap_or_default(), epoch)
    }

    /// The trials' parts of the run's digest, by key and epoch: what the digest is of.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = (&str, u32, Key)> {
        self.order().into_iter().map(|at| {
            let (key, epoch) = self.key(at);
            (key, epoch, self.leaves.get(at).copied().unwrap_or(Key([0; 32])))
        })
    }

    /// The values that a gate is over, in its groups.
    fn groups(&self, gate: &Gate, order: &[usize], columns: &[gates::Column]) -> Vec<gates::Group> {
        let found = self.program.scorers.iter().position(|scorer| scorer.name == gate.scorer);
        let Some((at, whole)) = found.and_then(|at| Some((at, columns.get(at)?))) else { return Vec::new() };
        let Some(by) = &gate.by else { return vec![gates::Group { name: None, column: whole.clone() }] };
        let mut groups: BTreeMap<&str, (gates::Column, u64)> = BTreeMap::new();
        let width = self.program.scorers.len();
        for &trial in order {
            let Some(scorer) = self.program.scorers.get(at) else { continue };
            let name = self.grouping.name(by, trial);
            let (column, missing) = groups.entry(name).or_insert_with(|| (gates::Column::new(scorer), 0));
            let Some(cell) = self.outcomes.get(trial * width + at) else { continue };
            let number = self.numbers.get(trial * width + at).copied().filter(|x| *x != NONE);
            match (cell.outcome, number) {
                (Some(Outcome::Scored), Some(number)) => column.scored(number, cell.pass),
                (Some(Outcome::NotApplicable), _) => {}
                _ => *missing += 1,
            }
        }
        // Which group a trial that did not end would be in is not known here, so it is missing in each.
        let named = groups.into_iter().map(|(name, (mut column, missing))| {
            column.missing(missing.saturating_add(self.open));
            gates::Group { name: Some(name.to_owned()), column }
        });
        named.collect()
    }

    /// The folded run.
    pub fn finish(&self) -> Summary {
        let order = self.order();
        let width = self.program.scorers.len();
        let mut counts = vec![
            Counts {
                planned: (self.trials.len() as u64).saturating_add(self.open),
                open: self.open,
                ..Counts::default()
            };
            width
        ];
        let mut columns: Vec<gates::Column> = self.program.scorers.iter().map(gates::Column::new).collect();
        for &trial in &order {
            for (at, (count, column)) in counts.iter_mut().zip(&mut columns).enumerate() {
                let Some(cell) = self.outcomes.get(trial * width + at) else { continue };
                let number = self.numbers.get(trial * width + at).copied().filter(|x| *x != NONE);
                match cell.outcome {
                    // A verdict whose value is no number of its scale has no value: it is missing, and never counts as 0.
                    Some(Outcome::Scored) => match number {
                        Some(number) => {
                            count.scored += 1;
                            count.passed += u64::from(cell.pass);
                            column.scored(number, cell.pass);
                        }
                        None => count.void += 1,
                    },
                    Some(Outcome::NotApplicable) => count.not_applicable += 1,
                    Some(Outcome::Invalid) => count.invalid += 1,
                    Some(Outcome::Void) | None => count.void += 1,
                }
            }
        }
        for (count, column) in counts.iter().zip(&mut columns) {
            column.missing((count.invalid + count.void).saturating_add(count.open));
        }
        let gates: Vec<GateValue> =
            self.program.gates.iter().map(|gate| gates::evaluate(gate, &self.groups(gate, &order, &columns))).collect();
        let missing = counts.iter().any(|count| count.invalid + count.void > 0);
        Summary {
            exit: exit(&gates, self.open > 0 || self.trials.is_empty(), missing),
            means: columns.iter().map(gates::Column::mean).collect(),
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
