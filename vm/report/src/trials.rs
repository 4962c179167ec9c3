//! The trials that the fold has taken in, and the columns that gates are over.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::gate::Gate;
use aigo_ir::program::{Program, Scorer};
use aigo_ir::reduce::sum;
use aigo_ir::selection::Selection;
use aigo_ir::verdict::Outcome;

use crate::column::{Column, Counted, From};
use crate::gates::Group;
use crate::groups::Grouping;
use crate::packed::{Keys, Marks, Rare};
use crate::sheet::Mark;
use crate::{Counts, TrialReport};

/// What stands for the cluster that is called as its sample is.
const OWN: u32 = u32::MAX;

/// The trials of a run, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    keys: Keys,
    epochs: Rare,
    /// Of each and every scorer: the conversation's verdict.
    marks: Vec<Marks>,
    /// Of each: the number of its cluster, usually [`OWN`].
    clusters: Rare,
    /// The clusters that are called otherwise than their sample.
    cluster_numbers: BTreeMap<Arc<str>, u32>,
    /// Of each: the number of its set of tags, usually the one without any.
    tags: Rare,
    tag_sets: Vec<Vec<String>>,
    tag_numbers: BTreeMap<Vec<String>, u32>,
    /// The verdicts of turns, of the scorers that a gate over turns names: trial, scorer, verdict.
    turns: Vec<(u32, u32, Mark)>,
    of_turns: Vec<bool>,
    grouping: Grouping,
}

impl Trials {
    pub(crate) fn new(program: &Program) -> Self {
        let named = |scorer: &Scorer| program.gates.iter().any(|gate| gate.of_turns && gate.scorer == scorer.name);
        Self {
            marks: program.scorers.iter().map(|_| Marks::default()).collect(),
            epochs: Rare::new(1),
            clusters: Rare::new(OWN),
            tag_sets: vec![Vec::new()],
            tag_numbers: BTreeMap::from([(Vec::new(), 0)]),
            of_turns: program.scorers.iter().map(named).collect(),
            grouping: Grouping::new(program),
            ..Self::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.len() == 0
    }

    pub(crate) fn add(&mut self, program: &Program, trial: &TrialReport) {
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let number = self.keys.len();
        self.keys.push(&trial.key);
        self.epochs.push(number, trial.epoch);
        self.grouping.add(&trial.row);
        if trial.cluster != trial.key {
            let next = place(self.cluster_numbers.len());
            let cluster = *self.cluster_numbers.entry(Arc::clone(&trial.cluster)).or_insert(next);
            self.clusters.push(number, cluster);
        }
        let tags: Vec<String> = trial.tags.iter().map(ToString::to_string).collect();
        let next = place(self.tag_sets.len());
        let set = *self.tag_numbers.entry(tags.clone()).or_insert(next);
        if set == next {
            self.tag_sets.push(tags);
        }
        self.tags.push(number, set);
        for (at, scorer) in program.scorers.iter().enumerate() {
            let whole = trial.scores.iter().find(|row| row.scorer == at && row.turn.is_none());
            if let Some(marks) = self.marks.get_mut(at) {
                marks.push(&whole.map_or(Mark::OPEN, |row| Mark::of(scorer, &row.verdict)));
            }
            if self.of_turns.get(at) == Some(&true) {
                let of_turns = trial.scores.iter().filter(|row| row.scorer == at && row.turn.is_some());
                let mut turns: Vec<Mark> = of_turns.map(|row| Mark::of(scorer, &row.verdict)).collect();
                // A scorer whose graph failed has no values of turns, and is not without any.
                if turns.is_empty() && whole.is_none_or(|row| row.verdict.outcome.is_missing()) {
                    turns.push(Mark::OPEN);
                }
                self.turns.extend(turns.into_iter().map(|mark| (place(number), place(at), mark)));
            }
        }
    }

    /// The trials in the order of their keys and epochs: the order of every sum.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..u32::try_from(self.keys.len()).unwrap_or(u32::MAX)).collect();
        let rank = |at: u32| (self.keys.get(at as usize), self.epochs.get(at as usize), at);
        order.sort_unstable_by(|a, b| rank(*a).cmp(&rank(*b)));
        order
    }

    /// The samples' keys, by the numbers that values name them by.
    pub(crate) fn samples(&self, order: &[u32]) -> Vec<&str> {
        let mut keys: Vec<&str> = order.iter().map(|at| self.keys.get(*at as usize)).collect();
        keys.dedup();
        keys
    }

