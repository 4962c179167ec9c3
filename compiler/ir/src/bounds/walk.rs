//! What a graph can come to, from each state of the conversation: an affine map for each way out.
//!
//! A sequence multiplies, ways that meet take the greater coefficient in each place, a loop is a power, and what leaves a loop
//! early or ends the graph is kept apart until it is known how many passes went before.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::affine::{Affine, MANY, ONE};
use crate::graph::{Graph, NodeId};
use crate::node::{Jump, Node, Port};
use crate::verify;

/// Where a conversation is in its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Talk {
    /// The user has not spoken.
    #[default]
    Before,
    /// The user has spoken, and the assistant never answered.
    Unanswered,
    /// The assistant has spoken in this turn.
    Answered,
    /// It has not, and did in an earlier one.
    Pending,
}

/// The maps to each state.
pub(super) type Block = BTreeMap<Talk, Affine>;

/// How a graph ends, as far as that matters for what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// Its scorers are asked.
    Scored,
    /// There is nothing to score.
    Unscored,
}

/// How often a region is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    /// So often.
    Exactly(u64),
    /// So often or less.
    AtMost(u64),
    /// Once for each tool call of a reply.
    OfCalls,
    /// Once for each turn in which the assistant spoke.
    OfJudged,
    /// Once for each turn.
    OfTurns,
}

/// What is known of nodes.
pub(super) trait Effects {
    /// What a node that heads no region does, by the state after it; `state` is the one before.
    fn effect(&mut self, node: &Node, state: Talk) -> Vec<(Talk, Affine)>;
    /// What an exit does.
    fn exit(&mut self, node: &Node, state: Talk) -> (End, Affine);
    /// How often the region of a header is gone through.
    fn passes(&mut self, node: &Node) -> Passes;
    /// A region that is gone through once for each turn: what all its passes do together.
    fn of_turns(&mut self, body: &Affine, passes: Passes) -> Affine;
    /// A way out of a region that is gone through once for each turn, before the last of them.
    fn left_early(&mut self, way: &Affine);
    /// What is counted in a pass of a region whose passes have no bound.
    fn counted(&mut self, pass: &Affine) -> Vec<u16>;
    /// How many tool calls a reply is taken to make, for estimates.
    fn calls_of_a_reply(&mut self) -> u64;
    /// Two maps meet.
    fn meet(&mut self, a: &Affine, b: &Affine) -> Affine;
}

/// The ways out of a region, from one state.
#[derive(Clone, Debug, Default)]
struct Ways {
    again: Block,
    broke: Block,
    ends: BTreeMap<End, Affine>,
}

/// The ways out of a loop or map, from one state.
#[derive(Clone, Debug, Default)]
struct Left {
    done: Block,
    ends: BTreeMap<End, Affine>,
}

pub(super) struct Walk<'w, E> {
    graph: &'w Graph,
    pub(super) effects: E,
    /// The nodes of each region, each after what leads to it.
    regions: BTreeMap<Option<NodeId>, Arc<Vec<NodeId>>>,
    known: BTreeMap<(NodeId, Talk), Left>,
}

/// What the graph comes to from a state, by how it ends.
pub(super) fn walk<E: Effects>(graph: &Graph, effects: E, start: Talk) -> (BTreeMap<End, Affine>, E) {
    let mut regions: BTreeMap<Option<NodeId>, Vec<NodeId>> = BTreeMap::new();
    for id in verify::topological(graph) {
        if let Some(placed) = graph.get(id) {
            regions.entry(placed.region).or_default().push(id);
        }
    }
    let regions = regions.into_iter().map(|(header, nodes)| (header, Arc::new(nodes))).collect();
    let mut walk = Walk { graph, effects, regions, known: BTreeMap::new() };
    let ways = match graph.entry() {
        Some(entry) => walk.region(None, entry, start),
        None => Ways::default(),
    };
    (ways.ends, walk.effects)
}

