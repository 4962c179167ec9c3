//! Tool calls: answered by the tool's rules at once, or by its role.

use std::sync::Arc;

use aigo_ir::graph::Placed;
use aigo_ir::message::MessageKind;
use aigo_ir::node::{Ending, Node, Port};
use aigo_ir::program::ToolAnswer;
use aigo_ir::value::Value;

use super::{Next, Stepper, broken};
use crate::ask::{Answer, Request, ToolCall};
use crate::lane::Effect;
use crate::world::{Faults, filled, refused};

impl Stepper<'_> {
    /// What rules answer needs nobody, so it is no call of the run, and replay computes it again.
    pub(super) fn tool(&mut self, placed: &Placed, slot: &str) -> Result<Next, String> {
        let call = self.lane.slot(self.shape, slot).and_then(ToolCall::from_value);
        let Some(call) = call else { return broken("a tool node without a call") };
        let Node::Tool { into, .. } = &placed.node else { return broken("no tool") };
        let (program, conversation) = (&self.linked.program, Arc::clone(&self.lane.conversation));
        let (name, arguments) = (&call.tool, &call.arguments);
        let answered = self.lane.world.call(program, name, arguments, Faults::Played, self.sample, &conversation);
        if let Some(response) = answered {
            let mut slot = vec![("text", Value::Str(Arc::clone(&response.text)))];
            slot.extend(response.ends.map(|ending| ("ends", Value::str(ending.word()))));
            self.lane.set(self.shape, into, Value::map(slot));
            self.result(call, response.text);
            return Ok(Next::Follow(Port::Next));
        }
        let tool = program.tools.iter().find(|tool| tool.name == call.tool);
        let Some(ToolAnswer::Role(role)) = tool.map(|tool| &tool.answer) else {
            return broken("a tool that nobody answers");
        };
        // What does not fit is the assistant's affair, and nothing that anybody outside has to see.
        if let Some(tool) = tool.filter(|tool| aigo_ir::reuse::tool_role(&tool.name) == *role)
            && let Err(why) = filled(tool, arguments)
        {
            let response = refused(why);
            self.lane.set(self.shape, into, Value::map([("text", Value::Str(Arc::clone(&response.text)))]));
            self.result(call, response.text);
            return Ok(Next::Follow(Port::Next));
        }
        let request = Request {
            role: role.clone(),
            messages: Vec::new(),
            schema: None,
            tools: Arc::default(),
            tool: Some(call),
            scope: None,
            input: None,
        };
        self.ask(placed, request, None)
    }

    /// Takes the answer of a tool's role.
    pub(super) fn told(&mut self, call: &str, into: &Arc<str>, answer: &Answer) -> Result<Next, String> {
        let made = self.lane.slot(self.shape, call).and_then(ToolCall::from_value);
        let Some(made) = made else { return broken("a result without a call") };
        if let Some(fault) = &answer.fault {
            // What the assistant would have done with a result is unknown: it is none of its failures.
            let said = if answer.text.is_empty() { String::new() } else { format!(": {}", answer.text) };
            self.lane.trouble = Some(format!("the tool `{}` failed: {fault}{said}", made.tool));
            return Ok(Next::Over(Effect::Ended(Ending::ToolFailure)));
        }
        self.lane.set(self.shape, into, answer.to_value());
        self.result(made, answer.text.clone());
        Ok(Next::Follow(Port::Next))
    }

    fn result(&mut self, call: ToolCall, text: Arc<str>) {
        let kind = MessageKind::Result { id: call.id, tool: call.tool.clone() };
        Arc::make_mut(&mut self.lane.conversation).push(call.tool, kind, text);
    }
}
