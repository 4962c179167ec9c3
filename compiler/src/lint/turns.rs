//! How long conversations can get, and what that makes of scorers, stops and simulated users.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::bounds::plural;
use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::expr::{Comparison, Expr, Kind};
use aigo_ir::gate::holds;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::Span;
use aigo_ir::text::excerpt;
use aigo_ir::value::Value;

use super::{Linted, words};
use crate::ast::{self, Leaf, Turns};
use crate::catalog;
use crate::typed::{Lines, Said, Solve, Step, Verb};

/// What is known of every way of the task's conversations before any is held.
#[derive(Debug, Default)]
pub(crate) struct Solves {
    pub(super) all: Vec<Way>,
}

/// What is known of one solve graph.
#[derive(Debug)]
pub(super) struct Way {
    /// Its name.
    pub(super) name: Arc<str>,
    /// Where it is written.
    origin: Span,
    /// The most turns that it can have.
    pub(super) turns: u64,
    /// The roles that its steps ask.
    pub(super) asks: BTreeSet<Arc<str>>,
    /// Whether the assistant says something without being asked: the task's words, or recorded ones.
    speaks: bool,
    /// Where a user is simulated first, if one is.
    pub(super) simulates: Option<Span>,
    /// Whether a simulated user speaks in a loop that has no other end than its passes.
    pub(super) only_user_ends: bool,
    /// Whether a text is drawn, or `sample.epoch` read, so that another epoch goes another way.
    pub(super) draws: bool,
    /// Which replies something is expected of.
    expected: Expected,
    /// Findings that only depend on the steps: a stop, or a least number of turns.
    dead: Vec<(Span, String)>,
    late: Vec<(Span, u32, u64)>,
}

/// Of which replies something is expected.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Nothing,
    /// Of the last one alone.
    OfLast(Option<Span>),
    /// Of others too.
    OfMore,
}

/// How many of those who speak are named.
const MOST_OTHERS: usize = 5;

/// Stands for as many as anyone can want: a list whose length is not known.
const MANY: u64 = 10_000;
/// The turns that a conversation needs for something to be forgotten: it is said, two exchanges pass, it is needed.
const MEMORY: u64 = 4;

impl Solves {
    /// Looks at the steps of every solve graph.
    pub(crate) fn of(solves: &[Solve]) -> Self {
        Self { all: solves.iter().map(way).collect() }
    }

    /// The most turns of any conversation.
    fn longest(&self) -> u64 {
        self.all.iter().map(|way| way.turns).max().unwrap_or(0)
    }
}

fn way(solve: &Solve) -> Way {
    let mut way = Way {
        name: solve.name.clone(),
        origin: solve.origin,
        turns: 0,
        asks: BTreeSet::new(),
        speaks: false,
        simulates: None,
        only_user_ends: false,
        draws: false,
        expected: Expected::Nothing,
        dead: Vec::new(),
        late: Vec::new(),
    };
    let asking = |step: &Step| {
        matches!(step.verb, Verb::Generate { .. } | Verb::Script(_)) || step.verb.inner().next().is_some()
    };
    let last = solve.steps.iter().rposition(asking);
    for (at, step) in solve.steps.iter().enumerate() {
        let is_last = last == Some(at) && matches!(step.verb, Verb::Generate { .. });
        match step.expect.first() {
            _ if step.verb.inner().any(expects) => way.expected = Expected::OfMore,
            Some(_) if !is_last => way.expected = Expected::OfMore,
            Some(check) if matches!(way.expected, Expected::Nothing) => way.expected = Expected::OfLast(check.origin.0),
            _ => {}
        }
    }
    let mut walk = Walk { way: &mut way, loops: Vec::new(), in_use: false };
    walk.steps(&solve.steps);
    way
}

fn expects(step: &Step) -> bool {
    !step.expect.is_empty() || step.verb.inner().any(expects)
}

/// One loop that is being gone through.
struct Open {
    /// The most turns when its last pass begins its step.
    most: u64,
    /// Whether something beside the user and the number of passes can end it.
    ends: bool,
}

