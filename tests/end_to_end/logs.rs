//! The commands on a log: what they show of a golden log, what they say of a bad one, and that a sealed one is as good.

use std::path::{Path, PathBuf};

use aigo_log::Log;

use crate::golden::{compare, golden};
use crate::harness::{Ran, assert_replays, folder, only_run, run, task, trials};

/// A folder with the golden log as its run `quick`.
fn quick(name: &str) -> PathBuf {
    let folder = folder(name);
    let run = folder.join("runs/quick");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::copy(golden("quickstart.jsonl"), run.join("log.jsonl")).unwrap();
    folder
}

fn ok(folder: &Path, arguments: &[&str]) -> String {
    let ran = run(folder, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.out, ran.err);
    ran.out
}

/// The golden log's own id, which is another whenever it is written anew.
fn without_id(text: &str) -> String {
    let log = Log::open(&golden("quickstart.jsonl")).unwrap();
    text.replace(&log.header().id, "RUN")
}

const SHOWN: [(&str, &[&str]); 9] = [
    ("log/list.txt", &["log", "show", "quick"]),
    ("log/conversation.txt", &["log", "show", "quick", "Pro/forgets"]),
    ("log/epoch.txt", &["log", "show", "quick", "Pro/forgets/1"]),
    ("log/verdict.txt", &["log", "show", "quick", "Pro/forgets", "--verdict", "plan_kept"]),
    ("log/turn.txt", &["log", "show", "quick", "Pro/forgets", "--verdict", "no_price:2"]),
    ("log/verdicts.csv", &["log", "export", "quick", "--format", "csv"]),
    ("log/verdicts.jsonl.txt", &["log", "export", "quick"]),
    ("log/messages.csv", &["log", "export", "quick", "--format", "csv", "--rows", "messages"]),
    ("log/verify.txt", &["verify", "quick"]),
];

#[test]
fn what_is_shown_of_a_log_is_golden_and_the_same_when_it_is_sealed() {
    let folder = quick("logs_shown");
    let lines: Vec<Ran> = SHOWN.iter().map(|(_, arguments)| run(&folder, arguments)).collect();
    for ((name, arguments), ran) in SHOWN.iter().zip(&lines) {
        // The check of prices asks nobody, and says so.
        assert_eq!(ran.code, if name.ends_with("turn.txt") { 2 } else { 0 }, "{arguments:?}: {}", ran.err);
        compare(name, &without_id(&(ran.out.clone() + &ran.err)));
    }
    ok(&folder, &["log", "seal", "quick"]);
    assert!(!folder.join("runs/quick/log.jsonl").exists());
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.replace(", sealed", "").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for ((_, arguments), ran) in SHOWN.iter().zip(&lines) {
        let sealed = run(&folder, arguments);
        // The order is that of the samples, and no longer that of their beginnings.
        assert_eq!((sealed.code, sorted(&sealed.out)), (ran.code, sorted(&ran.out)), "{arguments:?}: {}", sealed.err);
    }
}

