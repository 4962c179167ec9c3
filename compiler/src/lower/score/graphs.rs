//! Graphs of judges.

use std::sync::Arc;

use aigo_ir::expr::{Comparison, Expr, Function, Kind};
use aigo_ir::graph::NodeId;
use aigo_ir::node::{Bound, MOST_PASSES, Node, Port, View};
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::{Schema, record_of};
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{Outcome, Scale};

use super::judges::{ATTEMPTS, no_answer, outcome_of};
use super::{Lower, REPLY, TURN, record, without_value};
use crate::lower::prompts;
use crate::typed::{Each, GraphStep, Judge, Scored};

/// Where what is scored goes: the conversation's verdict, or the result of an item.
pub(super) struct Target {
    pub(super) into: Arc<str>,
    /// Whether it is a verdict.
    verdict: bool,
    /// How a list of verdicts becomes one; none for items.
    over: Option<Reducer>,
    /// Whether it is the value of a turn, which is left out where nothing of it was at stake.
    of_turn: bool,
    /// The edges that lead to the end.
    pub(super) ends: Vec<(NodeId, Port)>,
    /// What has been numbered so far, so that slots and paths are told apart.
    count: u32,
}

impl Target {
    /// Of the whole, or of a turn.
    pub(super) const fn of(into: Arc<str>, over: Reducer, of_turn: bool) -> Self {
        Self { into, verdict: true, over: Some(over), of_turn, ends: Vec::new(), count: 0 }
    }
}

impl Lower {
    pub(super) fn graph_steps(&mut self, steps: &[GraphStep], target: &mut Target) {
        for step in steps {
            self.graph_step(step, target);
        }
    }

    fn graph_step(&mut self, step: &GraphStep, target: &mut Target) {
        match step {
            GraphStep::Extract { role, prompt, items, only, needed, into, origin } => {
                let found = format!("_found_{into}");
                let asked = Asked {
                    role,
                    system: prompts::EXTRACT_SYSTEM,
                    question: Template { origin: prompt.origin, ..prompts::extraction(prompt, items, &found) },
                    window: None,
                    sees_system: false,
                    only: only.clone(),
                    schema: Schema::Items(items.clone()),
                    list: items.list(),
                    into,
                    word: "extract",
                    origin: *origin,
                };
                self.within(into, |lower| {
                    lower.list(&asked, target);
                    if *needed {
                        lower.needed(into, *origin, target);
                    }
                });
            }
            GraphStep::Each(each) => {
                match each.steps.first() {
                    Some(GraphStep::Judge { judge, .. }) if each.batch => {
                        self.within(&each.into, |lower| lower.batch(each, judge, target));
                    }
                    _ => self.each(each, target),
                }
                if each.per_turn {
                    self.within(&each.into, |lower| lower.values_of_turns(each));
                }
            }
            GraphStep::Judge { judge, into, origin } => self.judge_step(judge, into.as_ref(), *origin, target),
            GraphStep::Set { name, ty, value, origin } => {
                let into = self.flow.builder.slot(name.clone(), ty.clone());
                self.flow.add(Node::Let { into, value: value.clone() }, &self.path(&format!("set/{name}")), *origin);
            }
            GraphStep::Several(steps) => self.graph_steps(steps, target),
            GraphStep::If { when, then, otherwise, origin } => {
                let branch = self.flow.add(Node::Branch { when: when.clone() }, &self.path("if"), *origin);
                self.flow.replace(vec![(branch, Port::Yes)]);
                self.within("then", |lower| lower.graph_steps(then, target));
                let then = self.flow.replace(vec![(branch, Port::No)]);
                self.within("else", |lower| lower.graph_steps(otherwise, target));
                self.flow.also(then);
            }
            GraphStep::Score { value, origin } => {
                if let Scored::Value(value, ty) = value {
                    self.scored(value, ty, *origin, target);
                }
                // The verdict of the last judge is in its place already.
                target.ends.extend(self.flow.replace(Vec::new()));
            }
        }
    }

