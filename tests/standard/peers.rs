//! Where other tools were measured to be wrong (`DeepEval` and Ragas, in the words of `spec/std.md`): the right figure here.

use std::fmt::Write as _;

use aigo_ir::verdict::Verdict;
use serde_json::{Value, json};

use super::cases::{Case, lines};
use crate::harness::{folder, run};

/// The conversation's verdict.
fn whole(case: &str) -> Verdict {
    let (outcome, _) = Case::of(case).run();
    outcome.scores.into_iter().find(|row| row.turn.is_none()).expect("the conversation has a verdict").verdict
}

/// A conversation of so many turns in which one answer, `at`, has a claim that no source bears out.
fn one_hallucination(turns: u32, at: u32) -> String {
    let mut case = "faithfulness: one of many\nkey with: {context: \"{{ searches }}\"}\n".to_owned();
    for turn in 1..=turns {
        let _ = write!(case, "{turn}u Question {turn}?\n{turn}a Answer {turn}.\ncontext Answer {turn}.\n");
        let (score, evidence) = if turn == at {
            (false, json!([{"turn": format!("{turn}a"), "quote": format!("Answer {turn}.")}]))
        } else {
            (true, json!([]))
        };
        let verdict = json!({"evidence": evidence, "reason": "so", "score": score});
        let reply = json!({"items": [{"claim": format!("Claim {turn}.")}], "verdicts": [verdict]});
        let _ = writeln!(case, "says {turn} {reply}");
    }
    case
}

#[test]
fn a_fault_costs_the_same_wherever_it_stands() {
    for (turns, truth) in [(5, 0.8), (10, 0.9), (20, 0.95)] {
        for at in [1, turns / 2, turns] {
            let value = whole(&one_hallucination(turns, at)).value.and_then(|value| value.as_f64()).expect("a number");
            assert!((value - truth).abs() < 1e-12, "{value} with the fault in turn {at} of {turns}");
        }
    }
}

