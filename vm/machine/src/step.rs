//! `step`: one function from (program, sample, lane, event) to (lane, effects), a table over the kinds of nodes.

mod append;
mod check;
mod limits;
mod outside;
mod tool;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::eval::{eval, truth};
use aigo_ir::expr::Expr;
use aigo_ir::graph::{Graph, Placed};
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::node::{Bound, Jump, Node, Port, Unit, View};
use aigo_ir::program::{Player, Scorer};
use aigo_ir::reduce;
use aigo_ir::schema::{self, Contract, Schema};
use aigo_ir::template::Template;
use aigo_ir::value::Value;
use aigo_ir::verdict::{Scale, Verdict};

use crate::ask::{Answer, Ask, Position, Request, TASK_ERROR};
use crate::lane::{Effect, Event, Frame, Given, GraphRef, Here, Lane};
use crate::linked::Linked;
use crate::outcome::ScoreRow;
use crate::scope::Sample;
use crate::used::Used;
use crate::view;
use check::Asked;

/// What follows a node.
enum Next {
    Follow(Port),
    Wait(Effect),
    Over(Effect),
}

/// Advances a lane until it waits or is over. The last effect says which.
pub fn step(linked: &Linked, sample: &Arc<Sample>, lane: Lane, event: Event) -> (Lane, Vec<Effect>) {
    let Some(shape) = linked.graph(lane.graph) else {
        return (lane, vec![Effect::Failed("the graph of the lane is not in the program".to_owned())]);
    };
    let mut stepper = Stepper { linked, sample, shape, lane, effects: Vec::new() };
    let last = stepper.run(event).unwrap_or_else(Effect::Failed);
    stepper.effects.push(last);
    (stepper.lane, stepper.effects)
}

struct Stepper<'s> {
    linked: &'s Linked,
    sample: &'s Arc<Sample>,
    shape: &'s Graph,
    lane: Lane,
    effects: Vec<Effect>,
}

/// A node that the verifier would not have let pass.
fn broken<T>(what: &str) -> Result<T, String> {
    Err(format!("the program is not sound: {what}"))
}

impl<'s> Stepper<'s> {
    fn run(&mut self, event: Event) -> Result<Effect, String> {
        let mut next = match event {
            Event::Start => self.execute()?,
            Event::Answered(answer) => self.answered(&answer)?,
            Event::Joined(results) => match self.placed()?.node.clone() {
                Node::Map { into, .. } => {
                    // In item order, so the order of arrival cannot be seen.
                    self.lane.draws.extend(results.iter().flat_map(|given| given.draws.iter().copied()));
                    for given in &results {
                        self.lane.used.join(&given.used);
                    }
                    let values = results.into_iter().map(|given| given.value).collect();
                    self.lane.set(self.shape, &into, Value::list(values));
                    Next::Follow(Port::Done)
                }
                _ => return broken("results for a node that is no map"),
            },
        };
        loop {
            match next {
                Next::Wait(effect) | Next::Over(effect) => return Ok(effect),
                Next::Follow(port) => {
                    if let Some(over) = self.follow(port)? {
                        return Ok(over);
                    }
                    next = self.execute()?;
                }
            }
        }
    }

