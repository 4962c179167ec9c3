//! A program made ready to run: verified, its templates compiled, its roles hashed.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::engine::Engine;
use aigo_ir::graph::{Graph, NodeId};
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::node::Port;
use aigo_ir::print;
use aigo_ir::program::{Player, Program, Role, Structured};
use aigo_ir::schema;
use aigo_ir::verify::{self, Violation};

use crate::ask::ToolOffer;
use crate::lane::GraphRef;
use crate::regular::Regular;

/// A verified program with everything that all its lanes share.
pub struct Linked {
    /// The program.
    pub program: Program,
    /// Its templates, compiled.
    pub engine: Engine,
    /// Its identity.
    pub hash: Key,
    /// Its tools, as models are offered them.
    pub tools: Arc<[ToolOffer]>,
    /// Of each role, in the program's order: a hash of who plays it with every parameter that changes an answer.
    roles: Vec<Key>,
    /// `solve/NAME` and `score/NAME` of each graph.
    solve_names: Vec<Arc<str>>,
    score_names: Vec<Arc<str>>,
    /// Of each solve graph: what its shape says of early endings.
    regular: Vec<Regular>,
    /// The labels of the steps at which scorers look.
    labels: Vec<Arc<str>>,
}

impl Linked {
    /// Verifies and compiles.
    pub fn new(program: Program) -> Result<Self, Vec<Violation>> {
        let violations = verify::verify(&program);
        if !violations.is_empty() {
            return Err(violations);
        }
        let engine = program.engine().map_err(|error| {
            vec![Violation {
                invariant: "templates",
                graph: None,
                node: None,
                message: error.message,
                origin: aigo_ir::span::Origin::default(),
            }]
        })?;
        let roles = program.roles.iter().map(|role| role_key(role, &program)).collect();
        let solve_names = program.solves.iter().map(|graph| format!("solve/{}", graph.name).into()).collect();
        let score_names = program.scorers.iter().map(|scorer| format!("score/{}", scorer.name).into()).collect();
        let regular = program.solves.iter().map(Regular::of).collect();
        let hash = program.hash();
        let tools = program.tools.iter().map(|tool| ToolOffer {
            name: Arc::clone(&tool.name),
            description: Arc::clone(&tool.description),
            parameters: schema::parameters_schema(&tool.params),
        });
        let tools = tools.collect();
        let mut labels: Vec<Arc<str>> = program.scorers.iter().filter_map(|scorer| scorer.at.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        Ok(Self { program, engine, hash, tools, roles, solve_names, score_names, regular, labels })
    }

    /// A graph.
    pub fn graph(&self, graph: GraphRef) -> Option<&Graph> {
        match graph {
            GraphRef::Solve(at) => self.program.solves.get(at),
            GraphRef::Score(at) => self.program.scorers.get(at).and_then(|scorer| scorer.graph.as_ref()),
        }
    }

    /// The name of a graph in positions.
    pub fn graph_name(&self, graph: GraphRef) -> Arc<str> {
        let found = match graph {
            GraphRef::Solve(at) => self.solve_names.get(at),
            GraphRef::Score(at) => self.score_names.get(at),
        };
        found.cloned().unwrap_or_default()
    }

    /// Whether a conversation at this node can still come to its regular end. In a score graph it always can.
    pub(crate) fn goes_on(&self, graph: GraphRef, node: NodeId) -> bool {
        match graph {
            GraphRef::Solve(at) => self.regular.get(at).is_none_or(|regular| regular.goes_on(node)),
            GraphRef::Score(_) => true,
        }
    }

    /// The expectations that a conversation would surely have met, had it not taken `taken` at `fork`.
    pub(crate) fn certain(&self, at: usize, fork: NodeId, taken: Port) -> BTreeSet<NodeId> {
        let found = self.program.solves.get(at).zip(self.regular.get(at));
        found.map_or_else(BTreeSet::new, |(graph, regular)| regular.left(graph, fork, taken))
    }

    /// The labels of steps at which scorers look, and which a node belongs to.
    pub(crate) fn labels_of<'l>(&'l self, path: &'l str) -> impl Iterator<Item = &'l Arc<str>> {
        self.labels.iter().filter(|label| {
            path.split('/').any(|part| {
                let ordinal = part.strip_prefix(&***label).map(|rest| rest.strip_prefix('.').unwrap_or(rest));
                ordinal.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
            })
        })
    }

    /// A role and its hash.
    pub fn role(&self, name: &str) -> Option<(&Role, &Key)> {
        let at = self.program.roles.iter().position(|role| &*role.name == name)?;
        Some((self.program.roles.get(at)?, self.roles.get(at)?))
    }
}

/// What a call's content says of the role. Addresses, keys and prices are not in it; parameters that are not set are not
/// either, so that a later release with another default buys nothing again.
pub fn role_key(role: &Role, program: &Program) -> Key {
    let mut writer = KeyWriter::new("aigo.role.1");
    match &role.player {
        Player::Chat(model) => {
            writer.str(model.dialect.word()).str(&model.endpoint).str(&model.model).list(model.parameters.len());
            for (name, value) in &model.parameters {
                writer.str(name).value(value);
            }
            if model.structured != Structured::default() {
                writer.str(model.structured.word());
            }
        }
        Player::Scripted(rules) => {
            // The rules are the model: any edit of them is another player. The text form is the one encoding they have.
            writer.str("scripted").u64(program.seed).list(rules.len());
            writer.str(&print::role(role));
        }
        Player::Http(http) => {
            // What an application answers depends on all that is said of it, its version above all; not on our patience.
            let mut http = http.clone();
            (http.call.timeout_ms, http.resumable) = (None, false);
            writer.str("application").str(&print::role(&Role { player: Player::Http(http), ..role.clone() }));
        }
        Player::Command(command) => {
            let mut command = command.clone();
            (command.call.timeout_ms, command.resumable) = (None, false);
            writer.str("application").str(&print::role(&Role { player: Player::Command(command), ..role.clone() }));
        }
    }
    writer.finish()
}
