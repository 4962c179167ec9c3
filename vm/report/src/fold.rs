//! The fold over trials.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::node::Ending;
use aigo_ir::program::Program;
use aigo_ir::text::excerpt;

use crate::bought::{Answered, Bought};
use crate::failures::{self, Failures};
use crate::gates::{self, GateResult, GateValue};
use crate::matrix::{self, Matrix};
use crate::trials::Trials;
use crate::{Counts, Kindred, Sheet, Summary, TrialReport};

/// How many failing transcripts are shown.
const SHOWN: usize = 3;

/// The fold. It keeps its key and some six bytes of a trial, and of each kind of failure the worst transcript.
#[derive(Debug)]
pub struct Report {
    program: Arc<Program>,
    /// Whether each scorer is named by a gate; all are where there are no gates.
    gated: Vec<bool>,
    trials: Trials,
    /// What gates hold it against.
    baseline: Option<Arc<Sheet>>,
    endings: BTreeMap<Ending, u64>,
    /// Application failures, by what was wrong.
    failed: BTreeMap<(Ending, String), u64>,
    calls: BTreeMap<Arc<str>, Bought>,
    failures: Failures,
    matrix: Matrix,
    failing: u64,
    open: u64,
    fault: Option<String>,
    /// Of the missing verdicts the first by sample: its key, and what was wrong.
    missing: Option<(Arc<str>, u32, String)>,
}

impl Report {
    /// An empty fold.
    pub fn new(program: Arc<Program>) -> Self {
        let named = |name: &str| program.gates.is_empty() || program.gates.iter().any(|gate| &*gate.scorer == name);
        Self {
            trials: Trials::new(&program),
            baseline: None,
            gated: program.scorers.iter().map(|scorer| named(&scorer.name)).collect(),
            program,
            endings: BTreeMap::new(),
            failed: BTreeMap::new(),
            calls: BTreeMap::new(),
            failures: Failures::default(),
            matrix: Matrix::default(),
            failing: 0,
            open: 0,
            fault: None,
            missing: None,
        }
    }

    /// The same, whose gates are held against a baseline.
    #[must_use]
    pub fn against(self, baseline: Option<Arc<Sheet>>) -> Self {
        Self { baseline, ..self }
    }

    /// Takes in an answer of a trial that did not end: it was made and paid, whatever came of it.
    pub fn add_call(&mut self, answered: &Answered) {
        self.calls.entry(Arc::clone(&answered.role)).or_default().add(&self.program, answered);
    }

    /// Takes a trial in.
    pub fn add(&mut self, trial: &TrialReport) {
        self.trials.add(&self.program, trial);
        *self.endings.entry(trial.ending).or_default() += 1;
        if matches!(trial.ending, Ending::ApplicationFailure | Ending::Filtered) {
            *self.failed.entry((trial.ending, trial.fault.clone().unwrap_or_default())).or_default() += 1;
        }
        for answered in &trial.calls {
            self.add_call(answered);
        }
        // Of several faults the least text is kept, whichever trial ended first.
        if let Some(fault) = &trial.fault
            && self.fault.as_ref().is_none_or(|known| fault < known)
        {
            self.fault = Some(fault.clone());
        }
        let mut fails = false;
        for at in 0..self.program.scorers.len() {
            let Some(verdict) = failures::whole(&trial.scores, at) else { continue };
            fails |= verdict.pass == Some(false) && self.gated.get(at) == Some(&true);
            if verdict.outcome.is_missing() && !trial.ending.is_void() {
                let name = self.program.scorers.get(at).map_or("", |scorer| &scorer.name);
                let what = format!("{name} of {} is {}: {}", trial.key, verdict.outcome.word(), verdict.reason);
                let found = (trial.key.clone(), trial.epoch, what);
                if self.missing.as_ref().is_none_or(|known| found < *known) {
                    self.missing = Some(found);
                }
            }
        }
        self.failing += u64::from(fails);
        let place = matrix::place(&trial.key, &trial.row);
        if let Some(place) = &place {
            self.matrix.add(place, fails);
        }
        self.failures.add(&self.program, trial, place.as_ref());
    }

    /// Counts trials that did not end.
    pub const fn add_open(&mut self, count: u64) {
        self.open = self.open.saturating_add(count);
    }

