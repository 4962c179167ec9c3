//! Invariants of shape: each test looks at one edge.

use std::collections::BTreeSet;

use super::{Found, Violation};
use crate::graph::{Graph, NodeId};
use crate::node::{Bound, Jump, MOST_PASSES, Node, Port};

/// There is one entry, the first node, in the outermost region.
pub(super) fn one_entry(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("one_entry", graph);
    match graph.entry().and_then(|entry| graph.get(entry).map(|placed| (entry, placed))) {
        None => found.whole("the graph has no node"),
        Some((entry, placed)) if placed.region.is_some() => found.at(entry, "the entry is inside a region"),
        Some(_) => {}
    }
    found.violations
}

/// Every node has exactly its row's edges.
pub(super) fn ports(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("ports", graph);
    for (id, placed) in graph.nodes() {
        let edges = graph.edges(id);
        for port in placed.node.ports() {
            let count = edges.clone().filter(|(have, ..)| have == port).count();
            if count != 1 {
                found.at(id, format!("{} has {count} edges `{}`, not one", placed.node.word(), port.word()));
            }
        }
        for (port, ..) in edges {
            if !placed.node.ports().contains(&port) {
                found.at(id, format!("{} has an edge `{}`", placed.node.word(), port.word()));
            }
        }
    }
    found.violations
}

/// A region is entered through its header's `body` and left by `done`, `break` or `exit`; nothing leaves a map but `done`.
pub(super) fn regions(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("regions", graph);
    for (id, placed) in graph.nodes() {
        if let Some(header) = placed.region
            && !graph.get(header).is_some_and(|h| h.node.is_header() && header < id)
        {
            found.at(id, format!("its region n{} is no loop or map before it", header.0));
        }
        if matches!(placed.node, Node::Exit { .. }) && graph.in_map(id) {
            found.at(id, "an exit inside a map");
        }
        for (port, jump, to) in graph.edges(id) {
            let target = graph.get(to).and_then(|placed| placed.region);
            let wanted = if port == Port::Body { Some(id) } else { placed.region };
            match jump {
                Jump::On if target != wanted && port == Port::Body => {
                    found.at(id, format!("`body` leads to n{}, which is not in its region", to.0));
                }
                Jump::On if target != wanted => {
                    found.at(id, format!("`{}` leads to n{}, into another region", port.word(), to.0));
                }
                Jump::Break => {
                    let header = placed.region.and_then(|header| graph.get(header).map(|h| (header, h)));
                    match header {
                        None => found.at(id, format!("`{}` breaks outside a loop", port.word())),
                        Some((_, h)) if matches!(h.node, Node::Map { .. }) => found.at(id, "a break out of a map"),
                        Some((header, _)) => {
                            if graph.follow(header, Port::Done).map(|(_, to)| to) != Some(to) {
                                found.at(id, "a break that does not lead where the header's `done` leads");
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    found.violations
}

/// `again` goes only to the header of the node's own region.
pub(super) fn again_to_own_header(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("again_to_own_header", graph);
    for (id, placed) in graph.nodes() {
        for (port, jump, to) in graph.edges(id) {
            if jump == Jump::Again && placed.region != Some(to) {
                found.at(id, format!("`{}` goes again to n{}, not to the header of its own region", port.word(), to.0));
            }
        }
    }
    found.violations
}

/// Without `again` the graph has no cycle, so `order` has all its nodes.
pub(super) fn acyclic(graph: &Graph, order: &[NodeId]) -> Vec<Violation> {
    let mut found = Found::new("acyclic", graph);
    if order.len() < graph.nodes().len() {
        let ordered: BTreeSet<_> = order.iter().copied().collect();
        if let Some((id, _)) = graph.nodes().find(|(id, _)| !ordered.contains(id)) {
            found.at(id, "a cycle that no loop bounds");
        }
    }
    found.violations
}

/// Every node can be reached from the entry.
pub(super) fn reachable(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("reachable", graph);
    let mut seen = vec![false; graph.nodes().len()];
    let mut open: Vec<_> = graph.entry().into_iter().collect();
    while let Some(id) = open.pop() {
        let Some(known) = seen.get_mut(id.0 as usize) else { continue };
        if !std::mem::replace(known, true) {
            open.extend(graph.edges(id).map(|(_, _, to)| to));
        }
    }
    for ((id, _), seen) in graph.nodes().zip(seen) {
        if !seen {
            found.at(id, "nothing leads to it");
        }
    }
    found.violations
}

/// Bounds are literals, or lengths with a cap, within what can be run.
pub(super) fn bounds(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("bounds", graph);
    for (id, placed) in graph.nodes() {
        let bound = match &placed.node {
            Node::Loop { bound: Bound::Times(n) | Bound::Items { cap: n, .. }, .. } | Node::Map { cap: n, .. } => *n,
            _ => continue,
        };
        if bound == 0 || bound > MOST_PASSES {
            found.at(id, format!("a bound of {bound}: 1 to {MOST_PASSES} are possible"));
        }
    }
    found.violations
}

/// No two nodes have the same path: positions are made of them.
pub(super) fn unique_paths(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("unique_paths", graph);
    if !graph.has_twins() {
        return found.violations;
    }
    let mut seen = BTreeSet::new();
    for (id, placed) in graph.nodes() {
        if !seen.insert(&placed.path) {
            found.at(id, format!("a second node of the path `{}`", placed.path));
        }
    }
    found.violations
}
