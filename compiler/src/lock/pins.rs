//! What is pinned of a program and its samples.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::expr::{Expr, Kind as ExprKind};
use aigo_ir::graph::{Graph, Placed};
use aigo_ir::key::KeyWriter;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::node::{Bound, Node, Said, View};
use aigo_ir::print;
use aigo_ir::program::{ChatModel, Player, Program, Role, Scorer, Tool, ToolAnswer};
use aigo_ir::schema::Schema;
use aigo_ir::span::Origin;
use aigo_ir::value::Value;
use aigo_ir::verdict::Scale;

use super::{Kind, Lock, Pin};
use crate::dataset::Dataset;
use crate::lower::prompts::{PERSONA, Wanted, asked, told};

impl Lock {
    /// What is pinned of a task.
    pub fn of(program: &Program, dataset: &Dataset) -> Self {
        let mut lock = Self::of_program(program);
        // The samples come first in the order of kinds.
        lock.pins.insert(0, samples(dataset));
        lock
    }

    /// What is pinned of a program, without its samples.
    pub fn of_program(program: &Program) -> Self {
        let mut lock = Self::default();
        lock.script(program);
        for (name, version) in &program.library {
            lock.add(Kind::Library, name, vec![("version", Value::Int(i64::from(*version)))], Origin::default());
        }
        for role in instruments(program) {
            lock.add(Kind::Model, &role.name, model(role), role.origin);
        }
        for scorer in &program.scorers {
            lock.scorer(program, scorer);
        }
        for graph in &program.solves {
            lock.simulator(graph);
        }
        lock.personas(program);
        lock.limits(program);
        if let Some(state) = &program.state {
            lock.hashed(Kind::World, "state", state, Origin::default());
        }
        for tool in &program.tools {
            lock.add(Kind::Tool, &tool.name, answers(tool), Origin::default());
        }
        lock.pins.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        lock
    }

    fn add(&mut self, kind: Kind, name: &str, facts: Vec<(&str, Value)>, origin: Origin) {
        let facts = facts.into_iter().map(|(key, value)| (Arc::from(key), value)).collect();
        self.pins.push(Pin { kind, name: name.into(), facts, origin });
    }

    fn hashed(&mut self, kind: Kind, name: &str, content: &Value, origin: Origin) {
        self.add(kind, name, vec![("hash", hash_of(kind, content))], origin);
    }

