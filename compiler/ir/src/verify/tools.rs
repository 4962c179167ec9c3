//! The invariant of tools.

use super::Violation;
use crate::expr::{Expr, Kind};
use crate::program::{Program, Tool, ToolAnswer, ToolRules};
use crate::span::Origin;
use crate::ty::Type;
use crate::typing::{self, Names};

/// The names that a tool's rules may read: what every expression may, and its parameters.
pub fn tool_names(program: &Program, tool: &Tool) -> Names {
    let mut names = program.names();
    for param in &tool.params {
        names.insert(param.name.clone(), param.ty.clone());
    }
    names
}

/// The rules of tools are typed, and set only what is in the state.
pub(super) fn tools(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    for tool in &program.tools {
        let ToolAnswer::Rules(rules) = &tool.answer else { continue };
        let names = tool_names(program, tool);
        for message in mistakes(rules, &names) {
            let message = format!("the tool `{}`: {message}", tool.name);
            found.push(Violation { invariant: "tools", graph: None, node: None, message, origin: Origin::default() });
        }
    }
    found
}

fn mistakes(rules: &ToolRules, names: &Names) -> Vec<String> {
    let (mut errors, mut messages) = (Vec::new(), Vec::new());
    if let Some(require) = &rules.require {
        typing::check_condition(require, names, &mut errors);
    }
    for (path, value) in &rules.set {
        let (to, from) = (typing::check(path, names, &mut errors), typing::check(value, names, &mut errors));
        if !is_path_of_state(path) {
            messages.push(format!("`{path}` is no path of the state"));
        }
        if !from.fits(&to) && to != Type::Any {
            messages.push(format!("`{path}` is of type {to}, and {from} is put into it"));
        }
    }
    if let Some(returns) = &rules.returns {
        typing::check(returns, names, &mut errors);
    }
    messages.extend(errors.into_iter().map(|error| error.message));
    messages
}

/// `state`, and attributes and items of it.
pub fn is_path_of_state(path: &Expr) -> bool {
    match &path.kind {
        Kind::Name(name) => &**name == "state",
        Kind::Attribute(object, _) | Kind::Item(object, _) => is_path_of_state(object),
        _ => false,
    }
}
