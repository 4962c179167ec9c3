//! What this build compiles and cannot run yet: refused before any call, never skipped in silence.

use aigo_ir::check::Test;
use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::node::Node;
use aigo_ir::program::{Call, ChatModel, Player, Program, Role};
use aigo_ir::span::Origin;

use crate::error::{CANNOT_RUN, NO_BOUND};
use crate::purse;

/// One diagnostic for each part of the program that cannot be run, or not yet, in the program's order, at the place where the task has
/// it.
pub fn missing(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    program.roles.iter().for_each(|role| of_role(role, &mut found));
    let calls: [(&str, &[Call]); 2] = [("setup", &program.setup), ("teardown", &program.teardown)];
    for (when, calls) in calls {
        if let Some(first) = calls.first() {
            let n = if calls.len() == 1 { "its call".to_owned() } else { format!("its {} calls", calls.len()) };
            found.push(part(
                first.origin,
                format!("`{when}` with {n}"),
                "remove it, and prepare the application yourself",
            ));
        }
    }
    scorers(program, &mut found);
    found.extend(unbounded(program));
    found
}

/// Models of which no call has a most that it can cost, where the run's cost is limited: a limit that cannot be kept is none.
fn unbounded(program: &Program) -> Vec<Diagnostic> {
    let is_billed = |model: &ChatModel| model.price.is_some_and(|price| price.output > 0.0);
    let models = program.roles.iter().filter(|role| match &role.player {
        Player::Chat(model) => is_billed(model) && purse::most_output(model).is_none(),
        _ => false,
    });
    let limited = models.filter(|_| program.limits.cost_usd.is_some());
    let told = limited.map(|role| {
        let message =
            format!("`limits.cost` cannot be kept: answers of the role `{}` have no greatest length", role.name);
        let diagnostic = match role.origin.0 {
            Some(span) => NO_BOUND.at(span, message),
            None => NO_BOUND.nowhere(message),
        };
        diagnostic.help("give the model `max_tokens`")
    });
    told.collect()
}

fn part(origin: Origin, what: impl std::fmt::Display, help: &str) -> Diagnostic {
    let message = format!("this build checks and compiles {what}, and cannot run it yet");
    let diagnostic = match origin.0 {
        Some(span) => CANNOT_RUN.at(span, message),
        None => CANNOT_RUN.nowhere(message),
    };
    diagnostic.help(help)
}

fn of_role(role: &Role, found: &mut Vec<Diagnostic>) {
    let name = &role.name;
    let scripted = "play the role with a chat model or with `scripted` rules";
    match &role.player {
        Player::Http(_) => found.push(part(role.origin, format!("the role `{name}` that `http` plays"), scripted)),
        Player::Command(_) => {
            found.push(part(role.origin, format!("the role `{name}` that `command` plays"), scripted));
        }
        Player::Scripted(rules) if rules.iter().any(|rule| !rule.context.is_empty()) => {
            let what = format!("`context` in a rule of the role `{name}`");
            found.push(part(role.origin, &what, "remove it from the rule"));
        }
        Player::Chat(_) | Player::Scripted(_) => {}
    }
}

fn scorers(program: &Program, found: &mut Vec<Diagnostic>) {
    for graph in program.graphs() {
        for (_, placed) in graph.nodes() {
            if let Node::Check { test, .. } = &placed.node
                && matches!(test, Test::Within(_))
            {
                found.push(part(placed.origin, format!("the check `{}`", test.word()), "leave it out of this run"));
            }
        }
    }
    for scorer in &program.scorers {
        if let Some(label) = &scorer.at {
            let nodes = scorer.graph.iter().flat_map(aigo_ir::graph::Graph::nodes);
            let origin = nodes.map(|(_, placed)| placed.origin).find(|origin| origin.0.is_some());
            let what = format!("`at: {label}` of the scorer `{}`", scorer.name);
            found.push(part(origin.unwrap_or_default(), what, "score the whole conversation"));
        }
    }
}