    /// Puts a value where it is scored.
    fn scored(&mut self, value: &Expr, ty: &Type, origin: Origin, target: &mut Target) {
        let list = Type::List(Box::new(Type::Verdict));
        let into = target.into.clone();
        if !target.verdict || *ty == Type::Verdict {
            self.flow.add(Node::Let { into, value: value.clone() }, &self.path("value"), origin);
        } else if let (Some(reducer), true) = (target.over, *ty == list) {
            target.count += 1;
            let from = self.flow.builder.slot(format!("_list{}{}", target.count, self.slot_space()), list);
            self.flow.add(Node::Let { into: from.clone(), value: value.clone() }, &self.path("value"), origin);
            let of_list = Node::Reduce { from, reducer, quorum: None, into: into.clone() };
            self.flow.add(of_list, &self.path("over"), origin);
            if target.of_turn {
                self.left_out(&into, origin);
            }
        } else {
            target.count += 1;
            let name = self.flow.builder.slot(format!("_value{}{}", target.count, self.slot_space()), ty.clone());
            self.flow.add(Node::Let { into: name.clone(), value: value.clone() }, &self.path("value"), origin);
            let least = Value::float(self.pass).unwrap_or_default();
            let passes = |number: Expr| Expr::compare(Comparison::GreaterOrEqual, number, Expr::literal(least.clone()));
            let pass = match &self.scale {
                Scale::Boolean if self.pass >= 1.0 => Expr::name(&name),
                Scale::Boolean => Expr::literal(true),
                Scale::Range(..) | Scale::Unit => passes(Expr::name(&name)),
                Scale::Labels(labels) => {
                    let worth = labels.iter().map(|(label, x)| (label.clone(), Value::float(*x).unwrap_or_default()));
                    let table = Box::new(Expr::literal(Value::map(worth)));
                    passes(Expr::new(Kind::Item(table, Box::new(Expr::name(&name)))))
                }
            };
            let value = record(Expr::literal(Outcome::Scored.word()), Expr::name(&name), pass, Expr::literal(""));
            self.flow.add(Node::Let { into, value }, &self.path("verdict_of"), origin);
        }
    }

    /// Slots within a map have names of their own.
    fn slot_space(&self) -> &str {
        &self.suffix
    }

    fn judge_step(&mut self, judge: &Judge, name: Option<&Arc<str>>, origin: Origin, target: &mut Target) {
        target.count += 1;
        let part = name.map_or_else(|| format!("judge{}", target.count), ToString::to_string);
        // Within an item the slots are those of its map.
        let verdict = self.within(&part, |lower| lower.judge_in_graph(judge));
        let into = name.map(|name| self.flow.builder.slot(name.clone(), Type::Verdict));
        if let Some(into) = &into {
            let node = Node::Let { into: into.clone(), value: Expr::name(&verdict) };
            self.flow.add(node, &self.path(&format!("{part}/named")), origin);
        }
        if !target.verdict {
            return;
        }
        if target.over.is_none() {
            // An item comes to what its last judge says, unless something is scored after it.
            let node = Node::Let { into: target.into.clone(), value: Expr::name(&verdict) };
            self.flow.add(node, &self.path(&format!("{part}/given")), origin);
        }
        // A verdict that is missing is what the whole comes to: nothing can be computed of it.
        let scored =
            Expr::compare(Comparison::Equal, Expr::path(&verdict, "outcome"), Expr::literal(Outcome::Scored.word()));
        let branch = self.flow.add(Node::Branch { when: scored }, &self.path(&format!("{part}/scored")), origin);
        self.flow.replace(vec![(branch, Port::No)]);
        if target.over.is_some() {
            let node = Node::Let { into: target.into.clone(), value: Expr::name(&verdict) };
            self.flow.add(node, &self.path(&format!("{part}/missing")), origin);
        }
        target.ends.extend(self.flow.replace(vec![(branch, Port::Yes)]));
    }

    fn each(&mut self, each: &Each, target: &mut Target) {
        target.count += 1;
        let space = format!("{}_{}", self.suffix, each.into);
        let item = self.flow.builder.slot(each.item.clone(), each.item_ty.clone());
        let give = self.flow.builder.slot(format!("_give{space}"), each.gives.clone());
        let into = self.flow.builder.slot(each.into.clone(), Type::List(Box::new(each.gives.clone())));
        let list = each.list.clone();
        let map = Node::Map { list, item, cap: MOST_PASSES, give: give.clone(), into };
        self.flow.enter(map, &self.path(&each.into), each.origin);
        let suffix = std::mem::replace(&mut self.suffix, space);
        let verdict = each.gives == Type::Verdict;
        let mut inner = Target { into: give, verdict, over: None, of_turn: false, ends: Vec::new(), count: 0 };
        self.within(&each.into, |lower| lower.graph_steps(&each.steps, &mut inner));
        self.flow.also(inner.ends);
        self.suffix = suffix;
        self.flow.leave();
    }

