//! Scorers to score graphs.

use std::sync::Arc;

use aigo_ir::expr::{Comparison, Expr, Function, Kind};
use aigo_ir::node::{Bound, Ending, MOST_PASSES, Node, Port, Unit, View};
use aigo_ir::program;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::Schema;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Outcome, Scale};

use super::flow::Flow;
use super::prompts;
use crate::ast::Turns;
use crate::typed::{Check, Judge, Method, Scorer};

/// The slots of score graphs. Names of tasks begin with a letter, these with `_`.
pub(super) const TURN: &str = "_turn";
pub(super) const VERDICT: &str = "_verdict";
const VERDICTS: &str = "_verdicts";
const WHOLE: &str = "_whole";
const REPLY: &str = "_reply";

/// A judge is asked again once after an answer that cannot be used.
const ATTEMPTS: u32 = 2;

pub(super) fn scorer(scorer: &Scorer) -> program::Scorer {
    let (scale, evidence, per_turn) = match &scorer.method {
        Method::Check(check) => (Scale::Boolean, EvidenceRule::None, matches!(check.turns, Turns::Every | Turns::Any)),
        Method::Judge(judge) => (judge.scale.clone(), judge.evidence, judge.per_turn),
    };
    let over = per_turn.then(|| {
        let default = match &scorer.method {
            Method::Check(check) if check.turns == Turns::Any => Reducer::Any,
            _ => Reducer::default_of(&scale),
        };
        scorer.over.unwrap_or(default)
    });
    let mut lower = Lower { flow: Flow::default(), name: scorer.name.clone(), origin: scorer.origin };
    let body = |lower: &mut Lower, per_turn: bool| match &scorer.method {
        Method::Check(check) => lower.check(check),
        Method::Judge(judge) => lower.judge(judge, per_turn),
    };
    match over {
        Some(over) => lower.turns(over, body),
        None => {
            body(&mut lower, false);
            lower.score(VERDICT);
        }
    }
    lower.flow.add(Node::Exit { ending: Ending::Completed }, "end", Origin::default());
    let pass = scorer.pass.unwrap_or_else(|| scale.default_pass());
    let graph = lower.flow.builder.finish(scorer.name.clone());
    program::Scorer { name: scorer.name.clone(), scale, pass, over, evidence, graph: Some(graph) }
}

pub(super) struct Lower {
    pub(super) flow: Flow,
    /// The scorer's name.
    pub(super) name: Arc<str>,
    pub(super) origin: Origin,
}

impl Lower {
    /// A map over the turns, each scored; then the conversation's value of them.
    fn turns(&mut self, over: Reducer, body: impl FnOnce(&mut Self, bool)) {
        let item = self.flow.builder.slot(TURN, Type::Int);
        let give = self.flow.builder.slot(VERDICT, Type::Verdict);
        let into = self.flow.builder.slot(VERDICTS, Type::List(Box::new(Type::Verdict)));
        let list = Expr::call(Function::JudgedTurns, Vec::new());
        let map = Node::Map { list, item, cap: MOST_PASSES, give: give.clone(), into: into.clone() };
        self.flow.enter(map, "turns", self.origin);
        body(self, true);
        let unit = Unit::Turn(Expr::name(TURN));
        self.flow.add(Node::Score { scorer: self.name.clone(), unit, from: give }, "turns/score", self.origin);
        self.flow.leave();
        let whole = self.flow.builder.slot(WHOLE, Type::Verdict);
        self.flow.add(Node::Reduce { from: into, reducer: over, into: whole }, "over", self.origin);
        self.score(WHOLE);
    }

    fn score(&mut self, from: &str) {
        let node = Node::Score { scorer: self.name.clone(), unit: Unit::Conversation, from: from.into() };
        self.flow.add(node, "score", self.origin);
    }

