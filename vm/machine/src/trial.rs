//! A trial: one sample in one epoch. It runs the solve graph, then all score graphs side by side, and joins the lanes of
//! maps in item order. It is pure, and whoever calls it decides in which order answers arrive; that order cannot be seen.

mod around;
mod scored;
mod shared;
mod voids;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::graph::NodeId;
use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::{Ending, Port};
use aigo_ir::program::Scorer;
use aigo_ir::verdict::{self, Verdict};

use crate::ask::{Answer, Ask, Position};
use crate::lane::{Effect, Event, Given, GraphRef, Lane, Mark, Marks};
use crate::linked::Linked;
use crate::outcome::{Call, Outcome, ScoreRow};
use crate::scope::Sample;
use crate::step::step;
use crate::world::World;
use around::{Around, When};
use scored::whole;

/// A node that a lane came to, and the way that it took from there; none where it ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// The graph.
    pub graph: GraphRef,
    /// The node.
    pub node: NodeId,
    /// The way out.
    pub port: Option<Port>,
}

/// A lane of a trial.
pub type LaneId = u64;

/// A lane that waits for an answer.
pub struct Pending {
    /// The lane to give the answer to.
    pub lane: LaneId,
    /// What it asks.
    pub ask: Ask,
}

/// Where the result of a map's item goes.
#[derive(Clone, Copy)]
struct Parent {
    lane: LaneId,
    item: usize,
}

/// An item that has failed; why is kept once for the graph.
#[derive(Clone, Copy, Debug)]
struct Failed;

/// A lane at rest.
struct Resting {
    lane: Lane,
    parent: Option<Parent>,
    /// Of a lane that waits for a map: the results so far.
    results: Vec<Option<Result<Given, Failed>>>,
    /// Of a lane that waits for an answer: what it asked.
    asked: Option<Asked>,
}

/// What is kept of an ask until its answer comes.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) position: Position,
    pub(crate) role: Arc<str>,
    pub(crate) content: Key,
}

/// A lane that can be stepped.
type Ready = (LaneId, Lane, Option<Parent>, Event);

/// One sample in one epoch, between events.
pub struct Trial {
    linked: Arc<Linked>,
    sample: Arc<Sample>,
    lanes: BTreeMap<LaneId, Resting>,
    next_lane: LaneId,
    ending: Option<Ending>,
    fault: Option<String>,
    conversation: Arc<Conversation>,
    world: World,
    scores: Vec<ScoreRow>,
    calls: Vec<Call>,
    failed_scorers: BTreeMap<usize, String>,
    /// Of scorers that void others where they fail: which.
    voids: BTreeMap<usize, Vec<Arc<str>>>,
    /// Extractions that are on their way, with the lanes that wait for another lane's.
    shared: BTreeMap<Key, Vec<LaneId>>,
    /// An item of a map of the solve graph has failed, and others may still be on their way.
    failed_solve: Option<String>,
    unreached: usize,
    traces: bool,
    taken: BTreeSet<Taken>,
    /// A call before or after the sample that waits for its answer.
    around: Option<Around>,
    /// Of each step at which a scorer looks: the conversation and the world when it was through last.
    marks: Marks,
}

impl Trial {
    /// Begins. What it asks first comes with it.
    pub fn start(linked: Arc<Linked>, sample: Arc<Sample>) -> (Self, Vec<Pending>) {
        Self::begun(linked, sample, false)
    }

