//! The tables and examples of `spec/language.md` are those of the code.

use std::sync::Arc;

use aigo_compiler::shape::{self, Construct, Required};
use aigo_ir::check::{self, KEYWORDS, Measure};
use aigo_ir::eval::eval;
use aigo_ir::expr::{Function, Test};
use aigo_ir::expr_parse;
use aigo_ir::gate::{self, AGGREGATES};
use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::node::{Ending, Node, View};
use aigo_ir::reduce::Reducer;
use aigo_ir::typing;
use aigo_ir::verdict::{EvidenceRule, Outcome};
use aigo_machine::{Sample, Snapshot};

use super::page::Page;
use super::{between, column, source, surroundings};

const CONSTRUCTS: &[&Construct] = &[
    &shape::TASK,
    &shape::LIMITS,
    &shape::SAMPLE_LIMITS,
    &shape::LIBRARY,
    &shape::DEFINE,
    &shape::DEFINED_SOLVERS,
    &shape::DEFINED_SCORER,
    &shape::PARAM,
    &shape::PERSONA,
    &shape::SCENARIO,
    &shape::WORLD,
    &shape::TOOL,
    &shape::TOOL_FAULT,
    &shape::SUITE,
    &shape::SUBSET,
    &shape::SAID,
    &shape::FOR_EACH,
    &shape::ROLE,
    &shape::HTTP,
    &shape::REPLY,
    &shape::SESSION,
    &shape::SECRET,
    &shape::HEADER,
    &shape::PRICE,
    &shape::CALL,
    &shape::REQUEST,
    &shape::RULE,
    &shape::SCRIPTED_CALL,
    &shape::CHOICE,
    &shape::VERDICT,
    &shape::EVIDENCE,
    &shape::DATASET,
    &shape::DATA_FILE,
    &shape::COLUMN,
    &shape::FIELD,
    &shape::STEP,
    &shape::GENERATE,
    &shape::SIMULATE_USER,
    &shape::LOOP,
    &shape::IF,
    &shape::STOP,
    &shape::CHECK,
    &shape::BETWEEN,
    &shape::SIMILARITY,
    &shape::REPETITION,
    &shape::EXPECTED_CALL,
    &shape::SCORER,
    &shape::JUDGE,
    &shape::EXAMPLE,
    &shape::EXAMPLE_MESSAGE,
    &shape::LABELS,
    &shape::GRAPH,
    &shape::GRAPH_STEP,
    &shape::EXTRACT,
    &shape::EACH,
    &shape::GRAPH_IF,
    &shape::GATE,
];

fn page() -> Page {
    Page::of("spec/language.md")
}

#[test]
fn every_key_is_in_its_table() {
    let page = page();
    let parts = ["data", "models", "scorers", "steps", "task"].map(|part| format!("compiler/src/shape/{part}.rs"));
    let declared: usize = parts.iter().map(|part| source(part).matches(": Construct =").count()).sum();
    assert_eq!(CONSTRUCTS.len(), declared, "a construct is missing from this test");
    for construct in CONSTRUCTS {
        let keys = construct.keys.iter();
        let expected: Vec<Vec<String>> =
            keys.map(|key| vec![format!("`{}`", key.name), key.word().to_owned(), key.doc.to_owned()]).collect();
        assert_eq!(page.table(construct.name), expected, "the table of {}", construct.name);
    }
}

#[test]
fn the_words_of_the_table_say_what_its_columns_say() {
    for (construct, key) in
        CONSTRUCTS.iter().flat_map(|construct| construct.keys.iter().map(move |key| (construct, key)))
    {
        let place = format!("`{}` of {}", key.name, construct.name);
        // Of a scorer the name hangs on the verb.
        let says = key.doc.contains("Required") && key.name != "name" || key.doc.ends_with("Required.");
        assert_eq!(says, key.required == Required::Yes, "{place}: whether it is required");
        if let Some(default) = key.default {
            let shown = [
                format!("`{default}` unless given"),
                format!("{default} unless given"),
                format!("`{default}` (the default"),
            ];
            let unsaid = ["10m", "1m", "false", "assistant", "continue", "commission"].contains(&default);
            assert!(unsaid || shown.iter().any(|shown| key.doc.contains(shown)), "{place}: its default is {default}");
        }
        for other in key.beside.iter().chain(key.needs) {
            assert!(construct.key(other).is_some(), "{place} is beside `{other}`, which is no key");
        }
    }
}

