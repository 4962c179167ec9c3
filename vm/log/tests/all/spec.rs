//! What `spec/log.md` shows is read by this crate, and its tables are those of the code.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::io::Cursor;

use aigo_ir::diagnostic::Severity;
use aigo_log::{Digest, Log, ROWS, Record, State, decode, encode, marked, upto};

const SPEC: &str = include_str!("../../../../spec/log.md");

/// The text of the first block of a kind.
fn block(fence: &str) -> &'static str {
    let (_, from) = SPEC.split_once(&format!("```{fence}\n")).unwrap();
    from.split_once("```").unwrap().0
}

#[test]
fn the_example_is_a_log_with_the_digest_that_it_says() {
    let log = Log::read("spec/log.md", Cursor::new(block("jsonl"))).unwrap();
    assert_eq!((log.state(), log.lines(), log.durable()), (State::Clean, 11, 10));
    let trials: Vec<_> = log.trials().collect::<Result<_, _>>().unwrap();
    let texts: Vec<_> = trials.iter().map(|trial| trial.calls[0].got.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(texts, ["Rome\u{202e}", "Paris"]);
    let mut digest = Digest::of(log.header(), log.header().hash);
    for trial in &trials {
        let (open, close) = (&trial.open, trial.close.as_ref().unwrap());
        digest.add(&open.key, open.epoch, &open.hash(), &close.leaf);
    }
    assert_eq!(digest.finish(), log.end().unwrap().digest);
}

#[test]
fn the_example_is_what_this_crate_writes() {
    for line in block("jsonl").lines() {
        let (n, record) = decode(line.as_bytes()).unwrap();
        let again = match upto(line.as_bytes()).filter(|_| !matches!(record, Record::Durable(_))) {
            Some(upto) => marked(n, upto, &record),
            None => encode(n, &record),
        };
        assert_eq!(again.unwrap().trim_end(), line);
    }
}

#[test]
fn the_codes_are_in_the_table() {
    for row in ROWS {
        assert!(SPEC.contains(&format!("| {} | ", row.code)), "{}", row.code);
    }
    assert_eq!(SPEC.matches("\n| L0").count(), ROWS.len());
    assert_eq!(ROWS.iter().filter(|row| row.severity == Severity::Warning).count(), 1);
    assert!(ROWS.is_sorted_by(|a, b| a.code < b.code));
}
