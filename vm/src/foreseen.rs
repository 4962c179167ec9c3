//! What a run that uses answers again will ask for, before it asks: how many answers are there, what has to be bought, why, and
//! at most for how much.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::bounds::{self, Bounds, Count, Samples};
use aigo_ir::program::Program;
use aigo_machine::{Ask, Linked, Sample};

use crate::against::{Retraced, compared, retrace};
use crate::difference::Difference;
use crate::error::RunError;
use crate::preview::{Miss, Preview, preview};
use crate::recorded::recorded_trial;
use crate::replay;
use crate::reuse::{Bar, Parent, Reusable};

/// Why calls have to be made: the call, and what is other than it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The graph.
    pub graph: Arc<str>,
    /// The node.
    pub node: Arc<str>,
    /// The role that is asked.
    pub role: Arc<str>,
    /// What is other, or why a recorded answer is not used.
    pub why: String,
}

/// The calls of one reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoned {
    /// How many.
    pub calls: u64,
    /// Of one of them, what was recorded and what is asked.
    pub example: Option<Difference>,
}

/// Counts by role.
pub type ByRole = BTreeMap<Arc<str>, u64>;

/// The sum over all trials.
pub struct Foreseen {
    linked: Arc<Linked>,
    /// The program of the earlier run, with which its calls can be looked at; none where this build cannot read it.
    own: Option<Arc<Linked>>,
    /// Answers that are used again, by role.
    pub reused: ByRole,
    /// The calls that are sure to be made, by role.
    pub least: ByRole,
    /// Why.
    pub reasons: BTreeMap<Reason, Reasoned>,
    /// Trials whose conversations have to go on, and the answers that they use again, by role.
    unsolved: (Samples, ByRole),
    /// Trials that are solved and have scores to come, and of each scorer: how many they are, and the answers that they use
    /// again, by role.
    unscored: (Samples, BTreeMap<Arc<str>, (u64, ByRole)>),
    /// Conversations that cannot go on, since they stay as they were recorded.
    pub stuck: u64,
}

impl Foreseen {
    /// Of no trials yet.
    pub fn new(linked: &Arc<Linked>, parent: &Parent) -> Self {
        let none = || Samples::of(&linked.program);
        Self {
            linked: Arc::clone(linked),
            own: replay::linked(parent.log()).ok(),
            reused: BTreeMap::new(),
            least: BTreeMap::new(),
            reasons: BTreeMap::new(),
            unsolved: (none(), BTreeMap::new()),
            unscored: (none(), BTreeMap::new()),
            stuck: 0,
        }
    }

    /// Looks ahead in one trial.
    pub fn add(&mut self, parent: &Parent, sample: &Arc<Sample>, reusable: &Reusable) -> Result<(), RunError> {
        let ahead = preview(&self.linked, sample, reusable);
        for ((_, role), n) in &ahead.reused {
            *self.reused.entry(Arc::clone(role)).or_default() += n;
        }
        if ahead.misses.is_empty() {
            return Ok(());
        }
        if ahead.misses.iter().any(|miss| reusable.keeps(&miss.ask)) {
            self.stuck += 1;
            return Ok(());
        }
        for miss in &ahead.misses {
            *self.least.entry(Arc::clone(&miss.ask.request.role)).or_default() += 1;
        }
        self.explain(parent, sample, &ahead.misses)?;
        self.bound(sample, &ahead);
        Ok(())
    }

    /// Counts a trial for what it can come to at most.
    fn bound(&mut self, sample: &Sample, ahead: &Preview) {
        let (samples, graphs) =
            if ahead.is_solved { (&mut self.unscored.0, true) } else { (&mut self.unsolved.0, false) };
        samples.add(&sample.graph, &sample.row, &sample.conversation);
        if !graphs {
            for ((_, role), n) in &ahead.reused {
                *self.unsolved.1.entry(Arc::clone(role)).or_default() += n;
            }
            return;
        }
        let missed: BTreeSet<&Arc<str>> = ahead.misses.iter().map(|miss| &miss.ask.position.graph).collect();
        for graph in missed {
            let (trials, reused) = self.unscored.1.entry(Arc::clone(graph)).or_default();
            *trials += 1;
            for ((_, role), n) in ahead.reused.iter().filter(|((of, _), _)| of == graph) {
                *reused.entry(Arc::clone(role)).or_default() += n;
            }
        }
    }

