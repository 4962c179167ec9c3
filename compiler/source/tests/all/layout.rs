//! Files laid out anew: the form, and that nothing else changes.
#![expect(clippy::panic, reason = "a test")]

use std::fmt::Write as _;

use aigo_ir::span::FileId;
use aigo_source::layout::formatted;
use aigo_source::parse;

fn laid_out(text: &str) -> String {
    let form =
        |text: &str| formatted(&parse(text, FileId(0))).unwrap_or_else(|fault| panic!("{}:\n{text}", fault.what));
    let once = form(text);
    assert_eq!(form(&once), once, "twice is not once, of\n{text}");
    once
}

/// What is written, and what it becomes.
const CASES: [(&str, &str, &str); 33] = [
    ("blanks that are text", "a\u{2028}: b\u{2028}\n#\u{a0}c\u{a0}\n", "a\u{2028}: b\u{2028}\n#\u{a0}c\u{a0}\n"),
    ("blanks in lines of nothing", "a: >+\n  \n\n    \nb: 1\n", "a: >+\n\n\n\nb: 1\n"),
    ("what is kept at the end", "a: |+\n    x\n\n \n", "a: |+\n  x\n\n\n"),
    ("lists are indented against their key", "a:\n- b\n- c\nd: 1\n", "a:\n  - b\n  - c\nd: 1\n"),
    (
        "any depth is two blanks",
        "a:\n      b:\n         -   c:  1\n             d:   2\n",
        "a:\n  b:\n    - c: 1\n      d: 2\n",
    ),
    ("lists in lists", "a:\n-   - b\n    - c\n-   -   d\n", "a:\n  - - b\n    - c\n  - - d\n"),
    ("brackets hold no blanks", "a: { b : 1,c: [ 2 , 3,4 ] }\n", "a: {b: 1, c: [2, 3, 4]}\n"),
    ("a quoted key needs no blank", "a: {\"b\":1, 'c':2}\n", "a: {\"b\": 1, 'c': 2}\n"),
    ("blank lines", "\n\na: 1  \n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"),
    ("line ends and the mark of the order", "\u{feff}a: 1\r\nb:\r\n    - c\r\n", "a: 1\nb:\n  - c\n"),
    ("an end without a line", "a: 1", "a: 1\n"),
    ("comments", "#one\na: 1 #two\n##  three\n#! four\n", "# one\na: 1  #two\n##  three\n#! four\n"),
    (
        "columns of comments stay",
        "a: 1      # x\nbcd: 2    # y\ne: 3 # z\n",
        "a: 1      # x\nbcd: 2    # y\ne: 3  # z\n",
    ),
    ("or move together", "a: 1 # x\nb: 2 # y\nc:    345 # z\n", "a: 1  # x\nb: 2  # y\nc: 345  # z\n"),
    (
        "comments stand with what they were indented for",
        "a:\n# first\n- b\n# - c\n\n# of d\nd: 1\n# end\n",
        "a:\n  # first\n  - b\n# - c\n\n# of d\nd: 1\n# end\n",
    ),
    (
        "comments at the end of something",
        "a:\n    b:\n        c: 1\n        # of c\n    # of b\n# of all\nd: 1\n",
        "a:\n  b:\n    c: 1\n    # of c\n  # of b\n# of all\nd: 1\n",
    ),
    (
        "block scalars move as a whole",
        "a:\n    b: |\n          x\n            y\n\n          z\n    c: 1\n",
        "a:\n  b: |\n    x\n      y\n\n    z\n  c: 1\n",
    ),
    ("a block scalar that begins with blanks", "a: |4\n      x\n    y\n", "a: |2\n    x\n  y\n"),
    ("what is kept is kept", "a: |+\n   x\n\n\n\nb: >-\n   y\n\n\n\nc: 1\n", "a: |+\n  x\n\n\n\nb: >-\n  y\n\nc: 1\n"),
    ("a block scalar at the end", "a: |\n    x", "a: |\n  x"),
    (
        "a comment behind a block scalar",
        "a:\n  b: |\n     x\n    # no text\n  c: 1\n",
        "a:\n  b: |\n    x\n  # no text\n  c: 1\n",
    ),
    ("empty block scalars", "a: |\n\n\nb: >+\n\n\nc: 1\n", "a: |\n\nb: >+\n\n\nc: 1\n"),
    ("plain text of several lines", "a: one\n    two\n\n\n    three\nb: 1\n", "a: one\n  two\n\n\n  three\nb: 1\n"),
    (
        "quoted text of several lines",
        "a: \"one\n two \\\n      three\\ \n x\"\nb: 'x\n\n   y'\n",
        "a: \"one\n  two \\\n  three\\ \n  x\"\nb: 'x\n\n  y'\n",
    ),
    (
        "anchors, aliases and tags",
        "a:   &x   {b: 1}\nc: &y\n    d: !!str   1\ne:  *x\nf: {<<: *y}\n&k  g: &l\n   h\ni: {*k : 1}\n",
        "a: &x {b: 1}\nc: &y\n  d: !!str 1\ne: *x\nf: {<<: *y}\n&k g: &l\n  h\ni: {*k : 1}\n",
    ),
    ("merge keys", "a: &x\n    b: 1\nc:\n    <<:  *x\n    d: 2\n", "a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n"),
    (
        "flow over several lines",
        "a: [b,\n        {c: 1,\n    d: 2\n    },\n ]\n",
        "a: [b,\n  {c: 1,\n    d: 2\n  },\n  ]\n",
    ),
    (
        "flow in a list",
        "a:\n- {b: 1,\n   c: 2,  # why\n   d: [\n   3\n   ]}\n",
        "a:\n  - {b: 1,\n    c: 2,  # why\n    d: [\n      3\n    ]}\n",
    ),
    (
        "an item on the next line",
        "a:\n  -\n    b: 1\n    c: 2\n  -\n  - # why\n    d: 1\n",
        "a:\n  - b: 1\n    c: 2\n  -\n  -  # why\n    d: 1\n",
    ),
    ("a value on the next line", "a:\n      'b'\nc:\n   d\n", "a:\n  'b'\nc:\n  d\n"),
    ("explicit keys", "?   a\n:   b\n? c\n:  - d\n   - e\n", "? a\n: b\n? c\n: - d\n  - e\n"),
    ("a start of the document", "%YAML 1.2\n---\n  a: 1\n  b: 2\n", "%YAML 1.2\n---\na: 1\nb: 2\n"),
    ("nothing", "", ""),
];