struct Walk<'w> {
    way: &'w mut Way,
    loops: Vec<Open>,
    /// Whether the steps are a definition's: how they end is not said of the place that uses them.
    in_use: bool,
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        self.way.draws |= step.when.as_ref().is_some_and(reads_epoch);
        match &step.verb {
            Verb::System(said) => self.way.draws |= is_drawn(said),
            Verb::Say { author, said } => {
                self.way.draws |= is_drawn(said);
                self.way.speaks |= *author != USER;
                self.turn(*author == USER);
            }
            Verb::History(_) => {
                self.way.speaks = true;
                self.way.turns = self.way.turns.saturating_add(MANY);
            }
            Verb::Generate { role, .. } => {
                self.way.asks.insert(role.clone());
            }
            Verb::SimulateUser(simulate) => self.simulated(step, simulate.min_turns),
            Verb::Script(lines) => {
                self.way.asks.insert(ASSISTANT.into());
                self.way.turns = self.way.turns.saturating_add(match lines {
                    Lines::Texts(texts) => texts.len() as u64,
                    Lines::Expression(list) => length(list),
                });
            }
            Verb::Loop { times, until, steps } => self.repeated(step, u64::from(*times), until.as_ref(), steps),
            Verb::ForEach { list, steps, .. } => self.repeated(step, length(list), None, steps),
            Verb::If { when, then, otherwise } => {
                self.way.draws |= reads_epoch(when);
                let before = self.way.turns;
                self.steps(then);
                let after = std::mem::replace(&mut self.way.turns, before);
                self.steps(otherwise);
                self.way.turns = self.way.turns.max(after);
            }
            Verb::Stop { when, .. } => self.stop(step, when.as_ref()),
            Verb::Use { steps, .. } => {
                let before = std::mem::replace(&mut self.in_use, true);
                self.steps(steps);
                self.in_use = before;
            }
            Verb::Judge { .. } | Verb::Set(_) | Verb::Capture(_) => {}
        }
    }

    fn turn(&mut self, is_one: bool) {
        self.way.turns = self.way.turns.saturating_add(u64::from(is_one));
    }

    fn simulated(&mut self, step: &Step, min_turns: u32) {
        self.way.asks.insert(USER.into());
        self.way.simulates = self.way.simulates.or(step.origin.0);
        self.turn(true);
        self.way.only_user_ends |= self.loops.last().is_some_and(|open| !open.ends);
        let most = self.loops.iter().map(|open| open.most).max().unwrap_or(0).max(self.way.turns);
        if let Some(span) = step.origin.0.filter(|_| !self.in_use && u64::from(min_turns) > most) {
            self.way.late.push((span, min_turns, most));
        }
    }

    /// The passes of a loop: gone through once, and counted as often as it can run.
    fn repeated(&mut self, step: &Step, times: u64, until: Option<&Expr>, steps: &[Step]) {
        let before = self.way.turns;
        let each = turns_of(steps);
        let after = before.saturating_add(times.saturating_mul(each));
        let most = self.loops.iter().map(|open| open.most).max().unwrap_or(0).max(after);
        if let (Some(until), Some(span)) = (until, step.origin.0.filter(|_| !self.in_use))
            && !can_hold(until, most)
        {
            self.way.dead.push((span, format!("`until` can never hold{}", within(most))));
        }
        let ends = until.is_some() || steps.iter().any(stops);
        self.loops.push(Open { most, ends });
        self.steps(steps);
        self.loops.pop();
        self.way.turns = after;
    }

    fn stop(&mut self, step: &Step, when: Option<&Expr>) {
        let most = self.loops.iter().map(|open| open.most).max().unwrap_or(0).max(self.way.turns);
        let dead = [when, step.when.as_ref()].into_iter().flatten().any(|when| !can_hold(when, most));
        if let Some(span) = step.origin.0.filter(|_| dead && !self.in_use) {
            self.way.dead.push((span, format!("this stop can never fire{}", within(most))));
        }
    }
}

/// How long the conversation can get at the place of a condition.
fn within(most: u64) -> String {
    format!(" in a conversation of at most {most} turn{}", if most == 1 { "" } else { "s" })
}

/// The most turns that steps add.
fn turns_of(steps: &[Step]) -> u64 {
    let each = steps.iter().map(|step| match &step.verb {
        Verb::Say { author, .. } => u64::from(*author == USER),
        Verb::SimulateUser(_) => 1,
        Verb::History(_) => MANY,
        Verb::Script(Lines::Texts(texts)) => texts.len() as u64,
        Verb::Script(Lines::Expression(list)) => length(list),
        Verb::Loop { times, steps, .. } => u64::from(*times).saturating_mul(turns_of(steps)),
        Verb::ForEach { list, steps, .. } => length(list).saturating_mul(turns_of(steps)),
        Verb::If { then, otherwise, .. } => turns_of(then).max(turns_of(otherwise)),
        Verb::Use { steps, .. } => turns_of(steps),
        _ => 0,
    });
    each.fold(0, u64::saturating_add)
}