    /// Begins a trial that is given up: it asks what takes down again what its `setup` has made, as far as answers of it are
    /// known, and comes to no outcome.
    pub fn left(
        linked: Arc<Linked>,
        sample: Arc<Sample>,
        known: impl Fn(&Ask) -> Option<Answer>,
    ) -> (Self, Vec<Pending>) {
        let (mut trial, mut asks) = Self::start(linked, sample);
        // As far as it has come, so that what takes it down reads what it would have read.
        let next = |asks: &[Pending]| asks.iter().enumerate().find_map(|(at, asked)| Some((at, known(&asked.ask)?)));
        while let Some((at, answer)) = next(&asks) {
            let lane = asks.swap_remove(at).lane;
            asks.extend(trial.answer(lane, answer));
        }
        // A conversation that is over is being taken down already.
        if trial.ending.is_some() {
            asks.retain(|pending| trial.around.as_ref().is_some_and(|around| around.lane == pending.lane));
            return (trial, asks);
        }
        trial.conversation = trial.so_far();
        trial.lanes.clear();
        trial.around = None;
        asks.clear();
        trial.around(When::After, 0, &mut asks);
        (trial, asks)
    }

    /// Begins a trial that remembers which edges its lanes take.
    pub fn traced(linked: Arc<Linked>, sample: Arc<Sample>) -> (Self, Vec<Pending>) {
        Self::begun(linked, sample, true)
    }

    fn begun(linked: Arc<Linked>, sample: Arc<Sample>, traces: bool) -> (Self, Vec<Pending>) {
        let conversation = Arc::clone(&sample.conversation);
        let world = World::of(&linked.program, &sample);
        let mut trial = Self {
            linked,
            sample,
            lanes: BTreeMap::new(),
            next_lane: 0,
            ending: None,
            fault: None,
            conversation,
            world,
            scores: Vec::new(),
            calls: Vec::new(),
            failed_scorers: BTreeMap::new(),
            voids: BTreeMap::new(),
            shared: BTreeMap::new(),
            failed_solve: None,
            unreached: 0,
            traces,
            taken: BTreeSet::new(),
            around: None,
            marks: Marks::default(),
        };
        let mut asks = Vec::new();
        trial.around(When::Before, 0, &mut asks);
        (trial, asks)
    }

    /// Gives an answer to a lane. An answer to a lane that does not wait for one changes nothing.
    pub fn answer(&mut self, lane: LaneId, answer: Answer) -> Vec<Pending> {
        let mut asks = Vec::new();
        if let Some(around) = self.around.take_if(|around| around.lane == lane) {
            self.calls.push(Call::new(around.asked.clone(), &answer));
            self.around_answered(&around, &answer, &mut asks);
        } else if let Some(mut resting) = self.lanes.remove(&lane) {
            match resting.asked.take() {
                Some(asked) => {
                    let others = self.shared.remove(&asked.content).unwrap_or_default();
                    let told = others.iter().map(|_| answer.clone()).collect::<Vec<Answer>>();
                    self.calls.push(Call::new(asked, &answer));
                    self.advance(lane, resting.lane, resting.parent, Event::Answered(answer), &mut asks);
                    for (other, answer) in others.into_iter().zip(told) {
                        self.tell(other, answer, &mut asks);
                    }
                }
                None => {
                    self.lanes.insert(lane, resting);
                }
            }
        }
        asks
    }

    /// The sample.
    pub const fn sample(&self) -> &Arc<Sample> {
        &self.sample
    }

    /// How the conversation ended; none while it goes on.
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The edges that its lanes took so far, by graph; none unless the trial was begun by [`Trial::traced`].
    pub const fn taken(&self) -> &BTreeSet<Taken> {
        &self.taken
    }

    /// The verdicts so far, in the order in which they were given.
    pub fn scored(&self) -> &[ScoreRow] {
        &self.scores
    }

    /// The conversation: at its end, or as far as it has come.
    pub fn so_far(&self) -> Arc<Conversation> {
        let solving = self.lanes.values().filter(|resting| matches!(resting.lane.graph, GraphRef::Solve(_)));
        let longest = solving.map(|resting| &resting.lane.conversation).max_by_key(|known| known.messages().len());
        Arc::clone(longest.filter(|_| self.ending.is_none()).unwrap_or(&self.conversation))
    }

