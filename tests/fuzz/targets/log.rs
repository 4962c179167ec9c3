//! Arbitrary bytes as a log; and a valid log that was edited and given right checksums again, so that the fuzzer gets behind
//! them. Nothing may panic, and what is read must come back when it is written.
#![no_main]

use std::io::Cursor;

use aigo_ir::key::Key;
use aigo_ir::value::Value;
use aigo_log::{
    Ask, At, Close, Durable, End, FORMAT, Got, Log, LogError, Open, Record, Resumed, Run, Score, Site, State, Usage,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, bytes)) => check(bytes),
        Some((mode, edits)) => check(&edited(*mode, edits)),
        None => {}
    }
});

/// The greatest `upto` of all markers, wherever they stand.
fn marked(bytes: &[u8]) -> u64 {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.filter_map(aigo_log::upto).max().unwrap_or(0)
}

/// Reads a log in every way.
fn check(bytes: &[u8]) {
    let log = match Log::read("fuzz", Cursor::new(bytes.to_vec())) {
        Ok(log) => log,
        Err(error) => {
            if let LogError::Damage { line, durable, .. } = &error {
                assert!(line <= durable && *durable <= marked(bytes));
            }
            assert!(error.diagnostic().row.code.starts_with("L01"));
            return;
        }
    };
    if log.is_sealed() {
        // Its index and its frames are bytes that anyone can write: each trial is read, or refused.
        let whole = log.verify().is_ok();
        assert!(!whole || log.trials().all(|trial| trial.is_ok() || trial.is_err_and(|error| error.code() == "L0108")));
        return;
    }
    assert!(log.lines() > 0 && log.durable() < log.lines());
    let intact = match log.state() {
        State::Clean => bytes.len(),
        State::Torn { at, bytes: torn } => {
            assert_eq!(at + torn, bytes.len() as u64);
            at as usize
        }
    };
    assert!(marked(bytes) <= log.lines(), "damage was taken for a torn end");
    if let Some(next) =
        bytes[intact..].split_inclusive(|byte| *byte == b'\n').next().and_then(|line| line.strip_suffix(b"\n"))
        && let Ok((n, record)) = aigo_log::decode(next)
    {
        assert!(
            n != log.lines() + 1 || matches!(record, Record::Durable(Durable { upto }) if upto >= n),
            "a line was lost"
        );
    }
    let mut lines = 0;
    for line in bytes[..intact].split_inclusive(|byte| *byte == b'\n') {
        lines += 1;
        let Ok((n, record)) = aigo_log::decode(line.strip_suffix(b"\n").unwrap()) else { continue };
        assert_eq!(n, lines);
        // What nests too deep can be read and not be written.
        let Ok(again) = aigo_log::encode(n, &record) else { continue };
        assert!(!again.trim_end_matches('\n').chars().any(aigo_ir::text::is_dangerous));
        assert_eq!(aigo_log::decode(again.trim_end_matches('\n').as_bytes()).unwrap(), (n, record));
    }
    assert_eq!(lines, log.lines());
    for trial in log.trials().flatten() {
        assert!(trial.calls.is_sorted_by(|a, b| a.n < b.n));
        assert!(trial.calls.iter().all(|call| call.got.as_ref().is_none_or(|got| got.ask == call.n)));
    }
    // A log that was cut at its torn end is clean, and says the same.
    let cut = Log::read("fuzz", Cursor::new(bytes[..intact].to_vec())).unwrap();
    assert_eq!(
        (cut.state(), cut.lines(), cut.durable(), cut.end()),
        (State::Clean, log.lines(), log.durable(), log.end())
    );
}

