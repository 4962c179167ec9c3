//! What `spec/check.md` shows is what `aigo check` prints.

use serde_json::Value;

use super::page::Page;
use crate::harness;

fn page() -> Page {
    Page::of("spec/check.md")
}

/// Whether everything in `part` is in `whole`, in this order: keys of objects and items of lists may be left out.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| contains(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            let mut rest = whole.iter();
            part.iter().all(|part| rest.any(|whole| contains(whole, part)))
        }
        _ => whole == part,
    }
}

#[test]
fn each_format_prints_what_the_page_shows() {
    let page = page();
    let task = page.blocks.iter().find(|block| block.says("seats.yaml")).expect("the task");
    let folder = harness::folder("manual-check");
    std::fs::write(folder.join("seats.yaml"), &task.text).expect("the task can be written");
    assert!(contains(&serde_json::json!([1, {"a": 2, "b": 3}]), &serde_json::json!([{"b": 3}])));
    assert!(!contains(&serde_json::json!([1, 2]), &serde_json::json!([2, 1])), "the test can fail");
    for format in ["text", "concise", "json", "sarif", "github"] {
        let shown = page.blocks.iter().find(|block| block.says(format)).unwrap_or_else(|| panic!("no {format}"));
        let ran = harness::run(&folder, &["check", "seats.yaml", "--format", format]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        if shown.is("text") && std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            let fence = format!("```text {format}\n");
            let text = std::fs::read_to_string(&page.path).expect("the page");
            let text = text.replace(&format!("{fence}{}", shown.text), &format!("{fence}{}", ran.out));
            std::fs::write(&page.path, text).expect("the page can be written");
        } else if shown.is("json") {
            let part: Value = serde_json::from_str(&shown.text).unwrap_or_else(|error| panic!("{format}: {error}"));
            assert!(
                contains(&ran.json(), &part),
                "{format}:\n{}",
                serde_json::to_string_pretty(&ran.json()).expect("JSON")
            );
        } else {
            assert_eq!(shown.text, ran.out, "{format}; `BLESS=1` writes the page anew:\n{}", ran.out);
        }
    }
}

#[test]
fn what_is_fixed_is_told_as_the_page_shows() {
    let page = page();
    let task = page.blocks.iter().find(|block| block.says("seats.yaml")).expect("the task");
    let folder = harness::folder("manual-check-fix");
    std::fs::write(folder.join("seats.yaml"), &task.text).expect("the task can be written");
    let shown = page.blocks.iter().find(|block| block.says("fixed")).expect("what was fixed");
    let ran = harness::run(&folder, &["check", "--fix", "--format", "concise"]);
    // What a lint says of the rest is no matter of this.
    let fixed: Vec<String> =
        ran.out.lines().filter(|line| line.contains(": fixed ")).map(|line| format!("{line}\n")).collect();
    assert_eq!((ran.code, &fixed.concat()), (0, &shown.text), "{}{}", ran.out, ran.err);
}

#[test]
fn the_options_are_those_of_the_binary() {
    let help = harness::run(harness::root(), &["check", "--help"]).out;
    let options: Vec<String> = page().table("option").into_iter().map(|row| row[0].replace('`', "")).collect();
    for option in &options {
        let flag = option.split(' ').next().unwrap_or_default();
        assert!(help.contains(flag), "no `{flag}` in\n{help}");
    }
    // But for `--help` itself, each that the help has is in the table.
    let known = |line: &str| options.iter().any(|option| line.contains(option.split(' ').next().unwrap_or_default()));
    let others: Vec<&str> = help
        .lines()
        .filter(|line| line.trim_start().starts_with('-') && !line.contains("- "))
        .filter(|line| !known(line))
        .collect();
    assert_eq!(others, ["  -h, --help"]);
}

#[test]
fn the_keys_of_the_object_are_in_the_tables() {
    let page = page();
    let folder = harness::folder("manual-check-keys");
    let task = page.blocks.iter().find(|block| block.says("seats.yaml")).expect("the task");
    std::fs::write(folder.join("seats.yaml"), &task.text).expect("the task can be written");
    let object = harness::run(&folder, &["check", "seats.yaml", "--format", "json"]).json();
    for (head, object) in [("key", &object), ("member", &object["diagnostics"][0])] {
        let cells: Vec<String> = page.table(head).into_iter().map(|row| row[0].clone()).collect();
        let mut listed: Vec<&str> = cells
            .iter()
            .flat_map(|cell| cell.split('`'))
            .filter(|part| part.chars().any(char::is_alphabetic))
            .collect();
        listed.sort_unstable();
        let keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(listed, keys, "the table of `{head}`");
    }
}
