//! The manual is executed: its tasks compile, its programs verify, its hashes are recomputed, its tables are those of the
//! code, its links lead somewhere, and every diagnostic has a page that shows it.

mod book;
mod check;
mod diagnostics;
mod fixes;
mod fmt;
mod ir;
mod language;
mod lock;
mod logs;
mod mutation;
mod page;
mod plan;
mod readme;
mod reports;
mod schema;
mod statistics;
mod surroundings;

use std::collections::BTreeSet;

use crate::harness;
use page::{Page, pages};

/// The kinds of blocks that are executed, and those that are only shown.
const KNOWN: [&str; 13] =
    ["yaml", "ir", "expr", "jsonl", "csv", "text", "sh", "console", "ebnf", "http", "json", "python", "yml"];

#[test]
fn every_block_says_what_it_is() {
    for page in pages() {
        for block in &page.blocks {
            let kind = block.words.first().map_or("", String::as_str);
            assert!(KNOWN.contains(&kind), "{}: a block of the kind `{kind}`", block.place(&page));
            let executed = kind != "yaml" || block.words.len() > 1;
            assert!(executed, "{}: a YAML block that no test executes: say what it is", block.place(&page));
        }
    }
}

#[test]
fn every_task_and_fragment_compiles_without_findings() {
    let (mut count, mut failed) = (0, Vec::new());
    for page in pages() {
        let tasks = page.blocks.iter().filter(|block| block.is("yaml") && !block.says("fails") && !block.is_file());
        for block in tasks {
            let kind = block.words.iter().skip(1).find(|word| *word != "fixed").map_or("task", String::as_str);
            let task = surroundings::task(kind, &block.text);
            let mut found = surroundings::findings(&task, &page);
            // A part of a task pleases no lint of whole ones.
            found.retain(|one| kind == "task" || !one.code.starts_with("W06") || page.name() != "README.md");
            if !found.is_empty() {
                failed.push(format!("{}:\n{}\n{}\n", block.place(&page), block.text, surroundings::shown(&found)));
            }
            count += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.concat());
    assert!(count > 55, "{count} examples: the manual has lost some, or its blocks are not found");
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    for page in &pages {
        for link in page.links() {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.path.clone() } else { page.folder().join(path) };
            let here = format!("{}: the link `{link}`", page.name());
            let target = target.canonicalize().unwrap_or_else(|_| panic!("{here} leads nowhere"));
            if !anchor.is_empty() {
                let known = pages.iter().find(|other| other.path.canonicalize().is_ok_and(|path| path == target));
                let anchors = known.unwrap_or_else(|| panic!("{here}: not a page of the manual")).anchors();
                assert!(anchors.contains(anchor), "{here}: no heading `#{anchor}`; there are {anchors:?}");
            }
        }
    }
}

#[test]
fn the_manual_names_no_machine() {
    for page in pages() {
        for bad in ["/root/", "/tmp/", "/home/", "/work/"] {
            assert!(!page.text.contains(bad), "{}: a path of a machine, `{bad}`", page.name());
        }
    }
}

/// The first column of the table whose header begins with `head`, without backquotes.
fn column(page: &Page, head: &str) -> Vec<String> {
    page.table(head).into_iter().map(|row| row.first().map_or_else(String::new, |cell| cell.replace('`', ""))).collect()
}

/// Names in the sources, each between two marks.
fn between(source: &str, before: &str, after: &str) -> BTreeSet<String> {
    let parts = source.split(before).skip(1);
    parts.filter_map(|part| part.split_once(after).map(|(name, _)| name.to_owned())).collect()
}

/// The text of a file of the project.
fn source(path: &str) -> String {
    let path = harness::root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
