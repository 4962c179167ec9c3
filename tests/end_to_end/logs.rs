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
    // Both may have begun in one second: then their names say nothing of which was first.
    let mut states: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    states.sort_unstable();
    assert_eq!(states, ["ended", "sealed"]);
    for row in rows.as_array().unwrap() {
        assert_eq!((row["digest"].as_str(), row["exit"].as_i64()), (Some(&*ran.digest()), Some(ran.code.into())));
        assert_eq!(row["ended"], row["trials"]);
        assert!(row["calls"].as_u64().unwrap() > 20 && row["task"] == "task.yaml", "{row}");
    }
    let table = ok(&folder, &["runs"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("run ") && table.contains("sealed"), "{table}");
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
    let (mut lines, mut first) = (Vec::new(), true);
    for line in text.lines() {
        let (n, mut record) = aigo_log::decode(line.as_bytes()).unwrap();
        if let aigo_log::Record::Got(got) = &mut record
            && got.trial == 2
            && std::mem::take(&mut first)
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

#[test]
fn an_open_run_is_shown_as_far_as_it_went_and_is_not_sealed() {
    let folder = quick("logs_open");
    let path = folder.join("runs/quick/log.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    // In the middle of the second conversation: two turns are said.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begun = lines.iter().position(|line| line.contains("\"key\":\"Pro/forgets\"")).unwrap();
    let answers = lines.iter().enumerate().skip(begun).filter(|(_, line)| line.contains("\"e\":\"got\""));
    let cut = answers.map(|(at, _)| at).nth(3).unwrap();
    std::fs::write(&path, lines[..=cut].concat()).unwrap();
    let verified = run(&folder, &["verify", "quick"]);
    assert!(verified.code == 4 && verified.out.starts_with("INCOMPLETE"), "{} {}", verified.out, verified.err);
    let shown = ok(&folder, &["log", "show", "quick", "Pro/forgets"]);
    assert!(shown.contains("   open (solve/main at ") && shown.contains("the log has no answer)"), "{shown}");
    assert!(
        shown.contains("2a   assistant: ") && !shown.contains("3a   assistant") && !shown.contains("plan_kept"),
        "{shown}"
    );
    let rows = run(&folder, &["log", "export", "quick", "--rows", "messages"]);
    assert!(rows.code == 0 && rows.err.contains("1 conversations have not ended"), "{}", rows.err);
    assert!(
        rows.out.lines().last().unwrap().contains("\"sample\":\"Pro/forgets\",\"epoch\":1,\"place\":"),
        "{}",
        rows.out
    );
    let listed = ok(&folder, &["runs"]);
    assert!(listed.contains("  open  ") && listed.contains("  1/9  "), "{listed}");
    let sealed = run(&folder, &["log", "seal", "quick"]);
    assert!(sealed.code == 6 && sealed.err.contains("[L0114]") && path.exists(), "{}", sealed.err);
    let unknown = run(&folder, &["log", "show", "quick", "nobody"]);
    assert!(unknown.code == 2 && unknown.err.contains("no sample `nobody`"), "{}", unknown.err);
    let unknown = run(&folder, &["log", "show", "quick", "Pro/none", "--verdict", "nothing"]);
    assert!(unknown.code == 2 && unknown.err.contains("there are no_price, plan_kept"), "{}", unknown.err);
    std::fs::write(&path, &text[..200]).unwrap();
    assert!(ok(&folder, &["runs"]).contains("L0107 (not a log)"));
}

#[test]
fn nothing_that_was_said_drives_a_terminal_or_a_spreadsheet() {
    let folder = folder("logs_hostile");
    let task = "aigo: 1\nname: t\nmodels: {assistant: {scripted: [{say: \"{{ said }}\"}]}}\n\
        dataset: {samples: [{id: \"a\\e[2Jb\", said: \"=1+1\\e]0;owned\\a\\u202e\\u2028x\"}]}\nsolvers: [{user: \"-2\\e[31m\"}, generate]\n\
        scorers: [{name: s, check: {contains: \"1+1\"}}]\n";
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run(&folder, &["run", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let key = "a\u{1b}[2Jb";
    for arguments in [
        &["log", "show", "last"][..],
        &["log", "show", "last", key],
        &["log", "show", "last", key, "--diff", "last"],
        &["log", "export", "last", "--rows", "messages"],
        &["log", "export", "last", "--rows", "messages", "--format", "csv"],
        &["log", "export", "last", "--format", "csv"],
        &["verify", "last"],
        &["runs"],
    ] {
        let shown = ok(&folder, arguments);
        let bad = shown.chars().find(|c| aigo_ir::text::is_dangerous(*c) && !matches!(c, '\n' | '\r'));
        assert!(bad.is_none(), "{arguments:?}: {bad:?} in {shown}");
        // Of CSV alone are the returns.
        assert!(!shown.contains('\r') || arguments.contains(&"csv"), "{arguments:?}");
    }
    let table = ok(&folder, &["log", "export", "last", "--rows", "messages", "--format", "csv"]);
    assert!(table.contains(",\"'=1+1") && table.contains(",\"'-2"), "{table}");
}

#[test]
fn a_run_that_syncs_nothing_is_as_whole_when_it_has_ended() {
    let folder = folder("logs_process");
    task(&folder, "spine", &[]);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--durability", "process"]);
    let path = only_run(&folder);
    let log = std::fs::read_to_string(path.join("log.jsonl")).unwrap();
    assert!(!log.contains("\"upto\":") && log.contains("\"e\":\"end\""), "{log}");
    assert_replays(&folder, &path, &ran);
    let batch = run(&folder, &["run", "task.yaml", "--format", "json", "--durability", "batch"]);
    assert_eq!(batch.digest(), ran.digest());
}

/// The files of an archive whose files are not compressed.
pub(super) fn files(archive: &[u8]) -> Vec<(String, serde_json::Value)> {
    let number =
        |at: usize, bytes: usize| archive[at..at + bytes].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    let mut at = number(archive.len() - 6, 4);
    let mut found = Vec::new();
    while archive[at..].starts_with(b"PK\x01\x02") {
        let (size, length, start) = (number(at + 24, 4), number(at + 28, 2), number(at + 42, 4));
        let name = String::from_utf8(archive[at + 46..at + 46 + length].to_vec()).unwrap();
        let body = start + 30 + length;
        let text = std::str::from_utf8(&archive[body..body + size]).unwrap().replace("\"value\":NaN", "\"value\":null");
        found.push((name, serde_json::from_str(&text).unwrap()));
        at += 46 + length;
    }
    found
}

#[test]
fn a_log_of_inspect_has_every_sample_with_its_messages_and_scores() {
    let folder = quick("logs_eval");
    for name in ["a.eval", "b.eval"] {
        ok(&folder, &["log", "export", "quick", "--format", "eval", "-o", name]);
    }
    let archive = std::fs::read(folder.join("a.eval")).unwrap();
    assert_eq!(archive, std::fs::read(folder.join("b.eval")).unwrap());
    let files = files(&archive);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        names.len() == 12 && names[0] == "_journal/start.json" && names[10..] == ["summaries.json", "header.json"],
        "{names:?}"
    );
    let of = |wanted: &str| &files.iter().find(|(name, _)| name == wanted).unwrap().1;
    let sample = of("samples/Pro/forgets_epoch_1.json");
    assert_eq!((&sample["id"], &sample["epoch"]), (&"Pro/forgets".into(), &1.into()));
    assert_eq!(sample["messages"].as_array().unwrap().len(), 8);
    assert_eq!(
        (&sample["messages"][0]["role"], &sample["messages"][2]["role"]),
        (&"system".into(), &"assistant".into())
    );
    assert_eq!(
        (&sample["scores"]["plan_kept"]["value"], &sample["scores"]["no_price:3"]["value"]),
        (&1.into(), &true.into())
    );
    assert_eq!(sample["scores"]["plan_kept"]["metadata"]["evidence"][1]["quote"], "On the Free plan");
    let header = of("header.json");
    assert_eq!((&header["status"], &header["version"]), (&"success".into(), &2.into()));
    assert_eq!(header["results"]["scores"][0]["scored_samples"], 9);
    assert_eq!(of("summaries.json").as_array().unwrap().len(), 9);
    let none = run(&folder, &["log", "export", "quick", "--format", "eval"]);
    assert!(none.code == 2 && none.err.contains("-o RUN.eval"), "{}", none.err);
}
