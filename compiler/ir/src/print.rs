//! A program as text. `read(print(p)) == p`; the form changes by addition only.

mod check;
mod json;
mod node;
mod pretty;
mod role;
mod score;
mod tool;

pub(crate) use check::test;
pub use json::json;
pub use pretty::pretty;

use std::fmt::Write as _;
use std::sync::Arc;

use crate::gate::Decide;
use crate::graph::{Graph, Placed};
use crate::lines::Line;
use crate::node::{Jump, Node, Port, View};
use crate::program::{Limits, Program, Role, Scorer, Tool};
use crate::span::SourceMap;
use crate::template::Template;
use crate::value::Value;

/// The version of the text form.
pub const VERSION: u32 = 1;

/// The text without comments.
pub fn print(program: &Program) -> String {
    Printer::default().program(program)
}

/// The text without comments, the run's limits and the tags of scorers. The limits of a sample stay: they end it.
pub(crate) fn print_without_limits(program: &Program) -> String {
    let limits = Limits { sample: program.limits.sample.clone(), ..Limits::default() };
    let mut plain = Program { limits, ..program.clone() };
    plain.scorers.iter_mut().for_each(|scorer| scorer.tags.clear());
    print(&plain)
}

/// The text with the line of the task behind each node.
pub fn print_with_lines(program: &Program, sources: &SourceMap) -> String {
    Printer { sources: Some(sources), ..Printer::default() }.program(program)
}

/// The text of one role.
pub fn role(role: &Role) -> String {
    let mut printer = Printer::default();
    printer.role(role);
    printer.out
}

/// The text of one tool.
pub fn tool(tool: &Tool) -> String {
    let mut printer = Printer::default();
    printer.tool(tool);
    printer.out
}

/// The text of how a scorer computes its verdicts: without its tags, and without the prompts of its judges.
pub fn scoring(scorer: &Scorer) -> String {
    let mut printer = Printer { without_prompts: true, ..Printer::default() };
    printer.scorer(&Scorer { tags: Vec::new(), ..scorer.clone() });
    printer.out
}

/// The text of whom a node asks and what it shows, without its prompts.
pub fn asking(node: &Node) -> String {
    let mut line = Line::new(0, node.word());
    node::node(&without_prompts(node), &mut line);
    line.end().to_owned()
}

#[derive(Default)]
struct Printer<'s> {
    out: String,
    sources: Option<&'s SourceMap>,
    /// Whether prompts are left out.
    without_prompts: bool,
}

/// A node whose prompts are empty.
fn without_prompts(node: &Node) -> Node {
    let mut node = node.clone();
    if let Node::Generate { view, .. } = &mut node {
        match view {
            View::Chat { system, opening } => (*system, *opening) = (None, None),
            View::Text { system, question, .. } => (*system, *question) = (None, Template::new("")),
        }
    }
    node
}

impl Printer<'_> {
    fn line(&mut self, line: &Line) {
        self.out.push_str(line.end());
        self.out.push('\n');
    }

    fn open(&mut self, line: &mut Line) {
        line.word("{");
        self.line(line);
    }

    fn close(&mut self, indent: usize) {
        let _ = writeln!(self.out, "{}}}", "  ".repeat(indent));
    }

    fn program(mut self, program: &Program) -> String {
        let _ = writeln!(self.out, "aigo-ir {VERSION}\n");
        self.open(Line::new(0, "program").text(&program.name));
        self.line(Line::new(1, "seed").word(&program.seed.to_string()));
        self.line(Line::new(1, "epochs").word(&program.epochs.to_string()));
        self.limits(&program.limits);
        for (name, version) in &program.library {
            self.line(Line::new(1, "library").text(name).pair_word("version", version));
        }
        for persona in &program.personas {
            let texts = |texts: &[Arc<str>]| Value::list(texts.iter().map(|text| Value::Str(text.clone())).collect());
            let mut line = Line::new(1, "persona");
            line.text(&persona.name).pair_value("must", &texts(&persona.must));
            self.line(line.pair_value("probes", &texts(&persona.probes)));
        }
        if let Some(state) = &program.state {
            self.line(Line::new(1, "state").word(&format!("@{}", state.to_json())));
        }
        for field in &program.fields {
            self.line(Line::new(1, "field").text(&field.name).pair("type", &field.ty.to_string()));
        }
        self.close(0);
        for role in &program.roles {
            self.out.push('\n');
            self.role(role);
        }
        for tool in &program.tools {
            self.tool(tool);
        }
        self.calls("setup", &program.setup);
        self.calls("teardown", &program.teardown);
        for graph in &program.solves {
            self.out.push('\n');
            self.open(Line::new(0, "solve").text(&graph.name));
            self.graph(graph);
            self.close(0);
        }
        for scorer in &program.scorers {
            self.out.push('\n');
            self.scorer(scorer);
        }
        for gate in &program.gates {
            let mut line = Line::new(0, "gate");
            line.text(&gate.text()).pair_word("min_n", gate.min_n).pair_number("max_missing", gate.max_missing);
            if gate.decide != Decide::Point {
                line.pair_word("decide", gate.decide.word());
            }
            self.line(&line);
        }
        self.out
    }

    fn graph(&mut self, graph: &Graph) {
        for field in &graph.fields {
            self.line(Line::new(1, "field").text(&field.name).pair("type", &field.ty.to_string()));
        }
        for slot in &graph.slots {
            self.line(Line::new(1, "slot").text(&slot.name).pair("type", &slot.ty.to_string()));
        }
        // Nodes are numbered headers first, so one pass with a stack of open regions prints the braces.
        let mut open: Vec<crate::graph::NodeId> = Vec::new();
        for (id, placed) in graph.nodes() {
            while open.last().copied() != placed.region && open.pop().is_some() {
                self.close(open.len() + 1);
            }
            let mut line = Line::new(open.len() + 1, &format!("n{}", id.0));
            line.text(&placed.path).word(placed.node.word());
            if self.without_prompts {
                node::node(&without_prompts(&placed.node), &mut line);
            } else {
                node::node(&placed.node, &mut line);
            }
            for (port, jump, to) in graph.edges(id) {
                match jump {
                    // The first node of the block is where `body` leads.
                    Jump::On if port == Port::Body => &mut line,
                    Jump::On => line.pair_word(port.word(), format!("n{}", to.0)),
                    Jump::Again => line.pair_word(port.word(), "again"),
                    Jump::Break => line.pair_word(port.word(), "break"),
                };
            }
            if placed.node.is_header() {
                line.word("{");
                open.push(id);
            }
            self.comment(placed, &mut line);
            self.line(&line);
        }
        while open.pop().is_some() {
            self.close(open.len() + 1);
        }
    }

    fn comment(&self, placed: &Placed, line: &mut Line) {
        if let (Some(sources), Some(span)) = (self.sources, placed.origin.0)
            && let Some(file) = sources.get(span.file)
        {
            let name = crate::text::printable(&file.name.replace('\n', " "));
            line.word(&format!("  # {name}:{}", sources.position(span).line));
        }
    }
}
