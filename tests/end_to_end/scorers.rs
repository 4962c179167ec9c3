//! Scorers, checks, judges, graphs and gates: every kind of mistake at its place, every kind in the program, every check that
//! runs with a bot whose answers are known.

use std::fmt::Write as _;

use aigo_compiler::{NoSources, compile};

use crate::golden::compare;
use crate::harness::{assert_replays, folder, only_run, root, run, score, task, trial};

/// A task around a part of one. The lines of the part are the last ones.
fn around(part: &str, text: &str) -> (String, usize) {
    let head = "aigo: 1\nname: example\nworld: {state: {a: 0}}\nmodels:\n  assistant: {scripted: [{say: Certainly.}]}\n  judge: {scripted: [{verdict: {score: 5}}]}\n\
        dataset: {samples: [{id: one, plan: Pro, seats: 3, goal: {id: a}}, {id: two, plan: Team, seats: 4, goal: {id: b}, note: x}]}\n\
        solvers:\n  - user: Hello\n  - generate: {as: first}\n";
    let scorers = "  - {name: polite, check: {not_contains: nonsense}}\n  - {name: helpful, judge: {rubric: It helps.}}\n  \
        - {name: tone, over: rate, judge: {rubric: Kind., per: turn, scale: {labels: {good: 2, bad: 0}}}}\n";
    let indented = text.lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
    let whole = match part {
        "gate" => format!("{head}scorers:\n{scorers}gates:\n{indented}"),
        _ => format!("{head}scorers:\n{indented}{scorers}"),
    };
    let first = whole.lines().position(|line| indented.starts_with(line)).expect("the part is in the task");
    (whole, first)
}

/// The findings of a part: code, place within the part, message, help, edit.
fn findings(part: &str, text: &str) -> String {
    let (whole, first) = around(part, text);
    let compiled = compile("task.yaml", whole.as_bytes(), &NoSources);
    let mut out = String::new();
    // What surrounds a part pleases no lint.
    for found in compiled.diagnostics.iter().filter(|found| !found.row.code.starts_with("W06")) {
        let at = compiled.sources.position(found.span.expect("every finding has a place"));
        let (line, column) = (at.line.saturating_sub(first + 1) + 1, at.column.saturating_sub(2));
        let _ = writeln!(out, "  {} {line}:{column} {}", found.row.code, found.message);
        if let Some(help) = &found.help {
            let _ = writeln!(out, "      help: {help}");
        }
        if let Some(fix) = &found.fix {
            let file = compiled.sources.get(fix.span.file).expect("the file is there");
            let replaced = &file.text[fix.span.start as usize..fix.span.end as usize];
            let _ = writeln!(out, "      edit: `{replaced}` to `{}`", fix.text);
        }
    }
    out
}

/// `tests/fixtures/bad_scorers.txt` has parts of tasks, each below a line `== scorer` or `== gate`; what is found in each
/// stands behind it in the golden file.
#[test]
fn every_mistake_has_its_code_place_and_help() {
    let parts = std::fs::read_to_string(root().join("tests/fixtures/bad_scorers.txt")).expect("the parts are there");
    let (mut out, mut count) = (String::new(), 0);
    for part in format!("\n{parts}").split("\n== ").skip(1) {
        let (kind, text) = part.split_once('\n').expect("a part has lines");
        let found = findings(kind, text);
        assert!(found.lines().filter(|line| !line.starts_with("      ")).count() > 0, "nothing is found in\n{text}");
        let _ = writeln!(out, "== {kind}\n{}\n{found}", text.trim_end());
        count += 1;
    }
    assert!(count >= 60, "{count} parts: some are lost");
    compare("bad_scorers.txt", &out);
}