    /// What became of the values of a scorer over conversations, and the mean of those that there are.
    pub(crate) fn whole(&self, at: usize, order: &[u32], open: u64) -> (Counts, Option<f64>) {
        let planned = (self.keys.len() as u64).saturating_add(open);
        let mut counts = Counts { planned, open, ..Counts::default() };
        let marks = order.iter().filter_map(|trial| self.mark(*trial as usize, at));
        for mark in marks.clone() {
            match mark.outcome {
                Some(Outcome::Scored) => {
                    counts.scored += 1;
                    counts.passed += u64::from(mark.pass);
                }
                Some(Outcome::NotApplicable) => counts.not_applicable += 1,
                Some(Outcome::Invalid) => counts.invalid += 1,
                Some(Outcome::Void) | None => counts.void += 1,
            }
        }
        let total = sum(marks.filter_map(|mark| mark.number));
        (counts, (counts.scored > 0).then(|| total / counts.scored as f64))
    }

    /// A scorer's verdict of a conversation.
    fn mark(&self, trial: usize, scorer: usize) -> Option<Mark> {
        self.marks.get(scorer)?.get(trial)
    }

    /// The trials in order, with the numbers of their sample and cluster.
    fn sources<'t>(&'t self, order: &'t [u32]) -> impl Iterator<Item = (usize, From)> + 't {
        let mut sample = 0_u32;
        let mut last = None;
        let named = u32::try_from(self.cluster_numbers.len()).unwrap_or(u32::MAX);
        order.iter().map(move |&trial| {
            let trial = trial as usize;
            let key = self.keys.get(trial);
            if last.replace(key).is_some_and(|last| last != key) {
                sample = sample.saturating_add(1);
            }
            let cluster = match self.clusters.get(trial) {
                // Another sample's cluster may be called as this sample is.
                OWN => self.cluster_numbers.get(key).copied().unwrap_or(named.saturating_add(sample)),
                cluster => cluster,
            };
            (trial, From { sample, cluster })
        })
    }

    /// The values that a gate is over, in its groups.
    pub(crate) fn groups(&self, program: &Program, gate: &Gate, order: &[u32], open: u64) -> Vec<Group> {
        let found = program.scorers.iter().position(|scorer| scorer.name == gate.scorer);
        let Some((at, scorer)) = found.and_then(|at| Some((at, program.scorers.get(at)?))) else { return Vec::new() };
        // The compiler has read it: what it cannot read selects nothing.
        let selection = gate.tags.as_ref().map(|tags| Selection::parse(tags).ok());
        let selected: Vec<bool> = self
            .tag_sets
            .iter()
            .map(|tags| selection.as_ref().is_none_or(|one| one.as_ref().is_some_and(|one| one.matches(tags))))
            .collect();
        let new = || Column { open, ..Column::new(scorer, program.epochs) };
        let mut groups: BTreeMap<Option<&str>, Column> = BTreeMap::new();
        if gate.by.is_none() {
            groups.insert(None, new());
        }
        let turns = self.turns_of(at);
        for (trial, from) in self.sources(order) {
            if selected.get(self.tags.get(trial) as usize) != Some(&true) {
                continue;
            }
            let name = gate.by.as_ref().map(|by| self.grouping.name(by, trial));
            // Which group a trial that did not end would be in is not known here, so it is missing in each.
            let column = groups.entry(name).or_insert_with(new);
            if gate.of_turns {
                let first = turns.partition_point(|(of, _)| (*of as usize) < trial);
                let own = turns.iter().skip(first).take_while(|(of, _)| *of as usize == trial);
                own.for_each(|(_, mark)| take(column, mark, from));
            } else if let Some(mark) = self.mark(trial, at) {
                take(column, &mark, from);
            }
        }
        groups.into_iter().map(|(name, column)| Group { name: name.map(str::to_owned), column }).collect()
    }

    /// The verdicts of turns of a scorer, by trial.
    fn turns_of(&self, scorer: usize) -> Vec<(u32, Mark)> {
        let own = self.turns.iter().filter(|(_, at, _)| *at as usize == scorer);
        own.map(|(trial, _, mark)| (*trial, *mark)).collect()
    }
}

/// Takes a verdict into a column. One that does not apply is neither counted nor missed.
fn take(column: &mut Column, mark: &Mark, from: From) {
    match mark.number {
        Some(number) => column.values.push(Counted { number, pass: mark.pass, from }),
        None if mark.is_missing() => column.missing.push(from),
        None => {}
    }
}
