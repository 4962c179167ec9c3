//! What this build compiles and cannot run yet. It is refused before any call, each part by its name and place: a part that
//! was passed over in silence would be a run that says nothing.

use aigo_ir::check::Test;
use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::gate::{Aggregate, Decide, Gate};
use aigo_ir::node::Node;
use aigo_ir::program::Program;
use aigo_ir::span::Origin;

use crate::error::CANNOT_RUN;

/// One finding for each part of the program that this build cannot run.
pub fn missing(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    scorers(program, &mut found);
    gates(program, &mut found);
    found
}

fn refuse(found: &mut Vec<Diagnostic>, what: &str, origin: Origin) {
    let message = format!("this build checks and compiles {what}, and cannot run it yet");
    found.push(match origin.0 {
        Some(span) => CANNOT_RUN.at(span, message),
        None => CANNOT_RUN.nowhere(message),
    });
}

fn scorers(program: &Program, found: &mut Vec<Diagnostic>) {
    for graph in program.graphs() {
        for (_, placed) in graph.nodes() {
            if let Node::Check { test, .. } = &placed.node
                && matches!(test, Test::Within(_) | Test::ToolCalls(..) | Test::State(_) | Test::StateAfter(_))
            {
                refuse(found, &format!("the check `{}`", test.word()), placed.origin);
            }
        }
    }
    for scorer in &program.scorers {
        if let Some(label) = &scorer.at {
            let nodes = scorer.graph.iter().flat_map(aigo_ir::graph::Graph::nodes);
            let origin = nodes.map(|(_, placed)| placed.origin).find(|origin| origin.0.is_some());
            let what = format!("`at: {label}` of the scorer `{}`", scorer.name);
            refuse(found, &what, origin.unwrap_or_default());
        }
    }
}

fn gates(program: &Program, found: &mut Vec<Diagnostic>) {
    for gate in &program.gates {
        if let Some(what) = part_of(gate) {
            refuse(found, &format!("{what}, in `{}`", gate.text()), gate.origin);
        }
    }
}

/// The part of a gate that no report of this build computes. What is held against a baseline is skipped by the report.
fn part_of(gate: &Gate) -> Option<String> {
    match gate.aggregate {
        Aggregate::PassAt(_) | Aggregate::PassAll(_) | Aggregate::CiLow => Some(format!("`{}`", gate.aggregate.word())),
        _ if gate.of_turns => Some("aggregates of turns".to_owned()),
        _ if gate.tags.is_some() => Some("a choice of tags".to_owned()),
        _ if gate.decide != Decide::Point => Some(format!("`decide: {}`", gate.decide.word())),
        _ => None,
    }
}
