//! A graph's nodes put together to steps, as people think of them: asking, its retries and what becomes of faults are one; what
//! only the lowering needs is left out; ways that lead to nothing but ends are one end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::words::{self, Words};
use crate::expr::{Expr, Kind};
use crate::graph::{Graph, NodeId};
use crate::node::{Bound, Jump, Node, Port};
use crate::schema::Schema;
use crate::span::Origin;

/// What a step is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Something that is done.
    Box,
    /// A question with two ways on.
    Fork,
    /// A loop or a map: it has steps of its own.
    Region,
    /// The next pass, the way out of a loop, an end.
    Pill,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) shape: Shape,
    pub(super) words: Words,
    /// The step of the region that it is in.
    pub(super) region: Option<usize>,
    pub(super) origin: Origin,
}

/// A way from one step to another in the same region.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
}

/// A graph as steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    pub(super) ways: Vec<Way>,
}

/// Where a way leads once what is not drawn is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Node(NodeId),
    /// Nothing but ends.
    Ends(NodeId),
    Again,
    Break,
    /// Nowhere: a part of a step that ends in itself.
    Nowhere,
}

struct Maker<'g> {
    graph: &'g Graph,
    /// Whether the graph scores: that it ends then says nothing.
    scores: bool,
    /// The node that a node is drawn with.
    owner: BTreeMap<NodeId, NodeId>,
    /// From where only ends are reached, by nodes that decide nothing of the task's.
    closed: BTreeSet<NodeId>,
    /// Questions of the lowering's whose ways both lead to the same.
    idle: BTreeSet<NodeId>,
    /// What is drawn with a node, the node included.
    parts: BTreeMap<NodeId, Vec<NodeId>>,
    /// The step of a node.
    step: BTreeMap<NodeId, usize>,
    /// The steps that are maps.
    maps: BTreeSet<usize>,
    /// The pills of ends, by node; of regions, by region and word.
    ends: BTreeMap<NodeId, usize>,
    pills: BTreeMap<(Option<usize>, &'static str), usize>,
    out: Steps,
}

/// Whether a value is only a slot of the lowering's, or a part of one.
fn is_handed_on(value: &Expr) -> bool {
    match &value.kind {
        Kind::Name(name) => name.starts_with('_'),
        Kind::Attribute(whole, _) => is_handed_on(whole),
        _ => false,
    }
}

