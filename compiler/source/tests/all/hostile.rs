//! Hostile files: each ends in a clear error, or is read where it is legal and inside of the budgets. How long they take and
//! what memory they need is measured by `tests/bench/hostile.py`.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;
use aigo_source::{NodeRef, decode, jsonl, parse};

fn lines(range: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    range.map(line).collect::<Vec<_>>().join("\n")
}

/// The codes of the errors in a text, whose tree can be walked and read as a value.
fn errors(text: &str) -> BTreeSet<&'static str> {
    let parsed = parse(text, FileId(0));
    let mut left = 1_000_000;
    walk(parsed.tree.root(), &mut left);
    let of_value = parsed.tree.root().to_value().err().map(|refused| refused.row.code);
    let errors = parsed.diagnostics.iter().filter(|d| d.row.severity == Severity::Error);
    for error in errors.clone() {
        let span = error.span.unwrap();
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{error:?}");
        assert!(error.help.is_some(), "{error:?}");
    }
    errors.map(|d| d.row.code).chain(of_value).collect()
}

/// Aliases are followed, so the walk has a budget.
fn walk(node: NodeRef<'_>, left: &mut usize) {
    *left = left.saturating_sub(1);
    if *left > 0 {
        node.items().for_each(|item| walk(item, left));
        node.entries().for_each(|entry| walk(entry.value, left));
    }
}

/// Each name of a level stands for nine of the level below.
fn bomb(levels: usize) -> String {
    let mut text = "a0: &a0 [x, x]\n".to_owned();
    for n in 1..levels {
        let _ = writeln!(text, "a{n}: &a{n} [{}]", vec![format!("*a{}", n - 1); 9].join(", "));
    }
    text
}

#[test]
fn aliases_and_merges_cannot_blow_up() {
    let chain = format!("- &a0 [x]\n{}", lines(1..2000, |n| format!("- &a{n} [*a{}]", n - 1)));
    let merges =
        format!("a0: &a0 {{k0: 1}}\n{}", lines(1..3000, |n| format!("a{n}: &a{n} {{<<: *a{}, k{n}: 1}}", n - 1)));
    for (name, text, code) in [
        ("billion laughs", bomb(30), "E0116"),
        ("a long text, often", format!("- &a {}\n- [{}]\n", "x".repeat(100_000), "*a, ".repeat(20_000)), "E0116"),
        ("a chain of aliases", chain, "E0111"),
        ("a chain of merges", merges, "E0111"),
        ("a list of merges", format!("a: &a {{k: 1}}\nb: {{<<: [{}]}}\n", "*a, ".repeat(200_000)), "E0114"),
        ("an alias in itself", "a: &a [*a]\n".to_owned(), "E0107"),
        ("unknown aliases", "- *a\n".repeat(30_000), "E0106"),
        ("anchors", format!("{}{}", "- &a x\n".repeat(20_000), "- *b\n".repeat(20_000)), "E0106"),
    ] {
        assert_eq!(errors(&text), [code].into(), "{name}");
    }
}

