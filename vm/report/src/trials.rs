//! What the fold keeps of each trial, a few numbers side by side, and the columns that gates are over.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::gate::Gate;
use aigo_ir::key::Key;
use aigo_ir::program::{Program, Scorer};
use aigo_ir::selection::Selection;
use aigo_ir::verdict::{Outcome, Verdict};

use crate::column::{Column, Counted, From};
use crate::gates::Group;
use crate::groups::Grouping;
use crate::{Counts, TrialReport};

/// What stands for the cluster that is called as its sample is.
const OWN: u32 = u32::MAX;

/// What stands for "no number" in a cell.
const NONE: f64 = f64::NEG_INFINITY;

/// A verdict, as gates see it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    outcome: Option<Outcome>,
    pass: bool,
    number: f64,
}

/// The trials of a run, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// The keys, side by side.
    keys: String,
    /// Of each: where its key begins, how long it is, its epoch.
    places: Vec<(u32, u32, u32)>,
    /// Of each: its part of the run's digest.
    leaves: Vec<Key>,
    /// Of each and every scorer: the conversation's verdict.
    cells: Vec<Cell>,
    width: usize,
    /// Of each: the number of its cluster, or [`OWN`], and of its set of tags.
    clusters: Vec<u32>,
    /// The clusters that are called otherwise than their sample. Most runs have none, and then nothing is kept of them.
    cluster_numbers: BTreeMap<Arc<str>, u32>,
    tags: Vec<u32>,
    tag_sets: Vec<Vec<String>>,
    tag_numbers: BTreeMap<Vec<String>, u32>,
    /// The verdicts of turns, of the scorers that a gate over turns names: trial, scorer, verdict.
    turns: Vec<(u32, u32, Cell)>,
    of_turns: Vec<bool>,
    grouping: Grouping,
}

impl Cell {
    fn of(scorer: &Scorer, verdict: Option<&Verdict>) -> Self {
        let number = verdict.and_then(|v| v.value.as_ref()).and_then(|value| scorer.scale.number_of_reduced(value));
        let pass = verdict.is_some_and(|v| v.pass == Some(true));
        Self { outcome: verdict.map(|v| v.outcome), pass, number: number.unwrap_or(NONE) }
    }
}

