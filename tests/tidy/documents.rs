//! What the documents name is there.

use std::path::PathBuf;

use super::{files, read};
use crate::harness::root;

const TOPS: [&str; 6] = ["compiler/", "vm/", "spec/", "tasks/", "tests/", ".ci/"];

fn documents() -> Vec<PathBuf> {
    let mut found = files("spec", ".md");
    found.extend(
        ["README.md", "CONTRIBUTING.md"].map(PathBuf::from).into_iter().filter(|path| root().join(path).exists()),
    );
    found
}

/// The paths of this project that a document names in backticks, outside of its blocks of code.
fn named(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, part) in text.split("```").enumerate() {
        if at % 2 == 1 {
            continue;
        }
        for (at, word) in part.split('`').enumerate() {
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            // Words in capitals stand for names, as in `spec/diagnostics/CODE.md`.
            let stands_for =
                word.split(['/', '.']).any(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase()));
            if at % 2 == 1 && plain && !stands_for && TOPS.iter().any(|top| word.starts_with(top)) {
                found.push(word);
            }
        }
    }
    found
}

#[test]
fn paths_in_documents_exist() {
    for document in documents() {
        let text = read(&root().join(&document));
        for path in named(&text) {
            assert!(root().join(path).exists(), "{} names `{path}`, which is not there", document.display());
        }
    }
}

/// The target of each relative link, without its anchor.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let relative =
        targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.starts_with("mailto:"));
    relative
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|t| !t.is_empty() && !t.contains(' '))
        .collect()
}

#[test]
fn links_in_documents_lead_somewhere() {
    for document in documents() {
        let text = read(&root().join(&document));
        let folder = document.parent().unwrap().to_owned();
        for link in links(&text) {
            assert!(root().join(&folder).join(link).exists(), "{} links to {link}", document.display());
        }
    }
}

#[test]
fn names_and_links_are_found() {
    let text = "See `spec/log.md`, `a b`, `spec/X/CODE.md` and [it](x.md#y).\n```\n`tests/no`\n```\n`tests/gone.rs`";
    assert_eq!(named(text), ["spec/log.md", "tests/gone.rs"]);
    assert_eq!(links(text), ["x.md"]);
}

/// Nothing of a developer's machine in what is shared.
#[test]
fn no_path_of_a_machine_is_in_the_sources() {
    let mut all = super::rust_files();
    for (under, end) in [("tests", ".yaml"), ("tests", ".jsonl"), ("tasks", ".yaml"), ("spec", ".md"), ("tests", ".ir")]
    {
        all.extend(files(under, end));
    }
    let homes = ["/home/", "/root/", "/Users/", "/tmp/"].map(|home| (home, format!("\"{home}")));
    for path in all {
        let text = read(&root().join(&path));
        for (home, quoted) in &homes {
            // This file and the manual's suite name them to look for them.
            let here = path.ends_with("documents.rs") || path.ends_with("manual.rs");
            assert!(
                here || !(text.contains(quoted.as_str()) || text.contains(&format!(" {home}"))),
                "{}: {home}",
                path.display()
            );
        }
    }
}
