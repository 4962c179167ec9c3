//! The table of faults, each row at concurrency 1 and 500: what comes of it, and how many requests it takes.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use aigo_tests::mock::{Mock, rows};

use crate::harness::{Ran, folder, only_run, run, run_with, trials};

/// What is expected of a row.
struct Row {
    name: &'static str,
    /// The exit code.
    code: i32,
    /// How conversations end; `open` where they do not.
    ending: &'static str,
    /// How many requests come in, given how many samples there are and how many of them are side by side.
    asked: fn(u64, u64) -> RangeInclusive<u64>,
    /// What standard error or standard output says.
    says: &'static str,
    /// What else the model has, where the row needs it.
    model: &'static str,
}

const fn row(name: &'static str, ending: &'static str, asked: fn(u64, u64) -> RangeInclusive<u64>) -> Row {
    Row { name, code: 0, ending, asked, says: "", model: "" }
}

/// The run stops, and says why.
const fn stops(name: &'static str, asked: fn(u64, u64) -> RangeInclusive<u64>, says: &'static str) -> Row {
    Row { name, code: 4, ending: "open", asked, says, model: "" }
}

const fn with(model: &'static str, name: &'static str, asked: fn(u64, u64) -> RangeInclusive<u64>) -> Row {
    Row { name, code: 0, ending: "completed", asked, says: "", model }
}

/// Each call takes so many requests.
const ONCE: fn(u64, u64) -> RangeInclusive<u64> = |n, _| n..=n;
const TWICE: fn(u64, u64) -> RangeInclusive<u64> = |n, _| 2 * n..=2 * n;
const THRICE: fn(u64, u64) -> RangeInclusive<u64> = |n, _| 3 * n..=3 * n;
const FOUR_TIMES: fn(u64, u64) -> RangeInclusive<u64> = |n, _| 4 * n..=4 * n;
/// Twice, and again where the machine that runs the test is so slow that a good answer comes too late.
const TWICE_OR_LATE: fn(u64, u64) -> RangeInclusive<u64> = |n, j| 2 * n..=if j == 1 { 2 * n } else { 4 * n };
/// What was in flight is refused, then some probes, one after the other; everyone is answered once.
const RESTED: fn(u64, u64) -> RangeInclusive<u64> = |n, j| n + 1..=n + j + 8;
/// No more than are side by side.
const A_HANDFUL: fn(u64, u64) -> RangeInclusive<u64> = |_, j| 1..=j;

const DONE: &str = "completed";
const FAILS: &str = "application_failure";

