//! Roles: who plays them.

mod chat;
mod http;
mod limits;
mod rules;
mod secrets;

pub(crate) use secrets::is_long_key;

use aigo_ir::program::Price;
use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader};
use crate::ast::{Model, Player};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn models(&mut self, node: NodeRef<'_>) -> Vec<Model> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            let wanted = "a map of roles: `assistant`, `user`, `judge`";
            if matches!(node.kind(), NodeKind::List(_)) && !node.is_incomplete() {
                let message = format!("`models` must be {wanted}, and this is a list");
                let help = "write `models: {assistant: …}`; models that are compared have a task each, or a run each";
                self.report(catalog::WRONG_KIND.at(node.site(), message).help(help));
            } else {
                self.wrong_kind(node, "`models`", wanted);
            }
        }
        let mut models = Vec::new();
        for entry in node.entries() {
            let Some(role) = self.name(entry.key_node, "the name of a role") else { continue };
            // In a damaged map the keys of a role can look like roles.
            let is_key = shape::ROLE.key(entry.key.value).is_some() && node.is_incomplete();
            if entry.value.is_error() || is_key {
                continue;
            }
            let player = self.without_secrets(entry.value, |reader| reader.player(entry.value, &role.value));
            models.extend(player.map(|player| Model { role, player }));
        }
        models
    }

    fn player(&mut self, node: NodeRef<'_>, role: &str) -> Option<Player> {
        if node.as_str().is_some() {
            return self.chat(None, node).map(|chat| Player::Chat(Box::new(chat)));
        }
        let fields = self.map(node, &shape::ROLE)?;
        let (verb, value) = self.verb(&fields)?;
        self.beside(&fields, verb.value);
        match verb.value {
            "scripted" => Some(Player::Scripted(self.rules(value, role))),
            "model" => self.chat(Some(&fields), value).map(|chat| Player::Chat(Box::new(chat))),
            "http" => self.http_role(&fields, value).map(|http| Player::Http(Box::new(http))),
            _ => {
                let version = fields.get("version").and_then(|node| self.version_of(node));
                let resumable =
                    fields.get("resumable").is_some_and(|node| self.flag(node, "resumable").unwrap_or_default());
                let command = self.command(&fields, value)?;
                Some(Player::Command(crate::ast::Command { resumable, ..command }, version))
            }
        }
    }

    /// Reports the keys that mean nothing beside this verb.
    fn beside(&mut self, fields: &Fields<'_>, verb: &str) {
        for key in shape::ROLE.names().filter(|key| fields.is_idle(key, verb)) {
            let message = if verb == "scripted" {
                format!("`{key}` means nothing for a scripted role")
            } else {
                format!("`{key}` means nothing beside `{verb}`")
            };
            let inside = verb == "http" && shape::HTTP.key(key).is_some();
            let help =
                if inside { format!("write it inside of `http`: `http: {{{key}: …}}`") } else { "remove it".into() };
            self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help(help));
        }
    }

    /// A version is a text; a number is taken as it is written.
    pub(super) fn version_of(&mut self, node: NodeRef<'_>) -> Option<Spanned<String>> {
        let leaf = self.leaf(node, "version")?;
        if leaf.text.trim().is_empty() {
            self.report(catalog::BAD_VALUE.at(leaf.span, "`version` is empty").help("name one, or leave the key out"));
            return None;
        }
        Some(Spanned::new(leaf.text, leaf.span))
    }

    /// `{env: NAME}`
    fn secret(&mut self, node: NodeRef<'_>, key: &str) -> Option<Spanned<String>> {
        if matches!(node.kind(), NodeKind::Scalar(_)) {
            let help = format!("write `{key}: {{env: NAME}}`, and set NAME in the environment");
            let message = format!("`{key}` takes the name of an environment variable, never the value itself");
            self.report(catalog::SECRET_IN_TASK.at(node.site(), message).help(help));
            return None;
        }
        let fields = self.map(node, &shape::SECRET)?;
        self.required(&fields, "env").and_then(|node| self.variable(node))
    }

    /// The name of an environment variable.
    fn variable(&mut self, node: NodeRef<'_>) -> Option<Spanned<String>> {
        let name = self.text(node, "env")?;
        if !is_variable(&name.value) {
            // What stands here may be the key itself, so it is not repeated.
            let help = "write the variable's name, such as `OPENAI_API_KEY`, and set it in the environment";
            self.report(catalog::BAD_VALUE.at(name.span, "`env` takes the name of an environment variable").help(help));
            return None;
        }
        Some(name)
    }

    fn price(&mut self, node: NodeRef<'_>) -> Option<Price> {
        if node.value().as_ref().and_then(Value::as_f64).is_some() {
            let message = "a price must be a map with `input` and `output`, and this is a number";
            let help = "write what the provider takes in USD per million tokens: `{input: 3, output: 15}`";
            self.report(catalog::WRONG_KIND.at(node.site(), message).help(help));
            return None;
        }
        let fields = self.map(node, &shape::PRICE)?;
        let (input, output) = (self.required(&fields, "input"), self.required(&fields, "output"));
        let input = input.and_then(|node| self.amount(node, "input"));
        let output = output.and_then(|node| self.amount(node, "output"));
        let cached_input = match fields.get("cached_input") {
            None => None,
            Some(node) => Some(self.amount(node, "cached_input")?),
        };
        Some(Price { input: input?, output: output?, cached_input })
    }

    fn amount(&mut self, node: NodeRef<'_>, key: &str) -> Option<f64> {
        let found = self.number(node, key)?;
        if found < 0.0 {
            let message = format!("`{key}` is {found}, and a price is not negative");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write USD per million tokens"));
            return None;
        }
        if found > MOST_PRICE {
            let message = format!("`{key}` is {found}, and no million tokens cost more than {MOST_PRICE} USD");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write USD per million tokens"));
            return None;
        }
        Some(found)
    }
}

/// More than this is a slip, and sums of it could not be told exactly.
const MOST_PRICE: f64 = 1e6;

/// Whether a text can be the name of an environment variable.
fn is_variable(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
