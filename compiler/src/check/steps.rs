//! Steps.

use std::sync::Arc;

use aigo_ir::expr::{Expr, Function};
use aigo_ir::message::{ASSISTANT, Message};
use aigo_ir::span::{Origin, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::typing;

use super::Checker;
use super::paths::ends;
use crate::ast::{self, Leaf};
use crate::catalog;
use crate::typed::{Binding, Lines, Said, Simulate, Step, Verb};

/// How often a role may call tools before it must answer, unless the task says otherwise.
const TOOL_ROUNDS: u32 = 8;

impl Checker<'_> {
    pub(crate) fn steps(&mut self, steps: &[ast::Step]) -> Vec<Step> {
        steps.iter().filter_map(|step| self.step(step)).collect()
    }

    pub(super) fn step(&mut self, step: &ast::Step) -> Option<Step> {
        let before = self.bound.len();
        let typed = self.typed_step(step);
        if step.when.is_some() {
            self.unsure_since(before);
        }
        typed
    }

    fn typed_step(&mut self, step: &ast::Step) -> Option<Step> {
        let when = step.when.as_ref().and_then(|when| self.condition(when));
        let verb = match &step.when {
            None => self.verb(step)?,
            Some(asked) => self.given(asked, true, |checker| checker.verb(step))?,
        };
        let label = step.label.as_ref().map(|label| label.value.as_str().into());
        let reply = match (&verb, &step.label) {
            (Verb::Generate { .. }, Some(label)) => Some(self.bind(label, Type::Reply)),
            (Verb::Judge { .. }, Some(label)) => Some(self.bind(label, Type::Verdict)),
            _ => None,
        };
        let expect = step.expect.iter().filter_map(|check| self.text_check(check)).collect();
        let (stop_on_fail, timeout_s, origin) = (step.stop_on_fail, step.timeout_s, Origin::at(step.span));
        Some(Step { verb, label, reply, when, expect, stop_on_fail, timeout_s, origin })
    }

    fn verb(&mut self, step: &ast::Step) -> Option<Verb> {
        Some(match &step.verb {
            ast::Verb::System(said) => Verb::System(self.said(said)),
            ast::Verb::User(said) => Verb::Say { author: "user", said: self.said(said) },
            ast::Verb::Assistant(said) => Verb::Say { author: "assistant", said: self.said(said) },
            ast::Verb::History(leaf) => Verb::History(self.history(leaf)?),
            ast::Verb::Generate { role, rounds } => {
                let role = role.as_ref().map_or(ASSISTANT, |role| role.value.as_str());
                Verb::Generate { role: role.into(), rounds: rounds.as_ref().map_or(TOOL_ROUNDS, |rounds| rounds.value) }
            }
            ast::Verb::SimulateUser(simulate) => Verb::SimulateUser(Box::new(self.simulate(simulate))),
            ast::Verb::Script(ast::Lines::Texts(lines)) => {
                Verb::Script(Lines::Texts(lines.iter().map(|line| self.template(line)).collect()))
            }
            ast::Verb::Script(ast::Lines::Expression(leaf)) => {
                let (list, _) = self.list(leaf, &Type::Str, "a list of texts")?;
                Verb::Script(Lines::Expression(list))
            }
            ast::Verb::Loop { times, until, steps } => {
                // `until` is asked before the first pass, so it cannot read what the body binds.
                self.paths.in_until = true;
                let until = until.as_ref().and_then(|until| self.condition(until));
                self.paths.in_until = false;
                let before = self.bound.len();
                let steps = self.steps(steps);
                self.unsure_since(before);
                Verb::Loop { times: *times, until, steps }
            }
            ast::Verb::ForEach { list, item, steps } => self.for_each(list, item, steps)?,
            ast::Verb::If { when: asked, then, otherwise } => {
                let when = self.condition(asked);
                let before = self.bound.len();
                let then = self.given(asked, true, |checker| checker.steps(then));
                let of_then = self.unsure_since(before);
                let before = self.bound.len();
                let otherwise = self.given(asked, false, |checker| checker.steps(otherwise));
                let of_else = self.unsure_since(before);
                self.join(&of_then, ends(&then), &of_else, ends(&otherwise));
                Verb::If { when: when?, then, otherwise }
            }
            ast::Verb::Stop { when, only_loop } => {
                Verb::Stop { when: when.as_ref().and_then(|when| self.condition(when)), only_loop: *only_loop }
            }
            ast::Verb::Judge(judge) => {
                let name = step.label.as_ref().map_or("", |label| label.value.as_str()).into();
                Verb::Judge { name, judge: Box::new(self.judge(judge)) }
            }
            ast::Verb::Set(pairs) => Verb::Set(self.set(pairs)),
            ast::Verb::Capture(pairs) => Verb::Capture(self.capture(pairs)),
            ast::Verb::Use(used) => self.used(used)?,
        })
    }

    /// What the steps of a branch may read: names that its condition has asked for are not missing there. What they bind
    /// themselves is known behind it.
    fn given<T>(&mut self, condition: &Leaf, holds: bool, steps: impl FnOnce(&mut Self) -> T) -> T {
        // Of names that are never missing, no condition says more.
        if !self.names.iter().any(|(_, ty)| matches!(ty, Type::Maybe(_))) {
            return steps(self);
        }
        let Ok(expr) = aigo_ir::expr_parse::parse(&condition.text) else { return steps(self) };
        let defined = typing::defined_where(&expr, holds);
        let before: Vec<(Arc<str>, Option<Type>)> =
            defined.iter().map(|name| (name.clone(), self.names.get(name).cloned())).collect();
        self.names = self.names.given(&defined);
        let result = steps(self);
        for (name, ty) in before {
            if let Some(ty) = ty {
                self.names.insert(name, ty);
            }
        }
        result
    }

    fn said(&mut self, said: &ast::Said) -> Said {
        match said {
            ast::Said::One(leaf) => Said::One(self.template(leaf)),
            ast::Said::AnyOf(choices) => {
                Said::AnyOf(choices.iter().map(|(leaf, weight)| (self.template(leaf), *weight)).collect())
            }
        }
    }

    /// An expression that gives a list whose items fit a type; what it should be is told where it does not.
    fn list(&mut self, leaf: &Leaf, item: &Type, wanted: &str) -> Option<(Expr, Type)> {
        let (expr, ty) = self.expr(leaf)?;
        match ty {
            Type::Any => Some((expr, Type::Any)),
            Type::List(inner) if inner.fits(item) => Some((expr, *inner)),
            other => {
                let message = format!("this is of type {other}, and must be {wanted}");
                let help = "write a field that is a list, or a list: `['one', 'two']`";
                self.found.push(catalog::WRONG_TYPE.at(leaf.span, message).help(help));
                None
            }
        }
    }

    fn history(&mut self, leaf: &Leaf) -> Option<Expr> {
        let (expr, ty) = self.expr(leaf)?;
        match ty {
            Type::Any => Some(expr),
            Type::List(item) if *item == Type::Any || Message::is_of(&item) => Some(expr),
            other => {
                let message = format!("`history` appends messages, and this is of type {other}");
                let help = "give it a list of `{role, content}` or `{author, text}`";
                self.found.push(catalog::WRONG_TYPE.at(leaf.span, message).help(help));
                None
            }
        }
    }

    fn for_each(&mut self, list: &Leaf, item: &Spanned<String>, steps: &[ast::Step]) -> Option<Verb> {
        let found = self.list(list, &Type::Any, "a list");
        let ty = found.as_ref().map_or(Type::Any, |(_, ty)| ty.clone());
        let before = self.bound.len();
        let slot = self.bind(item, ty.clone());
        let steps = self.steps(steps);
        self.unsure_since(before);
        let (list, _) = found?;
        Some(Verb::ForEach { list, item: slot, ty, steps })
    }

    fn set(&mut self, pairs: &[(Spanned<String>, Leaf)]) -> Vec<Binding> {
        let mut bound = Vec::new();
        for (name, leaf) in pairs {
            let found = self.expr(leaf);
            // A name is bound also where its expression cannot be read: reading it is no second mistake.
            let slot = self.bind(name, found.as_ref().map_or(Type::Any, |(_, ty)| ty.clone()));
            bound.extend(found.map(|(expr, ty)| (slot, ty, expr)));
        }
        bound
    }

    /// What a pattern finds in the last message: its first group, or all that matches.
    fn capture(&mut self, pairs: &[(Spanned<String>, Leaf)]) -> Vec<Binding> {
        let mut bound = Vec::new();
        for (name, leaf) in pairs {
            let ty = Type::Maybe(Box::new(Type::Str));
            let slot = self.bind(name, ty.clone());
            let before = self.found.len();
            self.pattern(leaf);
            if self.found.len() > before {
                continue;
            }
            let arguments = vec![Expr::path("last", "text"), Expr::literal(leaf.text.as_str())];
            bound.push((slot, ty, Expr::call(Function::Capture, arguments)));
        }
        bound
    }

    fn simulate(&mut self, simulate: &ast::Simulate) -> Simulate {
        let persona = simulate.persona.as_ref().map(|leaf| self.persona(leaf));
        let language = simulate.language.as_ref().or(self.language);
        let mut maybe = |leaf: Option<&Leaf>| leaf.map(|leaf| self.template(leaf));
        let (knows, opening) = (maybe(simulate.knows.as_ref()), maybe(simulate.opening.as_ref()));
        let (withholds, stop) = (maybe(simulate.withholds.as_ref()), maybe(simulate.stop.as_ref()));
        let language = maybe(language);
        let goal = self.template(&simulate.goal);
        Simulate { goal, persona, knows, withholds, language, stop, opening, min_turns: simulate.min_turns }
    }
}
