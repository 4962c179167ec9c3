//! Diagnostics: each has its own code, is raised somewhere, and has a page.

use std::collections::{BTreeMap, BTreeSet};

use aigo_ir::diagnostic::Row;

use super::{CRATES, code, read, sources};
use crate::harness::root;

fn all_rows() -> Vec<&'static Row> {
    let compiler = aigo_compiler::catalog::ROWS.iter().copied();
    let source = aigo_source::catalog::ROWS.iter().copied();
    source.chain(compiler).chain(aigo_vm::error::ROWS).chain(aigo_log::ROWS).chain(aigo_report::ROWS).collect()
}

/// The rows as they are written: code to constant. In a file the constant stands before the code, on its line.
fn constants() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let is_code = |text: &&str| {
        text.len() == 5
            && text.starts_with(['E', 'W', 'N', 'R', 'L', 'G'])
            && text[1..].bytes().all(|b| b.is_ascii_digit())
    };
    for path in CRATES.iter().flat_map(|(_, folder)| sources(folder)) {
        // A long row stands on two lines.
        for line in read(&root().join(&path)).replace("=\n    Row::", "= Row::").lines().map(str::trim) {
            let Some(number) = line.split('"').find(is_code) else { continue };
            let before = line.split('"').next().unwrap_or_default();
            let mut words = before.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
            let constant = words.find(|word| word.len() > 1 && word.starts_with(|c: char| c.is_ascii_uppercase()));
            if let Some(constant) = constant
                && !line.starts_with("//")
            {
                found.entry(number.to_owned()).or_insert_with(|| constant.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_code_is_given_once() {
    let mut seen = BTreeSet::new();
    for row in all_rows() {
        assert!(seen.insert(row.code), "{} is given twice", row.code);
        assert!(!row.title.is_empty() && !row.title.ends_with('.'), "{}: {}", row.code, row.title);
    }
    assert!(seen.len() > 50, "{}", seen.len());
}

#[test]
fn every_row_is_raised_somewhere() {
    let constants = constants();
    // Code without the lists of rows, which name each once more.
    let mut texts = Vec::new();
    for path in CRATES.iter().flat_map(|(_, folder)| sources(folder)) {
        let text = code(&read(&root().join(&path)));
        let without = match text.find("pub static ROWS") {
            Some(at) => text[..at].to_owned() + text[at..].split_once("];").map_or("", |(_, rest)| rest),
            None => text,
        };
        texts.push(without);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut never = Vec::new();
    for row in all_rows() {
        let constant = constants.get(row.code).unwrap_or_else(|| panic!("{} is nowhere in the sources", row.code));
        let uses: usize = texts
            .iter()
            .map(|text| {
                let whole =
                    |at: usize| !text[..at].ends_with(is_word) && !text[at + constant.len()..].starts_with(is_word);
                text.match_indices(constant.as_str()).filter(|(at, _)| whole(*at)).count()
            })
            .sum();
        if uses < 2 {
            never.push(format!("{} ({constant})", row.code));
        }
    }
    assert!(never.is_empty(), "never raised: {never:?}; raise it, or take the row out");
}

#[test]
fn every_row_has_a_page_and_every_page_a_row() {
    let codes: BTreeSet<String> = all_rows().into_iter().map(|row| row.code.to_owned()).collect();
    for code in &codes {
        let page = root().join(format!("spec/diagnostics/{code}.md"));
        assert!(page.is_file(), "{code} has no page {}", page.display());
        assert!(read(&page).contains(code.as_str()), "the page of {code} does not name it");
    }
    for page in super::files("spec/diagnostics", ".md") {
        let name = page.file_stem().unwrap().to_str().unwrap();
        assert!(codes.contains(name) || name == "README", "{name} has a page and no row");
    }
}
