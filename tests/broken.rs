//! Broken tasks, as people write them: every mistake is told, at its place, once, with what to do. The cases are
//! `tests/broken/NAME.yaml`, with their data in `tests/broken/files/`; what is said of each stands in `tests/golden/broken.txt`,
//! which `BLESS=1 cargo test broken` writes anew.
//!
//! A case marks the places where a person would point: `#! E0201` at the end of a line, once per finding there. Where a line
//! cannot hold a mark, one stands before it on a line of its own: `#! +2 E0302` is two lines further down, and
//! `#! files/x.csv:3 E0503` is in another file. Marks are no part of the task that is compiled.

mod cases;
mod keys;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aigo_compiler::Compiled;
use aigo_ir::diagnostic::{Diagnostic, Severity};
use aigo_ir::span::Span;

use cases::{Case, cases};

#[test]
fn what_is_said_of_every_broken_task_is_golden() {
    let mut text = String::new();
    for case in cases() {
        let compiled = case.compiled();
        let _ = writeln!(text, "== {}", case.name);
        for found in &compiled.diagnostics {
            text.push_str(&shown(found, &compiled));
        }
        text.push('\n');
    }
    crate::golden::compare("broken.txt", &text);
}

#[test]
fn no_broken_task_passes() {
    let all = cases();
    assert!(all.len() >= 50, "only {} cases are found", all.len());
    let passed: Vec<&str> =
        all.iter().filter(|case| errors(&case.compiled()).is_empty()).map(|case| &*case.name).collect();
    assert!(passed.is_empty(), "nothing is said of {passed:?}");
}

#[test]
fn every_finding_stands_where_a_person_would_point() {
    let mut wrong = String::new();
    for case in cases() {
        let compiled = case.compiled();
        let mut found: BTreeMap<(String, usize), Vec<&str>> = BTreeMap::new();
        for one in &compiled.diagnostics {
            let span = one.span.unwrap_or_else(|| panic!("{}: no place: {}", case.name, one.message));
            let line = compiled.sources.position(span).line;
            found.entry((file(&compiled, span), line)).or_default().push(one.row.code);
        }
        let marked = case.marks();
        let places: std::collections::BTreeSet<_> = found.keys().chain(marked.keys()).cloned().collect();
        for place in places {
            let sorted = |codes: Option<&Vec<&str>>| {
                let mut codes: Vec<String> = codes.into_iter().flatten().map(|code| (*code).to_owned()).collect();
                codes.sort_unstable();
                codes.join(" ")
            };
            let expected: Option<Vec<&str>> =
                marked.get(&place).map(|codes| codes.iter().map(String::as_str).collect());
            let (now, then) = (sorted(found.get(&place)), sorted(expected.as_ref()));
            if now != then {
                let _ = writeln!(wrong, "{}: {}:{}: expected [{then}], found [{now}]", case.name, place.0, place.1);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_finding_says_what_to_do_and_none_is_told_twice() {
    let mut wrong = String::new();
    for case in cases() {
        let compiled = case.compiled();
        let mut places: BTreeMap<Option<Span>, &str> = BTreeMap::new();
        for one in &compiled.diagnostics {
            if one.help.as_deref().is_none_or(str::is_empty) && one.fix.is_none() {
                let _ = writeln!(wrong, "{}: no help: {}", case.name, one.concise(&compiled.sources));
            }
            if let Some(first) = places.insert(one.span, &one.message) {
                let _ = writeln!(wrong, "{}: twice at one place: `{first}` and `{}`", case.name, one.message);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_fix_mends_its_finding_and_breaks_nothing() {
    let (mut count, mut wrong) = (0, String::new());
    for case in cases() {
        let compiled = case.compiled();
        for one in &compiled.diagnostics {
            let Some(fix) = &one.fix else { continue };
            count += 1;
            let name = file(&compiled, fix.span);
            let mut text = compiled.sources.get(fix.span.file).map(|file| file.text.to_string()).unwrap();
            text.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.text);
            let after = case.compiled_with(&name, &text);
            let (all_before, all_after) = (messages(&compiled, Severity::Note), messages(&after, Severity::Note));
            let (before, after) = (messages(&compiled, Severity::Error), messages(&after, Severity::Error));
            let own = format!("{} {}", one.row.code, one.message);
            let times = |all: &[String], wanted: &str| all.iter().filter(|message| *message == wanted).count();
            if times(&all_after, &own) >= times(&all_before, &own) {
                let _ = writeln!(wrong, "{}: `{}` does not mend: {own}", case.name, fix.title);
            }
            for new in after.iter().filter(|message| times(&after, message) > times(&before, message)) {
                let _ = writeln!(wrong, "{}: `{}` for {own}\n    brings: {new}", case.name, fix.title);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 25, "only {count} fixes are tried");
}

/// The findings that are at least so bad, as code and message.
fn messages(compiled: &Compiled, least: Severity) -> Vec<String> {
    let found = compiled.diagnostics.iter().filter(|one| one.row.severity <= least);
    found.map(|one| format!("{} {}", one.row.code, one.message)).collect()
}

fn errors(compiled: &Compiled) -> Vec<&Diagnostic> {
    compiled.diagnostics.iter().filter(|one| one.row.severity == Severity::Error).collect()
}

/// The name of the file that a span is in.
fn file(compiled: &Compiled, span: Span) -> String {
    compiled.sources.get(span.file).map_or_else(String::new, |file| file.name.clone())
}

/// A finding as a person reviews it.
fn shown(found: &Diagnostic, compiled: &Compiled) -> String {
    let place = |span: Span| {
        let at = compiled.sources.position(span);
        let name = file(compiled, span);
        let name = if name == Case::TASK { String::new() } else { format!("{name}:") };
        format!("{name}{}:{}", at.line, at.column)
    };
    let cut = |span: Span| {
        let text = compiled.sources.get(span.file).map_or("", |file| &file.text);
        text.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
    };
    let mut text = String::new();
    let at = found.span.map_or_else(|| "nowhere".to_owned(), place);
    let under = found.span.map(cut).unwrap_or_default();
    let under = under.lines().next().unwrap_or_default().to_owned();
    let (code, word) = (found.row.code, found.row.severity.word());
    let _ = writeln!(text, "{at} {code} {word}: {}", found.message);
    let _ = writeln!(text, "    at: {under}");
    if let Some(help) = &found.help {
        let _ = writeln!(text, "    help: {help}");
    }
    if let Some(fix) = &found.fix {
        let _ = writeln!(text, "    fix: {}: {:?} -> {:?}", fix.title, cut(fix.span), fix.text);
    }
    for (span, label) in &found.related {
        let _ = writeln!(text, "    see {}: {label}", place(*span));
    }
    text
}
