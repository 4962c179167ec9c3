//! Stage 3: types. Expressions and templates are read and checked against what the samples have and the steps bind.

use std::sync::Arc;

use aigo_ir::check::CheckKind;
use aigo_ir::diagnostic::{Diagnostics, Row};
use aigo_ir::eval;
use aigo_ir::expr::Expr;
use aigo_ir::message::ASSISTANT;
use aigo_ir::program::{Answer, ChatModel, Dialect, Field, Player, Role, Rule};
use aigo_ir::span::{Origin, SourceMap, Span, Spanned};
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::typing::{self, Mistake, Names, TypeError};
use aigo_ir::value::Value;

use crate::ast::{self, Leaf};
use crate::catalog;
use crate::dataset::Profile;
use crate::resolve::{JUDGE, Resolved};
use crate::typed::{Check, Judge, Method, Scorer, Simulate, Step, Task, Verb};

/// Types a task. Where not all samples could be read, names that are not known are no mistakes: they may be fields.
pub(crate) fn check(
    resolved: &Resolved,
    profile: &Profile,
    fields_known: bool,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Task {
    let task = &resolved.task;
    let mut names = Names::always();
    for (name, ty) in profile.types() {
        names.insert(name.clone(), ty);
    }
    let mut checker = Checker { sources, found, profile, fields_known, names: names.clone(), bound: Vec::new() };
    let steps = checker.steps(&task.solvers);
    checker.names.clone_from(&names);
    let scorers = task.scorers.iter().map(|scorer| checker.scorer(scorer)).collect();
    checker.names.insert("scorer", Type::Str);
    checker.names.insert("judged", Type::Int);
    let judges: Vec<&str> = task.scorers.iter().filter_map(judge_of).collect();
    let roles = task.models.iter().map(|model| checker.role(model, &judges)).collect();
    Task {
        name: task.name.as_ref().map_or("", |name| name.value.as_str()).into(),
        seed: task.seed.unwrap_or(0),
        epochs: task.epochs.unwrap_or(1),
        limits: task.limits.clone(),
        fields: profile.types().map(|(name, ty)| Field { name: name.clone(), ty }).collect(),
        roles,
        steps,
        expects: resolved.expects,
        scorers,
        gates: resolved.gates.clone(),
    }
}

struct Checker<'c> {
    sources: &'c SourceMap,
    found: &'c mut Diagnostics,
    profile: &'c Profile,
    /// Whether all samples could be read: otherwise a name may be a field of those that could not.
    fields_known: bool,
    names: Names,
    /// What steps have bound so far, with the place of the first time.
    bound: Vec<Spanned<Arc<str>>>,
}

