//! Checks of tool calls and of the state that they leave behind.

use std::sync::Arc;

use aigo_ir::check::{self, CallMode, CallPattern, Expected, Made, Operand};
use aigo_ir::message::{ASSISTANT, MessageKind};
use aigo_ir::path::Path;
use aigo_ir::program::Tool;
use aigo_ir::text::excerpt;
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};
use aigo_ir::verdict::Verdict;

use super::Stepper;
use super::check::Asked;
use crate::lane::GraphRef;
use crate::world::{Faults, World, filled};

impl Stepper<'_> {
    /// The calls that are expected. `rendered` are their texts, in order.
    pub(super) fn expected(&self, calls: &[CallPattern], rendered: &[Arc<str>]) -> Result<Vec<Expected>, String> {
        let mut texts = rendered.iter();
        let expected = calls.iter().map(|call| {
            let tool = self.linked.program.tools.iter().find(|tool| tool.name == call.name);
            let Some(pairs) = &call.args else { return Ok(Expected { tool: call.name.clone(), args: None }) };
            let mut args = Map::default();
            for (name, operand) in pairs {
                let value = match operand {
                    Operand::Data(value) => value.clone(),
                    Operand::Text(_) => argument(tool, name, texts.next().cloned().unwrap_or_default()),
                };
                args.set(name.clone(), value);
            }
            // With the defaults that a call would have; one that no call can have is compared as it is.
            let args =
                tool.and_then(|tool| filled(tool, &Value::Map(Arc::new(args.clone())).to_json()).ok()).unwrap_or(args);
            Ok(Expected { tool: call.name.clone(), args: Some(Arc::new(args)) })
        });
        expected.collect()
    }

    /// The calls that the assistant made: in the turn of a step, or in the whole conversation.
    fn made(&self) -> Vec<Made> {
        let conversation = &self.lane.conversation;
        let first = match self.lane.graph {
            GraphRef::Solve(_) => conversation.turn(),
            GraphRef::Score(_) => 0,
        };
        let calls = conversation.labelled(first, u32::MAX).into_iter().filter_map(|(label, message)| {
            let MessageKind::Call { tool, arguments, .. } = &message.kind else { return None };
            let declared = self.linked.program.tools.iter().find(|declared| declared.name == *tool);
            let plain = || match Value::of_json(arguments) {
                Some(Value::Map(map)) => Some(map),
                _ => None,
            };
            let args = declared.and_then(|tool| filled(tool, arguments).ok()).map(Arc::new).or_else(plain);
            let made = Made { label: label.into(), tool: tool.clone(), args, written: arguments.clone() };
            (&*message.author == ASSISTANT).then_some(made)
        });
        calls.collect()
    }

    pub(super) fn tool_calls(&self, expected: &[Expected], mode: CallMode, asked: &Asked<'_>) -> Verdict {
        let made = self.made();
        let compared = check::compare(expected, &made, mode);
        // A call that was not made has no words to quote.
        let wrong = compared.wrong.filter(|_| !compared.holds).and_then(|at| made.get(at));
        let shown = wrong.or_else(|| made.last().filter(|_| compared.holds));
        let quote = shown.map_or_else(String::new, |call| excerpt(&call.written, 120));
        let label = shown.map_or("", |call| &*call.label);
        let verdict = check::verdict(compared.holds, asked.negated, &compared.reason, &compared.reason, label, &quote);
        // Precision and recall are worth reading of calls that pass as well.
        Verdict { reason: compared.reason.into(), ..verdict }
    }

    /// The values at paths of the state.
    pub(super) fn state(
        &self,
        paths: &[(Arc<str>, Operand)],
        rendered: &[Arc<str>],
        negated: bool,
    ) -> Result<Verdict, String> {
        let Some(state) = &self.lane.world.state else { return Err("the task has no state".to_owned()) };
        let mut texts = rendered.iter();
        let mut wrong = Vec::new();
        for (path, operand) in paths {
            let place = Path::parse(path).map_err(|error| format!("the path `{path}`: {}", error.message))?;
            let seen = place.get(state);
            let wanted = match operand {
                Operand::Data(value) => value.clone(),
                Operand::Text(_) => typed(texts.next().cloned().unwrap_or_default(), seen.map(Type::of).as_ref()),
            };
            if !seen.unwrap_or(&Value::Null).same(&wanted) {
                wrong.push(format!("`{path}` is {}, not {}", shown(seen), shown(Some(&wanted))));
            }
        }
        let held = if paths.len() == 1 { "the value is there" } else { "all values are there" };
        Ok(check::verdict(wrong.is_empty(), negated, &wrong.join("; "), held, "", ""))
    }

    /// Whether the state is what calls make of the first one.
    pub(super) fn state_after(&self, expected: &[Expected], negated: bool) -> Result<Verdict, String> {
        let program = &self.linked.program;
        let mut world = World::of(program, self.sample);
        for call in expected {
            let arguments =
                call.args.as_ref().map_or_else(|| "{}".to_owned(), |args| Value::Map(args.clone()).to_json());
            let conversation = &self.lane.conversation;
            let answered = world.call(program, &call.tool, &arguments, Faults::Ignored, self.sample, conversation);
            let why = answered.map_or_else(|| Some("it has no rules".to_owned()), |response| response.refused);
            if let Some(why) = why {
                return Err(format!("`state_after`: the expected call of `{}` is refused: {why}", call.tool));
            }
        }
        let (Some(state), Some(wanted)) = (&self.lane.world.state, &world.state) else {
            return Err("the task has no state".to_owned());
        };
        let missed = check::difference("", state, wanted).map(|(path, is, should)| {
            format!("`{path}` is {}, and these calls make it {}", shown(is.as_ref()), shown(should.as_ref()))
        });
        let seen = "the state is what these calls make of it";
        Ok(check::verdict(missed.is_none(), negated, missed.as_deref().unwrap_or_default(), seen, "", ""))
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "not there".to_owned(), |value| excerpt(&value.to_json(), 80))
}

/// A rendered text as an argument: of a tool that is declared as its type has it.
fn argument(tool: Option<&Tool>, name: &str, text: Arc<str>) -> Value {
    let param = tool.and_then(|tool| tool.params.iter().find(|param| &*param.name == name));
    typed(text, param.map(|param| &param.ty))
}

/// A rendered text where a number or a boolean is wanted is that number or boolean.
fn typed(text: Arc<str>, ty: Option<&Type>) -> Value {
    match ty {
        Some(Type::Maybe(ty)) => typed(text, Some(ty)),
        Some(Type::Bool | Type::Int | Type::Number) => {
            let read = Value::of_json(text.trim())
                .filter(|value| matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_)));
            read.unwrap_or(Value::Str(text))
        }
        _ => Value::Str(text),
    }
}