#[test]
fn depth_has_a_bound() {
    for (name, text) in [
        ("flow maps", "{a: ".repeat(100_000)),
        ("flow lists", "[".repeat(100_000)),
        ("closed flow lists", format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        ("block lists", "- ".repeat(100_000)),
        ("explicit keys", "? ".repeat(100_000)),
        ("by indentation", lines(0..500, |n| format!("{}a:", " ".repeat(n)))),
        ("mixed", format!("{}{}{}", "- ".repeat(60), "[".repeat(60), "]".repeat(60))),
    ] {
        assert_eq!(errors(&text), ["E0111"].into(), "{name}");
    }
    assert_eq!(errors(&format!("{}x", "- ".repeat(60))), [].into());
}

#[test]
fn size_has_a_bound() {
    for (name, text, code) in [
        ("a file", "x".repeat((8 << 20) + 1), Some("E0102")),
        ("a large scalar", format!("a: {}\n", "x".repeat(1 << 20)), None),
        ("a scalar of escapes", format!("a: \"{}\"\n", "\\n".repeat(1 << 19)), None),
        ("blank lines", "\n".repeat(1 << 20), None),
        ("many values", "- a\n".repeat(90_000), None),
        ("more than a value may have", "- a\n".repeat(150_000), Some("E0116")),
        ("more than a file may have", "- a\n".repeat(600_000), Some("E0117")),
        ("flow entries", format!("[{}]", "1,".repeat(600_000)), Some("E0117")),
        ("keys", lines(0..20_000, |n| format!("k{n}: 1")), Some("E0116")),
        ("comments", format!("a:\n{}  - b\n", "# c\n".repeat(90_000)), None),
        ("more comments than are held", format!("a:\n{}  - b\n", "# c\n".repeat(150_000)), Some("E0103")),
    ] {
        assert_eq!(errors(&text), code.into_iter().collect(), "{name}");
    }
}

/// Comments that are too many are one finding, and what follows them is read.
#[test]
fn too_many_comments_are_one_mistake() {
    let text = format!("a:\n{}  - b\nc: 1\n", "# c\n".repeat(150_000));
    let parsed = parse(&text, FileId(0));
    assert_eq!(parsed.diagnostics.len(), 1, "{:?}", parsed.diagnostics.get(1));
    let root = parsed.tree.root();
    assert_eq!((root.get("a").unwrap().items().len(), root.entries().len()), (1, 2));
}

#[test]
fn syntax_errors_without_end_are_given_up() {
    for (name, text, codes) in [
        ("colons", "a: ".repeat(100_000), &["E0103"][..]),
        ("open quotes", "a: \"x\n".repeat(100_000), &["E0103"]),
        ("500 errors", "a: b: c\n".repeat(500), &["E0103", "E0118"]),
        ("many errors in a large file", "a: b: c\n".repeat(100_000), &["E0103", "E0118"]),
        ("a staircase", lines(0..900, |n| format!("{}}}", " ".repeat(900 - n))), &["E0103", "E0118"]),
        ("documents", "---\na: 1\n".repeat(100_000), &["E0112"]),
        ("directives", "%A b\n".repeat(10_000), &["E0103"]),
    ] {
        assert_eq!(errors(&text), codes.iter().copied().collect(), "{name}");
    }
}

#[test]
fn characters_that_yaml_does_not_have() {
    for (text, codes) in [
        ("a: x\0y\n", &["E0103"][..]),
        ("\0\0\0", &["E0103"]),
        ("a: x\u{1b}[31my\n", &["E0103"]),
        ("a: 1\n\u{feff}b: 2\n", &["E0103"]),
        ("\u{feff}a: 1\n", &[]),
        ("a: 1\rb: 2\r", &[]),
        ("a: 1\r\nb: 2\nc: 3\r", &[]),
    ] {
        assert_eq!(errors(text), codes.iter().copied().collect(), "{text:?}");
    }
    let keys = |text: &str| parse(text, FileId(0)).tree.root().entries().len();
    assert_eq!((keys("a: 1\rb: 2\r"), keys("a: 1\r\nb: 2\nc: 3\r"), keys("\u{feff}a: 1\n")), (2, 3, 1));
}

#[test]
fn other_encodings_are_named() {
    let text = "aigo: 1\nname: é\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    for (bytes, start, words) in [
        ([&[0xff, 0xfe], &*little].concat(), 0, "UTF-16, by the byte order mark"),
        ([&[0xfe, 0xff], &*big].concat(), 0, "UTF-16, by the byte order mark"),
        (little, 0, "UTF-16, by the NUL"),
        (big, 0, "UTF-16, by the NUL"),
        (latin, 14, "the byte 0xE9 at offset 14 is not UTF-8"),
        (b"a: \xe2\x82".to_vec(), 3, "the file ends inside a character"),
    ] {
        let refused = decode(&bytes, FileId(0)).unwrap_err();
        assert_eq!((refused.row.code, refused.span.unwrap().start), ("E0101", start), "{words}");
        assert!(refused.message.contains(words), "{}", refused.message);
    }
}

#[test]
fn rows_of_a_hostile_file_are_errors() {
    let deep = "[".repeat(100_000);
    let wide = lines(0..400_000, |n| format!("\"k{n}\":1")).replace('\n', ",");
    let long = "x".repeat((8 << 20) + 1);
    let text = format!("{{\"a\": {deep}\n{{\"a\": 1}}\n{long}\n{{{wide}}}\n{{\"b\": \"{}\"}}", "\\\":".repeat(50_000));
    let rows: Vec<bool> = jsonl(text.as_bytes()).map(|row| row.is_ok()).collect();
    assert_eq!(rows, [false, true, false, false, true]);
}