/// A valid log after some edits. The mode says whether checksums and numbers are made right again.
fn edited(mode: u8, edits: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = valid();
    let mut rest = edits;
    while let [kind, line, at, length, more @ ..] = rest {
        let (payload, after) = more.split_at((*length as usize % 32).min(more.len()));
        rest = after;
        let at_line = *line as usize % lines.len();
        let text = &mut lines[at_line];
        // Most of a line's syntax is near its start.
        let from = (16 + *at as usize).min(text.len());
        match kind % 7 {
            0 => drop(text.splice(from..(from + payload.len()).min(text.len()), payload.iter().copied())),
            1 => drop(text.splice(from..from, payload.iter().copied())),
            2 => drop(text.drain(from..(from + *length as usize).min(text.len()))),
            3 => {
                let copy = text.clone();
                lines.insert(at_line, copy);
            }
            4 if lines.len() > 1 => drop(lines.remove(at_line)),
            5 => {
                let other = *at as usize % lines.len();
                lines.swap(at_line, other);
            }
            _ => lines.insert(at_line, [b"{\"c\":\"00000000\",", payload].concat()),
        }
    }
    let mut out = Vec::new();
    for (n, mut line) in (1..).zip(lines) {
        if mode & 2 != 0 {
            line = renumbered(&line, n);
        }
        if mode & 4 == 0 && line.len() >= 16 {
            let sum = crc32c(&line[16..]);
            line[6..14].copy_from_slice(format!("{sum:08x}").as_bytes());
        }
        out.extend_from_slice(&line);
        out.push(b'\n');
    }
    if mode & 8 != 0 {
        out.truncate(out.len().saturating_sub(mode as usize));
    }
    out
}

/// With the number that fits its place.
fn renumbered(line: &[u8], n: u64) -> Vec<u8> {
    let Some(rest) = line.get(16..).and_then(|rest| rest.strip_prefix(b"\"n\":")) else { return line.to_vec() };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    [&line[..16], format!("\"n\":{n}").as_bytes(), &rest[digits..]].concat()
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 })
    })
}

/// The lines of a small log with a record of each kind, without their newlines.
fn valid() -> Vec<Vec<u8>> {
    let own = str::to_owned;
    let value = Value::map([
        ("a", Value::list(vec![Value::Int(-1), Value::Float(0.5), Value::Null])),
        ("b", Value::from("\u{202e}")),
    ]);
    let open = |trial| {
        Record::Open(Open { trial, key: own("k"), epoch: 1, graph: own("g"), row: value.clone(), messages: None, tags: vec![own("t")], cluster: Some(own("c")) })
    };
    let site = || Site { graph: "g".into(), node: "s.0".into(), role: "r".into() };
    let ask = |trial| {
        let at = if trial == 1 { At::Row(0) } else { At::Site(site()) };
        let content = own("0123456789abcdef01234567");
        Record::Ask(Ask { trial, at, index: vec![1, 2], content, retry: trial == 1, most: None })
    };
    let got = |trial, ask| {
        let usage = Usage { input: Some(1), output: Some(2), cached: None, reasoning: None };
        let (calls, context) = (vec![value.clone()], Some(value.clone()));
        Record::Got(Got { trial, ask, text: own("x\n"), calls, stop: own("stop"), usage, context, ..Got::default() })
    };
    let score =
        Score { scorer: own("e"), turn: Some(1), outcome: own("scored"), value: Some(Value::Int(1)), pass: Some(true) };
    let header = Run {
        format: FORMAT,
        flags: vec![1],
        id: own("i"),
        aigo: own("0"),
        engines: [(own("m"), own("3"))].into(),
        program: own("p"),
        hash: Key([0; 32]),
        dataset: own("d"),
        seed: 1,
        task: None,
        root: Some(own("r")),
        baseline: Some(own("b")),
        trials: None,
        sites: vec![site()],
        parent: None,
        selection: None,
    };
    let records = [
        Record::Run(header),
        open(0),
        ask(0),
        open(1),
        got(0, 3),
        Record::Durable(Durable { upto: 5 }),
        ask(1),
        Record::Close(Close { trial: 0, ending: own("done"), leaf: Key([1; 32]), scores: vec![score] }),
        Record::Resumed(Resumed { aigo: own("0") }),
        got(1, 7),
        Record::End(End { digest: Key([2; 32]), exit: 0 }),
        Record::Durable(Durable { upto: 11 }),
    ];
    let line = |n, record: &Record| match record {
        // The line behind a sync says so.
        Record::Got(_) => aigo_log::marked(n, n - 2, record),
        _ => aigo_log::encode(n, record),
    };
    (1..).zip(&records).map(|(n, record)| line(n, record).unwrap().trim_end().as_bytes().to_vec()).collect()
}
