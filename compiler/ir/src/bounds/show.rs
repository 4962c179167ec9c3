//! Bounds as a table for people and as JSON.

use std::fmt::Write as _;

use super::{
    Bounds, CALLS_OF_A_REPLY, Count, Figure, LABEL_TOKENS, Longest, MESSAGE_TOKENS, OfGraph, OfRole, TOKEN_BYTES,
};
use crate::text::printable;
use crate::value::Value;

/// What the estimate takes for granted.
pub(super) fn assumptions(roles: &[OfRole], guessed: bool, of_calls: bool) -> Vec<String> {
    let mut out = vec![
        format!(
            "{TOKEN_BYTES} bytes of text are a token; a message adds {MESSAGE_TOKENS}, in what judges read {LABEL_TOKENS} for its label"
        ),
        "each prompt holds the whole history, texts and fields as long as the longest; nothing is read from a cache"
            .to_owned(),
        "each call is billed once: what a provider bills for an attempt that failed is not in it".to_owned(),
    ];
    for role in roles {
        let (name, n) = (&role.name, grouped(role.longest.0));
        match role.longest.1 {
            Longest::Assumed => {
                out.push(format!("`{name}` has no limit of tokens: {n} are taken for each of its answers"));
            }
            Longest::Limit => {}
            Longest::Rules => out.push(format!("`{name}` is scripted: {n} tokens are its longest answer")),
        }
    }
    if guessed {
        out.push("a value that only the run knows is as long as the longest answer".to_owned());
    }
    if of_calls {
        out.push(format!(
            "a reply calls {CALLS_OF_A_REPLY} tools; nothing bounds how many it may, so calls that roles answer as tools have no bound"
        ));
    }
    out
}

/// A number with its thousands apart.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn shown(n: Count) -> String {
    n.map_or_else(|| "no bound".to_owned(), grouped)
}

/// Money for people: cents, or three significant digits of what is less than a dollar.
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 {
        return "less than 0.01 USD".to_owned();
    }
    let cents = (usd * 100.0).ceil();
    let whole = (cents / 100.0).floor();
    if whole < 9e15 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 9e15")]
        let whole = whole as u64;
        let rest = cents - (cents / 100.0).floor() * 100.0;
        return format!("{}.{rest:02.0} USD", grouped(whole));
    }
    format!("{usd:e} USD")
}

/// A table: the first column to the left, numbers to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let _ = if at == 0 { write!(line, "  {cell}{pad}") } else { write!(line, "   {pad}{cell}") };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// So many of something: `1 cluster`, `1,200 clusters`.
pub fn plural(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(n)) }
}

impl Bounds {
    /// The conversations of the run.
    pub const fn conversations(&self) -> u64 {
        self.samples.saturating_mul(self.epochs as u64)
    }

    /// The tables, for people. Texts of the task are made safe to print.
    pub fn text(&self) -> String {
        let conversations = plural(self.conversations(), "conversation");
        let mut out = format!(
            "{}: {} in {}: {conversations}\n\n",
            crate::text::excerpt(&self.name, 60),
            plural(self.samples, "sample"),
            plural(u64::from(self.epochs), "epoch")
        );
        let word = if self.exact { "at most, and some run can make as many" } else { "at most" };
        let _ = writeln!(out, "calls, {word}");
        let mut rows = vec![row(["", "in all", "a conversation"])];
        for role in &self.roles {
            rows.push(vec![name(&role.name), shown(role.calls.in_all), shown(role.calls.a_sample)]);
        }
        if self.roles.len() > 1 {
            rows.push(vec!["all".to_owned(), shown(self.calls.in_all), shown(self.calls.a_sample)]);
        }
        out.push_str(&table(&rows));
        if self.around > 0 {
            let _ = writeln!(out, "  and {} of `setup` and `teardown` around each", plural(self.around, "request"));
        }
        out.push_str("\ncalls of each graph in one conversation, at most\n");
        out.push_str(&self.graph_table());
        out.push_str("\ntokens and money, an estimate of the worst case in all\n");
        let mut rows = vec![row(["", "prompts", "answers", "cost", "played by"])];
        for role in &self.roles {
            let cost = match (role.price, role.cost_usd) {
                (None, _) => "-".to_owned(),
                (_, None) => "no bound".to_owned(),
                (_, Some(cost)) => dollars(cost),
            };
            rows.push(vec![
                name(&role.name),
                shown(role.prompts.in_all),
                shown(role.answers.in_all),
                cost,
                printable(&role.player),
            ]);
        }
        out.push_str(&table(&rows));
        if let Some(cost) = self.cost_usd {
            let _ = writeln!(out, "  {} at most{}", dollars(cost), self.but());
        } else if self.roles.iter().any(|role| role.price.is_some()) {
            out.push_str("  the cost has no bound\n");
        } else if !self.unpriced.is_empty() {
            let _ =
                writeln!(out, "  no model has a price: give each `price: {{input, output}}` in USD per million tokens");
        }
        out.push_str("\nassumed for the estimate\n");
        for assumption in &self.assumptions {
            let _ = writeln!(out, "  - {}", printable(assumption));
        }
        out
    }