#[test]
fn a_task_with_every_scorer_is_the_golden_program_and_reads_back() {
    let ran = run(root(), &["compile", "tests/fixtures/scorers.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    compare("scorers.ir", &ran.out);
    let read = aigo_ir::read::read(&ran.out).expect("the program reads back");
    assert_eq!(aigo_ir::verify::verify(&read), []);
    let printed = aigo_ir::print::print(&read);
    assert_eq!(aigo_ir::read::read(&printed).as_ref(), Ok(&read));
    // Tags choose scorers, and make no other program.
    let mut other = read.clone();
    other.scorers.iter_mut().for_each(|scorer| scorer.tags.clear());
    assert!(other != read && other.hash() == read.hash());
}

#[test]
fn a_task_with_every_scorer_runs() {
    let folder = folder("scorers_all");
    task(&folder, "scorers", &[]);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    assert!([0, 1, 4].contains(&ran.code), "{} {}", ran.code, ran.err);
    assert_replays(&folder, &only_run(&folder), &ran);
}

#[test]
fn every_check_says_what_the_answers_are() {
    let folder = folder("scorers_checks");
    task(&folder, "checks", &[]);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    let (one, three) = (trial(&path, "one"), trial(&path, "three"));
    for (scorer, wanted) in [
        ("contains", "scored true Some(true)"),
        ("contains_not", "scored false Some(false)"),
        ("matches", "scored true Some(true)"),
        ("equals", "scored true Some(true)"),
        ("starts", "scored false Some(false)"),
        ("one_of", "scored true Some(true)"),
        ("one_of_not", "scored false Some(false)"),
        ("schema", "scored true Some(true)"),
        ("schema_not", "scored 0.25 Some(false)"),
        ("words", "scored true Some(true)"),
        ("words_not", "scored 0.0 Some(false)"),
        ("no_reply", "scored false Some(false)"),
        ("reply", "scored true Some(true)"),
        ("repeats", "scored false Some(false)"),
        ("repeats_exactly", "scored true Some(true)"),
        ("turns", "scored true Some(true)"),
        ("turns_not", "scored false Some(false)"),
        ("similar", "scored true Some(true)"),
        ("expr", "scored true Some(true)"),
        ("expr_not", "scored false Some(false)"),
        ("applies", "not_applicable none None"),
    ] {
        assert_eq!(score(&one, scorer), wanted, "{scorer}");
    }
    assert_eq!(score(&three, "similar"), "scored false Some(false)");
    assert_eq!(score(&three, "applies"), "scored true Some(true)");
    let gates = ran.json()["gates"].as_array().expect("gates").clone();
    let results: Vec<&str> = gates.iter().map(|gate| gate["result"].as_str().expect("a result")).collect();
    // Below five samples a gate is undecided; the one by persona needs one of each, and is red in the group `kind`.
    assert_eq!(results, ["undecided", "undecided", "undecided", "undecided", "red", "skipped"], "{gates:?}");
    let values: Vec<f64> = gates.iter().filter_map(|gate| gate["value"].as_f64()).collect();
    assert_eq!(values, [1.0, 0.0, 0.0, 3.0, 0.0]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_replays(&folder, &path, &ran);
}

/// A task with one judged scorer, run; the conversation's score of it.
fn judged(name: &str, scorer: &str, rules: &str) -> (String, u64) {
    let folder = folder(name);
    let text = format!(
        "aigo: 1\nname: judged\nmodels:\n  assistant: {{scripted: [{{say: Certainly.}}]}}\n{rules}dataset: {{samples: [{{id: one}}]}}\n\
         solvers: [{{script: [Hello, And then?]}}]\nscorers:\n{scorer}"
    );
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    assert_replays(&folder, &path, &ran);
    let calls = ran.json()["calls"].as_object().expect("calls").clone();
    let judges = calls.iter().filter(|(role, _)| *role != "assistant").filter_map(|(_, n)| n.as_u64()).sum();
    (score(&trial(&path, "one"), "x"), judges)
}

/// The rules of a role that scores so.
fn role(name: &str, score: &str) -> String {
    format!("  {name}: {{scripted: [{{verdict: {{score: {score}, reason: So.}}}}]}}\n")
}

#[test]
fn panels_draws_and_confirmations_ask_as_often_as_they_say() {
    let three = role("a", "true") + &role("b", "false") + &role("c", "true");
    let panel = |more: &str| {
        format!("  - {{name: x, judge: {{rubric: R., scale: boolean, evidence: none, panel: [a, b, c]{more}}}}}\n")
    };
    assert_eq!(judged("panel", &panel(""), &three), ("scored true Some(true)".into(), 3));
    // A judge that breaks its contract is asked twice, and is missing from the panel then.
    let broken = role("a", "true") + &role("b", "7") + &role("c", "true");
    assert_eq!(judged("panel_broken", &panel(""), &broken), ("scored true Some(true)".into(), 4));
    assert_eq!(judged("panel_quorum", &panel(", quorum: 3"), &broken), ("invalid none None".into(), 4));
    let runs = "  - {name: x, runs: 3, judge: {rubric: R., evidence: none}}\n";
    assert_eq!(judged("runs", runs, &role("judge", "2")), ("scored 2.0 Some(false)".into(), 3));
    let confirm = "  - {name: x, confirm: 3, judge: {rubric: R., evidence: none, scale: boolean, per: turn}}\n";
    assert_eq!(judged("confirm_pass", confirm, &role("judge", "true")), ("scored true Some(true)".into(), 2));
    assert_eq!(judged("confirm_fail", confirm, &role("judge", "false")), ("scored false Some(false)".into(), 6));
    let both = "  - {name: x, confirm: 3, runs: 2, judge: {rubric: R., evidence: none, scale: boolean}}\n";
    assert_eq!(judged("confirm_runs", both, &role("judge", "false")), ("scored false Some(false)".into(), 6));
}

#[test]
fn graphs_extract_go_through_items_and_decide() {
    let graph = "  - name: x\n    graph:\n      scale: boolean\n      steps:\n        - extract: {prompt: Words., items: {word: string, turn: turn, quote: quote}}\n          \
        as: words\n        - each: {in: words, as: word, steps: [{judge: {rubric: 'Is {{ word.word }} kept?', scale: boolean, evidence: none}}]}\n          \
        as: kept\n        - score: kept\n";
    // Without an item nothing is at stake.
    let none = "  judge: {scripted: [{say: '{\"items\": [], \"score\": true}'}]}\n";
    assert_eq!(judged("graph_none", graph, none), ("scored true Some(true)".into(), 1));
    // One answer that is both: a list with one item, and a score.
    let both = |quote: &str, score: &str| {
        format!(
            "  judge: {{scripted: [{{say: '{{\"items\": [{{\"word\": \"w\", \"turn\": \"1u\", \"quote\": \"{quote}\"}}], \"score\": {score}}}'}}]}}\n"
        )
    };
    assert_eq!(judged("graph_kept", graph, &both("Hello", "true")), ("scored true Some(true)".into(), 2));
    assert_eq!(judged("graph_lost", graph, &both("Hello", "false")), ("scored false Some(false)".into(), 2));
    // What was never said is refused twice, and then the scorer is invalid.
    assert_eq!(judged("graph_unsaid", graph, &both("Goodbye", "true")), ("invalid none None".into(), 2));
    // One call for the list, one for the verdicts on all its items.
    let batch = graph.replace("as: word, steps", "as: word, batch: true, steps");
    let answer = |score: &str| {
        let item = r#"{"word": "w", "turn": "1u", "quote": "Hello"}"#;
        format!("  judge: {{scripted: [{{say: '{{\"items\": [{item}], \"verdicts\": [{{\"score\": {score}}}]}}'}}]}}\n")
    };
    assert_eq!(judged("graph_batch", &batch, &answer("true")), ("scored true Some(true)".into(), 2));
    assert_eq!(judged("graph_batch_fails", &batch, &answer("false")), ("scored false Some(false)".into(), 2));
    assert_eq!(judged("graph_batch_broken", &batch, &answer("7")), ("invalid none None".into(), 3));
    let none = "  judge: {scripted: [{say: '{\"items\": []}'}]}\n";
    assert_eq!(judged("graph_batch_none", &batch, none), ("scored true Some(true)".into(), 1));
    let decision = "  - name: x\n    graph:\n      - each: {in: turns(), as: number, steps: [{score: length(said_in(number))}]}\n        as: lengths\n      \
        - set: {longest: max(lengths)}\n      - if: {when: longest > 5, then: [{score: 5}], else: [{score: 2}]}\n";
    assert_eq!(judged("graph_decision", decision, ""), ("scored 5 Some(true)".into(), 0));
}

/// A check of turns that did not come: n/a where the conversation went another way, and a failure where the application failed.
#[test]
fn turns_that_there_are_not_say_nothing_unless_the_application_failed_before() {
    let folder = folder("scorers_no_turns");
    let task = "aigo: 1\nname: late\nmodels:\n  assistant: {scripted: [{when: fails and turn == 2, fault: 500}, {say: Noted.}]}\n\
                dataset: {samples: [{id: good, fails: false}, {id: bad, fails: true}]}\n\
                solvers: [{script: [a, b, c]}]\n\
                scorers:\n  - {name: third, check: {contains: Noted, turns: [3]}}\n  \
                - {name: second, check: {contains: Noted, turns: [2..]}}\n  \
                - {name: ninth, check: {contains: Noted, turns: [9]}}\n  \
                - {name: first, check: {contains: Noted, turns: [1]}}\n  \
                - {name: other, check: {contains: Noted, turns: [3]}, when: not fails}\n";
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    let of = |key: &str| ["first", "second", "third", "ninth"].map(|name| score(&trial(&path, key), name));
    assert_eq!(of("good").map(|found| found.starts_with("scored true")), [true, true, true, false], "{}", ran.err);
    assert!(of("good")[3].starts_with("not_applicable"), "{:?}", of("good"));
    let other = score(&trial(&path, "bad"), "other");
    assert!(other.starts_with("not_applicable"), "a scorer that is not about a sample fails none: {other}");
    assert_eq!(of("bad").map(|found| found.starts_with("scored false")), [false, true, true, true], "{:?}", of("bad"));
    let checked = run(&folder, &["check", "task.yaml", "--format", "json"]).json().to_string();
    assert!(checked.contains("turns_out_of_reach") && checked.contains("`ninth` looks from turn 9 on"), "{checked}");
}

/// An assistant that is called otherwise in recordings says nothing in them: that is told, and no scorer is pleased.
#[test]
fn recordings_in_which_the_assistant_says_nothing_please_no_scorer() {
    let folder = folder("scorers_mute");
    std::fs::write(
        folder.join("t.jsonl"),
        "{\"id\":\"c1\",\"messages\":[{\"role\":\"visitor\",\"content\":\"Where is it?\"},{\"role\":\"rep\",\"content\":\"No idea.\"}]}\n",
    )
    .unwrap();
    let task = "aigo: 1\nname: mute\nmodels: {}\ndataset: {transcripts: t.jsonl}\nscorers:\n  - {name: kind, check: {not_contains: idiot}}\n";
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let found = score(&trial(&only_run(&folder), "c1"), "kind");
    assert!(found.starts_with("scored false"), "{found} {}", ran.err);
    let checked = run(&folder, &["check", "task.yaml", "--format", "json"]).json().to_string();
    assert!(checked.contains("nobody_is_tested") && checked.contains("there speak `rep`, `visitor`"), "{checked}");
}