    /// What the trial came to, once no lane is left.
    pub fn outcome(&self) -> Option<Outcome> {
        let ending = self.ending.filter(|_| self.lanes.is_empty() && self.around.is_none())?;
        let mut scores = self.scores.clone();
        // A scorer whose graph failed has no values at all: a part of them would look like the whole.
        scores
            .retain(|row| !self.failed_scorers.keys().any(|&at| self.scorer(at).is_some_and(|s| s.name == row.scorer)));
        for (&at, message) in &self.failed_scorers {
            if let Some(scorer) = self.scorer(at) {
                scores.push(whole(scorer, Verdict::without_value(verdict::Outcome::Void, message.as_str())));
            }
        }
        self.void_by_others(&mut scores);
        let order = |name: &str| self.linked.program.scorers.iter().position(|scorer| &*scorer.name == name);
        scores.sort_by(|a, b| {
            let place = |row: &ScoreRow| (order(&row.scorer), row.turn, row.part.clone());
            // Items of a map that score one turn twice arrive in any order.
            let verdict = |row: &ScoreRow| row.verdict.to_value().to_json();
            place(a).cmp(&place(b)).then_with(|| verdict(a).cmp(&verdict(b)))
        });
        let mut calls = self.calls.clone();
        calls.sort_by(|a, b| a.position.cmp(&b.position));
        Some(Outcome {
            sample: Arc::clone(&self.sample),
            ending,
            fault: self.fault.clone(),
            conversation: Arc::clone(&self.conversation),
            scores,
            calls,
        })
    }

    fn scorer(&self, at: usize) -> Option<&Scorer> {
        self.linked.program.scorers.get(at)
    }

    /// What a scorer that looks at a step is shown, where the step was reached.
    fn mark_of(&self, graph: GraphRef) -> Option<&Mark> {
        let GraphRef::Score(at) = graph else { return None };
        self.scorer(at)?.at.as_ref().and_then(|label| self.marks.get(label))
    }

    fn begin(&mut self, graph: GraphRef, asks: &mut Vec<Pending>) {
        let linked = Arc::clone(&self.linked);
        if let Some(shape) = linked.graph(graph) {
            let (conversation, world) = match self.mark_of(graph) {
                Some(mark) => mark.clone(),
                None => (Arc::clone(&self.conversation), self.world.clone()),
            };
            let mut lane = Lane::new(graph, shape, conversation, world);
            lane.trace = self.traces.then(Vec::new);
            let id = self.fresh();
            self.advance(id, lane, None, Event::Start, asks);
        }
    }

    const fn fresh(&mut self) -> LaneId {
        self.next_lane += 1;
        self.next_lane
    }

    /// Steps a lane and does what it says. Lanes that become ready on the way are stepped in turn, from a list: a map of a
    /// map of empty lists must not recurse.
    fn advance(&mut self, id: LaneId, lane: Lane, parent: Option<Parent>, event: Event, asks: &mut Vec<Pending>) {
        let mut ready = vec![(id, lane, parent, event)];
        while let Some((id, lane, parent, event)) = ready.pop() {
            let (mut lane, mut effects) = step(&self.linked, &self.sample, lane, event);
            if let Some(trace) = &mut lane.trace {
                let graph = lane.graph;
                self.taken.extend(trace.drain(..).map(|(node, port)| Taken { graph, node, port }));
            }
            let last = effects.pop();
            self.scores.extend(effects.into_iter().filter_map(|effect| match effect {
                Effect::Score(row) => Some(row),
                _ => None,
            }));
            match last {
                Some(Effect::Ask(ask)) if self.joins(id, &lane, &ask) => {
                    self.lanes.insert(id, Resting { lane, parent, results: Vec::new(), asked: None });
                }
                Some(Effect::Ask(ask)) => {
                    let asked =
                        Asked { position: ask.position.clone(), role: ask.request.role.clone(), content: ask.content };
                    self.lanes.insert(id, Resting { lane, parent, results: Vec::new(), asked: Some(asked) });
                    asks.push(Pending { lane: id, ask: *ask });
                }
                Some(Effect::Fork(items)) if items.is_empty() => {
                    ready.push((id, lane, parent, Event::Joined(Vec::new())));
                }
                Some(Effect::Fork(items)) => {
                    let results = vec![None; items.len()];
                    self.lanes.insert(id, Resting { lane, parent, results, asked: None });
                    let begun = items
                        .into_iter()
                        .enumerate()
                        .map(|(item, lane)| (self.fresh(), lane, Some(Parent { lane: id, item }), Event::Start));
                    let begun: Vec<_> = begun.collect();
                    ready.extend(begun.into_iter().rev());
                }
                Some(Effect::Gave(given)) => ready.extend(self.join(parent, Ok(given), asks)),
                Some(Effect::Ended(ending)) => self.ended(&lane, ending, asks),
                Some(Effect::Failed(message)) => ready.extend(self.failed(&lane, parent, message, asks)),
                // A lane always ends its step by waiting or by being over.
                Some(Effect::Score(_)) | None => {}
            }
        }
    }

