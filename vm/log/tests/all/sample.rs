//! Records and logs that several tests use.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part; tests may unwrap")]

use aigo_ir::key::Key;
use aigo_ir::value::Value;
use aigo_log::{Ask, At, Close, Durable, End, FORMAT, Got, Open, Record, Resumed, Run, Score, Site, Usage};

pub(crate) fn header() -> Run {
    Run {
        format: FORMAT,
        flags: vec![1],
        id: "r1".to_owned(),
        aigo: "0.1.0".to_owned(),
        engines: [("minijinja".to_owned(), "3.1.0".to_owned())].into(),
        program: "graph solve\n".to_owned(),
        hash: Key([1; 32]),
        dataset: "d".to_owned(),
        seed: u64::MAX,
        trials: None,
        sites: vec![],
        task: None,
        root: None,
        parent: None,
        selection: None,
        baseline: None,
    }
}

pub(crate) fn open(trial: u64) -> Record {
    Record::Open(Open {
        trial,
        key: format!("k{trial}"),
        epoch: 1,
        graph: "solve".to_owned(),
        row: Value::map([("q", Value::from("2+2"))]),
        messages: None,
        tags: vec![],
        cluster: None,
    })
}

pub(crate) fn site(node: &str) -> Site {
    Site { graph: "solve".into(), node: node.into(), role: "target".into() }
}

pub(crate) fn ask(trial: u64) -> Record {
    Record::Ask(Ask {
        trial,
        at: At::Site(site("steps.0")),
        index: vec![2],
        content: "0123456789abcdef01234567".to_owned(),
        retry: false,
        most: None,
    })
}

pub(crate) fn got(trial: u64, ask: u64, text: &str) -> Record {
    Record::Got(Got {
        trial,
        ask,
        text: text.to_owned(),
        stop: "stop".to_owned(),
        usage: Usage { input: Some(7), output: Some(1), cached: None, reasoning: None },
        ..Got::default()
    })
}

pub(crate) fn close(trial: u64) -> Record {
    let score = Score {
        scorer: "exact".to_owned(),
        turn: None,
        outcome: "scored".to_owned(),
        value: Some(Value::Int(1)),
        pass: Some(true),
    };
    Record::Close(Close { trial, ending: "done".to_owned(), leaf: Key([2; 32]), scores: vec![score] })
}

pub(crate) fn end() -> Record {
    Record::End(End { digest: Key([3; 32]), exit: 0 })
}

pub(crate) fn durable(upto: u64) -> Record {
    Record::Durable(Durable { upto })
}

pub(crate) fn resumed() -> Record {
    Record::Resumed(Resumed { aigo: "0.1.0".to_owned() })
}

/// Lines numbered from 1.
pub(crate) fn log(records: &[Record]) -> Vec<u8> {
    let lines = (1..).zip(records).map(|(n, record)| aigo_log::encode(n, record).unwrap());
    lines.collect::<String>().into_bytes()
}

/// A log, and the numbers of the lines which say that others are on the disk, with what they say.
pub(crate) type Marked = (Vec<u8>, Vec<(usize, usize)>);

/// Lines numbered from 1. Markers but the last stand on the lines that follow them, as the journal writes them.
pub(crate) fn marked(records: &[Record]) -> Marked {
    let (mut bytes, mut markers, mut upto) = (Vec::new(), Vec::new(), None);
    let last = records.len() - 1;
    let mut n = 0;
    for (at, record) in records.iter().enumerate() {
        if let (Record::Durable(durable), true) = (record, at < last) {
            upto = Some(durable.upto);
            continue;
        }
        n += 1;
        let own = if let Record::Durable(durable) = record { Some(durable.upto) } else { upto };
        markers.extend(own.map(|upto| (usize::try_from(n).unwrap(), usize::try_from(upto).unwrap())));
        let line = match upto.take() {
            Some(upto) => aigo_log::marked(n, upto, record),
            None => aigo_log::encode(n, record),
        };
        bytes.extend_from_slice(line.unwrap().as_bytes());
    }
    (bytes, markers)
}

/// A small run of two trials, numbered for [`marked`].
pub(crate) fn small_marked() -> Vec<Record> {
    let first = durable(1);
    let begun = [Record::Run(header()), first, open(0), ask(0), open(1), got(0, 3, "four"), durable(5)];
    let ended = [ask(1), close(0), got(1, 6, "\u{202e}4"), close(1), end(), durable(10)];
    begun.into_iter().chain(ended).collect()
}

/// A small run of two trials with a marker in its middle, and one at its end.
pub(crate) fn small() -> Vec<Record> {
    vec![
        Record::Run(header()),
        durable(1),
        open(0),
        ask(0),
        open(1),
        got(0, 4, "four"),
        durable(6),
        ask(1),
        close(0),
        got(1, 8, "\u{202e}4"),
        close(1),
        end(),
        durable(12),
    ]
}
