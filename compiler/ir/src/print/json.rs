//! A program as JSON: what the text form says, statement by statement, with the graphs' nodes in lists. `spec/ir.md` has the
//! keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{Graph, NodeId};
use crate::lines::{self, Item, Statement};
use crate::node::Port;
use crate::program::Program;
use crate::span::{Origin, SourceMap};
use crate::value::Value;

/// The statements that can come more than once, and the key of their list.
const LISTS: [(&str, &str); 19] = [
    ("role", "roles"),
    ("tool", "tools"),
    ("setup", "setup"),
    ("teardown", "teardown"),
    ("solve", "solves"),
    ("score", "scorers"),
    ("gate", "gates"),
    ("library", "library"),
    ("persona", "personas"),
    ("field", "fields"),
    ("slot", "slots"),
    ("rule", "rules"),
    ("choice", "choices"),
    ("call", "calls"),
    ("chunk", "context"),
    ("parameter", "parameters"),
    ("header", "headers"),
    ("env", "env"),
    ("param", "params"),
];
/// How many of them, from the first, are the program's own.
const OUTERMOST: usize = 7;
/// How long a line may be.
const WIDTH: usize = 120;
/// `set` of a tool is one too, and has two texts.
const SET: &str = "set";

/// The program as one JSON object, over several lines. Nothing in it can drive a terminal.
pub fn json(program: &Program, sources: &SourceMap) -> String {
    // The text form has everything, so what is made of it has, too.
    let statements = lines::read(&super::print(program)).unwrap_or_default();
    let mut pairs = vec![("aigo_ir".to_owned(), Value::Int(i64::from(super::VERSION)))];
    // What is not in the program is an empty list, so that a reader need not ask.
    let empty = |(_, list): &(&str, &str)| ((*list).to_owned(), Value::list(Vec::new()));
    pairs.extend(LISTS.iter().take(OUTERMOST).map(empty));
    let mut graphs = Graphs { solves: program.solves.iter(), scores: program.scorers.iter(), sources };
    for statement in statements.iter().skip(1) {
        let word = word_of(statement);
        let graph = match word {
            "solve" => graphs.solves.next(),
            "score" => graphs.scores.next().and_then(|scorer| scorer.graph.as_ref()),
            _ => None,
        };
        let value = match graph {
            Some(graph) => of_graph(statement, graph, graphs.sources),
            None => object(statement),
        };
        put(&mut pairs, word, value);
    }
    super::pretty(&Value::map(pairs), WIDTH)
}

struct Graphs<'p> {
    solves: std::slice::Iter<'p, Graph>,
    scores: std::slice::Iter<'p, crate::program::Scorer>,
    sources: &'p SourceMap,
}

fn word_of(statement: &Statement) -> &str {
    match statement.items.first() {
        Some(Item::Word(word)) => word,
        _ => "",
    }
}

/// Puts a statement where it belongs: into the list of its kind, or under its own word.
fn put(pairs: &mut Vec<(String, Value)>, word: &str, value: Value) {
    let list =
        if word == SET { Some(SET) } else { LISTS.iter().find(|(known, _)| *known == word).map(|(_, list)| *list) };
    let Some(list) = list else {
        pairs.push((word.to_owned(), value));
        return;
    };
    match pairs.iter_mut().find(|(key, _)| key == list) {
        Some((_, Value::List(items))) => Arc::make_mut(items).push(value),
        _ => pairs.push((list.to_owned(), Value::list(vec![value]))),
    }
}

/// A word as the value that it writes.
fn plain(word: &str) -> Value {
    if let Ok(n) = word.parse::<i64>() {
        return Value::Int(n);
    }
    Value::str(word)
}

fn item(item: &Item) -> Value {
    match item {
        Item::Word(word) => plain(word),
        Item::Text(text) => Value::str(text.as_str()),
        Item::Value(value) => value.clone(),
    }
}

