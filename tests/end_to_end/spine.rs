//! Every verb of the language, every outcome of a scorer: what became of each sample, and the same again from the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::harness::{Ran, assert_replays, ending, folder, only_run, run, score, task, trial, trials};

fn ran(fixture: &str, name: &str, replaced: &[(&str, &str)]) -> (PathBuf, Ran) {
    let folder = folder(name);
    task(&folder, fixture, replaced);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    assert_replays(&folder, &path, &ran);
    (path, ran)
}

/// What the assistant answered in a trial, in order.
fn answers(run: &Path, key: &str, role: &str) -> Vec<String> {
    let trial = trial(run, key);
    let of_role =
        trial.calls.into_iter().filter(|call| &*call.site.role == role && call.site.graph.starts_with("solve"));
    of_role.map(|call| call.got.expect("answered").text).collect()
}

#[test]
fn every_verb_does_what_it_says() {
    let (path, ran) = ran("spine", "spine", &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let endings: Vec<_> = ["plain", "breaks", "stops", "fails", "unreachable", "rude", "short", "written/plain"]
        .map(|k| ending(&path, k))
        .into();
    let expected = ["completed", "completed", "condition", "expectation_failed", "application_failure"];
    let expected: Vec<_> = expected.into_iter().chain(["completed"; 3]).map(|e| Some(e.to_owned())).collect();
    assert_eq!(endings, expected);

    // system and set are seen by templates; if takes one way; loop runs until turn 6; script says both lines.
    let plain = answers(&path, "plain", "assistant");
    assert_eq!(plain[0], "Your code is P1.");
    assert_eq!(plain[1..5], ["That way.", "Round 3.", "Round 4.", "Round 5."].map(|said| format!("You said: {said}")));
    assert!(plain[5].starts_with("I like "));
    assert_eq!(plain[6..], ["Thank you.", "Say the word.", "Goodbye."].map(|said| format!("You said: {said}")));
    // The other way, and the loop left in its first pass.
    assert_eq!(
        answers(&path, "breaks", "assistant")[1..3],
        ["This way.", "Round 3."].map(|s| format!("You said: {s}"))
    );
    // `when` on a script skips all of it.
    assert!(!answers(&path, "short", "assistant").iter().any(|said| said.starts_with("I like")));
    assert_eq!(trials(&path).len(), 16, "eight samples, two epochs");
}

#[test]
fn expectations_pass_fail_and_are_unreached() {
    let (path, ran) = ran("spine", "expectations", &[]);
    let of = |key: &str| score(&trial(&path, key), "expectations");
    assert_eq!(of("plain"), "scored true Some(true)");
    assert_eq!(of("fails"), "scored false Some(false)");
    // What an early ending left fails, whether the task stopped or the assistant broke.
    assert_eq!(of("stops"), "scored false Some(false)");
    assert_eq!(of("unreachable"), "scored false Some(false)");
    // `on_fail: stop` after all checks of the step: none of the next step is evaluated.
    let turns = |key: &str| -> Vec<(u32, bool)> {
        let close = trial(&path, key).close.unwrap();
        let rows = close.scores.into_iter().filter(|row| row.scorer == "expectations");
        rows.filter_map(|row| Some((row.turn?, row.pass?))).collect()
    };
    assert_eq!(turns("plain"), [(2, true), (2, true), (9, true), (10, true)]);
    assert_eq!(turns("fails"), [(2, true), (2, true), (9, false)]);
    assert_eq!(turns("unreachable"), [(2, true), (2, true)]);
    assert_eq!(ran.json()["gates"][2]["value"].as_f64(), Some(0.625));
}

#[test]
fn a_judge_per_turn_judges_each_turn_once() {
    let (path, _) = ran("spine", "per_turn", &[]);
    let rude = trial(&path, "rude");
    let rows: BTreeMap<u32, Option<bool>> = rude
        .close
        .as_ref()
        .unwrap()
        .scores
        .iter()
        .filter(|row| row.scorer == "polite")
        .filter_map(|row| Some((row.turn?, row.pass)))
        .collect();
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    assert!(rows.iter().all(|(turn, pass)| *pass == Some(*turn != 2)), "{rows:?}");
    assert_eq!(score(&rude, "polite"), "scored false Some(false)");
    assert_eq!(score(&trial(&path, "plain"), "polite"), "scored true Some(true)");
    let items: Vec<&[u32]> =
        rude.calls.iter().filter(|call| &*call.site.role == "judge").map(|call| &*call.ask.index).collect();
    assert_eq!(items.len(), 10, "one call a turn");
}

#[test]
fn draws_are_fixed_by_the_seed_and_differ_between_epochs_and_seeds() {
    let colours = |path: &Path| -> Vec<String> {
        let mut all: Vec<(String, u32, String)> = Vec::new();
        for trial in trials(path) {
            let said =
                trial.calls.iter().filter_map(|call| call.got.as_ref()).find(|got| got.text.starts_with("I like "));
            all.extend(said.map(|got| (trial.open.key.clone(), trial.open.epoch, got.text.clone())));
        }
        all.sort();
        all.into_iter().map(|(_, _, text)| text).collect()
    };
    let (first, one) = ran("spine", "draws_1", &[]);
    let (again, two) = ran("spine", "draws_2", &[]);
    let (other, three) = ran("spine", "draws_3", &[("seed: 7", "seed: 8")]);
    assert_eq!((colours(&first), one.digest()), (colours(&again), two.digest()));
    assert_ne!((colours(&first), one.digest()), (colours(&other), three.digest()));
    let both: Vec<String> = colours(&first);
    assert!(both.chunks(2).any(|epochs| epochs[0] != epochs[1]), "epochs draw anew: {both:?}");
}

#[test]
fn simulated_users_are_done_give_up_run_out_and_break() {
    let (path, ran) = ran("gives_up", "gives_up", &[]);
    // No gate, and one sample whose simulator failed: the run is incomplete, not passed.
    assert_eq!(ran.code, 4, "{}", ran.err);
    let endings = ["tired", "happy", "stubborn", "broken"].map(|key| ending(&path, key).unwrap());
    assert_eq!(endings, ["gave_up", "done", "turn_limit", "simulator_failure"]);
    // The text beside the marker is kept and unanswered; two turns were answered before it.
    assert_eq!(answers(&path, "happy", "assistant").len(), 2);
    assert_eq!(answers(&path, "stubborn", "assistant").len(), 4);
    assert_eq!(score(&trial(&path, "broken"), "never_yes"), "void none None");
    assert_eq!(score(&trial(&path, "tired"), "never_yes"), "scored true Some(true)");
}

#[test]
fn a_judge_that_breaks_its_contract_is_asked_again_once_and_then_invalid() {
    let (path, ran) = ran("invalid", "invalid", &[]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let outcome = &ran.json()["outcomes"]["quality"];
    let count = |key: &str| outcome[key].as_i64().unwrap();
    assert_eq!((count("scored"), count("invalid"), count("void"), count("planned")), (3, 2, 1, 6));
    // Prose twice, an invented quote twice, a fault once (it would come again), good answers once each.
    assert_eq!(ran.json()["calls"]["judge"], 2 + 2 + 1 + 3);
    let gate = &ran.json()["gates"][0];
    assert_eq!(
        (gate["low"].as_f64(), gate["high"].as_f64(), gate["result"].as_str()),
        (Some(3.0), Some(5.0), Some("undecided"))
    );
    assert_eq!(score(&trial(&path, "Pro"), "quality"), "invalid none None");
    assert_eq!(score(&trial(&path, "Team"), "quality"), "void none None");
    // The second question says what was wrong with the first answer: other words are asked, so the contents differ.
    let pro = trial(&path, "Pro");
    let asked: Vec<&str> =
        pro.calls.iter().filter(|call| &*call.site.role == "judge").map(|call| &*call.ask.content).collect();
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0], asked[1]);
}

