//! Programs: what a task is compiled to, and all that a run needs to know of it.

use std::sync::Arc;

use crate::check::{Between, Test};
use crate::engine::Engine;
use crate::expr::{Expr, Kind};
use crate::gate::Gate;
use crate::graph::Graph;
use crate::key::{Key, KeyWriter};
use crate::node::{Node, Said, View};
use crate::reduce::Reducer;
pub use crate::role::{
    Answer, Call, CallKind, ChatModel, CommandCall, CommandRole, Dialect, Fault, Header, HeaderValue, HttpCall,
    HttpMethod, HttpRole, PER_USD, Player, Price, ReplyPaths, Role, Rule, ScriptedCall, Session, Structured,
};
use crate::schema::Schema;
use crate::span::Origin;
use crate::template::{SyntaxError, Template};
use crate::ty::Type;
use crate::typing::Names;
use crate::value::Value;
use crate::verdict::{EvidenceRule, Scale};

/// The name of the scorer that collects the expectations of a sample's steps.
pub const EXPECTATIONS: &str = "expectations";

/// The name under which templates of applications and of calls read what the calls of `setup` brought.
pub const SETUP: &str = "setup";

/// The slot of a score graph with the names of the scorers that are void where the scorer fails.
pub const VOIDS: &str = "_voids";

/// Among these names, the word for all of them.
pub const VOIDS_ALL: &str = "*";

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
    /// What the world is at the start of every sample and epoch; none where tools change nothing.
    pub state: Option<Value>,
    /// The fields of samples that graphs read.
    pub fields: Vec<Field>,
    /// Who talks.
    pub roles: Vec<Role>,
    /// What may be called.
    pub tools: Vec<Tool>,
    /// What is called before each sample, in order.
    pub setup: Vec<Call>,
    /// What is called after each sample, however it ended, in order.
    pub teardown: Vec<Call>,
    /// How conversations proceed: one graph per way, named by samples.
    pub solves: Vec<Graph>,
    /// How they are scored.
    pub scorers: Vec<Scorer>,
    /// When a build fails.
    pub gates: Vec<Gate>,
    /// The personas that simulated users may have, and what each has to have done.
    pub personas: Vec<Persona>,
    /// The parts of the standard library that are in it, with their versions.
    pub library: Vec<(Arc<str>, u32)>,
}

/// Limits. Reaching one of the run's leaves samples open and never ends them; reaching one of the sample's ends it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The most calls of the run.
    pub calls: Option<u64>,
    /// The longest time of the run, in seconds.
    pub time_s: Option<u64>,
    /// The most that the run may cost, in USD.
    pub cost_usd: Option<f64>,
    /// What each sample may use.
    pub sample: SampleLimits,
    /// Where the task says so.
    pub origin: Origin,
}

/// What a sample may use in an epoch. At a limit it ends with `sample_limit`, so these are part of the program's identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleLimits {
    /// The most calls.
    pub calls: Option<u64>,
    /// The most tokens, of prompts and answers together.
    pub tokens: Option<u64>,
    /// The most turns.
    pub turns: Option<u64>,
    /// The longest time, in seconds.
    pub time_s: Option<u64>,
    /// The most that it may cost, in USD.
    pub cost_usd: Option<f64>,
}

/// A field of the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values over all samples.
    pub ty: Type,
}

/// A persona of simulated users. Its text stands in their prompts.
#[derive(Clone, Debug, PartialEq)]
pub struct Persona {
    /// Its name.
    pub name: Arc<str>,
    /// What the user must have done by the end, for the persona to have been played.
    pub must: Vec<Arc<str>>,
    /// The scorers that it is meant to try.
    pub probes: Vec<Arc<str>>,
}

/// A tool of the assistant's.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: Arc<str>,
    /// What the assistant is told of it.
    pub description: Arc<str>,
    /// What it takes.
    pub params: Vec<Parameter>,
    /// How its calls are answered.
    pub answer: ToolAnswer,
    /// Of one that a role answers: whether a call that may have been made can be made again.
    pub idempotent: bool,
}

impl Tool {
    /// The expressions of its rules.
    pub fn expressions(&self) -> Vec<&Expr> {
        let ToolAnswer::Rules(rules) = &self.answer else { return Vec::new() };
        let set = rules.set.iter().flat_map(|(path, value)| [path, value]);
        rules.require.iter().chain(set).chain(&rules.returns).collect()
    }
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values.
    pub ty: Type,
    /// Its value where a call gives none.
    pub default: Option<Value>,
}

/// Who answers the calls of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAnswer {
    /// A role.
    Role(Arc<str>),
    /// Rules in the task: pure, over the parameters and the state.
    Rules(Box<ToolRules>),
}

