//! Every node of every graph, for Graphviz: regions are clusters.

use std::fmt::Write as _;

use super::{place, words};
use crate::graph::{Graph, NodeId};
use crate::node::{Jump, Node};
use crate::program::Program;
use crate::span::SourceMap;
use crate::text::{excerpt, printable};

/// The program's graphs as one digraph.
pub fn dot(program: &Program, sources: &SourceMap) -> String {
    let mut out = String::from("digraph aigo {\n");
    let _ = writeln!(out, "  label={};\n  labelloc=t;", quoted(&program.name));
    out.push_str("  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    let solves = program.solves.iter().map(|graph| ("solve", graph));
    let scores = program.scorers.iter().filter_map(|scorer| Some(("score", scorer.graph.as_ref()?)));
    for (at, (kind, graph)) in solves.chain(scores).enumerate() {
        let _ = writeln!(out, "  subgraph cluster_g{at} {{\n    label={};", quoted(&format!("{kind} {}", graph.name)));
        graph_of(graph, at, sources, &mut out);
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn graph_of(graph: &Graph, at: usize, sources: &SourceMap, out: &mut String) {
    // Headers come before their regions, so one pass with a stack opens and closes the clusters.
    let mut open: Vec<NodeId> = Vec::new();
    let close = |open: &mut Vec<NodeId>, out: &mut String| {
        open.pop();
        let _ = writeln!(out, "{}}}", "  ".repeat(open.len() + 2));
    };
    for (id, placed) in graph.nodes() {
        while open.last().copied() != placed.region && !open.is_empty() {
            close(&mut open, out);
        }
        let indent = "  ".repeat(open.len() + 2);
        let said = words::of(&placed.node);
        let mut label = excerpt(&said.title, 60);
        for line in &said.lines {
            label.push('\n');
            label.push_str(&excerpt(line, 60));
        }
        let shape = match &placed.node {
            Node::Branch { .. } => ", shape=diamond, style=solid",
            Node::Exit { .. } => ", shape=oval, style=solid",
            _ => "",
        };
        let link = place(placed.origin, sources).map_or_else(String::new, |place| {
            format!(", URL={}, tooltip={}", quoted(&place.href), quoted(&place.line))
        });
        let _ = writeln!(out, "{indent}g{at}_n{} [label={}{shape}{link}];", id.0, quoted(&label));
        if placed.node.is_header() {
            let _ = writeln!(out, "{indent}subgraph cluster_g{at}_n{} {{", id.0);
            let title = quoted(&words::repeats(&placed.node));
            let _ = writeln!(out, "{indent}  label={title}; style=dashed;");
            open.push(id);
        }
    }
    while !open.is_empty() {
        close(&mut open, out);
    }
    for (id, _) in graph.nodes() {
        for (port, jump, to) in graph.edges(id) {
            let (label, style) = match jump {
                Jump::On => (port.word().to_owned(), ""),
                Jump::Again => (format!("{} again", port.word()), ", style=dashed, constraint=false"),
                Jump::Break => (format!("{} break", port.word()), ", style=dashed"),
            };
            let label = label.trim_start_matches("next").trim().to_owned();
            let _ = writeln!(out, "    g{at}_n{} -> g{at}_n{} [label={}{style}];", id.0, to.0, quoted(&label));
        }
    }
}

/// A text as Graphviz takes it: lines end in `\l`, which puts them to the left.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let text = printable(text);
    let several = text.contains('\n');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            c => out.push(c),
        }
    }
    out.push_str(if several { "\\l\"" } else { "\"" });
    out
}
