//! What other tools were measured to score wrongly, with the value that is right.

use std::path::PathBuf;

use crate::harness::{folder, only_run, run, score, trial};

/// Runs a task and gives the folder of its run.
fn ran(name: &str, task: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), task).expect("the task can be written");
    let ran = run(&folder, &["run", "task.yaml"]);
    assert!(matches!(ran.code, 0 | 1 | 4), "{}{}", ran.out, ran.err);
    only_run(&folder)
}

/// A fault in one turn of five, ten or twenty costs the same wherever it stands. Elsewhere a judge that sees a window of turns
/// scored it 0.54, 0.84 or 0.96.
#[test]
fn one_bad_turn_costs_the_same_wherever_it_stands() {
    let mut samples = Vec::new();
    for n in [5_u32, 10, 20] {
        for bad in [1, n / 2 + 1, n] {
            samples.push(format!("{{id: n{n}_{bad}, bad: {bad}, lines: [{}]}}", vec!["Go on."; n as usize].join(", ")));
        }
    }
    let path = ran(
        "defect_position",
        &format!(
            "aigo: 1\nname: position\nmodels:\n  assistant: {{scripted: [Certainly.]}}\n  judge:\n    scripted:\n      \
             - {{when: judged == bad, verdict: {{evidence: [], reason: Made up., score: 0}}}}\n      \
             - verdict: {{evidence: [], reason: Right., score: 1}}\ndataset: {{samples: [{}]}}\n\
             solvers: [{{script: lines}}]\nscorers:\n  - {{name: faithful, judge: {{rubric: It is right., scale: 0..1, per: turn, \
             window: 10, evidence: none}}}}\n",
            samples.join(", ")
        ),
    );
    for (n, value) in [(5, "0.8"), (10, "0.9"), (20, "0.95")] {
        for bad in [1, n / 2 + 1, n] {
            let seen = score(&trial(&path, &format!("n{n}_{bad}")), "faithful");
            assert_eq!(seen, format!("scored {value} Some(true)"), "turn {bad} of {n}");
        }
    }
}

/// A graph over claims: without documents it does not apply, and documents of which none was found support nothing.
#[test]
fn nothing_retrieved_is_not_the_same_as_no_retrieval() {
    let path = ran(
        "defect_retrieval",
        r#"
aigo: 1
name: retrieval
models:
  assistant: {scripted: ["Refunds take 60 days in the EU."]}
  judge:
    scripted:
      - when: "scorer == 'faithful' and length(default(docs, ['none'])) == 0"
        say: '{"items": [{"claim": "60 days in the EU"}], "evidence": [{"turn": "1a", "quote": "60 days"}], "reason": "No document says so.", "score": false}'
      - say: '{"items": [{"claim": "60 days in the EU"}], "evidence": [], "reason": "It is in the document.", "score": true}'
dataset:
  samples: [{id: absent}, {id: empty, docs: []}, {id: found, docs: [60 days in the EU]}]
solvers: [{user: How long do refunds take?}, generate]
scorers:
  - name: faithful
    when: docs is defined
    graph:
      scale: boolean
      steps:
        - extract: {prompt: Every claim of the assistant., items: {claim: string}}
          as: claims
        - each: {in: claims, as: one, steps: [{judge: {rubric: "The documents say: {{ one.claim }}", scale: boolean}}]}
          as: supported
        - score: supported
"#,
    );
    for (sample, wanted) in [
        ("absent", "not_applicable none None"),
        ("empty", "scored false Some(false)"),
        ("found", "scored true Some(true)"),
    ] {
        assert_eq!(score(&trial(&path, sample), "faithful"), wanted, "{sample}");
    }
}

