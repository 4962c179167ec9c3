//! Every refusal, with its exact place and its help, in a table that a person can review. `BLESS=1` writes the answers anew.

use std::fmt::Write as _;

use aigo_ir::typing::{self, TypeError};

use super::names;
use crate::harness::root;

fn errors(kind: &str, text: &str) -> Vec<TypeError> {
    match kind {
        "template" => typing::check_template(text, &names()).errors,
        "expression" => typing::check_expression(text, &names()).errors,
        "condition" => typing::check_condition_text(text, &names()).errors,
        other => panic!("`{other}` is neither template, expression nor condition"),
    }
}

/// The line and what is wrong with it.
fn answer(line: &str) -> String {
    let (kind, text) = line.split_once(": ").unwrap_or_else(|| panic!("no kind in `{line}`"));
    let mut out = format!("{line}\n");
    let indent = kind.len() + 2;
    for error in errors(kind, text) {
        let columns = |range: std::ops::Range<usize>| text.get(range).expect("a range of the text").chars().count();
        let (before, width) = (columns(0..error.range.start), columns(error.range.clone()).max(1));
        let _ = writeln!(out, "{}{}", " ".repeat(indent + before), "^".repeat(width));
        let _ = writeln!(out, "  {:?}: {}", error.mistake, error.message);
        let _ = writeln!(out, "  help: {}", error.help.as_deref().unwrap_or_else(|| panic!("no help for `{line}`")));
        if let Some(fix) = &error.fix {
            let _ = writeln!(out, "  fix: {fix}");
        }
    }
    out
}

#[test]
fn every_refusal_has_its_exact_place_and_help() {
    let path = root().join("tests/golden/refusals.txt");
    let golden = std::fs::read_to_string(&path).unwrap();
    let kinds = ["template: ", "expression: ", "condition: "];
    let mut now = String::new();
    let mut asked = 0;
    for line in golden.lines() {
        if line.starts_with('#') {
            if !now.is_empty() {
                now.push('\n');
            }
            let _ = writeln!(now, "{line}");
        } else if kinds.iter().any(|kind| line.starts_with(kind)) {
            let answer = answer(line);
            assert!(answer.lines().count() > 1, "nothing is wrong with `{line}`");
            now.push('\n');
            now.push_str(&answer);
            asked += 1;
        }
    }
    assert!(asked >= 100, "{asked}");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, now).unwrap();
        return;
    }
    for (at, (then, now)) in golden.lines().zip(now.lines()).enumerate() {
        assert_eq!(then, now, "line {} of the golden file", at + 1);
    }
    assert_eq!(golden.lines().count(), now.lines().count());
}

/// A fix mends what it is for: put in place, that mistake is gone.
#[test]
fn every_fix_mends_its_mistake() {
    let golden = include_str!("../golden/refusals.txt");
    let mut mended = 0;
    for line in golden.lines() {
        let Some((kind, text)) = line.split_once(": ").filter(|(kind, _)| ["template", "expression"].contains(kind))
        else {
            continue;
        };
        let before = errors(kind, text);
        for error in &before {
            let Some(fix) = &error.fix else { continue };
            let mut fixed = text.to_owned();
            fixed.replace_range(error.range.clone(), fix);
            let after = errors(kind, &fixed);
            assert!(!after.iter().any(|e| e.message == error.message), "`{text}` -> `{fixed}`: {after:?}");
            mended += 1;
        }
    }
    assert!(mended > 10, "{mended}");
}