const TABLE: [Row; 66] = [
    row("01-retry-after", DONE, RESTED),
    row("02-retry-after-date", DONE, RESTED),
    stops("03-retry-after-hour", A_HANDFUL, "it wants a rest of 3600 s"),
    row("03-retry-after-negative", DONE, RESTED),
    row("03-retry-after-garbage", DONE, RESTED),
    row("03-retry-after-overflow", DONE, RESTED),
    row("04-hint-on-every-refusal", DONE, RESTED),
    stops("05-quota-by-code", A_HANDFUL, "HTTP 429"),
    stops("05-quota-by-words", A_HANDFUL, "exceeded your current quota"),
    row("06-herd", DONE, RESTED),
    row("07-overloaded-529", DONE, THRICE),
    row("08-overloaded-after-200", DONE, TWICE),
    with("stream: true", "08-overloaded-in-a-stream", TWICE),
    row("09-500-502-503", DONE, FOUR_TIMES),
    row("09-504-522-524", DONE, FOUR_TIMES),
    row("10-reset-before", DONE, TWICE),
    row("10-reset-after-headers", DONE, TWICE),
    row("10-cut-in-the-body", DONE, TWICE),
    with("timeout: 1500ms", "11-stall-before", TWICE_OR_LATE),
    with("timeout: 1500ms", "11-stall-in-the-body", TWICE_OR_LATE),
    with("stream: true, timeout: 1500ms", "11-stall-in-a-stream", TWICE_OR_LATE),
    row("12-steady-drip", DONE, ONCE),
    // On a busy machine an attempt can time out before the server has read it.
    Row { model: "timeout: 300ms", ..stops("13-stall-for-ever", |n, _| n..=6 * n, "(6 attempts)") },
    with("timeout: 1500ms", "14-slow-loris", TWICE_OR_LATE),
    row("15-end-before-stop", DONE, TWICE),
    with("stream: true", "15-stream-without-a-stop", TWICE),
    with("stream: true", "15-stop-without-done", ONCE),
    row("16-cut-json", DONE, TWICE),
    row("16-length-too-long", DONE, TWICE),
    stops("17-login-page", THRICE, "no chat completion"),
    row("18-error-in-200", DONE, RESTED),
    row("18-choices-null", DONE, TWICE),
    row("19-choices-empty", DONE, TWICE),
    // Where most conversations fail in the same way the application is not there, and nothing is said of how good it is.
    Row { code: 4, ..row("20-filter-400", "filtered", ONCE) },
    Row { code: 4, ..row("20-filter-200", "filtered", ONCE) },
    Row { code: 4, ..row("20-filter-400-with-text", "filtered", ONCE) },
    row("21-refusal", DONE, ONCE),
    row("22-length", DONE, ONCE),
    Row { code: 4, ..row("22-length-without-text", FAILS, ONCE) },
    row("23-invalid-utf8", DONE, ONCE),
    row("24-lone-surrogate", DONE, ONCE),
    row("25-length-of-a-tebibyte", DONE, TWICE),
    row("25-endless", DONE, |n, _| n + 2..=n + 2),
    row("26-compressed", DONE, TWICE),
    Row { says: "this machine's clock is", ..row("29-clock-ahead", DONE, ONCE) },
    stops("30-key-expires", |_, j| 6..=6 + j, "HTTP 401"),
    stops("31-wrong-key", A_HANDFUL, "HTTP 401"),
    stops("31-forbidden", A_HANDFUL, "HTTP 403"),
    stops("32-no-model", A_HANDFUL, "does not exist"),
    stops("32-no-model-404", A_HANDFUL, "does not exist"),
    Row { code: 4, ..row("33-context-length", FAILS, ONCE) },
    Row { code: 4, ..row("33-context-length-in-words", FAILS, ONCE) },
    row("34-request-cut-on-its-way", DONE, TWICE),
    row("35-ids-twice", DONE, ONCE),
    Row { code: 4, ..row("36-content-null", FAILS, ONCE) },
    Row { code: 4, ..row("36-content-missing", FAILS, ONCE) },
    row("37-no-usage", DONE, ONCE),
    row("38-openai-durations", DONE, RESTED),
    row("38-anthropic-moments", DONE, RESTED),
    row("38-epoch-seconds", DONE, RESTED),
    row("38-epoch-milliseconds", DONE, RESTED),
    row("38-delta", DONE, RESTED),
    row("38-retry-after-ms", DONE, RESTED),
    row("39-none-left-on-200", DONE, ONCE),
    row("40-billed-and-dropped", DONE, THRICE),
    row("40-billed-and-broken", DONE, THRICE),
];

