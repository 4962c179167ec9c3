//! What the page on reports shows: its figures are recomputed from the rows, by the Python that stands in it.

use std::process::Command;

use serde_json::Value;

use super::page::Page;
use crate::harness;

/// What a block prints, line by line, as numbers.
fn printed(folder: &std::path::Path, code: &str) -> Vec<Vec<f64>> {
    let ran = Command::new("python3").args(["-c", code]).current_dir(folder).output().expect("python3 runs");
    assert!(ran.status.success(), "{}\n{code}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).expect("it prints text");
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("`{word}` is no number:\n{code}"));
    text.lines().map(|line| line.split_whitespace().map(number).collect()).collect()
}

fn near(seen: f64, wanted: &Value, what: &str) {
    let wanted = wanted.as_f64().unwrap_or_else(|| panic!("{what} has no number: {wanted}"));
    assert!(
        (seen - wanted).abs() <= 1e-9 * wanted.abs().max(1.0),
        "{what}: Python says {seen}, and the report {wanted}"
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn every_kind_of_figure_is_recomputed_from_the_rows() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("there is no python3: the figures of spec/reports.md are not recomputed");
        return;
    }
    let page = Page::of("spec/reports.md");
    let folder = harness::folder("manual-reports");
    let task = page.blocks.iter().find(|block| block.says("recomputed")).expect("the task");
    std::fs::write(folder.join("task.yaml"), &task.text).expect("the task can be written");
    let ran = harness::run(&folder, &["run", "task.yaml", "--format", "json", "--report", "jsonl=rows.jsonl"]);
    let gates = ran.json()["gates"].as_array().expect("gates").clone();
    let begin =
        &page.blocks.iter().find(|block| block.is("python") && block.says("begin")).expect("the beginning").text;
    let mut count = 0;
    for block in page.blocks.iter().filter(|block| block.is("python") && !block.says("begin")) {
        let name = block.words[1..].join(" ");
        let gate =
            gates.iter().find(|gate| gate["gate"] == name.as_str()).unwrap_or_else(|| panic!("no gate `{name}`"));
        let lines = printed(&folder, &format!("{begin}{}", block.text));
        near(lines[0][0], &gate["value"], &name);
        if let Some(ends) = lines.get(1) {
            near(ends[0], &gate["low"], &name);
            near(ends[1], &gate["high"], &name);
        }
        count += 1;
    }
    assert_eq!(count, gates.len(), "a block for each gate of the task");
}

#[test]
fn the_columns_of_the_page_are_those_of_the_rows() {
    let page = Page::of("spec/reports.md");
    assert_eq!(super::column(&page, "column"), aigo_report::COLUMNS);
}
