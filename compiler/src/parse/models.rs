//! Roles and the rules of scripted ones.

use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader};
use crate::ast::{Answer, Chat, Leaf, Model, Player, Rule};
use crate::catalog;
use crate::shape;

/// The one provider of chat models so far.
const PROVIDER: &str = "openai_compatible/";

impl Reader<'_> {
    pub(super) fn models(&mut self, node: NodeRef<'_>) -> Vec<Model> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`models`", "a map of roles: `assistant`, `user`, `judge`");
        }
        let mut models = Vec::new();
        for entry in node.entries() {
            let Some(role) = self.name(entry.key_node, "the name of a role") else { continue };
            if entry.value.is_error() {
                continue;
            }
            if let Some(player) = self.player(entry.value) {
                models.push(Model { role, player });
            }
        }
        models
    }

    fn player(&mut self, node: NodeRef<'_>) -> Option<Player> {
        let fields = self.map(node, &shape::ROLE)?;
        let (verb, value) = self.verb(&fields)?;
        if verb.value == "scripted" {
            for key in
                ["base_url", "endpoint", "api_key", "temperature", "top_p", "max_tokens", "seed", "stop", "price"]
            {
                if fields.get(key).is_some() {
                    let message = format!("`{key}` means nothing for a scripted role");
                    self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help("remove it"));
                }
            }
            let rules = self.items(value, "scripted", "rules").into_iter().filter_map(|item| self.rule(item));
            return Some(Player::Scripted(rules.collect()));
        }
        self.chat(&fields, value).map(|chat| Player::Chat(Box::new(chat)))
    }

    fn chat(&mut self, fields: &Fields<'_>, value: NodeRef<'_>) -> Option<Chat> {
        let model = self.text(value, "model")?;
        let Some(name) = model.value.strip_prefix(PROVIDER).filter(|name| !name.is_empty()) else {
            let message = format!("`{}` is not a model that this version can ask", model.value);
            let help =
                format!("write `{PROVIDER}NAME` with the `base_url` of a server that speaks OpenAI's chat completions");
            self.report(catalog::NOT_YET.at(model.span, message).help(help));
            return None;
        };
        let base_url = self.required(fields, "base_url").and_then(|node| self.base_url(node));
        let endpoint = fields.get("endpoint").and_then(|node| self.text(node, "endpoint")).map(|text| text.value);
        let api_key = fields.get("api_key").and_then(|node| self.secret(node));
        let price = fields.get("price").and_then(|node| self.price(node));
        let parameters = self.parameters(fields);
        Some(Chat { model: name.to_owned(), base_url: base_url?, endpoint, api_key, parameters, price })
    }

    fn base_url(&mut self, node: NodeRef<'_>) -> Option<String> {
        let text = self.text(node, "base_url")?;
        let trimmed = text.value.trim_end_matches('/');
        if !(trimmed.starts_with("http://") || trimmed.starts_with("https://")) || trimmed.contains(char::is_whitespace)
        {
            let message = format!("`base_url` is `{}`, and must begin with `http://` or `https://`", text.value);
            self.report(catalog::BAD_VALUE.at(text.span, message));
            return None;
        }
        let host = trimmed.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
        if trimmed.contains(['?', '#']) {
            self.report(
                catalog::BAD_VALUE.at(text.span, "`base_url` is an address without a query").help("end it before `?`"),
            );
            return None;
        }
        if host.contains('@') {
            let help = "write `api_key: {env: NAME}`, and set NAME in the environment";
            self.report(
                catalog::BAD_VALUE
                    .at(text.span, "a secret must not stand in a task: `base_url` has one before `@`")
                    .help(help),
            );
            return None;
        }
        Some(trimmed.to_owned())
    }

    fn secret(&mut self, node: NodeRef<'_>) -> Option<Spanned<String>> {
        if node.as_str().is_some() {
            let message = "a secret must not stand in a task".to_owned();
            let help = "write `api_key: {env: NAME}`, and set NAME in the environment";
            self.report(catalog::WRONG_KIND.at(node.site(), message).help(help));
            return None;
        }
        let fields = self.map(node, &shape::SECRET)?;
        let name = self.required(&fields, "env").and_then(|node| self.text(node, "env"))?;
        let first = name.value.chars().next();
        let is_name = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            // What stands here may be the key itself, so it is not repeated.
            let help = "write the variable's name, such as `OPENAI_API_KEY`, and set it in the environment";
            self.report(catalog::BAD_VALUE.at(name.span, "`env` takes the name of an environment variable").help(help));
            return None;
        }
        Some(name)
    }

    fn price(&mut self, node: NodeRef<'_>) -> Option<(f64, f64)> {
        let fields = self.map(node, &shape::PRICE)?;
        let mut amount = |key: &str| {
            let node = self.required(&fields, key)?;
            let found = self.number(node, key)?;
            if found < 0.0 {
                self.report(
                    catalog::BAD_VALUE.at(node.site(), format!("`{key}` is {found}, and a price is not negative")),
                );
                return None;
            }
            Some(found)
        };
        let (input, output) = (amount("input"), amount("output"));
        Some((input?, output?))
    }

    /// In the order of the table, so that equal parameters are equal however they were written.
    fn parameters(&mut self, fields: &Fields<'_>) -> Vec<(&'static str, Value)> {
        let mut found: Vec<(&'static str, Value)> = Vec::new();
        for (key, least, most) in [("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)] {
            let Some(node) = fields.get(key) else { continue };
            match self.number(node, key) {
                Some(x) if (least..=most).contains(&x) => found.extend(node.value().map(|value| (key, value))),
                Some(x) => {
                    let message = format!("`{key}` is {x}, and must be {least} to {most}");
                    self.report(catalog::BAD_VALUE.at(node.site(), message));
                }
                None => {}
            }
        }
        for (key, least) in [("max_tokens", 1), ("seed", 0)] {
            let number = fields.get(key).and_then(|node| self.whole(node, key, least, i64::MAX));
            found.extend(number.map(|n| (key, Value::Int(n))));
        }
        if let Some(node) = fields.get("stop") {
            let texts = self.items(node, "stop", "texts").into_iter().filter_map(|item| self.text(item, "stop"));
            found.push(("stop", Value::list(texts.map(|text| Value::str(text.value)).collect())));
        }
        found
    }

    fn rule(&mut self, node: NodeRef<'_>) -> Option<Rule> {
        if let Some(text) = self.bare(node) {
            return Some(Rule { when: None, answer: Answer::Say(text, None) });
        }
        let fields = self.map(node, &shape::RULE)?;
        let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
        let (verb, value) = self.verb(&fields)?;
        let statuses = [("going", "going"), ("done", "done"), ("gave_up", "gave_up")];
        let status = fields.get("status").and_then(|node| self.one_of(node, "status", &statuses)).map(str::to_owned);
        if status.is_some() && verb.value != "say" {
            let message = format!("`status` goes with `say`, not with `{}`", verb.value);
            self.report(catalog::BAD_VALUE.at(fields.key_span("status"), message));
        }
        let answer = match verb.value {
            "say" => Answer::Say(self.leaf(value, "say")?, status),
            "any_of" => Answer::AnyOf(self.choices(value)),
            "verdict" => self.verdict(value)?,
            _ => Answer::Fault(u16::try_from(self.count(value, "fault", 400..=599)?).ok()?),
        };
        Some(Rule { when, answer })
    }

    /// A bare string: the short form of what needs nothing else.
    fn bare(&mut self, node: NodeRef<'_>) -> Option<Leaf> {
        node.as_str().is_some().then(|| self.leaf(node, "text")).flatten()
    }

    pub(super) fn choices(&mut self, node: NodeRef<'_>) -> Vec<(Leaf, u32)> {
        let mut choices = Vec::new();
        for item in self.items(node, "any_of", "answers") {
            if let Some(text) = self.bare(item) {
                choices.push((text, 1));
            } else if let Some(fields) = self.map(item, &shape::CHOICE) {
                let text = self.required(&fields, "say").and_then(|node| self.leaf(node, "say"));
                let weight = fields.get("weight").map_or(Some(1), |node| self.count(node, "weight", 1..=1_000_000));
                choices.extend(text.zip(weight));
            }
        }
        if choices.is_empty() && !node.is_incomplete() {
            self.report(catalog::BAD_VALUE.at(node.site(), "`any_of` needs at least one answer"));
        }
        choices
    }

    fn verdict(&mut self, node: NodeRef<'_>) -> Option<Answer> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`verdict`", "a map: `{score, reason, evidence}`");
            return None;
        }
        if node.get("score").is_none() && !node.is_incomplete() {
            let message = "a verdict needs `score`".to_owned();
            self.report(
                catalog::MISSING_KEY
                    .at(node.site(), message)
                    .help("a judge that breaks its contract is played with `say`"),
            );
        }
        let mut leaves = Vec::new();
        self.leaves(node, &mut leaves);
        Some(Answer::Verdict(self.value(node)?, leaves))
    }

    fn leaves(&mut self, node: NodeRef<'_>, out: &mut Vec<Leaf>) {
        if node.as_str().is_some() {
            out.extend(self.leaf(node, "text"));
        }
        for item in node.items() {
            self.leaves(item, out);
        }
        for entry in node.entries() {
            self.leaves(entry.value, out);
        }
    }
}
