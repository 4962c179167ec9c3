//! Processes that are killed while they write: what they had heard to be durable is in the log, and the next one goes on.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may unwrap, and their files are small")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use aigo_log::{Durability, Journal, Log, Record};

use crate::sample::{ask, got, header, open};

const FOLDER: &str = "AIGO_LOG_KILL_TEST";
const THREADS: u64 = 8;

/// Not a test of its own: the process that is killed. It says `ack N TEXT` for every answer that is durable, for ever.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (journal, first) = if folder.exists() {
        let (journal, recovery) = Journal::reopen(&folder, "0", Durability::Batch).unwrap();
        (journal, recovery.log.numbers().last().map_or(0, |last| last + 1))
    } else {
        (Journal::create(&folder, &header(), Durability::Batch).unwrap(), 0)
    };
    std::thread::scope(|scope| {
        for trial in first..first + THREADS {
            let journal = &journal;
            scope.spawn(move || {
                journal.append(&open(trial)).unwrap();
                for call in 0_u64.. {
                    let asked = journal.write(&ask(trial)).unwrap();
                    let text = format!("{trial}-{call}-{}", "x".repeat((call as usize * 37) % 3000));
                    let (tell, told) = channel();
                    let answer = got(trial, asked, &text);
                    let n = journal.commit(&answer, move |outcome| tell.send(outcome).unwrap()).unwrap();
                    told.recv().unwrap().unwrap();
                    // One write, so that lines of two threads do not mix.
                    std::io::stdout().write_all(format!("ack {n} {asked} {text}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// Runs the child until it has acknowledged `acks` answers, kills it, and gives all that it said until then.
fn killed_after(folder: &Path, acks: usize) -> Vec<(u64, u64, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // libtest's own lines have no newline before the first of ours.
        let Some((_, ack)) = line.split_once("ack ") else { continue };
        let parts: Vec<&str> = ack.splitn(3, ' ').collect();
        let [n, asked, text] = parts[..] else { continue };
        said.push((n.parse().unwrap(), asked.parse().unwrap(), text.to_owned()));
        if said.len() == acks {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    // The last line may be cut, and then it says less than it should; all others end with a newline.
    if said.len() > acks {
        said.pop();
    }
    assert!(said.len() >= acks.min(1), "the child wrote nothing");
    said
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_the_numbers_go_on() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill");
    let _ = std::fs::remove_dir_all(&folder);
    let mut acknowledged: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    let (mut chance, mut last) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for round in 0..25 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for (n, asked, text) in killed_after(&folder, 1 + (chance >> 33) as usize % 400) {
            assert!(n > last, "round {round} gave number {n} again");
            acknowledged.insert(asked, (n, text));
        }
        let log = Log::open(&folder).unwrap();
        last = log.lines();
        let mut found = BTreeMap::new();
        for trial in log.trials() {
            for call in trial.unwrap().calls {
                found.insert(call.n, call.got.map(|got| got.text));
            }
        }
        for (asked, (n, text)) in &acknowledged {
            assert_eq!(found.get(asked), Some(&Some(text.clone())), "round {round}: line {n} was acknowledged");
        }
    }
    let (journal, recovery) = Journal::reopen(&folder, "0", Durability::Batch).unwrap();
    let n = journal.write(&ask(0)).unwrap();
    assert!(n > recovery.log.lines());
    journal.finish().unwrap();
    let resumed = std::fs::read_to_string(folder.join("log.jsonl"))
        .unwrap()
        .lines()
        .filter(|line| matches!(aigo_log::decode(line.as_bytes()), Ok((_, Record::Resumed(_)))))
        .count();
    assert_eq!(resumed, 25);
}
