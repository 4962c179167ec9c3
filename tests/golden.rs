//! Golden files: the quick start's program, report and log, as a person can review them. `BLESS=1 cargo test golden` writes
//! them anew; a change in them is a change in what users see, and belongs in the same commit as its cause.

use std::path::{Path, PathBuf};

use aigo_log::{Log, Record, decode, encode, marked, upto};

use crate::harness::{folder, only_run, root, run};

pub(crate) fn golden(name: &str) -> PathBuf {
    root().join("tests/golden").join(name)
}

pub(crate) fn blesses() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Compares with the golden file, or writes it. A difference is shown by its first line.
pub(crate) fn compare(name: &str, now: &str) {
    compare_at(&golden(name), now);
}

/// The same for a golden file that lies elsewhere.
pub(crate) fn compare_at(path: &Path, now: &str) {
    let name = path.strip_prefix(root()).unwrap_or(path).display();
    if blesses() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, now).unwrap();
        return;
    }
    let then = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if then == now {
        return;
    }
    let lines = then.lines().zip(now.lines()).enumerate().find(|(_, (then, now))| then != now);
    let (at, (then, now)) = lines.unwrap_or((then.lines().count().min(now.lines().count()), ("its end", "its end")));
    panic!("{name} differs in line {}; `BLESS=1` writes it anew\n  golden: {then}\n  now:    {now}", at + 1);
}

#[test]
fn the_quick_starts_program_is_the_golden_one() {
    // From the root, so that the comments name the task as a reader would.
    let ran = run(root(), &["compile", "tests/fixtures/quickstart"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    compare("quickstart.ir", &ran.out);
    let read = aigo_ir::read::read(&std::fs::read_to_string(golden("quickstart.ir")).unwrap()).unwrap();
    assert_eq!(aigo_ir::verify::verify(&read), []);
}

#[test]
fn the_quick_starts_report_is_the_golden_one() {
    let folder = folder("golden_report");
    let ran = run(root(), &["run", "tests/fixtures/quickstart", "--runs", folder.join("runs").to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let id = only_run(&folder).file_name().unwrap().to_str().unwrap().to_owned();
    compare("quickstart.report.txt", &ran.out.replace(&id, "RUN"));
}

/// Every golden log: the quick start's, that of a task with every verb, and those of released formats and of real models
/// beside them. `BLESS=1` renews the first two.
#[test]
fn the_golden_logs_replay_to_their_recorded_digests() {
    let newest = golden("quickstart.jsonl");
    if blesses() {
        let folder = folder("golden_log");
        let runs = folder.join("runs");
        run(root(), &["run", "tests/fixtures/quickstart", "-j", "1", "--runs", runs.to_str().unwrap()]);
        std::fs::create_dir_all(newest.parent().unwrap()).unwrap();
        std::fs::copy(only_run(&folder).join("log.jsonl"), &newest).unwrap();
        let folder = self::folder("golden_spine");
        let runs = folder.join("runs");
        run(root(), &["run", "tests/fixtures/spine.yaml", "-j", "1", "--runs", runs.to_str().unwrap()]);
        std::fs::copy(only_run(&folder).join("log.jsonl"), golden("spine.jsonl")).unwrap();
    }
    let entries = std::fs::read_dir(newest.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let logs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    assert!(logs.contains(&newest));
    for path in logs {
        let log = Log::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let (digest, exit) = log.end().map(|end| (end.digest.to_string(), end.exit)).expect("it has an end");
        let ran = run(root(), &["replay", path.to_str().unwrap(), "--format", "json"]);
        let found = (ran.code, ran.digest(), ran.json()["exit"].as_i64());
        assert_eq!(found, (0, digest, Some(exit.into())), "{}: {}", path.display(), ran.err);
    }
    let report = run(root(), &["replay", newest.to_str().unwrap()]);
    let id = Log::open(&newest).unwrap_or_else(|error| panic!("{error}")).header().id.clone();
    compare("quickstart.report.txt", &report.out.replace(&id, "RUN"));
}

/// What this build writes for a record is what the golden log has: bytes, not only meaning.
#[test]
fn the_golden_log_is_written_the_same_today() {
    let text = std::fs::read_to_string(golden("quickstart.jsonl")).unwrap();
    let mut kinds: Vec<&str> = Vec::new();
    for line in text.lines() {
        let (n, record) = decode(line.as_bytes()).unwrap_or_else(|flaw| panic!("{flaw}: {line}"));
        let again = match upto(line.as_bytes()).filter(|_| !matches!(record, Record::Durable(_))) {
            Some(upto) => marked(n, upto, &record),
            None => encode(n, &record),
        };
        assert_eq!(again.unwrap().trim_end(), line);
        kinds.push(match record {
            Record::Run(_) => "run",
            Record::Open(_) => "open",
            Record::Ask(_) => "ask",
            Record::Got(_) => "got",
            Record::Close(_) => "close",
            Record::Durable(_) => "durable",
            Record::Resumed(_) => "resumed",
            Record::End(_) => "end",
        });
    }
    // With one call at a time a trial's lines stand together, so that a person can read them.
    let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
    assert_eq!((count("open"), count("close"), count("ask"), count("got")), (9, 9, 72, 72));
    assert_eq!((kinds.first(), count("resumed"), count("end")), (Some(&"run"), 0, 1));
}
