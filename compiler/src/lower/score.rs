//! Scorers to score graphs.

mod graphs;
mod judges;
mod whole;

pub(super) use judges::ATTEMPTS;

use std::sync::Arc;

use aigo_ir::check::{Between, Test};
use aigo_ir::expr::{Comparison, Expr, Function, Kind};
use aigo_ir::graph::Graph;
use aigo_ir::node::{Ending, MOST_PASSES, Node, Port, Unit};
use aigo_ir::program::{self, VOIDS};
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Outcome, Scale};

use super::flow::Flow;
use crate::ast::Turns;
use crate::typed::{Check, Method, Scorer};

/// The slots of score graphs. Names of tasks begin with a letter, these with `_`.
pub(super) const TURN: &str = "_turn";
pub(super) const VERDICT: &str = "_verdict";
const VERDICTS: &str = "_verdicts";
const WHOLE: &str = "_whole";
const REPLY: &str = "_reply";
const OF_TURN: &str = "_of_turn";

/// A scorer with its graph.
pub(super) fn scorer(scorer: &Scorer) -> program::Scorer {
    program::Scorer { graph: Some(graph(scorer)), ..without_graph(scorer) }
}

/// All of a scorer but its graph.
pub(super) fn without_graph(scorer: &Scorer) -> program::Scorer {
    let scale = scorer.method.scale().clone();
    let evidence = match &scorer.method {
        Method::Judge(judge) => judge.evidence,
        Method::Check(_) | Method::Graph(_) => EvidenceRule::None,
    };
    // What a graph of the whole conversation gives is joined by its own nodes; its scorer has no values of turns.
    let has_turns = !matches!(&scorer.method, Method::Graph(graph) if !graph.has_turns);
    program::Scorer {
        name: scorer.name.clone(),
        pass: pass(scorer),
        over: over(scorer, &scale).filter(|_| has_turns),
        scale,
        evidence,
        skips: matches!(&scorer.method, Method::Judge(judge) if judge.skip.is_some()),
        at: scorer.at.clone(),
        turns: turns(scorer),
        completion: scorer.completion,
        tags: scorer.tags.clone(),
        graph: None,
    }
}

/// The turns without which a scorer does not apply.
fn turns(scorer: &Scorer) -> Option<Between> {
    let Method::Check(check) = &scorer.method else { return None };
    let Check { test, turns: Turns::Range(range), .. } = &**check else { return None };
    // Whether there was an answer is asked of all turns. Whether it applies at all, and what it voids where it fails, is for its
    // graph to say.
    let is_for_its_graph = scorer.when.is_some() || scorer.voids.is_some();
    (!is_whole(test) && *test != Test::NoReply && !is_for_its_graph).then_some(*range)
}

/// The least number that passes.
fn pass(scorer: &Scorer) -> f64 {
    scorer.pass.unwrap_or_else(|| scorer.method.scale().default_pass())
}

fn graph(scorer: &Scorer) -> Graph {
    let scale = scorer.method.scale().clone();
    let over = over(scorer, &scale);
    let mut lower = Lower {
        flow: Flow::default(),
        name: scorer.name.clone(),
        origin: scorer.origin,
        space: String::new(),
        suffix: String::new(),
        pass: pass(scorer),
        scale,
        of_turn: matches!(&scorer.method, Method::Graph(graph) if graph.of_turn.is_some()),
    };
    for (slot, ty, value) in &scorer.given {
        let into = lower.flow.builder.slot(slot.clone(), ty.clone());
        lower.flow.add(
            Node::Let { into, value: value.clone() },
            &format!("with/{}", slot.trim_start_matches('_')),
            scorer.origin,
        );
    }
    if let Some(names) = &scorer.voids {
        let into = lower.flow.builder.slot(VOIDS, Type::List(Box::new(Type::Str)));
        lower.flow.add(Node::Let { into, value: names.clone() }, "voids", scorer.origin);
    }
    match &scorer.when {
        None => {
            let whole = lower.whole(scorer, over);
            lower.score(&whole);
        }
        Some(when) => {
            let branch = lower.flow.add(Node::Branch { when: when.clone() }, "when", scorer.origin);
            lower.flow.replace(vec![(branch, Port::Yes)]);
            let whole = lower.whole(scorer, over);
            let applies = lower.flow.replace(vec![(branch, Port::No)]);
            let not = without_value(Expr::literal(Outcome::NotApplicable.word()), Expr::literal("it does not apply"));
            lower.flow.add(Node::Let { into: whole.clone(), value: not }, "not_applicable", scorer.origin);
            lower.flow.also(applies);
            lower.score(&whole);
        }
    }
    lower.flow.add(Node::Exit { ending: Ending::Completed }, "end", Origin::default());
    lower.flow.builder.finish(scorer.name.clone())
}