/// Texts, words and values without a key, then the pairs. A statement of one such item is that item; one of nothing but its
/// word is true.
fn object(statement: &Statement) -> Value {
    let mut pairs = head(statement);
    pairs.extend(statement.pairs.iter().map(|(key, value)| (key.clone(), item(value))));
    for inner in statement.block.iter().flatten() {
        put(&mut pairs, word_of(inner), object(inner));
    }
    match (pairs.as_slice(), &statement.block) {
        ([], None) => Value::Bool(true),
        ([(key, only)], None) if key == "value" || key == "word" || key == "name" => only.clone(),
        _ => Value::map(pairs),
    }
}

fn head(statement: &Statement) -> Vec<(String, Value)> {
    let mut pairs: Vec<(String, Value)> = Vec::new();
    let mut words = Vec::new();
    for one in statement.items.iter().skip(1) {
        match one {
            Item::Text(text) => pairs.push(("name".to_owned(), Value::str(text.as_str()))),
            Item::Value(value) => pairs.push(("value".to_owned(), value.clone())),
            Item::Word(word) => words.push(plain(word)),
        }
    }
    match words.len() {
        0 => {}
        1 => pairs.extend(words.pop().map(|word| ("word".to_owned(), word))),
        _ => pairs.push(("words".to_owned(), Value::list(words))),
    }
    pairs
}

/// A graph: what its statement says, its slots, its nodes in order.
fn of_graph(statement: &Statement, graph: &Graph, sources: &SourceMap) -> Value {
    let mut pairs = head(statement);
    pairs.extend(statement.pairs.iter().map(|(key, value)| (key.clone(), item(value))));
    let mut nodes = BTreeMap::new();
    for inner in statement.block.iter().flatten() {
        match word_of(inner) {
            "slot" | "field" => put(&mut pairs, word_of(inner), object(inner)),
            _ => collect(inner, &mut nodes),
        }
    }
    let of_node = |(id, placed): (NodeId, &crate::graph::Placed)| {
        let statement = nodes.get(&format!("n{}", id.0)).copied();
        node(id, placed, statement, graph, sources)
    };
    pairs.push(("nodes".to_owned(), Value::list(graph.nodes().map(of_node).collect())));
    Value::map(pairs)
}

/// The statements of all nodes by their names.
fn collect<'s>(statement: &'s Statement, nodes: &mut BTreeMap<String, &'s Statement>) {
    nodes.insert(word_of(statement).to_owned(), statement);
    for inner in statement.block.iter().flatten() {
        collect(inner, nodes);
    }
}

fn node(
    id: NodeId,
    placed: &crate::graph::Placed,
    statement: Option<&Statement>,
    graph: &Graph,
    sources: &SourceMap,
) -> Value {
    let number = |id: NodeId| Value::Int(i64::from(id.0));
    let is_port = |key: &str| Port::ALL.iter().any(|port| port.word() == key);
    let mut operands: Vec<(String, Value)> = Vec::new();
    if let Some(statement) = statement {
        // Behind the kind stand single words: that tools are offered, how it ends.
        let words: Vec<Value> = statement.items.iter().skip(3).map(item).collect();
        if !words.is_empty() {
            operands.push(("words".to_owned(), Value::list(words)));
        }
        let pairs = statement.pairs.iter().filter(|(key, _)| !is_port(key));
        operands.extend(pairs.map(|(key, value)| (key.clone(), item(value))));
    }
    let edges = graph.edges(id).map(|(port, jump, to)| {
        let target = match jump {
            crate::node::Jump::On => number(to),
            crate::node::Jump::Again => Value::str("again"),
            crate::node::Jump::Break => Value::str("break"),
        };
        (port.word(), target)
    });
    Value::map([
        ("id", number(id)),
        ("path", Value::Str(placed.path.clone())),
        ("is", Value::str(placed.node.word())),
        ("region", placed.region.map_or(Value::Null, number)),
        ("at", place(placed.origin, sources)),
        ("operands", Value::map(operands)),
        ("edges", Value::map(edges)),
    ])
}

/// Where the task says so: `{file, line}`.
fn place(origin: Origin, sources: &SourceMap) -> Value {
    let found = origin.0.and_then(|span| Some((sources.get(span.file)?, sources.position(span).line)));
    found.map_or(Value::Null, |(file, line)| {
        let line = Value::Int(i64::try_from(line).unwrap_or(i64::MAX));
        Value::map([("file", Value::str(file.name.as_str())), ("line", line)])
    })
}
