//! What a program can come to, found by going every way: each branch either way, each answer good and bad, one run for each
//! sequence of outcomes. It knows nothing of how bounds are computed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use aigo_ir::bounds::{FENCE_TOKENS, LABEL_TOKENS, MESSAGE_TOKENS, TOKEN_BYTES};
use aigo_ir::expr::{Expr, Function, Kind};
use aigo_ir::graph::{Graph, NodeId};
use aigo_ir::node::{Bound, Ending, Jump, Node, Port, Said, View};
use aigo_ir::program::{Program, ToolAnswer};
use aigo_ir::template::Template;
use aigo_ir::value::Value;

/// Outcomes in the order in which they are asked for; all sequences of them, one after the other.
#[derive(Default)]
struct Chooser {
    taken: Vec<(usize, usize)>,
    at: usize,
}

impl Chooser {
    fn choose(&mut self, count: usize) -> usize {
        if self.at == self.taken.len() {
            self.taken.push((0, count));
        }
        let (chosen, known) = self.taken[self.at];
        assert_eq!(known, count, "a run is the same up to where its choices differ");
        self.at += 1;
        chosen
    }

    /// The next sequence; false behind the last.
    fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, count)) = self.taken.pop() {
            if chosen + 1 < count {
                self.taken.push((chosen + 1, count));
                return true;
            }
        }
        false
    }
}

/// Calls of each role and of all, prompts of each role in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) calls: Vec<u64>,
    pub(super) prompts: Vec<u64>,
}

impl Figures {
    fn none(roles: usize) -> Self {
        Self { calls: vec![0; roles + 1], prompts: vec![0; roles] }
    }

    fn add(&mut self, other: &Self) {
        self.calls.iter_mut().zip(&other.calls).for_each(|(a, b)| *a += b);
        self.prompts.iter_mut().zip(&other.prompts).for_each(|(a, b)| *a += b);
    }

    fn most(&mut self, other: &Self) {
        self.calls.iter_mut().zip(&other.calls).for_each(|(a, b)| *a = (*a).max(*b));
        self.prompts.iter_mut().zip(&other.prompts).for_each(|(a, b)| *a = (*a).max(*b));
    }

    fn least(&mut self, other: &Self) {
        self.calls.iter_mut().zip(&other.calls).for_each(|(a, b)| *a = (*a).min(*b));
        self.prompts.iter_mut().zip(&other.prompts).for_each(|(a, b)| *a = (*a).min(*b));
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    author: String,
    /// The role that an instruction is for.
    audience: Option<String>,
    said: bool,
    length: u64,
    turn: u64,
}

/// A conversation.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Talk(Vec<Message>);

impl Talk {
    fn turn(&self) -> u64 {
        self.0.last().map_or(0, |message| message.turn)
    }

    fn push(&mut self, author: &str, audience: Option<&str>, said: bool, length: u64) {
        let turn = self.turn() + u64::from(author == "user" && audience.is_none() && said);
        self.0.push(Message { author: author.into(), audience: audience.map(Into::into), said, length, turn });
    }

    fn judged(&self) -> Vec<u64> {
        let said = self.0.iter().filter(|m| m.author == "assistant" && m.audience.is_none() && m.said && m.turn > 0);
        let mut turns: Vec<u64> = said.map(|m| m.turn).collect();
        turns.dedup();
        turns
    }
}

/// How a run through a graph, or through an item of a map, came to its end.
enum Over {
    Ended(Ending),
    Item,
    Fault,
}

/// One run through a graph.
struct Run<'p> {
    brute: &'p Brute<'p>,
    graph: &'p Graph,
    talk: Talk,
    figures: Figures,
    frames: Vec<(NodeId, u64)>,
    /// Whether no reply had a fault so far.
    good: bool,
    /// The slots that hold replies, and who gave them, with tools or without.
    replies: Vec<(String, usize, bool)>,
    /// The slots that hold the turn of a map over turns.
    turns: Vec<(String, u64)>,
}