/// One verdict for ten claims, one of which is false, was a perfect score elsewhere; prose that begins with `No,` was read by
/// its first letters.
#[test]
fn a_judge_that_answers_for_some_items_or_in_prose_gives_no_verdict() {
    let items: Vec<String> = (0..10).map(|at| format!("c{at}")).collect();
    let path = ran(
        "defect_items",
        &format!(
            r#"
aigo: 1
name: items
models:
  assistant: {{scripted: [Certainly.]}}
  judge:
    scripted:
      - when: "scorer == 'claims' and all_of_them"
        say: '{{"verdicts": [{}]}}'
      - when: scorer == 'claims'
        say: '{{"verdicts": [{{"evidence": [], "reason": "fine", "score": true}}]}}'
      - {{when: scorer == 'prose' and all_of_them, say: "No, nothing of what was asked for is satisfied."}}
      - {{when: scorer == 'prose', say: "Yes, nothing was forgotten."}}
dataset: {{samples: [{{id: one, all_of_them: false, list: [{list}]}}, {{id: ten, all_of_them: true, list: [{list}]}}]}}
solvers: [{{user: Hello}}, generate]
scorers:
  - name: claims
    graph:
      scale: boolean
      steps:
        - each: {{in: list, as: one, batch: true, steps: [{{judge: {{rubric: "It says {{{{ one }}}}.", scale: boolean, evidence: none}}}}]}}
          as: fine
        - score: fine
  - {{name: prose, judge: {{rubric: All is satisfied., scale: boolean, evidence: none}}}}
"#,
            (0..10)
                .map(|at| format!(r#"{{"evidence": [], "reason": "claim {at}", "score": {}}}"#, at != 6))
                .collect::<Vec<_>>()
                .join(", "),
            list = items.join(", "),
        ),
    );
    assert_eq!(score(&trial(&path, "one"), "claims"), "invalid none None");
    assert_eq!(score(&trial(&path, "ten"), "claims"), "scored false Some(false)");
    assert_eq!(score(&trial(&path, "one"), "prose"), "invalid none None");
    assert_eq!(score(&trial(&path, "ten"), "prose"), "invalid none None");
}

/// A list of turns in which the judge named one twice, and one of the user's, was 0.4 elsewhere. Each turn is asked for once
/// here, and whatever else the judge says of others is no verdict on them.
#[test]
fn each_turn_counts_once() {
    let path = ran(
        "defect_turns",
        "aigo: 1\nname: turns\nmodels:\n  assistant: {scripted: [As your lawyer I would.]}\n  judge:\n    scripted:\n      \
         - {when: judged == 2, verdict: {evidence: [{turn: 2a, quote: As your lawyer}, {turn: 2a, quote: As your lawyer}], reason: \
         Out of role., score: 0}}\n      - verdict: {evidence: [{turn: 1u, quote: Go on.}], reason: In role., score: 1}\n\
         dataset: {samples: [{id: one}]}\nsolvers: [{script: [Go on., Go on., Go on., Go on., Go on.]}]\nscorers:\n  \
         - {name: role, judge: {rubric: It stays in role., scale: 0..1, per: turn}}\n",
    );
    assert_eq!(score(&trial(&path, "one"), "role"), "scored 0.8 Some(true)");
}

/// A conversation in which only the user speaks was 1.0 elsewhere, and one in which no tool was needed and none was used 0.
#[test]
fn silence_is_no_success_and_a_tool_that_is_not_needed_no_failure() {
    let path = ran(
        "defect_silence",
        "aigo: 1\nname: silence\nmodels:\n  assistant: {scripted: [{when: quiet, say: ''}, {say: Hello.}]}\n  judge: {scripted: \
         [{verdict: {evidence: [], reason: Fine., score: true}}]}\ndataset: {samples: [{id: quiet, quiet: true}, {id: speaks, quiet: false}]}\n\
         tools: [{name: look_up, params: {what: string}, returns: \"'nothing'\"}]\n\
         solvers: [{user: Hello}, generate]\nscorers:\n  - {name: relevant, judge: {rubric: It answers., scale: boolean, per: turn, \
         evidence: none}}\n  - {name: no_tools, check: {tool_calls: []}}\n",
    );
    assert_eq!(score(&trial(&path, "quiet"), "relevant"), "scored false Some(false)");
    assert_eq!(score(&trial(&path, "speaks"), "relevant"), "scored true Some(true)");
    assert_eq!(score(&trial(&path, "speaks"), "no_tools"), "scored true Some(true)");
}

/// Arguments that are lists, other orders, repeats and further calls: elsewhere a `TypeError`, or 0 for any other length.
#[test]
fn calls_are_matched_one_by_one_with_precision_recall_and_f1() {
    let task = |mode: &str| {
        format!(
            "aigo: 1\nname: calls\nmodels:\n  assistant:\n    scripted:\n      - when: turn == 1 and last.kind == 'say'\n        say: ''\n        \
             calls: [{{name: tag, args: {{ids: [b, a]}}}}, {{name: tag, args: {{ids: [c]}}}}, {{name: tag, args: {{ids: [c]}}}}]\n      \
             - {{say: Tagged.}}\ndataset: {{samples: [{{id: one}}]}}\n\
             tools: [{{name: tag, params: {{ids: list<string>}}, returns: \"'ok'\"}}]\n\
             solvers: [{{user: Tag them.}}, generate]\nscorers:\n  - name: calls\n    check: {{tool_calls: [{{name: tag, args: {{ids: \
             [c]}}}}, {{name: tag, args: {{ids: [b, a]}}}}], mode: {mode}}}\n"
        )
    };
    for (mode, passes) in [("strict", false), ("unordered", false), ("superset", true), ("subset", false)] {
        let folder = folder(&format!("defect_calls_{mode}"));
        std::fs::write(folder.join("task.yaml"), task(mode)).unwrap();
        let ran = run(&folder, &["run", "task.yaml", "--report", "jsonl"]);
        let row =
            ran.out.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        assert_eq!(row["pass"], passes, "{mode}: {row}");
        let reason = row["reason"].as_str().unwrap();
        assert!(reason.contains("precision") && reason.contains("recall") && reason.contains("F1"), "{mode}: {reason}");
    }
}
