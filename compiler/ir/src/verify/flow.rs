//! Walking graphs forward: an order in which every node comes after what leads to it, `again` left aside.

use std::collections::BTreeMap;

use crate::graph::{Graph, NodeId};
use crate::node::Port;

/// The nodes in an order that respects every edge but `again`; nodes on a cycle are left out.
pub(super) fn topological(graph: &Graph) -> Vec<NodeId> {
    let mut waiting: BTreeMap<NodeId, usize> = graph.nodes().map(|(id, _)| (id, 0)).collect();
    let forward = |id| graph.edges(id).into_iter().filter(move |(_, jump, _)| !graph.goes_back(id, *jump));
    for (id, _) in graph.nodes() {
        for (_, _, to) in forward(id) {
            *waiting.entry(to).or_default() += 1;
        }
    }
    let mut ready: Vec<NodeId> = waiting.iter().filter(|(_, n)| **n == 0).map(|(id, _)| *id).rev().collect();
    let mut order = Vec::with_capacity(waiting.len());
    while let Some(id) = ready.pop() {
        order.push(id);
        for (_, _, to) in forward(id) {
            if let Some(n) = waiting.get_mut(&to) {
                *n -= 1;
                if *n == 0 {
                    ready.push(to);
                }
            }
        }
    }
    order
}

/// Carries facts forward from the entry: `through` changes what comes into a node to what leaves by one of its ports, `meet`
/// joins what comes in by several edges. Gives what comes into each node.
pub(super) fn forward<T: Clone>(
    graph: &Graph,
    start: &T,
    through: impl Fn(NodeId, Port, &T) -> T,
    meet: impl Fn(&T, &T) -> T,
) -> BTreeMap<NodeId, T> {
    let mut incoming: BTreeMap<NodeId, T> = graph.entry().map(|entry| (entry, start.clone())).into_iter().collect();
    for id in topological(graph) {
        let Some(state) = incoming.get(&id).cloned() else { continue };
        for (port, jump, to) in graph.edges(id) {
            if !graph.goes_back(id, jump) {
                let out = through(id, port, &state);
                let joined = incoming.get(&to).map_or_else(|| out.clone(), |known| meet(known, &out));
                incoming.insert(to, joined);
            }
        }
    }
    incoming
}
