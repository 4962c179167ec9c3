//! Outcomes and exit codes: what counts, what is missing, and what a build fails for.

use std::fmt::Write as _;
use std::path::Path;

use crate::harness::{Ran, folder, only_run, run, score, trial};

/// Runs a task, given as text, in a folder of its own.
fn ran(name: &str, task: &str, more: &[&str]) -> (std::path::PathBuf, Ran) {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), task).expect("the task can be written");
    let arguments: Vec<&str> = ["run", "task.yaml"].into_iter().chain(more.iter().copied()).collect();
    let ran = run(&folder, &arguments);
    (folder, ran)
}

/// Six conversations by two personas; `fails` is what the assistant does in the second turn with the rude one.
fn assistant(fails: &str) -> String {
    format!(
        "aigo: 1\nname: app\nmodels:\n  assistant:\n    scripted:\n      - {{when: turn == 2 and persona == 'rude', {fails}}}\n      \
         - {{say: It is done.}}\n  judge:\n    scripted:\n      - when: \"persona == 'rude'\"\n        verdict: {{evidence: [{{turn: 1a, \
         quote: It is done}}], reason: Poorly done., score: 2}}\n      - verdict: {{evidence: [], reason: Done., score: 5}}\n\
         dataset: {{matrix: {{goal: [a, b, c], persona: [polite, rude]}}}}\nsolvers: [{{script: [Do it., And that.]}}]\nscorers:\n  \
         - {{name: completed, completion: true, judge: {{rubric: It is done., scale: 1..5}}}}\n  \
         - {{name: fitting, judge: {{rubric: It fits., scale: 1..5}}}}\n  - {{name: short, check: {{words: 1..9}}}}\n\
         gates: ['mean(completed) >= 3', 'mean(fitting) >= 1.5']\n"
    )
}

#[test]
fn an_application_that_fails_scores_lower_than_one_that_answers_badly() {
    let mean = |ran: &Ran| ran.json()["gates"][0]["value"].as_f64().expect("a mean");
    let (_, bad) = ran("outcome_bad", &assistant("say: Whatever."), &["--format", "json"]);
    let (folder, broken) = ran("outcome_broken", &assistant("fault: 500"), &["--format", "json"]);
    assert_eq!((mean(&bad), mean(&broken)), (3.5, 3.0), "{}", broken.err);
    let run = only_run(&folder);
    let one = trial(&run, "a/rude");
    assert_eq!(one.close.as_ref().unwrap().ending, "application_failure");
    // The scale's worst where completion is asked for; the others score the turns that exist.
    assert_eq!(score(&one, "completed"), "scored 1 Some(false)");
    assert_eq!(score(&one, "fitting"), "scored 2 Some(false)");
    assert_eq!(score(&one, "short"), "scored true Some(true)");
    let judged = one.calls.iter().filter(|call| &*call.site.role == "judge").count();
    assert_eq!(judged, 1, "nobody is asked whether it is complete");
}

#[test]
fn an_application_that_is_not_there_makes_the_run_incomplete_and_not_red() {
    let task = |when: &str| assistant("fault: 500").replace("turn == 2 and persona == 'rude'", when);
    let (_, gone) = ran("outcome_gone", &task("turn == 1"), &[]);
    assert_eq!(gone.code, 4, "{}", gone.out);
    assert!(
        gone.out.contains("INCOMPLETE") && gone.out.contains("the application is of no use: 6 of 6"),
        "{}",
        gone.out
    );
    // Half of them is no more than half.
    let (_, half) = ran(
        "outcome_half",
        &task("turn == 1 and persona == 'rude'").replace("completed) >= 3", "completed) >= 4"),
        &[],
    );
    assert_eq!(half.code, 1, "{}", half.out);
    assert!(!half.out.contains("of no use"), "{}", half.out);
}