    /// The task is at fault. The other items of a map go on, so that which calls are made does not depend on who was first;
    /// of several faults the least message is kept, for the same reason.
    fn failed(
        &mut self,
        lane: &Lane,
        parent: Option<Parent>,
        message: String,
        asks: &mut Vec<Pending>,
    ) -> Option<Ready> {
        match lane.graph {
            GraphRef::Score(at) => {
                keep_least(self.failed_scorers.entry(at).or_insert_with(|| message.clone()), message);
            }
            GraphRef::Solve(_) if parent.is_some() => {
                keep_least(self.failed_solve.get_or_insert_with(|| message.clone()), message);
            }
            GraphRef::Solve(_) => {
                self.keep(lane);
                self.solved(Ending::TaskError, Some(message), asks);
                return None;
            }
        }
        self.join(parent, Err(Failed), asks)
    }

    /// Puts an item's result in its place; the parent is ready when all are there. Where an item has
    /// failed, so has the lane of its map, and with it what it is an item of; sound items beside it go on.
    fn join(&mut self, parent: Option<Parent>, given: Result<Given, Failed>, asks: &mut Vec<Pending>) -> Option<Ready> {
        let Parent { lane, item } = parent?;
        let resting = self.lanes.get_mut(&lane)?;
        if let Some(place) = resting.results.get_mut(item) {
            *place = Some(given);
        }
        if resting.results.iter().any(Option::is_none) {
            return None;
        }
        let resting = self.lanes.remove(&lane)?;
        let results: Result<Vec<Given>, Failed> = resting.results.into_iter().flatten().collect();
        match results {
            Ok(results) => Some((lane, resting.lane, resting.parent, Event::Joined(results))),
            Err(Failed) if resting.parent.is_some() => self.join(resting.parent, Err(Failed), asks),
            Err(Failed) => match self.failed_solve.take() {
                Some(message) => self.failed(&resting.lane, None, message, asks),
                None => None,
            },
        }
    }

    /// Keeps what the conversation's lane leaves.
    fn keep(&mut self, lane: &Lane) {
        self.conversation = Arc::clone(&lane.conversation);
        self.world = lane.world.clone();
        self.marks = lane.marks.clone();
    }

    fn ended(&mut self, lane: &Lane, ending: Ending, asks: &mut Vec<Pending>) {
        match lane.graph {
            GraphRef::Score(at) => self.keep_voids(at, lane),
            GraphRef::Solve(at) => {
                self.keep(lane);
                self.unreached = self.unreached_expectations(at, lane, ending);
                let badly = matches!(
                    ending,
                    Ending::ApplicationFailure | Ending::Filtered | Ending::SimulatorFailure | Ending::ToolFailure
                );
                self.solved(ending, lane.trouble.clone().filter(|_| badly), asks);
            }
        }
    }
}

/// The least of two messages.
fn keep_least(known: &mut String, message: String) {
    if message < *known {
        *known = message;
    }
}
