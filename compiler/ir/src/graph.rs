//! Control-flow graphs: nodes, typed edges, regions.
//!
//! Every node carries its region, the innermost `loop` or `map` around it; such a node is the header of its region. Nodes are
//! numbered in the order of the text form, a header before the nodes of its region, so a graph has one numbering.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::node::{Jump, Node, Port};
use crate::program::Field;
use crate::span::Origin;
use crate::ty::Type;

/// A node of one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A node in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// What it does.
    pub node: Node,
    /// Its name, made of the names and steps of the task; unique within the graph. Positions are made of it.
    pub path: Arc<str>,
    /// The header of the region that it is in.
    pub region: Option<NodeId>,
    /// Where the task says so.
    pub origin: Origin,
}

/// A slot: a variable of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values.
    pub ty: Type,
}

/// A control-flow graph. Made by [`GraphBuilder`]; whether it is legal is [`crate::verify`]'s question.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Its name: of a solve graph, what samples name; of a score graph, the scorer.
    pub name: Arc<str>,
    /// The fields of its samples whose types are others than in the program, which knows them over all samples.
    pub fields: Vec<Field>,
    /// Its slots.
    pub slots: Vec<Slot>,
    digraph: DiGraph<Placed, (Port, Jump)>,
    has_twins: bool,
}

impl Graph {
    /// All nodes, by number.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Placed)> {
        self.digraph.raw_nodes().iter().enumerate().map(|(at, node)| (id_of(at), &node.weight))
    }

    /// A node.
    pub fn get(&self, id: NodeId) -> Option<&Placed> {
        self.digraph.node_weight(index_of(id))
    }

    /// The first node, which is the entry; none in an empty graph.
    pub fn entry(&self) -> Option<NodeId> {
        self.digraph.raw_nodes().first().map(|_| id_of(0))
    }

    /// Whether two nodes have one path, as the builder saw when they were added.
    pub(crate) const fn has_twins(&self) -> bool {
        self.has_twins
    }

    /// Where a port leads.
    pub fn follow(&self, from: NodeId, port: Port) -> Option<(Jump, NodeId)> {
        self.edges(from).find(|edge| edge.0 == port).map(|(_, jump, to)| (jump, to))
    }

    /// The out-edges of a node, by port.
    pub fn edges(&self, from: NodeId) -> impl Iterator<Item = (Port, Jump, NodeId)> + Clone {
        // `finish` adds them from the last port to the first, and they come from the last added to the first.
        self.digraph.edges(index_of(from)).map(|edge| (edge.weight().0, edge.weight().1, id_of(edge.target().index())))
    }

    /// The number of a slot.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.slots.iter().position(|slot| &*slot.name == name)
    }

    /// Whether an edge goes back to a header: `again`, or a break where the header's `done` itself goes again.
    pub fn goes_back(&self, from: NodeId, jump: Jump) -> bool {
        match jump {
            Jump::On => false,
            Jump::Again => true,
            Jump::Break => {
                // A header comes before its region, so this ends.
                let header = self.get(from).and_then(|placed| placed.region).filter(|header| *header < from);
                let done = header.and_then(|header| Some((header, self.follow(header, Port::Done)?.0)));
                done.is_some_and(|(header, jump)| self.goes_back(header, jump))
            }
        }
    }

    /// The innermost map around a node.
    pub fn map_around(&self, id: NodeId) -> Option<NodeId> {
        let mut inner = id;
        loop {
            // A header comes before its region, so this ends.
            let header = self.get(inner)?.region.filter(|header| *header < inner)?;
            if matches!(self.get(header)?.node, Node::Map { .. }) {
                return Some(header);
            }
            inner = header;
        }
    }

    /// Whether a node is inside a map.
    pub fn in_map(&self, id: NodeId) -> bool {
        self.map_around(id).is_some()
    }
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        let same = |ids: (NodeId, &Placed), theirs: (NodeId, &Placed)| {
            ids.1 == theirs.1 && self.edges(ids.0).eq(other.edges(theirs.0))
        };
        self.name == other.name
            && self.fields == other.fields
            && self.slots == other.slots
            && self.nodes().len() == other.nodes().len()
            && self.nodes().zip(other.nodes()).all(|(a, b)| same(a, b))
    }
}

fn id_of(at: usize) -> NodeId {
    NodeId(u32::try_from(at).unwrap_or(u32::MAX))
}

fn index_of(id: NodeId) -> NodeIndex {
    NodeIndex::new(id.0 as usize)
}