impl Trials {
    pub(crate) fn new(program: &Program) -> Self {
        let named = |scorer: &Scorer| program.gates.iter().any(|gate| gate.of_turns && gate.scorer == scorer.name);
        Self {
            width: program.scorers.len(),
            of_turns: program.scorers.iter().map(named).collect(),
            grouping: Grouping::new(program),
            ..Self::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn add(&mut self, program: &Program, trial: &TrialReport) {
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let number = place(self.places.len());
        self.places.push((place(self.keys.len()), place(trial.key.len()), trial.epoch));
        self.keys.push_str(&trial.key);
        self.leaves.push(trial.leaf);
        self.grouping.add(&trial.row);
        let next = place(self.cluster_numbers.len());
        self.clusters.push(if trial.cluster == trial.key {
            OWN
        } else {
            *self.cluster_numbers.entry(Arc::clone(&trial.cluster)).or_insert(next)
        });
        let tags: Vec<String> = trial.tags.iter().map(ToString::to_string).collect();
        let next = place(self.tag_sets.len());
        let set = *self.tag_numbers.entry(tags.clone()).or_insert(next);
        if set == next {
            self.tag_sets.push(tags);
        }
        self.tags.push(set);
        for (at, scorer) in program.scorers.iter().enumerate() {
            let whole = trial.scores.iter().find(|row| row.scorer == at && row.turn.is_none());
            self.cells.push(Cell::of(scorer, whole.map(|row| &row.verdict)));
            if self.of_turns.get(at) == Some(&true) {
                let of_turns = trial.scores.iter().filter(|row| row.scorer == at && row.turn.is_some());
                let mut turns: Vec<Cell> = of_turns.map(|row| Cell::of(scorer, Some(&row.verdict))).collect();
                // A scorer whose graph failed has no values of turns, and is not without any.
                let is_missing = whole.is_none_or(|row| row.verdict.outcome.is_missing());
                if turns.is_empty() && is_missing {
                    turns.push(Cell { outcome: None, pass: false, number: NONE });
                }
                self.turns.extend(turns.into_iter().map(|cell| (number, place(at), cell)));
            }
        }
    }

    /// The trials in the order of their keys and epochs: the order of every sum.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..u32::try_from(self.places.len()).unwrap_or(u32::MAX)).collect();
        order.sort_unstable_by(|a, b| self.key(*a as usize).cmp(&self.key(*b as usize)).then(a.cmp(b)));
        order
    }

    /// The samples' keys, by the numbers that values name them by.
    pub(crate) fn samples(&self, order: &[u32]) -> Vec<&str> {
        let mut keys: Vec<&str> = order.iter().map(|at| self.key(*at as usize).0).collect();
        keys.dedup();
        keys
    }

    /// A trial's sample key and epoch.
    fn key(&self, at: usize) -> (&str, u32) {
        let (start, length, epoch) = self.places.get(at).copied().unwrap_or_default();
        (self.keys.get(start as usize..(start + length) as usize).unwrap_or_default(), epoch)
    }

    /// The trials' parts of the run's digest, by key and epoch.
    pub(crate) fn leaves(&self) -> impl ExactSizeIterator<Item = (&str, u32, Key)> {
        self.order().into_iter().map(|at| {
            let at = at as usize;
            let (key, epoch) = self.key(at);
            (key, epoch, self.leaves.get(at).copied().unwrap_or(Key([0; 32])))
        })
    }

    /// All values of a scorer over conversations, and what became of them.
    pub(crate) fn whole(&self, at: usize, scorer: &Scorer, order: &[u32], open: u64, epochs: u32) -> (Counts, Column) {
        let planned = (self.places.len() as u64).saturating_add(open);
        let mut counts = Counts { planned, open, ..Counts::default() };
        let mut column = Column { open, ..Column::new(scorer, epochs) };
        column.values.reserve_exact(order.len());
        for (trial, from) in self.sources(order) {
            let Some(cell) = self.cells.get(trial * self.width + at) else { continue };
            match (cell.outcome, cell.number != NONE) {
                (Some(Outcome::Scored), true) => {
                    counts.scored += 1;
                    counts.passed += u64::from(cell.pass);
                }
                (Some(Outcome::NotApplicable), _) => counts.not_applicable += 1,
                (Some(Outcome::Invalid), _) => counts.invalid += 1,
                // A verdict whose value is no number of its scale has no value: it is missing, and never counts as 0.
                (Some(Outcome::Scored | Outcome::Void) | None, _) => counts.void += 1,
            }
            take(&mut column, *cell, from);
        }
        (counts, column)
    }

    /// The trials in order, with the numbers of their sample and cluster.
    fn sources<'t>(&'t self, order: &'t [u32]) -> impl Iterator<Item = (usize, From)> + 't {
        let mut sample = 0_u32;
        let mut last = None;
        let named = u32::try_from(self.cluster_numbers.len()).unwrap_or(u32::MAX);
        order.iter().map(move |&trial| {
            let trial = trial as usize;
            let key = self.key(trial).0;
            if last.replace(key).is_some_and(|last| last != key) {
                sample = sample.saturating_add(1);
            }
            let cluster = match self.clusters.get(trial).copied().unwrap_or(OWN) {
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
            let set = self.tags.get(trial).map_or(0, |set| *set as usize);
            if selected.get(set) != Some(&true) {
                continue;
            }
            let name = gate.by.as_ref().map(|by| self.grouping.name(by, trial));
            // Which group a trial that did not end would be in is not known here, so it is missing in each.
            let column = groups.entry(name).or_insert_with(new);
            if gate.of_turns {
                let first = turns.partition_point(|(of, _)| (*of as usize) < trial);
                let own = turns.iter().skip(first).take_while(|(of, _)| *of as usize == trial);
                own.for_each(|(_, cell)| take(column, *cell, from));
            } else if let Some(cell) = self.cells.get(trial * self.width + at) {
                take(column, *cell, from);
            }
        }
        groups.into_iter().map(|(name, column)| Group { name: name.map(str::to_owned), column }).collect()
    }

    /// The verdicts of turns of a scorer, by trial.
    fn turns_of(&self, scorer: usize) -> Vec<(u32, Cell)> {
        let own = self.turns.iter().filter(|(_, at, _)| *at as usize == scorer);
        own.map(|(trial, _, cell)| (*trial, *cell)).collect()
    }
}

/// Takes a verdict into a column. One that does not apply is neither counted nor missed.
fn take(column: &mut Column, cell: Cell, from: From) {
    match cell.outcome {
        Some(Outcome::NotApplicable) => {}
        Some(Outcome::Scored) if cell.number != NONE => {
            column.values.push(Counted { number: cell.number, pass: cell.pass, from });
        }
        _ => column.missing.push(from),
    }
}
