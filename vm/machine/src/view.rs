//! What a role is shown.

use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::eval::eval;
use aigo_ir::message::{Conversation, Message, MessageKind, fence};
use aigo_ir::node::View;
use aigo_ir::template::Template;
use aigo_ir::value::Value;

use crate::ask::{ChatMessage, ChatRole, ToolCall};
use crate::linked::Linked;

/// What a view shows, and the turn that is judged where it shows only up to a turn.
pub(crate) struct Shown {
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) judged: Option<u32>,
    pub(crate) labels: Vec<String>,
}

/// Renders a view. The message of a failure stands alone.
pub(crate) fn show(
    linked: &Linked,
    view: &View,
    role: &str,
    sample: &str,
    scope: &SharedScope,
) -> Result<Shown, String> {
    let render = |template: &Template| linked.engine.render(template, scope);
    let conversation = scope.conversation();
    match view {
        View::Chat { system, opening } => {
            let mut messages = Vec::with_capacity(conversation.messages().len() + 2);
            if let Some(system) = system {
                messages.push(ChatMessage::new(ChatRole::System, render(system)?));
            }
            chat(conversation, role, &mut messages);
            let last = messages.iter().rev().find(|message| message.role != ChatRole::System);
            if last.is_none_or(|message| message.role == ChatRole::Assistant && message.calls.is_empty()) {
                let Some(opening) = opening else {
                    return Err(format!(
                        "the role `{role}` has nothing to answer: nobody else has spoken since its last message"
                    ));
                };
                messages.push(ChatMessage::new(ChatRole::User, render(opening)?));
            }
            Ok(Shown { messages, judged: None, labels: Vec::new() })
        }
        View::Text { system, question, up_to, window, sees_system, only } => {
            let mut messages = Vec::with_capacity(2);
            if let Some(system) = system {
                messages.push(ChatMessage::new(ChatRole::System, render(system)?));
            }
            let judged = match up_to {
                None => None,
                Some(expr) => match eval(expr, scope.as_ref()).map_err(|fault| fault.message)? {
                    Value::Int(turn) => Some(u32::try_from(turn).unwrap_or(u32::MAX)),
                    other => return Err(format!("`{expr}` is {}; the number of a turn is needed", other.kind())),
                },
            };
            let last = judged.unwrap_or(u32::MAX);
            let first = window.map_or(0, |window| last.min(conversation.turn()).saturating_sub(window));
            let labels = conversation.shown(first, last, only.as_deref()).map(|(label, _)| label).collect();
            let instructions = if *sees_system { conversation.instructions(last) } else { String::new() };
            let transcript = instructions + &conversation.transcript(first, last, only.as_deref());
            let mark = fence(sample, &transcript);
            let question = render(question)?;
            // The transcript comes first, so that the prompts of all judges of a sample share their beginning.
            let text = format!("<transcript {mark}>\n{transcript}</transcript {mark}>\n\n{question}");
            messages.push(ChatMessage::new(ChatRole::User, text));
            Ok(Shown { messages, judged, labels })
        }
    }
}

/// The conversation as a role sees it.
fn chat(conversation: &Conversation, role: &str, out: &mut Vec<ChatMessage>) {
    for message in conversation.messages() {
        let own = &*message.author == role;
        match &message.kind {
            MessageKind::System { audience } if &**audience == role => {
                out.push(ChatMessage::new(ChatRole::System, Arc::clone(&message.text)));
            }
            MessageKind::Say => {
                let speaker = if own { ChatRole::Assistant } else { ChatRole::User };
                out.push(ChatMessage::new(speaker, Arc::clone(&message.text)));
            }
            MessageKind::Call { id, tool, arguments } if own => {
                let call = ToolCall { id: id.clone(), tool: tool.clone(), arguments: arguments.clone() };
                match out.last_mut() {
                    Some(last) if last.role == ChatRole::Assistant => last.calls.push(call),
                    _ => out.push(ChatMessage { calls: vec![call], ..ChatMessage::new(ChatRole::Assistant, "") }),
                }
            }
            MessageKind::Result { id, .. } if out.iter().any(|m| m.calls.iter().any(|call| call.id == *id)) => {
                out.push(tool_result(message, id));
            }
            // Others' instructions and tool traffic are not for this role.
            _ => {}
        }
    }
}

fn tool_result(message: &Message, id: &Arc<str>) -> ChatMessage {
    ChatMessage { answers: Some(id.clone()), ..ChatMessage::new(ChatRole::Tool, Arc::clone(&message.text)) }
}
