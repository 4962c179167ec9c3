//! Logs that were cut, flipped, spliced: each is read, or refused with the place, and no durable line is lost silently.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may unwrap and panic")]
#![allow(clippy::cast_possible_truncation, reason = "their files are small")]

use std::io::Cursor;

use aigo_log::{Durability, Journal, Log, LogError, Record, State, Trial, encode};

use crate::sample::{Marked, ask, close, durable, end, got, header, log, marked, open, resumed, small, small_marked};

fn read(bytes: &[u8]) -> Result<Log, LogError> {
    Log::read("test", Cursor::new(bytes.to_vec()))
}

/// The records of a log, as far as they are intact, by trial.
fn trials(log: &Log) -> Vec<Trial> {
    log.trials().collect::<Result<_, _>>().unwrap()
}

/// Where each line ends.
fn ends(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

#[test]
fn a_whole_log_reads() {
    let log = read(&log(&small())).unwrap();
    assert_eq!((log.state(), log.lines(), log.durable()), (State::Clean, 13, 12));
    assert_eq!(log.header(), &header());
    assert_eq!(log.end().unwrap().exit, 0);
    let trials = trials(&log);
    assert_eq!(log.numbers().collect::<Vec<_>>(), [0, 1]);
    let texts: Vec<_> = trials.iter().map(|trial| trial.calls[0].got.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(texts, ["four", "\u{202e}4"]);
    assert_eq!((trials[0].calls[0].n, trials[1].calls[0].n), (4, 8));
    assert!(trials.iter().all(|trial| trial.close.is_some()));
}

/// The small run with its markers on lines of their own, and on the lines of others: each with the line of every marker, and
/// what that says.
fn logs() -> [Marked; 2] {
    [(log(&small()), vec![(2, 1), (7, 6), (13, 12)]), marked(&small_marked())]
}

#[test]
fn markers_stand_on_the_lines_of_others() {
    let [_, (whole, markers)] = logs();
    assert_eq!(markers, [(2, 1), (6, 5), (11, 10)]);
    let log = read(&whole).unwrap();
    assert_eq!((log.state(), log.lines(), log.durable()), (State::Clean, 11, 10));
    assert_eq!(trials(&log)[1].calls[0].got.as_ref().unwrap().text, "\u{202e}4");
}

#[test]
fn cut_at_every_byte() {
    for (whole, _) in logs() {
        cut_everywhere(&whole);
    }
}

fn cut_everywhere(whole: &[u8]) {
    let ends = ends(whole);
    for length in 0..whole.len() {
        let lines = ends.iter().filter(|end| **end <= length).count();
        match read(&whole[..length]) {
            Ok(log) => {
                assert_eq!(log.lines(), lines as u64);
                let at = ends[lines - 1];
                let torn = State::Torn { at: at as u64, bytes: (length - at) as u64 };
                assert_eq!(log.state(), if at == length { State::Clean } else { torn });
                assert!(log.durable() <= log.lines());
                trials(&log);
            }
            Err(error) => assert_eq!((error.code(), lines), ("L0107", 0), "{length}: {error}"),
        }
    }
}

#[test]
fn every_bit_flipped() {
    for (whole, markers) in logs() {
        flipped_everywhere(&whole, &markers);
    }
}

fn flipped_everywhere(whole: &[u8], markers: &[(usize, usize)]) {
    let ends = ends(whole);
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << bit;
        let line = ends.iter().filter(|end| **end <= at).count() + 1;
        // Without its newline a line takes the next one with it.
        let last = if whole[at] == b'\n' { line + 1 } else { line };
        let intact = markers.iter().filter(|(own, _)| !(line..=last).contains(own));
        let durable = intact.map(|(_, upto)| *upto).max().unwrap();
        match read(&bytes) {
            Ok(log) => {
                assert!(line > durable, "byte {at}, bit {bit}: line {line} was durable, and is lost");
                assert_eq!(log.lines() as usize, line - 1);
                assert!(matches!(log.state(), State::Torn { .. }));
                trials(&log);
            }
            Err(LogError::Damage { line: found, at: start, .. }) => {
                assert!(line <= durable);
                assert_eq!(found as usize, line);
                assert_eq!(start as usize, line.checked_sub(2).map_or(0, |before| ends[before]));
            }
            Err(error) => panic!("byte {at}, bit {bit}: {error}"),
        }
    }
}

#[test]
fn good_lines_after_bad_ones_are_torn_until_a_marker_covers_them() {
    let lines: Vec<String> = (1..).zip(&small()).map(|(n, record)| encode(n, record).unwrap()).collect();
    let without = |missing: usize, upto: usize| {
        let kept = lines.iter().take(upto).enumerate().filter(|(at, _)| at + 1 != missing);
        read(kept.map(|(_, line)| line.as_str()).collect::<String>().as_bytes())
    };
    // The batch after the marker in line 7 lost a page; the rest of it is there, and none was acknowledged.
    let log = without(9, 12).unwrap();
    assert_eq!((log.lines(), log.durable()), (8, 6));
    assert!(matches!(log.state(), State::Torn { .. }));
    // With the marker in line 13, line 9 was on the disk.
    let error = without(9, 13).err().unwrap();
    assert!(matches!(&error, LogError::Damage { line: 9, durable: 12, .. }), "{error}");
    assert!(error.to_string().contains("number 10"), "{error}");
    // The marker itself is missing.
    assert_eq!(without(7, 12).unwrap().lines(), 6);
}

#[test]
fn a_marker_that_cannot_be_true_proves_nothing() {
    let mut bytes = log(&small()[..6]);
    bytes.extend_from_slice(b"rubbish\n");
    bytes.extend_from_slice(encode(8, &durable(8)).unwrap().as_bytes());
    assert_eq!(read(&bytes).unwrap().lines(), 6);
    bytes.extend_from_slice(encode(9, &durable(7)).unwrap().as_bytes());
    assert_eq!(read(&bytes).err().unwrap().code(), "L0101");
}

#[test]
fn other_files_and_other_versions() {
    let first = encode(1, &Record::Run(header())).unwrap();
    let code = |bytes: &[u8]| read(bytes).err().unwrap().code();
    assert_eq!(code(b""), "L0107");
    assert_eq!(code(b"#!/bin/sh\n"), "L0107");
    assert_eq!(code(&log(&[open(0)])), "L0107");
    let sum = |text: &str| {
        let (_, summed) = text.trim_end().split_once("\",").unwrap();
        format!("{{\"c\":\"{:08x}\",{summed}\n", crc32c::crc32c(summed.as_bytes()))
    };
    assert_eq!(sum(&first), first);
    assert_eq!(code(sum(&first.replace("\"format\":1", "\"format\":2")).as_bytes()), "L0104");
    assert_eq!(code(sum(&first.replace("\"format\":1", "\"format\":\"two\"")).as_bytes()), "L0104");
    let error = read(sum(&first.replace("\"flags\":[1]", "\"flags\":[1,9]")).as_bytes()).err().unwrap();
    assert!(error.code() == "L0104" && error.to_string().contains("the flag 9"), "{error}");
    assert_eq!(code(sum(&first.replace("\"seed\"", "\"seeds\"")).as_bytes()), "L0108");
    let unknown = sum("{\"c\":\"\",\"n\":2,\"e\":\"dream\",\"s\":\"x\"}\n");
    let error = read((first + &unknown).as_bytes()).err().unwrap();
    assert!(matches!(&error, LogError::Version { line: 2, .. }) && error.to_string().contains("`dream`"), "{error}");
}

#[test]
fn records_that_contradict_each_other_are_named() {
    let with = |records: &[Record]| {
        let mut all = vec![Record::Run(header())];
        all.extend_from_slice(records);
        read(&log(&all)).and_then(|log| log.trial(0)).err().map(|error| (error.code(), error.to_string()))
    };
    assert_eq!(with(&[open(0), ask(0), close(0), got(0, 3, "late")]), None);
    for (records, part) in [
        (vec![open(0), ask(0), got(0, 9, "x")], "line 4: the record answers in trial 0 what was not asked there"),
        (
            vec![open(0), ask(0), got(0, 3, "x"), got(0, 3, "y")],
            "line 5: the record answers in trial 0 what is answered already",
        ),
        (
            vec![open(0), open(1), ask(1), got(0, 4, "x")],
            "line 5: the record answers in trial 0 what was not asked there",
        ),
        (vec![ask(0), open(0)], "line 2: the record speaks of trial 0 before that trial is opened"),
        (vec![open(0), open(0)], "line 3: the record opens trial 0 again"),
        (vec![open(0), close(0), close(0)], "line 4: the record closes trial 0 again"),
        (vec![open(1)], "no record speaks of trial 0"),
        (vec![Record::Run(header())], "line 2: a record `run` stands in the middle"),
    ] {
        let (code, text) = with(&records).unwrap();
        assert!(code == "L0108" && text.contains(part), "{text}");
    }
}

#[test]
fn the_end_counts_until_the_run_is_resumed() {
    let mut records = vec![Record::Run(header()), end()];
    assert!(read(&log(&records)).unwrap().end().is_some());
    records.push(resumed());
    assert!(read(&log(&records)).unwrap().end().is_none());
    records.push(end());
    assert!(read(&log(&records)).unwrap().end().is_some());
}

#[test]
fn a_line_beyond_the_cap_is_bad_bytes() {
    let mut bytes = log(&small()[..4]);
    let size = bytes.len() as u64;
    bytes.resize(bytes.len() + aigo_log::MAX_LINE + 10, b'x');
    bytes.extend_from_slice(b"\nmore\n");
    let log = read(&bytes).unwrap();
    assert_eq!(log.state(), State::Torn { at: size, bytes: bytes.len() as u64 - size });
}

#[test]
fn reopening_cuts_a_torn_end_aside_and_refuses_damage() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("reopening");
    let _ = std::fs::remove_dir_all(&folder);
    let journal = Journal::create(&folder, &header(), Durability::Batch).unwrap();
    journal.append(&open(0)).unwrap();
    assert_eq!(Journal::reopen(&folder, "0", Durability::Batch).err().unwrap().code(), "L0103");
    assert_eq!(Journal::create(&folder, &header(), Durability::Batch).err().unwrap().code(), "L0110");
    journal.finish().unwrap();
    assert_eq!(journal.write(&ask(0)).unwrap_err().code(), "L0111");
    drop(journal);

    let path = folder.join("log.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    let (whole, lines) = (bytes.len() as u64, ends(&bytes).len() as u64);
    for again in 1..4 {
        let tail = format!("{{\"c\":\"half a line {again}");
        bytes.extend_from_slice(tail.as_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let (journal, recovery) = Journal::reopen(&folder, "0", Durability::Batch).unwrap();
        let torn = recovery.torn.unwrap();
        assert_eq!((torn.at, torn.bytes), (whole, tail.len() as u64));
        assert_eq!(std::fs::read_to_string(&torn.kept).unwrap(), tail);
        assert_eq!(recovery.log.lines(), lines);
        // `resumed` tells that what was found is on the disk, and the next line that `resumed` is.
        assert_eq!(journal.write(&ask(0)).unwrap(), lines + 2);
        drop(journal);
        assert_eq!(Log::open(&folder).unwrap().state(), State::Clean);
        bytes.truncate(whole as usize);
    }

    let bytes = std::fs::read(&path).unwrap();
    let mut bad = bytes.clone();
    bad[20] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    assert_eq!(Journal::reopen(&folder, "0", Durability::Batch).err().unwrap().code(), "L0101");
    assert_eq!(std::fs::read(&path).unwrap(), bad);
    assert_eq!(Journal::reopen(&folder.join("no"), "0", Durability::Batch).err().unwrap().code(), "L0107");
}