impl<E: Effects> Walk<'_, E> {
    fn merge<K: Ord + Copy>(&mut self, into: &mut BTreeMap<K, Affine>, key: K, map: Affine) {
        let merged = match into.get(&key) {
            Some(known) => self.effects.meet(known, &map),
            None => map,
        };
        into.insert(key, merged);
    }

    /// Goes through the nodes of a region once.
    fn region(&mut self, header: Option<NodeId>, entry: NodeId, start: Talk) -> Ways {
        let order = Arc::clone(self.regions.entry(header).or_default());
        let mut inbox: BTreeMap<NodeId, Block> = BTreeMap::new();
        inbox.entry(entry).or_default().insert(start, Affine::default());
        let mut ways = Ways::default();
        for &id in order.iter() {
            let (Some(held), Some(placed)) = (inbox.remove(&id), self.graph.get(id)) else { continue };
            for (state, before) in held {
                match &placed.node {
                    Node::Exit { .. } => {
                        let (end, map) = self.effects.exit(&placed.node, state);
                        self.merge(&mut ways.ends, end, before.then(&map));
                    }
                    node if node.is_header() => {
                        let left = self.left(id, state);
                        for (end, map) in &left.ends {
                            self.merge(&mut ways.ends, *end, before.clone().then(map));
                        }
                        for (after, map) in &left.done {
                            self.hand_on((id, Port::Done), *after, before.clone().then(map), &mut inbox, &mut ways);
                        }
                    }
                    node => self.pass(id, node, (state, before), &mut inbox, &mut ways),
                }
            }
        }
        ways
    }

    /// Goes through a node that heads no region. The map goes on as it is where there is one way only, as mostly.
    fn pass(
        &mut self,
        id: NodeId,
        node: &Node,
        (state, before): (Talk, Affine),
        inbox: &mut BTreeMap<NodeId, Block>,
        ways: &mut Ways,
    ) {
        let effects = self.effects.effect(node, state);
        let mut held = Some(before);
        let mut left = effects.len();
        for (after, map) in effects {
            left -= 1;
            let Some(before) = (if left == 0 { held.take() } else { held.clone() }) else { return };
            let map = before.then(&map);
            let Some((last, others)) = node.ports().split_last() else { return };
            for port in others {
                self.hand_on((id, *port), after, map.clone(), inbox, ways);
            }
            self.hand_on((id, *last), after, map, inbox, ways);
        }
    }

    fn hand_on(
        &mut self,
        (from, port): (NodeId, Port),
        state: Talk,
        map: Affine,
        inbox: &mut BTreeMap<NodeId, Block>,
        ways: &mut Ways,
    ) {
        let Some((jump, to)) = self.graph.follow(from, port) else { return };
        let block = match jump {
            Jump::On => inbox.entry(to).or_default(),
            Jump::Again => &mut ways.again,
            Jump::Break => &mut ways.broke,
        };
        let merged = match block.remove(&state) {
            Some(known) => self.effects.meet(&known, &map),
            None => map,
        };
        block.insert(state, merged);
    }

    /// What a loop or map comes to, from one state.
    fn left(&mut self, header: NodeId, start: Talk) -> Left {
        if let Some(known) = self.known.get(&(header, start)) {
            return known.clone();
        }
        let Some(node) = self.graph.get(header).map(|placed| &placed.node) else { return Left::default() };
        let passes = self.effects.passes(node);
        let bodies = self.bodies(header, start);
        let left = match passes {
            Passes::Exactly(n) => self.passed(&bodies, start, n, true),
            Passes::AtMost(n) => self.passed(&bodies, start, n, false),
            Passes::OfCalls => {
                let n = self.effects.calls_of_a_reply();
                let mut left = self.passed(&bodies, start, n, false);
                // What a pass counts has no bound; what an end counts behind the passes is counted once.
                let mut grown = Vec::new();
                for map in bodies.values().flat_map(|ways| ways.again.values()) {
                    grown.extend(self.effects.counted(map));
                }
                for map in left.done.values_mut().chain(left.ends.values_mut()) {
                    for variable in &grown {
                        map.add(*variable, ONE, MANY);
                    }
                }
                left
            }
            Passes::OfJudged | Passes::OfTurns => self.passed_by_turns(&bodies, start, passes),
        };
        self.known.insert((header, start), left.clone());
        left
    }

    /// The body's ways out from each state in which a pass can begin.
    fn bodies(&mut self, header: NodeId, start: Talk) -> BTreeMap<Talk, Ways> {
        let mut bodies = BTreeMap::new();
        let Some((_, entry)) = self.graph.follow(header, Port::Body) else { return bodies };
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            if bodies.contains_key(&state) {
                continue;
            }
            let ways = self.region(Some(header), entry, state);
            open.extend(ways.again.keys().copied());
            bodies.insert(state, ways);
        }
        bodies
    }

    fn passed(&mut self, bodies: &BTreeMap<Talk, Ways>, start: Talk, n: u64, exactly: bool) -> Left {
        let here = || Block::from([(start, Affine::default())]);
        let once: BTreeMap<Talk, Block> = bodies.iter().map(|(state, ways)| (*state, ways.again.clone())).collect();
        let mut up_to_once = once.clone();
        for (state, block) in &mut up_to_once {
            self.merge(block, *state, Affine::default());
        }
        let mut left =
            Left { done: self.power(here(), if exactly { &once } else { &up_to_once }, n), ..Left::default() };
        if n == 0 || bodies.values().all(|ways| ways.broke.is_empty() && ways.ends.is_empty()) {
            return left;
        }
        // A pass that is left early has up to all others before it.
        let before = self.power(here(), &up_to_once, n - 1);
        for (state, map) in &before {
            let Some(ways) = bodies.get(state) else { continue };
            for (after, broke) in &ways.broke {
                self.merge(&mut left.done, *after, map.clone().then(broke));
            }
            for (end, ended) in &ways.ends {
                self.merge(&mut left.ends, *end, map.clone().then(ended));
            }
        }
        left
    }

    /// A block after so many passes, by repeated squaring.
    fn power(&mut self, mut block: Block, once: &BTreeMap<Talk, Block>, mut n: u64) -> Block {
        let mut passes = once.clone();
        while n > 0 {
            if n & 1 == 1 {
                block = self.product(&block, &passes);
            }
            n >>= 1;
            if n > 0 {
                let squared = passes.iter().map(|(state, one)| (*state, one.clone())).collect::<Vec<_>>();
                passes = squared.into_iter().map(|(state, one)| (state, self.product(&one, &passes))).collect();
            }
        }
        block
    }

    fn product(&mut self, block: &Block, passes: &BTreeMap<Talk, Block>) -> Block {
        let mut out = Block::new();
        for (state, before) in block {
            for (after, map) in passes.get(state).into_iter().flatten() {
                self.merge(&mut out, *after, before.clone().then(map));
            }
        }
        out
    }

    /// Passes of which there is one for each turn. Their graph scores, and changes no conversation.
    fn passed_by_turns(&mut self, bodies: &BTreeMap<Talk, Ways>, start: Talk, passes: Passes) -> Left {
        let mut left = Left::default();
        let Some(ways) = bodies.get(&start) else { return left };
        let body = ways.again.get(&start).cloned().unwrap_or_default();
        let all = self.effects.of_turns(&body, passes);
        left.done.insert(start, all.clone());
        for (after, broke) in &ways.broke {
            self.effects.left_early(broke);
            self.merge(&mut left.done, *after, all.clone().then(broke));
        }
        for (end, ended) in &ways.ends {
            self.effects.left_early(ended);
            self.merge(&mut left.ends, *end, all.clone().then(ended));
        }
        left
    }
}

/// Passes that nothing bounds.
pub(super) const UNBOUNDED: Passes = Passes::AtMost(MANY);
