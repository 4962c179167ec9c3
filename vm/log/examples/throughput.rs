//! Measures the journal: `cargo run --release -p aigo-log --example throughput [folder]`.

use std::error::Error;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::sync::mpsc::{channel, sync_channel};
use std::time::{Duration, Instant};

use aigo_ir::key::Key;
use aigo_ir::value::Value;
use aigo_log::{Ask, At, Durability, FORMAT, Got, Journal, Log, Open, Record, Run, Site, Usage, encode};

const LINES: u64 = 1_000_000;
const WAITERS: u64 = 64;
const TIME: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn Error>> {
    let base = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    for (name, text) in [("40 bytes", "four ".repeat(8)), ("1,000 bytes", "four ".repeat(200))] {
        let rate = encoded(&text)?;
        writeln!(stdout(), "encode, answers of {name}: {rate:.0} lines/s")?;
    }
    for durability in [Durability::Batch, Durability::Process] {
        for threads in [false, true] {
            let folder = base.join(format!("aigo-throughput-{}", std::process::id()));
            let journal = Journal::create(&folder, &header(), durability)?;
            let start = Instant::now();
            let calls = if threads { by_threads(&journal)? } else { by_wakers(&journal)? };
            let rate = calls as f64 / start.elapsed().as_secs_f64();
            journal.finish()?;
            drop(journal);
            let how = if threads { "threads" } else { "waiters on one thread" };
            writeln!(
                stdout(),
                "{durability:?}, {WAITERS} {how}: {rate:.0} calls/s (an ask written and an answer durable)"
            )?;
            let start = Instant::now();
            let log = Log::open(&folder)?;
            let scanned = log.lines() as f64 / start.elapsed().as_secs_f64();
            let start = Instant::now();
            let calls: usize = log.trials().map(|trial| trial.map(|trial| trial.calls.len())).sum::<Result<_, _>>()?;
            let read = 2.0 * calls as f64 / start.elapsed().as_secs_f64();
            writeln!(stdout(), "  {} lines: scanned {scanned:.0} lines/s, trials read {read:.0} lines/s", log.lines())?;
            std::fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}

fn encoded(text: &str) -> Result<f64, Box<dyn Error>> {
    let (question, answer) = (ask(3), got(3, 1000, text));
    let start = Instant::now();
    let mut bytes = 0;
    for n in 0..LINES / 2 {
        bytes += encode(n, &question)?.len() + encode(n, &answer)?.len();
    }
    std::hint::black_box(bytes);
    Ok(LINES as f64 / start.elapsed().as_secs_f64())
}

/// A thread for each conversation.
fn by_threads(journal: &Journal) -> Result<u64, Box<dyn Error>> {
    let end = Instant::now() + TIME;
    let run = |trial: u64| -> Result<u64, Box<dyn Error + Send + Sync>> {
        let (tell, told) = sync_channel(1);
        journal.append(&open(trial))?;
        let mut calls = 0;
        while Instant::now() < end {
            let asked = journal.write(&ask(trial))?;
            let tell = tell.clone();
            journal.commit(&got(trial, asked, "The answer is four."), move |outcome| {
                let _ = tell.send(outcome);
            })?;
            told.recv()??;
            calls += 1;
        }
        Ok(calls)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WAITERS).map(|trial| scope.spawn(move || run(trial))).collect();
        let mut calls = 0;
        for thread in threads {
            calls += thread.join().map_err(|_| "a thread panicked")?.map_err(|error| error.to_string())?;
        }
        Ok(calls)
    })
}

/// One thread for all, as an asynchronous driver would have it: whoever is woken asks again.
fn by_wakers(journal: &Journal) -> Result<u64, Box<dyn Error>> {
    let end = Instant::now() + TIME;
    let (tell, told) = channel();
    let call = |trial| -> Result<(), Box<dyn Error>> {
        let asked = journal.write(&ask(trial))?;
        let tell = tell.clone();
        journal.commit(&got(trial, asked, "The answer is four."), move |outcome| {
            let _ = tell.send((trial, outcome));
        })?;
        Ok(())
    };
    for trial in 0..WAITERS {
        journal.append(&open(trial))?;
        call(trial)?;
    }
    let mut calls = 0;
    while Instant::now() < end {
        let (trial, outcome) = told.recv()?;
        outcome?;
        calls += 1;
        call(trial)?;
    }
    Ok(calls)
}

fn header() -> Run {
    Run {
        format: FORMAT,
        flags: vec![],
        id: "throughput".to_owned(),
        aigo: env!("CARGO_PKG_VERSION").to_owned(),
        engines: std::collections::BTreeMap::new(),
        program: String::new(),
        hash: Key([0; 32]),
        dataset: String::new(),
        seed: 0,
        task: None,
        root: None,
        parent: None,
        selection: None,
        baseline: None,
        trials: None,
        sites: vec![site()],
    }
}

fn open(trial: u64) -> Record {
    let row = Value::map([("question", "What is two and two?")].map(|(key, text)| (key, Value::from(text))));
    Record::Open(Open {
        trial,
        key: trial.to_string(),
        epoch: 1,
        graph: "solve".to_owned(),
        row,
        messages: None,
        tags: vec![],
        cluster: None,
    })
}

fn site() -> Site {
    Site { graph: "solve".into(), node: "steps.0".into(), role: "target".into() }
}

fn ask(trial: u64) -> Record {
    let (at, content) = (At::Site(site()), "0".repeat(24));
    Record::Ask(Ask { trial, at, index: vec![1], content, retry: false, most: None })
}

fn got(trial: u64, ask: u64, text: &str) -> Record {
    let usage = Usage { input: Some(100), output: Some(10), cached: None, reasoning: None };
    let (text, model) = (text.to_owned(), Some("model-2026-01-01".to_owned()));
    Record::Got(Got { trial, ask, text, stop: "stop".to_owned(), usage, model, ..Got::default() })
}
