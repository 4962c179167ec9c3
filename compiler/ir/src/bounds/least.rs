//! A count that no run stays under: what is sure to be asked where every conversation takes its shortest way.

use std::collections::{BTreeMap, BTreeSet};

use super::samples::Samples;
use crate::expr::Kind;
use crate::graph::{Graph, NodeId};
use crate::message::{ASSISTANT, USER};
use crate::node::{Bound, Ending, Jump, Node, Port, Said};
use crate::program::Program;
use crate::schema::Schema;
use crate::value::Value;

/// Calls of a run in which each sample takes the way with the fewest, no reply has a fault, and no judge has to repeat itself.
/// Loops and maps over what only the run knows, such as the turns of a conversation, count as empty.
pub fn least(program: &Program, samples: &Samples) -> u64 {
    let scorers = program.scorers.iter().filter_map(|scorer| scorer.graph.as_ref());
    let mut asked: Vec<&Node> = Vec::new();
    let scored = scorers.fold(0_u64, |sum, graph| {
        // A list that another scorer asks for too is asked for once.
        let sum = sum.saturating_add(shortest(graph, &asked));
        asked.extend(graph.nodes().map(|(_, placed)| &placed.node).filter(|node| is_list(node)));
        sum
    });
    let of_graph = |graph: &Graph| shortest(graph, &[]).saturating_add(if can_be_silent(graph) { 0 } else { scored });
    let graphs: BTreeMap<&str, u64> = program.solves.iter().map(|graph| (&*graph.name, of_graph(graph))).collect();
    let of_kind = |(graph, count): (&str, u64)| graphs.get(graph).copied().unwrap_or(0).saturating_mul(count);
    let once = samples.counts().map(of_kind).fold(0_u64, u64::saturating_add);
    once.saturating_mul(u64::from(program.epochs))
}

/// The fewest calls from a node on: to an end, and to the header of each region that the node is in.
#[derive(Clone, Debug, Default)]
struct Ways {
    end: Option<u64>,
    again: BTreeMap<NodeId, u64>,
}

fn fewer(known: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (known, other) {
        (Some(known), Some(other)) => Some(known.min(other)),
        (known, other) => known.or(other),
    }
}

impl Ways {
    /// The same after so many calls.
    fn after(mut self, calls: u64) -> Self {
        self.end = self.end.map(|n| n.saturating_add(calls));
        self.again.values_mut().for_each(|n| *n = n.saturating_add(calls));
        self
    }

    /// Whichever is shorter.
    fn or(mut self, other: &Self) -> Self {
        self.end = fewer(self.end, other.end);
        for (header, n) in &other.again {
            let known = self.again.entry(*header).or_insert(*n);
            *known = (*known).min(*n);
        }
        self
    }
}

fn is_list(node: &Node) -> bool {
    matches!(node, Node::Generate { schema: Some(Schema::Items(_)), .. })
}

/// Whether two nodes ask the same, wherever they put the answer.
fn same(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Generate { role: a, view: shown, schema: wanted, .. }, Node::Generate { role, view, schema, .. }) => {
            (a, shown, wanted) == (role, view, schema)
        }
        _ => false,
    }
}

/// The fewest calls from the entry to an end of the graph, without those for lists that are asked for elsewhere.
fn shortest(graph: &Graph, asked: &[&Node]) -> u64 {
    // Without the edges that go back a graph has no cycle, and a node is looked at after those that follow it. The recursion
    // would be as deep as the graph is long, so it is a stack. A cycle in a graph that verification refuses ends at `begun`.
    let mut known: BTreeMap<NodeId, Ways> = BTreeMap::new();
    let mut begun: BTreeSet<NodeId> = BTreeSet::new();
    let mut stack: Vec<NodeId> = graph.entry().into_iter().collect();
    while let Some(&id) = stack.last() {
        if known.contains_key(&id) {
            stack.pop();
        } else if begun.insert(id) {
            stack.extend(targets(graph, id).filter(|to| !begun.contains(to)));
        } else {
            known.insert(id, ways(graph, id, asked, &known));
            stack.pop();
        }
    }
    graph.entry().and_then(|entry| known.get(&entry)?.end).unwrap_or(0)
}

