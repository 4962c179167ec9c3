//! `aigo run --coverage`: which steps of the task no conversation came to, and which ways it never took.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use aigo_ir::graph::{Graph, NodeId};
use aigo_ir::node::Port;
use aigo_ir::span::{Origin, SourceMap};
use aigo_log::Log;
use aigo_machine::{GraphRef, Linked, Taken};
use aigo_vm::RunError;

use super::drive;
use crate::out;

/// Tells it of a run that has just ended.
pub(crate) fn tell(run: &Path, linked: &Arc<Linked>, sources: &SourceMap) {
    let taken = Log::open(run).map_err(RunError::Log).and_then(|log| aigo_vm::coverage(&log, linked));
    match taken {
        Ok(taken) => out::note(text(linked, &taken, sources).trim_end()),
        Err(error) => {
            drive::fail(&error);
        }
    }
}

/// What was counted of all graphs.
#[derive(Default)]
struct Sums {
    nodes: (usize, usize),
    ways: (usize, usize),
    faults: usize,
}

/// By file, line and node: what never was.
type Never = BTreeMap<(usize, usize, String), BTreeSet<String>>;

fn text(linked: &Linked, taken: &BTreeSet<Taken>, sources: &SourceMap) -> String {
    let (mut never, mut sums) = (Never::new(), Sums::default());
    let solves = (0..linked.program.solves.len()).map(GraphRef::Solve);
    for graph in solves.chain((0..linked.program.scorers.len()).map(GraphRef::Score)) {
        of_graph(linked, graph, taken, sources, &mut never, &mut sums);
    }
    let Sums { nodes, ways, faults } = sums;
    let mut out = format!("coverage: {} of {} nodes, {} of {} ways out of them\n", nodes.0, nodes.1, ways.0, ways.1);
    for ((file, line, place), what) in &never {
        let name = sources.files().find(|(id, _)| sources.rank(*id) == *file).map_or("", |(_, source)| &*source.name);
        let what: Vec<&str> = what.iter().map(String::as_str).collect();
        let _ = writeln!(out, "  {name}:{line}  {place}: {}", what.join(", "));
    }
    if faults > 0 {
        let _ = writeln!(out, "  {faults} more nodes and ways are for faults, which did not happen");
    }
    out
}

/// The nodes that a graph comes to where no call and no answer has a fault.
fn without_faults(graph: &Graph) -> BTreeSet<NodeId> {
    let (mut found, mut next) = (BTreeSet::new(), Vec::from_iter(graph.entry()));
    while let Some(node) = next.pop() {
        if found.insert(node) {
            next.extend(graph.edges(node).filter(|(port, ..)| *port != Port::Bad).map(|(_, _, to)| to));
        }
    }
    found
}

fn of_graph(
    linked: &Linked,
    at: GraphRef,
    taken: &BTreeSet<Taken>,
    sources: &SourceMap,
    never: &mut Never,
    sums: &mut Sums,
) {
    let Some(graph) = linked.graph(at) else { return };
    let regular = without_faults(graph);
    let was = |node: NodeId, port: Option<Port>| taken.contains(&Taken { graph: at, node, port });
    for (node, placed) in graph.nodes() {
        // What the compiler adds of itself has no line, and nobody can do anything about it.
        let Origin(Some(span)) = placed.origin else { continue };
        let came = was(node, None);
        if !came && !regular.contains(&node) {
            sums.faults += 1;
            continue;
        }
        sums.nodes.1 += 1;
        sums.nodes.0 += usize::from(came);
        let place = (sources.rank(span.file), sources.position(span).line);
        let mut tell = |what: &str| {
            let name = format!("{} at {}", linked.graph_name(at), placed.path);
            never.entry((place.0, place.1, name)).or_default().insert(what.to_owned());
        };
        if !came {
            tell("never came to");
        }
        let ports: Vec<Port> = graph.edges(node).map(|(port, ..)| port).collect();
        for port in ports.iter().filter(|_| ports.len() > 1) {
            let went = was(node, Some(*port));
            sums.ways.1 += 1;
            sums.ways.0 += usize::from(went);
            match port {
                _ if went => {}
                Port::Bad => sums.faults += 1,
                _ if !came => {}
                Port::Yes => tell("never true"),
                Port::No => tell("never false"),
                Port::Body => tell("never gone into"),
                Port::Done => tell("never left"),
                Port::Ok | Port::Next => tell("never went well"),
            }
        }
    }
}
