//! Graphs that hold together by construction: every node kind, nested loops and maps, breaks, exits, slots assigned before
//! they are read.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::check::{Between, CheckKind, Likeness, Measure, Repeated, Test};
use aigo_ir::expr::{Comparison, Expr, Function, Kind, Operator};
use aigo_ir::graph::{Graph, GraphBuilder, NodeId};
use aigo_ir::node::{Bound, Ending, Jump, Node, Port, Said, Unit, View};
use aigo_ir::program::EXPECTATIONS;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::{Judged, Schema};
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};

use super::dice::Dice;

/// What a graph may name.
pub(super) struct World {
    pub(super) roles: Vec<Arc<str>>,
    pub(super) scorers: Vec<Arc<str>>,
    pub(super) expects: bool,
    pub(super) tools: Vec<Arc<str>>,
}

/// The slots' kinds, by the first letter of their names.
const SLOTS: [(&str, Type); 5] =
    [("r", Type::Reply), ("s", Type::Str), ("i", Type::Int), ("v", Type::Verdict), ("u", Type::UserTurn)];

pub(super) struct Maker<'d> {
    pub(super) dice: &'d mut Dice,
    world: &'d World,
    builder: GraphBuilder,
    open: Vec<(NodeId, Port)>,
    /// The regions around the next node: the header, and whether it is a map.
    regions: Vec<(NodeId, bool)>,
    assigned: BTreeSet<Arc<str>>,
    /// Slots of a map are its own: their names begin with its number.
    space: String,
    solves: bool,
    count: usize,
    left: usize,
}

impl<'d> Maker<'d> {
    pub(super) fn new(dice: &'d mut Dice, world: &'d World, solves: bool, size: usize) -> Self {
        Self {
            dice,
            world,
            builder: GraphBuilder::default(),
            open: Vec::new(),
            regions: Vec::new(),
            assigned: BTreeSet::new(),
            space: String::new(),
            solves,
            count: 0,
            left: size,
        }
    }

