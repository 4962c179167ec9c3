//! Calls before and after a sample. One after the other, each recorded like a call of a role; those after it are made however
//! the conversation ended, and say nothing of it.

use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::node::Ending;
use aigo_ir::program::{Call, CallKind, SETUP};
use aigo_ir::value::Value;

use super::{Asked, Pending, Trial};
use crate::ask::{Answer, Ask, Position, Request, TASK_ERROR};
use crate::lane::GraphRef;
use crate::scope::Snapshot;
use crate::sent::{self, Sent};

/// Which calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

impl When {
    const fn word(self) -> &'static str {
        match self {
            Self::Before => "setup",
            Self::After => "teardown",
        }
    }
}

/// A call around the sample that waits for its answer.
pub(super) struct Around {
    pub(super) lane: super::LaneId,
    when: When,
    at: usize,
    pub(super) asked: Asked,
}

impl Trial {
    /// Makes the call at this place, and when there is none goes on: before the sample with the conversation.
    pub(super) fn around(&mut self, when: When, at: usize, asks: &mut Vec<Pending>) {
        let linked = Arc::clone(&self.linked);
        let calls = match when {
            When::Before => &linked.program.setup,
            When::After => &linked.program.teardown,
        };
        let Some(call) = calls.get(at) else {
            if when == When::Before {
                self.converse(asks);
            }
            return;
        };
        let ask = match self.call(call, when, at) {
            Ok(ask) => ask,
            Err(message) if when == When::Before => {
                let message = format!("{}: {message}", call.caller(when.word(), at));
                return self.solved(Ending::TaskError, Some(message), asks);
            }
            // It reads what `setup` has not brought: there is nothing to take down.
            Err(_) => return self.around(when, at + 1, asks),
        };
        let lane = self.fresh();
        let asked = Asked { position: ask.position.clone(), role: ask.request.role.clone(), content: ask.content };
        self.around = Some(Around { lane, when, at, asked });
        asks.push(Pending { lane, ask });
    }

    fn call(&self, call: &Call, when: When, at: usize) -> Result<Ask, String> {
        let setup = self.world.setup.as_ref();
        let names = setup.map(|setup| (SETUP.into(), setup.clone())).into_iter().collect();
        let conversation = Arc::clone(&self.conversation);
        let scope: SharedScope = Arc::new(Snapshot { sample: Arc::clone(&self.sample), conversation, names });
        let input = sent::around_line(&self.sample, setup);
        let mut writer = KeyWriter::new("aigo.around.1");
        writer.str(when.word()).u64(at as u64).str(&self.sample.key).u64(u64::from(self.sample.epoch));
        match &call.does {
            CallKind::Http(call) => {
                writer.str(call.method.word());
                Sent::of(&self.linked.engine, call, &scope)?.hash_into(&mut writer);
            }
            CallKind::Command(call) => {
                writer.list(call.run.len());
                for word in &call.run {
                    writer.str(word);
                }
                writer.str(&input);
            }
        }
        let role = call.caller(when.word(), at);
        let node = role.split_once('/').map_or(&*role, |(_, name)| name).into();
        let position = Position { graph: when.word().into(), node, index: Vec::new() };
        let content: Key = writer.finish();
        let request = Request {
            role,
            messages: Vec::new(),
            schema: None,
            tools: Arc::default(),
            tool: None,
            scope: Some(scope),
            input: Some(input),
        };
        Ok(Ask { position, content, request, timeout_s: None })
    }

    /// Takes the answer of a call around the sample. One before it that fails voids the sample.
    pub(super) fn around_answered(&mut self, around: &Around, answer: &Answer, asks: &mut Vec<Pending>) {
        let Around { when, at, .. } = *around;
        if when == When::After {
            return self.around(when, at + 1, asks);
        }
        let linked = Arc::clone(&self.linked);
        let Some(call) = linked.program.setup.get(at) else { return };
        if let Some(fault) = &answer.fault {
            let said = if answer.text.is_empty() { String::new() } else { format!(": {}", answer.text) };
            let ending = if **fault == *TASK_ERROR { Ending::TaskError } else { Ending::ToolFailure };
            let message = format!("the call {} failed: {fault}{said}", call.caller(when.word(), at));
            return self.solved(ending, Some(message), asks);
        }
        if let Some(name) = &call.name {
            // What is no JSON is a text.
            let reply = Value::of_json(&answer.text).unwrap_or_else(|| Value::Str(Arc::clone(&answer.text)));
            let known = self.world.setup.as_ref().and_then(Value::as_map).cloned();
            let mut setup = known.unwrap_or_default();
            setup.set(Arc::clone(name), reply);
            self.world.setup = Some(Value::Map(Arc::new(setup)));
        }
        self.around(when, at + 1, asks);
    }

    /// Begins the conversation.
    fn converse(&mut self, asks: &mut Vec<Pending>) {
        let solve = self.linked.program.solves.iter().position(|graph| graph.name == self.sample.graph);
        match solve {
            Some(at) => self.begin(GraphRef::Solve(at), asks),
            None => {
                let message =
                    format!("the sample names the solve graph `{}`, which is not in the program", self.sample.graph);
                self.solved(Ending::TaskError, Some(message), asks);
            }
        }
    }
}
