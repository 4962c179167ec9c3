//! What the nodes of a program read.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::program::{Program, node_names};

/// The names that each node of each graph reads: found once, because it means reading every template.
#[derive(Clone, Debug)]
pub struct Reads {
    graphs: Vec<Vec<Vec<Arc<str>>>>,
}

impl Reads {
    /// Of the graphs in the order of [`Program::graphs`].
    pub fn of(program: &Program) -> Self {
        let of_graph =
            |graph: &crate::graph::Graph| graph.nodes().map(|(_, placed)| node_names(&placed.node)).collect();
        Self { graphs: program.graphs().map(of_graph).collect() }
    }

    /// The names that each node of a graph reads, by the graph's place in [`Program::graphs`] and the node's number.
    pub fn nodes(&self, graph: usize) -> &[Vec<Arc<str>>] {
        self.graphs.get(graph).map(Vec::as_slice).unwrap_or_default()
    }

    /// The names that a graph reads: fields, slots, and what is always there.
    pub fn graph(&self, graph: usize) -> BTreeSet<&Arc<str>> {
        self.nodes(graph).iter().flatten().collect()
    }

    /// The names that any graph reads.
    pub fn all(&self) -> BTreeSet<&Arc<str>> {
        self.graphs.iter().flatten().flatten().collect()
    }
}
