//! Steps to a solve graph.

use std::sync::Arc;

use aigo_ir::expr::{Comparison, Expr, Function, Kind};
use aigo_ir::graph::Graph;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::node::{Bound, Ending, MOST_PASSES, Node, Port, Said, Unit, View};
use aigo_ir::program::EXPECTATIONS;
use aigo_ir::schema::Schema;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

use super::flow::Flow;
use super::{prompts, score};
use crate::typed::{self, Check, Judge, Lines, Persona, Simulate, Step, Verb};

/// The slots that the lowering itself binds. Names of tasks begin with a letter, these with `_`.
const REPLY: &str = "_reply";
const SAID: &str = "_said";
const SAYS: &str = "_says";
const STATUS: &str = "_status";
const EXPECTED: &str = "_expected";
const HELD: &str = "_held";
const LINE: &str = "_line";
const CALL: &str = "_call";
const RESULT: &str = "_result";

/// How often the assistant may call tools for one line of a script.
pub(super) const TOOL_ROUNDS: u32 = 8;

/// What `_status` can be, beside what a simulated user says: a loop with an end of its own goes on, or has come to that end.
/// Before any such loop there is nothing that could run out.
const GOING: &str = "going";
const MET: &str = "met";

/// Lowers the steps of one kind of samples. `tools` says whether the assistant has any, `enders` are the roles that can end the
/// conversation. The places of steps that can never
/// run are added to `never`.
pub(super) fn solve(name: &str, steps: &[Step], tools: bool, enders: &[&str], never: &mut Vec<Origin>) -> Graph {
    let ends = steps.iter().any(ends_by_itself);
    let mut lower = Lower { flow: Flow::default(), never, ends, tools, enders };
    if lower.ends {
        lower.bind(STATUS, Type::Str, Expr::literal(MET), "status", Origin::default());
    }
    lower.steps(steps, "");
    if lower.flow.is_open() {
        lower.finish();
    }
    lower.flow.builder.finish(name)
}

/// Whether a loop in the step ends for a reason of its own: then running out of passes is a turn limit.
fn ends_by_itself(step: &Step) -> bool {
    match &step.verb {
        Verb::SimulateUser(_) | Verb::Loop { until: Some(_), .. } => true,
        verb => verb.inner().any(ends_by_itself),
    }
}

/// Whether the step simulates a user somewhere.
pub(super) fn simulates(step: &Step) -> bool {
    match &step.verb {
        Verb::SimulateUser(_) => true,
        verb => verb.inner().any(simulates),
    }
}

struct Lower<'n> {
    /// The roles that can end the conversation with an answer.
    enders: &'n [&'n str],
    flow: Flow,
    never: &'n mut Vec<Origin>,
    /// Whether a loop has an end of its own somewhere.
    ends: bool,
    /// Whether the assistant has tools.
    tools: bool,
}

fn said(said: &typed::Said) -> Said {
    match said {
        typed::Said::One(text) => Said::Template(text.clone()),
        typed::Said::AnyOf(choices) => Said::AnyOf(choices.clone()),
    }
}

fn is(slot: &str, attribute: &str, word: &str) -> Expr {
    Expr::compare(Comparison::Equal, Expr::path(slot, attribute), Expr::literal(word))
}