/// How the values of turns become the conversation's; none where there are none.
fn over(scorer: &Scorer, scale: &Scale) -> Option<Reducer> {
    match &scorer.method {
        Method::Check(check) if is_whole(&check.test) => None,
        Method::Check(check) => match check.turns {
            Turns::Every => Some(scorer.over.unwrap_or(Reducer::default_of(scale))),
            Turns::Any => Some(scorer.over.unwrap_or(Reducer::Any)),
            Turns::First | Turns::Last | Turns::Range(_) => None,
        },
        Method::Judge(judge) => judge.per_turn.then(|| scorer.over.unwrap_or(Reducer::default_of(scale))),
        Method::Graph(graph) => {
            let join = graph.join.filter(|_| graph.of_turn.is_none());
            Some(scorer.over.or(join).unwrap_or(Reducer::default_of(scale)))
        }
    }
}

/// Whether a test is about the whole conversation.
const fn is_whole(test: &Test) -> bool {
    matches!(test, Test::Turns(_) | Test::ToolCalls(..) | Test::State(_) | Test::StateAfter(_))
}

pub(super) struct Lower {
    pub(super) flow: Flow,
    /// The scorer's name.
    name: Arc<str>,
    origin: Origin,
    /// What paths begin with: `turns/`.
    space: String,
    /// What the names of the lowering's own slots end in, so that those of a map are its own.
    suffix: String,
    scale: Scale,
    pass: f64,
    /// Whether a graph is gone through for each turn, of which nothing later is shown.
    of_turn: bool,
}

impl Lower {
    /// Of a checkpoint: in the middle of a solve graph, under the path of its step.
    pub(super) fn of_checkpoint(flow: Flow, name: Arc<str>, scale: &Scale, path: &str, origin: Origin) -> Self {
        let (space, suffix) = (format!("{path}/"), String::new());
        Self { flow, name, origin, space, suffix, scale: scale.clone(), pass: scale.default_pass(), of_turn: false }
    }

    fn slot(&mut self, name: &str, ty: Type) -> Arc<str> {
        self.flow.builder.slot(format!("{name}{}", self.suffix), ty)
    }

    fn path(&self, part: &str) -> String {
        format!("{}{part}", self.space)
    }

    /// Within a part of the graph: paths begin with its name.
    fn within<T>(&mut self, part: &str, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.space.len();
        self.space.push_str(part);
        self.space.push('/');
        let result = f(self);
        self.space.truncate(before);
        result
    }

    /// The conversation's verdict: the slot that it is in.
    fn whole(&mut self, scorer: &Scorer, over: Option<Reducer>) -> Arc<str> {
        match &scorer.method {
            Method::Graph(graph) if graph.of_turn.is_none() => self.graph(scorer, graph),
            Method::Check(check) if matches!(check.turns, Turns::Range(_)) && !is_whole(&check.test) => {
                self.range_of_turns(check)
            }
            _ => match over {
                Some(over) => self.turns(scorer, over),
                None => self.unit(scorer, false),
            },
        }
    }

    /// A map over the turns, each scored; then the conversation's value of them.
    fn turns(&mut self, scorer: &Scorer, over: Reducer) -> Arc<str> {
        let item = self.slot(TURN, Type::Int);
        let give = self.flow.builder.slot(result_of(scorer), Type::Verdict);
        let into = self.slot(VERDICTS, Type::List(Box::new(Type::Verdict)));
        let list = Expr::call(turns_of(&scorer.method), Vec::new());
        let map = Node::Map { list, item, cap: MOST_PASSES, give: give.clone(), into: into.clone() };
        self.flow.enter(map, "turns", self.origin);
        self.within("turns", |lower| {
            lower.unit(scorer, true);
            let unit = Unit::Turn(Expr::name(TURN));
            lower.flow.add(Node::Score { scorer: lower.name.clone(), unit, from: give }, "turns/score", lower.origin);
        });
        self.flow.leave();
        self.reduced(&into, over, None, WHOLE, "over")
    }

