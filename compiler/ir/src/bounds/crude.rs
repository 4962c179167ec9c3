//! A count that is quickly made and mostly far above the bound: where even this is below a limit, nothing more need be asked.

use super::affine::MANY;
use crate::expr::{Function, Kind};
use crate::graph::{Graph, NodeId};
use crate::message::USER;
use crate::node::{Bound, Node, Said};
use crate::program::Program;
use crate::value::Value;

/// No sample that begins without messages makes more calls than this. Each node is counted as often as the loops and maps
/// around it let it be, as if all ways were gone.
pub fn crude(program: &Program) -> u64 {
    crude_beside(program, |_| 0)
}

/// The same of a program that lacks the graphs of some scorers: `others` says how many calls those make at most in a
/// conversation of so many turns.
pub fn crude_beside(program: &Program, others: impl Fn(u64) -> u64) -> u64 {
    let of_solve = |graph: &Graph| {
        let (calls, turns) = counted(graph, None);
        let scored = program.scorers.iter().filter_map(|scorer| scorer.graph.as_ref());
        let scored = scored.fold(calls, |sum, graph| sum.saturating_add(counted(graph, Some(turns)).0));
        scored.saturating_add(others(turns))
    };
    program.solves.iter().map(of_solve).max().unwrap_or(0)
}

/// Calls, and turns that begin. `turns` are those of the conversation that is scored; none in one that is going on.
fn counted(graph: &Graph, turns: Option<u64>) -> (u64, u64) {
    // Headers come before their regions, so what is around them is known.
    let mut often: Vec<u64> = Vec::with_capacity(graph.nodes().len());
    let (mut calls, mut begun) = (0_u64, 0_u64);
    for (_, placed) in graph.nodes() {
        let within = |header: NodeId| -> u64 {
            let around = often.get(header.0 as usize).copied().unwrap_or(1);
            around.saturating_mul(graph.get(header).map_or(1, |header| passes(&header.node, turns)))
        };
        let times = placed.region.map_or(1, within);
        often.push(times);
        match &placed.node {
            Node::Generate { .. } | Node::Tool { .. } => calls = calls.saturating_add(times),
            Node::Append { said: Said::History(_), .. } => begun = MANY,
            Node::Append { author, audience: None, .. } if **author == *USER => begun = begun.saturating_add(times),
            _ => {}
        }
    }
    (calls, begun)
}

fn passes(node: &Node, turns: Option<u64>) -> u64 {
    let list = match node {
        Node::Loop { bound: Bound::Times(n), .. } => return u64::from(*n),
        Node::Loop { bound: Bound::Items { list, .. }, .. } | Node::Map { list, .. } => list,
        _ => return 1,
    };
    match &list.kind {
        Kind::Literal(Value::List(items)) => items.len() as u64,
        Kind::Call(Function::JudgedTurns | Function::Turns, none) if none.is_empty() => turns.unwrap_or(MANY),
        // What only the run knows has no bound that would say anything.
        _ => MANY,
    }
}
