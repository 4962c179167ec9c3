//! Asking judges.

use std::sync::Arc;

use aigo_ir::expr::{Comparison, Expr, Function, Kind, Operator};
use aigo_ir::node::{Bound, Node, Port, View};
use aigo_ir::schema::{Judged, Schema};
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::verdict::Outcome;

use super::{Lower, REPLY, TURN, VERDICT, without_value};
use crate::lower::prompts;
use crate::typed::Judge;

/// A judge is asked again once after an answer that cannot be used.
pub(in crate::lower) const ATTEMPTS: u32 = 2;

impl Lower {
    /// The verdict of one judge, or of a panel: the slot that it is in.
    pub(in crate::lower) fn judge(&mut self, judge: &Judge, per_turn: bool) -> Arc<str> {
        let schema = Schema::Verdict(self.name.clone());
        self.judged(judge, per_turn, &schema)
    }

    /// The verdict of a judge within a graph, on a scale of its own.
    pub(super) fn judge_in_graph(&mut self, judge: &Judge) -> Arc<str> {
        let schema = Schema::Judged(self.judged_of(judge));
        if self.of_turn {
            let judge = Judge { per_turn: true, ..judge.clone() };
            return self.judged(&judge, true, &schema);
        }
        self.judged(judge, false, &schema)
    }

    /// What a verdict of a judge in a graph is held against. On the graph's own scale it passes as the scorer says.
    pub(super) fn judged_of(&self, judge: &Judge) -> Judged {
        let pass = if judge.scale == self.scale { self.pass } else { judge.scale.default_pass() };
        Judged { scale: judge.scale.clone(), pass, rule: judge.evidence, skips: judge.skip.is_some() }
    }

    fn judged(&mut self, judge: &Judge, per_turn: bool, schema: &Schema) -> Arc<str> {
        let Some((quorum, over)) = judge.panel else {
            let role = judge.roles.first().cloned().unwrap_or_else(|| crate::resolve::JUDGE.into());
            return self.asked(judge, &role, per_turn, schema);
        };
        let mut members = Vec::new();
        for (at, role) in judge.roles.iter().enumerate() {
            let member = self.slot(&format!("_member{}", at + 1), Type::Verdict);
            self.within(&format!("panel/{role}"), |lower| {
                let verdict = lower.asked(judge, role, per_turn, schema);
                let node = Node::Let { into: member.clone(), value: Expr::name(&verdict) };
                lower.flow.add(node, &lower.path("verdict_of"), lower.origin);
            });
            members.push(Expr::name(&member));
        }
        let list = self.slot("_members", Type::List(Box::new(Type::Verdict)));
        let node = Node::Let { into: list.clone(), value: Expr::list(members) };
        self.flow.add(node, &self.path("panel/all"), self.origin);
        self.reduced(&list, over, Some(quorum), "_panel", "panel/joined")
    }

    /// Ask, read, and ask again once where the answer breaks the contract.
    fn asked(&mut self, judge: &Judge, role: &Arc<str>, per_turn: bool, schema: &Schema) -> Arc<str> {
        let origin = self.origin;
        let verdict = self.slot(VERDICT, Type::Verdict);
        let reply = self.slot(REPLY, Type::Reply);
        let counter = self.slot("_attempt", Type::Int);
        let none = without_value(Expr::literal(Outcome::Invalid.word()), Expr::literal(""));
        self.flow.add(Node::Let { into: verdict.clone(), value: none }, &self.path("verdict"), origin);
        let header = Node::Loop { bound: Bound::Times(ATTEMPTS), counter };
        self.flow.enter(header, &self.path("attempts"), origin);
        let view = View::Text {
            system: Some(Template::new(prompts::JUDGE_SYSTEM)),
            question: Template { origin: judge.rubric.origin, ..prompts::question(judge, &verdict) },
            up_to: per_turn.then(|| Expr::name(TURN)),
            window: judge.window,
            sees_system: judge.sees_system,
            only: None,
        };
        let (role, into) = (role.clone(), reply.clone());
        let ask = Node::Generate { role, view, schema: Some(schema.clone()), tools: false, timeout_s: None, into };
        let ask = self.flow.add(ask, &self.path("judge"), judge.rubric.origin);
        self.flow.take(ask, Port::Bad);
        let parse = Node::Parse { from: reply.clone(), schema: schema.clone(), into: verdict.clone() };
        let read = self.flow.add(parse, &self.path("read"), origin);
        // A good verdict ends the attempts; a bad one leads to the next.
        self.flow.replace(vec![(read, Port::Ok)]);
        self.flow.break_out();
        self.flow.replace(vec![(ask, Port::Bad)]);
        let failed = without_value(outcome_of(&reply), no_answer(&reply));
        self.flow.add(Node::Let { into: verdict.clone(), value: failed }, &self.path("failed"), origin);
        self.flow.break_out();
        self.flow.replace(vec![(read, Port::Bad)]);
        self.flow.leave();
        verdict
    }
}

/// A judge that says nothing has broken its contract; one that cannot be asked has not.
pub(super) fn outcome_of(reply: &str) -> Expr {
    let empty = Expr::compare(Comparison::Equal, Expr::path(reply, "fault"), Expr::literal("empty"));
    let [invalid, void] = [Outcome::Invalid, Outcome::Void].map(|outcome| Box::new(Expr::literal(outcome.word())));
    Expr::new(Kind::If(Box::new(empty), invalid, void))
}

pub(super) fn no_answer(reply: &str) -> Expr {
    let fault = Expr::call(Function::Default, vec![Expr::path(reply, "fault"), Expr::literal("unknown")]);
    let said = Box::new(Expr::literal("the judge gave no answer: "));
    Expr::new(Kind::Arithmetic(Operator::Concat, said, Box::new(fault)))
}