#[test]
fn a_sealed_run_replays_resumes_and_is_listed() {
    let folder = folder("logs_sealed");
    task(&folder, "spine", &[]);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--seal", "always"]);
    assert!(ran.err.contains("sealed: runs"), "{}", ran.err);
    let path = only_run(&folder);
    let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.len() == 2 && path.join("log.jsonl.zst").exists() && path.join("LOCK").exists(), "{files:?}");
    assert_replays(&folder, &path, &ran);
    let resumed = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!((resumed.code, &resumed.out), (ran.code, &ran.out), "{}", resumed.err);
    assert!(resumed.err.contains("nothing to go on with"), "{}", resumed.err);
    assert!(run(&folder, &["log", "seal", "last"]).err.contains("sealed already"));
    assert!(!trials(&path).is_empty());

    let again = run(&folder, &["run", "task.yaml", "--format", "json", "-j", "1"]);
    assert_eq!(again.digest(), ran.digest());
    let listed = ok(&folder, &["runs", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let states: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["sealed", "ended"]);
    for row in rows.as_array().unwrap() {
        assert_eq!((row["digest"].as_str(), row["exit"].as_i64()), (Some(&*ran.digest()), Some(ran.code.into())));
        assert_eq!(row["ended"], row["trials"]);
        assert!(row["calls"].as_u64().unwrap() > 20 && row["task"] == "task.yaml", "{row}");
    }
    let table = ok(&folder, &["runs"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("run ") && lines[1].contains("sealed"), "{table}");
    // Of one task twice nothing differs, but for the run.
    let ids: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["run"].as_str().unwrap()).collect();
    let same = ok(&folder, &["log", "show", ids[0], "--diff", ids[1]]);
    assert!(
        same.contains("digest: the same") && same.contains("18 of 18 the same") || same.contains("the same\n"),
        "{same}"
    );
}

#[test]
fn two_runs_that_differ_are_told_apart() {
    let folder = quick("logs_diff");
    let text = std::fs::read_to_string(golden("quickstart.jsonl")).unwrap();
    let other = folder.join("runs/other");
    std::fs::create_dir_all(&other).unwrap();
    // One answer of the assistant says something else, and the log goes on to its end with what it was.
    let mut lines = Vec::new();
    for line in text.lines() {
        let (n, mut record) = aigo_log::decode(line.as_bytes()).unwrap();
        if let aigo_log::Record::Got(got) = &mut record
            && got.trial == 2
            && got.ask == 30
        {
            got.text.push_str(" Or so.");
        }
        if let aigo_log::Record::Close(close) = &mut record
            && close.trial == 2
        {
            close.leaf.0[0] ^= 1;
        }
        lines.push(aigo_log::encode(n, &record).unwrap());
    }
    std::fs::write(other.join("log.jsonl"), lines.concat()).unwrap();
    let shown = run(&folder, &["log", "show", "quick", "--diff", "other"]);
    assert_eq!(shown.code, 5, "{}", shown.err);
    assert!(shown.out.contains("Pro/forgets/1: ") && shown.out.contains("8 of 9 the same"), "{}", shown.out);
    let shown = run(&folder, &["log", "show", "quick", "Pro/forgets", "--diff", "other"]);
    assert!(shown.code == 5 && shown.out.contains("Or so."), "{} {}", shown.out, shown.err);
    let verified = run(&folder, &["verify", "other"]);
    assert!(verified.code == 5 && verified.out.starts_with("DIFFERS"), "{} {}", verified.out, verified.err);
    assert!(verified.err.contains("[R0104] sample Pro/forgets"), "{}", verified.err);
}

#[test]
fn every_cut_and_every_changed_line_of_a_runs_log_is_told_and_nothing_panics() {
    let folder = quick("logs_damage");
    let path = folder.join("runs/quick/log.jsonl");
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    // A cut behind each tenth line, and within it; a bit within each tenth line.
    for (at, &end) in ends.iter().enumerate().step_by(10) {
        for length in [end, end - 7] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let ran = run(&folder, &["verify", "quick"]);
            let expected: &[i32] = if length == whole.len() {
                &[0]
            } else if at == 0 && length < end {
                &[6]
            } else {
                &[4]
            };
            assert!(expected.contains(&ran.code), "line {at}, {length}: {} {}{}", ran.code, ran.out, ran.err);
        }
        let mut changed = whole.clone();
        changed[end - 9] ^= 4;
        std::fs::write(&path, &changed).unwrap();
        let ran = run(&folder, &["verify", "quick"]);
        // The last line is the marker of the others, which nobody waited for.
        let is_last = end == whole.len();
        assert!(
            ran.code == 6 || is_last && [0, 4].contains(&ran.code),
            "line {at}: {} {}{}",
            ran.code,
            ran.out,
            ran.err
        );
    }
}
