//! Failures, grouped: what fails by the same scorer in the same turn is one kind, of which one conversation is kept whole.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::program::Program;
use aigo_ir::verdict::{Evidence, Verdict};

use crate::matrix::Place;
use crate::{Kindred, Scored, TrialReport};

/// Failing verdicts of one scorer, in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The scorer's place in the program.
    pub(crate) scorer: usize,
    /// The turn of the breach; none where nothing points to one.
    pub(crate) turn: Option<u32>,
}

/// Which conversation stands for others: the one that fails most, then by key and epoch.
pub(crate) type Rank = (Reverse<usize>, Arc<str>, u32);

/// A kind's conversations.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) count: u64,
    /// The one that stands for them.
    pub(crate) first: Rank,
    /// Its reason and evidence.
    pub(crate) reason: Arc<str>,
    pub(crate) evidence: Vec<Evidence>,
    /// How they spread over the values of the matrix's fields, `persona=terse`.
    spread: BTreeMap<String, u64>,
}

impl Group {
    /// The value of a field that most of them share, with their number.
    pub(crate) fn most(&self) -> Option<(&str, u64)> {
        let most = self.spread.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        most.map(|(value, n)| (value.as_str(), *n)).filter(|(_, n)| n * 2 > self.count)
    }
}

/// All failures of a run.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    groups: BTreeMap<Kind, Group>,
    /// The conversations that stand for a kind, with the number of kinds that they stand for.
    kept: BTreeMap<Rank, (usize, TrialReport)>,
}

/// Of how many turns of a scorer the conversations are kept: the first ones.
const KEPT: usize = 8;

/// The conversation's verdict of a scorer.
pub(crate) fn whole(scores: &[Scored], scorer: usize) -> Option<&Verdict> {
    scores.iter().find(|row| row.scorer == scorer && row.turn.is_none()).map(|row| &row.verdict)
}

/// The turn that a failing verdict points to: of its evidence, else the first that fails by the same scorer.
pub(crate) fn turn_of(scores: &[Scored], scorer: usize, verdict: &Verdict) -> Option<u32> {
    let failing = || scores.iter().filter(|row| row.scorer == scorer && row.verdict.pass == Some(false));
    verdict.turn().or_else(|| failing().filter_map(|row| row.turn).min())
}

/// How many places are named.
const NAMED: usize = 4;

/// Where conversations fail: `as a whole (2), in turn 6 (3), turn 7 (1)`, what `more` says of each within the parentheses.
pub(crate) fn places<'k>(kinds: impl Iterator<Item = &'k Kindred>, more: impl Fn(&Kindred) -> String) -> String {
    let (mut named, mut rest, mut is_first) = (Vec::new(), 0_usize, true);
    for kind in kinds {
        if named.len() == NAMED {
            rest += 1;
            continue;
        }
        let place = match kind.turn {
            None => "as a whole".to_owned(),
            Some(turn) if std::mem::take(&mut is_first) => format!("in turn {turn}"),
            Some(turn) => format!("turn {turn}"),
        };
        named.push(format!("{place} ({}{})", kind.count, more(kind)));
    }
    let rest = match rest {
        0 => String::new(),
        1 => " and 1 more turn".to_owned(),
        _ => format!(" and {rest} more turns"),
    };
    named.join(", ") + &rest
}

impl Failures {
    /// Takes a trial in.
    pub(crate) fn add(&mut self, program: &Program, trial: &TrialReport, place: Option<&Place>) {
        let failing: Vec<(usize, &Verdict)> = (0..program.scorers.len())
            .filter_map(|at| Some((at, whole(&trial.scores, at)?)))
            .filter(|(_, verdict)| verdict.pass == Some(false))
            .collect();
        let rank: Rank = (Reverse(failing.len()), Arc::clone(&trial.key), trial.epoch);
        for (scorer, verdict) in failing {
            let kind = Kind { scorer, turn: turn_of(&trial.scores, scorer, verdict) };
            let group = self.groups.entry(kind).or_insert_with(|| Group {
                count: 0,
                first: rank.clone(),
                reason: "".into(),
                evidence: Vec::new(),
                spread: BTreeMap::new(),
            });
            group.count += 1;
            for (field, value) in place.iter().flat_map(|place| place.fields.iter().zip(&place.values)) {
                *group.spread.entry(format!("{field}={value}")).or_default() += 1;
            }
            if group.count > 1 && rank >= group.first {
                continue;
            }
            let is_new = group.count == 1;
            let before = std::mem::replace(&mut group.first, rank.clone());
            group.reason = Arc::clone(&verdict.reason);
            group.evidence.clone_from(&verdict.evidence);
            self.keep(kind, (!is_new).then_some(before), &rank, trial);
        }
    }

    /// Keeps the conversation that stands for a kind, in place of the one before it. Those of late turns are let go: kinds
    /// only ever come to be, so a late one is never early again, and what is kept does not depend on the order of trials.
    fn keep(&mut self, kind: Kind, before: Option<Rank>, rank: &Rank, trial: &TrialReport) {
        let own = Kind { scorer: kind.scorer, turn: None }..Kind { scorer: kind.scorer + 1, turn: None };
        let late = self.groups.range(own).nth(KEPT).map(|(late, group)| (*late, group.first.clone()));
        if late.as_ref().is_some_and(|(late, _)| *late <= kind) {
            return;
        }
        match (before, late) {
            (Some(before), _) => self.release(&before),
            // A new early kind makes another one late.
            (None, Some((_, first))) => self.release(&first),
            (None, None) => {}
        }
        self.kept.entry(rank.clone()).or_insert_with(|| (0, trial.clone())).0 += 1;
    }

    fn release(&mut self, rank: &Rank) {
        if let Some(kept) = self.kept.get_mut(rank) {
            kept.0 = kept.0.saturating_sub(1);
            if kept.0 == 0 {
                self.kept.remove(rank);
            }
        }
    }

    /// The groups, in the order of scorers and turns.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Kind, &Group)> {
        self.groups.iter()
    }

    /// A conversation that is kept whole.
    pub(crate) fn kept(&self, key: &str, epoch: u32) -> Option<&TrialReport> {
        let mut kept = self.kept.iter().filter(|(rank, _)| &*rank.1 == key && rank.2 == epoch);
        kept.next().map(|(_, (_, trial))| trial)
    }
}