    /// One judge is asked once for all items.
    fn batch(&mut self, each: &Each, judge: &Judge, target: &mut Target) {
        let of = self.flow.builder.slot(format!("_batch_{}", each.into), Type::List(Box::new(each.item_ty.clone())));
        let node = Node::Let { into: of.clone(), value: each.list.clone() };
        self.flow.add(node, &self.path("batch"), each.origin);
        let judged = self.judged_of(judge);
        let found = format!("_found_{}", each.into);
        let role = judge.roles.first().cloned().unwrap_or_else(|| crate::resolve::JUDGE.into());
        let question = prompts::batch(judge, each.about.as_ref(), &each.item, &of, &found);
        let asked = Asked {
            role: &role,
            system: prompts::JUDGE_SYSTEM,
            question: Template { origin: judge.rubric.origin, ..question },
            window: judge.window,
            sees_system: judge.sees_system,
            only: None,
            schema: Schema::Verdicts(of.clone(), judged),
            list: Type::List(Box::new(Type::Verdict)),
            into: &each.into,
            word: "judge",
            origin: each.origin,
        };
        // Without an item there is nothing to ask.
        let length = Expr::call(Function::Length, vec![Expr::name(&of)]);
        let some = Expr::compare(Comparison::Greater, length, Expr::literal(0));
        let branch = self.flow.add(Node::Branch { when: some }, &self.path("any"), each.origin);
        self.flow.replace(vec![(branch, Port::Yes)]);
        self.list(&asked, target);
        let asked = self.flow.replace(vec![(branch, Port::No)]);
        let node = Node::Let { into: each.into.clone(), value: Expr::literal(Value::list(Vec::new())) };
        self.flow.add(node, &self.path("none"), each.origin);
        self.flow.also(asked);
    }

    /// Ask for a list, read it, and ask again once where the answer breaks the contract.
    fn list(&mut self, asked: &Asked<'_>, target: &mut Target) {
        let (into, origin) = (asked.into, asked.origin);
        let found = self.flow.builder.slot(format!("_found_{into}"), record_of(asked.list.clone()));
        let outcome = self.flow.builder.slot(format!("_outcome_{into}"), Type::Str);
        let reply = self.slot(REPLY, Type::Reply);
        let counter = self.slot("_attempt", Type::Int);
        let nothing = |complaint: Expr| {
            Expr::map(vec![("items".into(), Expr::literal(Value::list(Vec::new()))), ("complaint".into(), complaint)])
        };
        let invalid = || Expr::literal(Outcome::Invalid.word());
        self.flow.add(Node::Let { into: found.clone(), value: nothing(Expr::literal("")) }, &self.path("list"), origin);
        self.flow.add(Node::Let { into: outcome.clone(), value: invalid() }, &self.path("outcome"), origin);
        self.flow.enter(Node::Loop { bound: Bound::Times(ATTEMPTS), counter }, &self.path("attempts"), origin);
        let view = View::Text {
            system: Some(Template::new(asked.system)),
            question: asked.question.clone(),
            up_to: self.of_turn.then(|| Expr::name(TURN)),
            window: asked.window,
            sees_system: asked.sees_system,
            only: asked.only.clone(),
        };
        let (role, schema) = (asked.role.clone(), asked.schema.clone());
        let schema_of = Some(schema.clone());
        let ask = Node::Generate { role, view, schema: schema_of, tools: false, timeout_s: None, into: reply.clone() };
        let ask = self.flow.add(ask, &self.path(asked.word), asked.question.origin);
        self.flow.take(ask, Port::Bad);
        let parse = Node::Parse { from: reply.clone(), schema, into: found.clone() };
        let read = self.flow.add(parse, &self.path("read"), origin);
        self.flow.replace(vec![(read, Port::Ok)]);
        self.flow.break_out();
        self.flow.replace(vec![(ask, Port::Bad)]);
        let node = Node::Let { into: outcome.clone(), value: outcome_of(&reply) };
        self.flow.add(node, &self.path("fault"), origin);
        let node = Node::Let { into: found.clone(), value: nothing(no_answer(&reply)) };
        self.flow.add(node, &self.path("failed"), origin);
        self.flow.break_out();
        self.flow.replace(vec![(read, Port::Bad)]);
        self.flow.leave();
        let good = Expr::compare(Comparison::Equal, Expr::path(&found, "complaint"), Expr::literal(""));
        let branch = self.flow.add(Node::Branch { when: good }, &self.path("found"), origin);
        self.flow.replace(vec![(branch, Port::No)]);
        let missing = without_value(Expr::name(&outcome), Expr::path(&found, "complaint"));
        self.flow.add(Node::Let { into: target.into.clone(), value: missing }, &self.path("missing"), origin);
        target.ends.extend(self.flow.replace(vec![(branch, Port::Yes)]));
        let list = self.flow.builder.slot(into.clone(), asked.list.clone());
        self.flow.add(Node::Let { into: list, value: Expr::path(&found, "items") }, &self.path("items"), origin);
    }
}

/// A question whose answer is a list.
struct Asked<'s> {
    role: &'s Arc<str>,
    system: &'static str,
    question: Template,
    window: Option<u32>,
    sees_system: bool,
    /// The one role whose messages are shown.
    only: Option<Arc<str>>,
    schema: Schema,
    /// The type of the list.
    list: Type,
    into: &'s Arc<str>,
    /// The step, as tasks write it.
    word: &'static str,
    origin: Origin,
}
