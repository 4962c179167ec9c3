//! No file over 500 lines, no function over 70: what is longer has two subjects.

use super::{code, read, rust_files};
use crate::harness::root;

const LONGEST_FILE: usize = 500;
const LONGEST_FUNCTION: usize = 70;

#[test]
fn no_file_is_over_500_lines() {
    for path in rust_files() {
        let lines = read(&root().join(&path)).lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
    }
}

/// The functions of a file whose bodies are longer than may be: name, first line, lines of the body that are neither empty
/// nor comment.
fn long_functions(text: &str, longest: usize) -> Vec<(String, usize, usize)> {
    let blank = code(text);
    let lines: Vec<&str> = blank.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once("fn ") else { continue };
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || !after.starts_with(char::is_alphabetic) {
            continue;
        }
        let (mut depth, mut count, mut opened) = (0_i32, 0, false);
        for line in &lines[at..] {
            count += usize::from(opened && !line.trim().is_empty());
            for c in line.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                opened |= c == '{';
            }
            // A declaration without a body ends with a semicolon.
            if (opened && depth <= 0) || (!opened && line.trim_end().ends_with(';')) {
                break;
            }
        }
        // The last line counted is that of the closing brace.
        if opened && count > longest + 1 {
            let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((name, at + 1, count - 1));
        }
    }
    found
}

#[test]
fn no_function_is_over_70_lines() {
    for path in rust_files() {
        let long = long_functions(&read(&root().join(&path)), LONGEST_FUNCTION);
        assert!(long.is_empty(), "{}: {long:?}", path.display());
    }
}

#[test]
fn long_functions_are_found() {
    let text = "fn short() {}\n\npub(crate) fn long(\n    a: u8,\n) -> u8 {\n    // one\n\n    if a > 0 {\n        1\n    } else {\n        2\n    }\n}\nfn no_body();\n";
    assert_eq!(long_functions(text, 4), [("long".to_owned(), 3, 5)]);
    assert_eq!(long_functions(text, 5), []);
}

#[test]
fn the_lint_holds_the_same_bound() {
    for config in
        ["clippy.toml", "compiler/clippy.toml", "vm/cli/clippy.toml", "vm/machine/clippy.toml", "vm/report/clippy.toml"]
    {
        let text = read(&root().join(config));
        assert!(text.contains(&format!("too-many-lines-threshold = {LONGEST_FUNCTION}\n")), "{config}");
    }
}
