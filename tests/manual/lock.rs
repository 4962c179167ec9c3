//! What `spec/lock.md` shows is what `aigo lock` writes and `aigo check --locked` says.

use aigo_compiler::lock::Kind;

use super::column;
use super::page::{Block, Page};
use crate::harness;

fn block<'p>(page: &'p Page, name: &str) -> &'p Block {
    page.blocks.iter().find(|block| block.says(name)).unwrap_or_else(|| panic!("no block `{name}`"))
}

/// The block shows the text; `BLESS=1` writes it.
pub(super) fn shows(page: &Page, name: &str, text: &str) {
    let shown = &block(page, name).text;
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") && shown != text {
        let fence = format!("```text {name}\n");
        let whole = std::fs::read_to_string(&page.path).expect("the page");
        let whole = whole.replace(&format!("{fence}{shown}```"), &format!("{fence}{text}```"));
        std::fs::write(&page.path, whole).expect("the page can be written");
        return;
    }
    assert_eq!(shown, text, "`{name}`; `BLESS=1` writes the page anew");
}

#[test]
fn the_lock_and_what_is_said_of_it_are_those_of_the_page() {
    let page = Page::of("spec/lock.md");
    let folder = harness::folder("manual-lock");
    let task = folder.join("support.yaml");
    let text = &block(&page, "support.yaml").text;
    std::fs::write(&task, text).expect("the task can be written");
    let keys = [("JUDGE_KEY", "k"), ("OPENAI_API_KEY", "k")];
    let run = |arguments: &[&str]| harness::run_with(&folder, arguments, &keys);
    let locked = run(&["lock"]);
    assert_eq!(locked.code, 0, "{locked:?}");
    shows(&page, "aigo.lock", &std::fs::read_to_string(folder.join("aigo.lock")).expect("the lock is there"));
    let checked = run(&["check", "--locked", "--deny", "warnings"]);
    assert_eq!((checked.code, checked.err.as_str()), (0, ""), "{}", checked.out);
    let other = text.replace("gpt-5.2-2025-12-11", "gpt-5.3-2026-04-01").replace("in mind", "in mind, and says so");
    std::fs::write(&task, other).expect("the task can be written");
    let moved = run(&["check", "--locked", "--format", "concise"]);
    assert_eq!(moved.code, 3, "{moved:?}");
    shows(&page, "moved", &moved.out);
}

#[test]
fn the_table_of_kinds_is_that_of_the_code() {
    let page = Page::of("spec/lock.md");
    let cells = column(&page, "kind");
    let listed: Vec<&str> = cells.iter().flat_map(|cell| cell.split(", ")).collect();
    assert_eq!(listed, Kind::ALL.map(Kind::word));
}
