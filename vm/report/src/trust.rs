//! What stands behind the numbers and was never held against anything. It is a statement of every report, and no finding.

use std::collections::BTreeSet;

use aigo_ir::node::Node;
use aigo_ir::program::{Player, Program};

/// The judges and simulated users of a program that a model or an application plays.
pub(crate) fn never_checked(program: &Program) -> Vec<String> {
    let is_scripted = |role: &str| program.role(role).is_none_or(|role| matches!(role.player, Player::Scripted(_)));
    let mut judges = BTreeSet::new();
    for graph in program.scorers.iter().filter_map(|scorer| scorer.graph.as_ref()) {
        for (_, placed) in graph.nodes() {
            if let Node::Generate { role, .. } = &placed.node
                && !is_scripted(role)
            {
                judges.insert(role.to_string());
            }
        }
    }
    let is_simulated = program.solves.iter().flat_map(aigo_ir::graph::Graph::nodes).any(|(_, placed)| {
        matches!(&placed.node, Node::Generate { role, .. } if &**role == aigo_ir::message::USER) && !is_scripted("user")
    });
    let judges = judges.into_iter().map(|role| format!("`{role}` against people's verdicts"));
    judges.chain(is_simulated.then(|| "the simulated user against real ones".to_owned())).collect()
}
