//! What the reader says about whole files: spans, kinds, diagnostics, fixes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use aigo_source::{Kind, NodeRef, Parsed, decode, parse};

const FILE: FileId = FileId(0);

fn read(text: &str) -> Parsed {
    parse(text, FILE)
}

fn codes(parsed: &Parsed) -> Vec<&'static str> {
    parsed.diagnostics.iter().map(|d| d.row.code).collect()
}

fn sole(text: &str) -> Diagnostic {
    let parsed = read(text);
    assert_eq!(parsed.diagnostics.len(), 1, "{text:?}: {:#?}", parsed.diagnostics);
    parsed.diagnostics[0].clone()
}

fn under<'t>(text: &'t str, d: &Diagnostic) -> &'t str {
    let span = d.span.unwrap();
    &text[span.start as usize..span.end as usize]
}

fn fixed(text: &str, d: &Diagnostic) -> String {
    let fix = d.fix.as_ref().unwrap_or_else(|| panic!("no fix: {d:#?}"));
    format!("{}{}{}", &text[..fix.span.start as usize], fix.text, &text[fix.span.end as usize..])
}

fn json(text: &str) -> String {
    let parsed = read(text);
    assert!(parsed.diagnostics.is_empty(), "{text:?}: {:#?}", parsed.diagnostics);
    parsed.tree.root().to_value().unwrap().to_json()
}

fn raw<'t>(root: NodeRef<'t>, path: &[&str]) -> &'t str {
    path.iter().fold(root, |node, key| node.get(key).unwrap()).raw()
}

/// Every style, with characters of two, three and four bytes, with a byte order mark and without, LF and CRLF.
#[test]
fn spans_are_exact_in_every_style() {
    let text = "é: 値 😀 # c\nplain: a\n  b\n\n  c\nsingle: 'x ''é''\n  y'\n\"dou\\u0062le\": \"😀\\n\\\n  z\" # tail\n\
                literal: |2\n\n   é\n  x\n\n\nfolded: >-\n  值\n  y\nflow: [1, {a: é, b: }]\nlist:\n- x\n- y: 1\n  z:\n  - 值\n\nempty:\nlast: |\n";
    for bom in ["", "\u{feff}"] {
        for crlf in [false, true] {
            let text = format!("{bom}{}", if crlf { text.replace('\n', "\r\n") } else { text.to_owned() });
            let parsed = read(&text);
            assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
            let root = parsed.tree.root();
            let n = |s: &str| if crlf { s.replace('\n', "\r\n") } else { s.to_owned() };
            for (path, expected) in [
                (&["é"][..], "値 😀"),
                (&["plain"], "a\n  b\n\n  c"),
                (&["single"], "'x ''é''\n  y'"),
                (&["double"], "\"😀\\n\\\n  z\""),
                (&["literal"], " é\n  x\n"),
                (&["folded"], "值\n  y\n"),
                (&["flow"], "[1, {a: é, b: }]"),
                (&["list"], "- x\n- y: 1\n  z:\n  - 值"),
                (&["empty"], ""),
                (&["last"], "|"),
            ] {
                assert_eq!(raw(root, path), n(expected), "{path:?} {crlf}");
            }
            let items: Vec<&str> = root.get("list").unwrap().items().map(NodeRef::raw).collect();
            assert_eq!(items, ["x".to_owned(), n("y: 1\n  z:\n  - 值")]);
            let keys: Vec<&str> = root.entries().map(|e| e.key_node.raw()).collect();
            assert_eq!(keys[..4], ["é", "plain", "single", "\"dou\\u0062le\""]);
            let empty = root.get("empty").unwrap();
            assert!(empty.is_implicit() && text[..empty.span().start as usize].ends_with("empty:"));
            let comments: Vec<&str> =
                parsed.tree.comments().iter().map(|c| &text[c.span.start as usize..c.span.end as usize]).collect();
            assert_eq!(comments, ["# c", "# tail"]);
            assert_eq!(root.get("literal").unwrap().as_str(), Some("\n é\nx\n"));
        }
    }
}

