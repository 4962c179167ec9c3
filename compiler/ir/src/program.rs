//! Programs: what a task is compiled to, and all that a run needs to know of it.

use std::sync::Arc;

use crate::engine::Engine;
use crate::expr::Expr;
use crate::gate::Gate;
use crate::graph::Graph;
use crate::key::{Key, KeyWriter};
use crate::node::{Node, Said, View};
use crate::reduce::Reducer;
use crate::template::{SyntaxError, Template};
use crate::ty::Type;
use crate::typing::Names;
use crate::value::Value;
use crate::verdict::{EvidenceRule, Scale};

/// The name of the scorer that collects the expectations of a sample's steps.
pub const EXPECTATIONS: &str = "expectations";

/// A compiled task.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What it is called.
    pub name: Arc<str>,
    /// From which choices are drawn.
    pub seed: u64,
    /// How often each sample is run.
    pub epochs: u32,
    /// What the run and each sample may use.
    pub limits: Limits,
    /// The fields of samples that graphs read.
    pub fields: Vec<Field>,
    /// Who talks.
    pub roles: Vec<Role>,
    /// What may be called.
    pub tools: Vec<Tool>,
    /// How conversations proceed: one graph per way, named by samples.
    pub solves: Vec<Graph>,
    /// How they are scored.
    pub scorers: Vec<Scorer>,
    /// When a build fails.
    pub gates: Vec<Gate>,
    /// The parts of the standard library that are in it, with their versions.
    pub library: Vec<(Arc<str>, u32)>,
}

/// Limits of a run. Reaching one leaves samples open; it never ends them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The most calls.
    pub calls: Option<u64>,
    /// The longest time, in seconds.
    pub time_s: Option<u64>,
}

/// A field of the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values over all samples.
    pub ty: Type,
}

/// Someone who talks.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// `assistant`, `user`, `judge`, or a name of the task's.
    pub name: Arc<str>,
    /// Who plays it.
    pub player: Player,
}

/// Who plays a role.
#[derive(Clone, Debug, PartialEq)]
pub enum Player {
    /// Rules in the task: no network, no key.
    Scripted(Vec<Rule>),
    /// A chat model behind an API.
    Chat(ChatModel),
}

/// A chat model and every parameter that changes its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatModel {
    /// How the API speaks.
    pub dialect: Dialect,
    /// The model's name on the wire.
    pub model: Arc<str>,
    /// The endpoint's name: part of the identity of answers, unlike the address.
    pub endpoint: Arc<str>,
    /// The address before `/chat/completions`.
    pub base_url: Arc<str>,
    /// The environment variable that holds the key.
    pub api_key: Option<Arc<str>>,
    /// The parameters that are set, by their names on the wire, in the order of the language's table.
    pub parameters: Vec<(Arc<str>, Value)>,
    /// USD per million tokens: input, output.
    pub price: Option<(f64, f64)>,
}

/// The dialects of chat APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /chat/completions` as `OpenAI` defined it and many others speak it.
    OpenAiCompatible,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 1] = [Self::OpenAiCompatible];

    /// The word in programs and content keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAiCompatible => "openai_compatible",
        }
    }
}

/// A rule of a scripted role: the first whose condition holds answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// When; always if there is none.
    pub when: Option<Expr>,
    /// With what.
    pub answer: Answer,
}

/// What a scripted role answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A text; a simulated user's status with it.
    Say {
        /// The text.
        text: Template,
        /// `done` or `gave_up`, of a simulated user.
        status: Option<Arc<str>>,
    },
    /// One of several texts, drawn by position from the run's seed, each with its weight.
    AnyOf(Vec<(Template, u32)>),
    /// A judge's verdict: a map whose texts are templates.
    Verdict(Value),
    /// A fault, as an HTTP status.
    Fault(u16),
}

impl Answer {
    /// Everything in it that is rendered.
    pub fn texts(&self) -> Vec<Template> {
        match self {
            Self::Say { text, .. } => vec![text.clone()],
            Self::AnyOf(texts) => texts.iter().map(|(text, _)| text.clone()).collect(),
            Self::Verdict(shape) => {
                let mut found = Vec::new();
                texts_of(shape, &mut found);
                found
            }
            Self::Fault(_) => Vec::new(),
        }
    }
}

/// The texts of a value, each a template.
fn texts_of(value: &Value, found: &mut Vec<Template>) {
    match value {
        Value::Str(text) => found.push(Template::new(text.clone())),
        Value::List(items) => items.iter().for_each(|item| texts_of(item, found)),
        Value::Map(map) => map.iter().for_each(|(_, item)| texts_of(item, found)),
        _ => {}
    }
}