    fn placed(&self) -> Result<&'s Placed, String> {
        self.shape.get(self.lane.cursor).map_or_else(|| broken("a node is missing"), Ok)
    }

    fn here(&self) -> Here<'_> {
        Here { lane: &self.lane, shape: self.shape, sample: self.sample }
    }

    fn eval(&self, expr: &Expr) -> Result<Value, String> {
        eval(expr, &self.here()).map_err(|fault| format!("`{expr}`: {}", fault.message))
    }

    fn text(&self, expr: &Expr) -> Result<Arc<str>, String> {
        match self.eval(expr)? {
            Value::Str(text) => Ok(text),
            other => Err(format!("`{expr}` is {}; a string is needed", other.kind())),
        }
    }

    fn turn(&self, expr: &Expr) -> Result<u32, String> {
        match self.eval(expr)? {
            Value::Int(turn) => Ok(u32::try_from(turn).unwrap_or(u32::MAX)),
            other => Err(format!("`{expr}` is {}; the number of a turn is needed", other.kind())),
        }
    }

    fn scope(&self) -> SharedScope {
        Arc::new(self.lane.snapshot(self.shape, self.sample))
    }

    fn render(&self, template: &Template) -> Result<Arc<str>, String> {
        if template.is_literal() {
            return Ok(template.source.clone());
        }
        self.linked.engine.render(template, &self.scope())
    }

    /// Moves along an edge. Gives the end of the lane where the edge ends a map's item.
    fn follow(&mut self, port: Port) -> Result<Option<Effect>, String> {
        // What follows the fork at which an early ending was decided, such as the class of a fault, decides nothing more.
        if self.placed()?.node.ports().len() > 1 && self.linked.goes_on(self.lane.graph, self.lane.cursor) {
            self.lane.last_fork = Some((self.lane.cursor, port));
        }
        self.mark()?;
        let mut port = port;
        loop {
            self.trace(Some(port));
            let Some((jump, to)) = self.shape.follow(self.lane.cursor, port) else {
                return broken("an edge is missing");
            };
            match jump {
                Jump::Again if self.lane.item_of == Some(to) => {
                    let Some(Node::Map { give, .. }) = self.shape.get(to).map(|placed| &placed.node) else {
                        return broken("an item of a node that is no map");
                    };
                    let Some(value) = self.lane.slot(self.shape, give).cloned() else {
                        return broken("a map's item without a result");
                    };
                    let draws = self.lane.draws.split_off(self.lane.inherited);
                    return Ok(Some(Effect::Gave(Given { value, draws, used: self.lane.used })));
                }
                Jump::On | Jump::Again => {
                    self.lane.cursor = to;
                    return Ok(None);
                }
                Jump::Break => {
                    let Some(frame) = self.lane.frames.pop() else { return broken("a break outside a loop") };
                    self.lane.cursor = frame.header;
                    port = Port::Done;
                }
            }
        }
    }

    /// Notes the way that is taken from here, for who wants to know which never are.
    fn trace(&mut self, port: Option<Port>) {
        if let Some(trace) = &mut self.lane.trace {
            trace.push((self.lane.cursor, port));
        }
    }

    fn execute(&mut self) -> Result<Next, String> {
        let placed = self.placed()?;
        self.trace(None);
        match &placed.node {
            Node::Append { author, audience, said } => self.append(author, audience.as_ref(), said),
            Node::Generate { .. } => self.generate(placed),
            Node::Branch { when } => {
                let holds = truth(when, &self.here()).map_err(|fault| format!("`{when}`: {}", fault.message))?;
                Ok(Next::Follow(if holds { Port::Yes } else { Port::No }))
            }
            Node::Loop { bound, counter } => self.pass(bound, counter),
            Node::Map { list, item, cap, .. } => self.fork(list, item, *cap),
            Node::Let { into, value } => {
                let value = self.eval(value)?;
                self.lane.set(self.shape, into, value);
                Ok(Next::Follow(Port::Next))
            }
            Node::Parse { from, schema, into } => self.parse(from, schema, into),
            Node::Check { test, negated, text, author, turn, into } => {
                self.check(&Asked { test, negated: *negated, text, author, turn, into })
            }
            Node::Tool { call, .. } => self.tool(placed, call),
            Node::Reduce { from, reducer, quorum, into } => {
                let items = self.lane.slot(self.shape, from).and_then(Value::as_list).unwrap_or_default();
                let verdicts: Option<Vec<Verdict>> = items.iter().map(Verdict::from_value).collect();
                let Some(verdicts) = verdicts else { return broken("a list of something else than verdicts") };
                let (scale, pass) = self.scorer().map_or((Scale::Boolean, 1.0), |s| (s.scale.clone(), s.pass));
                let verdict = reduce::reduce(*reducer, &scale, pass, *quorum, &verdicts);
                self.lane.set(self.shape, into, verdict.to_value());
                Ok(Next::Follow(Port::Next))
            }
            Node::Score { scorer, unit, from } => {
                let verdict = self.lane.slot(self.shape, from).and_then(Verdict::from_value);
                let Some(verdict) = verdict else { return broken("a score of something else than a verdict") };
                let turn = match unit {
                    Unit::Conversation => None,
                    Unit::Turn(turn) => Some(self.turn(turn)?),
                };
                self.lane.passed.push(self.lane.cursor);
                let row = ScoreRow { scorer: scorer.clone(), turn, part: placed.path.clone(), verdict };
                self.effects.push(Effect::Score(row));
                Ok(Next::Follow(Port::Next))
            }
            Node::Exit { ending } => Ok(Next::Over(Effect::Ended(*ending))),
        }
    }

    /// The scorer whose graph this is.
    fn scorer(&self) -> Option<&'s Scorer> {
        match self.lane.graph {
            GraphRef::Score(at) => self.linked.program.scorers.get(at),
            GraphRef::Solve(_) => None,
        }
    }

    fn generate(&mut self, placed: &Placed) -> Result<Next, String> {
        let Node::Generate { role, view: shown, schema: wanted, tools, .. } = &placed.node else {
            return broken("no generate");
        };
        let scope = self.scope();
        let shown = view::show(self.linked, shown, role, &self.sample.key, &scope)?;
        let schema = match wanted {
            None => None,
            Some(Schema::UserTurn) => Some(("user_turn", schema::user_turn_schema())),
            Some(Schema::Verdict(name)) => match self.linked.program.scorer(name) {
                Some(scorer) => Some((
                    "verdict",
                    schema::verdict_schema(&scorer.scale, scorer.evidence, scorer.skips, &shown.labels),
                )),
                None => return broken("a verdict of a scorer that is not there"),
            },
            Some(Schema::Judged(judged)) => {
                Some(("verdict", schema::verdict_schema(&judged.scale, judged.rule, judged.skips, &shown.labels)))
            }
            Some(Schema::Items(items)) => Some(("items", schema::items_schema(items, &shown.labels))),
            Some(Schema::Verdicts(of, judged)) => {
                Some(("verdicts", schema::verdicts_schema(judged, self.count(of)?, &shown.labels)))
            }
        };
        let tools = if *tools { Arc::clone(&self.linked.tools) } else { Arc::default() };
        let (role, messages) = (role.clone(), shown.messages);
        let request = Request { role, messages, schema, tools, tool: None, scope: None, input: None };
        self.ask(placed, request, shown.judged)
    }

    fn ask(&mut self, placed: &Placed, mut request: Request, judged: Option<u32>) -> Result<Next, String> {
        if let Some(over) = self.used_up() {
            return Ok(over);
        }
        let Some((role, role_key)) = self.linked.role(&request.role) else { return broken("a role that is not there") };
        let graph = self.linked.graph_name(self.lane.graph);
        let position = Position { graph: graph.clone(), node: placed.path.clone(), index: self.lane.index() };
        let timeout_s = match &placed.node {
            Node::Generate { timeout_s, .. } => *timeout_s,
            _ => None,
        };
        let mut base = base_content(role_key, &request);
        if let Some(sent) = self.outside(role, &mut request)? {
            // What an application answers may depend on all that it was told before, also where this call does not say it again.
            let mut writer = KeyWriter::new("aigo.application.1");
            writer.key(&base).key(&sent);
            self.lane.conversation.hash_into(&mut writer);
            base = writer.finish();
        }
        let repeats = self.lane.draws.iter().filter(|known| **known == base).count();
        self.lane.draws.push(base);
        let mut writer = KeyWriter::new("aigo.draw.1");
        // Which scorer asks makes no difference to a list that all of them share.
        let whose = if is_shared(&self.lane, &request) { EXTRACT } else { &graph };
        writer.key(&base).str(&self.sample.key).u64(u64::from(self.sample.epoch)).str(whose);
        writer.list(self.lane.occurrence.len());
        for (item, n) in &self.lane.occurrence {
            writer.key(item).u64(u64::from(*n));
        }
        let content = writer.u64(repeats as u64).finish();
        if matches!(role.player, Player::Scripted(_)) {
            let mut names = self.lane.snapshot(self.shape, self.sample);
            let scorer = self.scorer().map_or_else(|| "".into(), |scorer| scorer.name.clone());
            names.names.push(("scorer".into(), Value::Str(scorer)));
            names.names.push(("judged".into(), Value::Int(i64::from(judged.unwrap_or(0)))));
            request.scope = Some(Arc::new(names));
        }
        Ok(Next::Wait(Effect::Ask(Box::new(Ask { position, content, request, timeout_s }))))
    }

    fn answered(&mut self, answer: &Answer) -> Result<Next, String> {
        // A scripted role's rule that has no value is the task's fault, and nobody's answer.
        if answer.fault.as_deref() == Some(TASK_ERROR) {
            return Err(answer.text.to_string());
        }
        let node = self.placed()?.node.clone();
        if let Node::Generate { role, .. } = &node
            && let Some((role, _)) = self.linked.role(role)
        {
            self.lane.used.count(role, answer);
        }
        match node {
            Node::Generate { role, view, schema, into, .. } => {
                let mut answer = answer.clone();
                if matches!(view, View::Chat { .. }) && schema.is_none() {
                    self.answers(&role, &answer);
                }
                if answer.fault.is_none() && answer.text.is_empty() && answer.calls.is_empty() {
                    answer.fault = Some("empty".into());
                }
                if let Some(fault) = &answer.fault {
                    let said = if answer.text.is_empty() { String::new() } else { format!(": {}", answer.text) };
                    self.lane.trouble = Some(format!("the role `{role}` gave no answer: {fault}{said}"));
                }
                self.lane.set(self.shape, &into, answer.to_value());
                Ok(Next::Follow(if answer.fault.is_some() { Port::Bad } else { Port::Ok }))
            }
            Node::Tool { call, into } => self.told(&call, &into, answer),
            _ => broken("an answer for a node that asks nothing"),
        }
    }

    /// The header of a loop: the first pass, the next one, or the way out.
    fn pass(&mut self, bound: &Bound, counter: &Arc<str>) -> Result<Next, String> {
        let header = self.lane.cursor;
        match self.lane.frames.last_mut() {
            // Whoever comes back from the body finds the frame of this header on top.
            Some(frame) if frame.header == header => frame.number += 1,
            _ => {
                let items = match bound {
                    Bound::Times(_) => None,
                    Bound::Items { list, cap, .. } => Some(self.items(list, *cap)?),
                };
                self.lane.frames.push(Frame { header, number: 1, items });
            }
        }
        let Some(frame) = self.lane.frames.last().cloned() else { return broken("a loop without a frame") };
        let item = frame.items.as_ref().and_then(|items| items.get(frame.number as usize - 1)).cloned();
        let more = match bound {
            Bound::Times(times) => frame.number <= *times,
            Bound::Items { .. } => item.is_some(),
        };
        if !more {
            self.lane.frames.pop();
            return Ok(Next::Follow(Port::Done));
        }
        self.lane.set(self.shape, counter, Value::Int(i64::from(frame.number)));
        if let (Bound::Items { item: name, .. }, Some(item)) = (bound, item) {
            self.lane.set(self.shape, name, item);
        }
        Ok(Next::Follow(Port::Body))
    }

    fn items(&self, list: &Expr, cap: u32) -> Result<Arc<Vec<Value>>, String> {
        match self.eval(list)? {
            Value::List(items) if items.len() <= cap as usize => Ok(items),
            Value::List(items) => Err(format!("`{list}` has {} items; at most {cap} are taken", items.len())),
            other => Err(format!("`{list}` is {}; a list is needed", other.kind())),
        }
    }

    /// The header of a map: a lane per item.
    fn fork(&mut self, list: &Expr, item: &Arc<str>, cap: u32) -> Result<Next, String> {
        let header = self.lane.cursor;
        let items = self.items(list, cap)?;
        let Some((_, body)) = self.shape.follow(header, Port::Body) else { return broken("a map without a body") };
        let mut seen: BTreeMap<Key, u32> = BTreeMap::new();
        let lanes = items.iter().enumerate().map(|(at, value)| {
            let mut lane = self.lane.clone();
            let item_key = KeyWriter::new("aigo.item.1").value(value).finish();
            let earlier = seen.entry(item_key).or_insert(0_u32);
            lane.frames.push(Frame { header, number: u32::try_from(at).unwrap_or(u32::MAX), items: None });
            lane.occurrence.push((item_key, *earlier));
            *earlier += 1;
            lane.inherited = lane.draws.len();
            lane.item_of = Some(header);
            lane.used = Used::default();
            lane.cursor = body;
            lane.set(self.shape, item, value.clone());
            lane
        });
        let lanes: Vec<Lane> = lanes.collect();
        if !lanes.is_empty() {
            self.trace(Some(Port::Body));
        }
        Ok(Next::Wait(Effect::Fork(lanes)))
    }

    /// How many items the list in a slot has.
    fn count(&self, slot: &str) -> Result<usize, String> {
        let list = self.lane.slot(self.shape, slot).and_then(Value::as_list);
        list.map_or_else(|| broken("a list of items is missing"), |list| Ok(list.len()))
    }

    fn parse(&mut self, from: &str, wanted: &Schema, into: &Arc<str>) -> Result<Next, String> {
        let reply = self.lane.slot(self.shape, from).cloned().unwrap_or_default();
        let text = reply.get("text").and_then(Value::as_str).unwrap_or_default();
        let (value, ok) = match wanted {
            Schema::UserTurn => {
                let turn = schema::read_user_turn(text);
                let says = |key: &str| turn.as_ref().ok().and_then(|turn| turn.get(key)).and_then(Value::as_str);
                let silent = says("message") == Some("") && says("status") == Some("going");
                let ok = turn.is_ok() && !silent;
                if !ok {
                    let what = turn.as_ref().err().unwrap_or(&"the simulated user said nothing");
                    self.lane.trouble = Some((*what).to_owned());
                }
                // The slot is assigned on both ways; on the bad one it says nothing.
                (turn.unwrap_or_else(|_| schema::silence()), ok)
            }
            Schema::Verdict(name) => {
                let Some(scorer) = self.linked.program.scorer(name) else { return broken("a verdict of no scorer") };
                let conversation = &self.lane.conversation;
                let (rule, skips) = (scorer.evidence, scorer.skips);
                let contract = Contract { scale: &scorer.scale, pass: scorer.pass, rule, skips, conversation };
                let verdict = schema::read_verdict(text, &contract);
                (verdict.to_value(), !verdict.outcome.is_missing())
            }
            Schema::Judged(judged) => {
                let verdict = schema::read_verdict(text, &judged.contract(&self.lane.conversation));
                (verdict.to_value(), !verdict.outcome.is_missing())
            }
            Schema::Verdicts(of, judged) => {
                let contract = judged.contract(&self.lane.conversation);
                let (value, complaint) = schema::read_verdicts(text, self.count(of)?, &contract);
                (value, complaint.is_none())
            }
            Schema::Items(items) => {
                let (value, complaint) = schema::read_items(text, items, &self.lane.conversation);
                (value, complaint.is_none())
            }
        };
        self.lane.set(self.shape, into, value);
        Ok(Next::Follow(if ok { Port::Ok } else { Port::Bad }))
    }
}

