//! Sealed logs: they say what the log said, they are found by sample, and no byte of one changes unseen.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may unwrap, and their files are small")]

use std::io::Cursor;
use std::path::{Path, PathBuf};

use aigo_log::{Durability, Journal, Log, LogError, Record, State, Trial, seal};

use crate::sample::{ask, close, end, got, header, log, open, resumed, small};

/// A folder with a log of these bytes.
fn folder(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("log.jsonl"), bytes).unwrap();
    folder
}

fn trials(log: &Log) -> Vec<Trial> {
    log.trials().collect::<Result<_, _>>().unwrap()
}

/// The files of a folder but the lock.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "LOCK").collect();
    names.sort();
    names
}

/// A run of so many trials that were in flight together, two epochs each, with keys that sort otherwise than they began.
fn large(samples: u64) -> Vec<u8> {
    let mut records = vec![Record::Run(header())];
    for at in 0..samples * 2 {
        let Record::Open(mut open) = open(at) else { unreachable!() };
        open.key = format!("k{:06}", (at / 2 * 7919) % samples);
        open.epoch = 1 + (at % 2) as u32;
        records.push(Record::Open(open));
        records.push(ask(at));
    }
    for at in 0..samples * 2 {
        records.push(got(at, 3 + at * 2, &format!("answer {at} {}", "word ".repeat(40 + at as usize % 90))));
    }
    records.extend((0..samples * 2).map(close));
    records.push(resumed());
    records.push(end());
    log(&records)
}

#[test]
fn a_sealed_log_says_what_the_log_said() {
    let whole = log(&small());
    let folder = folder("sealed_small", &whole);
    let before = Log::open(&folder).unwrap();
    let sealing = seal(&folder).unwrap();
    assert_eq!((sealing.before, files(&folder)), (whole.len() as u64, vec!["log.jsonl.zst".to_owned()]));
    let bytes = std::fs::read(&sealing.path).unwrap();
    assert_eq!(sealing.after, bytes.len() as u64);
    for log in [Log::open(&folder).unwrap(), Log::open(&sealing.path).unwrap()] {
        assert!(log.is_sealed());
        assert_eq!((log.header(), log.end(), log.lines()), (before.header(), before.end(), before.lines()));
        assert_eq!((log.state(), log.durable()), (State::Clean, log.lines()));
        assert_eq!((trials(&log), log.of_sample("k1").unwrap()), (trials(&before), vec![1]));
        assert_eq!(log.trial(9).unwrap_err().code(), "L0108");
        log.verify().unwrap();
    }
    // What every tool reads: the lines as they were, but for the markers.
    let text = String::from_utf8(zstd::stream::decode_all(bytes.as_slice()).unwrap()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("\"e\":\"run\"") && lines.last().unwrap().contains("\"e\":\"end\""));
    let whole = String::from_utf8(whole).unwrap();
    let mut expected: Vec<&str> = whole.lines().filter(|line| !line.contains("\"e\":\"durable\"")).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn no_bit_of_a_sealed_log_changes_unseen() {
    let folder = folder("sealed_bits", &log(&small()));
    let bytes = std::fs::read(seal(&folder).unwrap().path).unwrap();
    let code =
        |bytes: Vec<u8>| Log::read("test", Cursor::new(bytes)).and_then(|log| log.verify()).map_err(|e| e.code());
    assert_eq!(code(bytes.clone()), Ok(()));
    for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << bit;
        // Without its first bytes it is taken for a log of lines, and is none.
        assert_eq!(code(changed), Err(if at < 4 { "L0107" } else { "L0112" }), "byte {at}, bit {bit}");
    }
    for length in 0..bytes.len() {
        let expected = if length < 4 { "L0107" } else { "L0112" };
        assert_eq!(code(bytes[..length].to_vec()), Err(expected), "cut at {length}");
    }
    assert_eq!(code([bytes.as_slice(), b"\n"].concat()), Err("L0112"));
}

