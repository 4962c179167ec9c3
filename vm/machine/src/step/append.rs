//! Messages that are appended.

use std::sync::Arc;

use aigo_ir::key::KeyWriter;
use aigo_ir::message::{Message, MessageKind};
use aigo_ir::node::{Port, Said};
use aigo_ir::template::Template;
use aigo_ir::value::Value;

use super::{Next, Stepper, broken};
use crate::ask::{Answer, Position, ToolCall};
use crate::lane::GraphRef;

impl Stepper<'_> {
    pub(super) fn append(
        &mut self,
        author: &Arc<str>,
        audience: Option<&Arc<str>>,
        said: &Said,
    ) -> Result<Next, String> {
        if let Some(over) = self.turns_used_up(author, audience) {
            return Ok(over);
        }
        let kind = audience.map_or(MessageKind::Say, |audience| MessageKind::System { audience: audience.clone() });
        match said {
            Said::Template(template) => {
                let text = self.render(template)?;
                Arc::make_mut(&mut self.lane.conversation).push(author.clone(), kind, text);
            }
            Said::AnyOf(choices) => {
                let text = self.render(self.drawn(choices)?)?;
                Arc::make_mut(&mut self.lane.conversation).push(author.clone(), kind, text);
            }
            Said::History(expr) => {
                let list = self.eval(expr)?;
                let messages = list.as_list().map(|items| items.iter().map(Message::from_value).collect());
                let Some(Some(messages)): Option<Option<Vec<Message>>> = messages else {
                    return Err(format!("`{expr}` is no list of messages"));
                };
                let conversation = Arc::make_mut(&mut self.lane.conversation);
                for said in messages {
                    conversation.push(said.author, said.kind, said.text);
                }
            }
            Said::Text(expr) => {
                let text = self.text(expr)?;
                Arc::make_mut(&mut self.lane.conversation).push(author.clone(), kind, text);
            }
            Said::Reply(slot) => {
                let reply = self.lane.slot(self.shape, slot).cloned().unwrap_or_default();
                let text: Arc<str> = match reply.get("text") {
                    Some(Value::Str(text)) => text.clone(),
                    _ => return broken("a reply without text"),
                };
                let calls = reply.get("calls").and_then(Value::as_list).unwrap_or_default();
                let conversation = Arc::make_mut(&mut self.lane.conversation);
                if !text.is_empty() || calls.is_empty() {
                    conversation.push(author.clone(), kind, text);
                }
                for call in calls.iter().filter_map(ToolCall::from_value) {
                    let kind = MessageKind::Call { id: call.id, tool: call.tool, arguments: call.arguments };
                    conversation.push(author.clone(), kind, "".into());
                }
            }
        }
        Ok(Next::Follow(Port::Next))
    }

    /// What an answer in the conversation leaves beside its words: what was read for it, and how long it took.
    pub(super) fn answers(&mut self, role: &Arc<str>, answer: &Answer) {
        if !matches!(self.lane.graph, GraphRef::Solve(_)) || self.lane.item_of.is_some() {
            return;
        }
        let conversation = Arc::make_mut(&mut self.lane.conversation);
        conversation.took(role.clone(), answer.ms.unwrap_or(0));
        for chunk in &answer.context {
            conversation.push(role.clone(), MessageKind::Read, chunk.clone());
        }
    }

    /// Keeps the conversation and the world where a scorer looks at the step of this node.
    pub(super) fn mark(&mut self) -> Result<(), String> {
        if matches!(self.lane.graph, GraphRef::Solve(_)) && self.lane.item_of.is_none() {
            let linked = self.linked;
            for label in linked.labels_of(&self.placed()?.path) {
                let mark = (Arc::clone(&self.lane.conversation), self.lane.world.clone());
                self.lane.marks.insert(Arc::clone(label), mark);
            }
        }
        Ok(())
    }

    /// One of several texts, drawn by the place of the step in this sample and epoch: the same in every run.
    fn drawn<'t>(&self, choices: &'t [(Template, u32)]) -> Result<&'t Template, String> {
        let mut writer = KeyWriter::new("aigo.said.1");
        writer.u64(self.linked.program.seed).str(&self.sample.key).u64(u64::from(self.sample.epoch));
        let (graph, node) = (self.linked.graph_name(self.lane.graph), self.placed()?.path.clone());
        Position { graph, node, index: self.lane.index() }.hash_into(&mut writer);
        let total: u64 = choices.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut drawn = writer.finish().number() % total.max(1);
        for (text, weight) in choices {
            if drawn < u64::from(*weight) {
                return Ok(text);
            }
            drawn -= u64::from(*weight);
        }
        broken("several texts of no weight")
    }
}
