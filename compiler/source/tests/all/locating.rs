//! Each decoded character of each scalar is found in the file, exactly.
#![expect(clippy::unwrap_used, reason = "a test")]

use aigo_ir::span::FileId;
use aigo_source::{Kind, NodeRef, Style, parse};
use proptest::prelude::*;

use crate::documents;

/// All scalars of a tree, keys included.
fn scalars<'t>(node: NodeRef<'t>, out: &mut Vec<NodeRef<'t>>) {
    match node.kind() {
        Kind::List(items) => items.for_each(|item| scalars(item, out)),
        Kind::Map(entries) => {
            for entry in entries {
                out.push(entry.key_node);
                scalars(entry.value, out);
            }
        }
        Kind::Scalar(_) => out.push(node),
        Kind::Null | Kind::Error => {}
    }
}

/// Checks every character of a scalar; gives how many there were.
fn check(text: &str, node: NodeRef<'_>) -> Result<usize, String> {
    let source = node.scalar_source().unwrap();
    let decoded = node.scalar_text().unwrap();
    let blank = decoded.trim_matches('\n').is_empty();
    let block = matches!(source.style(), Style::Literal | Style::Folded);
    if blank && block || node.span().start == node.span().end {
        return Ok(0);
    }
    let mut last = 0;
    for (at, c) in decoded.char_indices() {
        let span = source.locate(text, decoded, at..at + c.len_utf8());
        let (start, end) = (span.start as usize, span.end as usize);
        let found = &text[start..end];
        let context = || format!("{c:?} at {at} of {decoded:?} is {found:?} at {start}..{end} of {text:?}");
        let fits = match c {
            '\n' => found.contains(['\n', '\r']) || found.starts_with('\\') || found.is_empty(),
            ' ' => found == " " || found.contains(['\n', '\r']) || found.starts_with('\\'),
            '\'' if source.style() == Style::Single => found == "''",
            c => found == c.to_string() || (found.starts_with('\\') && source.style() == Style::Double),
        };
        let whole = span == source.span() && decoded.chars().count() > 1;
        if !fits || whole || start < last {
            return Err(context());
        }
        last = start;
    }
    let all = source.locate(text, decoded, 0..decoded.len());
    let tail = source.locate(text, decoded, decoded.len()..decoded.len());
    if all.end < all.start || tail.end > source.span().end || tail.start != tail.end {
        return Err(format!("{all:?} {tail:?} {decoded:?} of {text:?}"));
    }
    Ok(decoded.chars().count())
}

fn check_all(text: &str) -> Result<usize, String> {
    let parsed = parse(text, FileId(0));
    let mut found = Vec::new();
    scalars(parsed.tree.root(), &mut found);
    found.into_iter().map(|node| check(text, node)).sum()
}

#[test]
fn a_place_in_a_template_is_a_place_in_the_file() {
    for crlf in [false, true] {
        for (text, part, expected) in [
            ("a: x\n  {{ y }}\n", "y", "y"),
            ("a: 'it''s {{ y }}'\n", "y", "y"),
            ("a: \"\\u00e9\\n {{ y }}\"\n", "y", "y"),
            ("a: \"\\ud83d\\ude00\"\n", "😀", "\\ud83d\\ude00"),
            ("a: \"x \\\n  y\"\n", "x y", "x \\\n  y"),
            ("a: |\n  x\n    {{ y\n    z }}\n", "y\n  z", "y\n    z"),
            ("a: >-\n  x\n\n  {{ y\n  z }}\n", "y z", "y\n  z"),
            ("a: |\n\n\n  x\n  é {{ y }}\n", "{{ y }}", "{{ y }}"),
        ] {
            let n = |s: &str| if crlf { s.replace('\n', "\r\n") } else { s.to_owned() };
            let text = n(text);
            let parsed = parse(&text, FileId(0));
            let node = parsed.tree.root().get("a").unwrap();
            let decoded = node.as_str().unwrap();
            let at = decoded.find(part).unwrap();
            let span = node.scalar_source().unwrap().locate(&text, decoded, at..at + part.len());
            assert_eq!(&text[span.start as usize..span.end as usize], n(expected), "{text:?}");
        }
    }
}

#[test]
fn what_does_not_agree_is_the_whole_scalar() {
    let text = "a: 'b c'\n";
    let parsed = parse(text, FileId(0));
    let source = parsed.tree.root().get("a").unwrap().scalar_source().unwrap();
    assert_eq!(source.locate(text, "b d", 2..3), source.span());
    assert_eq!(source.locate("", "b c", 2..3), source.span());
    let backwards = std::ops::Range { start: 9, end: 2 };
    assert_eq!(source.locate(text, "b c", backwards).end, 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_character_of_every_scalar_is_found(doc in documents::doc(), crlf: bool) {
        let text = documents::write(&doc, crlf);
        if let Err(wrong) = check_all(&text) {
            return Err(TestCaseError::fail(wrong));
        }
    }
}
