//! The reader against `serde_yaml`: what is accepted has the same value. Known differences, all on purpose:
//! * `017` is the number 17 here, as YAML 1.2 says, and text there; `0b11` and signed `0x`, `0o` are text here.
//! * Numbers beyond 64 bits and infinite ones, duplicate keys and keys that are no strings are refused here.
//! * U+0085, U+2028 and U+2029 are text here, as YAML 1.2 says, and line breaks there. `[?x]` is a string here, and
//!   `&x:0` an anchor `x:0`; there, a key and an anchor `x`. A lone `!` is a tag of its own there. So none of `?`, `&` and `!` is in the random text.
//! * A block scalar at the end of a file ends with a line break here, also where the file does not: so an editor that adds
//!   one changes no value. There, it does; so theirs is given the break.
//! * In a block scalar without indentation, a line that starts with `#` is text here and a comment there.
//! * Merge keys are expanded here; there, `apply_merge` does it, also for a quoted `<<`.

use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use aigo_source::{Parsed, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_yaml::Value as Theirs;

use crate::documents;

fn accepted(parsed: &Parsed) -> bool {
    parsed.diagnostics.iter().all(|d| d.row.severity == Severity::Warning)
}

fn same(ours: &Value, theirs: &Theirs) -> bool {
    match (ours, theirs) {
        (Value::Null, Theirs::Null) => true,
        (Value::Bool(a), Theirs::Bool(b)) => a == b,
        (Value::Int(a), Theirs::Number(b)) => b.as_i64() == Some(*a),
        (Value::Float(a), Theirs::Number(b)) => b.is_f64() && b.as_f64() == Some(*a),
        (Value::Str(a), Theirs::String(b)) => **a == **b,
        (Value::List(a), Theirs::Sequence(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Theirs::Mapping(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    let number = || key.parse::<i64>().ok().and_then(|n| b.get(Theirs::from(n)));
                    b.get(&**key).or_else(number).is_some_and(|theirs| same(value, theirs))
                })
        }
        (Value::Int(a), Theirs::String(b)) => leading_zero(b) && b.parse() == Ok(*a),
        (Value::Str(a), Theirs::Number(_)) => {
            let plain = a.trim_start_matches(['+', '-']);
            plain.starts_with("0b") || (plain.len() < a.len() && (plain.starts_with("0x") || plain.starts_with("0o")))
        }
        _ => false,
    }
}

fn leading_zero(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.len() > 1 && digits.starts_with('0')
}

/// Whether both accepted, after checking that they agree.
fn compare(text: &str) -> Result<bool, String> {
    let parsed = parse(text, FileId(0));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let theirs = serde_yaml::from_str::<Theirs>(&format!("{text}{end}")).map(|mut value| {
        let _ = value.apply_merge();
        value
    });
    if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) || (text.contains("\n#") && text.contains(['|', '>'])) {
        return Ok(false);
    }
    let (true, Ok(theirs)) = (accepted(&parsed), theirs) else { return Ok(false) };
    let ours = parsed.tree.root().to_value().map_err(|d| d.message)?;
    if same(&ours, &theirs) { Ok(true) } else { Err(format!("{text:?}\nours {ours}\ntheirs {theirs:?}")) }
}

const HANDWRITTEN: &[&str] = &[
    "",
    "~",
    "a: b",
    "a:\n  - 1\n  - 2.5\n  - [x, {y: z}]\n",
    "- - - a\n- b\n",
    "a: |\n  x\n   y\n\n  z\n\n\nb: >\n  x\n  y\n\n  z\n   w\n  v\n",
    "a: |+\n\n\nb: |-\n\n  x\n\n",
    "a: >2\n    x\n  y\n",
    "a: 'it''s'\nb: \"\\x41\\u00e9\\U0001F600\\t\\/\\_\\N\"\n",
    "a: \"\\ud83d\\ude00\"\n",
    "a: x\n  y\n\n  z\n",
    "a: 'x\n  y\n\n  z'\n",
    "a: \"x \\\n   y\\n\\\n  \\ z\"\n",
    "b: &b {x: 1}\nc: {<<: *b, y: 2}\nd: *b\n",
    "b: &b {x: 1}\ne: &e {x: 3, z: 4}\nc:\n  <<: [*e, *b]\n  z: 0\n",
    "? a\n: b\n? c\n",
    "%YAML 1.2\n---\na: 1\n...\n",
    "--- |\n  x\n",
    "--- # c\n- a\n",
    "a: !!str 1\nb: !!int \"2\"\nc: !!float \"3.5\"\n",
    "a: [1, 2,]\nb: {x, y: }\n",
    "[a: 1, b: {c: d}]",
    "a: 017\nb: 0b11\nc: -0x1f\nd: 0o17\ne: 1_000\nf: 1e3\ng: +1\nh: 1.\ni: .5\nj: 12e03\nk: 0.\n",
    "yes: no\non: off\ny: n\n",
    "1: a\n-2: b\n",
    "a: http://x.y/z#w\nb: x:y\nc: a#b\n",
    "a: \t b\nc:\t- d\n",
    "\u{feff}a: b\n",
    "a: \u{85}x\u{2028}y\n",
    "a: -\nb: -x\nc: --- \n",
    "a:\n- b\n-\n- c: d\n  e: f\n",
    "a: {x: \"y\":z}",
    "{\"a\":1,\"b\":[true,null]}",
    "a: ''\nb: \"\"\nc: '\n\n  '\n",
    "a: |1\n  x\n y\n",
];

#[test]
fn handwritten_documents_agree() {
    let mut both = 0;
    for text in HANDWRITTEN {
        for text in [(*text).to_owned(), text.replace('\n', "\r\n")] {
            both += usize::from(compare(&text).unwrap());
        }
    }
    // Files that only one side takes are few; a reader that refuses everything would agree too.
    assert!(both >= 58, "{both} of {}", 2 * HANDWRITTEN.len());
}

/// The random documents are worth comparing: both sides take most of them.
#[test]
fn most_random_documents_are_accepted() {
    let mut runner = TestRunner::deterministic();
    let texts = (0..1000).map(|_| documents::doc().new_tree(&mut runner).unwrap().current());
    let both = texts.filter(|doc| compare(&documents::write(doc, false)) == Ok(true)).count();
    assert!(both > 300, "{both} of 1000");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_documents_agree(doc in documents::doc(), crlf: bool) {
        let text = documents::write(&doc, crlf);
        if let Err(difference) = compare(&text) {
            return Err(TestCaseError::fail(difference));
        }
    }

    #[test]
    fn random_text_agrees(text in "[-:\\[\\]{},|>'\"%#a-c0-1~.x \n]{0,40}") {
        if let Err(difference) = compare(&text) {
            return Err(TestCaseError::fail(difference));
        }
    }
}
