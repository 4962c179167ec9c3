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
pub(super) fn defined(graph: &Graph) -> BTreeMap<NodeId, Names> {
    let asks = graph.nodes().any(|(_, placed)| match &placed.node {
        Node::Branch { when } => {
            let mut asked = false;
            when.visit(&mut |part| asked |= matches!(part.kind, Kind::Defined(_)));
            asked
        }
        _ => false,
    });
    if !asks {
        return BTreeMap::new();
    }
    let through = |id: NodeId, port: Port, state: &Names| {
        let mut out = state.clone();
        let Some(placed) = graph.get(id) else { return out };
        for slot in placed.node.assigns(port) {
            out.remove(slot);
        }
        if let Node::Branch { when } = &placed.node {
            out.extend(typing::defined_where(when, port == Port::Yes));
        }
        if placed.node.is_header() && port == Port::Body {
            // A later pass comes with what the body has left.
            assigned_in(graph, id).iter().for_each(|slot| {
                out.remove(slot);
            });
        }
        out
    };
    flow::forward(graph, &Names::new(), through, |a, b| a.intersection(b).cloned().collect())
}

/// The slots that a region assigns.
fn assigned_in(graph: &Graph, header: NodeId) -> Names {
    let inside = graph.nodes().filter(|(id, _)| graph.regions(*id).contains(&header));
    inside
        .flat_map(|(_, placed)| placed.node.ports().iter().flat_map(|port| placed.node.assigns(*port)))
        .cloned()
        .collect()
}