    /// The folded run.
    pub fn finish(&self) -> Summary {
        let order = self.trials.order();
        let whole = |at| self.trials.whole(at, &order, self.open);
        let (counts, means): (Vec<Counts>, Vec<Option<f64>>) = (0..self.program.scorers.len()).map(whole).unzip();
        let keys = self.baseline.as_ref().map(|_| self.trials.samples(&order)).unwrap_or_default();
        let baseline = self.baseline.as_deref().map(|sheet| (sheet, keys.as_slice()));
        let gates: Vec<GateValue> = self
            .program
            .gates
            .iter()
            .map(|gate| gates::evaluate(gate, &self.trials.groups(&self.program, gate, &order, self.open), baseline))
            .collect();
        let missing = counts.iter().any(|count| count.invalid + count.void > 0);
        let unreachable = self.unreachable();
        let gates: Vec<GateValue> = gates.into_iter().map(|gate| without(gate, unreachable.as_deref())).collect();
        let kinds = self.kinds(&gates);
        Summary {
            exit: exit(&gates, self.open > 0 || self.trials.is_empty(), missing, unreachable.is_some()),
            means,
            program: Arc::clone(&self.program),
            counts,
            gates,
            endings: self.endings.iter().map(|(ending, n)| (*ending, *n)).collect(),
            calls: self.calls.iter().map(|(role, bought)| (role.clone(), bought.clone())).collect(),
            open: self.open,
            failing: self.failing,
            shown: self.shown(&kinds),
            kinds,
            tables: self.matrix.tables(),
            unreachable,
            fault: self.fault.clone(),
            missing: self.missing.as_ref().map(|(_, _, what)| what.clone()),
        }
    }

    /// The application failure in which more than half of the trials that ended did: then the application is not there, and
    /// nothing is said of how good it is.
    fn unreachable(&self) -> Option<String> {
        let ended: u64 = self.endings.values().sum();
        let same = self.failed.iter().find(|(_, n)| **n * 2 > ended);
        same.map(|((ending, fault), n)| {
            let why = if fault.is_empty() { "it answered nothing" } else { fault };
            format!("{n} of {ended} conversations ended as {}: {why}", ending.word().replace('_', " "))
        })
    }

    /// The kinds of failure: those of scorers behind red gates first, then behind undecided ones, behind others, and of
    /// scorers without a gate; among these the frequent ones.
    fn kinds(&self, gates: &[GateValue]) -> Vec<Kindred> {
        let class = |scorer: usize| {
            let name = self.program.scorers.get(scorer).map(|scorer| &scorer.name);
            let own = self.program.gates.iter().zip(gates).filter(|(gate, _)| Some(&gate.scorer) == name);
            own.map(|(_, value)| value.result.rank()).min().unwrap_or(u8::MAX)
        };
        let classes: Vec<u8> = (0..self.program.scorers.len()).map(class).collect();
        let mut kinds: Vec<Kindred> = self
            .failures
            .groups()
            .map(|(kind, group)| Kindred {
                scorer: kind.scorer,
                turn: kind.turn,
                count: group.count,
                most: group.most().map(|(value, n)| (value.to_owned(), n)),
                key: Arc::clone(&group.first.1),
                epoch: group.first.2,
                reason: Arc::clone(&group.reason),
                evidence: group.evidence.clone(),
            })
            .collect();
        kinds.sort_by_key(|kind| (classes.get(kind.scorer).copied(), std::cmp::Reverse(kind.count)));
        kinds
    }

    /// The conversations that stand for the first kinds, each once.
    fn shown(&self, kinds: &[Kindred]) -> Vec<TrialReport> {
        let mut shown: Vec<TrialReport> = Vec::new();
        for kind in kinds {
            if shown.len() == SHOWN {
                break;
            }
            // It may fail by another scorer as well, and be shown already.
            if !shown.iter().any(|trial| kind.stands(trial)) {
                shown.extend(self.failures.kept(&kind.key, kind.epoch).cloned());
            }
        }
        shown
    }
}

/// How much is told of an application that is not there.
const LONG: usize = 200;

/// A gate that is red because the application is not there says nothing of how good it is.
fn without(gate: GateValue, unreachable: Option<&str>) -> GateValue {
    match unreachable {
        Some(what) if gate.result == GateResult::Red => {
            let note = format!("the application is of no use: {}", excerpt(what, LONG));
            GateValue { result: GateResult::Undecided, note, ..gate }
        }
        _ => gate,
    }
}

/// 4 where the application is not there; 1 where a gate is red; else 4 where something is open or undecided, or, without
/// gates, missing; else 0.
fn exit(gates: &[GateValue], open: bool, missing: bool, unreachable: bool) -> i32 {
    let any = |result: GateResult| gates.iter().any(|gate| gate.result == result);
    if unreachable {
        4
    } else if any(GateResult::Red) {
        1
    } else if open || any(GateResult::Undecided) || (gates.is_empty() && missing) {
        4
    } else {
        0
    }
}
