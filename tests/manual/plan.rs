//! What `spec/plan.md` shows is what `aigo compile` and `aigo run --dry-run` print.

use aigo_ir::bounds as b;

use super::page::Page;
use crate::harness;

#[test]
fn each_command_prints_what_the_page_shows() {
    let page = Page::of("spec/plan.md");
    let task = page.blocks.iter().find(|block| block.says("seats.yaml")).expect("the task");
    let folder = harness::folder("manual-plan");
    std::fs::write(folder.join("seats.yaml"), &task.text).expect("the task can be written");
    for (word, arguments) in [
        ("bounds", vec!["compile", "seats.yaml", "--emit", "bounds"]),
        ("dry-run", vec!["run", "seats.yaml", "--dry-run"]),
        ("dot", vec!["compile", "seats.yaml", "--emit", "dot"]),
    ] {
        let shown = page.blocks.iter().find(|block| block.says(word)).unwrap_or_else(|| panic!("no {word}"));
        let ran = harness::run(&folder, &arguments);
        assert_eq!(ran.code, 0, "{word}: {}", ran.err);
        // Of a long text the page shows the beginning.
        let begins = if word == "dot" { "digraph aigo {" } else { &ran.out };
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") && word != "dot" {
            let fence = format!("```text {word}\n");
            let text = std::fs::read_to_string(&page.path).expect("the page");
            let text = text.replace(&format!("{fence}{}", shown.text), &format!("{fence}{}", ran.out));
            std::fs::write(&page.path, text).expect("the page can be written");
        } else if word == "dot" {
            assert!(ran.out.starts_with(begins) && shown.text.contains("dot -Tsvg"));
        } else {
            assert_eq!(shown.text, ran.out, "{word}; `BLESS=1` writes the page anew:\n{}", ran.out);
        }
    }
}

#[test]
fn the_keys_of_the_object_are_in_the_table() {
    let page = Page::of("spec/plan.md");
    let folder = harness::folder("manual-plan-keys");
    let task = page.blocks.iter().find(|block| block.says("seats.yaml")).expect("the task");
    std::fs::write(folder.join("seats.yaml"), &task.text).expect("the task can be written");
    let object = harness::run(&folder, &["compile", "seats.yaml", "--emit", "bounds", "--format", "json"]).json();
    for (head, object) in [("key", &object), ("of a role", &object["roles"][0]), ("of a graph", &object["graphs"][0])] {
        let mut listed: Vec<String> = page.table(head).into_iter().map(|row| row[0].replace('`', "")).collect();
        listed.sort_unstable();
        let keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(listed, keys, "the table of `{head}`");
    }
}

#[test]
fn the_figures_that_are_assumed_are_those_of_the_code() {
    let page = Page::of("spec/plan.md");
    let figures = [
        ("bytes of a token", b::TOKEN_BYTES),
        ("tokens of a message beside its text", b::MESSAGE_TOKENS),
        ("tokens of a message beside its text, where a judge reads it", b::LABEL_TOKENS),
        ("tokens of the marks around what a judge reads", b::FENCE_TOKENS),
        ("tokens of an answer that nothing limits", b::ANSWER_TOKENS),
        ("bytes of a complaint about an answer", b::COMPLAINT_BYTES),
        ("tool calls of a reply", b::CALLS_OF_A_REPLY),
    ];
    let listed: Vec<(String, u64)> =
        page.table("assumed").into_iter().map(|row| (row[0].clone(), row[1].parse().expect("a number"))).collect();
    assert_eq!(listed, figures.map(|(what, n)| (what.to_owned(), n)));
}