/// The pages that a reviewer found wrong once: each is small, and says in its name what must hold.
const SMALL: &str = "aigo: 1
name: small
models:
  assistant: {scripted: [ASSISTANT]}
  judge: {scripted: [JUDGE]}
dataset: {samples: [{id: one, plan: Free, n: 0}]}
solvers:
SOLVERS
scorers:
  - {name: said, check: {contains: yes, turns: every}, over: mean, pass: 0.5}
  - {name: judged, judge: {per: turn, rubric: Is it good?, scale: {labels: {bad: 0, fine: 2, good: 4}}, evidence: none}, over: median, pass: 1}
gates: [{gate: mean(said) >= 0.1, min_n: 1}]
";

fn small(name: &str, assistant: &str, judge: &str, solvers: &str) -> (std::path::PathBuf, Ran) {
    let folder = folder(name);
    let text = SMALL.replace("ASSISTANT", assistant).replace("JUDGE", judge).replace("SOLVERS", solvers);
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    (folder, ran)
}

const TWO_TURNS: &str = "  - script: [First?, Second?]";

#[test]
fn what_a_mean_makes_of_booleans_and_labels_reaches_the_gate() {
    let assistant = "{when: turn == 1, say: 'yes'}, no";
    let judge = "{when: judged == 1, verdict: {score: fine}}, {verdict: {score: good}}";
    let (folder, ran) = small("means", assistant, judge, TWO_TURNS);
    assert_eq!(ran.json()["gates"][0]["value"].as_f64(), Some(0.5), "{}", ran.out);
    let trial = trial(&only_run(&folder), "one");
    let value = |scorer: &str| score(&trial, scorer);
    assert!(value("said").contains("0.5") && value("judged").contains('3'), "{} {}", value("said"), value("judged"));
}

#[test]
fn an_expectation_in_a_branch_that_need_not_be_taken_is_not_left_by_a_stop() {
    let solvers = "  - loop:
      max_turns: 5
      solvers:
        - user: Next.
        - generate
        - if: {when: plan == 'Pro', then: [{user: Pro?}, {generate: , expect: {contains: yes}}]}
        - stop: {when: turn == 2}";
    let (_, ran) = small("branch", "'yes'", "{verdict: {score: good}}", solvers);
    let expectations = &ran.json()["outcomes"]["expectations"];
    assert_eq!(expectations["not_applicable"].as_i64(), Some(1), "{}", ran.out);
}

#[test]
fn a_rule_that_has_no_value_is_the_tasks_error_and_no_failure_of_the_assistant() {
    let (folder, ran) = small("rule", "'{{ 1 // n }}'", "{verdict: {score: good}}", TWO_TURNS);
    assert_eq!(ending(&only_run(&folder), "one").as_deref(), Some("task_error"), "{}", ran.err);
    assert_eq!(ran.json()["outcomes"]["said"]["void"].as_i64(), Some(1), "{}", ran.out);
}