    fn but(&self) -> String {
        let names: Vec<String> = self.unpriced.iter().map(|name| format!("`{}`", printable(name))).collect();
        if names.is_empty() { String::new() } else { format!(", without {}, which has no price", names.join(", ")) }
    }

    fn graph_table(&self) -> String {
        let mut rows = vec![row(["", "samples", "turns", "calls", ""])];
        for graph in &self.graphs {
            let kind = if graph.scores { "score" } else { "solve" };
            let turns = if graph.scores { String::new() } else { shown(graph.turns) };
            rows.push(vec![
                format!("{kind} {}", name(&graph.name)),
                grouped(graph.samples),
                turns,
                shown(graph.all),
                graph
                    .calls
                    .iter()
                    .map(|(role, n)| format!("{} {}", shown(*n), name(role)))
                    .collect::<Vec<_>>()
                    .join(", "),
            ]);
        }
        // The last column is words, to the left.
        let widest = rows.iter().filter_map(|row| row.last()).map(|cell| cell.chars().count()).max().unwrap_or(0);
        for cell in rows.iter_mut().filter_map(|row| row.last_mut()) {
            *cell = format!("{cell}{}", " ".repeat(widest - cell.chars().count()));
        }
        table(&rows)
    }

    /// The same as a value: what `--format json` prints. Null stands for no bound.
    pub fn to_value(&self) -> Value {
        let text = |text: &str| Value::str(text);
        let roles = self.roles.iter().map(|role| {
            Value::map([
                ("name", text(&role.name)),
                ("player", text(&role.player)),
                ("calls", figure(role.calls)),
                ("prompt_tokens", figure(role.prompts)),
                ("answer_tokens", figure(role.answers)),
                ("longest_answer", number(Some(role.longest.0))),
                ("cost_usd", money(role.cost_usd)),
            ])
        });
        Value::map([
            ("name", text(&self.name)),
            ("samples", number(Some(self.samples))),
            ("epochs", number(Some(u64::from(self.epochs)))),
            ("conversations", number(Some(self.conversations()))),
            ("calls", figure(self.calls)),
            ("exact", Value::Bool(self.exact)),
            ("roles", Value::list(roles.collect())),
            ("graphs", Value::list(self.graphs.iter().map(graph).collect())),
            ("around", number(Some(self.around))),
            ("cost_usd", money(self.cost_usd)),
            ("unpriced", Value::list(self.unpriced.iter().map(|name| text(name)).collect())),
            ("assumptions", Value::list(self.assumptions.iter().map(|line| text(line)).collect())),
        ])
    }
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

fn name(name: &str) -> String {
    crate::text::excerpt(name, 40)
}

fn number(n: Count) -> Value {
    n.map_or(Value::Null, |n| Value::Int(i64::try_from(n).unwrap_or(i64::MAX)))
}

fn money(usd: Option<f64>) -> Value {
    usd.and_then(Value::float).unwrap_or_default()
}

fn figure(figure: Figure) -> Value {
    Value::map([("a_conversation", number(figure.a_sample)), ("in_all", number(figure.in_all))])
}

fn graph(graph: &OfGraph) -> Value {
    let mut pairs = vec![
        ("kind", Value::str(if graph.scores { "score" } else { "solve" })),
        ("name", Value::str(&*graph.name)),
        ("samples", number(Some(graph.samples))),
    ];
    if !graph.scores {
        pairs.push(("turns", number(graph.turns)));
    }
    let calls = graph.calls.iter().map(|(role, n)| (role.clone(), number(*n)));
    pairs.push(("calls", number(graph.all)));
    pairs.push(("roles", Value::map(calls)));
    Value::map(pairs)
}