#[test]
fn values_follow_the_core_schema() {
    assert_eq!(json(""), "null");
    assert_eq!(json("# only\n"), "null");
    assert_eq!(json("---\na: 1\n...\n"), r#"{"a":1}"#);
    assert_eq!(
        json("a: [~, null, True, 0x1f, 0o17, -1.5e3, 'no', \"1\", x y]\nb: {c: , d}\n1: e\n"),
        r#"{"a":[null,null,true,31,15,-1500.0,"no","1","x y"],"b":{"c":null,"d":null},"1":"e"}"#
    );
    assert_eq!(
        json("[!!str 1, !!int \"2\", !!float 3, !!bool 'true', !!null '', ! 4, !!seq [], !!map {}, !!str]"),
        r#"["1",2,3.0,true,null,"4",[],{},""]"#
    );
    let parsed = read("a:\nb: ~\n");
    let nulls: Vec<bool> = parsed.tree.root().entries().map(|e| e.value.is_implicit()).collect();
    assert_eq!(nulls, [true, false]);
    assert!(matches!(parsed.tree.root().get("b").unwrap().kind(), Kind::Null));
}

#[test]
fn aliases_are_followed_and_merges_expanded() {
    let text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\none:\n  w: 0\n  <<: *b\n  x: 9\ntwo: {<<: [*m, *b]}\nthree: *b\n";
    assert_eq!(
        json(text),
        r#"{"base":{"x":1,"y":2},"more":{"y":3,"z":4},"one":{"w":0,"y":2,"x":9},"two":{"y":3,"z":4,"x":1},"three":{"x":1,"y":2}}"#
    );
    let parsed = read(text);
    let three = parsed.tree.root().get("three").unwrap();
    assert!(three.is_alias());
    assert_eq!((three.raw(), three.site().start as usize), ("{x: 1, y: 2}", text.rfind("*b").unwrap()));
    assert!(parsed.tree.root().get("one").unwrap().entries().nth(1).unwrap().merged);
    assert_eq!(json("- &k a\n- {*k : 1, '<<': 2}\n"), r#"["a",{"a":1,"<<":2}]"#);
}

#[test]
fn each_finding_has_its_place() {
    for (text, code, place) in [
        ("a: 1\nb: 2\na: 3\n", "E0104", "a"),
        ("true: 1\n", "E0105", "true"),
        ("? [a]\n: 1\n", "E0105", "[a]"),
        (": 1\n", "E0105", ""),
        ("a: &anchor 1\nb: *anchr\n", "E0106", "*anchr"),
        ("a: &a [*a]\n", "E0107", "*a"),
        ("a: !env X\n", "E0108", "!env"),
        ("a: !x {b: 1}\n", "E0108", "!x"),
        ("a: !!int x\n", "E0109", "!!int"),
        ("a: !!map [1]\n", "E0109", "!!map"),
        ("a: 9223372036854775808\n", "E0110", "9223372036854775808"),
        ("a: .inf\n", "E0110", ".inf"),
        ("a: 1\n---\nb: 2\n", "E0112", "---"),
        ("a: {<<: 1}\n", "E0113", "1"),
        ("a: {{ x.y }}\n", "E0115", "{{ x.y }}"),
        ("a: {{ x }} and\n", "E0115", "{{"),
        ("- {% if x %}y{% endif %}\n", "E0115", "{%"),
        ("user: it's #3\n", "W0101", "#3"),
        ("color: #fff\nb: 1 # fine\nc: [] #fine\n", "W0101", "#fff"),
        ("a: yes\n", "W0102", "yes"),
        ("a: 2025-12-11\n", "W0102", "2025-12-11"),
        ("user: Hi: I want\n", "E0103", ":"),
        ("when: '$' in last\n", "E0103", "i"),
        ("a: @x\n", "E0103", "@"),
        ("a: [1, 2\nb: 3\n", "E0103", ":"),
        ("a: \"x\nb: 3\n", "E0103", "\""),
    ] {
        let found = sole(text);
        assert_eq!((found.row.code, under(text, &found)), (code, place), "{text:?} {found:#?}");
        assert!(found.help.is_some(), "{found:#?}");
    }
    assert_eq!(sole("a: &anchor 1\nb: *anchr\n").help.as_deref(), Some("did you mean `anchor`?"));
    let text = "a: 1\na: 3\n";
    assert_eq!(sole(text).related[0].0.start, 0);
}

#[test]
fn fixes_mend_what_they_are_for() {
    for (text, mended) in [
        ("a: {{ x }}\n", "a: '{{ x }}'\n"),
        ("a: [{{ x['y'] }}, 1]\n", "a: [\"{{ x['y'] }}\", 1]\n"),
        ("a: {{ x }} and\n", "a: '{{ x }} and'\n"),
        ("- {% if x %}y{% endif %}\n", "- '{% if x %}y{% endif %}'\n"),
        ("user: Hi: I want\n", "user: 'Hi: I want'\n"),
        ("  - when: '$' in last\n", "  - when: \"'$' in last\"\n"),
        ("a: @x\n", "a: '@x'\n"),
        ("true: 1\n", "'true': 1\n"),
        ("a: no\n", "a: 'no'\n"),
    ] {
        let found = sole(text);
        assert_eq!(fixed(text, &found), mended);
        assert!(read(mended).diagnostics.is_empty(), "{mended}");
    }
}

#[test]
fn bytes_are_checked_first() {
    assert_eq!(decode(b"a: 1", FILE).unwrap(), "a: 1");
    let found = decode(b"a: \xc3\xa9\n\xff", FILE).unwrap_err();
    assert_eq!((found.row.code, found.span.unwrap().start), ("E0101", 6));
    assert!(decode(b"\xff\xfea\0", FILE).unwrap_err().message.contains("UTF-16"));
    assert!(decode(b"a\xe2\x82", FILE).unwrap_err().message.contains("inside a character"));
}

#[test]
fn what_is_broken_becomes_an_error_node_and_the_rest_stays() {
    let text = "name: x\nuser: Hi: I\nsteps:\n  - a: [1, 2\n    b: 3\n  - c: {x: \"y\n  - d\nend: 1\n";
    let parsed = read(text);
    assert_eq!(codes(&parsed), ["E0103", "E0103", "E0103"], "{:#?}", parsed.diagnostics);
    let root = parsed.tree.root();
    assert_eq!(root.get("name").unwrap().as_str(), Some("x"));
    assert!(root.get("user").unwrap().is_error());
    assert_eq!(root.get("end").unwrap().value(), Some(Value::Int(1)));
    let steps: Vec<NodeRef<'_>> = root.get("steps").unwrap().items().collect();
    assert_eq!(steps.len(), 3);
    assert!(steps[0].get("a").unwrap().is_error() && steps[0].is_incomplete());
    assert_eq!(steps[0].get("b").unwrap().value(), Some(Value::Int(3)));
    assert!(steps[1].get("c").unwrap().is_error());
    assert_eq!(steps[2].as_str(), Some("d"));
    assert!(!steps[2].is_incomplete());
}

#[test]
fn a_map_that_lost_an_entry_says_so() {
    let parsed = read("a:\n  x: 1\n  broken\nb:\n  y: 2\nc: [1, {z: 2}]\n");
    assert_eq!(codes(&parsed), ["E0103"]);
    let of = |key: &str| parsed.tree.root().get(key).unwrap().is_incomplete();
    assert_eq!((of("a"), of("b"), of("c"), parsed.tree.root().is_incomplete()), (true, false, false, true));
}

/// What is missing or odd only because of what was left out is no second finding.
#[test]
fn damage_does_not_spread() {
    for text in [
        // The value of `a` was written, and cannot be read.
        "a:\n  * b: 1\nc: 2\n",
        "a:\n  - b\n  -\n    @x\n  - d\n",
        // The first `x` may belong to a map whose end was left out.
        "- x: 1 - y: 2\n  x: 3\n",
        // What moved one entry of a block moved all of it.
        "m:\n! a:\n    x: 1\n  b:\n    x: 1\n  c:\n    x: 1\nd: 1\n",
        // A key that was broken off its line.
        "na\n: 1\nb: 2\n",
    ] {
        let parsed = read(text);
        assert_eq!(codes(&parsed), ["E0103"], "{text:?} {:#?}", parsed.diagnostics);
    }
    let text = "a:\n  * b: 1\nc:\nd: 2\n";
    let parsed = read(text);
    let get = |key: &str| parsed.tree.root().get(key).unwrap();
    assert!(get("a").is_error() && get("c").is_implicit() && !get("c").is_error());
    assert!(read("b\nme: 1\nc: 2\n").tree.root().entries().next().unwrap().key_node.is_next_to_damage());
    // Two blocks in wrong columns are two mistakes.
    let text = "a:\n    x: 1\n  y: 2\nb: 1\nc:\n    x: 1\n  y: 2\n";
    assert_eq!(codes(&read(text)), ["E0103", "E0103"]);
}

/// What people write and YAML does not take, with the words for it and where they point.
#[test]
fn common_mistakes_are_named() {
    for (text, place, message) in [
        ("name: x\n\tindented: y\nend: 1\n", "\t", "a tab cannot be used for indentation"),
        ("a: \"C:\\dir\"\n", "\\d", "`\\d` is no escape that YAML knows"),
        ("a:x\nb: 1\n", "a:x", "`a:x` has no space after its `:`"),
        ("key\nb: 1\n", "key", "`key` has no `:`, and keys follow under it"),
        ("a:\n  b: 1\n    c: 2\n", "c", "`c` is indented under an entry that has a value already"),
        ("a:\n  expect\n    - {x: y}\nb: 1\n", "expect", "`expect` has no `:`, and keys follow under it"),
        ("a: [x, y] z\n", "z", "text follows the closing `]` of the value"),
        ("a: {b: 1}}\n", "}", "this bracket closes nothing"),
        ("a: {b: 1\nc: 2\n", ":", "`,` or `}` was expected here"),
        ("user: Hi: you\n", ":", "a value without quotes cannot hold a `: `"),
        ("a: - b\n", "-", "a list item, `- `, is not allowed here"),
        ("a: \u{7}\n", "\u{7}", "the character U+0007 is not allowed in YAML"),
    ] {
        let found = sole(text);
        assert_eq!((under(text, &found), found.message.as_str()), (place, message), "{text:?}");
    }
    assert_eq!(fixed("a: \"\\$\\d\"\n", &sole("a: \"\\$\\d\"\n")), "a: '\\$\\d'\n");
    assert!(sole("a: \"\\$\\n\"\n").fix.is_none());
}

#[test]
fn the_order_of_codes_is_the_order_of_the_table() {
    let codes: Vec<&str> = aigo_source::catalog::ROWS.iter().map(|row| row.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(codes, sorted);
}
