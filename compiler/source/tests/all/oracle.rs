//! The reader against `serde_yaml`: what is accepted has the same value, but for the differences of one table, all on purpose.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test of the project's files")]

use std::path::{Path, PathBuf};

use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use aigo_source::{Parsed, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_yaml::Value as Theirs;

use crate::documents;

/// A way in which the two differ, and a text that shows it.
struct Difference {
    what: &'static str,
    example: &'static str,
    /// What each makes of the example, as JSON; `refused` where it is an error.
    ours: &'static str,
    theirs: &'static str,
    /// Whether a text may show it, so that it is not compared. Never, where [`same`] knows the values.
    may_show: fn(&str) -> bool,
}

const REFUSED: &str = "refused";

#[rustfmt::skip]
const DIFFERENCES: &[Difference] = &[
    Difference { what: "zeros at the start of a number are zeros, as YAML 1.2 says",
        example: "017", ours: "17", theirs: r#""017""#, may_show: |_| false },
    Difference { what: "binary numbers are of YAML 1.1, and text here",
        example: "0b11", ours: r#""0b11""#, theirs: "3", may_show: |_| false },
    Difference { what: "hexadecimal and octal numbers have no sign",
        example: "-0x1f", ours: r#""-0x1f""#, theirs: "-31", may_show: |_| false },
    Difference { what: "numbers of more than 64 bits are refused",
        example: "18446744073709551615", ours: REFUSED, theirs: "18446744073709551615", may_show: |_| false },
    Difference { what: "infinite numbers are refused",
        example: "a: .inf", ours: REFUSED, theirs: r#"{"a":null}"#, may_show: |_| false },
    Difference { what: "keys that are neither text nor whole numbers are refused",
        example: "true: 1", ours: REFUSED, theirs: r#"{"true":1}"#, may_show: |_| false },
    Difference { what: "duplicate keys are refused by both",
        example: "a: 1\na: 2", ours: REFUSED, theirs: REFUSED, may_show: |_| false },
    Difference { what: "unquoted templates are refused",
        example: "a: {{x: 1}: 2}", ours: REFUSED, theirs: REFUSED, may_show: |_| false },
    Difference { what: "U+0085, U+2028 and U+2029 are text, as YAML 1.2 says, and no line breaks",
        example: "a: |\n  x\u{85}  y\n", ours: "{\"a\":\"x\\u0085  y\\n\"}", theirs: "{\"a\":\"x\\ny\\n\"}",
        may_show: |text| text.contains(['\u{85}', '\u{2028}', '\u{2029}']) },
    Difference { what: "a `?` that no blank follows begins no key",
        example: "[?x]", ours: r#"["?x"]"#, theirs: r#"[{"x":null}]"#, 
        may_show: |text| begun_by(text, '?').any(|rest| rest.starts_with(|c: char| !c.is_whitespace())) },
    Difference { what: "the name of an anchor may hold a colon",
        example: "[&x:0 a]", ours: r#"["a"]"#, theirs: REFUSED, 
        may_show: |text| begun_by(text, '&').chain(begun_by(text, '*')).any(is_odd_name) },
    Difference { what: "a lone `!` makes a scalar text, and is a tag of its own there",
        example: "! 4", ours: r#""4""#, theirs: r#"{"!!":4}"#,
        may_show: |text| begun_by(text, '!').any(|rest| !rest.starts_with(|c: char| c == '!' || c.is_alphanumeric())) },
    Difference { what: "a block scalar at the end of a file without a line break ends with one",
        example: "a: |\n  x", ours: "{\"a\":\"x\\n\"}", theirs: r#"{"a":"x"}"#, may_show: |_| false },
    Difference { what: "a line that starts with `#` in a block scalar without indentation is text",
        example: "--- |\n# x\ny\n", ours: "\"# x\\ny\\n\"", theirs: REFUSED,
        may_show: |text| text.contains("\n#") && text.lines().any(is_block_at_the_root) },
    Difference { what: "a quoted `<<` is no merge key",
        example: "a: &a {x: 1}\nb: {'<<': *a}", ours: r#"{"a":{"x":1},"b":{"<<":{"x":1}}}"#,
        theirs: r#"{"a":{"x":1},"b":{"x":1}}"#, may_show: |text| text.contains("'<<'") || text.contains("\"<<\"") },
];

/// What follows a character wherever it begins a value or a key.
fn begun_by(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.match_indices(mark).filter_map(move |(at, _)| {
        let begins = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "[{,-:?".contains(c));
        begins.then(|| &text[at + mark.len_utf8()..])
    })
}

/// Whether a block scalar may begin on a line that is the document's own value, and no entry of a list or map.
fn is_block_at_the_root(line: &str) -> bool {
    let begun = line.trim_start();
    let inner = begun.starts_with('#') || begun.starts_with("- ");
    line.find(['|', '>']).is_some_and(|at| !inner && !line[..at].contains(':'))
}

/// Whether the name of an anchor or an alias has more than letters, digits, `_` and `-`.
fn is_odd_name(rest: &str) -> bool {
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}')).unwrap_or(rest.len());
    !rest[..end].chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

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

/// Their value; merge keys are expanded by `apply_merge`.
fn theirs(text: &str) -> Option<Theirs> {
    let mut value = serde_yaml::from_str::<Theirs>(text).ok()?;
    let _ = value.apply_merge();
    Some(value)
}

/// Whether both accepted, after checking that they agree.
fn compare(text: &str) -> Result<bool, String> {
    if DIFFERENCES.iter().any(|difference| (difference.may_show)(text)) {
        return Ok(false);
    }
    let parsed = parse(text, FileId(0));
    // An editor that adds a line break at the end changes no value here; there it does, so theirs is given the break.
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let (true, Some(theirs)) = (accepted(&parsed), theirs(&format!("{text}{end}"))) else { return Ok(false) };
    // What aliases blow up is refused when it is taken as a value.
    let Ok(ours) = parsed.tree.root().to_value() else { return Ok(false) };
    if same(&ours, &theirs) { Ok(true) } else { Err(format!("{text:?}\nours {ours}\ntheirs {theirs:?}")) }
}

pub(crate) const HANDWRITTEN: &[&str] = &[
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
    "%YAML 1.2\n---\na: 1\n...\n",
    "--- |\n  x\n",
    "--- # c\n- a\n",
    "a: [1, 2,]\nb: {x, y: }\n",
    "[a: 1, b: {c: d}]",
    "a: 017\nb: 0b11\nc: -0x1f\nd: 0o17\ne: 1_000\nf: 1e3\ng: +1\nh: 1.\ni: .5\nj: 12e03\nk: 0.\n",
    "yes: no\non: off\ny: n\n",
    "1: a\n-2: b\n",
    "a: http://x.y/z#w\nb: x:y\nc: a#b\n",
    "a: \t b\nc:\t- d\n",
    "\u{feff}a: b\n",
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
    assert!(both >= 2 * HANDWRITTEN.len() - 12, "{both} of {}", 2 * HANDWRITTEN.len());
}

/// Tags, complex keys and anchors, which the texts of chance leave out because of some of the differences.
#[test]
fn what_may_show_a_difference_and_does_not_agrees() {
    for text in [
        "? a\n: b\n? c\n",
        "a: !!str 1\nb: !!int \"2\"\nc: !!float \"3.5\"\n",
        "a: what?\nb: really?!\nc: 5 * 3\nd: R&D\n",
        "- &a-1 x\n- &b_2 [y]\n- *a-1\n- *b_2\n",
    ] {
        let ours = parse(text, FileId(0));
        assert!(accepted(&ours), "{text}");
        let (ours, theirs) = (ours.tree.root().to_value().unwrap(), theirs(text).unwrap());
        assert!(same(&ours, &theirs), "{ours} {theirs:?}");
    }
}

/// Each known difference is one, in its example: if a new version of either side agrees, the row goes.
#[test]
fn each_known_difference_shows() {
    for Difference { what, example, ours, theirs: wanted, .. } in DIFFERENCES {
        let parsed = parse(example, FileId(0));
        let found = if accepted(&parsed) { parsed.tree.root().to_value().unwrap().to_json() } else { REFUSED.into() };
        assert_eq!(found, *ours, "{what}: ours");
        let found = theirs(example).and_then(|value| serde_json::to_string(&value).ok());
        assert_eq!(found.as_deref().unwrap_or(REFUSED), *wanted, "{what}: theirs");
    }
}

/// All files below a folder of the project.
fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut open, mut found) = (vec![root.join(folder)], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The YAML blocks of a page.
fn blocks(page: &str) -> Vec<&str> {
    let fenced = page.split("\n```yaml").skip(1);
    fenced.filter_map(|rest| rest.split_once('\n')?.1.split("\n```").next()).collect()
}

/// Every YAML text below a folder of the project, with the file that it is from.
pub(crate) fn texts(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in files(folder) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") => found.extend(blocks(&text).into_iter().map(|block| (path.clone(), block.to_owned()))),
            Some("yaml" | "yml") => found.push((path, text)),
            _ if folder == "tests/fuzz/corpus" => found.push((path, text)),
            _ => {}
        }
    }
    found
}

/// Every YAML text of the project, by where it comes from: how many both sides take, and what they make of all of them.
#[test]
fn every_file_of_the_project_agrees() {
    for (folder, least) in [("tasks", 2), ("tests/fixtures", 5), ("spec", 80), ("tests/fuzz/corpus", 20)] {
        let mut both = 0;
        for (path, text) in texts(folder) {
            match compare(&text) {
                Ok(accepted) => both += usize::from(accepted),
                Err(difference) => assert!(difference.is_empty(), "{}: {difference}", path.display()),
            }
        }
        assert!(both >= least, "{folder}: {both} texts are taken by both sides");
    }
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