/// Whether a way leads to an end, other than that of a recorded conversation, on which the assistant answers nothing: nothing
/// is scored there. A reply that may call tools may say nothing.
fn can_be_silent(graph: &Graph) -> bool {
    if graph.nodes().any(|(_, placed)| matches!(placed.node, Node::Generate { tools: true, .. })) {
        return true;
    }
    // A node, and whether the user has said something before it.
    let mut seen: BTreeSet<(NodeId, bool)> = BTreeSet::new();
    let mut next: Vec<(NodeId, bool)> = graph.entry().into_iter().map(|id| (id, false)).collect();
    while let Some((id, mut asked)) = next.pop() {
        let Some(placed) = graph.get(id).filter(|_| seen.insert((id, asked))) else { continue };
        let is_region = matches!(placed.node, Node::Loop { .. } | Node::Map { .. });
        match &placed.node {
            // Which messages those of a history are only the run knows.
            Node::Append { said: Said::History(_), .. } => {}
            Node::Append { author, audience: None, .. } if **author == *ASSISTANT && asked => continue,
            Node::Append { author, audience: None, .. } if **author == *USER => asked = true,
            Node::Exit { ending } if *ending != Ending::Recorded && !ending.is_void() => return true,
            _ => {}
        }
        if is_region && passes(&placed.node) > 0 {
            // What follows is reached through the region alone, by its last pass or out of it.
            next.extend(graph.follow(id, Port::Body).map(|(_, to)| (to, asked)));
        } else {
            next.extend(targets(graph, id).map(|to| (to, asked)));
        }
        next.extend(after_last(graph, id).map(|to| (to, asked)));
    }
    false
}

/// Where an edge back to a header comes out after the last pass.
fn after_last(graph: &Graph, id: NodeId) -> impl Iterator<Item = NodeId> {
    let back = graph.edges(id).filter(move |(port, jump, _)| *port != Port::Bad && graph.goes_back(id, *jump));
    back.filter_map(|(.., header)| Some(graph.follow(header, Port::Done)?.1))
}

/// Where a way goes on from a node: not where a reply has a fault, and not back.
fn targets(graph: &Graph, id: NodeId) -> impl Iterator<Item = NodeId> {
    graph.edges(id).filter(move |(port, jump, _)| *port != Port::Bad && !graph.goes_back(id, *jump)).map(|edge| edge.2)
}

fn ways(graph: &Graph, id: NodeId, asked: &[&Node], known: &BTreeMap<NodeId, Ways>) -> Ways {
    let Some(placed) = graph.get(id) else { return Ways::default() };
    let of = |to: NodeId| known.get(&to).cloned().unwrap_or_default();
    match &placed.node {
        Node::Exit { ending } if ending.is_void() => Ways::default(),
        Node::Exit { .. } => Ways { end: Some(0), ..Ways::default() },
        Node::Loop { .. } | Node::Map { .. } => {
            let mut body = graph.follow(id, Port::Body).map(|(_, to)| of(to)).unwrap_or_default();
            let done = through(graph, id, Port::Done, &of);
            let pass = body.again.remove(&id);
            let times = passes(&placed.node);
            let all = if times == 0 { Some(0) } else { pass.map(|calls| calls.saturating_mul(times)) };
            match all {
                Some(calls) => body.or(&done.after(calls)),
                None => body,
            }
        }
        node => {
            let is_free = is_list(node) && asked.iter().any(|other| same(other, node));
            let calls = u64::from(matches!(node, Node::Generate { .. }) && !is_free);
            let ports = graph.edges(id).filter(|(port, ..)| *port != Port::Bad).map(|(port, ..)| port);
            ports
                .map(|port| through(graph, id, port, &of))
                .fold(Ways::default(), |ways, other| ways.or(&other))
                .after(calls)
        }
    }
}

/// The ways behind a port.
fn through(graph: &Graph, id: NodeId, port: Port, of: &impl Fn(NodeId) -> Ways) -> Ways {
    let Some((jump, to)) = graph.follow(id, port) else { return Ways::default() };
    let is_back = jump != Jump::On && graph.goes_back(id, jump);
    if is_back { Ways { end: None, again: BTreeMap::from([(to, 0)]) } } else { of(to) }
}

/// How often a region is gone through if nothing leaves it.
fn passes(node: &Node) -> u64 {
    match node {
        Node::Loop { bound: Bound::Times(n), .. } => u64::from(*n),
        Node::Loop { bound: Bound::Items { list, .. }, .. } | Node::Map { list, .. } => match &list.kind {
            Kind::Literal(Value::List(items)) => items.len() as u64,
            _ => 0,
        },
        _ => 1,
    }
}