/// The rules of a tool, in this order: a fault on order, what must hold, what is set, what is returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRules {
    /// What must hold; otherwise the call is answered with an error.
    pub require: Option<Expr>,
    /// Paths of the state and what becomes of them; all values are computed before any is set.
    pub set: Vec<(Expr, Expr)>,
    /// The result, computed on the new state.
    pub returns: Option<Expr>,
    /// Which call of the tool fails in a sample, from 1, and what the assistant is told.
    pub fail: Option<(u32, Arc<str>)>,
    /// How a call ends the conversation, if it does.
    pub ends: Option<crate::node::Ending>,
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
    /// Whether its judge may say that there is nothing to judge in a turn.
    pub skips: bool,
    /// The label of the step at which it scores; none where it scores the whole conversation.
    pub at: Option<Arc<str>>,
    /// The turns that it is about. Where the assistant says something in none of them, it does not apply; where the application
    /// has failed before, it gives the worst value of its scale.
    pub turns: Option<Between>,
    /// Whether it says that the conversation reached its end: where the application fails, it gives the worst value of its
    /// scale and asks nobody.
    pub completion: bool,
    /// For choosing scorers. They take no part in the program's hash.
    pub tags: Vec<Arc<str>>,
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
        if let Some(state) = &self.state {
            names.insert("state", Type::of(state));
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
        let of_roles = self.roles.iter().flat_map(|role| role.player.texts());
        let of_calls = self.setup.iter().chain(&self.teardown).flat_map(Call::texts);
        of_roles.chain(of_calls).try_for_each(|text| engine.add(&text))?;
        for graph in self.graphs() {
            for (_, placed) in graph.nodes() {
                node_templates(&placed.node).into_iter().try_for_each(|template| engine.add(template))?;
            }
        }
        Ok(engine)
    }

    /// The program's identity: a hash of its text form without comments and without the run's limits. Names of files,
    /// descriptions and tags are not in it. A limit of the run changes no answer and no score, only when a run stops; so a run that was
    /// stopped by one can be resumed under a higher one.
    pub fn hash(&self) -> Key {
        KeyWriter::new("aigo.program.1").str(&crate::print::print_without_limits(self)).finish()
    }
}

/// The templates of a node.
pub fn node_templates(node: &Node) -> Vec<&Template> {
    match node {
        Node::Append { said: Said::Template(template), .. } => vec![template],
        Node::Append { said: Said::AnyOf(choices), .. } => choices.iter().map(|(text, _)| text).collect(),
        Node::Check { test, .. } => test.templates(),
        Node::Generate { view: View::Chat { system, opening }, .. } => system.iter().chain(opening).collect(),
        Node::Generate { view: View::Text { system, question, .. }, .. } => system.iter().chain([question]).collect(),
        _ => Vec::new(),
    }
}

/// The names that a node reads: fields, slots, and what is always there; the same one may come more than once.
pub fn node_names(node: &Node) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = node_slots(node).into_iter().cloned().collect();
    // What a check's condition reads of the check itself is nothing of the program's.
    let of_check = matches!(node, Node::Check { .. });
    for expr in node_expressions(node) {
        expr.visit(&mut |part| match &part.kind {
            Kind::Name(name) if !of_check || !Test::NAMES.contains(&&**name) => names.push(name.clone()),
            _ => {}
        });
    }
    // Most texts have no place to fill in, and need not be read.
    let templates = node_templates(node).into_iter().filter(|template| template.source.contains('{'));
    names.extend(templates.flat_map(Template::names));
    names
}

/// The expressions of a node.
pub fn node_expressions(node: &Node) -> Vec<&Expr> {
    use crate::node::{Bound, Unit};
    match node {
        Node::Append { said: Said::Text(expr) | Said::History(expr), .. }
        | Node::Branch { when: expr }
        | Node::Loop { bound: Bound::Items { list: expr, .. }, .. }
        | Node::Map { list: expr, .. }
        | Node::Let { value: expr, .. }
        | Node::Score { unit: Unit::Turn(expr), .. } => vec![expr],
        Node::Generate { view: View::Text { up_to, .. }, .. } => up_to.iter().collect(),
        Node::Check { test: Test::Expr(expr), text, turn, .. } => vec![text, turn, expr],
        Node::Check { text, turn, .. } => vec![text, turn],
        _ => Vec::new(),
    }
}

/// The slots of which a node reads the whole, beside those in its expressions and templates.
fn node_slots(node: &Node) -> Vec<&Arc<str>> {
    match node {
        Node::Append { said: Said::Reply(slot), .. } => vec![slot],
        Node::Generate { schema: Some(Schema::Verdicts(of, _)), .. } => vec![of],
        Node::Parse { from, schema: Schema::Verdicts(of, _), .. } => vec![from, of],
        Node::Parse { from, .. } | Node::Reduce { from, .. } | Node::Score { from, .. } => vec![from],
        Node::Tool { call, .. } => vec![call],
        _ => Vec::new(),
    }
}
