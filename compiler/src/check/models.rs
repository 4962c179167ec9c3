//! Roles, the rules of scripted ones, and limits that roles must bear.

mod http;
mod parameters;

use aigo_ir::program::{Answer, Player, Role, Rule, SETUP, ScriptedCall};
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::typing::Names;

use super::Checker;
use crate::ast;
use crate::catalog;

impl Checker<'_> {
    /// The roles. Each kind reads names of its own beside those of the samples, which are `names`.
    pub(super) fn roles(&mut self, task: &ast::Task, judges: &[&str], names: &Names) -> Vec<Role> {
        let mut of_rules = names.clone();
        of_rules.insert("scorer", Type::Str);
        of_rules.insert("judged", Type::Int);
        let mut of_applications = names.clone();
        insert_setup(&mut of_applications, &task.setup);
        of_applications.insert("message", Type::Str);
        of_applications.insert("session", Type::Str);
        of_applications.insert("chat", aigo_ir::verify::chat());
        let mut roles = Vec::new();
        for model in &task.models {
            let name = model.role.value.as_str();
            let player = match &model.player {
                ast::Player::Scripted(rules) => {
                    self.names.clone_from(&of_rules);
                    Player::Scripted(rules.iter().filter_map(|rule| self.rule(rule)).collect())
                }
                ast::Player::Chat(chat) => Player::Chat(self.chat(chat, judges.contains(&name))),
                ast::Player::Http(http) => {
                    self.names.clone_from(&of_applications);
                    match self.http_role(http) {
                        Some(http) => Player::Http(Box::new(http)),
                        None => continue,
                    }
                }
                ast::Player::Command(command, version) => Player::Command(command_role(command, version.as_ref())),
            };
            roles.push(Role { name: name.into(), player, origin: Origin::at(model.role.span) });
        }
        self.names.clone_from(names);
        roles.extend(task.tools.iter().filter_map(|tool| self.tool_role(tool, task, names)));
        self.names.clone_from(names);
        roles
    }

    fn rule(&mut self, rule: &ast::Rule) -> Option<Rule> {
        let when = match &rule.when {
            None => None,
            Some(leaf) => Some(self.condition(leaf)?),
        };
        let answer = match &rule.answer {
            ast::Answer::Nothing => Answer::Say { text: Template::new(""), status: None },
            ast::Answer::Say(text, status) => {
                Answer::Say { text: self.template(text), status: status.as_deref().map(Into::into) }
            }
            ast::Answer::AnyOf(choices, status) => Answer::AnyOf {
                texts: choices.iter().map(|(text, weight)| (self.template(text), *weight)).collect(),
                status: status.as_deref().map(Into::into),
            },
            ast::Answer::Verdict(shape, leaves) => {
                self.templates(leaves);
                Answer::Verdict(shape.clone())
            }
            ast::Answer::Fault(fault) => Answer::Fault(*fault),
        };
        let mut calls = Vec::new();
        for call in &rule.calls {
            let (args, leaves) = &call.args;
            self.templates(leaves);
            calls.push(ScriptedCall { name: call.name.value.as_str().into(), args: args.clone() });
        }
        let context = rule.context.iter().map(|chunk| self.template(chunk)).collect();
        Some(Rule { when, answer, calls, context })
    }

    fn templates(&mut self, leaves: &[ast::Leaf]) {
        for leaf in leaves {
            self.template(leaf);
        }
    }

    /// A limit of cost needs the price of every model that is asked.
    pub(super) fn prices(&mut self, task: &ast::Task, asked: &[String]) {
        let without = task.models.iter().filter(|model| match &model.player {
            ast::Player::Chat(chat) => !chat.has_price && asked.contains(&model.role.value),
            _ => false,
        });
        let without: Vec<_> = without.map(|model| &model.role).collect();
        let Some(first) = without.first() else { return };
        let names: Vec<String> = without.iter().map(|role| format!("`{}`", role.value)).collect();
        let subject = if names.len() == 1 { "the role" } else { "the roles" };
        let verb = if names.len() == 1 { "has" } else { "have" };
        let message = format!("a limit of cost needs prices, and {subject} {} {verb} none", names.join(", "));
        let help = format!(
            "write what the provider takes in USD per million tokens: `{}: {{…, price: {{input: 3, output: 15}}}}`",
            first.value
        );
        // One lack, told once, however many limits need it.
        let Some(cost) = task.limits.costs.first() else { return };
        let diagnostic = catalog::NO_PRICE.at(*cost, message);
        let diagnostic =
            without.iter().fold(diagnostic, |diagnostic, role| diagnostic.related(role.span, "has no price"));
        self.found.push(diagnostic.help(help));
    }
}

/// `setup`, with the reply of each of these calls that has a name.
fn insert_setup(names: &mut Names, calls: &[ast::Call]) {
    let replies = calls.iter().filter_map(|call| Some((call.name.as_ref()?.value.as_str().into(), Type::Any)));
    let replies: Vec<_> = replies.collect();
    if !replies.is_empty() {
        names.insert(SETUP, Type::Record(replies));
    }
}

fn command_role(
    command: &ast::Command,
    version: Option<&aigo_ir::span::Spanned<String>>,
) -> aigo_ir::program::CommandRole {
    let version = version.map(|version| version.value.as_str().into());
    aigo_ir::program::CommandRole { call: http::command(command), resumable: command.resumable, version }
}
