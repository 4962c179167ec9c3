//! Steps.

use aigo_ir::message::ASSISTANT;
use aigo_ir::span::Origin;
use aigo_ir::ty::Type;

use super::Checker;
use crate::ast::{self, Leaf};
use crate::typed::{Simulate, Step, Verb};

impl Checker<'_> {
    pub(super) fn steps(&mut self, steps: &[ast::Step]) -> Vec<Step> {
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
        let expect = step.expect.iter().filter_map(|check| self.text_check(check)).collect();
        Some(Step { verb, label, when, expect, stop_on_fail: step.stop_on_fail, origin: Origin::at(step.span) })
    }

    fn simulate(&mut self, simulate: &ast::Simulate) -> Simulate {
        let mut maybe = |leaf: &Option<Leaf>| leaf.as_ref().map(|leaf| self.template(leaf));
        let (persona, knows, opening) = (maybe(&simulate.persona), maybe(&simulate.knows), maybe(&simulate.opening));
        Simulate { goal: self.template(&simulate.goal), persona, knows, opening, min_turns: simulate.min_turns }
    }
}
