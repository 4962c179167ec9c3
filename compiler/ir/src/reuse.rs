//! Whose answers a later process, or a later run, may take for its own.

use std::sync::Arc;

use crate::program::{Program, ToolAnswer};
use crate::role::{Call, Player, Role};

/// What a role keeps between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Nothing: each call has all that it needs, so it can be made by itself.
    Stateless,
    /// A session, under an id: the call before it has to have been made in the same session.
    Session,
    /// A process: what it keeps is gone when it ends.
    Process,
}

impl Role {
    /// What the role keeps between two calls.
    pub const fn reuse(&self) -> Reuse {
        match &self.player {
            Player::Http(role) if role.session.is_sticky() => Reuse::Session,
            Player::Command(_) => Reuse::Process,
            Player::Scripted(_) | Player::Chat(_) | Player::Http(_) => Reuse::Stateless,
        }
    }

    /// The version that the task gives an application; none for models and rules, which are what they are.
    pub fn version(&self) -> Option<&Arc<str>> {
        match &self.player {
            Player::Http(role) => role.version.as_ref(),
            Player::Command(role) => role.version.as_ref(),
            Player::Scripted(_) | Player::Chat(_) => None,
        }
    }

    /// Whether the role is somebody's application: one whose answers say nothing of another version's, so that without a
    /// version nothing of it is used again.
    pub const fn is_application(&self) -> bool {
        matches!(&self.player, Player::Http(_) | Player::Command(_))
    }

    /// Whether a conversation that was cut off can go on in the middle: the role keeps nothing, or the task says so.
    pub fn resumes(&self) -> bool {
        match &self.player {
            Player::Http(role) => role.resumable || !role.session.is_sticky(),
            Player::Command(role) => role.resumable,
            Player::Scripted(_) | Player::Chat(_) => true,
        }
    }
}

impl Call {
    /// The name of the call in logs and reports, where roles have theirs: `setup/account`, `teardown/2`. `at` is its place,
    /// from 0. No role of a task has such a name.
    pub fn caller(&self, when: &str, at: usize) -> Arc<str> {
        match &self.name {
            Some(name) => format!("{when}/{name}").into(),
            None => format!("{when}/{}", at + 1).into(),
        }
    }
}

/// The name of the role that answers a tool by a request or a program. No role of a task has such a name.
pub fn tool_role(tool: &str) -> Arc<str> {
    format!("tool/{tool}").into()
}

impl Program {
    /// The call of `setup` or `teardown` by its name in logs.
    pub fn call(&self, caller: &str) -> Option<&Call> {
        let named = |when: &'static str, calls: &[Call]| {
            calls.iter().enumerate().position(|(at, call)| *call.caller(when, at) == *caller)
        };
        let of_setup = named("setup", &self.setup).and_then(|at| self.setup.get(at));
        of_setup.or_else(|| named("teardown", &self.teardown).and_then(|at| self.teardown.get(at)))
    }

    /// Whether a role answers a tool whose calls must not be made twice: it is one that acts, and does not say that a second
    /// call changes nothing.
    pub fn acts_once(&self, role: &str) -> bool {
        self.tools.iter().any(|tool| matches!(&tool.answer, ToolAnswer::Role(by) if **by == *role) && !tool.idempotent)
    }

    /// The roles of the conversation whose session or process is gone when a process of ours ends: a trial that has asked one
    /// of them begins again.
    pub fn begins_again(&self, asked: &str) -> bool {
        self.role(asked).is_some_and(|role| !role.resumes())
    }
}