    fn check(&mut self, check: &Check) {
        let into = self.flow.builder.slot(VERDICT, Type::Verdict);
        let turns = || Expr::call(Function::JudgedTurns, Vec::new());
        let turn = match check.turns {
            Turns::Every | Turns::Any => Expr::name(TURN),
            Turns::First => Expr::call(Function::First, vec![turns()]),
            Turns::Last => Expr::call(Function::Last, vec![turns()]),
        };
        let text = Expr::call(Function::SaidIn, vec![turn.clone(), Expr::literal(Value::Str(check.who.clone()))]);
        let (kind, negated) = check.kind;
        let (wanted, author) = (check.wanted.clone(), check.who.clone());
        let node = Node::Check { kind, negated, wanted, text, author, turn, into };
        self.flow.add(node, "check", check.origin);
    }

    /// Ask, read, and ask again once where the answer breaks the contract.
    fn judge(&mut self, judge: &Judge, per_turn: bool) {
        self.judge_at(judge, per_turn, if per_turn { "turns/" } else { "" });
    }

    /// The same, under a path. Of a judge of turns the slot of the turn is bound before.
    pub(super) fn judge_at(&mut self, judge: &Judge, per_turn: bool, prefix: &str) {
        let origin = self.origin;
        let verdict = self.flow.builder.slot(VERDICT, Type::Verdict);
        let reply = self.flow.builder.slot(REPLY, Type::Reply);
        let counter = self.flow.builder.slot("_attempt", Type::Int);
        let none = without_value(Expr::literal(Outcome::Invalid.word()), Expr::literal(""));
        self.flow.add(Node::Let { into: verdict.clone(), value: none }, &format!("{prefix}verdict"), origin);
        let header = Node::Loop { bound: Bound::Times(ATTEMPTS), counter };
        self.flow.enter(header, &format!("{prefix}attempts"), origin);
        let view = View::Text {
            system: Some(Template::new(prompts::JUDGE_SYSTEM)),
            question: Template { origin: judge.rubric.origin, ..prompts::question(judge) },
            up_to: per_turn.then(|| Expr::name(TURN)),
            window: judge.window,
        };
        let schema = Schema::Verdict(self.name.clone());
        let ask = Node::Generate {
            role: judge.role.clone(),
            view,
            schema: Some(schema.clone()),
            tools: false,
            timeout_s: None,
            into: reply.clone(),
        };
        let ask = self.flow.add(ask, &format!("{prefix}judge"), judge.rubric.origin);
        self.flow.take(ask, Port::Bad);
        let read =
            self.flow.add(Node::Parse { from: reply, schema, into: verdict.clone() }, &format!("{prefix}read"), origin);
        // A good verdict ends the attempts; a bad one leads to the next.
        self.flow.replace(vec![(read, Port::Ok)]);
        self.flow.break_out();
        self.flow.replace(vec![(ask, Port::Bad)]);
        // A judge that says nothing has broken its contract; one that cannot be asked has not.
        let empty = Expr::compare(Comparison::Equal, Expr::path(REPLY, "fault"), Expr::literal("empty"));
        let words = [Outcome::Invalid, Outcome::Void].map(|outcome| Box::new(Expr::literal(outcome.word())));
        let [invalid, void] = words;
        let outcome = Expr::new(Kind::If(Box::new(empty), invalid, void));
        let fault = Expr::call(Function::Default, vec![Expr::path(REPLY, "fault"), Expr::literal("unknown")]);
        let joined = Kind::Arithmetic(
            aigo_ir::expr::Operator::Concat,
            Box::new(Expr::literal("the judge gave no answer: ")),
            Box::new(fault),
        );
        let failed = without_value(outcome, Expr::new(joined));
        self.flow.add(Node::Let { into: verdict, value: failed }, &format!("{prefix}failed"), origin);
        self.flow.break_out();
        self.flow.replace(vec![(read, Port::Bad)]);
        self.flow.leave();
    }
}

/// A verdict without a value, as an expression.
fn without_value(outcome: Expr, reason: Expr) -> Expr {
    let pairs = [
        ("outcome", outcome),
        ("value", Expr::literal(Value::Null)),
        ("pass", Expr::literal(Value::Null)),
        ("reason", reason),
        ("complaint", Expr::literal("")),
        ("evidence", Expr::literal(Value::list(Vec::new()))),
    ];
    Expr::map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
