//! What cannot be run as it is: refused before any call, never skipped in silence.

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{ChatModel, Player, Program};

use crate::error::NO_BOUND;
use crate::purse;

/// One diagnostic for each part of the program that cannot be run, in the program's order, at the place where the task has it.
pub fn missing(program: &Program) -> Vec<Diagnostic> {
    unbounded(program)
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