/// How many nodes most graphs have at most.
const COMMON: usize = 28;
/// The first ordinal of a path that is there already.
const FIRST: u32 = 2;

/// Makes a graph: nodes first, in any order, then their edges.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    slots: Vec<Slot>,
    slot_names: BTreeSet<Arc<str>>,
    nodes: Vec<Placed>,
    paths: Paths,
    has_twins: bool,
    edges: Vec<(NodeId, Port, Jump, NodeId)>,
    breaks: Vec<(NodeId, Port)>,
}

/// The paths of a graph's nodes, each with the first ordinal behind it that may be free. They are long and begin alike, so
/// they are found by their hashes; those that share one stand side by side.
#[derive(Clone, Debug, Default)]
struct Paths(BTreeMap<(u64, u32), (Arc<str>, u32)>);

impl Paths {
    /// The ordinal of a path that is known.
    fn get(&self, path: &str) -> Option<u32> {
        self.0.get(&self.place(path)).map(|(_, ordinal)| *ordinal)
    }

    /// Makes a path known. Gives the ordinal that it had, if it was.
    fn set(&mut self, path: Arc<str>, ordinal: u32) -> Option<u32> {
        let place = self.place(&path);
        self.0.insert(place, (path, ordinal)).map(|(_, before)| before)
    }

    /// Makes a path known. None where it was.
    fn claim(&mut self, path: &str) -> Option<Arc<str>> {
        let place = self.place(path);
        let Entry::Vacant(free) = self.0.entry(place) else { return None };
        Some(free.insert((path.into(), FIRST)).0.clone())
    }

    /// Where a path stands, or would.
    fn place(&self, path: &str) -> (u64, u32) {
        let mut hasher = DefaultHasher::new();
        hasher.write(path.as_bytes());
        let mut place = (hasher.finish(), 0);
        while self.0.get(&place).is_some_and(|(known, _)| **known != *path) {
            place.1 += 1;
        }
        place
    }
}

impl Default for GraphBuilder {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            slot_names: BTreeSet::new(),
            nodes: Vec::with_capacity(COMMON / 2),
            paths: Paths::default(),
            has_twins: false,
            edges: Vec::with_capacity(COMMON),
            breaks: Vec::new(),
        }
    }
}

impl GraphBuilder {
    /// Declares a slot; once a name.
    pub fn slot(&mut self, name: impl Into<Arc<str>>, ty: Type) -> Arc<str> {
        let name = name.into();
        if self.slot_names.insert(name.clone()) {
            self.slots.push(Slot { name: name.clone(), ty });
        }
        name
    }

    /// Whether a slot of that name is declared.
    pub fn has_slot(&self, name: &str) -> bool {
        self.slot_names.contains(name)
    }

    /// Whether a node of that path is there.
    pub fn has_path(&self, path: &str) -> bool {
        self.paths.get(path).is_some()
    }

    /// A path that no node has yet: the wanted one, or it with the first ordinal from 2 on that is free.
    pub fn free_path(&mut self, wanted: &str) -> Arc<str> {
        // Paths are never taken away, so ordinals below the one that was free last are taken.
        let Some(mut ordinal) = self.paths.get(wanted) else { return wanted.into() };
        loop {
            let path = format!("{wanted}.{ordinal}");
            if !self.has_path(&path) {
                self.paths.set(wanted.into(), ordinal);
                return path.into();
            }
            ordinal += 1;
        }
    }

    /// Adds a node under a path that no node has yet: the wanted one where it is free, as most are.
    pub fn add_free(&mut self, node: Node, wanted: &str, region: Option<NodeId>, origin: Origin) -> NodeId {
        match self.paths.claim(wanted) {
            Some(path) => self.push(Placed { node, path, region, origin }),
            None => {
                let path = self.free_path(wanted);
                self.add(node, path, region, origin)
            }
        }
    }

    /// Adds a node. The header of its region must have been added before.
    pub fn add(&mut self, node: Node, path: impl Into<Arc<str>>, region: Option<NodeId>, origin: Origin) -> NodeId {
        let path = path.into();
        self.has_twins |= self.paths.set(path.clone(), FIRST).is_some();
        self.push(Placed { node, path, region, origin })
    }

    fn push(&mut self, placed: Placed) -> NodeId {
        self.nodes.push(placed);
        id_of(self.nodes.len() - 1)
    }

