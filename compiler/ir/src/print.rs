//! A program as text. `read(print(p)) == p`; the form changes by addition only.

use std::fmt::Write as _;

use crate::expr::Expr;
use crate::graph::{Graph, Placed};
use crate::lines::Line;
use crate::node::{Bound, Jump, Node, Port, Said, Unit, View};
use crate::program::{Answer, ChatModel, Limits, Player, Program, Role, Rule, Scorer};
use crate::schema::Schema;
use crate::span::SourceMap;
use crate::value::Value;
use crate::verdict::Scale;

/// The version of the text form.
pub const VERSION: u32 = 1;

/// The text without comments.
pub fn print(program: &Program) -> String {
    Printer { out: String::new(), sources: None }.program(program)
}

/// The text without comments and the run's limits.
pub(crate) fn print_without_limits(program: &Program) -> String {
    print(&Program { limits: Limits::default(), ..program.clone() })
}

/// The text with the line of the task behind each node.
pub fn print_with_lines(program: &Program, sources: &SourceMap) -> String {
    Printer { out: String::new(), sources: Some(sources) }.program(program)
}

/// The text of one role.
pub fn role(role: &Role) -> String {
    let mut printer = Printer { out: String::new(), sources: None };
    printer.role(role);
    printer.out
}

struct Printer<'s> {
    out: String,
    sources: Option<&'s SourceMap>,
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
        for field in &program.fields {
            self.line(Line::new(1, "field").text(&field.name).pair("type", &field.ty.to_string()));
        }
        self.close(0);
        for role in &program.roles {
            self.out.push('\n');
            self.role(role);
        }
        for tool in &program.tools {
            self.line(Line::new(0, "tool").text(&tool.name).pair("role", &tool.role));
        }
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
            self.line(&line);
        }
        self.out
    }

    fn role(&mut self, role: &Role) {
        match &role.player {
            Player::Scripted(rules) => {
                self.open(Line::new(0, "role").text(&role.name).word("scripted"));
                for rule in rules {
                    self.rule(rule);
                }
            }
            Player::Chat(model) => {
                self.open(Line::new(0, "role").text(&role.name).word("chat"));
                self.model(model);
            }
        }
        self.close(0);
    }

    fn limits(&mut self, limits: &Limits) {
        let mut line = Line::new(1, "limits");
        if let Some(calls) = limits.calls {
            line.pair_word("calls", calls);
        }
        if let Some(time_s) = limits.time_s {
            line.pair_word("time_s", time_s);
        }
        if *limits != Limits::default() {
            self.line(&line);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let mut line = Line::new(1, "rule");
        if let Some(when) = &rule.when {
            line.pair("when", &when.to_string());
        }
        match &rule.answer {
            Answer::Say { text, status } => {
                line.pair("say", &text.source);
                if let Some(status) = status {
                    line.pair_word("status", status);
                }
            }
            Answer::AnyOf(texts) => {
                self.open(line.word("any_of"));
                for (text, weight) in texts {
                    self.line(Line::new(2, "choice").text(&text.source).pair_word("weight", weight));
                }
                return self.close(1);
            }
            Answer::Verdict(shape) => {
                line.pair_value("verdict", shape);
            }
            Answer::Fault(status) => {
                line.pair_word("fault", status);
            }
        }
        self.line(&line);
    }

    fn model(&mut self, model: &ChatModel) {
        let mut line = Line::new(1, "model");
        line.text(&model.model).pair_word("dialect", model.dialect.word()).pair("endpoint", &model.endpoint);
        line.pair("base_url", &model.base_url);
        if let Some(name) = &model.api_key {
            line.pair("api_key", name);
        }
        self.line(&line);
        for (name, value) in &model.parameters {
            self.line(Line::new(1, "parameter").text(name).word(&format!("@{}", value.to_json())));
        }
        if let Some((input, output)) = model.price {
            self.line(Line::new(1, "price").pair_number("input", input).pair_number("output", output));
        }
    }

    fn scorer(&mut self, scorer: &Scorer) {
        let mut line = Line::new(0, "score");
        line.text(&scorer.name);
        match &scorer.scale {
            Scale::Labels(labels) => {
                let value =
                    Value::map(labels.iter().map(|(label, x)| (label.clone(), Value::float(*x).unwrap_or_default())));
                line.pair_value("labels", &value);
            }
            plain => {
                line.pair_word("scale", plain);
            }
        }
        line.pair_number("pass", scorer.pass);
        if let Some(over) = scorer.over {
            line.pair_word("over", over.word());
        }
        line.pair_word("evidence", scorer.evidence.word());
        match &scorer.graph {
            Some(graph) => {
                self.open(&mut line);
                self.graph(graph);
                self.close(0);
            }
            None => self.line(&line),
        }
    }

    fn graph(&mut self, graph: &Graph) {
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
            node(&placed.node, &mut line);
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

fn node(node: &Node, line: &mut Line) {
    match node {
        Node::Append { author, audience, said } => {
            line.pair("author", author);
            append(audience.as_deref(), said, line);
        }
        Node::Generate { role, view: shown, schema: wanted, tools, into } => {
            line.pair("role", role);
            view(shown, line);
            if let Some(wanted) = wanted {
                schema(wanted, line);
            }
            if *tools {
                line.word("tools");
            }
            line.pair("into", into);
        }
        Node::Branch { when } => {
            line.pair("when", &when.to_string());
        }
        Node::Loop { bound: Bound::Times(times), counter } => {
            line.pair_word("times", times).pair("counter", counter);
        }
        Node::Loop { bound: Bound::Items { list, item, cap }, counter } => {
            line.pair("in", &list.to_string()).pair("item", item).pair_word("cap", cap).pair("counter", counter);
        }
        Node::Map { list, item, cap, give, into } => {
            line.pair("in", &list.to_string())
                .pair("item", item)
                .pair_word("cap", cap)
                .pair("give", give)
                .pair("into", into);
        }
        Node::Let { into, value } => {
            line.pair("into", into).pair("value", &value.to_string());
        }
        Node::Parse { from, schema: wanted, into } => {
            line.pair("from", from);
            schema(wanted, line);
            line.pair("into", into);
        }
        Node::Check { kind, negated, wanted, text, author, turn, into } => {
            line.pair(kind.word_of(*negated), &wanted.source)
                .pair("text", &text.to_string())
                .pair("author", author)
                .pair("turn", &turn.to_string())
                .pair("into", into);
        }
        Node::Tool { call, into } => {
            line.pair("call", call).pair("into", into);
        }
        Node::Reduce { from, reducer, into } => {
            line.pair("from", from).pair_word("by", reducer.word()).pair("into", into);
        }
        Node::Score { scorer, unit, from } => {
            line.pair("scorer", scorer);
            if let Unit::Turn(turn) = unit {
                line.pair("turn", &turn.to_string());
            }
            line.pair("from", from);
        }
        Node::Exit { ending } => {
            line.word(ending.word());
        }
    }
}

fn append(audience: Option<&str>, said: &Said, line: &mut Line) {
    if let Some(audience) = audience {
        line.pair("for", audience);
    }
    match said {
        Said::Template(template) => line.pair("say", &template.source),
        Said::Text(expr) => line.pair("text", &expr.to_string()),
        Said::Reply(slot) => line.pair("reply", slot),
    };
}

fn view(view: &View, line: &mut Line) {
    let template = |line: &mut Line, key: &str, text: &Option<crate::template::Template>| {
        if let Some(text) = text {
            line.pair(key, &text.source);
        }
    };
    match view {
        View::Chat { system, opening } => {
            line.pair_word("view", "chat");
            template(line, "system", system);
            template(line, "opening", opening);
        }
        View::Text { system, question, up_to, window } => {
            line.pair_word("view", "text");
            template(line, "system", system);
            line.pair("question", &question.source);
            if let Some(turn) = up_to.as_ref().map(Expr::to_string) {
                line.pair("up_to", &turn);
            }
            if let Some(window) = window {
                line.pair_word("window", window);
            }
        }
    }
}

fn schema(schema: &Schema, line: &mut Line) {
    match schema {
        Schema::UserTurn => line.pair_word("schema", "user_turn"),
        Schema::Verdict(scorer) => line.pair_word("schema", "verdict").pair("of", scorer),
    };
}