#[test]
fn a_frame_that_has_changed_is_told_where_it_is_read() {
    let folder = folder("sealed_frame", &large(4_000));
    let path = seal(&folder).unwrap().path;
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let log = Log::read("test", Cursor::new(bytes)).unwrap();
    let results: Vec<Result<Trial, LogError>> = log.trials().collect();
    let broken = results.iter().filter(|trial| matches!(trial, Err(LogError::Broken { .. }))).count();
    assert!(broken > 0 && broken < results.len(), "{broken} of {}", results.len());
    assert!(results.iter().all(|trial| trial.as_ref().err().is_none_or(|error| error.code() == "L0112")));
}

#[test]
fn samples_are_sorted_and_found_with_the_frame_that_holds_them() {
    let text = large(4_000);
    let folder = folder("sealed_large", &text);
    let before = Log::open(&folder).unwrap();
    let sealing = seal(&folder).unwrap();
    let log = Log::open(&folder).unwrap();
    let found = trials(&log);
    let keys: Vec<_> = found.iter().map(|trial| (trial.open.key.clone(), trial.open.epoch)).collect();
    assert!(keys.len() == 8_000 && keys.is_sorted(), "{}", keys.len());
    for key in ["k000000", "k000001", "k001234", "k002500", "k003999"] {
        let numbers = log.of_sample(key).unwrap();
        assert_eq!(numbers, before.of_sample(key).unwrap());
        assert_eq!(numbers.len(), 2, "{key}");
        for number in numbers {
            assert_eq!(log.trial(number).unwrap(), before.trial(number).unwrap());
        }
    }
    for key in ["", "k", "k002500x", "z"] {
        assert_eq!(log.of_sample(key).unwrap(), Vec::<u64>::new());
    }
    assert!(sealing.after * 5 < sealing.before, "{sealing:?}");
    assert_eq!(sealing.before, text.len() as u64);
}

#[test]
fn only_a_run_that_has_ended_is_sealed() {
    let records = small();
    let why = |name: &str, bytes: &[u8]| {
        let folder = folder(name, bytes);
        let error = seal(&folder).unwrap_err();
        assert_eq!((std::fs::read(folder.join("log.jsonl")).unwrap(), files(&folder).len()), (bytes.to_vec(), 1));
        (error.code(), error.to_string())
    };
    let is = |found: (&str, String), part: &str| assert!(found.0 == "L0114" && found.1.contains(part), "{found:?}");
    is(why("unsealed_running", &log(&records[..11])), "the run has not ended");
    let mut again = records.clone();
    again.push(resumed());
    is(why("unsealed_resumed", &log(&again)), "the run has not ended");
    let mut torn = log(&records);
    torn.extend_from_slice(b"{\"c\":");
    is(why("unsealed_torn", &torn), "torn end");
    let open_trial: Vec<Record> = records[..12].iter().filter(|record| **record != close(1)).cloned().collect();
    is(why("unsealed_open", &log(&open_trial)), "have not ended");
    let Record::Run(run) = &records[0] else { unreachable!() };
    let more = Record::Run(aigo_log::Run { trials: Some(3), ..run.clone() });
    let unbegun: Vec<Record> = std::iter::once(more).chain(records[1..].iter().cloned()).collect();
    is(why("unsealed_unbegun", &log(&unbegun)), "have not ended");

    // A trial that began anew under another number has ended all the same.
    let mut anew = records[..records.len() - 2].to_vec();
    let Record::Open(open) = open(0) else { unreachable!() };
    anew.extend([Record::Open(aigo_log::Open { trial: 5, ..open }), end()]);
    seal(&folder("sealed_anew", &log(&anew))).unwrap();
}