    /// The ports of a node that was added.
    pub fn ports(&self, id: NodeId) -> &'static [Port] {
        self.nodes.get(id.0 as usize).map_or(&[], |placed| placed.node.ports())
    }

    /// Adds an edge.
    pub fn connect(&mut self, from: NodeId, port: Port, jump: Jump, to: NodeId) {
        self.edges.push((from, port, jump, to));
    }

    /// Adds a break: an edge to wherever the `done` of the node's header leads in the end.
    pub fn connect_break(&mut self, from: NodeId, port: Port) {
        self.breaks.push((from, port));
    }

    /// The edges of the breaks: each leads where the `done` of its header leads, which can itself be a break of the region
    /// around it.
    fn broken_out(&self) -> Vec<(NodeId, Port, Jump, NodeId)> {
        if self.breaks.is_empty() {
            return Vec::new();
        }
        let done_edges = self.edges.iter().rev().filter(|edge| edge.1 == Port::Done);
        let done: BTreeMap<NodeId, NodeId> = done_edges.map(|edge| (edge.0, edge.3)).collect();
        let breaks: BTreeSet<NodeId> =
            self.breaks.iter().filter(|(_, port)| *port == Port::Done).map(|(from, _)| *from).collect();
        let target = |node: NodeId| {
            let mut header = self.nodes.get(node.0 as usize)?.region?;
            for _ in 0..self.nodes.len() {
                if let Some(to) = done.get(&header) {
                    return Some(*to);
                }
                breaks.get(&header)?;
                header = self.nodes.get(header.0 as usize)?.region?;
            }
            None
        };
        self.breaks.iter().filter_map(|&(from, port)| Some((from, port, Jump::Break, target(from)?))).collect()
    }

    /// The graph, numbered in the order of the text form. Edges to nodes that are not there are left out, and regions that
    /// are not there become the outermost: verification then names the node.
    pub fn finish(mut self, name: impl Into<Arc<str>>) -> Graph {
        self.edges.extend(self.broken_out());
        let count = self.nodes.len();
        if !self.is_ordered() {
            self.reorder();
        }
        let is_there = |id: NodeId| (id.0 as usize) < count;
        self.edges.retain(|(from, _, _, to)| is_there(*from) && is_there(*to));
        // The last first: see `Graph::edges`.
        self.edges.sort_unstable_by(|a, b| b.cmp(a));
        let mut digraph = DiGraph::with_capacity(count, self.edges.len());
        for placed in self.nodes {
            digraph.add_node(placed);
        }
        for (from, port, jump, to) in self.edges {
            digraph.add_edge(index_of(from), index_of(to), (port, jump));
        }
        Graph { name: name.into(), fields: Vec::new(), slots: self.slots, digraph, has_twins: self.has_twins }
    }

    /// Whether the nodes were added in the order of the text form, as the lowering does.
    fn is_ordered(&self) -> bool {
        // The headers of the regions that the last node was in, and the node itself, which may be a header.
        let mut around: Vec<NodeId> = Vec::new();
        self.nodes.iter().enumerate().all(|(at, placed)| {
            while around.last().is_some_and(|header| Some(*header) != placed.region) {
                around.pop();
            }
            let is_next = around.last().copied() == placed.region;
            around.push(id_of(at));
            is_next
        })
    }

    /// Numbers the nodes in the order of the text form. What refers to a node that is not there refers to none.
    fn reorder(&mut self) {
        let mut new = vec![NodeId(u32::MAX); self.nodes.len()];
        let order = self.order();
        for (at, &old) in order.iter().enumerate() {
            if let Some(place) = new.get_mut(old) {
                *place = id_of(at);
            }
        }
        let renumber = |id: NodeId| new.get(id.0 as usize).copied().unwrap_or(NodeId(u32::MAX));
        let mut nodes: Vec<Option<Placed>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        for &old in &order {
            if let Some(placed) = nodes.get_mut(old).and_then(Option::take) {
                let region = placed.region.map(renumber).filter(|region| region.0 != u32::MAX);
                self.nodes.push(Placed { region, ..placed });
            }
        }
        for (from, _, _, to) in &mut self.edges {
            (*from, *to) = (renumber(*from), renumber(*to));
        }
    }

    /// Headers before their regions, siblings as they were added.
    fn order(&self) -> Vec<usize> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut top = Vec::new();
        for (at, placed) in self.nodes.iter().enumerate() {
            // A header stands before its region, so no node can be inside itself.
            let header = placed.region.map(|id| id.0 as usize).filter(|&header| header < at);
            header.and_then(|header| children.get_mut(header)).unwrap_or(&mut top).push(at);
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<usize> = top.into_iter().rev().collect();
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(children.get(at).into_iter().flatten().rev());
        }
        order
    }
}
