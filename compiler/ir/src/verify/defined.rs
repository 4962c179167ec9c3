//! What is surely not missing at a node, because a branch before it asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::flow;
use crate::expr::Kind;
use crate::graph::{Graph, NodeId};
use crate::node::{Node, Port};
use crate::typing;

type Names = BTreeSet<Arc<str>>;

/// Of each node: the names that are defined on every way to it. Empty where no branch asks.
pub(super) fn defined(graph: &Graph, order: &[NodeId]) -> BTreeMap<NodeId, Names> {
    let asks = graph.nodes().any(|(_, placed)| match &placed.node {
        Node::Branch { when } => {
            let mut asked = false;
            when.visit(&mut |part| asked |= matches!(part.kind, Kind::Defined(_) | Kind::Is(..) | Kind::Compare(..)));
            asked
        }
        _ => false,
    });
    let mut found = BTreeMap::new();
    if !asks {
        return found;
    }
    let through = |id: NodeId, port: Port, out: &mut Names| {
        let Some(placed) = graph.get(id) else { return };
        for slot in placed.node.assigns(port) {
            out.remove(slot);
        }
        if let Node::Branch { when } = &placed.node {
            out.extend(typing::defined_where(when, port == Port::Yes));
        }
        if placed.node.is_header() && port == Port::Body {
            // A later pass comes with what the body has left.
            for slot in assigned_in(graph, id) {
                out.remove(&slot);
            }
        }
    };
    let meet = |known: &mut Names, out: &Names| known.retain(|name| out.contains(name));
    flow::forward(graph, order, Names::new(), through, meet, |id, state| {
        found.insert(id, state.clone());
    });
    found
}

/// The slots that a region assigns.
fn assigned_in(graph: &Graph, header: NodeId) -> Names {
    let inside = graph.nodes().filter(|(id, _)| is_inside(graph, *id, header));
    inside
        .flat_map(|(_, placed)| placed.node.ports().iter().flat_map(|port| placed.node.assigns(*port)))
        .cloned()
        .collect()
}

fn is_inside(graph: &Graph, id: NodeId, header: NodeId) -> bool {
    let mut inner = id;
    // A header comes before its region, so this ends.
    while let Some(region) = graph.get(inner).and_then(|placed| placed.region).filter(|region| *region < inner) {
        if region == header {
            return true;
        }
        inner = region;
    }
    false
}
