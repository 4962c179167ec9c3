//! What a solve graph's shape says of early endings: from where a conversation can still come to its regular end, and which
//! expectations it would surely have met on the way.

use std::collections::{BTreeMap, BTreeSet};

use aigo_ir::graph::{Graph, NodeId};
use aigo_ir::node::{Ending, Jump, Node, Port};
use aigo_ir::program::EXPECTATIONS;

/// A solve graph's regular ends, seen from each of its nodes.
pub(crate) struct Regular {
    /// Of each node that can reach a regular end: the expectations that lie on every way there. Passes of a loop around the
    /// node that would follow are no part of the way.
    certain: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Regular {
    pub(crate) fn of(graph: &Graph) -> Self {
        let regular = certain(graph, &[Ending::Completed, Ending::Recorded, Ending::TurnLimit]);
        // A task that stops on every path has no other end than its stops.
        let certain = if regular.is_empty() {
            certain(graph, &[Ending::Condition, Ending::Done, Ending::GaveUp])
        } else {
            regular
        };
        Self { certain }
    }

    /// Whether a conversation at this node can still come to a regular end.
    pub(crate) fn goes_on(&self, node: NodeId) -> bool {
        self.certain.contains_key(&node)
    }

    /// The expectations on every way to a regular end from the ports of `fork` that were not taken.
    pub(crate) fn left(&self, graph: &Graph, fork: NodeId, taken: Port) -> BTreeSet<NodeId> {
        let untaken = graph.edges(fork).filter(|(port, ..)| *port != taken);
        let targets = untaken.filter_map(|(_, jump, to)| onward(graph, fork, jump, to));
        targets.filter_map(|to| self.certain.get(&to)).flatten().copied().collect()
    }
}

/// Where an edge leads if no further pass is made: what goes back to a header goes on behind its loop.
fn onward(graph: &Graph, mut from: NodeId, mut jump: Jump, mut to: NodeId) -> Option<NodeId> {
    while graph.goes_back(from, jump) {
        from = to;
        (jump, to) = graph.follow(from, Port::Done)?;
    }
    Some(to)
}

fn certain(graph: &Graph, endings: &[Ending]) -> BTreeMap<NodeId, BTreeSet<NodeId>> {
    let mut found: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let onward_of = |id: NodeId| -> Vec<NodeId> {
        graph.edges(id).filter_map(|(_, jump, to)| onward(graph, id, jump, to)).collect()
    };
    // Every node after what it leads to; a list and not recursion, because a task can have thousands of steps.
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    let mut stack: Vec<(NodeId, bool)> = graph.entry().map(|entry| (entry, false)).into_iter().collect();
    while let Some((id, through)) = stack.pop() {
        if through {
            order.push(id);
        } else if seen.insert(id) {
            stack.push((id, true));
            stack.extend(onward_of(id).into_iter().map(|to| (to, false)));
        }
    }
    for id in order {
        let Some(placed) = graph.get(id) else { continue };
        let ways: Vec<&BTreeSet<NodeId>> = onward_of(id).iter().filter_map(|to| found.get(to)).collect();
        let common = ways.split_first().map(|(first, rest)| {
            first.iter().copied().filter(|node| rest.iter().all(|way| way.contains(node))).collect::<BTreeSet<_>>()
        });
        match (&placed.node, common) {
            (Node::Exit { ending }, _) if endings.contains(ending) => {
                found.insert(id, BTreeSet::new());
            }
            (Node::Score { scorer, .. }, Some(mut common)) if &**scorer == EXPECTATIONS => {
                common.insert(id);
                found.insert(id, common);
            }
            (_, Some(common)) => {
                found.insert(id, common);
            }
            (_, None) => {}
        }
    }
    found
}
