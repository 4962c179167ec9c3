//! What goes wrong around a run: replies that are odd beside the answer, files that change, disks that are full, logs that were
//! edited with care, processes that stay.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aigo_log::{Record, decode, encode, marked, upto};
use aigo_tests::mock::Mock;

use crate::harness::{command, ending, folder, only_run, run, start, trial};
use crate::served::{Served, completion, json};

const LONGEST: Duration = Duration::from_mins(1);

fn written(name: &str, text: &str) -> PathBuf {
    let folder = folder(&format!("adverse_{name}"));
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    folder
}

/// A task whose assistant is played so, with as many samples of this field.
fn task(role: &str, rows: &str) -> String {
    format!(
        "aigo: 1\nname: t\nmodels:\n  assistant: {role}\ndataset: {rows}\nsolvers: [{{user: '{{{{ q }}}}'}}, generate]\n\
         scorers: [{{name: s, check: {{not_contains: zzz}}}}]\ngates: [{{gate: rate(s) >= 0.5, min_n: 1}}]\n"
    )
}

/// A whole answer is paid: what stands beside it and makes no sense costs no second call.
#[test]
fn what_is_odd_beside_an_answer_does_not_cost_the_answer() {
    let whole = |usage: &str, stop: &str, calls: &str| {
        format!(
            r#"{{"model":7,"choices":[{{"message":{{"content":"hello"{calls}}},"finish_reason":{stop}}}],"usage":{usage}}}"#
        )
    };
    for (name, body) in [
        ("text", whole("\"lots\"", "\"stop\"", "")),
        ("details", whole(r#"{"prompt_tokens":1,"completion_tokens_details":"x"}"#, "\"stop\"", "")),
        ("huge", whole(r#"{"prompt_tokens":1e999}"#, "\"stop\"", "")),
        ("stop", whole("{}", "7", "")),
        ("calls", whole("{}", "\"stop\"", r#","tool_calls":[null]"#)),
        ("mark", format!("\u{feff}{}", whole("{}", "\"stop\"", ""))),
    ] {
        let served = Served::start(move |_, _| Some(json(200, &body)));
        let role = format!("{{model: openai_compatible/m, base_url: '{}'}}", served.url);
        let folder = written(&format!("odd_{name}"), &task(&role, "{samples: [{id: a, q: hi}]}"));
        let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
        assert_eq!((ran.code, served.seen().len()), (0, 1), "{name}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_line_too_many_is_no_answer_to_the_next_question() {
    let text = "aigo: 1\nname: t\nmodels: {assistant: {command: [sh, bot.sh]}}\ndataset: {samples: [{id: a}]}\n\
                solvers: [{script: [one, two]}]\nscorers: [{name: s, check: {contains: answer}}]\n";
    let folder = written("line", text);
    // Both lines in one write.
    let bot = "while read -r line; do printf '{\"text\":\"answer\"}\\n{\"text\":\"(log) served\"}\\n'; done\n";
    std::fs::write(folder.join("bot.sh"), bot).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--allow-commands"]);
    assert_eq!(ending(&only_run(&folder), "a").as_deref(), Some("application_failure"), "{}", ran.err);
    assert!(ran.out.contains("was not asked for") && ran.out.contains("(log) served"), "{}", ran.out);
}

#[test]
fn an_address_that_cannot_be_sent_ends_its_conversation_and_not_the_run() {
    let served = Served::start(|_, _| Some(json(200, r#"{"text":"fine"}"#)));
    let role = format!("{{http: {{url: '{}/x?q={{{{ message }}}}', method: GET, reply: text}}}}", served.url);
    let long = "12345678".repeat(9000);
    let rows = format!("{{samples: [{{id: a, q: hi}}, {{id: b, q: '{long}'}}, {{id: c, q: hi}}]}}");
    let folder = written("address", &task(&role, &rows));
    let ran = run(&folder, &["run", "task.yaml", "-j", "1"]);
    let path = only_run(&folder);
    let endings = ["a", "b", "c"].map(|key| ending(&path, key).unwrap_or_default());
    assert_eq!(endings, ["completed", "task_error", "completed"], "{}", ran.err);
    assert!(ran.err.len() + ran.out.len() < 8000, "the address is not printed whole");
}

/// Conversations that never began are open in the run that scores, too.
#[test]
fn a_run_that_scores_a_part_says_what_is_missing() {
    let rows = "{matrix: {q: [1, 2, 3, 4, 5, 6, 7, 8]}}";
    let text = task("{scripted: [{say: hi}]}", rows) + "limits: {calls: 3}\n";
    let folder = written("score", &text);
    let stopped = run(&folder, &["run", "task.yaml", "-j", "1", "--format", "json"]);
    assert_eq!((stopped.code, &stopped.json()["outcomes"]["s"]["planned"]), (4, &8.into()), "{}", stopped.err);
    let scored = run(&folder, &["score", "last", "--format", "json"]);
    assert_eq!((scored.code, &scored.json()["outcomes"]["s"]["open"]), (4, &5.into()), "{}", scored.err);
    assert!(scored.err.contains("4 conversations never began"), "{}", scored.err);
    let resumed = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!((resumed.code, resumed.digest()), (4, scored.digest()), "{}", resumed.err);
}

fn rows(what: &str, n: usize) -> String {
    // Longer than what is read at once.
    let pad = "p".repeat(20_000);
    let row = |n: usize| format!("{{\"id\":\"r{n}\",\"q\":\"{what} {n}\",\"pad\":\"{pad}\"}}\n");
    (0..n).map(row).collect::<Vec<_>>().concat()
}

/// A run of data that changed on the way is a run of nothing: it says so, and does not end.
#[test]
fn data_that_changes_under_a_run_is_noticed() {
    for (name, changed) in [("less", rows("old", 20)), ("other", rows("new", 40)), ("more", rows("old", 41))] {
        let mock = Mock::start(0, Duration::ZERO).unwrap();
        let role = format!("{{model: openai_compatible/a, base_url: '{}'}}", mock.base_url());
        let folder = written(&format!("data_{name}"), &task(&role, "{file: data.jsonl}"));
        let data = folder.join("data.jsonl");
        std::fs::write(&data, rows("old", 40)).unwrap();
        mock.hold_after(3);
        let running = start(&folder, &["run", "task.yaml", "-j", "1"]);
        assert!(mock.wait_until_held(LONGEST));
        std::fs::write(&data, changed).unwrap();
        mock.lift();
        let ran = running.wait();
        assert_eq!(ran.code, 3, "{name}: {}", ran.err);
        assert!(ran.err.contains("the data has changed since the run began"), "{name}: {}", ran.err);
        assert!(ran.out.contains("INCOMPLETE") && ran.out.contains("exit 3"), "{name}: {}", ran.out);
        assert!(mock.arrivals().len() <= 40, "{name}: no row is bought that was not planned");
        let verified = run(&folder, &["verify", "last"]);
        assert!(!verified.out.starts_with("VERIFIED"), "{name}: {}", verified.out);
    }
}

/// Writes a run's log anew with an edit, its checksums made again as anyone can.
fn edited(run: &Path, edit: impl Fn(&mut Record)) {
    let path = run.join("log.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| {
        let (n, mut record) = decode(line.as_bytes()).unwrap();
        edit(&mut record);
        let again = match upto(line.as_bytes()).filter(|_| !matches!(record, Record::Durable(_))) {
            Some(upto) => marked(n, upto, &record),
            None => encode(n, &record),
        };
        again.unwrap()
    });
    let text: String = lines.collect();
    std::fs::write(path, text).unwrap();
}

type Edit = fn(&mut Record);

/// The digest binds to what the samples are, and not only to what was said.
#[test]
fn an_edit_of_what_no_prompt_reads_is_found_by_the_digest() {
    let text = "aigo: 1\nname: t\nmodels: {assistant: {scripted: [{when: n == 1, say: bad}, {say: hi}]}}\n\
                dataset: {samples: [{id: a, n: 1, g: x, tags: [p]}, {id: b, n: 2, g: y, tags: [p]}], cluster: g}\n\
                solvers: [{user: Hello}, generate]\nscorers: [{name: s, check: {contains: hi}}]\n\
                gates: [{gate: \"rate(s, tags='p') == 1\", min_n: 1}]\n";
    let edits: [(&str, Edit); 4] = [
        ("tags", |record| {
            if let Record::Open(open) = record
                && open.key == "a"
            {
                open.tags = vec!["q".to_owned()];
            }
        }),
        ("cluster", |record| {
            if let Record::Open(open) = record {
                open.cluster = Some("one".to_owned());
            }
        }),
        ("row", |record| {
            if let Record::Open(open) = record
                && let Some(row) = open.row.as_map()
            {
                let mut row = row.clone();
                row.set("g", aigo_ir::value::Value::str("other"));
                open.row = aigo_ir::value::Value::Map(std::sync::Arc::new(row));
            }
        }),
        ("trials", |record| {
            if let Record::Run(run) = record {
                run.trials = Some(1);
            }
        }),
    ];
    for (name, edit) in edits {
        let folder = written(&format!("edit_{name}"), text);
        assert_eq!(run(&folder, &["run", "task.yaml"]).code, 1, "{name}");
        assert_eq!(run(&folder, &["verify", "last"]).code, 0, "{name}");
        edited(&only_run(&folder), edit);
        let verified = run(&folder, &["verify", "last"]);
        assert_eq!(verified.code, 5, "{name}: {}", verified.out);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_not_written_is_no_success() {
    let folder = written("full", &task("{scripted: [{say: hi}]}", "{samples: [{id: a, q: hi}]}"));
    assert_eq!(run(&folder, &["run", "task.yaml"]).code, 0);
    for arguments in [&["report", "last"][..], &["report", "last", "--format", "csv"], &["runs"], &["verify", "last"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = command(&folder, arguments, &[]).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("standard output cannot be written"), "{arguments:?}: {said}");
    }
}

/// A process that is interrupted twice leaves no program of its own behind.
#[cfg(target_os = "linux")]
#[test]
fn who_is_interrupted_twice_takes_its_programs_along() {
    let text = task("{command: [sh, bot.sh], timeout: 60s}", "{samples: [{id: a, q: hi}]}");
    let folder = written("twice", &text);
    std::fs::write(folder.join("bot.sh"), "echo $$ > started\nexec sleep 600\n").unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("started")).status().unwrap();
    assert!(made.success());
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let running = start(&folder, &["run", "task.yaml", "--allow-commands"]);
        let read =
            std::process::Command::new("timeout").args(["60", "cat"]).arg(folder.join("started")).output().unwrap();
        let bot = String::from_utf8(read.stdout).unwrap().trim().to_owned();
        let process = running.id().to_string();
        let send = || {
            assert!(std::process::Command::new("kill").args([signal, &process]).status().unwrap().success());
        };
        send();
        let stopped = running.wait_after_note("stopping:", send);
        assert_eq!(stopped.code, code, "{}", stopped.err);
        // Gone, or dead and not yet waited for by whoever takes in orphans; the system may take a moment to end it.
        let state = || std::fs::read_to_string(format!("/proc/{bot}/stat")).unwrap_or_default();
        let is_alive = || !(state().is_empty() || state().contains(") Z "));
        let until = std::time::Instant::now() + LONGEST;
        while is_alive() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(!is_alive(), "{signal}: {}", state());
    }
}

/// An answer of which nobody counted the tokens has no price that could be told.
#[test]
fn what_nobody_counted_costs_nothing_that_is_known() {
    let served = Served::start(|_, number| {
        let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        Some(if number == 1 { completion("hi") } else { json(200, body) })
    });
    let role = format!(
        "{{model: openai_compatible/m, base_url: '{}', price: {{input: 1, output: 1}}, max_tokens: 9}}",
        served.url
    );
    let folder = written("price", &task(&role, "{samples: [{id: a, q: x}, {id: b, q: y}]}"));
    let ran = run(&folder, &["run", "task.yaml", "-j", "1"]);
    assert!(ran.out.contains("without 1 answer that nobody counted"), "{}{}", ran.out, ran.err);
    assert!(trial(&only_run(&folder), "b").calls.len() == 1);
}

/// Scores that do not go with their values are looked into, also by a report that would believe the record.
#[test]
fn a_record_that_contradicts_itself_is_not_believed() {
    let folder = written("contradicts", &task("{scripted: [{say: hi}]}", "{samples: [{id: a, q: hi}]}"));
    assert_eq!(run(&folder, &["run", "task.yaml"]).code, 0);
    edited(&only_run(&folder), |record| {
        if let Record::Close(close) = record {
            close.scores[0].value = Some(false.into());
        }
    });
    let report = run(&folder, &["report", "last"]);
    assert_eq!(report.code, 5, "{}{}", report.out, report.err);
}

/// A slip of the keyboard destroys no log and no task, and a command that fails leaves no part of a file.
#[test]
fn outputs_are_whole_and_no_log_or_task_is_written_over() {
    let folder = written("outputs", &task("{scripted: [{say: hi}]}", "{samples: [{id: a, q: hi}]}"));
    assert_eq!(run(&folder, &["run", "task.yaml"]).code, 0);
    let log = only_run(&folder).join("log.jsonl");
    let (before, text) = (std::fs::read(&log).unwrap(), std::fs::read(folder.join("task.yaml")).unwrap());
    let path = log.to_str().unwrap();
    for arguments in [
        &["report", "last", "-o", path][..],
        &["log", "export", "last", "-o", path],
        &["compile", "task.yaml", "-o", path],
        &["report", "last", "-o", "task.yaml"],
        &["run", "task.yaml", "--runs", "others", "--report", "junit=task.yaml"],
    ] {
        let ran = run(&folder, arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("is not written over"), "{arguments:?}: {}", ran.err);
    }
    assert_eq!((std::fs::read(&log).unwrap(), std::fs::read(folder.join("task.yaml")).unwrap()), (before, text));
    std::fs::write(folder.join("r.json"), "old").unwrap();
    assert_eq!(run(&folder, &["report", "last", "--format", "json", "-o", "r.json"]).code, 0);
    assert!(std::fs::read_to_string(folder.join("r.json")).unwrap().starts_with("{\"task\""));
    let left = std::fs::read_dir(&folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(left.count(), 0);
}

/// A program that has ended is noticed though something that it has started holds its output open.
#[cfg(unix)]
#[test]
fn a_program_that_has_ended_is_noticed_though_its_child_goes_on() {
    for (name, script, said) in [
        ("silent", "read -r x; sleep 600 & exit 3\n", "application_failure"),
        ("once", "read -r x; sleep 600 & echo '{\"text\":\"hi\"}'\n", "completed"),
    ] {
        let text = "aigo: 1\nname: t\nmodels: {assistant: {command: [sh, bot.sh]}}\ndataset: {samples: [{id: a}]}\n\
                    solvers: [{script: [one, two]}]\nscorers: [{name: s, check: {contains: hi}}]\n";
        let folder = written(&format!("child_{name}"), text);
        std::fs::write(folder.join("bot.sh"), script).unwrap();
        let ran = run(&folder, &["run", "task.yaml", "--allow-commands"]);
        assert_eq!(ending(&only_run(&folder), "a").as_deref(), Some(said), "{}{}", ran.out, ran.err);
        assert!(said == "completed" || ran.out.contains("exit status: 3"), "{}", ran.out);
    }
}
