//! Lanes: what `step` advances.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::eval::Scope;
use aigo_ir::graph::{Graph, NodeId};
use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::value::Value;

use crate::ask::{Answer, Ask};
use crate::outcome::ScoreRow;
use crate::scope::{Sample, Snapshot, ambient};
use crate::used::Used;
use crate::world::World;

/// A graph of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GraphRef {
    /// A solve graph, by its place in the program.
    Solve(usize),
    /// The score graph of a scorer, by its place in the program.
    Score(usize),
}

/// The conversation and the world at a step.
pub(crate) type Mark = (Arc<Conversation>, World);

/// Marks by the labels of their steps.
pub(crate) type Marks = BTreeMap<Arc<str>, Mark>;

/// A region that the lane is in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Its header.
    pub(crate) header: NodeId,
    /// Of a loop the pass, from 1; of a map the item, from 0.
    pub(crate) number: u32,
    /// Of a loop over items: the items.
    pub(crate) items: Option<Arc<Vec<Value>>>,
}

/// A sequential thread of one sample, epoch and graph. Its whole state is here; lanes share only what never changes.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The graph that it runs.
    pub graph: GraphRef,
    /// The node that comes next or that it waits at.
    pub(crate) cursor: NodeId,
    /// The values of the graph's slots.
    pub(crate) slots: Vec<Option<Value>>,
    /// The regions that it is in, the outermost first.
    pub(crate) frames: Vec<Frame>,
    /// Per map around it: a hash of its item, and how many earlier items of the list equal it. So items are told apart also
    /// where they ask the same (a judge that is asked three times), and an item that is inserted elsewhere moves nothing.
    pub(crate) occurrence: Vec<(Key, u32)>,
    /// The contents that it has asked for, those of the lane that it came from and of its ended items included: equal ones
    /// are counted, so that repeats never collapse.
    pub(crate) draws: Vec<Key>,
    /// How many of them are from the lane that it came from.
    pub(crate) inherited: usize,
    /// The conversation. Only a solve graph's main lane changes it.
    pub conversation: Arc<Conversation>,
    /// The world that tools work on. Only a solve graph's main lane changes it.
    pub(crate) world: World,
    /// The map whose item it is; its end is the end of the lane.
    pub(crate) item_of: Option<NodeId>,
    /// The last node with two ways out, and the way it took, at which the conversation could still come to its regular end.
    pub(crate) last_fork: Option<(NodeId, aigo_ir::node::Port)>,
    /// What went wrong last with an answer, for people: why the conversation ended badly, if it does.
    pub(crate) trouble: Option<String>,
    /// The scores that it passed, by node: what a later look at the graph needs.
    pub(crate) passed: Vec<NodeId>,
    /// What it has used; of a map's item, since it began.
    pub(crate) used: Used,
    /// The nodes that it came to and the ways that it took, where someone wants to know; nothing depends on it.
    pub(crate) trace: Option<Vec<(NodeId, Option<aigo_ir::node::Port>)>>,
    /// Of each step at which a scorer looks: what was there when it was through last.
    pub(crate) marks: Marks,
}

/// What the lane of a map's item leaves behind.
#[derive(Clone, Debug)]
pub struct Given {
    /// The item's result.
    pub value: Value,
    /// What it asked for: the lane of the map counts these as its own, so that a later map does not repeat them unseen.
    pub(crate) draws: Vec<Key>,
    /// What it used.
    pub(crate) used: Used,
}

/// What a lane is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// It may begin.
    Start,
    /// The answer to its ask.
    Answered(Answer),
    /// The results of its map, in item order.
    Joined(Vec<Given>),
}

/// What a lane wants, or says.
pub enum Effect {
    /// It waits for an answer.
    Ask(Box<Ask>),
    /// It waits for the items of a map: a lane each, in item order.
    Fork(Vec<Lane>),
    /// A verdict for the report.
    Score(ScoreRow),
    /// The lane of a map's item is through, with this result.
    Gave(Given),
    /// The graph has ended.
    Ended(Ending),
    /// The task is at fault: an expression or a template has no value. The message stands alone.
    Failed(String),
}

impl Lane {
    /// A lane at the entry of a graph.
    pub(crate) fn new(graph: GraphRef, shape: &Graph, conversation: Arc<Conversation>, world: World) -> Self {
        Self {
            graph,
            cursor: shape.entry().unwrap_or(NodeId(0)),
            slots: vec![None; shape.slots.len()],
            frames: Vec::new(),
            occurrence: Vec::new(),
            draws: Vec::new(),
            inherited: 0,
            conversation,
            world,
            item_of: None,
            last_fork: None,
            trouble: None,
            passed: Vec::new(),
            used: Used::default(),
            trace: None,
            marks: Marks::new(),
        }
    }

    /// One number per enclosing loop or map.
    pub(crate) fn index(&self) -> Vec<u32> {
        self.frames.iter().map(|frame| frame.number).collect()
    }

    pub(crate) fn set(&mut self, shape: &Graph, name: &str, value: Value) {
        if let Some(slot) = shape.slot(name).and_then(|at| self.slots.get_mut(at)) {
            *slot = Some(value);
        }
    }

    pub(crate) fn slot(&self, shape: &Graph, name: &str) -> Option<&Value> {
        shape.slot(name).and_then(|at| self.slots.get(at)).and_then(Option::as_ref)
    }

    /// The names of this moment, owned.
    pub(crate) fn snapshot(&self, shape: &Graph, sample: &Arc<Sample>) -> Snapshot {
        let slots = shape.slots.iter().zip(&self.slots);
        let state = self.world.state.iter().map(|state| ("state".into(), state.clone()));
        let names = slots.filter_map(|(slot, value)| Some((slot.name.clone(), value.clone()?))).chain(state).collect();
        Snapshot { sample: Arc::clone(sample), conversation: Arc::clone(&self.conversation), names }
    }
}

/// A lane's names, borrowed: what expressions are computed in.
pub(crate) struct Here<'l> {
    pub(crate) lane: &'l Lane,
    pub(crate) shape: &'l Graph,
    pub(crate) sample: &'l Sample,
}

impl Scope for Here<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        let own = self.lane.slot(self.shape, name).cloned();
        let state = || self.lane.world.state.as_ref().filter(|_| name == "state").cloned();
        own.or_else(state).or_else(|| ambient(self.sample, &self.lane.conversation, name))
    }

    fn conversation(&self) -> &Conversation {
        &self.lane.conversation
    }
}