/// Conversations of one turn with a judge that breaks its contract for some and fails some.
fn judged(dataset: &str, gate: &str) -> String {
    format!(
        "aigo: 1\nname: judged\nmodels:\n  assistant: {{scripted: [Certainly.]}}\n  judge:\n    scripted:\n      \
         - {{when: fate == 'invalid', say: I would rather not.}}\n      - {{when: fate == 'bad', verdict: {{evidence: [{{turn: 1a, quote: \
         Certainly.}}], reason: Bad., score: false}}}}\n      - verdict: {{evidence: [], reason: Good., score: true}}\n\
         dataset: {dataset}\nsolvers: [{{user: Hello}}, generate]\n\
         scorers: [{{name: good, judge: {{rubric: It is good., scale: boolean}}}}]\ngates: {gate}\n"
    )
}

fn with_fates(folder: &Path, fates: impl Iterator<Item = &'static str>) {
    let rows = fates.enumerate().fold(String::new(), |mut rows, (at, fate)| {
        let _ = writeln!(rows, "{{\"id\": \"s{at:04}\", \"fate\": \"{fate}\"}}");
        rows
    });
    std::fs::write(folder.join("rows.jsonl"), rows).expect("the rows can be written");
}

#[test]
fn one_invalid_verdict_of_2000_changes_nothing_unless_it_is_strict() {
    let folder = folder("outcome_2000");
    std::fs::write(folder.join("task.yaml"), judged("{file: rows.jsonl}", "['rate(good) >= 0.95']")).unwrap();
    with_fates(&folder, (0..2000).map(|at| if at == 700 { "invalid" } else { "fine" }));
    let ran = run(&folder, &["run", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("1 missing cannot change it") && ran.out.contains("PASSED"), "{}", ran.out);
    assert!(ran.out.contains("1999 scored · 1 invalid of 2000"), "{}", ran.out);
    assert!(ran.out.contains("missing: good of s0700 is invalid: "), "{}", ran.out);
    let strict = run(&folder, &["run", "task.yaml", "--strict"]);
    assert_eq!(strict.code, 4, "{}", strict.err);
    let replayed = run(&folder, &["replay", "last"]);
    assert_eq!(replayed.code, 0, "the log keeps the code of the results: {}", replayed.err);
}

#[test]
fn exit_codes_follow_from_the_gates_at_both_ends() {
    let fates = |all: &str| {
        let samples: Vec<String> =
            all.split(' ').enumerate().map(|(at, fate)| format!("{{id: s{at}, fate: {fate}}}")).collect();
        format!("{{samples: [{}]}}", samples.join(", "))
    };
    for (at, (samples, gate, code)) in [
        // Red also at the best end, with an error present.
        ("bad bad bad bad bad invalid", "['rate(good) >= 0.9']", 1),
        // At the threshold the missing one decides.
        ("fine fine fine fine bad invalid", "[{gate: 'rate(good) >= 0.8', max_missing: 0.5}]", 4),
        // It cannot change this one, and is borne.
        ("fine fine fine fine fine invalid", "[{gate: 'rate(good) >= 0.8', max_missing: 0.5}]", 0),
        // It cannot, and is more than is borne.
        ("fine fine fine fine fine invalid", "['rate(good) >= 0.8']", 4),
        ("invalid invalid invalid invalid invalid", "['rate(good) >= 0.8']", 4),
        ("fine fine fine", "['rate(good) >= 0.8']", 4),
        ("fine fine fine", "[]", 0),
        ("fine fine invalid", "[]", 4),
        // One that is red is told, whatever else is undecided.
        ("bad bad bad bad bad bad", "['rate(good) >= 0.9', {gate: 'mean(good) >= 0.1', min_n: 20}]", 1),
    ]
    .into_iter()
    .enumerate()
    {
        let (_, ran) = ran(&format!("outcome_exit_{at}"), &judged(&fates(samples), gate), &[]);
        assert_eq!(ran.code, code, "{samples} with {gate}: {}{}", ran.out, ran.err);
    }
    let (_, none) = ran("outcome_none", &judged("{samples: []}", "[]"), &[]);
    assert_eq!(none.code, 3, "{}", none.err);
}
