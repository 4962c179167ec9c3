//! The house rules, executable: who may know whom, how long things are, what the release binary is made of, and that what
//! the documents name is there.

mod arrows;
mod diagnostics;
mod documents;
mod packaging;
mod release;
mod sizes;

use std::path::{Path, PathBuf};

use crate::harness::root;

/// The crates of the workspace: name, folder.
const CRATES: [(&str, &str); 8] = [
    ("aigo-ir", "compiler/ir"),
    ("aigo-source", "compiler/source"),
    ("aigo-compiler", "compiler"),
    ("aigo-machine", "vm/machine"),
    ("aigo-log", "vm/log"),
    ("aigo-report", "vm/report"),
    ("aigo-vm", "vm"),
    ("aigo", "vm/cli"),
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file under a folder of the project with one of these ends, as path from the root; nothing that is built.
fn files(under: &str, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(under)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            let name = entry.file_name().into_string().expect("names are text");
            if entry.path().is_dir() {
                if !["target", "runs", "corpus", "artifacts", ".git"].contains(&name.as_str()) {
                    open.push(path);
                }
            } else if name.ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty() || under == "spec/diagnostics", "no `{end}` under {under}");
    found
}

/// Every Rust file of the project.
fn rust_files() -> Vec<PathBuf> {
    ["compiler", "vm", "tests"].iter().flat_map(|under| files(under, ".rs")).collect()
}

/// A crate's own Rust files: those of crates nested in its folder are left out.
fn sources(folder: &str) -> Vec<PathBuf> {
    files(&format!("{folder}/src"), ".rs")
}

/// Code with what stands in comments, strings and character literals blanked, lines kept.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = literal(rest);
        if taken == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..taken].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[taken..];
        }
    }
    out
}

/// The bytes of the comment or literal that the text begins with; 0 if with none.
fn literal(text: &str) -> usize {
    let until = |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return until(2, "*/");
    }
    let hashes = text.strip_prefix('r').map_or(0, |rest| rest.chars().take_while(|c| *c == '#').count());
    if text.starts_with('r') && text[1 + hashes..].starts_with('"') {
        return until(2 + hashes, &format!("\"{}", "#".repeat(hashes)));
    }
    let quoted = |quote: char| {
        let mut escaped = false;
        for (at, c) in text.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => return at + c.len_utf8(),
                _ => {}
            }
        }
        text.len()
    };
    if text.starts_with('"') {
        return quoted('"');
    }
    // A lifetime has no second quote behind its first character.
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some('\\'), _) | (Some('\''), Some(_), Some('\'')) => quoted('\''),
        _ => 0,
    }
}

#[test]
fn literals_and_comments_are_blanked() {
    let text = "fn a<'x>() { // }\n  let s = \"{\\\"\"; let c = '{'; let r = r#\"}\"\"#; /* { */ }";
    let blank = code(text);
    assert_eq!(blank.matches(['{', '}']).collect::<String>(), "{}");
    assert_eq!((blank.lines().count(), blank.contains("<'x>")), (2, true));
}
