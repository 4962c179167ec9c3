//! Keys that a run will need: each `{env: NAME}` without a value is told before anybody waits for it.

use std::collections::BTreeSet;

use aigo_ir::diagnostic::Diagnostics;

use crate::ast::{Model, Player};
use crate::catalog;
use crate::sources::Sources;

/// Notes the names that the environment has no value for, each once, where it is first written.
pub(crate) fn check(models: &[Model], world: &dyn Sources, found: &mut Diagnostics) {
    let mut asked = BTreeSet::new();
    for model in models {
        let Player::Chat(chat) = &model.player else { continue };
        let Some(name) = &chat.api_key else { continue };
        if !asked.insert(&name.value) || world.env_is_set(&name.value) {
            continue;
        }
        let message = format!("the API key {} of the role `{}` is not set", name.value, model.role.value);
        let help = format!("set {0} before a run, or write `{0}=…` into `.env` in the task's folder", name.value);
        found.push(catalog::KEY_NOT_SET.at(name.span, message).help(help));
    }
}