/// What the draw of a shared list names in the place of a graph.
const EXTRACT: &str = "extract";

/// Whether a call that a lane has just counted is one that scorers share: a list that a lane of a score graph asks for before
/// anything else. All such lanes begin at once, so which of them asks does not depend on the order of answers.
pub(crate) fn is_shared(lane: &Lane, request: &Request) -> bool {
    let is_list = request.schema.as_ref().is_some_and(|(name, _)| *name == "items");
    is_list && matches!(lane.graph, GraphRef::Score(_)) && lane.draws.len() == 1
}

/// Everything of a call that can change its answer, but the draw.
fn base_content(role: &Key, request: &Request) -> Key {
    let mut writer = KeyWriter::new("aigo.call.1");
    writer.key(role).list(request.messages.len());
    for message in &request.messages {
        writer
            .str(message.role.word())
            .str(&message.text)
            .maybe_str(message.answers.as_deref())
            .list(message.calls.len());
        for call in &message.calls {
            writer.str(&call.id).str(&call.tool).str(&call.arguments);
        }
    }
    match &request.schema {
        Some((name, schema)) => writer.str(name).value(schema),
        None => writer.value(&Value::Null),
    };
    match &request.tool {
        Some(call) => writer.str(&call.id).str(&call.tool).str(&call.arguments),
        None => writer.value(&Value::Null),
    };
    // Where none are offered nothing is said of tools, as in logs that are older than they.
    if !request.tools.is_empty() {
        writer.list(request.tools.len());
        for tool in request.tools.iter() {
            writer.str(&tool.name).str(&tool.description).value(&tool.parameters);
        }
    }
    writer.finish()
}