    /// What the task's own steps say as the user, of all ways that conversations go.
    fn script(&mut self, program: &Program) {
        let said = |placed: &Placed| match &placed.node {
            Node::Append { author, audience: None, said, .. } if &**author == USER => match said {
                Said::Template(text) => Some(text.source.to_string()),
                Said::AnyOf(choices) => Some(
                    choices
                        .iter()
                        .map(|(text, weight)| format!("{weight} {}\n", text.source))
                        .collect::<Vec<_>>()
                        .concat(),
                ),
                // What a simulated user says, a script reads of its sample, or a recording holds.
                Said::Text(_) | Said::History(_) | Said::Reply(_) => None,
            },
            _ => None,
        };
        let graphs =
            program.solves.iter().map(|graph| (graph, graph.nodes().filter_map(|(_, one)| said(one)).collect()));
        let lines: Vec<(&Graph, Vec<String>)> = graphs.filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty()).collect();
        if lines.is_empty() {
            return;
        }
        let lines = lines.into_iter().map(|(graph, lines)| (graph.name.clone(), texts(lines)));
        self.hashed(Kind::Script, USER, &Value::map(lines), Origin::default());
    }

    fn scorer(&mut self, program: &Program, scorer: &Scorer) {
        let own = scorer.graph.iter().flat_map(Graph::nodes);
        let checkpoints = program.solves.iter().flat_map(Graph::nodes).filter(
            |(_, placed)| matches!(&placed.node, Node::Generate { schema: Some(Schema::Verdict(of)), .. } if *of == scorer.name),
        );
        let asking: Vec<&Placed> = own
            .chain(checkpoints)
            .map(|(_, placed)| placed)
            .filter(|placed| matches!(placed.node, Node::Generate { .. }))
            .collect();
        let Some(first) = asking.first() else { return };
        let (mut parts, mut prompts) = ([const { Vec::new() }; 3], Vec::new());
        for (system, question, wanted) in asking.iter().filter_map(|placed| prompt(&placed.node, scorer)) {
            let asked = asked(question, &wanted);
            // A judge that is asked again, or one of a panel, is asked the same.
            for (list, part) in parts.iter_mut().zip([asked.rubric, asked.anchors, asked.examples]) {
                once(list, part);
            }
            once(&mut prompts, format!("{system}\n{}", asked.frame));
        }
        let [rubrics, anchors, examples] = parts;
        let name = &scorer.name;
        let kinds = [Kind::Rubric, Kind::Anchors, Kind::Examples, Kind::Prompt];
        for (kind, all) in kinds.into_iter().zip([rubrics, anchors, examples, prompts]) {
            if !all.is_empty() {
                self.hashed(kind, name, &texts(all), first.origin);
            }
        }
        let facts = vec![("scale", scale(&scorer.scale)), ("pass", Value::float(scorer.pass).unwrap_or_default())];
        self.add(Kind::Scale, name, facts, first.origin);
        let mut how = vec![print::scoring(scorer)];
        if scorer.graph.is_none() {
            how.extend(asking.iter().map(|placed| print::asking(&placed.node)));
        }
        self.hashed(Kind::Scoring, name, &texts(how), first.origin);
    }

    /// What a graph's simulated user is told, and when its conversations end.
    fn simulator(&mut self, graph: &Graph) {
        let (mut prompts, mut rules, mut first) = (Vec::new(), Vec::new(), None);
        for (_, placed) in graph.nodes() {
            match &placed.node {
                Node::Generate { view: View::Chat { system, opening }, schema: Some(Schema::UserTurn), .. } => {
                    let (prompt, rule) = told(system.as_ref().map_or("", |system| &system.source));
                    let opening = opening.as_ref().map_or("", |opening| &opening.source);
                    prompts.push(format!("{prompt}\n{opening}"));
                    rules.extend(rule);
                    first = first.or(Some(placed.origin));
                }
                Node::Branch { when } => rules.push(when.to_string()),
                Node::Loop { bound: Bound::Times(times), .. } => rules.push(times.to_string()),
                Node::Loop { bound: Bound::Items { list, cap, .. }, .. } => rules.push(format!("{cap} {list}")),
                _ => {}
            }
        }
        let Some(origin) = first else { return };
        self.hashed(Kind::Simulator, &graph.name, &texts(prompts), origin);
        self.hashed(Kind::StopRule, &graph.name, &texts(rules), origin);
    }

    /// Personas that a sample names. One that the task names itself stands in what the simulated user is told.
    fn personas(&mut self, program: &Program) {
        let mut texts: BTreeMap<Arc<str>, (Value, Origin)> = BTreeMap::new();
        for (_, placed) in program.solves.iter().flat_map(Graph::nodes) {
            if let Node::Let { into, value } = &placed.node
                && **into == *PERSONA
            {
                table(value, placed.origin, &mut texts);
            }
        }
        for (name, (text, origin)) in texts {
            let must = program.personas.iter().find(|persona| persona.name == name).map_or(&[][..], |one| &one.must);
            let must = Value::list(must.iter().cloned().map(Value::Str).collect());
            self.hashed(Kind::Persona, &name, &Value::list(vec![text, must]), origin);
        }
    }

    fn limits(&mut self, program: &Program) {
        let limits = &program.limits.sample;
        let counts =
            [("calls", limits.calls), ("tokens", limits.tokens), ("turns", limits.turns), ("time_s", limits.time_s)];
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let mut facts: Vec<_> = counts.into_iter().filter_map(|(key, n)| Some((key, count(n?)))).collect();
        facts.extend(limits.cost_usd.and_then(Value::float).map(|cost| ("cost_usd", cost)));
        if !facts.is_empty() {
            self.add(Kind::Limits, "sample", facts, program.limits.origin);
        }
    }
}

/// The samples: the one place that asks for their hash.
fn samples(dataset: &Dataset) -> Pin {
    let count = i64::try_from(dataset.count).unwrap_or(i64::MAX);
    let hash = Value::str(dataset.hash.hex(SHOWN));
    let facts = vec![("hash".into(), hash), ("samples".into(), Value::Int(count))];
    Pin { kind: Kind::Dataset, name: "samples".into(), facts, origin: dataset.origin() }
}

/// How many bytes of a hash are shown.
const SHOWN: usize = 8;

fn hash_of(kind: Kind, content: &Value) -> Value {
    let hash = KeyWriter::new("aigo.lock.1").str(kind.word()).value(content).finish();
    Value::str(hash.hex(SHOWN))
}

fn texts(texts: Vec<String>) -> Value {
    Value::list(texts.into_iter().map(Value::str).collect())
}