#[test]
fn what_is_sealed_is_not_written_to_and_a_killed_sealing_is_brought_to_its_end() {
    let whole = log(&small());
    let folder = folder("sealed_twice", &whole);
    let path = seal(&folder).unwrap().path;
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(Journal::reopen(&folder, "0", Durability::Batch).err().unwrap().code(), "L0113");
    let again = seal(&folder).unwrap();
    assert_eq!((again.before, again.after), (0, bytes.len() as u64));
    // Killed before the log was removed, with what another sealing left behind.
    std::fs::write(folder.join("log.jsonl"), &whole).unwrap();
    assert!(Log::open(&folder).unwrap().is_sealed());
    seal(&folder).unwrap();
    assert_eq!(files(&folder), ["log.jsonl.zst"]);
    // Where the sealed one does not hold, the log counts, and is sealed anew over what an earlier sealing left.
    std::fs::write(folder.join("log.jsonl"), &whole).unwrap();
    std::fs::write(folder.join("log.jsonl.zst.part"), "left").unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(!Log::open(&folder).unwrap().is_sealed());
    seal(&folder).unwrap();
    assert_eq!((files(&folder), std::fs::read(&path).unwrap()), (vec!["log.jsonl.zst".to_owned()], bytes));
    // Damage without the log is told.
    std::fs::write(&path, "x").unwrap();
    assert_eq!(seal(&folder).unwrap_err().code(), "L0107");
}

#[test]
fn a_writer_is_not_sealed_under_its_hands() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sealed_locked");
    let _ = std::fs::remove_dir_all(&folder);
    let journal = Journal::create(&folder, &header(), Durability::Process).unwrap();
    assert_eq!(seal(&folder).unwrap_err().code(), "L0103");
    journal.append(&end()).unwrap();
    journal.finish().unwrap();
    drop(journal);
    assert_eq!(Log::open(seal(&folder).unwrap().path.as_path()).unwrap().end().unwrap().exit, 0);
}

/// Reads a number in groups of seven bits off the front.
fn number(bytes: &mut &[u8]) -> u64 {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    own.iter().rev().fold(0, |n, byte| n << 7 | u64::from(byte & 0x7f))
}

/// A reader by the letter of `spec/log.md`, which shares nothing with the crate's own.
#[test]
fn a_sealed_log_is_what_the_specification_says() {
    let whole = large(4_000);
    let bytes = std::fs::read(seal(&folder("sealed_spec", &whole)).unwrap().path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let foot = bytes.len() - 16;
    assert_eq!(&bytes[foot + 8..], b"aigo.ix1");
    let content = word(foot + 4) as usize;
    let start = bytes.len() - content - 8;
    assert_eq!((&bytes[start..start + 4], word(start + 4) as usize), (&[0x5a, 0x2a, 0x4d, 0x18][..], content));
    let mut table = &bytes[start + 8..foot];
    assert_eq!(crc32c::crc32c(table), word(foot));
    let lines = whole.split(|byte| *byte == b'\n').count() as u64 - 1;
    assert_eq!(number(&mut table), lines);
    let (frames, mut at, mut last) = (number(&mut table), 0, String::new());
    assert!(frames > 4, "{frames}");
    for frame in 0..frames {
        let (packed, length) = (number(&mut table) as usize, number(&mut table) as usize);
        let own = &bytes[at..at + packed];
        assert_eq!(u64::from(crc32c::crc32c(own)), number(&mut table));
        let text = zstd::stream::decode_all(own).unwrap();
        assert!(text.len() == length && text.ends_with(b"\n"));
        let key_length = number(&mut table) as usize;
        let (key, rest) = table.split_at(key_length);
        table = rest;
        let trials = number(&mut table);
        assert_eq!(trials == 0, frame == 0 || frame == frames - 1);
        let mut rest = text.as_slice();
        for trial in 0..trials {
            let (named, length) = (number(&mut table), number(&mut table) as usize);
            let (own, behind) = rest.split_at(length);
            rest = behind;
            let first = own.split(|byte| *byte == b'\n').next().unwrap();
            let (_, Record::Open(open)) = aigo_log::decode(first).unwrap() else {
                panic!("a trial begins with `open`")
            };
            assert!(open.trial == named && open.key >= last, "{} after {last}", open.key);
            assert!(trial > 0 || open.key.as_bytes() == key);
            last = open.key;
        }
        assert!(trials == 0 || rest.is_empty());
        at += packed;
    }
    assert!(at == start && table.is_empty());
    assert!(zstd::stream::decode_all(bytes.as_slice()).unwrap().starts_with(b"{\"c\":\""));
}