impl Lower<'_> {
    fn bind(&mut self, slot: &str, ty: Type, value: Expr, path: &str, origin: Origin) {
        let into = self.flow.builder.slot(slot, ty);
        self.flow.add(Node::Let { into, value }, path, origin);
    }

    fn steps(&mut self, steps: &[Step], parent: &str) {
        for step in steps {
            if !self.flow.is_open() {
                self.never.push(step.origin);
                return;
            }
            self.step(step, parent);
        }
    }

    fn step(&mut self, step: &Step, parent: &str) {
        let name = step.label.as_deref().unwrap_or(step.verb.word());
        let wanted = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
        // The step's nodes share its path as a prefix, so it must be free for all of them.
        let path = self.flow.path(&wanted);
        let skipped = step.when.as_ref().map(|when| {
            let branch = self.flow.add(Node::Branch { when: when.clone() }, &format!("{path}/when"), step.origin);
            self.flow.take(branch, Port::No);
            vec![(branch, Port::No)]
        });
        self.verb(step, &path);
        self.flow.also(skipped.unwrap_or_default());
    }

    fn verb(&mut self, step: &Step, path: &str) {
        let origin = step.origin;
        match &step.verb {
            Verb::System(text) => {
                let (author, audience, said) = (ASSISTANT.into(), Some(ASSISTANT.into()), said(text));
                self.flow.add(Node::Append { author, audience, said }, path, origin);
            }
            Verb::Say { author, said: text } => self.append(author, said(text), path, origin),
            Verb::History(list) => self.append(ASSISTANT, Said::History(list.clone()), path, origin),
            Verb::Generate { role, rounds } => self.generate(step, role, *rounds, path),
            Verb::SimulateUser(simulate) => self.simulate(simulate, step, path),
            Verb::Script(lines) => self.script(lines, step, path),
            Verb::Loop { times, until, steps } => {
                let counter = self.counter(path);
                if ends_by_itself(step) {
                    // An earlier loop's end says nothing of this one.
                    self.bind(STATUS, Type::Str, Expr::literal(GOING), &format!("{path}/going"), origin);
                }
                self.flow.enter(Node::Loop { bound: Bound::Times(*times), counter }, path, origin);
                if let Some(until) = until {
                    self.until(until, path, origin);
                }
                self.steps(steps, path);
                self.flow.leave();
            }
            Verb::ForEach { list, item, ty, steps } => {
                if ends_by_itself(step) {
                    self.bind(STATUS, Type::Str, Expr::literal(GOING), &format!("{path}/going"), origin);
                }
                self.enter_each(list.clone(), item, ty.clone(), path, origin);
                self.steps(steps, path);
                self.flow.leave();
            }
            Verb::Judge { name, judge } => self.checkpoint(step, name, judge, path),
            Verb::Use { arguments, steps } => {
                for (slot, ty, value) in arguments {
                    let param = slot.trim_start_matches('_');
                    self.bind(slot, ty.clone(), value.clone(), &format!("{path}/{param}"), origin);
                }
                self.steps(steps, path);
            }
            Verb::If { when, then, otherwise } => {
                let branch = self.flow.add(Node::Branch { when: when.clone() }, path, origin);
                self.flow.take(branch, Port::No);
                self.steps(then, &format!("{path}/then"));
                let after = self.flow.replace(vec![(branch, Port::No)]);
                self.steps(otherwise, &format!("{path}/else"));
                self.flow.also(after);
            }
            Verb::Stop { when, only_loop } => self.stop(when.as_ref(), *only_loop, path, origin),
            Verb::Set(pairs) | Verb::Capture(pairs) => {
                for (name, ty, value) in pairs {
                    self.bind(name, ty.clone(), value.clone(), &format!("{path}/{name}"), origin);
                }
            }
        }
    }

    fn say(&mut self, author: &str, text: &Template, path: &str, origin: Origin) {
        self.append(author, Said::Template(text.clone()), path, origin);
    }

    fn append(&mut self, author: &str, said: Said, path: &str, origin: Origin) {
        self.flow.add(Node::Append { author: author.into(), audience: None, said }, path, origin);
    }

    /// The slot of a loop's counter.
    fn counter(&mut self, path: &str) -> Arc<str> {
        self.flow.builder.slot(format!("_pass_{}", path.replace(['/', '.'], "_")), Type::Int)
    }

    /// Enters a loop over the items of a list.
    fn enter_each(&mut self, list: Expr, item: &str, ty: Type, path: &str, origin: Origin) {
        let counter = self.counter(path);
        let item = self.flow.builder.slot(item, ty);
        let bound = Bound::Items { list, item, cap: MOST_PASSES };
        self.flow.enter(Node::Loop { bound, counter }, path, origin);
    }

    fn script(&mut self, lines: &Lines, step: &Step, path: &str) {
        match lines {
            Lines::Texts(lines) => {
                for (at, line) in lines.iter().enumerate() {
                    let path = format!("{path}/{}", at + 1);
                    self.say(USER, line, &format!("{path}/user"), step.origin);
                    self.generate(step, ASSISTANT, TOOL_ROUNDS, &path);
                }
            }
            Lines::Expression(list) => {
                self.enter_each(list.clone(), LINE, Type::Str, path, step.origin);
                self.append(USER, Said::Text(Expr::name(LINE)), &format!("{path}/user"), step.origin);
                self.generate(step, ASSISTANT, TOOL_ROUNDS, &format!("{path}/generate"));
                self.flow.leave();
            }
        }
    }

    /// A judge's verdict of the conversation so far.
    fn checkpoint(&mut self, step: &Step, name: &Arc<str>, judge: &Judge, path: &str) {
        let origin = step.origin;
        if judge.per_turn {
            self.bind(score::TURN, Type::Int, Expr::name("turn"), &format!("{path}/turn"), origin);
        }
        let flow = std::mem::take(&mut self.flow);
        let mut scoring = score::Lower::of_checkpoint(flow, name.clone(), &judge.scale, path, origin);
        let verdict = scoring.judge(judge, judge.per_turn);
        self.flow = scoring.flow;
        let unit = Unit::Turn(Expr::name("turn"));
        let score = Node::Score { scorer: name.clone(), unit, from: verdict.clone() };
        self.flow.add(score, &format!("{path}/score"), origin);
        if let Some(slot) = &step.reply {
            self.bind(slot, Type::Verdict, Expr::name(&verdict), &format!("{path}/as"), origin);
        }
        if step.stop_on_fail {
            let failed = Expr::compare(Comparison::Equal, Expr::path(&verdict, "pass"), Expr::literal(false));
            self.aside(failed, &format!("{path}/failed"), origin, |lower| {
                lower.exit(Ending::Condition, &format!("{path}/exit_failed"), origin);
            });
        }
    }

    /// What the yes of a branch does apart from the main way; the main way goes on from its no.
    fn aside(&mut self, when: Expr, path: &str, origin: Origin, aside: impl FnOnce(&mut Self)) {
        let branch = self.flow.add(Node::Branch { when }, path, origin);
        self.flow.take(branch, Port::No);
        aside(self);
        let rest = self.flow.replace(vec![(branch, Port::No)]);
        self.flow.also(rest);
    }

    fn exit(&mut self, ending: Ending, path: &str, origin: Origin) {
        self.flow.add(Node::Exit { ending }, path, origin);
    }

    fn generate(&mut self, step: &Step, role: &str, rounds: u32, path: &str) {
        let into = self.flow.builder.slot(step.reply.as_deref().unwrap_or(REPLY), Type::Reply);
        let tools = self.tools && role == ASSISTANT;
        self.ask(step, role, tools, &into, path);
        if tools {
            self.tool_rounds(step, role, rounds, &into, path);
        }
        self.expect(step, role, &into, path);
        if self.enders.contains(&role) {
            self.aside(is(&into, "stop", "done"), &format!("{path}/ends"), step.origin, |lower| {
                lower.exit(Ending::Done, &format!("{path}/exit_done"), step.origin);
            });
        }
    }

    /// Answers the calls of a reply and asks again, until a reply has none.
    fn tool_rounds(&mut self, step: &Step, role: &str, rounds: u32, into: &Arc<str>, path: &str) {
        let origin = step.origin;
        let calls = || Expr::path(into, "calls");
        let none = || {
            let length = Expr::call(Function::Length, vec![calls()]);
            Expr::compare(Comparison::Equal, length, Expr::literal(0))
        };
        let rounds_path = format!("{path}/rounds");
        let counter = self.counter(&rounds_path);
        self.flow.enter(Node::Loop { bound: Bound::Times(rounds), counter }, &rounds_path, origin);
        self.aside(none(), &format!("{rounds_path}/answered"), origin, |lower| lower.flow.break_out());
        let (call, result) = (format!("{rounds_path}/calls"), self.flow.builder.slot(RESULT, Type::Any));
        self.enter_each(calls(), CALL, Type::Any, &call, origin);
        self.flow.add(Node::Tool { call: CALL.into(), into: result }, &format!("{call}/tool"), origin);
        let ends = Expr::call(Function::Default, vec![Expr::path(RESULT, "ends"), Expr::literal("")]);
        let over = Expr::compare(Comparison::Equal, ends, Expr::literal(Ending::HandedOff.word()));
        self.aside(over, &format!("{call}/ends"), origin, |lower| {
            lower.exit(Ending::HandedOff, &format!("{call}/exit_handed_off"), origin);
        });
        self.flow.leave();
        self.ask(step, role, true, into, &format!("{rounds_path}/generate"));
        self.flow.leave();
        self.aside(Expr::negate(none()), &format!("{path}/without_end"), origin, |lower| {
            lower.exit(Ending::ToolRounds, &format!("{path}/exit_tool_rounds"), origin);
        });
    }

    /// Asks a role and appends its reply; a fault ends the conversation.
    fn ask(&mut self, step: &Step, role: &str, tools: bool, into: &Arc<str>, path: &str) {
        let (origin, timeout_s) = (step.origin, step.timeout_s);
        let view = View::Chat { system: None, opening: None };
        let ask = Node::Generate { role: role.into(), view, schema: None, tools, timeout_s, into: into.clone() };
        let ask = self.flow.add(ask, path, origin);
        self.flow.take(ask, Port::Ok);
        // Whose fault it is follows from the role: only the assistant's is a result.
        if role == ASSISTANT {
            self.aside(is(into, "fault", "filtered"), &format!("{path}/filtered"), origin, |lower| {
                lower.exit(Ending::Filtered, &format!("{path}/exit_filtered"), origin);
            });
        }
        let ending = if role == ASSISTANT { Ending::ApplicationFailure } else { Ending::SimulatorFailure };
        self.exit(ending, &format!("{path}/exit_failed"), origin);
        self.flow.replace(vec![(ask, Port::Ok)]);
        let append = Node::Append { author: role.into(), audience: None, said: Said::Reply(into.clone()) };
        self.flow.add(append, &format!("{path}/append"), origin);
    }

    /// A verdict per expectation; all are evaluated before the conversation is stopped.
    fn expect(&mut self, step: &Step, author: &str, reply: &Arc<str>, path: &str) {
        let stops = step.stop_on_fail && !step.expect.is_empty();
        if stops {
            self.bind(HELD, Type::Bool, Expr::literal(true), &format!("{path}/held"), step.origin);
        }
        for check in &step.expect {
            let path = self.flow.path(&format!("{path}/expect"));
            self.check(check, author, Expr::path(reply, "text"), &path);
            if stops {
                let pass = Expr::compare(Comparison::Equal, Expr::path(EXPECTED, "pass"), Expr::literal(true));
                let both = Expr::new(Kind::And(Box::new(Expr::name(HELD)), Box::new(pass)));
                self.bind(HELD, Type::Bool, both, &format!("{path}/held"), check.origin);
            }
        }
        if stops {
            self.aside(Expr::negate(Expr::name(HELD)), &format!("{path}/failed"), step.origin, |lower| {
                lower.exit(Ending::ExpectationFailed, &format!("{path}/exit_expectation"), step.origin);
            });
        }
    }

    fn check(&mut self, check: &Check, author: &str, text: Expr, path: &str) {
        let into = self.flow.builder.slot(EXPECTED, Type::Verdict);
        let (test, negated) = (check.test.clone(), check.negated);
        let (author, turn) = (author.into(), Expr::name("turn"));
        let node = Node::Check { test, negated, text, author, turn, into: into.clone() };
        self.flow.add(node, path, check.origin);
        let unit = Unit::Turn(Expr::name("turn"));
        self.flow.add(
            Node::Score { scorer: EXPECTATIONS.into(), unit, from: into },
            &format!("{path}/score"),
            check.origin,
        );
    }

    /// The user's next message, by the role that plays the user.
    fn simulate(&mut self, simulate: &Simulate, step: &Step, path: &str) {
        let origin = step.origin;
        if let Some(opening) = &simulate.opening {
            let first = Expr::compare(Comparison::Equal, Expr::name("turn"), Expr::literal(0));
            let branch = self.flow.add(Node::Branch { when: first }, &format!("{path}/first"), origin);
            self.flow.take(branch, Port::No);
            self.say(USER, opening, &format!("{path}/opening"), origin);
            let said = self.flow.replace(vec![(branch, Port::No)]);
            self.simulated(simulate, step, path);
            self.flow.also(said);
        } else {
            self.simulated(simulate, step, path);
        }
    }

    fn simulated(&mut self, simulate: &Simulate, step: &Step, path: &str) {
        let (origin, timeout_s) = (step.origin, step.timeout_s);
        if let Some(Persona::Named(text)) = &simulate.persona {
            self.bind(prompts::PERSONA, Type::Any, text.clone(), &format!("{path}/persona"), origin);
        }
        let said = self.flow.builder.slot(SAID, Type::Reply);
        let says = self.flow.builder.slot(SAYS, Type::UserTurn);
        let view = View::Chat {
            system: Some(prompts::simulated_user(simulate)),
            opening: Some(Template::new(prompts::OPENING)),
        };
        let schema = Some(Schema::UserTurn);
        let ask = Node::Generate { role: USER.into(), view, schema, tools: false, timeout_s, into: said.clone() };
        let ask = self.flow.add(ask, path, origin);
        self.flow.take(ask, Port::Bad);
        let parse = Node::Parse { from: said, schema: Schema::UserTurn, into: says };
        let parse = self.flow.add(parse, &format!("{path}/read"), origin);
        let main = self.flow.replace(vec![(ask, Port::Bad), (parse, Port::Bad)]);
        self.exit(Ending::SimulatorFailure, &format!("{path}/exit_simulator"), origin);
        self.flow.replace(main);
        self.flow.take(parse, Port::Bad);
        let early = Expr::compare(Comparison::Less, Expr::name("turn"), Expr::literal(i64::from(simulate.min_turns)));
        let length = Expr::call(Function::Length, vec![Expr::path(SAYS, "message")]);
        let speaks = Expr::compare(Comparison::Greater, length, Expr::literal(0));
        let goes_on =
            Expr::new(Kind::And(Box::new(Expr::either(is(SAYS, "status", GOING), early)), Box::new(speaks.clone())));
        let speak = |lower: &mut Self, path: String| {
            let said = Said::Text(Expr::path(SAYS, "message"));
            lower.flow.add(Node::Append { author: USER.into(), audience: None, said }, &path, origin);
        };
        self.aside(Expr::negate(goes_on), &format!("{path}/ends"), origin, |lower| {
            // The last words are kept; nobody answers them.
            let branch = lower.flow.add(Node::Branch { when: speaks }, &format!("{path}/speaks"), origin);
            lower.flow.take(branch, Port::No);
            speak(lower, format!("{path}/last"));
            lower.flow.also(vec![(branch, Port::No)]);
            lower.bind(STATUS, Type::Str, Expr::path(SAYS, "status"), &format!("{path}/status"), origin);
            if lower.flow.in_loop() {
                lower.flow.break_out();
            } else {
                lower.finish_as(path, origin);
            }
        });
        speak(self, format!("{path}/append"));
    }

    fn until(&mut self, until: &Expr, path: &str, origin: Origin) {
        self.aside(until.clone(), &format!("{path}/until"), origin, |lower| {
            lower.bind(STATUS, Type::Str, Expr::literal(MET), &format!("{path}/met"), origin);
            lower.flow.break_out();
        });
    }

    fn stop(&mut self, when: Option<&Expr>, only_loop: bool, path: &str, origin: Origin) {
        let end = |lower: &mut Self| {
            if only_loop && lower.flow.in_loop() {
                if lower.ends {
                    lower.bind(STATUS, Type::Str, Expr::literal(MET), &format!("{path}/met"), origin);
                }
                lower.flow.break_out();
            } else {
                lower.exit(Ending::Condition, &format!("{path}/exit"), origin);
            }
        };
        match when {
            Some(when) => self.aside(when.clone(), path, origin, end),
            None => end(self),
        }
    }

    /// The end of the conversation, by how the last loop ended.
    fn finish(&mut self) {
        if self.ends {
            self.finish_as("end", Origin::default());
        }
        if self.flow.is_open() {
            let ending = if self.ends { Ending::TurnLimit } else { Ending::Completed };
            self.exit(ending, "end", Origin::default());
        }
    }

    fn finish_as(&mut self, path: &str, origin: Origin) {
        let inner = path != "end";
        for (word, ending) in [("done", Ending::Done), ("gave_up", Ending::GaveUp), (MET, Ending::Completed)] {
            if inner && word == MET {
                continue;
            }
            let when = Expr::compare(Comparison::Equal, Expr::name(STATUS), Expr::literal(Value::str(word)));
            self.aside(when, &format!("{path}/is_{word}"), origin, |lower| {
                lower.exit(ending, &format!("{path}/{word}"), origin);
            });
        }
        if inner {
            // What is left said nothing and did not say that it is done.
            self.exit(Ending::SimulatorFailure, &format!("{path}/silent"), origin);
        }
    }
}
