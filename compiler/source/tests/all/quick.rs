//! The reader of common YAML against the parser of all YAML: of every text, the same tree with the same places, and the same
//! findings.

use aigo_ir::span::FileId;
use aigo_source::{parse, parse_by_events};
use proptest::prelude::*;

use crate::{documents, oracle};

/// Both, whole: nodes, spans, values, styles, comments, findings.
fn compare(text: &str) -> Result<(), String> {
    let [quick, whole] = [parse(text, FileId(3)), parse_by_events(text, FileId(3))];
    if quick == whole {
        return Ok(());
    }
    let [quick, whole] = [quick, whole].map(|parsed| format!("{parsed:#?}"));
    let differing = quick.lines().zip(whole.lines()).filter(|(a, b)| a != b).take(8);
    let lines: Vec<String> = differing.map(|(a, b)| format!("{a}\n{b}")).collect();
    Err(format!("{text:?}\nthe lines that differ, quick and whole:\n{}", lines.join("\n")))
}

/// What a text may be changed by: the characters that mean something, and some that do not.
const PIECES: [&str; 32] = [
    " ", "  ", "\n", "\n\n", "-", "- ", ":", ": ", "#", " #", "'", "\"", "[", "]", "{", "}", ",", "|\n", ">\n", "&a ",
    "*a", "!t ", "?", "? ", "\\", "\t", "\r\n", "---\n", "...\n", "a", "é", "\u{feff}",
];

/// The text with each of a number of places changed, one at a time: something put in, a byte or a line taken away. `nth` says
/// which places.
fn changed(text: &str, many: usize, nth: usize) -> impl Iterator<Item = String> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let step = (places.len() / many).max(1);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let step_of_lines = (lines.len() / many).max(1);
    let mut found = Vec::new();
    for (place, &at) in places.iter().enumerate().skip(nth * 31 % step).step_by(step) {
        let (before, after) = text.split_at(at);
        let piece = PIECES[(place * 7 + place / step) % PIECES.len()];
        found.push(format!("{before}{piece}{after}"));
        found.push(format!("{before}{}", after.chars().skip(1).collect::<String>()));
        found.push(before.to_owned());
    }
    for at in (nth * 31 % step_of_lines..lines.len()).step_by(step_of_lines) {
        let with = |line: &str| [&lines[..at], &[line], &lines[at + 1..]].concat().concat();
        found.push(with(""));
        found.push(with(&format!(" {}", lines[at])));
        found.push(with(&lines[at].repeat(2)));
        found.push(with(lines[at].strip_prefix(' ').unwrap_or("")));
    }
    found.into_iter()
}

#[test]
fn every_file_of_the_project_reads_the_same() {
    let mut count = 0;
    for folder in ["tasks", "tests/fixtures", "spec", "tests/fuzz/corpus"] {
        for (path, text) in oracle::texts(folder) {
            if text.len() > 20_000 {
                continue;
            }
            count += 1;
            for text in std::iter::once(text.clone()).chain(changed(&text, 1, count)) {
                compare(&text).map_err(|difference| format!("{}: {difference}", path.display())).unwrap();
            }
        }
    }
    assert!(count > 300, "{count} texts");
}

#[test]
fn handwritten_documents_read_the_same() {
    for text in oracle::HANDWRITTEN {
        for text in std::iter::once((*text).to_owned()).chain(changed(text, 40, 0)) {
            compare(&text).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_documents_read_the_same(doc in documents::doc(), place: prop::sample::Index) {
        let text = documents::write(&doc, false);
        compare(&text).map_err(TestCaseError::fail)?;
        let all: Vec<String> = changed(&text, 20, 0).collect();
        compare(&all[place.index(all.len())]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn random_text_reads_the_same(text in "[-:\\[\\]{},|>'\"%#a-c0-1~.x \n]{0,40}") {
        compare(&format!("a: {text}")).map_err(TestCaseError::fail)?;
        compare(&text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn random_lines_read_the_same(lines in prop::collection::vec("( ){0,4}(- ){0,2}(a|b|'c'|\"d\\\\n\"|k)(:|: |: \\||: >-|: \\[x, y\\]|: \\{x: y\\}|: 'z'|: v|: v w|)( |  # c|)", 0..8)) {
        compare(&lines.join("\n")).map_err(TestCaseError::fail)?;
        compare(&(lines.join("\n") + "\n")).map_err(TestCaseError::fail)?;
    }
}