pub(super) struct Brute<'p> {
    pub(super) program: &'p Program,
    /// Whether the fewest of all runs without a fault are asked for, and not the most of all runs.
    pub(super) least: bool,
    /// The longest answers of the roles, in tokens.
    pub(super) answers: Vec<u64>,
    /// How many nodes may be gone through before it is given up.
    pub(super) budget: Cell<usize>,
    /// What scorers come to on the conversations that were seen: many ways lead to equal ones.
    pub(super) scored: RefCell<BTreeMap<(usize, Talk), Figures>>,
}

/// Too many ways to go them all.
#[derive(Debug)]
pub(super) struct TooMany;

/// The length of a text whose places are left out: not above what it is.
fn length(template: &Template) -> u64 {
    if template.source.contains('{') {
        0
    } else {
        (template.source.trim_end_matches('\n').len() as u64).div_ceil(TOKEN_BYTES)
    }
}

impl<'p> Brute<'p> {
    fn role(&self, name: &str) -> usize {
        self.program.roles.iter().position(|role| &*role.name == name).expect("the role is there")
    }

    /// Takes what a run comes to into account, of those that count.
    fn take(&self, best: &mut Option<Figures>, good: bool, figures: &Figures) {
        match best {
            _ if self.least && !good => {}
            None => *best = Some(figures.clone()),
            Some(best) if self.least => best.least(figures),
            Some(best) => best.most(figures),
        }
    }

    fn none(&self) -> Figures {
        Figures::none(self.program.roles.len())
    }

    /// The most, or fewest, that a sample which runs the graph comes to, scorers included.
    pub(super) fn sample(&self, graph: &'p Graph) -> Result<Figures, TooMany> {
        let mut best = None;
        let mut chooser = Chooser::default();
        loop {
            let mut run = self.run(graph, Talk::default(), Vec::new());
            let entry = graph.entry().expect("an entry");
            let over = run.go(entry, None, &mut chooser)?;
            let (mut figures, mut good) = (run.figures.clone(), run.good);
            if let Over::Ended(ending) = over {
                good &= !ending.is_void();
                let answered = !run.talk.judged().is_empty() || ending == Ending::Recorded;
                if answered && !ending.is_void() {
                    for at in 0..self.program.scorers.len() {
                        figures.add(&self.score(at, &run.talk)?);
                    }
                }
            }
            self.take(&mut best, good, &figures);
            if !chooser.next() {
                return Ok(best.unwrap_or_else(|| self.none()));
            }
        }
    }

    fn run(&'p self, graph: &'p Graph, talk: Talk, turns: Vec<(String, u64)>) -> Run<'p> {
        let figures = self.none();
        Run { brute: self, graph, talk, figures, good: true, frames: Vec::new(), replies: Vec::new(), turns }
    }

    fn score(&self, at: usize, talk: &Talk) -> Result<Figures, TooMany> {
        let (mut best, mut chooser) = (None, Chooser::default());
        let Some(graph) = &self.program.scorers[at].graph else { return Ok(self.none()) };
        let key = (at, talk.clone());
        if let Some(known) = self.scored.borrow().get(&key) {
            return Ok(known.clone());
        }
        loop {
            let mut run = self.run(graph, talk.clone(), Vec::new());
            run.go(graph.entry().expect("an entry"), None, &mut chooser)?;
            self.take(&mut best, run.good, &run.figures);
            if !chooser.next() {
                let best = best.unwrap_or_else(|| self.none());
                self.scored.borrow_mut().insert(key, best.clone());
                return Ok(best);
            }
        }
    }
}

