//! What a run will need from the environment: each name without a value is told before anybody waits for it.

use std::collections::BTreeSet;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::Spanned;

use crate::ast::{Call, CallKind, Chat, Command, Header, HeaderValue, Player, Task};
use crate::catalog;
use crate::sources::Sources;

/// Notes the names that the environment has no value for, each once, where it is first written.
pub(crate) fn check(task: &Task, world: &dyn Sources, found: &mut Diagnostics) {
    let mut asked = BTreeSet::new();
    for Needed { name, what } in needed(task) {
        if !asked.insert(&name.value) || world.env_is_set(&name.value) {
            continue;
        }
        let help = format!("set {0} before a run, or write `{0}=…` into `.env` in the task's folder", name.value);
        found.push(catalog::KEY_NOT_SET.at(name.span, format!("{what} is not set")).help(help));
    }
}

/// A variable that a run reads.
struct Needed<'t> {
    name: &'t Spanned<String>,
    /// `the API key OPENAI_API_KEY of the role …`
    what: String,
}

fn needed(task: &Task) -> Vec<Needed<'_>> {
    let mut all = Vec::new();
    for model in &task.models {
        let of = format!("the role `{}`", model.role.value);
        match &model.player {
            Player::Scripted(_) => {}
            Player::Chat(chat) => of_chat(chat, &of, &mut all),
            Player::Http(http) => of_headers(&http.request.headers, &of, &mut all),
            Player::Command(command, _) => of_command(command, &of, &mut all),
        }
    }
    for (calls, of) in [(&task.setup, "`setup`"), (&task.teardown, "`teardown`")] {
        for Call { does, .. } in calls {
            match does {
                CallKind::Http(request) => of_headers(&request.headers, of, &mut all),
                CallKind::Command(command) => of_command(command, of, &mut all),
            }
        }
    }
    for tool in &task.tools {
        let of = format!("the tool `{}`", tool.name.value);
        match tool.by.as_ref().map(|by| &by.does) {
            Some(CallKind::Http(request)) => of_headers(&request.headers, &of, &mut all),
            Some(CallKind::Command(command)) => of_command(command, &of, &mut all),
            None => {}
        }
    }
    all
}

fn of_chat<'t>(chat: &'t Chat, of: &str, all: &mut Vec<Needed<'t>>) {
    if let Some(name) = &chat.api_key {
        all.push(Needed { name, what: format!("the API key {} of {of}", name.value) });
    }
    of_headers(&chat.headers, of, all);
}

fn of_headers<'t>(headers: &'t [Header], of: &str, all: &mut Vec<Needed<'t>>) {
    for header in headers {
        if let HeaderValue::Env(name, _) = &header.value {
            let what = format!("the variable {} for the header `{}` of {of}", name.value, header.name.value);
            all.push(Needed { name, what });
        }
    }
}

fn of_command<'t>(command: &'t Command, of: &str, all: &mut Vec<Needed<'t>>) {
    for (_, name) in &command.env {
        all.push(Needed { name, what: format!("the variable {} for the command of {of}", name.value) });
    }
}