    /// One value for all turns of a range: those outside of it do not apply.
    fn range_of_turns(&mut self, check: &Check) -> Arc<str> {
        let Turns::Range(range) = check.turns else { return self.check(check, false) };
        let item = self.slot(TURN, Type::Int);
        let give = self.slot(VERDICT, Type::Verdict);
        let into = self.slot(VERDICTS, Type::List(Box::new(Type::Verdict)));
        let list =
            Expr::call(if check.test == Test::NoReply { Function::Turns } else { Function::JudgedTurns }, Vec::new());
        let map = Node::Map { list, item, cap: MOST_PASSES, give: give.clone(), into: into.clone() };
        self.flow.enter(map, "turns", self.origin);
        self.within("turns", |lower| {
            let end = |op: Comparison, n: u32| Expr::compare(op, Expr::name(TURN), Expr::literal(i64::from(n)));
            let least = range.least.map(|n| end(Comparison::GreaterOrEqual, n));
            let most = range.most.map(|n| end(Comparison::LessOrEqual, n));
            let inside = match (least, most) {
                (Some(least), Some(most)) => Expr::new(Kind::And(Box::new(least), Box::new(most))),
                (least, most) => least.or(most).unwrap_or(Expr::literal(true)),
            };
            let branch = lower.flow.add(Node::Branch { when: inside }, &lower.path("inside"), lower.origin);
            lower.flow.replace(vec![(branch, Port::Yes)]);
            lower.check(check, true);
            let checked = lower.flow.replace(vec![(branch, Port::No)]);
            let not = without_value(Expr::literal(Outcome::NotApplicable.word()), Expr::literal(""));
            lower.flow.add(Node::Let { into: give, value: not }, &lower.path("outside"), lower.origin);
            lower.flow.also(checked);
        });
        self.flow.leave();
        self.reduced(&into, Reducer::All, None, WHOLE, "over")
    }

    /// One verdict of a list of them: the slot that it is in.
    fn reduced(&mut self, from: &Arc<str>, reducer: Reducer, quorum: Option<u32>, into: &str, path: &str) -> Arc<str> {
        let into = self.slot(into, Type::Verdict);
        let node = Node::Reduce { from: from.clone(), reducer, quorum, into: into.clone() };
        self.flow.add(node, &self.path(path), self.origin);
        into
    }

    fn score(&mut self, from: &str) {
        let node = Node::Score { scorer: self.name.clone(), unit: Unit::Conversation, from: from.into() };
        self.flow.add(node, "score", self.origin);
    }

    /// The verdict on a turn or on the conversation, with its draws.
    fn unit(&mut self, scorer: &Scorer, per_turn: bool) -> Arc<str> {
        if let Method::Graph(graph) = &scorer.method {
            return self.graph(scorer, graph);
        }
        let first = self.draws(scorer, per_turn);
        match scorer.confirm {
            None => first,
            Some(times) => self.confirmed(scorer, per_turn, &first, times),
        }
    }

    /// So many draws on the same thing, joined.
    fn draws(&mut self, scorer: &Scorer, per_turn: bool) -> Arc<str> {
        let Some(runs) = scorer.runs else { return self.once(scorer, per_turn) };
        let into = self.repeat(scorer, per_turn, runs, "runs");
        self.reduced(&into, Reducer::of_draws(&self.scale.clone()), None, "_drawn", "runs/joined")
    }

    /// A map over so many numbers, each a draw: the slot of the list.
    fn repeat(&mut self, scorer: &Scorer, per_turn: bool, times: u32, path: &str) -> Arc<str> {
        let numbers = (1..=times).map(|n| Value::Int(i64::from(n))).collect();
        let item = self.slot(&format!("_{path}"), Type::Int);
        let give = match &scorer.method {
            Method::Judge(judge) if judge.panel.is_some() => self.slot("_panel", Type::Verdict),
            _ => self.slot(VERDICT, Type::Verdict),
        };
        let into = self.slot("_draws", Type::List(Box::new(Type::Verdict)));
        let list = Expr::literal(Value::list(numbers));
        let map = Node::Map { list, item, cap: times, give, into: into.clone() };
        self.flow.enter(map, &self.path(path), self.origin);
        self.within(path, |lower| lower.once(scorer, per_turn));
        self.flow.leave();
        into
    }

