//! Invariants of effects: what maps and score graphs may not do, and what score graphs must.

use std::collections::BTreeSet;

use super::{Found, Violation, flow};
use crate::graph::{Graph, NodeId};
use crate::node::{Ending, Jump, Node, Port, Unit};
use crate::program::Scorer;

/// No append and no tool inside a map: its items run side by side.
pub(super) fn maps_are_pure(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("maps_are_pure", graph);
    for (id, placed) in graph.nodes() {
        if matches!(placed.node, Node::Append { .. } | Node::Tool { .. }) && graph.in_map(id) {
            found.at(id, format!("{} inside a map: its items run side by side", placed.node.word()));
        }
    }
    found.violations
}

/// A score graph never changes the conversation, and ends only by being through.
pub(super) fn score_graphs_only_score(graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("score_graphs_only_score", graph);
    for (id, placed) in graph.nodes() {
        match &placed.node {
            Node::Append { .. } | Node::Tool { .. } => {
                found.at(id, format!("{} in a score graph: the conversation is over", placed.node.word()));
            }
            Node::Exit { ending } if *ending != Ending::Completed => {
                found.at(id, format!("a score graph ends as `completed`, not `{}`", ending.word()));
            }
            _ => {}
        }
    }
    found.violations
}

/// The fewest and the most scores on the paths to a place.
type Count = (u32, u32);

/// Whether the innermost region is a map: inside a loop in a map, a turn could be scored twice.
fn directly_in_map(region: Option<NodeId>, graph: &Graph) -> bool {
    region.and_then(|header| graph.get(header)).is_some_and(|header| matches!(header.node, Node::Map { .. }))
}

/// Exactly one score of the conversation on every path, outside every loop and map; and where the scorer has values for
/// turns, exactly one per item of the map around it.
pub(super) fn one_score_each(scorer: &Scorer, graph: &Graph, order: &[NodeId]) -> Vec<Violation> {
    let mut found = Found::new("one_score_each", graph);
    let scores = |id: NodeId, turn: bool| {
        matches!(graph.get(id).map(|placed| &placed.node),
            Some(Node::Score { unit, .. }) if matches!(unit, Unit::Turn(_)) == turn)
    };
    let add = |(least, most): Count, n: u32| (least + n, most + n);
    let count = |turn: bool| {
        let through = |id: NodeId, port: Port, count: &mut Count| {
            // Inside a region the turns are counted anew.
            let before = if turn && port == Port::Body { (0, 0) } else { *count };
            *count = add(before, u32::from(scores(id, turn)));
        };
        let meet = |a: &mut Count, b: &Count| *a = (a.0.min(b.0), a.1.max(b.1));
        let mut counts: Vec<Option<Count>> = vec![None; graph.nodes().len()];
        flow::forward(graph, order, (0, 0), through, meet, |id, count| {
            if let Some(slot) = counts.get_mut(id.0 as usize) {
                *slot = Some(*count);
            }
        });
        move |id: NodeId| counts.get(id.0 as usize).copied().flatten()
    };
    let (of_conversation, of_turn) = (count(false), count(true));
    let over_turns: BTreeSet<NodeId> =
        graph.nodes().filter(|(id, _)| scores(*id, true)).filter_map(|(_, placed)| placed.region).collect();
    for (id, placed) in graph.nodes() {
        match &placed.node {
            Node::Score { scorer: name, unit, .. } => {
                if *name != scorer.name {
                    found.at(id, format!("a score of `{name}` in the graph of `{}`", scorer.name));
                }
                match unit {
                    Unit::Conversation if placed.region.is_some() => {
                        found.at(id, "the conversation's score inside a loop or map");
                    }
                    Unit::Turn(_) if !directly_in_map(placed.region, graph) => {
                        found.at(id, "a turn's score that is not directly in a map over turns");
                    }
                    Unit::Turn(_) if scorer.over.is_none() => {
                        found.at(id, "a turn's score of a scorer of conversations");
                    }
                    _ => {}
                }
            }
            Node::Exit { .. } if of_conversation(id) != Some((1, 1)) => {
                found.at(id, "a path to this exit gives the conversation no score, or two");
            }
            _ => {}
        }
        for (_, jump, header) in graph.edges(id) {
            let count = of_turn(id).map(|count| add(count, u32::from(scores(id, true))));
            if jump == Jump::Again && over_turns.contains(&header) && count != Some((1, 1)) {
                found.at(id, "a path through this item gives its turn no score, or two");
            }
        }
    }
    found.violations
}