impl Checker<'_> {
    /// Reports the mistakes of a text; `unreadable` is the row of what cannot be read.
    fn report(&mut self, leaf: &Leaf, unreadable: &'static Row, errors: Vec<TypeError>) {
        for error in errors {
            if error.name.is_some() && !self.fields_known {
                continue;
            }
            let row = match error.mistake {
                Mistake::Syntax => unreadable,
                Mistake::Unknown => &catalog::UNKNOWN_NAME,
                Mistake::MayBeMissing => &catalog::MAY_BE_MISSING,
                Mistake::Type | Mistake::Condition => &catalog::WRONG_TYPE,
            };
            let field =
                error.name.as_ref().and_then(|name| self.profile.fields.iter().find(|field| field.name == *name));
            let lacking =
                field.and_then(|field| field.lacking.as_ref()).filter(|_| error.mistake == Mistake::MayBeMissing);
            let message = match (lacking, &error.name) {
                (Some(place), Some(name)) => format!("`{name}` is read here, and {} has no such field", place.text),
                _ => error.message,
            };
            let span = leaf.locate(self.sources, error.range.clone());
            let mut diagnostic = row.at(span, message).maybe_help(error.help);
            if let Some(place) = lacking {
                diagnostic = diagnostic.related(place.span, "the field is missing here");
            }
            if let Some(text) = error.fix.filter(|text| self.is_plain(leaf, span, error.range, text)) {
                diagnostic = diagnostic.fix(format!("write `{text}`"), span, text);
            }
            self.found.push(diagnostic);
        }
    }

    /// Whether the text can be put into the file as it is: the place is exactly the words, and no style of YAML has to escape
    /// or quote anything of it.
    fn is_plain(&self, leaf: &Leaf, span: Span, range: std::ops::Range<usize>, text: &str) -> bool {
        let file = self.sources.get(span.file);
        let written = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
        written.is_some() && written == leaf.text.get(range) && !text.contains(['\'', '"', '\\', '\n', '#', ':'])
    }

    fn expr(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let checked = typing::check_expression(&leaf.text, &self.names);
        self.report(leaf, &catalog::BAD_EXPRESSION, checked.errors);
        Some((checked.expr?, checked.ty))
    }

    fn condition(&mut self, leaf: &Leaf) -> Option<Expr> {
        let checked = typing::check_condition_text(&leaf.text, &self.names);
        self.report(leaf, &catalog::BAD_EXPRESSION, checked.errors);
        checked.expr
    }

    /// Reads a template. One that cannot be read is reported and stands for nothing.
    fn template(&mut self, leaf: &Leaf) -> Template {
        let checked = typing::check_template(&leaf.text, &self.names);
        let readable = checked.errors.iter().all(|error| error.mistake != Mistake::Syntax);
        self.report(leaf, &catalog::BAD_TEMPLATE, checked.errors);
        if !readable {
            return Template::new("");
        }
        Template { source: leaf.text.as_str().into(), origin: Origin::at(leaf.span) }
    }

    /// Binds a name for the steps that follow.
    fn bind(&mut self, name: &Spanned<String>, ty: Type) -> Arc<str> {
        let text: Arc<str> = name.value.as_str().into();
        let first = self.bound.iter().find(|bound| bound.value == text).map(|bound| bound.span);
        if first.is_none() && self.names.get(&text).is_some() {
            let kind =
                if Names::always().get(&text).is_some() { "is always in scope" } else { "is a field of the samples" };
            let message = format!("`{text}` cannot be bound: it {kind}");
            self.found.push(catalog::NAME_TWICE.at(name.span, message).help("choose another name"));
            return text;
        }
        if let (Some(first), Some(known)) = (first, self.names.get(&text))
            && !ty.fits(known)
        {
            let message = format!("`{text}` is bound to {ty} here, and to {known} before");
            self.found.push(catalog::WRONG_TYPE.at(name.span, message).related(first, "bound first here"));
        } else if first.is_none() {
            self.names.insert(text.clone(), ty);
            self.bound.push(Spanned::new(text.clone(), name.span));
        }
        text
    }

    fn steps(&mut self, steps: &[ast::Step]) -> Vec<Step> {
        steps.iter().filter_map(|step| self.step(step)).collect()
    }

    fn step(&mut self, step: &ast::Step) -> Option<Step> {
        let when = step.when.as_ref().and_then(|when| self.condition(when));
        let verb = match &step.verb {
            ast::Verb::System(text) => Verb::System(self.template(text)),
            ast::Verb::User(text) => Verb::Say { author: "user", text: self.template(text) },
            ast::Verb::Assistant(text) => Verb::Say { author: "assistant", text: self.template(text) },
            ast::Verb::Generate(role) => {
                let role = role.as_ref().map_or(ASSISTANT, |role| role.value.as_str());
                Verb::Generate { role: role.into() }
            }
            ast::Verb::SimulateUser(simulate) => Verb::SimulateUser(Box::new(self.simulate(simulate))),
            ast::Verb::Script(lines) => Verb::Script(lines.iter().map(|line| self.template(line)).collect()),
            ast::Verb::Loop { times, until, steps } => {
                // `until` is asked before the first pass, so it cannot read what the body binds.
                let until = until.as_ref().and_then(|until| self.condition(until));
                Verb::Loop { times: *times, until, steps: self.steps(steps) }
            }
            ast::Verb::If { when, then, otherwise } => {
                let when = self.condition(when);
                let (then, otherwise) = (self.steps(then), self.steps(otherwise));
                Verb::If { when: when?, then, otherwise }
            }
            ast::Verb::Stop { when, only_loop } => {
                Verb::Stop { when: when.as_ref().and_then(|when| self.condition(when)), only_loop: *only_loop }
            }
            ast::Verb::Set(pairs) => {
                let mut bound = Vec::new();
                for (name, leaf) in pairs {
                    if let Some((expr, ty)) = self.expr(leaf) {
                        let name = self.bind(name, ty.clone());
                        bound.push((name, ty, expr));
                    }
                }
                Verb::Set(bound)
            }
        };
        let is_reply = matches!(verb, Verb::Generate { .. });
        let label = step
            .label
            .as_ref()
            .map(|label| if is_reply { self.bind(label, Type::Reply) } else { label.value.as_str().into() });
        let expect = step.expect.iter().map(|check| self.text_check(check)).collect();
        Some(Step { verb, label, when, expect, stop_on_fail: step.stop_on_fail, origin: Origin::at(step.span) })
    }

    fn simulate(&mut self, simulate: &ast::Simulate) -> Simulate {
        let mut maybe = |leaf: &Option<Leaf>| leaf.as_ref().map(|leaf| self.template(leaf));
        let (persona, knows, opening) = (maybe(&simulate.persona), maybe(&simulate.knows), maybe(&simulate.opening));
        Simulate { goal: self.template(&simulate.goal), persona, knows, opening, min_turns: simulate.min_turns }
    }

    fn text_check(&mut self, check: &ast::Check) -> Check {
        let wanted = self.template(&check.wanted);
        if check.kind.0 == CheckKind::Matches
            && wanted.is_literal()
            && let Err(why) = eval::regex(&wanted.source)
        {
            let message = format!("`{}` is no regular expression: {why}", aigo_ir::text::excerpt(&wanted.source, 60));
            self.found
                .push(catalog::BAD_PATTERN.at(check.wanted.span, message).help("the syntax is that of Rust's `regex`"));
        }
        let who = check.who.as_ref().map_or(ASSISTANT, |who| who.value.as_str()).into();
        Check { kind: check.kind, wanted, who, turns: check.turns, origin: Origin::at(check.span) }
    }

    fn scorer(&mut self, scorer: &ast::Scorer) -> Scorer {
        let method = match &scorer.method {
            ast::Method::Check(check) => Method::Check(self.text_check(check)),
            ast::Method::Judge(judge) => Method::Judge(Box::new(Judge {
                role: judge.model.as_ref().map_or(JUDGE, |model| model.value.as_str()).into(),
                rubric: self.template(&judge.rubric),
                scale: judge.scale.clone(),
                anchors: judge.anchors.clone(),
                per_turn: judge.per_turn,
                window: judge.window,
                evidence: judge.evidence,
            })),
        };
        let name = scorer.name.value.as_str().into();
        Scorer { name, method, pass: scorer.pass, over: scorer.over, origin: Origin::at(scorer.span) }
    }

    fn role(&mut self, model: &ast::Model, judges: &[&str]) -> Role {
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

/// The role that judges for a scorer.
fn judge_of(scorer: &ast::Scorer) -> Option<&str> {
    match &scorer.method {
        ast::Method::Judge(judge) => Some(judge.model.as_ref().map_or(JUDGE, |model| model.value.as_str())),
        ast::Method::Check(_) => None,
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