    fn explain(&mut self, parent: &Parent, sample: &Arc<Sample>, misses: &[Miss]) -> Result<(), RunError> {
        let is_new = !parent.has(&sample.key, sample.epoch);
        let needs_past = !is_new && misses.iter().any(|miss| miss.bar == Bar::Unknown);
        let mut past: Vec<Retraced> = Vec::new();
        if let Some(own) = self.own.as_ref().filter(|_| needs_past) {
            for logged in parent.recorded(&sample.key, sample.epoch)? {
                let (then, recorded) = recorded_trial(&logged);
                past.push(retrace(own, &then, &recorded));
            }
        }
        for miss in misses {
            let (why, example) = match miss.bar {
                Bar::Unknown if is_new => ("the run has nothing of this sample and epoch".to_owned(), None),
                Bar::Unknown => self.unknown(&past, &miss.ask),
                Bar::Floating => ("the model's name stands for several versions: `--reuse-floating`".to_owned(), None),
                Bar::Unversioned => ("the application declares no `version`".to_owned(), None),
                Bar::Session => ("the application remembers its conversation, which has changed".to_owned(), None),
                Bar::Around => ("calls around a sample are made by every run".to_owned(), None),
                Bar::Fault => ("what was recorded is a fault that may not come again".to_owned(), None),
            };
            let (position, role) = (&miss.ask.position, &miss.ask.request.role);
            let reason = Reason {
                graph: Arc::clone(&position.graph),
                node: Arc::clone(&position.node),
                role: Arc::clone(role),
                why,
            };
            let reasoned = self.reasons.entry(reason).or_default();
            reasoned.calls += 1;
            reasoned.example = reasoned.example.take().or(example);
        }
        Ok(())
    }

    /// What an unknown call has instead of what was recorded at its place.
    fn unknown(&self, past: &[Retraced], ask: &Ask) -> (String, Option<Difference>) {
        let Some(own) = &self.own else {
            return ("the program of that run cannot be read, so what differs is not known".to_owned(), None);
        };
        let Some(then) = past.iter().rev().find_map(|past| past.asks.get(&ask.position)) else {
            return ("nothing was asked at this place".to_owned(), None);
        };
        let differences = compared(own, then, &self.linked, ask);
        match differences.into_iter().next() {
            Some(first) => (format!("{} differs", first.field), Some(first)),
            None => ("it was asked, and has no answer".to_owned(), None),
        }
    }

    /// The calls that can be made at most, by role, in the program's order; none where there is no bound.
    pub fn most(&self) -> Vec<(Arc<str>, Count)> {
        let (unsolved, unscored) = self.bounds();
        let roles = self.linked.program.roles.iter().map(|role| {
            let name = &role.name;
            let of = |bounds: &Bounds| bounds.roles.iter().find(|of| of.name == *name).map(|of| of.calls.in_all);
            let less = |most: Count, reused: Option<&u64>| most.map(|n| n.saturating_sub(*reused.unwrap_or(&0)));
            let mut sum = less(of(&unsolved).unwrap_or(Some(0)), self.unsolved.1.get(name));
            for (graph, (trials, reused)) in &self.unscored.1 {
                let scorer = graph.strip_prefix("score/").unwrap_or(graph);
                let of_graph = unscored.graphs.iter().find(|of| of.scores && *of.name == *scorer);
                let each = of_graph.and_then(|of| of.calls.iter().find(|(role, _)| role == name));
                let all = each.map_or(Some(0), |(_, n)| n.map(|n| n.saturating_mul(*trials)));
                sum = sum.zip(less(all, reused.get(name))).map(|(a, b)| a.saturating_add(b));
            }
            (Arc::clone(name), sum)
        });
        roles.filter(|(_, most)| *most != Some(0)).collect()
    }

    /// What is bought can cost at most so much, in USD, under the assumptions of [`bounds`]; none where no model that may be
    /// asked has a price, or there is no bound.
    pub fn most_usd(&self) -> Option<f64> {
        let (unsolved, unscored) = self.bounds();
        let asked: BTreeSet<Arc<str>> = self.most().into_iter().map(|(role, _)| role).collect();
        let of = |bounds: &Bounds| -> Vec<Option<f64>> {
            let priced = bounds.roles.iter().filter(|of| of.price.is_some() && asked.contains(&of.name));
            priced.map(|of| of.cost_usd).collect()
        };
        let costs: Vec<Option<f64>> = of(&unsolved).into_iter().chain(of(&unscored)).collect();
        (!costs.is_empty()).then(|| costs.into_iter().sum::<Option<f64>>()).flatten()
    }

    /// Of the trials that go on, and of those whose scores are to come, with the scorers that ask anew alone.
    fn bounds(&self) -> (Bounds, Bounds) {
        let once = |program: &Program| Program { epochs: 1, ..program.clone() };
        let mut scored = once(&self.linked.program);
        scored.scorers.retain(|scorer| self.unscored.1.contains_key(&*format!("score/{}", scorer.name)));
        let unsolved = bounds::bound(&once(&self.linked.program), &self.unsolved.0);
        (unsolved, bounds::bound(&scored, &self.unscored.0))
    }
}