    /// A failing verdict is asked for again, and most decide; a passing one stands.
    fn confirmed(&mut self, scorer: &Scorer, per_turn: bool, first: &Arc<str>, times: u32) -> Arc<str> {
        let into = self.slot("_confirmed", Type::Verdict);
        let origin = self.origin;
        let fails = Expr::compare(Comparison::Equal, Expr::path(first, "pass"), Expr::literal(false));
        let branch = self.flow.add(Node::Branch { when: fails }, &self.path("fails"), origin);
        self.flow.replace(vec![(branch, Port::Yes)]);
        // What the further draws bind is bound within their map, so it has names of its own.
        let suffix = std::mem::replace(&mut self.suffix, "_again".to_owned());
        let again = self.repeat_draws(scorer, per_turn, times - 1);
        self.suffix = suffix;
        let item = |n: u32| {
            let at = Expr::literal(i64::from(n));
            Expr::new(Kind::Item(Box::new(Expr::name(&again)), Box::new(at)))
        };
        let all = self.slot("_all", Type::List(Box::new(Type::Verdict)));
        let value = Expr::list([Expr::name(first)].into_iter().chain((0..times - 1).map(item)).collect());
        self.flow.add(Node::Let { into: all.clone(), value }, &self.path("confirm/all"), origin);
        let reducer = if self.scale == Scale::Boolean { Reducer::Majority } else { Reducer::Median };
        let node = Node::Reduce { from: all, reducer, quorum: None, into: into.clone() };
        self.flow.add(node, &self.path("confirm/joined"), origin);
        let asked = self.flow.replace(vec![(branch, Port::No)]);
        let node = Node::Let { into: into.clone(), value: Expr::name(first) };
        self.flow.add(node, &self.path("confirm/stands"), origin);
        self.flow.also(asked);
        into
    }

    /// The further draws of a confirmation: each is what the first one was, with its own draws where it has several.
    fn repeat_draws(&mut self, scorer: &Scorer, per_turn: bool, times: u32) -> Arc<str> {
        if scorer.runs.is_none() {
            return self.repeat(scorer, per_turn, times, "confirm");
        }
        let numbers = (1..=times).map(|n| Value::Int(i64::from(n))).collect();
        let item = self.slot("_confirm", Type::Int);
        let give = self.slot("_drawn", Type::Verdict);
        let into = self.slot("_confirms", Type::List(Box::new(Type::Verdict)));
        let list = Expr::literal(Value::list(numbers));
        let map = Node::Map { list, item, cap: times, give, into: into.clone() };
        self.flow.enter(map, &self.path("confirm"), self.origin);
        self.within("confirm", |lower| lower.draws(scorer, per_turn));
        self.flow.leave();
        into
    }

    fn once(&mut self, scorer: &Scorer, per_turn: bool) -> Arc<str> {
        match &scorer.method {
            Method::Check(check) => self.check(check, per_turn),
            Method::Judge(judge) => self.judge(judge, per_turn),
            // A graph is never a unit of its own.
            Method::Graph(_) => self.slot(WHOLE, Type::Verdict),
        }
    }

    fn check(&mut self, check: &Check, per_turn: bool) -> Arc<str> {
        let into = self.slot(VERDICT, Type::Verdict);
        let turns = || {
            Expr::call(if check.test == Test::NoReply { Function::Turns } else { Function::JudgedTurns }, Vec::new())
        };
        let whole = is_whole(&check.test);
        let turn = match check.turns {
            _ if whole => Expr::name("turn"),
            _ if per_turn => Expr::name(TURN),
            Turns::First => Expr::call(Function::First, vec![turns()]),
            _ => Expr::call(Function::Last, vec![turns()]),
        };
        let said = || Expr::call(Function::SaidIn, vec![turn.clone(), Expr::literal(Value::Str(check.who.clone()))]);
        let text = if whole { Expr::literal("") } else { said() };
        let (test, negated, author) = (check.test.clone(), check.negated, check.who.clone());
        let node = Node::Check { test, negated, text, author, turn, into: into.clone() };
        self.flow.add(node, "check", check.origin);
        into
    }
}

/// The list of turns that a scorer has values for.
fn turns_of(method: &Method) -> Function {
    match method {
        // Where nothing was said is what it looks for.
        Method::Check(check) if check.test == Test::NoReply => Function::Turns,
        _ => Function::JudgedTurns,
    }
}

/// The slot of a unit's verdict.
fn result_of(scorer: &Scorer) -> &'static str {
    match &scorer.method {
        Method::Graph(_) => OF_TURN,
        _ if scorer.confirm.is_some() => "_confirmed",
        _ if scorer.runs.is_some() => "_drawn",
        Method::Judge(judge) if judge.panel.is_some() => "_panel",
        _ => VERDICT,
    }
}

/// A verdict without a value, as an expression.
fn without_value(outcome: Expr, reason: Expr) -> Expr {
    record(outcome, Expr::literal(Value::Null), Expr::literal(Value::Null), reason)
}

/// A verdict as an expression.
fn record(outcome: Expr, value: Expr, pass: Expr, reason: Expr) -> Expr {
    let pairs = [
        ("outcome", outcome),
        ("value", value),
        ("pass", pass),
        ("reason", reason),
        ("complaint", Expr::literal("")),
        ("evidence", Expr::literal(Value::list(Vec::new()))),
    ];
    Expr::map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