impl Run<'_> {
    fn go(&mut self, entry: NodeId, item_of: Option<NodeId>, chooser: &mut Chooser) -> Result<Over, TooMany> {
        let mut at = entry;
        loop {
            let Some(port) = self.step(at, chooser)? else {
                // A list that is longer than a run may go through is a fault too.
                self.good &= matches!(self.graph.get(at).expect("a node").node, Node::Exit { .. });
                return Ok(match &self.graph.get(at).expect("a node").node {
                    Node::Exit { ending } => Over::Ended(*ending),
                    _ => Over::Fault,
                });
            };
            let mut port = port;
            loop {
                let (jump, to) = self.graph.follow(at, port).expect("an edge");
                match jump {
                    Jump::Again if item_of == Some(to) => return Ok(Over::Item),
                    Jump::On | Jump::Again => {
                        at = to;
                        break;
                    }
                    Jump::Break => {
                        at = self.frames.pop().expect("a loop").0;
                        port = Port::Done;
                    }
                }
            }
        }
    }

    /// Does what a node does, and says by which port it is left; none where the run is over.
    fn step(&mut self, at: NodeId, chooser: &mut Chooser) -> Result<Option<Port>, TooMany> {
        let graph = self.graph;
        let left = self.brute.budget.get().checked_sub(1).ok_or(TooMany)?;
        self.brute.budget.set(left);
        Ok(match &graph.get(at).expect("a node").node {
            Node::Append { author, audience, said } => {
                self.append(author, audience.as_deref(), said, chooser);
                Some(Port::Next)
            }
            node @ Node::Generate { .. } => {
                self.generate(node);
                // Where both lead to the same there is nothing to choose.
                let is_fork = graph.follow(at, Port::Ok) != graph.follow(at, Port::Bad);
                Some(if is_fork { self.fork(chooser) } else { Port::Ok })
            }
            Node::Parse { .. } => Some(self.fork(chooser)),
            Node::Branch { .. } => Some([Port::Yes, Port::No][chooser.choose(2)]),
            Node::Loop { bound, .. } => {
                let n = match bound {
                    Bound::Times(n) => u64::from(*n),
                    Bound::Items { list, cap, .. } => match self.items(list) {
                        items if items.len() > *cap as usize => return Ok(None),
                        items => items.len() as u64,
                    },
                };
                match self.frames.last_mut() {
                    Some((header, pass)) if *header == at => *pass += 1,
                    _ => self.frames.push((at, 1)),
                }
                let more = self.frames.last().is_some_and(|(_, pass)| *pass <= n);
                if !more {
                    self.frames.pop();
                }
                Some(if more { Port::Body } else { Port::Done })
            }
            Node::Map { list, item, cap, .. } => {
                let items = self.items(list);
                if items.len() > *cap as usize {
                    return Ok(None);
                }
                let over_turns = matches!(&list.kind, Kind::Call(Function::JudgedTurns, _));
                for value in items {
                    let item = over_turns.then(|| (item.to_string(), value));
                    match self.item(at, item)? {
                        Some(best) => self.figures.add(&best),
                        None => self.good = false,
                    }
                }
                Some(Port::Done)
            }
            Node::Tool { .. } => {
                self.tool(chooser);
                Some(Port::Next)
            }
            Node::Exit { .. } => None,
            _ => Some(Port::Next),
        })
    }

    fn fork(&mut self, chooser: &mut Chooser) -> Port {
        let port = [Port::Ok, Port::Bad][chooser.choose(2)];
        self.good &= port == Port::Ok;
        port
    }

    /// The most, or fewest, that an item of a map comes to; none where no run counts. Items see nothing of each other.
    fn item(&self, header: NodeId, item: Option<(String, u64)>) -> Result<Option<Figures>, TooMany> {
        let (_, body) = self.graph.follow(header, Port::Body).expect("a body");
        let mut turns = self.turns.clone();
        turns.extend(item);
        let (mut best, mut chooser) = (None, Chooser::default());
        loop {
            let mut run = self.brute.run(self.graph, self.talk.clone(), turns.clone());
            run.replies.clone_from(&self.replies);
            run.go(body, Some(header), &mut chooser)?;
            self.brute.take(&mut best, run.good, &run.figures);
            if !chooser.next() {
                return Ok(best);
            }
        }
    }

    fn items(&self, list: &Expr) -> Vec<u64> {
        match &list.kind {
            Kind::Call(Function::JudgedTurns, _) => self.talk.judged(),
            Kind::Call(Function::Turns, _) => (1..=self.talk.turn()).collect(),
            Kind::Literal(Value::List(items)) => vec![0; items.len()],
            Kind::List(items) => vec![0; items.len()],
            other => panic!("a list that the generators do not make: {other:?}"),
        }
    }

    fn append(&mut self, author: &str, audience: Option<&str>, said: &Said, chooser: &mut Chooser) {
        let text = match said {
            Said::Template(text) => length(text),
            Said::AnyOf(choices) => length(&choices[chooser.choose(choices.len())].0),
            Said::Text(Expr { kind: Kind::Literal(Value::Str(text)), .. }) => (text.len() as u64).div_ceil(TOKEN_BYTES),
            Said::Text(_) => 0,
            Said::Reply(slot) => {
                let (_, role, tools) =
                    self.replies.iter().rev().find(|reply| reply.0 == **slot).expect("a reply").clone();
                let length = self.brute.answers[role];
                // A reply that only calls tools says nothing.
                if tools && chooser.choose(2) == 1 {
                    return self.talk.push(author, None, false, length);
                }
                length
            }
            // The conversation again: those that spoke in it speak again.
            Said::History(_) => {
                for message in self.talk.clone().0 {
                    self.talk.push(&message.author, message.audience.as_deref(), message.said, message.length);
                }
                return;
            }
        };
        self.talk.push(author, audience, true, text);
    }

    fn call(&mut self, role: usize) {
        self.figures.calls[role] += 1;
        *self.figures.calls.last_mut().expect("all roles") += 1;
    }

    fn generate(&mut self, node: &Node) {
        let Node::Generate { role: name, view, tools, into, .. } = node else { return };
        let role = self.brute.role(name);
        self.call(role);
        let extra = |text: &Template| length(text) + MESSAGE_TOKENS;
        let spoken = |message: &&Message| message.audience.is_none();
        let tokens: u64 = match view {
            View::Chat { system, opening } => {
                let seen =
                    self.talk.0.iter().filter(|m| m.said && m.audience.as_deref().is_none_or(|to| to == &**name));
                let history: u64 = seen.map(|message| message.length + MESSAGE_TOKENS).sum();
                history + system.iter().chain(opening).map(extra).sum::<u64>()
            }
            View::Text { system, question, up_to, sees_system, .. } => {
                let last = match up_to {
                    Some(Expr { kind: Kind::Name(slot), .. }) => self.turns.iter().find(|turn| turn.0 == **slot),
                    _ => None,
                };
                // Up to another turn than that of a map, it is not above the whole: here nothing of it is counted.
                let last = match (up_to, last) {
                    (None, _) => u64::MAX,
                    (Some(_), Some((_, turn))) => *turn,
                    (Some(_), None) => 0,
                };
                let shown = self.talk.0.iter().filter(spoken).filter(|message| message.turn <= last);
                let transcript: u64 = shown.map(|message| message.length + LABEL_TOKENS).sum();
                let instructions = self.talk.0.iter().filter(|m| m.audience.is_some() && up_to.is_none());
                let told: u64 = instructions.map(|message| message.length + LABEL_TOKENS).sum();
                let asked: u64 = system.iter().chain([question]).map(extra).sum();
                transcript + if *sees_system { told } else { 0 } + asked + FENCE_TOKENS
            }
        };
        self.figures.prompts[role] += tokens;
        self.replies.push((into.to_string(), role, *tools));
    }

    /// Which tool is called is the model's to say.
    fn tool(&mut self, chooser: &mut Chooser) {
        let tools = &self.brute.program.tools;
        if let ToolAnswer::Role(role) = &tools[chooser.choose(tools.len())].answer {
            self.call(self.brute.role(role));
        }
        self.talk.push("a tool", None, false, 0);
    }
}
