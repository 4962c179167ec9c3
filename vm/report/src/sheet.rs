//! The scores of a run side by side: what comparisons read, and what a baseline keeps. No text of a conversation is in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::node::Node;
use aigo_ir::program::Scorer;
use aigo_ir::reduce::Reducer;
use aigo_ir::value::Map;
use aigo_ir::verdict::{Outcome, Verdict};

/// The scores of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The task's name.
    pub task: String,
    /// The run's id.
    pub run: String,
    /// The hash of its dataset.
    pub dataset: String,
    /// How often each sample is run.
    pub epochs: u32,
    /// What was measured, in the program's order.
    pub measures: Vec<Measure>,
    /// What the scores depend on beside the assistant.
    pub pins: Vec<Pinned>,
    /// The trials, by key and epoch.
    pub trials: Vec<SheetTrial>,
    /// How many more there should have been.
    pub open: u64,
}

/// A scorer, as far as its numbers need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name.
    pub name: Arc<str>,
    /// The worst number.
    pub low: f64,
    /// The best number.
    pub high: f64,
    /// The least that passes.
    pub pass: f64,
    /// Whether it only says yes or no.
    pub is_boolean: bool,
    /// The roles that it asks.
    pub judges: Vec<Arc<str>>,
}

/// One thing that a score depends on: a line of a lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    /// What it is, as in a lock.
    pub kind: Arc<str>,
    /// Whose it is.
    pub name: Arc<str>,
    /// What it holds.
    pub facts: Map,
}

/// A trial.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetTrial {
    /// The sample's key.
    pub key: Arc<str>,
    /// From 1.
    pub epoch: u32,
    /// A hash of what the scenario is: its fields, its messages, what it has the user say.
    pub content: Arc<str>,
    /// Which samples it belongs together with.
    pub cluster: Arc<str>,
    /// How it ended; `open` where it did not.
    pub ending: Arc<str>,
    /// The conversation's verdict of each measure, in their order.
    pub marks: Vec<Mark>,
}

/// A verdict without its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// What became of it; none of a trial that did not end.
    pub outcome: Option<Outcome>,
    /// Its number, where it was scored.
    pub number: Option<f64>,
    /// Whether it passes.
    pub pass: bool,
}

impl Mark {
    /// What stands for a verdict of a trial that did not end.
    pub const OPEN: Self = Self { outcome: None, number: None, pass: false };

    /// Of a verdict; a value that is no number of its scale is missing.
    pub fn of(scorer: &Scorer, verdict: &Verdict) -> Self {
        let number = verdict.value.as_ref().and_then(|value| scorer.scale.number_of_reduced(value));
        let outcome =
            if verdict.outcome == Outcome::Scored && number.is_none() { Outcome::Void } else { verdict.outcome };
        Self {
            outcome: Some(outcome),
            number: number.filter(|_| outcome == Outcome::Scored),
            pass: verdict.pass == Some(true),
        }
    }

    /// Whether a value should be there and is not.
    pub fn is_missing(&self) -> bool {
        self.outcome.is_none_or(Outcome::is_missing)
    }
}

impl Measure {
    /// Of a scorer.
    pub fn of(scorer: &Scorer) -> Self {
        let (low, high) = if scorer.over.is_some_and(Reducer::is_share) { (0.0, 1.0) } else { scorer.scale.ends() };
        let nodes = scorer.graph.iter().flat_map(aigo_ir::graph::Graph::nodes);
        let mut judges: Vec<Arc<str>> = nodes
            .filter_map(|(_, placed)| match &placed.node {
                Node::Generate { role, .. } => Some(Arc::clone(role)),
                _ => None,
            })
            .collect();
        judges.sort();
        judges.dedup();
        let is_boolean = matches!(scorer.scale, aigo_ir::verdict::Scale::Boolean)
            && scorer.over.is_none_or(|over| matches!(over, Reducer::All | Reducer::Any | Reducer::Min | Reducer::Max));
        Self { name: Arc::clone(&scorer.name), low, high, pass: scorer.pass, is_boolean, judges }
    }
}

/// What one side has of a scenario: its epochs' numbers, and how many are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Side {
    pub(crate) numbers: Vec<f64>,
    pub(crate) passes: Vec<bool>,
    pub(crate) missing: u32,
    /// Epochs for which the scorer does not apply.
    pub(crate) inapplicable: u32,
}

impl Side {
    pub(crate) fn add(&mut self, mark: &Mark) {
        match (mark.outcome, mark.number) {
            (Some(Outcome::NotApplicable), _) => self.inapplicable += 1,
            (_, Some(number)) => {
                self.numbers.push(number);
                self.passes.push(mark.pass);
            }
            _ => self.missing += 1,
        }
    }

    /// The mean of its numbers, those that are missing left out or taken as `end`.
    pub(crate) fn mean(&self, end: Option<f64>) -> Option<f64> {
        mean_with(&self.numbers, self.missing, end)
    }

    /// The share that passes, likewise; a missing one passes at the best end.
    pub(crate) fn rate(&self, end: Option<bool>) -> Option<f64> {
        let shares: Vec<f64> = self.passes.iter().map(|pass| f64::from(u8::from(*pass))).collect();
        mean_with(&shares, self.missing, end.map(|end| f64::from(u8::from(end))))
    }

    /// Whether it says anything, or should.
    pub(crate) fn is_applicable(&self) -> bool {
        !self.numbers.is_empty() || self.missing > 0
    }
}

fn mean_with(numbers: &[f64], missing: u32, end: Option<f64>) -> Option<f64> {
    let (adds, count) = end.map_or((0.0, 0), |end| (end * f64::from(missing), missing));
    let n = numbers.len() as f64 + f64::from(count);
    (n > 0.0).then(|| (aigo_ir::reduce::sum(numbers) + adds) / n)
}

/// A scenario of a sheet: its key, and what it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) side: Side,
    pub(crate) content: Arc<str>,
    pub(crate) cluster: Arc<str>,
    pub(crate) epochs: Vec<u32>,
}

impl Sheet {
    /// The place of a measure.
    pub(crate) fn measure(&self, name: &str) -> Option<(usize, &Measure)> {
        self.measures.iter().enumerate().find(|(_, measure)| &*measure.name == name)
    }

    /// What it says of a measure, by scenario.
    pub(crate) fn scenarios(&self, measure: usize) -> BTreeMap<Arc<str>, Scenario> {
        let mut scenarios: BTreeMap<Arc<str>, Scenario> = BTreeMap::new();
        for trial in &self.trials {
            let scenario = scenarios.entry(Arc::clone(&trial.key)).or_default();
            scenario.side.add(trial.marks.get(measure).unwrap_or(&Mark::OPEN));
            scenario.content = Arc::clone(&trial.content);
            scenario.cluster = Arc::clone(&trial.cluster);
            scenario.epochs.push(trial.epoch);
        }
        scenarios
    }
}
