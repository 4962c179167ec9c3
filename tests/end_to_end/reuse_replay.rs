//! Replay: in any order and anywhere the same bytes; and a task over recorded answers stops at its first difference.

use super::reuse::{Bench, TASK, newest};
use crate::harness::{assert_replays, folder, run, run_with, task};

#[test]
fn in_whatever_order_and_wherever_a_run_replays_to_the_same_bytes() {
    let folder = folder("orders");
    task(&folder, "spine", &[]);
    let first = run(&folder, &["run", "task.yaml", "--runs", "first", "--format", "json"]);
    let without_run = |out: &str| out.split_once(",\"digest\"").map(|(_, rest)| rest.to_owned()).unwrap();
    for (jobs, seed) in [("1", "1"), ("8", "2"), ("1000", "3")] {
        let runs = format!("runs_{jobs}");
        let arguments = ["run", "task.yaml", "--runs", &runs, "-j", jobs, "--shuffle", seed, "--format", "json"];
        let ran = run(&folder, &arguments);
        assert_eq!(without_run(&ran.out), without_run(&first.out), "-j {jobs}: {}", ran.err);
        assert_replays(&folder, &newest(&folder.join(&runs)), &ran);
    }
    let path = newest(&folder.join("first"));
    let path = path.to_str().unwrap();
    let text = run(&folder, &["replay", path]);
    let elsewhere =
        [("TZ", "Asia/Kathmandu"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("HOME", "/nowhere")];
    for (jobs, seed) in [("1", "4"), ("8", "5"), ("1000", "6")] {
        for environment in [&[][..], &elsewhere] {
            let more = ["-j", jobs, "--shuffle", seed];
            let json = run_with(&folder, &[&["replay", path, "--format", "json"][..], &more].concat(), environment);
            assert_eq!((json.code, json.out), (0, first.out.clone()), "-j {jobs}: {}", json.err);
            let again = run_with(&folder, &[&["replay", path][..], &more].concat(), environment);
            assert_eq!((again.code, again.out), (0, text.out.clone()), "-j {jobs}: {}", again.err);
        }
    }
}

#[test]
fn a_task_over_its_own_answers_differs_in_nothing() {
    let bench = Bench::new("against_same", TASK);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    let before = bench.mock.arrivals().len();
    let ran = bench.aigo(&["replay", path.to_str().unwrap(), "--task", "task.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("asks for nothing else than was recorded"), "{}", ran.err);
    assert_eq!(bench.mock.arrivals().len(), before, "offline");
}

#[test]
fn an_edited_task_stops_at_its_first_difference_named_by_its_field() {
    let bench = Bench::new("against_edited", TASK);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    let against = || bench.aigo(&["replay", path.to_str().unwrap(), "--task", "task.yaml"]);
    let before = bench.mock.arrivals().len();
    for (from, to, place, field) in [
        ("The answer is good.", "The answer is right.", "score/good at judge", "message 2 (user): recorded `"),
        ("judge-m,", "judge-n,", "score/good at judge", "model: recorded `judge-m`, now `judge-n`"),
        (
            "assistant-m,",
            "assistant-m, temperature: 0.5,",
            "solve/main at generate",
            "parameter temperature: recorded nothing, now `0.5`",
        ),
        (
            "{{ question }}",
            "{{ question }}!",
            "solve/main at generate",
            "message 1 (user): recorded `Where?`, now `Where?!`",
        ),
        ("question: Where?", "question: Whence?", "solve/main at generate", "message 1 (user): recorded `Where?`"),
    ] {
        bench.edit(from, to);
        let ran = against();
        assert_eq!(ran.code, 5, "{to}: {}", ran.err);
        let first = ran.err.lines().position(|line| line.contains("[R0104] sample a, epoch 1, ")).unwrap();
        let told: Vec<&str> = ran.err.lines().skip(first).take(3).collect();
        assert!(told[0].contains(place) && told[1].contains(field), "{to}: {told:#?}");
        assert!(told[2].contains("cause: the task has changed"), "{to}: {told:#?}");
        bench.edit(to, from);
    }
    assert_eq!(bench.mock.arrivals().len(), before, "offline");
}

#[test]
fn a_call_more_or_less_a_sample_more_or_less_and_another_score_are_differences() {
    let bench = Bench::new("against_calls", TASK);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    for (from, to, said) in [
        (
            "  - generate\n",
            "  - generate\n  - user: More?\n  - generate\n",
            "this call was not made when the run was recorded",
        ),
        (", {id: c, question: Why?}", "", "sample c, epoch 1: the log has this sample, and the task does not"),
        (
            "{id: a, question: Where?}",
            "{id: a, question: Where?}, {id: d, question: Who?}",
            "sample d, epoch 1: the task has this sample, and the log has nothing of it",
        ),
        (
            "scorers:\n",
            "scorers:\n  - {name: marked, check: {contains: nothing}}\n",
            "it has a score of `marked` where one of `good` was recorded",
        ),
    ] {
        bench.edit(from, to);
        let ran = bench.aigo(&["replay", path.to_str().unwrap(), "--task", "task.yaml"]);
        assert_eq!(ran.code, 5, "{to}: {}", ran.err);
        assert!(ran.err.contains(said) && ran.err.contains("cause: the task has changed"), "{to}: {}", ran.err);
        bench.write(TASK);
    }
}

#[test]
fn steps_and_ways_that_no_conversation_took_are_told_by_their_lines() {
    let folder = folder("coverage");
    let text = "aigo: 1
name: covered
models:
  assistant: {scripted: [{say: \"Yes.\"}]}
dataset: {samples: [{id: a, plan: Free}, {id: b, plan: Pro}]}
solvers:
  - user: Hello.
  - generate
  - if:
      when: plan == 'Team'
      then: [{user: How many?}, generate]
  - if:
      when: plan == 'Pro'
      then: [{user: And now?}, generate]
scorers: [{name: said, check: {contains: 'Yes'}}]
";
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--coverage"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().filter(|line| line.contains("task.yaml:")).collect();
    assert!(lines.iter().any(|line| line.contains("task.yaml:9 ") && line.contains("never true")), "{}", ran.err);
    assert!(lines.iter().any(|line| line.contains("task.yaml:11 ") && line.contains("never came to")), "{}", ran.err);
    assert!(!lines.iter().any(|line| line.contains("task.yaml:14 ")), "{}", ran.err);
    // The report is the same with it and without.
    let plain = run(&folder, &["run", "task.yaml", "--runs", "plain"]);
    let without_run = |out: &str| out.lines().filter(|line| !line.starts_with(" run ")).collect::<String>();
    assert_eq!(without_run(&plain.out), without_run(&ran.out));
}
