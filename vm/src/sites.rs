//! The places at which a program asks, as a log's first record lists them.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::node::Node;
use aigo_ir::program::ToolAnswer;
use aigo_log::Site;
use aigo_machine::{GraphRef, Linked};

/// Every place at which the program's graphs ask a role, rising. Calls around samples are few, and are not among them.
pub fn sites(linked: &Linked) -> Vec<Site> {
    let program = &linked.program;
    let of_tools = program.tools.iter().filter_map(|tool| match &tool.answer {
        ToolAnswer::Role(role) => Some(Arc::clone(role)),
        ToolAnswer::Rules(_) => None,
    });
    let of_tools: Vec<Arc<str>> = of_tools.collect();
    let solves = (0..program.solves.len()).map(GraphRef::Solve);
    let mut sites = BTreeSet::new();
    for graph in solves.chain((0..program.scorers.len()).map(GraphRef::Score)) {
        for (_, placed) in linked.graph(graph).into_iter().flat_map(aigo_ir::graph::Graph::nodes) {
            let roles: &[Arc<str>] = match &placed.node {
                Node::Generate { role, .. } => std::slice::from_ref(role),
                Node::Tool { .. } => &of_tools,
                _ => &[],
            };
            sites.extend(roles.iter().map(|role| Site {
                graph: linked.graph_name(graph),
                node: Arc::clone(&placed.path),
                role: Arc::clone(role),
            }));
        }
    }
    sites.into_iter().collect()
}