/// Whether a step can end the loop or the conversation.
fn stops(step: &Step) -> bool {
    matches!(step.verb, Verb::Stop { .. }) || step.stop_on_fail || step.verb.inner().any(stops)
}

fn length(list: &Expr) -> u64 {
    match &list.kind {
        Kind::Literal(Value::List(items)) => items.len() as u64,
        Kind::List(items) => items.len() as u64,
        _ => MANY,
    }
}

fn is_drawn(said: &Said) -> bool {
    match said {
        Said::AnyOf(_) => true,
        Said::One(template) => template.source.contains("epoch"),
    }
}

fn reads_epoch(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(&part.kind, Kind::Attribute(_, name) if &**name == "epoch"));
    found
}

/// Whether a condition can hold while `turn` is between 0 and `most`. What is not known can.
fn can_hold(condition: &Expr, most: u64) -> bool {
    match &condition.kind {
        Kind::Literal(Value::Bool(holds)) => *holds,
        Kind::And(a, b) => [a, b].into_iter().all(|part| can_hold(part, most)),
        Kind::Or(a, b) => [a, b].into_iter().any(|part| can_hold(part, most)),
        Kind::Compare(op, a, b) => match (&a.kind, &b.kind) {
            (Kind::Name(name), Kind::Literal(Value::Int(n))) if &**name == "turn" => in_reach(*op, *n, most),
            (Kind::Literal(Value::Int(n)), Kind::Name(name)) if &**name == "turn" => in_reach(turned(*op), *n, most),
            (Kind::Literal(Value::Int(a)), Kind::Literal(Value::Int(b))) => holds(*a as f64, *op, *b as f64),
            _ => true,
        },
        _ => true,
    }
}

fn in_reach(op: Comparison, n: i64, most: u64) -> bool {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    match op {
        Comparison::Equal => 0 <= n && n <= most,
        Comparison::NotEqual => true,
        Comparison::Less => n > 0,
        Comparison::LessOrEqual => n >= 0,
        Comparison::Greater => most > n,
        Comparison::GreaterOrEqual => most >= n,
    }
}

/// The comparison with its sides changed.
const fn turned(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

/// `last_turn_only`: conversations of several turns of which only the last one counts.
pub(super) fn last_turn_only(linted: &Linted<'_>, found: &mut Diagnostics) {
    let ways = &linted.solves.all;
    let several = |way: &&Way| way.turns > 1;
    let recorded = linted.profile.transcripts() != (false, false);
    if !(recorded || ways.iter().any(|way| several(&way)))
        || !linted.resolved.checkpoints.is_empty()
        || ways.iter().any(|way| matches!(way.expected, Expected::OfMore))
        || !linted.task().scorers.iter().all(is_of_last_turn)
    {
        return;
    }
    let scorer = linted.task().scorers.first().map(|scorer| scorer.span);
    let expected = ways.iter().filter(several).find_map(|way| match way.expected {
        Expected::OfLast(span) => span,
        Expected::Nothing | Expected::OfMore => None,
    });
    let Some(span) = scorer.or(expected) else { return };
    let message = "only the last turn is scored: what goes wrong before it is never seen";
    let help = "score every turn, as a check does without `turns: last`, or add a judge of the conversation; \
                expect something of the other replies too";
    found.push(catalog::LAST_TURN_ONLY.at(span, message).help(help));
}

fn is_of_last_turn(scorer: &ast::Scorer) -> bool {
    match &scorer.method {
        ast::Method::Check(check) => check.turns == Turns::Last && !check.test.is_of_conversation(),
        ast::Method::Judge(judge) => !judge.per_turn && judge.window == Some(0),
        ast::Method::Graph(_) | ast::Method::Use(_) => false,
    }
}

/// `short_conversations`: something shall be kept in mind, and there is no time to forget it.
pub(super) fn short_conversations(linted: &Linted<'_>, found: &mut Diagnostics) {
    let longest = linted.solves.longest();
    if longest >= MEMORY || linted.profile.transcripts() != (false, false) {
        return;
    }
    for scorer in &linted.task().scorers {
        let own = rubrics_of(scorer).into_iter().filter(|leaf| linted.is_own(leaf.span));
        if !words::is_of_memory(&scorer.name.value) && !own.into_iter().any(|leaf| words::is_of_memory(&leaf.text)) {
            continue;
        }
        let turns = plural(longest, "turn");
        let message = format!(
            "`{}` asks whether something is kept in mind, and no conversation has more than {turns}",
            scorer.name.value
        );
        let help = format!("let at least {MEMORY} turns pass: what is said in the first, others, and what needs it");
        found.push(catalog::SHORT_CONVERSATIONS.at(scorer.name.span, message).help(help));
    }
}

/// The rubrics and prompts of a scorer.
fn rubrics_of(scorer: &ast::Scorer) -> Vec<&Leaf> {
    fn of_steps<'s>(steps: &'s [ast::GraphStep], texts: &mut Vec<&'s Leaf>) {
        for step in steps {
            match &step.verb {
                ast::GraphVerb::Extract { prompt, .. } => texts.push(prompt),
                ast::GraphVerb::Judge(judge) => texts.push(&judge.rubric),
                ast::GraphVerb::Each { steps, .. } => of_steps(steps, texts),
                ast::GraphVerb::If { then, otherwise, .. } => {
                    of_steps(then, texts);
                    of_steps(otherwise, texts);
                }
                ast::GraphVerb::Set(_) | ast::GraphVerb::Score(_) => {}
            }
        }
    }
    let mut texts = Vec::new();
    match &scorer.method {
        ast::Method::Judge(judge) => texts.push(&judge.rubric),
        ast::Method::Graph(graph) => of_steps(&graph.steps, &mut texts),
        ast::Method::Check(_) | ast::Method::Use(_) => {}
    }
    texts
}

