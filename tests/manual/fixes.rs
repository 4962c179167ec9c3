//! Each fix of each example does what it says, by itself and with `aigo check --fix`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;

use super::page::{Page, pages};
use super::surroundings;
use crate::harness;

/// The examples that fail, as whole tasks, and the pages they are on.
fn examples() -> Vec<(Page, String, String)> {
    let mut found = Vec::new();
    for page in pages() {
        let fails = page.blocks.iter().filter(|block| block.is("yaml") && block.says("fails"));
        let tasks: Vec<(String, String)> = fails
            .map(|block| {
                let not_kind = |word: &&String| *word != "fails" && !word.contains('.');
                let kind = block.words.iter().skip(1).find(not_kind).map_or("task", String::as_str);
                (block.place(&page), surroundings::task(kind, &block.text))
            })
            .collect();
        found.extend(tasks.into_iter().map(|(place, task)| (Page::of(&page.name()), place, task)));
    }
    found
}

fn syntax_errors(text: &str) -> usize {
    let found = aigo_source::parse(text, FileId(0)).diagnostics;
    found.iter().filter(|one| one.row.severity == Severity::Error).count()
}

#[test]
fn every_fix_of_an_example_mends_it_and_changes_nothing_else() {
    let (mut count, mut wrong) = (0, String::new());
    for (page, place, task) in examples() {
        let compiled = surroundings::compiled(task.as_bytes(), &page);
        for found in &compiled.diagnostics {
            let Some(fix) = &found.fix else { continue };
            let file = compiled.sources.get(fix.span.file).expect("the file is there");
            if file.text[..] != task {
                // In a file beside it, which is read from the page.
                continue;
            }
            let (start, end) = (fix.span.start as usize, fix.span.end as usize);
            let mended = format!("{}{}{}", &task[..start], fix.text, &task[end..]);
            count += 1;
            let times = |text: &str| {
                let compiled = surroundings::compiled(text.as_bytes(), &page);
                let same = |one: &&aigo_ir::diagnostic::Diagnostic| {
                    one.row.code == found.row.code && one.message == found.message
                };
                compiled.diagnostics.iter().filter(same).count()
            };
            if times(&mended) >= times(&task) {
                let _ = writeln!(wrong, "{place}: `{}` does not mend {}: {}", fix.title, found.row.code, found.message);
            }
            if syntax_errors(&mended) > syntax_errors(&task) {
                let _ = writeln!(wrong, "{place}: `{}` leaves what is less YAML", fix.title);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 20, "only {count} fixes are tried");
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    std::fs::write(path, text).expect("it can be written");
}

/// The texts of all files below a folder.
fn texts(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).expect("a file"));
        }
    }
    found
}

/// All examples at once, as a person would do it: what has a fix is fixed, what has none is still there, and a second time
/// there is nothing to do.
#[test]
fn all_examples_are_fixed_at_once() {
    let folder = harness::folder("manual-fixes");
    let mut count = 0;
    for (at, (page, _, task)) in examples().iter().enumerate() {
        let own = folder.join(format!("{at}"));
        for block in page.blocks.iter().filter(|block| block.is_file()) {
            write(&own, &block.words[1], &block.text);
        }
        write(&own, "task.yaml", task);
        count += 1;
    }
    assert!(count > 60, "{count} examples");
    let ran = harness::run(&folder, &["check", "--fix", "--format", "json"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let fixed = ran.err.lines().filter(|line| line.contains(": fixed ")).count();
    assert!(fixed > 20, "{}", ran.err);
    assert!(!ran.err.contains("taken back"), "{}", ran.err);
    let remaining = &ran.json()["diagnostics"];
    let fixable: Vec<_> = remaining.as_array().expect("a list").iter().filter(|one| !one["fix"].is_null()).collect();
    assert!(fixable.is_empty(), "{fixable:#?}\n{}", ran.err);
    let once = texts(&folder);
    let again = harness::run(&folder, &["check", "--fix", "--format", "json"]);
    assert_eq!((again.code, again.out, again.err.contains(": fixed ")), (3, ran.out, false), "{}", again.err);
    assert!(texts(&folder) == once, "a second time something changes");
}
