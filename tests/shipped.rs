//! The tasks that people copy: each compiles to the program that is kept beside it, its run says what its page shows and
//! replays, and a run that was recorded once replays for ever. `BLESS=1` writes the programs anew, and no log.

use std::path::{Path, PathBuf};

use aigo_log::Log;

use crate::golden::compare_at;
use crate::harness::{folder, missing, root, run};

/// The folders of `tasks/` that have a page and a program kept beside the task.
fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tasks")).expect("tasks is a folder");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.join("task.yaml").is_file() && path.join("README.md").is_file());
    found.sort();
    found
}

fn name(task: &Path) -> &str {
    task.file_name().and_then(|name| name.to_str()).expect("a name that is text")
}

#[test]
fn each_shipped_task_compiles_to_the_program_beside_it() {
    let mut count = 0;
    for task in shipped().iter().filter(|task| task.join("golden").is_dir()) {
        // From the root, so that the comments name the task as a reader would.
        let ran = run(root(), &["compile", &format!("tasks/{}", name(task))]);
        assert_eq!(ran.code, 0, "{}: {}", name(task), ran.err);
        let path = task.join("golden/program.ir");
        compare_at(&path, &ran.out);
        let read = aigo_ir::read::read(&std::fs::read_to_string(&path).expect("it is text")).expect("it reads");
        assert_eq!(aigo_ir::verify::verify(&read), [], "{}", name(task));
        count += 1;
    }
    assert!(count >= 7, "{count} tasks with a program beside them");
}

/// The excerpt of a task's page: its lines, in this order, among those of the report.
fn excerpt(page: &str) -> &str {
    let after = page.split_once("```text report\n").expect("a block `text report`").1;
    after.split_once("```").expect("the block ends").0
}

#[test]
fn each_shipped_task_reports_what_its_page_shows_and_replays() {
    let folder = folder("shipped");
    for task in shipped().iter().filter(|task| task.join("golden").is_dir()) {
        let runs = folder.join(name(task));
        let runs = runs.to_str().expect("a path that is text");
        let ran = run(root(), &["run", &format!("tasks/{}", name(task)), "--runs", runs]);
        let page = std::fs::read_to_string(task.join("README.md")).expect("the page is text");
        let missing = missing(excerpt(&page).lines(), &ran.out);
        assert_eq!(missing, None, "{}: not in this, or not in this order:\n{}", name(task), ran.out);
        let said = excerpt(&page).lines().find_map(|line| line.split_once(" exit ")).expect("the exit code");
        assert_eq!(ran.code.to_string(), said.1, "{}: {}", name(task), ran.err);
        let replayed = run(root(), &["replay", "last", "--runs", runs]);
        assert_eq!((replayed.code, &replayed.out), (0, &ran.out), "{}: {}", name(task), replayed.err);
    }
}

#[test]
fn runs_that_were_recorded_once_replay_to_their_digests() {
    let mut count = 0;
    for task in shipped() {
        let Ok(entries) = std::fs::read_dir(task.join("golden")) else { continue };
        let paths = entries.map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
            let log = Log::open(&path).unwrap_or_else(|error| panic!("{error}"));
            let (digest, exit) = log.end().map(|end| (end.digest.to_string(), end.exit)).expect("it has an end");
            let ran = run(root(), &["replay", path.to_str().expect("text"), "--format", "json"]);
            let found = (ran.code, ran.digest(), ran.json()["exit"].as_i64());
            assert_eq!(found, (0, digest, Some(exit.into())), "{}: {}", path.display(), ran.err);
            count += 1;
        }
    }
    assert!(count >= 5, "{count} recorded runs");
}
