//! Every diagnostic has a page, and its page shows it.

use std::collections::BTreeMap;

use aigo_ir::diagnostic::Row;

use super::page::{Page, pages};
use super::surroundings;

/// The faults of aigo itself: no task shows them.
const NO_TASK_SHOWS: [&str; 1] = ["E0507"];

fn rows() -> BTreeMap<&'static str, &'static Row> {
    let compiler = aigo_compiler::catalog::ROWS.iter().chain(aigo_source::catalog::ROWS);
    let all: Vec<&'static Row> =
        compiler.chain(&aigo_vm::ROWS).chain(&aigo_log::ROWS).chain(&aigo_report::ROWS).copied().collect();
    let by_code: BTreeMap<_, _> = all.iter().map(|row| (row.code, *row)).collect();
    assert_eq!(by_code.len(), all.len(), "a code is given twice");
    by_code
}

fn page_of(code: &str) -> Page {
    Page::of(&format!("spec/diagnostics/{code}.md"))
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let rows = rows();
    for page in pages().iter().filter(|page| page.folder().ends_with("diagnostics")) {
        let stem = page.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem == "README" {
            continue;
        }
        let row = rows.get(stem).unwrap_or_else(|| panic!("{}: there is no such code", page.name()));
        let title = format!("# {}: {}", row.code, row.title);
        assert_eq!(page.text.lines().next(), Some(&*title), "{}", page.name());
        let lines = page.text.lines().count();
        assert!(lines <= 60, "{}: {lines} lines; a page is short", page.name());
        let named = row.name.is_empty() || page.text.contains(&format!("`{}`", row.name));
        assert!(named, "{}: the page does not say that its name is `{}`", page.name(), row.name);
    }
    let index = Page::of("spec/diagnostics/README.md");
    let listed: Vec<(String, String)> =
        index.table("code").into_iter().map(|row| (row[0].clone(), row[2].clone())).collect();
    let expected: Vec<(String, String)> =
        rows.values().map(|row| (format!("[{0}]({0}.md)", row.code), row.title.to_owned())).collect();
    assert_eq!(listed, expected, "the index of diagnostics");
    for code in rows.keys() {
        page_of(code);
    }
}

#[test]
fn every_page_of_the_compiler_shows_its_finding_and_how_it_goes() {
    for code in rows().keys().filter(|code| code.starts_with(['E', 'W', 'N'])) {
        let page = page_of(code);
        let fails: Vec<_> = page.blocks.iter().filter(|block| block.says("fails")).collect();
        if let Some(bytes) = too_large_to_print(code) {
            let found = surroundings::findings_of(&surroundings::compiled(&bytes, &page));
            assert!(found.iter().any(|finding| finding.code == *code), "{code}: {}", surroundings::shown(&found));
            continue;
        }
        if NO_TASK_SHOWS.contains(code) {
            continue;
        }
        assert!(!fails.is_empty(), "{}: no block that fails", page.name());
        assert!(page.blocks.iter().any(|block| block.says("fixed")), "{}: no block that is fixed", page.name());
        for block in page.blocks.iter().filter(|block| block.says("lock")) {
            let found = surroundings::findings_beside(&block.text, block.says("locked"), &page);
            let is_right = if block.says("fails") {
                !found.is_empty() && found.iter().all(|finding| finding.code == *code)
            } else {
                found.is_empty()
            };
            assert!(is_right, "{}:\n{}", block.place(&page), surroundings::shown(&found));
        }
        for block in fails.into_iter().filter(|block| !block.says("lock")) {
            let kind = block.words.iter().skip(1).find(|word| *word != "fails").map_or("task", String::as_str);
            let task = surroundings::task(kind, &block.text);
            let found = surroundings::findings(&task, &page);
            let place = format!("{}:\n{task}\n{}", block.place(&page), surroundings::shown(&found));
            assert!(!found.is_empty() && found.iter().all(|finding| finding.code == *code), "{place}");
            let here = task.lines().position(|line| line.contains("# <- here")).map(|at| at + 1);
            assert!(here.is_none() || found.iter().any(|finding| finding.line == here), "line {here:?}, {place}");
        }
    }
}

/// Tasks that show what no page can print.
fn too_large_to_print(code: &str) -> Option<Vec<u8>> {
    let head = "aigo: 1\nname: large\n";
    let text = match code {
        "E0101" => return Some([head.as_bytes(), b"description: caf\xe9\n"].concat()),
        "E0102" => format!("{head}description: {}\n", "x".repeat(aigo_source::MAX_FILE_BYTES)),
        "E0114" => {
            let entries = (0..200).map(|n| format!("  k{n}: 0\n")).collect::<Vec<_>>().concat();
            format!("base: &base\n{entries}all:\n{}", "  - {<<: *base}\n".repeat(600))
        }
        "E0117" => format!("{head}dataset:\n  samples: [{}]\n", "1,".repeat(500_001)),
        "E0118" => format!("{head}dataset:\n{}", "  - \"a\" b\n".repeat(100)),
        _ => return None,
    };
    Some(text.into_bytes())
}