/// A task of so many samples that asks a server once for each.
fn task(folder: &std::path::Path, base_url: &str, samples: u64, more: &str) {
    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
    let text = format!(
        "aigo: 1\nname: row\nmodels:\n  assistant: {{model: openai_compatible/m, base_url: \"{base_url}\"{more}}}\n\
         dataset: {{file: rows.jsonl}}\nsolvers: [{{user: \"{{{{ question }}}}\"}}, generate]\n\
         scorers: [{{name: noted, check: {{contains: Noted}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let mut lines = String::new();
    for n in 0..samples {
        let _ = writeln!(lines, "{{\"id\":\"s{n}\",\"question\":\"Question {n}?\"}}");
    }
    std::fs::write(folder.join("rows.jsonl"), lines).unwrap();
}

/// Runs a row, and says what is not as expected.
fn differs(row: &Row, jobs: u64, samples: u64) -> Option<String> {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    mock.script(rows::by_name(row.name).unwrap());
    let folder = folder(&format!("row_{}_{jobs}", row.name));
    task(&folder, &mock.base_url(), samples, row.model);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "-j", &jobs.to_string()]);
    let asked = mock.arrivals().len() as u64;
    let expected = (row.asked)(samples, jobs.min(samples));
    let mut wrong = Vec::new();
    if ran.code != row.code {
        wrong.push(format!("exit {}, not {}", ran.code, row.code));
    }
    if !expected.contains(&asked) {
        wrong.push(format!("{asked} requests, not {expected:?}"));
    }
    if !ran.err.contains(row.says) {
        wrong.push(format!("it does not say `{}`", row.says));
    }
    let path = only_run(&folder);
    let trials = trials(&path);
    let endings: Vec<&str> =
        trials.iter().map(|trial| trial.close.as_ref().map_or("open", |close| &close.ending)).collect();
    // Of a run that stops some conversations may have ended before it.
    let ended = row.ending == "open" || endings.len() as u64 == samples;
    if !ended || endings.iter().any(|ending| *ending != row.ending && row.name != "30-key-expires") {
        wrong.push(format!("endings {endings:.200?}, not `{}`", row.ending));
    }
    // What may have been billed without an answer has a line of its own in the log; what was refused has none.
    let billed: u64 = mock.bills().values().map(|bill| bill.answers).sum();
    let lines: u64 = trials.iter().map(|trial| trial.calls.len() as u64).sum();
    if billed > lines {
        wrong.push(format!("{billed} answers were billed, and the log has {lines} calls"));
    }
    wrong.extend(replay_differs(&folder, &path, &ran));
    (!wrong.is_empty()).then(|| format!("{} at {jobs}: {}\n{}", row.name, wrong.join("; "), ran.err))
}

fn replay_differs(folder: &std::path::Path, path: &std::path::Path, ran: &Ran) -> Option<String> {
    let replayed = run(folder, &["replay", path.to_str()?, "--format", "json"]);
    (replayed.out != ran.out || replayed.code != 0).then(|| format!("its replay differs: {replayed:?}"))
}

/// Rows side by side: most of them wait.
fn all_at(jobs: u64, samples: fn(&Row) -> u64, side_by_side: usize) {
    let mut wrong = Vec::new();
    for rows in TABLE.chunks(side_by_side) {
        std::thread::scope(|scope| {
            let running: Vec<_> =
                rows.iter().map(|row| scope.spawn(move || differs(row, jobs, samples(row)))).collect();
            wrong.extend(running.into_iter().filter_map(|row| row.join().unwrap()));
        });
    }
    assert!(wrong.is_empty(), "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_one_call_at_a_time() {
    let samples = |row: &Row| match row.name {
        "30-key-expires" => 12,
        // A second one would use up the run's budget of repeats.
        "13-stall-for-ever" => 1,
        _ => 2,
    };
    all_at(1, samples, TABLE.len());
}

#[test]
fn every_row_of_the_table_five_hundred_calls_at_a_time() {
    all_at(500, |_| 500, 12);
}

#[test]
fn the_table_is_whole() {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names, rows::ROWS);
    assert!(names.iter().all(|name| rows::by_name(name).is_some()));
    let mut numbers: Vec<u32> = names.iter().map(|name| name[..2].parse().unwrap()).collect();
    numbers.dedup();
    // 27 and 28 have no server to answer them: they are below.
    assert_eq!(numbers, (1..=40).filter(|n| ![27, 28].contains(n)).collect::<Vec<u32>>());
}

#[test]
fn names_and_certificates_that_are_wrong_stop_the_run() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let plain = mock.base_url().replace("http://", "https://");
    let addresses = [("27", "http://no-such-host.invalid/v1".to_owned()), ("28", plain)];
    for jobs in [1, 500] {
        for (row, address) in &addresses {
            let folder: PathBuf = folder(&format!("row_{row}_{jobs}"));
            task(&folder, address, if jobs == 1 { 1 } else { 500 }, "");
            let ran = run_with(&folder, &["run", "task.yaml", "-j", &jobs.to_string()], &[]);
            assert_eq!(ran.code, 4, "{row}: {}", ran.err);
            assert!(ran.err.contains("stopped:") && ran.err.contains("(3 attempts)"), "{row}: {}", ran.err);
        }
    }
    assert_eq!(mock.bills().len(), 0, "nothing that is a request came through");
}
