//! The invariants of programs, one function each. A program that passes runs without a fault of its own shape.

mod defined;
mod effects;
mod flow;
mod names;
mod slots;
mod structure;
mod tools;
pub(crate) mod types;

pub use tools::{is_path_of_state, tool_names};
pub use types::{call_names, names_of_check, rule_names};

use std::fmt;
use std::sync::Arc;

use crate::graph::{Graph, NodeId};
use crate::program::Program;
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

/// Every violation of every invariant, in the order of the graphs. Invariants that build on the shape of a graph are not
/// asked of a graph whose shape is broken.
pub fn verify(program: &Program) -> Vec<Violation> {
    let mut violations = names::unique_names(program);
    violations.extend(names::names_resolve(program));
    for graph in program.graphs() {
        let mut shape = structure::one_entry(graph);
        shape.extend(structure::ports(graph));
        shape.extend(structure::regions(graph));
        shape.extend(structure::again_to_own_header(graph));
        shape.extend(structure::acyclic(graph));
        shape.extend(structure::reachable(graph));
        shape.extend(structure::bounds(graph));
        shape.extend(structure::unique_paths(graph));
        let sound = shape.is_empty();
        violations.extend(shape);
        if sound {
            violations.extend(slots::assigned_before_read(graph));
            violations.extend(slots::map_gives(graph));
            violations.extend(types::types(program, graph));
            violations.extend(effects::maps_are_pure(graph));
        }
        if sound
            && let Some(scorer) =
                program.scorers.iter().find(|s| s.graph.as_ref().is_some_and(|g| std::ptr::eq(g, graph)))
        {
            violations.extend(effects::score_graphs_only_score(graph));
            violations.extend(effects::one_score_each(scorer, graph));
        }
    }
    violations.extend(types::rules(program));
    violations.extend(tools::tools(program));
    violations
}