#[test]
fn without_retrieval_context_scorers_do_not_apply() {
    let place = folder("std_no_context");
    let messages = json!([{"author": "user", "text": "Refunds?"}, {"author": "assistant", "text": "30 days."}]);
    let reply =
        json!({"items": [{"claim": "30 days."}], "verdicts": [{"evidence": [], "reason": "so", "score": true}]});
    let with = json!({"id": "with", "searches": [["Refunds within 30 days."]], "messages": messages});
    let without = json!({"id": "without", "messages": messages});
    std::fs::write(place.join("two.jsonl"), format!("{with}\n{without}\n")).expect("the records can be written");
    let scorers = ["faithfulness", "context_precision", "context_relevancy", "context_recall"].map(|name| {
        let expected = if name == "context_recall" { ", expected: [[30 days]]" } else { "" };
        format!("  - {{use: {name}, with: {{context: \"{{{{ searches }}}}\"{expected}}}}}\n")
    });
    let task = format!(
        "aigo: 1\nname: two\nmodels: {{judge: {{scripted: [{{say: '{reply}'}}]}}}}\ndataset: {{transcripts: two.jsonl}}\nscorers:\n{}",
        scorers.concat()
    );
    std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    let ran = run(&place, &["run", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for trial in crate::harness::trials(&crate::harness::only_run(&place)) {
        let close = trial.close.expect("it has ended");
        let wanted = if trial.open.key.contains("without") { "not_applicable" } else { "scored" };
        for score in close.scores.iter().filter(|score| score.turn.is_none()) {
            assert_eq!(score.outcome, wanted, "{} of {}", score.scorer, trial.open.key);
        }
    }
}

#[test]
fn fewer_verdicts_than_items_are_no_verdict() {
    let claims: Vec<Value> = (1..=10).map(|n| json!({"claim": format!("Claim {n}.")})).collect();
    let reply = json!({"items": claims, "verdicts": [{"evidence": [], "reason": "so", "score": true}]});
    let case = format!(
        "faithfulness: ten claims\nkey with: {{context: \"{{{{ searches }}}}\"}}\n1u Q?\n1a Ten claims.\ncontext A source.\nsays 1 {reply}\n"
    );
    let verdict = whole(&case);
    assert_eq!(verdict.outcome.word(), "invalid");
    assert_eq!(&*verdict.reason, "`verdicts` has 1 entries for 10 items");
}

#[test]
fn a_verdict_in_prose_is_neither_yes_nor_no() {
    for (scorer, item) in [
        ("conversation_completeness", json!({"request": "a seat", "turn": "1u", "quote": "A seat"})),
        ("knowledge_retention", json!({"fact": "a seat", "turn": "1u", "quote": "A seat", "replaces": ""})),
    ] {
        let verdict = json!({"evidence": [], "reason": "so", "score": "No, nothing was done."});
        let reply = json!({"items": [item], "verdicts": [verdict]});
        let found = whole(&format!("{scorer}: prose\n1u A seat, please.\n1a Hello.\nsays {reply}\n"));
        assert_eq!(found.outcome.word(), "invalid", "{scorer}: {}", found.reason);
        assert!(found.reason.contains("not on the scale"), "{}", found.reason);
    }
}

#[test]
fn a_greeting_is_noted_as_nothing_at_stake() {
    let case = "turn_relevancy: a greeting\n1u Hi\n1a Hello!\nsays 1 {\"evidence\": [], \"reason\": \"A greeting.\", \"score\": \"skip\"}\n";
    let (outcome, _) = Case::of(case).run();
    assert_eq!(lines(&outcome), ["true pass (nothing at stake)", "turn 1: not_applicable (A greeting.)"]);
}

/// A conversation of so many turns, and what suits every scorer as an answer.
fn long(scorer: &str, keys: &str, turns: u32) -> String {
    let mut case = format!("{scorer}: long\n{keys}");
    for turn in 1..=turns {
        let _ = write!(case, "{turn}u Question {turn}?\n{turn}a Answer {turn}?\ncontext A | B\n");
    }
    let items = json!([{"fact": "f", "request": "r", "claim": "c", "rule": "x", "since": "",
        "from": "a", "to": "b", "turn": "1u", "quote": "Question 1", "replaces": ""}]);
    for judged in 0..=turns {
        let score = match scorer {
            "task_completion" | "knowledge_retention" => json!(5),
            "recovery" => json!("recovered"),
            "instruction_drift" => json!("kept"),
            "goal_abandonment" => json!("resolved"),
            "simulator_fidelity" => json!("in_character"),
            _ => json!(true),
        };
        let one = json!({"evidence": [], "reason": "so", "score": score});
        let count = match scorer {
            "role_adherence" | "topic_adherence" | "clarification" | "simulator_fidelity" => turns,
            "context_precision" | "context_relevancy" | "context_recall" => 2,
            _ => 1,
        };
        let mut reply = json!({"evidence": [], "reason": "so", "score": score, "items": items});
        reply["verdicts"] = (0..count).map(|_| one.clone()).collect();
        let _ = writeln!(case, "says {judged} {reply}");
    }
    case
}

/// The formula of `aigo show` is what is asked, and grows no faster than it says: elsewhere 2,326 calls for 50 turns.
#[test]
fn each_scorer_makes_the_calls_that_its_page_says() {
    let context = "key with: {context: \"{{ searches }}\"}\n";
    for (scorer, keys) in [
        ("task_completion", ""),
        ("turn_relevancy", ""),
        ("knowledge_retention", ""),
        ("conversation_completeness", ""),
        ("recovery", ""),
        ("repetition", ""),
        ("goal_abandonment", ""),
        ("tool_use", ""),
        ("role_adherence", "key with: {role: Support.}\n"),
        ("policy_adherence", "key with: {policy: [No price.]}\n"),
        ("instruction_drift", "key with: {policy: [No price.]}\n"),
        ("topic_adherence", "key with: {topics: [billing]}\n"),
        ("clarification", "key with: {slots: [date]}\n"),
        ("goal_accuracy", "key with: {expected: done}\n"),
        ("simulator_fidelity", "key with: {goal: seats}\n"),
        ("faithfulness", context),
        ("context_precision", context),
        ("context_relevancy", context),
        ("context_recall", "key with: {context: \"{{ searches }}\", expected: \"{{ searches }}\"}\n"),
        ("persona_played", "key with: {persona: mind_changer}\n"),
    ] {
        let file = aigo_compiler::standard::of_scorer(scorer, None).expect("it is there");
        let formula = aigo_compiler::standard::page(file, scorer).expect("it has a page").calls.expect("calls");
        let formula = formula.split(", ").next().expect("a formula");
        for turns in [5, 20, 50] {
            let (outcome, prompts) = Case::of(&long(scorer, keys, turns)).run();
            let wanted = match formula {
                "n" => turns,
                "2n" => 2 * turns,
                "0 or 1" | "1" => 1,
                "2" => 2,
                other => panic!("{scorer}: `{other}`"),
            };
            assert_eq!(prompts.len(), wanted as usize, "{scorer} of {turns} turns, {formula}: {:?}", lines(&outcome));
            assert!(lines(&outcome)[0].ends_with("pass"), "{scorer}: {:?}", lines(&outcome));
        }
    }
}

/// A conversation that the application left, and one that nobody answered: facts, and neither dropped nor scored at the top.
#[test]
fn what_was_left_undone_is_not_complete_and_asks_nobody() {
    let place = folder("std_left_undone");
    let verdict = "{\"evidence\": [], \"reason\": \"so\", \"score\": true}";
    let task = format!(
        "aigo: 1\nname: left\nmodels:\n  assistant: {{scripted: [{{when: turn == 2, fault: 500}}, {{say: One moment.}}]}}\n  \
         judge: {{scripted: [{{say: '{verdict}'}}]}}\n\
         dataset: {{samples: [{{id: one}}]}}\nsolvers: [{{script: [Add a seat., And?]}}]\n\
         scorers: [{{use: task_completion}}, {{use: conversation_completeness}}, {{use: turn_relevancy}}]\n"
    );
    std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    run(&place, &["run", "task.yaml"]);
    let one = crate::harness::trial(&crate::harness::only_run(&place), "one");
    assert_eq!(one.close.as_ref().map(|close| close.ending.as_str()), Some("application_failure"));
    assert_eq!(crate::harness::score(&one, "task_completion"), "scored 1 Some(false)");
    assert_eq!(crate::harness::score(&one, "conversation_completeness"), "scored false Some(false)");
    assert_eq!(crate::harness::score(&one, "turn_relevancy"), "scored 1.0 Some(true)");
    assert_eq!(
        one.calls.iter().filter(|call| &*call.site.role == "judge").count(),
        1,
        "only of the turn that there is"
    );
}

#[test]
fn a_conversation_in_which_nobody_answers_is_bad_and_no_judge_is_asked() {
    for scorer in ["turn_relevancy", "tool_use"] {
        let (outcome, prompts) = Case::of(&format!("{scorer}: nobody answers\n1u Hello?\n2u Anybody?\n")).run();
        assert_eq!((lines(&outcome), prompts.len()), (vec!["false fail".to_owned()], 0), "{scorer}");
    }
}

/// A list of bad turns that names one twice, and a message of the user's, costs two turns of five elsewhere.
#[test]
fn an_answer_is_judged_once_and_a_message_of_the_users_never() {
    let good = json!({"evidence": [], "reason": "so", "score": true});
    let bad = json!({"evidence": [{"turn": "2a", "quote": "Answer 2"}], "reason": "so", "score": false});
    let case = |verdicts: Vec<&Value>| {
        let mut case = "role_adherence: one bad turn of five\nkey with: {role: Support.}\nkey over: rate\n".to_owned();
        for turn in 1..=5 {
            let _ = write!(case, "{turn}u Question {turn}?\n{turn}a Answer {turn}.\n");
        }
        let _ = writeln!(case, "says {}", json!({"verdicts": verdicts}));
        whole(&case)
    };
    let one = case(vec![&good, &bad, &good, &good, &good]);
    assert_eq!(one.value.and_then(|value| value.as_f64()), Some(0.8));
    let twice = case(vec![&good, &bad, &bad, &good, &good, &good]);
    assert_eq!((twice.outcome.word(), &*twice.reason), ("invalid", "`verdicts` has 6 entries for 5 items"));
}

/// One reply that cannot be read costs one conversation, and not the ten.
#[test]
fn one_broken_reply_loses_one_conversation() {
    let place = folder("std_one_broken");
    let messages = json!([{"author": "user", "text": "Seats?"}, {"author": "assistant", "text": "Two."}]);
    let good = "{\"evidence\": [], \"reason\": \"so\", \"score\": true}";
    let rows = (0..10).map(|n| {
        let reply = if n == 3 { "I would rather not say." } else { good };
        json!({"id": format!("c{n}"), "reply": reply, "messages": messages}).to_string() + "\n"
    });
    std::fs::write(place.join("ten.jsonl"), rows.collect::<String>()).expect("the records can be written");
    let task = "aigo: 1\nname: ten\nmodels: {judge: {scripted: [{say: \"{{ reply }}\"}]}}\ndataset: {transcripts: ten.jsonl}\n\
        scorers: [{use: turn_relevancy}]\ngates: [{gate: mean(turn_relevancy) >= 0.8, max_missing: 0.2}]\n";
    std::fs::write(place.join("task.yaml"), task).expect("the task can be written");
    let ran = run(&place, &["run", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("9 scored · 1 invalid of 10"), "{}", ran.out);
}
