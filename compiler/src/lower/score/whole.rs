//! The value of a graph of judges, on the conversation or on a turn; once, or in several draws on what was found once.

use std::sync::Arc;

use aigo_ir::expr::{Comparison, Expr, Function, Kind};
use aigo_ir::node::{Bound, MOST_PASSES, Node, Port, Unit};
use aigo_ir::reduce::{NOTHING_AT_STAKE, Reducer};
use aigo_ir::span::Origin;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{Outcome, Scale};

use super::graphs::Target;
use super::{Lower, OF_TURN, TURN, WHOLE, without_value};
use crate::typed::{Each, Graph, GraphStep, Scorer};

/// How draws of shares are joined, such as of requests that were dealt with: no majority of them is a word of the scale.
fn of_draws(scale: &Scale, join: Reducer) -> Option<Reducer> {
    let is_number = join.counts_passes() || join == Reducer::Mean;
    (is_number && *scale != Scale::Unit).then_some(Reducer::Median)
}

impl Lower {
    /// The graph's verdict: the slot that it is in.
    pub(super) fn graph(&mut self, scorer: &Scorer, graph: &Graph) -> Arc<str> {
        let into = self.slot(if graph.of_turn.is_some() { OF_TURN } else { WHOLE }, Type::Verdict);
        if let Some(turn) = &graph.of_turn {
            let turn = self.flow.builder.slot(turn.clone(), Type::Int);
            self.flow.add(Node::Let { into: turn, value: Expr::name(TURN) }, &self.path("judged"), self.origin);
        }
        let over = scorer.over.filter(|_| graph.of_turn.is_none());
        let join = over.or(graph.join).unwrap_or_else(|| Reducer::default_of(&graph.scale));
        let of_turn = graph.of_turn.is_some();
        // What is found is found once, and shared by all draws: otherwise the denominator would move between them.
        let shared = graph.steps.iter().take_while(|step| matches!(step, GraphStep::Extract { .. })).count();
        let (shared, rest) = graph.steps.split_at(shared);
        let mut target = Target::of(into.clone(), join, of_turn);
        self.graph_steps(shared, &mut target);
        match scorer.confirm {
            Some(times) => {
                self.graph_confirmed(scorer.runs, times, rest, &into, join);
                let confirmed = self.flow.replace(Vec::new());
                target.ends.extend(confirmed);
            }
            None => self.graph_draws(scorer.runs, rest, &mut target, join),
        }
        self.flow.also(target.ends);
        into
    }

    /// So many draws, joined; without a number the steps as they are.
    fn graph_draws(&mut self, runs: Option<u32>, rest: &[GraphStep], target: &mut Target, join: Reducer) {
        let Some(times) = runs else { return self.graph_steps(rest, target) };
        let suffix = self.suffix.clone();
        self.suffix.push_str("_run");
        let item = self.slot("_runs", Type::Int);
        let give = self.slot("_draw", Type::Verdict);
        let into = self.slot("_draws", Type::List(Box::new(Type::Verdict)));
        let list = Expr::literal(Value::list((1..=times).map(|n| Value::Int(i64::from(n))).collect()));
        let map = Node::Map { list, item, cap: times, give: give.clone(), into: into.clone() };
        let of_turn = self.of_turn;
        self.flow.enter(map, &self.path("runs"), self.origin);
        self.within("runs", |lower| {
            let mut inner = Target::of(give, join, of_turn);
            lower.graph_steps(rest, &mut inner);
            lower.flow.also(inner.ends);
        });
        self.flow.leave();
        self.suffix = suffix;
        let reducer = of_draws(&self.scale, join).unwrap_or_else(|| Reducer::of_draws(&self.scale));
        let node = Node::Reduce { from: into, reducer, quorum: None, into: target.into.clone() };
        self.flow.add(node, &self.path("runs/joined"), self.origin);
        if of_turn {
            self.left_out(&target.into.clone(), self.origin);
        }
        target.ends.extend(self.flow.replace(Vec::new()));
    }