#[test]
fn the_form_is_one() {
    let mut wrong = String::new();
    for (what, text, wanted) in CASES {
        let became = laid_out(text);
        if became != wanted {
            let _ = writeln!(wrong, "{what}:\n{text}--- wanted\n{wanted}--- became\n{became}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn long_collections_become_blocks() {
    let long = "x".repeat(105);
    for (text, wanted) in [
        (
            format!("a:\n  b: {{c: {long}, d: [1, 2], e: }}\n"),
            format!("a:\n  b:\n    c: {long}\n    d: [1, 2]\n    e:\n"),
        ),
        (format!("a: [{{b: {long}, c: 1}}, d]\n"), format!("a:\n  - {{b: {long}, c: 1}}\n  - d\n")),
        (format!("- {{b: {long}, \"c\":1234567890, d}}\n"), format!("- {{b: {long}, \"c\": 1234567890, d}}\n")),
        (format!("- {{b: {long}, \"c\":1234567890, d: 1}}\n"), format!("- b: {long}\n  \"c\": 1234567890\n  d: 1\n")),
        (
            format!("- [{long}, [1234567890, 1234567890], {long}]\n"),
            format!("- - {long}\n  - [1234567890, 1234567890]\n  - {long}\n"),
        ),
        (format!("a: {{b: {long}, c: 1234567890}}  # why\n"), format!("a: {{b: {long}, c: 1234567890}}  # why\n")),
    ] {
        assert_eq!(laid_out(&text), wanted);
    }
}

#[test]
fn a_text_with_errors_is_refused() {
    for text in ["a: [", "a: 1\n b: 2\n", "a: *x\n"] {
        assert!(formatted(&parse(text, FileId(0))).is_err(), "{text}");
    }
}