/// `dead_stop` and `min_turns_out_of_reach`: what the number of turns makes impossible.
pub(super) fn dead_stops(linted: &Linted<'_>, found: &mut Diagnostics) {
    for way in &linted.solves.all {
        for (span, message) in &way.dead {
            let help = "mend the condition, allow more turns, or remove it";
            found.push(catalog::DEAD_STOP.at(*span, message.as_str()).help(help));
        }
        for (span, wanted, most) in &way.late {
            let message = format!("`min_turns` is {wanted}, which is never reached{}", within(*most));
            let help = "write a smaller `min_turns`, or a larger `max_turns` of the loop";
            found.push(catalog::MIN_TURNS_OUT_OF_REACH.at(*span, message).help(help));
        }
    }
}

/// `nobody_is_tested`: samples in which no role answers, and nothing recorded is scored.
pub(super) fn nobody_is_tested(linted: &Linted<'_>, found: &mut Diagnostics) {
    for way in &linted.solves.all {
        let silent = way.asks.iter().all(|role| &**role == USER) && !way.speaks;
        if !silent || linted.profile.group(&way.name).is_none() {
            continue;
        }
        let is_main = &*way.name == crate::MAIN;
        let span = linted.task().solvers_span.filter(|_| is_main).unwrap_or(way.origin);
        let message = "nobody is asked in these samples, so there is nothing to score";
        let help = "add `- generate` behind what the user says";
        found.push(catalog::NOBODY_IS_TESTED.at(span, message).help(help));
    }
    if linted.profile.transcripts().0 && !linted.profile.is_spoken {
        let Some(span) = linted.task().dataset_span else { return };
        let others = linted.profile.others.iter().filter(|name| ***name != *ASSISTANT);
        let others: Vec<String> = others.take(MOST_OTHERS).map(|name| format!("`{}`", excerpt(name, 40))).collect();
        let others = if others.is_empty() {
            "nobody else does".to_owned()
        } else {
            format!("there speak {}", others.join(", "))
        };
        let what = if linted.profile.others.contains(ASSISTANT) { "says nothing to a `user`" } else { "says nothing" };
        let message = format!("the assistant {what} in any recording, {others}: each scorer gives its worst value");
        let help =
            "name who is tested `assistant`, and who talks to it `user`, as `author` or `role` of their messages";
        found.push(catalog::NOBODY_IS_TESTED.at(span, message).help(help));
    }
}

/// `turns_out_of_reach`: a check of turns that no conversation has.
pub(super) fn turns_out_of_reach(linted: &Linted<'_>, found: &mut Diagnostics) {
    let longest = linted.solves.longest();
    if longest >= MANY || linted.profile.transcripts() != (false, false) {
        return;
    }
    for scorer in &linted.task().scorers {
        let ast::Method::Check(check) = &scorer.method else { continue };
        let Turns::Range(range) = check.turns else { continue };
        let Some(least) = range.least.filter(|least| u64::from(*least) > longest) else { continue };
        let turns = plural(longest, "turn");
        let name = &scorer.name.value;
        let message =
            format!("no conversation has more than {turns}: `{name}` looks from turn {least} on, and never applies");
        let help = "name turns that there are, or let the conversations go on";
        found.push(catalog::TURNS_OUT_OF_REACH.at(scorer.name.span, message).help(help));
    }
}