    pub(super) fn finish(self, name: &str) -> Graph {
        self.builder.finish(name)
    }

    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.count += 1;
        let path = format!("{}/{}", self.count, self.dice.hostile());
        for port in node.ports() {
            if *port != Port::Body {
                self.assigned.extend(node.assigns(*port).cloned());
            }
        }
        let region = self.regions.last().map(|(header, _)| *header);
        let id = self.builder.add(node, path, region, Origin::default());
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect(from, port, Jump::On, id);
        }
        self.open = self.builder.ports(id).iter().map(|port| (id, *port)).collect();
        id
    }

    fn in_map(&self) -> bool {
        self.regions.iter().any(|(_, is_map)| *is_map)
    }

    /// A slot to assign.
    pub(super) fn slot(&mut self, kind: &str) -> Arc<str> {
        let ty = SLOTS.iter().find(|(known, _)| *known == kind).map(|(_, ty)| ty.clone()).unwrap();
        let name = format!("{kind}{}{}", self.space, self.dice.below(3));
        self.builder.slot(name, ty)
    }

    /// A slot of its own, for counters, items and results.
    fn fresh(&mut self, ty: Type) -> Arc<str> {
        self.count += 1;
        self.builder.slot(format!("own{}", self.count), ty)
    }

    /// A slot that is surely assigned here.
    fn known(&mut self, kind: &str) -> Option<Arc<str>> {
        let known: Vec<Arc<str>> = self.assigned.iter().filter(|name| name.starts_with(kind)).cloned().collect();
        (!known.is_empty()).then(|| self.dice.pick(&known).clone())
    }

    /// A verdict that is surely there: the caller has just assigned one.
    pub(super) fn last_verdict(&mut self) -> Arc<str> {
        self.known("v").expect("a verdict was assigned")
    }

    pub(super) fn int(&mut self) -> Expr {
        match (self.dice.below(4), self.known("i")) {
            (0, Some(slot)) => Expr::name(&slot),
            (1, _) => Expr::name("turn"),
            (2, Some(slot)) => {
                Expr::new(Kind::Arithmetic(Operator::Add, Box::new(Expr::name(&slot)), Box::new(Expr::literal(1))))
            }
            _ => Expr::literal(self.dice.below(4) as i64),
        }
    }

    pub(super) fn text(&mut self) -> Expr {
        match (self.dice.below(5), self.known("s"), self.known("r"), self.known("u")) {
            (0, Some(slot), ..) => Expr::name(&slot),
            (1, _, Some(slot), _) => Expr::path(&slot, "text"),
            (2, .., Some(slot)) => Expr::path(&slot, "message"),
            (3, ..) => Expr::path("last", "text"),
            _ => Expr::literal(self.dice.hostile().as_str()),
        }
    }

    fn condition(&mut self) -> Expr {
        match self.dice.below(4) {
            0 => Expr::compare(Comparison::Less, self.int(), self.int()),
            1 => Expr::negate(Expr::compare(Comparison::Equal, self.text(), self.text())),
            2 => Expr::call(Function::Contains, vec![self.text(), Expr::literal("a")]),
            _ => Expr::either(
                Expr::compare(Comparison::GreaterOrEqual, self.int(), self.int()),
                Expr::literal(self.dice.one_in(2)),
            ),
        }
    }

    pub(super) fn template(&mut self) -> Template {
        let text = self.dice.literal();
        Template::new(match (self.dice.below(4), self.known("s")) {
            (0, Some(slot)) => format!("{text}{{{{ {slot} }}}}"),
            (1, _) => format!("{{% if turn > 1 %}}{text}{{% else %}}{{{{ last.text }}}}{{% endif %}}"),
            _ => text,
        })
    }

    /// Some steps, one after the other.
    pub(super) fn block(&mut self) {
        for _ in 0..=self.dice.below(4) {
            if self.left == 0 || self.open.is_empty() && self.count > 0 {
                return;
            }
            self.left -= 1;
            self.step();
        }
    }

    fn step(&mut self) {
        let changes = self.solves && !self.in_map();
        match self.dice.below(14) {
            0 | 1 if changes => self.append(),
            2 | 3 => self.generate(),
            4 if self.regions.len() < 3 => self.repeat(),
            5 if self.regions.len() < 3 => self.each(),
            6 | 7 => self.branch(),
            8 => {
                let (into, value) = (self.slot("s"), self.text());
                self.add(Node::Let { into, value });
            }
            9 => self.parse(),
            10 => self.check(),
            11 if changes => self.tool(),
            12 if changes && self.world.expects => self.expect(),
            _ => {
                let (into, value) = (self.slot("i"), self.int());
                self.add(Node::Let { into, value });
            }
        }
    }

    fn role(&mut self) -> Arc<str> {
        self.dice.pick(&self.world.roles).clone()
    }

    fn append(&mut self) {
        let author = self.role();
        let reply = self.known("r");
        let (audience, said) = match (self.dice.below(6), reply) {
            (0, Some(slot)) => (None, Said::Reply(slot)),
            (4, _) => (None, Said::AnyOf(vec![(self.template(), 1), (self.template(), 3)])),
            (5, _) => (None, Said::History(Expr::name("messages"))),
            (1, _) => (None, Said::Text(self.text())),
            (2, _) => (Some(self.role()), Said::Template(self.template())),
            _ => (None, Said::Template(self.template())),
        };
        self.add(Node::Append { author, audience, said });
    }

    fn generate(&mut self) {
        let (role, schema) = (self.role(), self.schema());
        let system = self.dice.one_in(2).then(|| self.template());
        let view = if self.dice.one_in(2) {
            let opening = (!self.dice.one_in(8)).then(|| self.template());
            View::Chat { system, opening }
        } else {
            let up_to = self.dice.one_in(2).then(|| self.int());
            let window = self.dice.one_in(2).then(|| self.dice.below(3) as u32);
            let sees_system = self.dice.one_in(4);
            let only = self.dice.one_in(4).then(|| self.role());
            View::Text { system, question: self.template(), up_to, window, sees_system, only }
        };
        let (tools, timeout_s) = (self.dice.one_in(4), self.dice.one_in(4).then_some(20));
        let into = self.slot("r");
        let id = self.add(Node::Generate { role, view, schema, tools, timeout_s, into });
        if !self.in_map() && self.solves && self.dice.one_in(3) {
            self.aside((id, Port::Bad), Self::exit);
        }
    }

    fn schema(&mut self) -> Option<Schema> {
        match self.dice.below(4) {
            0 => Some(Schema::UserTurn),
            3 => Some(Schema::Judged(Judged {
                scale: Scale::Labels(vec![(self.dice.hostile().into(), 1.0), ("b".into(), 0.1 + 0.2)]),
                pass: 1.0 / 3.0,
                rule: *self.dice.pick(&EvidenceRule::ALL),
                skips: self.dice.one_in(2),
            })),
            1 if !self.world.scorers.is_empty() => Some(Schema::Verdict(self.dice.pick(&self.world.scorers).clone())),
            _ => None,
        }
    }

    fn parse(&mut self) {
        let (Some(from), Some(schema)) = (self.known("r"), self.schema()) else { return self.generate() };
        let into = self.slot(if schema == Schema::UserTurn { "u" } else { "v" });
        self.add(Node::Parse { from, schema, into });
    }

    pub(super) fn check(&mut self) {
        let test = self.test();
        let (text, turn, into) = (self.text(), self.int(), self.slot("v"));
        let negated = self.dice.one_in(2);
        let author = if negated { "user" } else { "assistant" }.into();
        self.add(Node::Check { test, negated, text, author, turn, into });
    }

    /// A test that the machine makes; those that it refuses are printed and read back elsewhere.
    fn test(&mut self) -> Test {
        let likeness = Likeness { measure: *self.dice.pick(&Measure::ALL), least: 0.1 + 0.2 };
        let between = Between { least: self.dice.one_in(2).then_some(1), most: self.dice.one_in(2).then_some(7) };
        match self.dice.below(12) {
            0 => Test::OneOf(vec![self.template(), self.template()]),
            1 => Test::JsonSchema(Value::map([
                ("type", Value::str("object")),
                ("title", Value::str(self.dice.hostile())),
            ])),
            2 => Test::Words(between),
            3 => Test::NoReply,
            4 => Test::NoRepetition(Repeated::ALL[usize::from(between.least.is_some())], likeness),
            5 => Test::Turns(between),
            6 => Test::Similarity(self.template(), likeness),
            7 => Test::Expr(Expr::compare(Comparison::Equal, Expr::name("text"), self.text())),
            _ => {
                let kind = *self.dice.pick(&CheckKind::ALL);
                let pattern = kind == CheckKind::Matches;
                Test::Text(kind, if pattern { Template::new("[a-z]+\\d?") } else { self.template() })
            }
        }
    }

    fn tool(&mut self) {
        if self.world.tools.is_empty() {
            return self.append();
        }
        let (call, into) = (self.fresh(Type::Any), self.fresh(Type::Any));
        let tool = self.dice.pick(&self.world.tools).clone();
        let made =
            [("id", Value::str("c1")), ("tool", Value::Str(tool)), ("arguments", Value::str(self.dice.hostile()))];
        self.add(Node::Let { into: call.clone(), value: Expr::literal(Value::map(made)) });
        self.add(Node::Tool { call, into });
    }

    fn expect(&mut self) {
        self.check();
        let from = self.known("v").unwrap();
        self.add(Node::Score { scorer: EXPECTATIONS.into(), unit: Unit::Turn(Expr::name("turn")), from });
    }

    fn exit(&mut self) {
        let ending = *self.dice.pick(&Ending::ALL);
        self.add(Node::Exit { ending });
    }

    /// Does something on one way out, which then joins the main way or is over.
    fn aside(&mut self, from: (NodeId, Port), aside: impl FnOnce(&mut Self)) {
        self.open.retain(|edge| *edge != from);
        let (main, before) = (std::mem::replace(&mut self.open, vec![from]), self.assigned.clone());
        aside(self);
        if self.open.is_empty() {
            self.assigned = before;
        } else {
            self.assigned = self.assigned.intersection(&before).cloned().collect();
        }
        self.open.extend(main);
    }

    fn branch(&mut self) {
        let when = self.condition();
        let id = self.add(Node::Branch { when });
        let in_loop = self.regions.last().is_some_and(|(_, is_map)| !*is_map);
        match self.dice.below(4) {
            0 if in_loop => self.aside((id, Port::Yes), |maker| {
                for (from, port) in std::mem::take(&mut maker.open) {
                    maker.builder.connect_break(from, port);
                }
            }),
            1 if self.solves && !self.in_map() => self.aside((id, Port::Yes), Self::exit),
            2 => {
                self.aside((id, Port::Yes), Self::block);
                self.aside((id, Port::No), Self::block);
            }
            _ => self.aside((id, Port::Yes), Self::block),
        }
    }

    /// A region around a block. What is assigned in it is not seen after it.
    fn region(&mut self, header: Node, is_map: bool, inside: impl FnOnce(&mut Self)) {
        let before = self.assigned.clone();
        let inner: Vec<Arc<str>> = header.assigns(Port::Body).cloned().collect();
        let id = self.add(header);
        self.regions.push((id, is_map));
        self.open = vec![(id, Port::Body)];
        let after = std::mem::replace(&mut self.assigned, before);
        self.assigned.extend(inner);
        let count = self.count;
        inside(self);
        if self.count == count || self.open == [(id, Port::Body)] {
            let (into, value) = (self.fresh(Type::Int), Expr::literal(0));
            self.add(Node::Let { into, value });
        }
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect(from, port, Jump::Again, id);
        }
        self.regions.pop();
        self.open = vec![(id, Port::Done)];
        self.assigned = after;
    }

    fn repeat(&mut self) {
        let counter = self.fresh(Type::Int);
        let bound = if self.dice.one_in(2) {
            Bound::Times(1 + self.dice.below(3) as u32)
        } else {
            let item = self.fresh(Type::Int);
            Bound::Items { list: self.list(), item, cap: 3 }
        };
        self.region(Node::Loop { bound, counter }, false, Self::block);
    }

    fn list(&mut self) -> Expr {
        match self.dice.below(3) {
            0 => Expr::call(Function::JudgedTurns, Vec::new()),
            1 => Expr::list(vec![self.int(), self.int()]),
            _ => Expr::literal(Value::list((0..self.dice.below(4)).map(|n| Value::Int(n as i64 / 2)).collect())),
        }
    }

    fn each(&mut self) {
        let list = self.list();
        self.map(list, |_| ());
    }

    /// A map whose items end in a verdict, reduced behind it. `last` adds to the end of each item.
    pub(super) fn map(&mut self, list: Expr, last: impl FnOnce(&mut Self)) {
        let item = self.fresh(Type::Int);
        self.count += 1;
        let outer = std::mem::replace(&mut self.space, format!("m{}_", self.count));
        let give = self.slot("v");
        let into = self.fresh(Type::List(Box::new(Type::Verdict)));
        let header = Node::Map { list, item, cap: 5, give: give.clone(), into: into.clone() };
        self.region(header, true, |maker| {
            maker.block();
            let (text, turn) = (maker.text(), maker.int());
            let wanted = maker.template();
            let test = Test::Text(CheckKind::Contains, wanted);
            let author = "assistant".into();
            maker.add(Node::Check { test, negated: false, text, author, turn, into: give });
            last(maker);
        });
        self.space = outer;
        let whole = self.slot("v");
        let reducer = *self.dice.pick(&Reducer::ALL);
        let quorum = self.dice.one_in(4).then_some(1);
        self.add(Node::Reduce { from: into, reducer, quorum, into: whole });
    }
}