    /// A failing verdict is asked for again, and most decide; a passing one stands. The draws come one after the other, so
    /// that what they bind is bound once.
    fn graph_confirmed(&mut self, runs: Option<u32>, times: u32, rest: &[GraphStep], into: &Arc<str>, join: Reducer) {
        let origin = self.origin;
        let draws: Vec<Arc<str>> = (1..=times).map(|n| self.slot(&format!("_draw{n}"), Type::Verdict)).collect();
        for slot in &draws {
            let value = without_value(Expr::literal(Outcome::Void.word()), Expr::literal(""));
            self.flow.add(Node::Let { into: slot.clone(), value }, &self.path(&format!("confirm/{slot}")), origin);
        }
        let (counter, one) = (self.slot("_confirm", Type::Int), self.slot("_draw", Type::Verdict));
        let header = Node::Loop { bound: Bound::Times(times), counter: counter.clone() };
        self.flow.enter(header, &self.path("confirm"), origin);
        let is = |n: u32| Expr::compare(Comparison::Equal, Expr::name(&counter), Expr::literal(i64::from(n)));
        let fails = |slot: &Arc<str>| Expr::compare(Comparison::Equal, Expr::path(slot, "pass"), Expr::literal(false));
        let of_turn = self.of_turn;
        self.within("confirm", |lower| {
            let mut inner = Target::of(one.clone(), join, of_turn);
            lower.graph_draws(runs, rest, &mut inner, join);
            lower.flow.also(inner.ends);
            for (slot, n) in draws.iter().zip(1..) {
                let kept = Kind::If(Box::new(is(n)), Box::new(Expr::name(&one)), Box::new(Expr::name(slot)));
                let node = Node::Let { into: slot.clone(), value: Expr::new(kept) };
                lower.flow.add(node, &lower.path(&format!("keep{n}")), origin);
            }
            let stands = Expr::new(Kind::And(Box::new(is(1)), Box::new(Expr::new(Kind::Not(Box::new(fails(&one)))))));
            let branch = lower.flow.add(Node::Branch { when: stands }, &lower.path("stands"), origin);
            lower.flow.replace(vec![(branch, Port::Yes)]);
            lower.flow.break_out();
            lower.flow.replace(vec![(branch, Port::No)]);
        });
        self.flow.leave();
        let Some(first) = draws.first().cloned() else { return };
        let branch = self.flow.add(Node::Branch { when: fails(&first) }, &self.path("fails"), origin);
        self.flow.replace(vec![(branch, Port::Yes)]);
        let all = self.slot("_all", Type::List(Box::new(Type::Verdict)));
        let value = Expr::list(draws.iter().map(|slot| Expr::name(slot)).collect());
        self.flow.add(Node::Let { into: all.clone(), value }, &self.path("confirm/all"), origin);
        let one_word = if self.scale == Scale::Boolean { Reducer::Majority } else { Reducer::Median };
        let reducer = of_draws(&self.scale, join).unwrap_or(one_word);
        let node = Node::Reduce { from: all, reducer, quorum: None, into: into.clone() };
        self.flow.add(node, &self.path("confirm/joined"), origin);
        let asked = self.flow.replace(vec![(branch, Port::No)]);
        let node = Node::Let { into: into.clone(), value: Expr::name(&first) };
        self.flow.add(node, &self.path("confirm/kept"), origin);
        self.flow.also(asked);
    }

    /// Where nothing was found that the scorer is about, it does not apply.
    pub(super) fn needed(&mut self, list: &Arc<str>, origin: Origin, target: &mut Target) {
        let length = Expr::call(Function::Length, vec![Expr::name(list)]);
        let none = Expr::compare(Comparison::Equal, length, Expr::literal(0));
        let branch = self.flow.add(Node::Branch { when: none }, &self.path("needed"), origin);
        self.flow.replace(vec![(branch, Port::Yes)]);
        let reason = Expr::literal("nothing was found that it applies to");
        let value = without_value(Expr::literal(Outcome::NotApplicable.word()), reason);
        self.flow.add(Node::Let { into: target.into.clone(), value }, &self.path("not_applicable"), origin);
        target.ends.extend(self.flow.replace(vec![(branch, Port::No)]));
    }

    /// A turn of which nothing was at stake is left out.
    pub(super) fn left_out(&mut self, into: &Arc<str>, origin: Origin) {
        let nothing = Expr::compare(Comparison::Equal, Expr::path(into, "reason"), Expr::literal(NOTHING_AT_STAKE));
        let branch = self.flow.add(Node::Branch { when: nothing }, &self.path("at_stake"), origin);
        self.flow.replace(vec![(branch, Port::Yes)]);
        let value = without_value(Expr::literal(Outcome::NotApplicable.word()), Expr::literal(NOTHING_AT_STAKE));
        self.flow.add(Node::Let { into: into.clone(), value }, &self.path("left_out"), origin);
        self.flow.also(vec![(branch, Port::No)]);
    }

    /// The verdicts of an `each` over turns are values of these turns.
    pub(super) fn values_of_turns(&mut self, each: &Each) {
        let list = |ty: Type| Type::List(Box::new(ty));
        let turns = self.flow.builder.slot(format!("_turns_{}", each.into), list(Type::Int));
        let at = self.flow.builder.slot(format!("_at_{}", each.into), Type::Int);
        let one = self.flow.builder.slot(format!("_one_{}", each.into), Type::Verdict);
        let told = self.flow.builder.slot(format!("_told_{}", each.into), list(Type::Verdict));
        let node = Node::Let { into: turns.clone(), value: each.list.clone() };
        self.flow.add(node, &self.path("turns"), each.origin);
        let count = Expr::call(Function::Length, vec![Expr::name(&each.into)]);
        let range = Expr::call(Function::Range, vec![count]);
        let map = Node::Map { list: range, item: at.clone(), cap: MOST_PASSES, give: one.clone(), into: told };
        self.flow.enter(map, &self.path("values"), each.origin);
        let item = |of: &Arc<str>| Expr::new(Kind::Item(Box::new(Expr::name(of)), Box::new(Expr::name(&at))));
        let node = Node::Let { into: one.clone(), value: item(&each.into) };
        self.flow.add(node, &self.path("values/value"), each.origin);
        let node = Node::Score { scorer: self.name.clone(), unit: Unit::Turn(item(&turns)), from: one };
        self.flow.add(node, &self.path("values/score"), each.origin);
        self.flow.leave();
    }
}
