//! What scorers share: a list is found once per conversation, whoever asks for it, and no answer is bought twice.

use std::sync::Arc;

use aigo_compiler::{NoSources, compile};
use aigo_machine::{Answer, Linked, Outcome, Trial};
use serde_json::json;

use crate::harness::{folder, only_run, run, score, trial};
use crate::served::{Served, completion};

/// An answer that suits the extractions and the judges of these tests.
fn answer() -> String {
    let verdict = json!({"evidence": [], "reason": "so", "score": 5});
    json!({"items": [{"fact": "on Team", "turn": "1u", "quote": "on Team", "replaces": ""}], "verdicts": [verdict]})
        .to_string()
}

/// Runs one conversation before scorers; the lane that is answered next is the first or the last that waits.
fn drive(scorers: &str, last: bool) -> Outcome {
    let task = format!(
        "aigo: 1\nname: t\nmodels:\n  assistant: {{scripted: [On Team you may.]}}\n  judge: {{scripted: [Hm.]}}\n  other: {{scripted: [Hm.]}}\n\
         dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: I am on Team. More seats?}}, generate]\nscorers:\n{scorers}"
    );
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    let found: Vec<String> = compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect();
    let (program, dataset) = compiled.program.unwrap_or_else(|| panic!("{found:#?}"));
    let row = dataset.rows(&NoSources).next().expect("a row").expect("a good one");
    let sample = super::sample(row);
    let linked = Linked::new(program).map_err(|found| found[0].to_string()).expect("it is sound");
    let (mut trial, mut pending) = Trial::start(Arc::new(linked), Arc::new(sample));
    while let Some(next) = if last { pending.pop() } else { (!pending.is_empty()).then(|| pending.remove(0)) } {
        let text = if &*next.ask.request.role == "assistant" { "On Team you may.".to_owned() } else { answer() };
        pending.extend(trial.answer(next.lane, Answer { text: text.into(), stop: "stop".into(), ..Answer::default() }));
    }
    trial.outcome().expect("it has ended")
}

const TWICE: &str = "  - use: knowledge_retention\n  - {use: knowledge_retention, name: strict, pass: 5, runs: 3}\n";

#[test]
fn a_list_that_two_scorers_ask_for_is_found_once_whoever_is_answered_first() {
    let (first, last) = (drive(TWICE, false), drive(TWICE, true));
    let graphs: Vec<&str> = first.calls.iter().map(|call| &*call.position.graph).collect();
    // One extraction, one judge, and three draws of the other.
    assert_eq!(graphs.iter().filter(|graph| graph.starts_with("score/")).count(), 1 + 1 + 3, "{graphs:?}");
    assert_eq!(graphs.iter().filter(|graph| **graph == "score/strict").count(), 3, "{graphs:?}");
    assert_eq!(first.leaf(), last.leaf(), "which of them is answered first cannot be seen");
    assert!(first.scores.iter().all(|row| row.verdict.pass == Some(true)) && first.scores.len() == 2);
}

#[test]
fn another_question_or_another_role_is_asked_for_itself() {
    let graph = |name: &str, prompt: &str, role: &str| {
        format!(
            "  - name: {name}\n    graph:\n      scale: boolean\n      steps:\n        - {{extract: {{who: user, model: {role}, prompt: {prompt}, items: {{fact: string, turn: turn, quote: quote, replaces: string}}}}, as: found}}\n        - score: found != []\n"
        )
    };
    let calls = |scorers: &[String]| drive(&scorers.concat(), false).calls.len() - 1;
    let one = || graph("one", "Facts.", "judge");
    assert_eq!(calls(&[one(), graph("two", "Facts.", "judge")]), 1);
    assert_eq!(calls(&[one(), graph("two", "Wishes.", "judge")]), 2);
    assert_eq!(calls(&[one(), graph("two", "Facts.", "other")]), 2);
}

#[test]
fn every_turn_shares_its_claims_between_two_scorers() {
    let faithful =
        |name: &str| format!("  - {{use: faithfulness, name: {name}, with: {{context: [[\"On Team you may.\"]]}}}}\n");
    let outcome = drive(&format!("{}{}", faithful("one"), faithful("two")), false);
    // Its answer has no claims of that shape: both are asked for them once more, each by itself.
    let asked: Vec<String> =
        outcome.calls.iter().map(|call| format!("{} {}", call.position.graph, call.position.node)).collect();
    assert_eq!(asked.iter().filter(|place| place.starts_with("score/one")).count(), 2, "{asked:?}");
    assert_eq!(asked.iter().filter(|place| place.starts_with("score/two")).count(), 1, "{asked:?}");
}

/// Where nothing is found the second scorer asks nobody, so a run may stay under a limit that counts the list once.
#[test]
fn a_shared_list_counts_once_among_the_calls_that_are_sure_to_be_made() {
    let meets = |calls: u32| {
        let task = format!(
            "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [Hi]}}, judge: {{scripted: [Hm]}}}}\nlimits: {{calls: {calls}}}\n\
             dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi}}, generate]\nscorers:\n{TWICE}"
        );
        let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
        let told: Vec<String> = compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect();
        told.iter().any(|one| one.contains("calls"))
    };
    assert_eq!((meets(1), meets(2)), (true, false));
}

/// Elsewhere a second evaluation of the same conversations buys every verdict again.
#[test]
fn a_second_run_over_the_same_conversation_buys_nothing() {
    let served = Served::start(|_, _| Some(completion(&answer())));
    let place = folder("std_bought_once");
    let messages = json!([{"author": "user", "text": "I am on Team. More seats?"}, {"author": "assistant", "text": "On Team you may."}]);
    std::fs::write(place.join("one.jsonl"), json!({"id": "one", "messages": messages}).to_string())
        .expect("it can be written");
    let task = |scorers: &str| {
        let task = format!(
            "aigo: 1\nname: t\nmodels: {{judge: {{model: openai_compatible/judge-m, base_url: \"{}\"}}}}\ndataset: {{transcripts: one.jsonl}}\nscorers:\n{scorers}",
            served.url
        );
        std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    };
    task("  - use: knowledge_retention\n");
    assert_eq!(run(&place, &["run", "task.yaml"]).code, 0);
    assert_eq!(served.seen().len(), 2);
    let first = only_run(&place);
    assert_eq!(score(&trial(&first, "one"), "knowledge_retention"), "scored 5 Some(true)");
    let again = ["run", "task.yaml", "--from", first.to_str().expect("a path of text")];
    assert_eq!(run(&place, &again).code, 0);
    assert_eq!(served.seen().len(), 2, "both answers were there");
    // A scorer that is put before it shares the list that was bought for the other.
    task("  - {use: knowledge_retention, name: before}\n  - use: knowledge_retention\n");
    assert_eq!(run(&place, &again).code, 0);
    assert_eq!(served.seen().len(), 3, "one verdict is new, and no list");
}
