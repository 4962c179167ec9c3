//! Invariants of slots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Found, Violation, flow};
use crate::graph::{Graph, NodeId};
use crate::node::{Jump, Node, Port};
use crate::program::node_names;

type Assigned = BTreeSet<Arc<str>>;

/// What is surely assigned when a node is entered: on all paths. A body may run zero times, so what it assigns is not.
fn assigned(graph: &Graph) -> BTreeMap<NodeId, Assigned> {
    let through = |id: NodeId, port: Port, state: &Assigned| {
        let mut out = state.clone();
        if let Some(placed) = graph.get(id) {
            out.extend(placed.node.assigns(port).into_iter().cloned());
        }
        out
    };
    flow::forward(graph, &Assigned::new(), through, |a, b| a.intersection(b).cloned().collect())
}

/// Slots are assigned on all paths before they are read.
pub(super) fn assigned_before_read(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("assigned_before_read", graph);
    let known = assigned(graph);
    for (id, placed) in graph.nodes() {
        let Some(state) = known.get(&id) else { continue };
        for name in node_names(&placed.node) {
            if graph.slot(&name).is_some() && !state.contains(&name) {
                found.at(id, format!("the slot `{name}` is read, and not assigned on every path to here"));
            }
        }
        for port in placed.node.ports() {
            for slot in placed.node.assigns(*port) {
                if graph.slot(slot).is_none() {
                    found.at(id, format!("the slot `{slot}` is assigned and not declared"));
                }
            }
        }
    }
    found.violations
}

/// What a map gives is assigned on every path to the end of an item, and nothing else of a map is seen outside.
pub(super) fn map_gives(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("map_gives", graph);
    let known = assigned(graph);
    for (id, placed) in graph.nodes() {
        for (port, jump, header) in graph.edges(id) {
            let Some(Node::Map { give, .. }) = graph.get(header).map(|h| &h.node) else { continue };
            if jump != Jump::Again {
                continue;
            }
            let mut state = known.get(&id).cloned().unwrap_or_default();
            state.extend(placed.node.assigns(port).into_iter().cloned());
            if !state.contains(give) {
                found.at(id, format!("the item ends here, and the slot `{give}` that the map gives is not assigned"));
            }
        }
        let inner = map_around(graph, id);
        let assigns: BTreeSet<&Arc<str>> =
            placed.node.ports().iter().flat_map(|port| placed.node.assigns(*port)).collect();
        for slot in assigns {
            let elsewhere = graph.nodes().find(|(other, them)| {
                let theirs = them.node.ports().iter().any(|port| them.node.assigns(*port).contains(&slot));
                theirs && map_of_assignment(graph, *other, slot) != map_of_assignment(graph, id, slot)
            });
            if let Some((other, _)) = elsewhere
                && inner.is_some()
            {
                found.at(id, format!("the slot `{slot}` is assigned inside a map and, by n{}, outside it", other.0));
            }
        }
    }
    found.violations
}

fn map_around(graph: &Graph, id: NodeId) -> Option<NodeId> {
    graph.regions(id).into_iter().find(|&header| graph.get(header).is_some_and(|h| matches!(h.node, Node::Map { .. })))
}

/// The map inside which a node assigns a slot: the item of a map is assigned inside it, its result outside.
fn map_of_assignment(graph: &Graph, id: NodeId, slot: &Arc<str>) -> Option<NodeId> {
    match graph.get(id).map(|placed| &placed.node) {
        Some(Node::Map { item, .. }) if item == slot => Some(id),
        _ => map_around(graph, id),
    }
}