/// A tool and the role that answers its calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: Arc<str>,
    /// Who answers.
    pub role: Arc<str>,
}

/// A scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorer {
    /// Its name, unique in the program.
    pub name: Arc<str>,
    /// The values it gives.
    pub scale: Scale,
    /// The least number that passes.
    pub pass: f64,
    /// How the values of turns become the conversation's; none where it judges the conversation as a whole.
    pub over: Option<Reducer>,
    /// The evidence that a failing verdict must bring.
    pub evidence: EvidenceRule,
    /// How it is computed; none for [`EXPECTATIONS`], whose verdicts come from the solve graphs.
    pub graph: Option<Graph>,
}

impl Program {
    /// A role by name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| &*role.name == name)
    }

    /// A scorer by name.
    pub fn scorer(&self, name: &str) -> Option<&Scorer> {
        self.scorers.iter().find(|scorer| &*scorer.name == name)
    }

    /// A solve graph by name.
    pub fn solve(&self, name: &str) -> Option<&Graph> {
        self.solves.iter().find(|graph| &*graph.name == name)
    }

    /// The names that every expression of a graph may read, beside its slots.
    pub fn names(&self) -> Names {
        let mut names = Names::always();
        for field in &self.fields {
            names.insert(field.name.clone(), field.ty.clone());
        }
        names
    }

    /// All graphs: solve graphs, then score graphs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.solves.iter().chain(self.scorers.iter().filter_map(|scorer| scorer.graph.as_ref()))
    }

    /// Compiles all templates.
    pub fn engine(&self) -> Result<Engine, SyntaxError> {
        let mut engine = Engine::new();
        for role in &self.roles {
            if let Player::Scripted(rules) = &role.player {
                rules.iter().flat_map(|rule| rule.answer.texts()).try_for_each(|text| engine.add(&text))?;
            }
        }
        for graph in self.graphs() {
            for (_, placed) in graph.nodes() {
                node_templates(&placed.node).into_iter().try_for_each(|template| engine.add(template))?;
            }
        }
        Ok(engine)
    }

    /// The program's identity: a hash of its text form without comments and without the run's limits. Names of files,
    /// descriptions and tags are not in it. A limit changes no answer and no score, only when a run stops; so a run that was
    /// stopped by one can be resumed under a higher one.
    pub fn hash(&self) -> Key {
        KeyWriter::new("aigo.program.1").str(&crate::print::print_without_limits(self)).finish()
    }
}

/// The templates of a node.
pub fn node_templates(node: &Node) -> Vec<&Template> {
    match node {
        Node::Append { said: Said::Template(template), .. } | Node::Check { wanted: template, .. } => vec![template],
        Node::Generate { view: View::Chat { system, opening }, .. } => system.iter().chain(opening).collect(),
        Node::Generate { view: View::Text { system, question, .. }, .. } => system.iter().chain([question]).collect(),
        _ => Vec::new(),
    }
}

/// The names that a node reads: fields, slots, and what is always there; the same one may come more than once.
pub fn node_names(node: &Node) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = node_slots(node).into_iter().cloned().collect();
    names.extend(node_expressions(node).into_iter().flat_map(|expr| expr.names()).map(Arc::from));
    // Most texts have no place to fill in, and need not be read.
    let templates = node_templates(node).into_iter().filter(|template| template.source.contains('{'));
    names.extend(templates.flat_map(Template::names));
    names
}

/// The expressions of a node.
pub fn node_expressions(node: &Node) -> Vec<&Expr> {
    use crate::node::{Bound, Unit};
    match node {
        Node::Append { said: Said::Text(expr), .. }
        | Node::Branch { when: expr }
        | Node::Loop { bound: Bound::Items { list: expr, .. }, .. }
        | Node::Map { list: expr, .. }
        | Node::Let { value: expr, .. }
        | Node::Score { unit: Unit::Turn(expr), .. } => vec![expr],
        Node::Generate { view: View::Text { up_to, .. }, .. } => up_to.iter().collect(),
        Node::Check { text, turn, .. } => vec![text, turn],
        _ => Vec::new(),
    }
}

/// The slots of which a node reads the whole, beside those in its expressions and templates.
fn node_slots(node: &Node) -> Vec<&Arc<str>> {
    match node {
        Node::Append { said: Said::Reply(slot), .. } => vec![slot],
        Node::Parse { from, .. } | Node::Reduce { from, .. } | Node::Score { from, .. } => vec![from],
        Node::Tool { call, .. } => vec![call],
        _ => Vec::new(),
    }
}
