//! What this build compiles and cannot run yet: refused before any call, never skipped in silence.

use aigo_ir::check::Test;
use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::node::Node;
use aigo_ir::program::{Call, Dialect, Player, Program, Role};
use aigo_ir::span::Origin;

use crate::error::CANNOT_RUN;

/// One diagnostic for each part of the program that cannot be run yet, in the program's order, at the place where the task has
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
    let timed = timed(program);
    if timed.0.is_some() {
        found.push(part(timed, "`timeout` of a step".to_owned(), "remove it, or give the role a `timeout`"));
    }
    let limits = &program.limits;
    if limits.cost_usd.is_some() {
        found.push(part(limits.origin, "`limits.cost`", "write `calls` in its place"));
    }
    if limits.sample != aigo_ir::program::SampleLimits::default() {
        let help = "remove it, and bound each loop by its `max_turns`";
        found.push(part(limits.origin, "`limits.sample`", help));
    }
    found
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
        Player::Chat(model) if model.dialect == Dialect::Anthropic => {
            let what = format!("the role `{name}` of `anthropic/{}`", model.model);
            let help = "ask it through a server that speaks OpenAI's chat completions: `openai_compatible/NAME`";
            found.push(part(role.origin, &what, help));
        }
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

/// The first step that has a time of its own.
fn timed(program: &Program) -> Origin {
    let mut nodes = program.graphs().flat_map(aigo_ir::graph::Graph::nodes);
    let found = nodes.find(|(_, placed)| matches!(placed.node, Node::Generate { timeout_s: Some(_), .. }));
    found.map_or(Origin::default(), |(_, placed)| placed.origin)
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
