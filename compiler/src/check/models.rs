//! Roles and the rules of scripted ones.

use std::sync::Arc;

use aigo_ir::program::{Answer, ChatModel, Dialect, Player, Role, Rule};
use aigo_ir::value::Value;

use super::Checker;
use crate::ast;

impl Checker<'_> {
    pub(super) fn role(&mut self, model: &ast::Model, judges: &[&str]) -> Role {
        let player = match &model.player {
            ast::Player::Scripted(rules) => Player::Scripted(rules.iter().filter_map(|rule| self.rule(rule)).collect()),
            ast::Player::Chat(chat) => Player::Chat(chat_model(chat, judges.contains(&model.role.value.as_str()))),
        };
        Role { name: model.role.value.as_str().into(), player }
    }

    fn rule(&mut self, rule: &ast::Rule) -> Option<Rule> {
        let when = match &rule.when {
            None => None,
            Some(leaf) => Some(self.condition(leaf)?),
        };
        let answer = match &rule.answer {
            ast::Answer::Say(text, status) => {
                Answer::Say { text: self.template(text), status: status.as_deref().map(Arc::from) }
            }
            ast::Answer::AnyOf(choices) => {
                Answer::AnyOf(choices.iter().map(|(text, weight)| (self.template(text), *weight)).collect())
            }
            ast::Answer::Verdict(shape, leaves) => {
                for leaf in leaves {
                    self.template(leaf);
                }
                Answer::Verdict(shape.clone())
            }
            ast::Answer::Fault(status) => Answer::Fault(*status),
        };
        Some(Rule { when, answer })
    }
}

/// A judge draws as little as it can unless the task says otherwise; nothing else is filled in.
fn chat_model(chat: &ast::Chat, judges: bool) -> ChatModel {
    let mut parameters: Vec<(Arc<str>, Value)> =
        chat.parameters.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
    if judges && !parameters.iter().any(|(name, _)| &**name == "temperature") {
        parameters.insert(0, ("temperature".into(), Value::Int(0)));
    }
    ChatModel {
        dialect: Dialect::OpenAiCompatible,
        model: chat.model.as_str().into(),
        endpoint: chat.endpoint.as_deref().unwrap_or("openai_compatible").into(),
        base_url: chat.base_url.as_str().into(),
        api_key: chat.api_key.as_ref().map(|name| name.value.as_str().into()),
        parameters,
        price: chat.price,
    }
}