/// Adds a text that is not there yet.
fn add(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

/// Of a scorer without a graph: where its verdicts come from.
pub(super) fn given() -> Steps {
    let words = Words::new("its verdicts are given").line("by steps of the conversation");
    let step = Step { shape: Shape::Box, words, region: None, origin: Origin::default() };
    Steps { steps: vec![step], ways: Vec::new() }
}

/// The steps of a graph.
pub(super) fn steps(graph: &Graph, scores: bool) -> Steps {
    let mut maker = Maker {
        graph,
        scores,
        owner: BTreeMap::new(),
        closed: BTreeSet::new(),
        idle: BTreeSet::new(),
        parts: BTreeMap::new(),
        step: BTreeMap::new(),
        maps: BTreeSet::new(),
        ends: BTreeMap::new(),
        pills: BTreeMap::new(),
        out: Steps::default(),
    };
    maker.own();
    maker.close();
    maker.place();
    maker.connect();
    maker.out
}

impl Maker<'_> {
    fn node(&self, id: NodeId) -> Option<&Node> {
        self.graph.get(id).map(|placed| &placed.node)
    }

    /// Finds what is drawn with what.
    fn own(&mut self) {
        let asks: Vec<(NodeId, Arc<str>)> = self
            .graph
            .nodes()
            .filter(|(_, placed)| matches!(placed.node, Node::Generate { .. }))
            .map(|(id, placed)| (id, placed.path.clone()))
            .collect();
        let by_path: BTreeMap<&str, NodeId> = asks.iter().map(|(id, path)| (&**path, *id)).collect();
        for (id, placed) in self.graph.nodes() {
            // A part of a step has the step's path before its own name, and comes after it.
            let mut end = placed.path.rfind('/');
            while let Some(at) = end {
                let head = placed.path.get(..at).unwrap_or_default();
                if let Some(main) = by_path.get(head).filter(|main| **main < id) {
                    self.owner.insert(id, *main);
                }
                end = head.rfind('/');
            }
        }
        let headers: Vec<NodeId> =
            self.graph.nodes().filter(|(_, placed)| placed.node.is_header()).map(|(id, _)| id).collect();
        for header in headers {
            self.own_attempts(header);
        }
        for (id, _) in self.graph.nodes() {
            self.parts.entry(self.main(id)).or_default().push(id);
        }
    }

    /// Asking, reading, and asking again is one step.
    fn own_attempts(&mut self, header: NodeId) {
        if !matches!(self.node(header), Some(Node::Loop { .. })) {
            return;
        }
        // The nodes of a region follow its header.
        let inside: Vec<(NodeId, &Node)> = (header.0 + 1..)
            .map_while(|id| Some((NodeId(id), self.graph.get(NodeId(id))?)))
            .take_while(|(_, placed)| placed.region.is_some_and(|region| region >= header))
            .map(|(id, placed)| (id, &placed.node))
            .collect();
        let mut asks = inside.iter().filter(|(_, node)| matches!(node, Node::Generate { schema: Some(_), .. }));
        let (Some((ask, _)), None) = (asks.next(), asks.next()) else { return };
        let plain = |node: &Node| matches!(node, Node::Generate { .. } | Node::Parse { .. } | Node::Let { .. });
        let reads = inside.iter().any(|(_, node)| matches!(node, Node::Parse { .. }));
        if !reads || !inside.iter().all(|(_, node)| plain(node)) {
            return;
        }
        let (ask, all): (NodeId, Vec<NodeId>) = (*ask, inside.iter().map(|(id, _)| *id).collect());
        for id in all.into_iter().chain([header]).filter(|id| *id != ask) {
            self.owner.insert(id, ask);
        }
    }

    fn main(&self, id: NodeId) -> NodeId {
        let mut id = id;
        // An owner can be owned: by the attempts around it, once.
        for _ in 0..4 {
            match self.owner.get(&id) {
                Some(owner) => id = *owner,
                None => break,
            }
        }
        id
    }

    /// Finds the nodes from which only ends are reached, and the questions that decide nothing of what is drawn.
    fn close(&mut self) {
        for id in crate::verify::topological(self.graph).into_iter().rev() {
            let Some(node) = self.node(id) else { continue };
            let asks_nothing = matches!(node, Node::Branch { when } if words::is_plumbing(when));
            let is_plain = match node {
                Node::Exit { .. } => true,
                Node::Branch { when } => words::is_plumbing(when),
                Node::Let { into, .. } => into.starts_with('_'),
                _ => false,
            };
            let leads = self.graph.edges(id).all(|(_, jump, to)| jump == Jump::On && self.closed.contains(&to));
            if is_plain && leads {
                self.closed.insert(id);
            } else if asks_nothing && !self.owner.contains_key(&id) {
                let [yes, no] = [Port::Yes, Port::No].map(|port| self.target(id, port, id));
                if yes.is_some() && yes == no {
                    self.idle.insert(id);
                }
            }
        }
    }

    /// Whether a node is passed over: it binds what only the lowering reads.
    fn is_hidden(&self, id: NodeId) -> bool {
        match self.node(id) {
            Some(Node::Let { into, value }) => into.starts_with('_') || is_handed_on(value),
            Some(Node::Branch { .. }) => self.idle.contains(&id),
            Some(Node::Exit { .. }) => true,
            _ => false,
        }
    }

    fn region_of(&self, id: NodeId) -> Option<usize> {
        let mut at = self.graph.get(id)?.region;
        while let Some(header) = at {
            if let Some(step) = self.step.get(&header) {
                return Some(*step);
            }
            at = self.graph.get(header)?.region.filter(|outer| *outer < header);
        }
        None
    }

    /// Makes the steps.
    fn place(&mut self) {
        for (id, placed) in self.graph.nodes() {
            if self.owner.contains_key(&id) || self.is_hidden(id) || self.closed.contains(&id) {
                continue;
            }
            let shape = match &placed.node {
                Node::Branch { .. } => Shape::Fork,
                node if node.is_header() => Shape::Region,
                _ => Shape::Box,
            };
            // A step that is drawn with the attempts around it stands where those stand.
            let around = self.outermost(id);
            let region = self.region_of(around);
            let words = self.words(id, &placed.node);
            if matches!(placed.node, Node::Map { .. }) {
                self.maps.insert(self.out.steps.len());
            }
            self.step.insert(id, self.out.steps.len());
            self.out.steps.push(Step { shape, words, region, origin: placed.origin });
        }
    }

    /// The header that is drawn with a node, or the node.
    fn outermost(&self, id: NodeId) -> NodeId {
        let region = self.graph.get(id).and_then(|placed| placed.region);
        region.filter(|header| self.owner.get(header) == Some(&id)).unwrap_or(id)
    }

    fn words(&self, id: NodeId, node: &Node) -> Words {
        let mut words = words::of(node);
        let parts = self.parts.get(&id).into_iter().flatten().filter(|own| **own != id);
        let owned: Vec<(NodeId, &Node)> = parts.filter_map(|own| Some((*own, self.node(*own)?))).collect();
        let mut ends: Vec<String> = Vec::new();
        for (_, node) in &owned {
            match node {
                Node::Check { test, negated, .. } => {
                    words = words.line(format!("expected: {}", words::check(test, *negated)));
                }
                Node::Exit { ending } => add(&mut ends, words::ending(*ending)),
                Node::Loop { bound: Bound::Times(n), .. } => {
                    let has_tools = owned.iter().any(|(_, node)| matches!(node, Node::Tool { .. }));
                    words = words.line(if has_tools {
                        format!("answers tool calls, at most {n} rounds")
                    } else {
                        "an answer that cannot be used is asked for again".to_owned()
                    });
                }
                _ => {}
            }
        }
        if ends.is_empty() { words } else { words.line(format!("may end it: {}", ends.join(", "))) }
    }

    /// Where an edge leads, past what is not drawn. `within` is the step that it leaves.
    fn target(&self, from: NodeId, port: Port, within: NodeId) -> Option<Target> {
        let (mut jump, mut to) = self.graph.follow(from, port)?;
        for _ in 0..=self.graph.nodes().len() {
            match jump {
                Jump::Again if self.main(to) == within => return Some(Target::Nowhere),
                Jump::Again => return Some(Target::Again),
                // A break of the attempts goes where their `done` leads.
                Jump::Break
                    if self
                        .graph
                        .get(from)
                        .and_then(|placed| placed.region)
                        .is_some_and(|header| self.main(header) == within) =>
                {
                    return Some(Target::Nowhere);
                }
                Jump::Break => return Some(Target::Break),
                Jump::On => {}
            }
            if self.main(to) == within {
                return Some(Target::Nowhere);
            }
            if self.closed.contains(&to) {
                return Some(Target::Ends(to));
            }
            if !self.is_hidden(to) {
                return Some(Target::Node(self.main(to)));
            }
            let port = if self.idle.contains(&to) { Port::Yes } else { Port::Next };
            (jump, to) = self.graph.follow(to, port)?;
        }
        None
    }

    fn connect(&mut self) {
        let ids: Vec<(NodeId, usize)> = self.step.iter().map(|(id, step)| (*id, *step)).collect();
        for (main, step) in ids {
            let mut out: Vec<(Target, String)> = Vec::new();
            for part in self.parts.get(&main).cloned().unwrap_or_default() {
                for (port, ..) in self.graph.edges(part).collect::<Vec<_>>() {
                    // What an end of a step leads to is said in the step.
                    let Some(target) = self.target(part, port, main) else { continue };
                    let label = self.label(main, part, port);
                    let known = out.iter().any(|(known, same)| *known == target && (*same == label || part != main));
                    if target != Target::Nowhere && !known {
                        out.push((target, label));
                    }
                }
            }
            let single = out.len() == 1;
            for (target, label) in out {
                let is_forked =
                    matches!(self.node(main), Some(Node::Branch { .. } | Node::Loop { .. } | Node::Map { .. }));
                let label = if single && !is_forked { String::new() } else { label };
                self.link(step, target, label);
            }
        }
    }

    fn label(&self, main: NodeId, part: NodeId, port: Port) -> String {
        let simulates = matches!(self.node(main), Some(Node::Generate { schema: Some(Schema::UserTurn), .. }));
        match (self.node(part), port) {
            (Some(Node::Append { .. }), _) if simulates && part != main => "goes on".to_owned(),
            (Some(Node::Let { .. } | Node::Branch { .. }), _) if simulates => "done, or gave up".to_owned(),
            (_, Port::Next) => String::new(),
            (Some(Node::Branch { .. }), _) if part != main => String::new(),
            (_, port) => port.word().to_owned(),
        }
    }

    fn link(&mut self, from: usize, target: Target, label: String) {
        let Some(region) = self.out.steps.get(from).map(|step| step.region) else { return };
        let to = match target {
            Target::Node(id) => {
                let Some(&to) = self.step.get(&id) else { return };
                // The first step of a region is where it begins: the box around it says so.
                if self.out.steps.get(to).is_some_and(|step| step.region == Some(from)) {
                    return;
                }
                to
            }
            Target::Ends(id) => match self.end(id, region) {
                Some(to) => to,
                None => return,
            },
            // Only the box of a loop can be left or gone through again.
            Target::Again => {
                if region.is_some_and(|region| self.maps.contains(&region)) {
                    return;
                }
                self.pill(region, "again", "\u{21bb} next pass")
            }
            Target::Break => self.pill(region, "break", "\u{2193} leave the loop"),
            Target::Nowhere => return,
        };
        let way = Way { from, to, label };
        // The ways of a step are made one after the other.
        let mut own = self.out.ways.iter().rev().take_while(|known| known.from == from);
        if from != to && !own.any(|known| *known == way) {
            self.out.ways.push(way);
        }
    }

    fn pill(&mut self, region: Option<usize>, word: &'static str, title: &str) -> usize {
        if let Some(known) = self.pills.get(&(region, word)) {
            return *known;
        }
        let step = Step { shape: Shape::Pill, words: Words::new(title), region, origin: Origin::default() };
        self.out.steps.push(step);
        self.pills.insert((region, word), self.out.steps.len() - 1);
        self.out.steps.len() - 1
    }

    /// The pill of the ends that are reached from a node.
    fn end(&mut self, id: NodeId, region: Option<usize>) -> Option<usize> {
        if self.scores {
            return None;
        }
        if let Some(known) = self.ends.get(&id) {
            return Some(*known);
        }
        let mut open = vec![id];
        let (mut seen, mut endings) = (BTreeSet::new(), Vec::new());
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if let Some(Node::Exit { ending }) = self.node(at) {
                add(&mut endings, words::ending(*ending));
            }
            let mut next: Vec<NodeId> = self.graph.edges(at).map(|(.., to)| to).collect();
            next.reverse();
            open.extend(next);
        }
        let words = Words::new(format!("end: {}", endings.join(" or ")));
        let origin = self.graph.get(id).map(|placed| placed.origin).unwrap_or_default();
        self.out.steps.push(Step { shape: Shape::Pill, words, region, origin });
        self.ends.insert(id, self.out.steps.len() - 1);
        Some(self.out.steps.len() - 1)
    }
}
