//! Roles and their rules.

use super::Printer;
use crate::lines::Line;
use crate::program::{Answer, ChatModel, Player, Role, Rule};

impl Printer<'_> {
    pub(super) fn role(&mut self, role: &Role) {
        match &role.player {
            Player::Scripted(rules) => {
                self.open(Line::new(0, "role").text(&role.name).word("scripted"));
                for rule in rules {
                    self.rule(rule);
                }
            }
            Player::Chat(model) => {
                self.open(Line::new(0, "role").text(&role.name).word("chat"));
                self.model(model);
            }
        }
        self.close(0);
    }

    fn rule(&mut self, rule: &Rule) {
        let mut line = Line::new(1, "rule");
        if let Some(when) = &rule.when {
            line.pair("when", &when.to_string());
        }
        match &rule.answer {
            Answer::Say { text, status } => {
                line.pair("say", &text.source);
                if let Some(status) = status {
                    line.pair_word("status", status);
                }
            }
            Answer::AnyOf(texts) => {
                self.open(line.word("any_of"));
                for (text, weight) in texts {
                    self.line(Line::new(2, "choice").text(&text.source).pair_word("weight", weight));
                }
                return self.close(1);
            }
            Answer::Verdict(shape) => {
                line.pair_value("verdict", shape);
            }
            Answer::Fault(status) => {
                line.pair_word("fault", status);
            }
        }
        self.line(&line);
    }

    fn model(&mut self, model: &ChatModel) {
        let mut line = Line::new(1, "model");
        line.text(&model.model).pair_word("dialect", model.dialect.word()).pair("endpoint", &model.endpoint);
        line.pair("base_url", &model.base_url);
        if let Some(name) = &model.api_key {
            line.pair("api_key", name);
        }
        self.line(&line);
        for (name, value) in &model.parameters {
            self.line(Line::new(1, "parameter").text(name).word(&format!("@{}", value.to_json())));
        }
        if let Some((input, output)) = model.price {
            self.line(Line::new(1, "price").pair_number("input", input).pair_number("output", output));
        }
    }
}
