//! The JSON of a program has everything that its text form has: each text, word and value, as often.

use std::collections::BTreeMap;

use aigo_ir::lines::{self, Item, Statement};
use aigo_ir::node::Port;
use aigo_ir::print;
use aigo_ir::span::SourceMap;
use aigo_ir::value::Value;

use crate::properties::programs::program;

#[test]
fn the_json_of_a_program_is_the_whole_program() {
    for seed in 0..300 {
        let program = program(seed, 8);
        let json = print::json(&program, &SourceMap::default());
        assert!(!json.chars().any(|c| c != '\n' && aigo_ir::text::is_dangerous(c)));
        let value: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let graphs = ["solves", "scorers"]
            .into_iter()
            .flat_map(|key| value.get(key).and_then(Value::as_list).unwrap_or_default());
        let nodes = graphs.filter_map(|graph| graph.get("nodes").and_then(Value::as_list)).flatten();
        let (mut count, mut edges) = (0, 0);
        for node in nodes {
            count += 1;
            edges += node.get("edges").map_or(0, |edges| if let Value::Map(edges) = edges { edges.len() } else { 0 });
        }
        let of_program =
            || program.graphs().flat_map(|graph| graph.nodes().map(move |(id, _)| graph.edges(id).count()));
        assert_eq!((count, edges), (of_program().count(), of_program().sum::<usize>()), "seed {seed}");
        let mut found = BTreeMap::new();
        leaves(&value, &mut found);
        let mut wanted = BTreeMap::new();
        for statement in lines::read(&print::print(&program)).unwrap().iter().skip(1) {
            said(statement, &mut wanted);
        }
        for (leaf, times) in wanted {
            assert!(found.get(&leaf).is_some_and(|found| *found >= times), "seed {seed}: {leaf}, {times} times");
        }
    }
}

type Leaves = BTreeMap<String, usize>;

/// What is in a value, without its keys.
fn leaves(value: &Value, out: &mut Leaves) {
    match value {
        Value::List(items) => items.iter().for_each(|item| leaves(item, out)),
        Value::Map(map) => map.iter().for_each(|(_, item)| leaves(item, out)),
        plain => *out.entry(plain.to_json()).or_default() += 1,
    }
}

/// What a statement says: the first word is its kind, and edges lead to numbers.
fn said(statement: &Statement, out: &mut Leaves) {
    let is_node = matches!(statement.items.as_slice(), [Item::Word(_), Item::Text(_), Item::Word(kind), ..] if kind != "scripted" && kind != "chat" && kind != "http" && kind != "command");
    let is_port = |key: &str| is_node && Port::ALL.iter().any(|port| port.word() == key);
    let pairs = statement.pairs.iter().filter(|(key, _)| !is_port(key)).map(|(_, value)| value);
    for item in statement.items.iter().skip(1).chain(pairs) {
        match item {
            Item::Text(text) => leaves(&Value::str(text.as_str()), out),
            Item::Value(value) => leaves(value, out),
            Item::Word(word) => {
                let number = word.parse().map(Value::Int);
                leaves(&number.unwrap_or_else(|_| Value::str(word.as_str())), out);
            }
        }
    }
    for inner in statement.block.iter().flatten() {
        said(inner, out);
    }
}