#[test]
fn the_closed_lists_are_those_of_the_code() {
    let page = page();
    assert_eq!(column(&page, "test"), Test::names().collect::<Vec<_>>());
    assert_eq!(column(&page, "ending"), Ending::ALL.map(Ending::word));
    assert_eq!(column(&page, "reducer"), Reducer::ALL.map(Reducer::word));
    assert_eq!(column(&page, "evidence"), EvidenceRule::ALL.map(EvidenceRule::word));
    assert_eq!(column(&page, "outcome"), Outcome::ALL.map(Outcome::word));
    let functions: Vec<Vec<String>> = Function::ALL
        .iter()
        .map(|function| {
            let required = function.params().len() - function.optional();
            let takes = function.params().iter().enumerate().map(|(at, param)| {
                if at < required { param.words().to_owned() } else { format!("{} or nothing", param.words()) }
            });
            let takes = takes.collect::<Vec<_>>().join("; ");
            vec![format!("`{}`", function.name()), takes, function.doc().to_owned()]
        })
        .collect();
    assert_eq!(page.table("function"), functions);
    // `turns` is a verb only where its value is a map.
    let checks: Vec<&str> = shape::CHECK.verbs().filter_map(|verb| verb.strip_prefix("not_")).collect();
    assert_eq!(checks, check::Test::WORDS, "the checks of the language and of the IR");
    assert!(checks.iter().all(|word| shape::CHECK.key(word).is_some()));
    assert_eq!(column(&page, "measure"), Measure::ALL.map(Measure::word));
    assert_eq!(column(&page, "keywords").join(", "), KEYWORDS.join(", "));
    let aggregates = AGGREGATES.map(|reducer| format!("\"{}\"", reducer.word())).join(" | ");
    assert!(page.text.contains(&format!("aggregate  = {aggregates} ;")), "the aggregates of gates: {aggregates}");
    let listed: Vec<String> = page.table("aggregate").iter().map(|row| row[0].replace('`', "")).collect();
    let words: Vec<&str> = listed.iter().filter_map(|cell| cell.split('(').next()).collect();
    assert_eq!(words, gate::WORDS, "the words with which gates begin");
}

#[test]
fn every_exit_code_is_in_the_table() {
    let mut codes = between(&source("vm/cli/src/exit.rs"), ": u8 = ", ";");
    // These two come from the report.
    codes.extend(["1".to_owned(), "4".to_owned()]);
    let mut listed = column(&page(), "code");
    listed.sort();
    assert!(listed.iter().eq(&codes), "{listed:?}, {codes:?}");
}

#[test]
fn every_expression_has_the_type_and_value_that_it_shows() {
    let page = page();
    let task = surroundings::task(
        "step",
        "- user: \"{{ plan }} {{ seats }} {{ limit }} {{ names | join }} {% if note is defined %}{% endif %}\"\n- generate\n",
    );
    let compiled = surroundings::compiled(task.as_bytes(), &page);
    let (program, dataset) = compiled.program.expect("the surroundings compile");
    let row = dataset.rows(&aigo_compiler::NoSources).next().expect("a row").expect("a row that can be read");
    let mut conversation = Conversation::default();
    conversation.push(USER.into(), MessageKind::Say, "Hello".into());
    conversation.push(ASSISTANT.into(), MessageKind::Say, "Certainly.".into());
    let conversation = Arc::new(conversation);
    let sample = Sample {
        key: row.key,
        epoch: 1,
        graph: row.graph,
        row: row.fields,
        conversation: Arc::clone(&conversation),
        tags: Arc::default(),
        cluster: None,
    };
    let scope = Snapshot { sample: Arc::new(sample), conversation, names: Vec::new() };
    for line in page.blocks.iter().filter(|block| block.is("expr")).flat_map(|block| block.text.lines()) {
        let (text, shown) = line.split_once(" => ").unwrap_or_else(|| panic!("no `=>` in `{line}`"));
        let expr = expr_parse::parse(text).unwrap_or_else(|error| panic!("`{text}`: {}", error.message));
        let mut errors = Vec::new();
        let ty = typing::check(&expr, &program.names(), &mut errors);
        assert!(errors.is_empty(), "`{text}`: {errors:?}");
        let value = eval(&expr, &scope).unwrap_or_else(|fault| panic!("`{text}`: {}", fault.message));
        assert_eq!(format!("{ty}: {}", value.to_json()), shown, "`{text}`");
    }
}

#[test]
fn the_judge_is_asked_what_the_page_says() {
    let page = page();
    let fragment =
        page.blocks.iter().find(|block| block.is("yaml") && block.text.contains("name: plan_kept\n  judge:"));
    let task = surroundings::task("scorer", &fragment.expect("the example of judges").text);
    let (program, _) = surroundings::compiled(task.as_bytes(), &page).program.expect("it compiles");
    let graph = program.scorer("plan_kept").and_then(|scorer| scorer.graph.as_ref()).expect("a graph");
    let asked = graph.nodes().find_map(|(_, placed)| match &placed.node {
        Node::Generate { view: View::Text { system: Some(system), question, .. }, .. } => Some((system, question)),
        _ => None,
    });
    let (system, question) = asked.expect("the judge is asked");
    for (name, text) in [("judge-system", system), ("judge-question", question)] {
        let block = page.blocks.iter().find(|block| block.says(name)).expect(name);
        assert_eq!(block.text.trim_end(), &*text.source, "{name}");
    }
}
