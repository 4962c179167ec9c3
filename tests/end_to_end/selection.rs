//! `-k`, `--suite`, `--sample`, `--limit`, `--epochs`: which samples a run takes, and that its log knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reuse::newest;
use crate::harness::{Ran, assert_replays, folder, run, trials};

const TASK: &str = "aigo: 1
name: chosen
models: {assistant: {scripted: [{say: \"Yes.\"}]}}
dataset:
  - matrix: {persona: [terse, chatty], plan: [Free, Pro, Team]}
    tags: [simulated]
  - samples: [{id: slow-one, tags: [p0, slow]}, {id: quick-one, tags: [p0]}]
suites:
  gate: {select: p0 or simulated, subset: {n: 3, stratify: [persona, plan]}}
  quick: {select: p0 and not slow}
solvers: [{user: Hello.}, generate]
scorers: [{name: said, check: {contains: 'Yes'}}]
";

fn written(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), TASK).unwrap();
    folder
}

/// The samples that a run takes with these flags.
fn taken(folder: &Path, flags: &[&str]) -> (Ran, PathBuf, BTreeSet<String>) {
    let runs = format!("runs{}", flags.join("_").replace(['/', ' '], "_"));
    let ran = run(folder, &[&["run", "task.yaml", "--format", "json", "--runs", &runs][..], flags].concat());
    assert_eq!(ran.code, 0, "{flags:?}: {}", ran.err);
    let path = newest(&folder.join(&runs));
    let keys = trials(&path).into_iter().map(|trial| trial.open.key).collect();
    (ran, path, keys)
}

#[test]
fn a_run_takes_what_is_asked_for_and_replays() {
    let folder = written("selection");
    let set = |keys: &[&str]| -> BTreeSet<String> { keys.iter().map(|key| (*key).to_owned()).collect() };
    for (flags, expected) in [
        (&["-k", "p0 and not slow"][..], set(&["quick-one"])),
        (&["-k", "terse/Pro or slow"], set(&["terse/Pro", "slow-one"])),
        (&["--suite", "quick"], set(&["quick-one"])),
        (&["--suite", "quick", "-k", "p0"], set(&["quick-one"])),
        (&["--sample", "chatty/Team", "--sample", "slow-one"], set(&["chatty/Team", "slow-one"])),
        (&["--limit", "2"], set(&["terse/Free", "terse/Pro"])),
        (&["-k", "simulated", "--limit", "1"], set(&["terse/Free"])),
    ] {
        let (ran, path, keys) = taken(&folder, flags);
        assert_eq!(keys, expected, "{flags:?}");
        assert_eq!(ran.json()["outcomes"]["said"]["planned"].as_u64(), Some(expected.len() as u64));
        assert_replays(&folder, &path, &ran);
    }
    let (_, _, three) = taken(&folder, &["--suite", "gate"]);
    assert_eq!(three.len(), 3);
    assert_eq!(three, taken(&folder, &["--suite", "gate", "-j", "1"]).2, "the same ones in every run");
}

#[test]
fn epochs_are_those_that_are_asked_for() {
    let folder = written("selection_epochs");
    let (ran, path, keys) = taken(&folder, &["--epochs", "3", "--sample", "quick-one"]);
    assert_eq!((keys.len(), trials(&path).len()), (1, 3));
    assert_replays(&folder, &path, &ran);
    let resumed = run(&folder, &["resume", path.to_str().unwrap(), "--format", "json"]);
    assert_eq!((resumed.code, resumed.out), (0, ran.out), "{}", resumed.err);
}

#[test]
fn what_matches_nothing_is_wrong_usage_and_leaves_nothing() {
    let folder = written("selection_nothing");
    for (flags, said) in [
        (&["-k", "nothing"][..], "nothing is selected: none of 8 samples fits"),
        (&["-k", "p0 and"], "the selection cannot be read"),
        (&["--suite", "gat"], "the task has no suite `gat`; did you mean `gate`?"),
        (&["--sample", "quick-on"], "there is no sample `quick-on` among 8; did you mean `quick-one`?"),
        (&["--limit", "0"], "a whole number from 1 on was expected"),
        (&["--epochs", "0"], "0 is not in"),
    ] {
        let ran = run(&folder, &[&["run", "task.yaml"][..], flags].concat());
        assert_eq!(ran.code, 2, "{flags:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{flags:?}: {}", ran.err);
    }
    assert!(!folder.join("runs").exists());
}

#[test]
fn a_resumed_run_takes_what_it_was_begun_with() {
    let folder = written("selection_resume");
    let text = TASK.replace("name: chosen", "name: chosen\nlimits: {calls: 2}");
    std::fs::write(folder.join("task.yaml"), &text).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--suite", "gate", "-j", "1"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    // The suite may say something else by now, and the limit is one that may be raised.
    let text = text.replace("n: 3", "n: 5").replace("calls: 2", "calls: 20");
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let resumed = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(resumed.json()["outcomes"]["said"]["planned"].as_i64(), Some(3));
    let path = newest(&folder.join("runs"));
    assert_replays(&folder, &path, &resumed);
    let same = run(&folder, &["replay", path.to_str().unwrap(), "--task", "task.yaml"]);
    assert_eq!(same.code, 0, "{}", same.err);
}

#[test]
fn the_plan_is_of_the_samples_that_are_taken() {
    let folder = written("selection_plan");
    let plan = run(&folder, &["run", "task.yaml", "--dry-run", "--limit", "3", "--epochs", "2", "--format", "json"]);
    assert_eq!(plan.code, 0, "{}", plan.err);
    let bounds = &plan.json()["bounds"];
    assert_eq!((bounds["samples"].as_i64(), bounds["epochs"].as_i64()), (Some(3), Some(2)), "{bounds}");
}
