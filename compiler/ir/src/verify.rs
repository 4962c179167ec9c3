//! The invariants of programs, one function each. A program that passes runs without a fault of its own shape.

mod defined;
mod effects;
mod flow;
mod names;
mod reads;
mod slots;
mod structure;
mod tools;
pub(crate) mod types;

pub(crate) use flow::topological;
pub use reads::Reads;
pub use tools::{is_path_of_state, tool_names};
pub use types::{call_names, chat, names_of_check, request_names, rule_names};

use std::fmt;
use std::sync::Arc;

use crate::graph::{Graph, NodeId};
use crate::program::{Program, Scorer};
use crate::span::Origin;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Which invariant: the name of its function.
    pub invariant: &'static str,
    /// The graph, if it is about one.
    pub graph: Option<Arc<str>>,
    /// The node, if it is about one.
    pub node: Option<NodeId>,
    /// What was found, and what must hold.
    pub message: String,
    /// Where the task says so.
    pub origin: Origin,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(graph) = &self.graph {
            write!(f, "in `{graph}`")?;
        }
        if let Some(node) = self.node {
            write!(f, ", n{}", node.0)?;
        }
        write!(f, ": {} [{}]", self.message, self.invariant)
    }
}

/// Collects violations of one invariant in one graph.
struct Found<'g> {
    invariant: &'static str,
    graph: &'g Graph,
    violations: Vec<Violation>,
}

impl<'g> Found<'g> {
    const fn new(invariant: &'static str, graph: &'g Graph) -> Self {
        Self { invariant, graph, violations: Vec::new() }
    }

    fn at(&mut self, node: NodeId, message: impl Into<String>) {
        let origin = self.graph.get(node).map_or(Origin::default(), |placed| placed.origin);
        self.violations.push(Violation {
            invariant: self.invariant,
            graph: Some(self.graph.name.clone()),
            node: Some(node),
            message: message.into(),
            origin,
        });
    }

    fn whole(&mut self, message: impl Into<String>) {
        self.violations.push(Violation {
            invariant: self.invariant,
            graph: Some(self.graph.name.clone()),
            node: None,
            message: message.into(),
            origin: Origin::default(),
        });
    }
}

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything.
    Whole,
    /// All but the types of expressions and templates.
    Untyped,
}

/// Every violation of every invariant, in the order of the graphs. Invariants that build on the shape of a graph are not
/// asked of a graph whose shape is broken.
pub fn verify(program: &Program) -> Vec<Violation> {
    run(program, &Reads::of(program), Depth::Whole)
}

/// The violations of all invariants but `types` and `rules`, which read and type every expression and template. For a
/// program that was just lowered from a task whose texts are typed already; whatever else made it needs [`verify`].
pub fn sound(program: &Program, reads: &Reads) -> Vec<Violation> {
    run(program, reads, Depth::Untyped)
}

/// Where graphs read slots that are not assigned on every path to there: the one violation that a task can be the cause of.
pub fn unassigned(program: &Program, reads: &Reads) -> Vec<Violation> {
    let graphs = program.graphs().enumerate();
    graphs.flat_map(|(at, graph)| slots::unassigned(graph, &flow::topological(graph), reads.nodes(at))).collect()
}

fn run(program: &Program, reads: &Reads, depth: Depth) -> Vec<Violation> {
    let mut violations = names::unique_names(program);
    violations.extend(names::names_resolve(program));
    let solves = program.solves.iter().map(|graph| (graph, None));
    let scores = program.scorers.iter().filter_map(|scorer| Some((scorer.graph.as_ref()?, Some(scorer))));
    for (at, (graph, scorer)) in solves.chain(scores).enumerate() {
        violations.extend(one_graph(program, graph, scorer, reads.nodes(at), depth));
    }
    if depth == Depth::Whole {
        violations.extend(types::rules(program));
        violations.extend(tools::tools(program));
    }
    violations
}

fn one_graph(
    program: &Program,
    graph: &Graph,
    scorer: Option<&Scorer>,
    reads: &[Vec<Arc<str>>],
    depth: Depth,
) -> Vec<Violation> {
    let order = flow::topological(graph);
    let mut found = structure::one_entry(graph);
    found.extend(structure::ports(graph));
    found.extend(structure::regions(graph));
    found.extend(structure::again_to_own_header(graph));
    found.extend(structure::acyclic(graph, &order));
    found.extend(structure::reachable(graph));
    found.extend(structure::bounds(graph));
    found.extend(structure::unique_paths(graph));
    if !found.is_empty() {
        return found;
    }
    found.extend(slots::assigned_before_read(graph, &order, reads));
    found.extend(slots::map_gives(graph, &order));
    if depth == Depth::Whole {
        found.extend(types::types(program, graph, &order));
    }
    found.extend(effects::maps_are_pure(graph));
    if let Some(scorer) = scorer {
        found.extend(effects::score_graphs_only_score(graph));
        found.extend(effects::one_score_each(scorer, graph, &order));
    }
    found
}