fn once(texts: &mut Vec<String>, text: String) {
    if !text.is_empty() && !texts.contains(&text) {
        texts.push(text);
    }
}

/// What a judge is asked, and what its answer must hold to.
fn prompt<'n>(node: &'n Node, scorer: &'n Scorer) -> Option<(&'n str, &'n str, Wanted<'n>)> {
    let Node::Generate { view: View::Text { system, question, .. }, schema, .. } = node else { return None };
    let wanted = match schema {
        Some(Schema::Items(items)) => Wanted::Items(items),
        Some(Schema::Judged(judged) | Schema::Verdicts(_, judged)) => Wanted::Verdict(&judged.scale, judged.rule),
        _ => Wanted::Verdict(&scorer.scale, scorer.evidence),
    };
    Some((system.as_ref().map_or("", |system| &system.source), &question.source, wanted))
}

/// The texts of the personas in the expression that finds one by its name.
fn table(value: &Expr, origin: Origin, texts: &mut BTreeMap<Arc<str>, (Value, Origin)>) {
    let ExprKind::Call(_, arguments) = &value.kind else { return };
    let Some(ExprKind::Item(table, _)) = arguments.first().map(|argument| &argument.kind) else { return };
    // A map of constants is a constant.
    let ExprKind::Literal(Value::Map(pairs)) = &table.kind else { return };
    for (name, text) in pairs.iter() {
        texts.insert(name.clone(), (text.clone(), origin));
    }
}

/// The roles that a score depends on beside the assistant's own: judges, simulated users, whoever else is asked.
fn instruments(program: &Program) -> Vec<&Role> {
    let of_scorers = program.scorers.iter().filter_map(|scorer| scorer.graph.as_ref());
    let mut names: BTreeSet<&str> =
        of_scorers.flat_map(Graph::nodes).filter_map(|(_, one)| role_of(&one.node)).collect();
    for (_, placed) in program.solves.iter().flat_map(Graph::nodes) {
        let judges = matches!(&placed.node, Node::Generate { schema: Some(Schema::Verdict(_)), .. });
        names.extend(role_of(&placed.node).filter(|role| judges || *role != ASSISTANT));
    }
    names.extend(program.tools.iter().filter_map(|tool| match &tool.answer {
        ToolAnswer::Role(role) => Some(&**role),
        ToolAnswer::Rules(_) => None,
    }));
    program.roles.iter().filter(|role| names.contains(&*role.name)).collect()
}

fn role_of(node: &Node) -> Option<&str> {
    match node {
        Node::Generate { role, .. } => Some(role),
        _ => None,
    }
}

fn model(role: &Role) -> Vec<(&'static str, Value)> {
    let by = |word: &str, version: &Option<Arc<str>>| {
        let text = print::role(role);
        let mut facts = vec![("by", Value::str(word)), ("hash", hash_of(Kind::Model, &Value::str(text)))];
        facts.extend(version.clone().map(|version| ("version", Value::Str(version))));
        facts
    };
    match &role.player {
        Player::Chat(chat) => chat_model(chat),
        Player::Scripted(_) => by("scripted", &None),
        Player::Http(http) => by("http", &http.version),
        Player::Command(command) => by("command", &command.version),
    }
}

/// What the identity of a model's answers is made of. Its address, key, price and patience are not.
fn chat_model(chat: &ChatModel) -> Vec<(&'static str, Value)> {
    let mut facts = vec![("model", Value::str(format!("{}/{}", chat.dialect.word(), chat.model)))];
    if *chat.endpoint != *chat.dialect.word() {
        facts.push(("endpoint", Value::Str(chat.endpoint.clone())));
    }
    if !chat.parameters.is_empty() {
        facts.push(("parameters", Value::map(chat.parameters.iter().cloned())));
    }
    facts
}

fn scale(scale: &Scale) -> Value {
    match scale {
        Scale::Labels(labels) => {
            let worth = |x: &f64| Value::float(*x).unwrap_or_default();
            Value::map(labels.iter().map(|(label, x)| (label.clone(), worth(x))))
        }
        plain => Value::str(plain.to_string()),
    }
}

fn answers(tool: &Tool) -> Vec<(&'static str, Value)> {
    match &tool.answer {
        ToolAnswer::Role(role) => vec![("role", Value::Str(role.clone()))],
        ToolAnswer::Rules(_) => {
            let text = print::tool(&Tool { description: "".into(), ..tool.clone() });
            vec![("hash", hash_of(Kind::Tool, &Value::str(text)))]
        }
    }
}
