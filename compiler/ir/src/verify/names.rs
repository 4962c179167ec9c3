//! Invariants of names.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Violation;
use crate::graph::Graph;
use crate::node::Node;
use crate::program::{CallKind, EXPECTATIONS, Player, Program, ToolAnswer};
use crate::schema::Schema;
use crate::span::Origin;
use crate::typing::Names;

fn violation(invariant: &'static str, message: String) -> Violation {
    Violation { invariant, graph: None, node: None, message, origin: Origin::default() }
}

/// Every name is given once in its kind, and slots do not hide fields.
pub(super) fn unique_names(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut once = |kind: &str, names: Vec<&Arc<str>>| {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name) {
                found.push(violation("unique_names", format!("{kind} `{name}` twice")));
            }
        }
    };
    once("the role", program.roles.iter().map(|role| &role.name).collect());
    once("the field", program.fields.iter().map(|field| &field.name).collect());
    once("the tool", program.tools.iter().map(|tool| &tool.name).collect());
    once("the solve graph", program.solves.iter().map(|graph| &graph.name).collect());
    once("the call", program.setup.iter().filter_map(|call| call.name.as_ref()).collect());
    once("the scorer", program.scorers.iter().map(|scorer| &scorer.name).collect());
    let always = Names::always();
    let fields: BTreeSet<&Arc<str>> = program.fields.iter().map(|field| &field.name).collect();
    for field in &program.fields {
        if always.get(&field.name).is_some() {
            found.push(violation(
                "unique_names",
                format!("the field `{}` hides a name that is always there", field.name),
            ));
        }
    }
    for graph in program.graphs() {
        let hides = |name: &Arc<str>| fields.contains(name) || always.get(name).is_some();
        for slot in graph.slots.iter().filter(|slot| hides(&slot.name)) {
            let message =
                format!("in `{}`: the slot `{}` hides a field or a name that is always there", graph.name, slot.name);
            found.push(violation("unique_names", message));
        }
    }
    found
}

/// Every role, scorer and tool that is named exists.
pub(super) fn names_resolve(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut missing = |what: String| found.push(violation("names_resolve", what));
    if program.epochs == 0 {
        missing("a program runs each sample at least once".to_owned());
    }
    for gate in &program.gates {
        if program.scorer(&gate.scorer).is_none() {
            missing(format!("the gate `{}` is over a scorer that is not there", gate.text()));
        }
    }
    for tool in &program.tools {
        if let ToolAnswer::Role(role) = &tool.answer
            && program.role(role).is_none()
        {
            missing(format!("the tool `{}` is answered by the role `{role}`, which is not there", tool.name));
        }
    }
    for scorer in &program.scorers {
        if scorer.graph.is_none() && &*scorer.name != EXPECTATIONS && !scored_on_the_way(program, &scorer.name) {
            missing(format!("the scorer `{}` has no graph, and no solve graph scores it", scorer.name));
        }
    }
    for role in &program.roles {
        match &role.player {
            Player::Scripted(rules) if rules.is_empty() => {
                missing(format!("the scripted role `{}` has no rule", role.name));
            }
            Player::Command(command) if command.call.run.is_empty() => {
                missing(format!("the role `{}` names no program", role.name));
            }
            _ => {}
        }
    }
    for call in program.setup.iter().chain(&program.teardown) {
        if matches!(&call.does, CallKind::Command(command) if command.run.is_empty()) {
            missing("a call of `setup` or `teardown` names no program".to_owned());
        }
    }
    let roles: BTreeSet<&Arc<str>> = program.roles.iter().map(|role| &role.name).collect();
    let scorers: BTreeSet<&Arc<str>> = program.scorers.iter().map(|scorer| &scorer.name).collect();
    for graph in program.graphs() {
        for (id, placed) in graph.nodes() {
            let (role, scorer) = match &placed.node {
                Node::Generate { role, schema: Some(Schema::Verdict(scorer)), .. } => (Some(role), Some(scorer)),
                Node::Generate { role, .. } => (Some(role), None),
                Node::Parse { schema: Schema::Verdict(scorer), .. } | Node::Score { scorer, .. } => {
                    (None, Some(scorer))
                }
                _ => continue,
            };
            if let Some(role) = role.filter(|role| !roles.contains(role)) {
                missing(format!("in `{}`, n{}: there is no role `{role}`", graph.name, id.0));
            }
            if let Some(scorer) = scorer.filter(|scorer| !scorers.contains(scorer)) {
                missing(format!("in `{}`, n{}: there is no scorer `{scorer}`", graph.name, id.0));
            }
        }
    }
    found
}

/// Whether a solve graph gives verdicts of the scorer: a checkpoint.
fn scored_on_the_way(program: &Program, name: &str) -> bool {
    let mut nodes = program.solves.iter().flat_map(Graph::nodes);
    nodes.any(|(_, placed)| matches!(&placed.node, Node::Score { scorer, .. } if **scorer == *name))
}
