//! `aigo run --from` and `aigo score`: what an earlier run has is not bought again, and what has changed is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aigo_log::Log;
use aigo_tests::mock::Mock;

use crate::harness::{Ran, assert_replays, folder, run, run_with, start, trials};

/// Far more than a process needs to make its next call.
const LONGEST: Duration = Duration::from_mins(1);

/// A server, and a folder with a task that asks it; `BASE_URL` stands for its address.
pub(crate) struct Bench {
    pub(crate) mock: Mock,
    pub(crate) folder: PathBuf,
}

/// A question to an assistant and its judge.
pub(crate) const TASK: &str = "aigo: 1
name: reuse
models:
  assistant: {model: openai_compatible/assistant-m, base_url: BASE_URL}
  judge: {model: openai_compatible/judge-m, base_url: BASE_URL}
dataset:
  samples: [{id: a, question: Where?}, {id: b, question: When?}, {id: c, question: Why?}]
solvers:
  - user: \"{{ question }}\"
  - generate
scorers:
  - name: good
    judge: {rubric: The answer is good., scale: 1..5, evidence: none}
";

impl Bench {
    pub(crate) fn new(name: &str, task: &str) -> Self {
        let mock = Mock::start(0, Duration::ZERO).unwrap();
        let bench = Self { mock, folder: folder(name) };
        bench.write(task);
        bench
    }

    pub(crate) fn write(&self, task: &str) {
        std::fs::write(self.folder.join("task.yaml"), task.replace("BASE_URL", &self.mock.base_url())).unwrap();
    }

    /// Edits the task; what is replaced is there.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let path = self.folder.join("task.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "the task has no `{from}`");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    pub(crate) fn aigo(&self, arguments: &[&str]) -> Ran {
        run(&self.folder, arguments)
    }

    /// Runs a command that makes a run, into a folder of its own; gives what it did, the run, and the models that it asked.
    pub(crate) fn asks(&self, arguments: &[&str], runs: &str) -> (Ran, PathBuf, Vec<String>) {
        let before = self.mock.arrivals().len();
        let mut all = arguments.to_vec();
        all.extend(["--format", "json"]);
        let ran = self.aigo(&all);
        let path = newest(&self.folder.join(runs));
        let asked = self.mock.arrivals()[before..].iter().map(|arrival| arrival.model.clone()).collect();
        (ran, path, asked)
    }
}

/// The last run in a folder of runs.
pub(crate) fn newest(runs: &Path) -> PathBuf {
    let entries = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path());
    entries.max().unwrap()
}

fn count(asked: &[String], model: &str) -> usize {
    asked.iter().filter(|name| *name == model).count()
}

/// Of every answer in a run: its content, and the line of the parent's log that it is from.
fn answers(run: &Path) -> Vec<(String, Option<u64>)> {
    let calls = trials(run).into_iter().flat_map(|trial| trial.calls);
    calls.filter_map(|call| Some((call.ask.content, call.got?.from))).collect()
}

#[test]
fn where_only_a_judges_prompt_was_edited_only_the_judge_is_asked() {
    let bench = Bench::new("from_judge", TASK);
    let (first, path, asked) = bench.asks(&["run", "task.yaml"], "runs");
    assert_eq!((count(&asked, "assistant-m"), count(&asked, "judge-m")), (3, 3), "{}", first.err);
    bench.edit("The answer is good.", "The answer is right.");

    // The plan asks nobody and leaves nothing behind.
    let (before, runs) = (bench.mock.arrivals().len(), std::fs::read_dir(bench.folder.join("runs")).unwrap().count());
    let plan = bench.aigo(&["run", "task.yaml", "--from", "last", "--dry-run"]);
    assert_eq!(plan.code, 0, "{}", plan.err);
    assert!(plan.out.contains("used again: assistant 3\n"), "{}", plan.out);
    assert!(plan.out.contains("to ask: judge, 3 calls at least, 6 at most"), "{}", plan.out);
    assert!(plan.out.contains("why: 3 × judge, score/good at judge: message 2 (user) differs"), "{}", plan.out);
    assert!(plan.out.contains("The answer is good.") && plan.out.contains("The answer is right."), "{}", plan.out);
    assert_eq!(bench.mock.arrivals().len(), before);
    assert_eq!(std::fs::read_dir(bench.folder.join("runs")).unwrap().count(), runs);

    let from = path.to_str().unwrap();
    let (again, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!((count(&asked, "assistant-m"), count(&asked, "judge-m")), (0, 3), "{}", again.err);
    assert!(again.err.contains("3 answers were used again, 3 are new"), "{}", again.err);
    let log = Log::open(&path).unwrap();
    let id = Log::open(Path::new(from)).unwrap().header().id.clone();
    assert_eq!(log.header().parent.as_ref().map(|parent| (parent.run.clone(), parent.scores)), Some((id, false)));
    assert_eq!(answers(&path).iter().filter(|(_, from)| from.is_some()).count(), 3);
    assert_replays(&bench.folder, &path, &again);

    // From the run that used answers again they are used again, and now there is nothing to buy.
    let from = path.to_str().unwrap();
    let (third, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "third"], "third");
    assert_eq!((asked.len(), third.digest()), (0, again.digest()), "{}", third.err);
    assert_replays(&bench.folder, &path, &third);
}

#[test]
fn thirty_epochs_keep_thirty_answers() {
    let task = TASK
        .replace("solvers:", "epochs: 30\nsolvers:")
        .replace(", {id: b, question: When?}, {id: c, question: Why?}", "");
    let bench = Bench::new("from_epochs", &task);
    let (first, path, asked) = bench.asks(&["run", "task.yaml"], "runs");
    assert_eq!((count(&asked, "assistant-m"), count(&asked, "judge-m")), (30, 30), "{}", first.err);
    let contents: BTreeSet<String> = answers(&path).into_iter().map(|(content, _)| content).collect();
    assert_eq!(contents.len(), 60, "no two are one");
    assert_replays(&bench.folder, &path, &first);
    let from = path.to_str().unwrap();
    let (again, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!((asked.len(), again.digest()), (0, first.digest()), "{}", again.err);
    let lines: BTreeSet<u64> = answers(&path).into_iter().filter_map(|(_, from)| from).collect();
    assert_eq!(lines.len(), 60, "each from a line of its own");
    assert_replays(&bench.folder, &path, &again);
    // More epochs buy what is more.
    let more = ["run", "task.yaml", "--from", from, "--runs", "third", "--epochs", "32"];
    let (_, path, asked) = bench.asks(&more, "third");
    assert_eq!((asked.len(), answers(&path).len()), (4, 64));
}

#[test]
fn a_judge_that_is_asked_three_times_keeps_three_answers() {
    let task = TASK.replace("evidence: none}", "evidence: none}\n    runs: 3");
    let bench = Bench::new("from_runs", &task);
    let (first, path, asked) = bench.asks(&["run", "task.yaml"], "runs");
    assert_eq!(count(&asked, "judge-m"), 9, "{}", first.err);
    let from = path.to_str().unwrap();
    let (again, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!(asked.len(), 0, "{}", again.err);
    let lines: BTreeSet<u64> = answers(&path).into_iter().filter_map(|(_, from)| from).collect();
    assert_eq!(lines.len(), 12);
}

#[test]
fn another_model_or_parameter_shares_no_answer() {
    let bench = Bench::new("from_model", TASK);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    let from = path.to_str().unwrap();
    bench.edit("assistant-m", "assistant-n");
    let plan = bench.aigo(&["run", "task.yaml", "--from", from, "--dry-run", "--format", "json"]).json();
    let why = &plan["from"]["why"][0];
    assert_eq!((why["field"].as_str(), why["calls"].as_i64()), (Some("model"), Some(3)), "{plan}");
    assert_eq!((why["recorded"].as_str(), why["now"].as_str()), (Some("assistant-m"), Some("assistant-n")));
    let (ran, _, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!(count(&asked, "assistant-n"), 3, "{}", ran.err);
    bench.edit("assistant-n, ", "assistant-m, temperature: 0.5, ");
    let plan = bench.aigo(&["run", "task.yaml", "--from", from, "--dry-run"]);
    assert!(plan.out.contains("parameter temperature: recorded nothing, now `0.5`"), "{}", plan.out);
}

#[test]
fn equal_rows_are_different_samples_and_a_column_that_nothing_reads_buys_nothing() {
    let samples = "samples: [{id: a, question: Where?}, {id: b, question: When?}, {id: c, question: Why?}]";
    let bench = Bench::new("from_rows", &TASK.replace(samples, "file: rows.jsonl"));
    let rows = |note: &str| {
        let row = |question: &str| format!("{{\"question\": \"{question}\", \"note\": \"{note}\"}}\n");
        let text = row("Where?") + &row("Where?") + &row("When?");
        std::fs::write(bench.folder.join("rows.jsonl"), text).unwrap();
    };
    rows("one");
    let (first, path, asked) = bench.asks(&["run", "task.yaml"], "runs");
    assert_eq!(count(&asked, "assistant-m"), 3, "{}", first.err);
    let keys: BTreeSet<String> = trials(&path).into_iter().map(|trial| trial.open.key).collect();
    assert_eq!(keys.len(), 3);
    let from = path.to_str().unwrap();
    let (again, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!(asked.len(), 0, "{}", again.err);
    let lines: BTreeSet<u64> = answers(&path).into_iter().filter_map(|(_, from)| from).collect();
    assert_eq!(lines.len(), 6, "equal rows have answers of their own");
    // Of the rows that are alone in what is asked, another note changes nothing.
    std::fs::write(
        bench.folder.join("rows.jsonl"),
        "{\"question\": \"When?\", \"note\": \"two\"}\n{\"question\": \"Why?\", \"note\": \"two\"}\n",
    )
    .unwrap();
    let (_, _, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "third"], "third");
    assert_eq!(asked.len(), 2, "the new question alone: {asked:?}");
}

#[test]
fn a_name_that_stands_for_several_versions_is_asked_again_unless_that_is_wanted() {
    let bench = Bench::new("from_floating", &TASK.replace("assistant-m", "gpt-4o"));
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    let from = path.to_str().unwrap();
    let (ran, _, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    // The mock says the same to the same body, so its judge is asked for nothing new: the early cut-off.
    assert_eq!((count(&asked, "gpt-4o"), count(&asked, "judge-m")), (3, 0), "{}", ran.err);
    assert!(ran.err.contains("the model's name stands for several versions"), "{}", ran.err);
    let wanted = ["run", "task.yaml", "--from", from, "--reuse-floating", "--runs", "third"];
    let (_, path, asked) = bench.asks(&wanted, "third");
    assert_eq!(asked.len(), 0);
    let models: BTreeSet<Option<String>> =
        trials(&path).into_iter().flat_map(|trial| trial.calls).map(|call| call.got.unwrap().model).collect();
    assert_eq!(models, [None].into(), "the program says which model was asked for, and no other served a call");
}

#[test]
fn an_interrupted_run_goes_on_with_the_answers_of_its_parent() {
    let bench = Bench::new("from_resume", TASK);
    let (_, parent, _) = bench.asks(&["run", "task.yaml"], "runs");
    bench.edit("The answer is good.", "The answer is right.");
    bench.mock.hold_after(1);
    let id = parent.file_name().unwrap().to_str().unwrap();
    let before = bench.mock.arrivals().len();
    let killed = start(&bench.folder, &["run", "task.yaml", "--from", id, "-j", "1"]);
    assert!(bench.mock.wait_until_held(LONGEST), "it asks nothing");
    killed.kill();
    bench.mock.lift();
    let runs = bench.folder.join("runs");
    let child = std::fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path()).find(|path| *path != parent);
    let child = child.unwrap();

    // Without its parent it does not buy what it has: it says what is missing.
    let aside = bench.folder.join("aside");
    std::fs::rename(&parent, &aside).unwrap();
    let refused = bench.aigo(&["resume", child.to_str().unwrap()]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("[R0190]") && refused.err.contains("--from"), "{}", refused.err);
    let resumed =
        bench.aigo(&["resume", child.to_str().unwrap(), "--from", aside.to_str().unwrap(), "--format", "json"]);
    assert!([0, 4].contains(&resumed.code), "{}", resumed.err);
    let asked: Vec<String> = bench.mock.arrivals()[before..].iter().map(|arrival| arrival.model.clone()).collect();
    assert_eq!(count(&asked, "assistant-m"), 0);
    assert_eq!(count(&asked, "judge-m"), 4, "three, and one more for the call in flight: {asked:?}");
    assert_replays(&bench.folder, &child, &resumed);
}

#[test]
fn what_is_used_again_is_free() {
    let priced = TASK.replace("assistant-m, ", "assistant-m, max_tokens: 50, price: {input: 1000, output: 1000}, ");
    let bench = Bench::new("from_free", &priced);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    // A limit that would not pay for one answer of the assistant, and for no call of it either.
    bench.edit("name: reuse", "name: reuse\nlimits: {cost: 0.0001 USD, calls: 3}");
    bench.edit("The answer is good.", "The answer is right.");
    bench.edit("judge-m, ", "judge-m, max_tokens: 50, price: {input: 0.000001, output: 0.000001}, ");
    let from = path.to_str().unwrap();
    let (ran, path, asked) = bench.asks(&["run", "task.yaml", "--from", from, "--runs", "second"], "second");
    assert_eq!((count(&asked, "assistant-m"), count(&asked, "judge-m")), (0, 3), "{}", ran.err);
    assert!(!ran.err.contains("stopped at"), "{}", ran.err);
    let resumed = bench.aigo(&["resume", path.to_str().unwrap(), "--from", from, "--format", "json"]);
    assert_eq!(resumed.out, ran.out, "{}", resumed.err);
}

#[test]
fn scores_are_put_on_recorded_conversations_and_no_conversation_is_asked_for() {
    let bench = Bench::new("score", TASK);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    let run = path.to_str().unwrap();
    // The conversation that the task would have now is another; the recorded one is scored.
    bench.edit("{{ question }}", "Please: {{ question }}");
    bench.edit("scorers:\n", "scorers:\n  - {name: marked, check: {matches: '#[0-9a-f]{12}'}}\n  - name: kind\n    judge: {rubric: It is kind., scale: boolean, evidence: none}\n");
    let (scored, child, asked) = bench.asks(&["score", run, "--runs", "scored"], "scored");
    assert_eq!((count(&asked, "assistant-m"), count(&asked, "judge-m")), (0, 3), "{}", scored.err);
    assert!(scored.err.contains("used again: assistant 3 · judge 3"), "{}", scored.err);
    assert_eq!(scored.json()["outcomes"]["marked"]["scored"].as_i64(), Some(3));
    assert_eq!(scored.json()["outcomes"]["kind"]["scored"].as_i64(), Some(3));
    let header = Log::open(&child).unwrap().header().clone();
    let id = Log::open(&path).unwrap().header().id.clone();
    assert_eq!(header.parent.map(|parent| (parent.run, parent.scores)), Some((id, true)));
    assert_replays(&bench.folder, &child, &scored);

    // One sample alone; and the same once more, with nothing to ask, from the run that scored.
    let (one, _, asked) = bench.asks(&["score", child.to_str().unwrap(), "--sample", "b", "--runs", "one"], "one");
    assert_eq!((asked.len(), one.json()["outcomes"]["kind"]["planned"].as_i64()), (0, Some(1)), "{}", one.err);
}

#[test]
fn a_score_run_needs_no_key_of_the_assistant_and_can_be_resumed() {
    let keyed = TASK.replace("assistant-m, ", "assistant-m, api_key: {env: ASSISTANT_KEY}, ");
    let bench = Bench::new("score_resume", &keyed);
    let ran = run_with(&bench.folder, &["run", "task.yaml"], &[("ASSISTANT_KEY", "secret-of-the-assistant")]);
    assert_ne!(ran.code, 3, "{}", ran.err);
    bench.edit("The answer is good.", "The answer is right.");
    bench.mock.hold_after(1);
    let parent = newest(&bench.folder.join("runs"));
    let killed = start(&bench.folder, &["score", "last", "-j", "1"]);
    assert!(bench.mock.wait_until_held(LONGEST), "it asks nothing");
    killed.kill();
    bench.mock.lift();
    let runs = std::fs::read_dir(bench.folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let child = runs.into_iter().find(|path| *path != parent).unwrap();
    // Its program is in its log: another edit of the task is nothing to it.
    bench.edit("The answer is right.", "The answer is short.");
    let resumed = bench.aigo(&["resume", child.to_str().unwrap(), "--format", "json"]);
    assert!([0, 4].contains(&resumed.code), "{}", resumed.err);
    assert_eq!(resumed.json()["outcomes"]["good"]["open"].as_i64(), Some(0), "{}", resumed.err);
    assert_replays(&bench.folder, &child, &resumed);
}

#[test]
fn scorers_that_would_ask_a_talker_of_another_make_are_refused() {
    let judged = TASK.replace("scale: 1..5", "model: assistant, scale: 1..5");
    let bench = Bench::new("score_conflict", &judged);
    let (_, path, _) = bench.asks(&["run", "task.yaml"], "runs");
    bench.edit("assistant-m", "assistant-n");
    let refused = bench.aigo(&["score", path.to_str().unwrap()]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("[R0191]") && refused.err.contains("`assistant`"), "{}", refused.err);
}

#[test]
fn the_plan_is_the_one_that_the_manual_shows() {
    let page = std::fs::read_to_string(crate::harness::root().join("spec/reuse.md")).unwrap();
    let block = |fence: &str| {
        let (_, from) = page.split_once(&format!("```{fence} reuse\n")).unwrap();
        from.split_once("```").unwrap().0.to_owned()
    };
    let bench = Bench::new("from_manual", &block("yaml"));
    bench.asks(&["run", "task.yaml"], "runs");
    bench.edit("The answer is brief.", "The answer is short.");
    let plan = bench.aigo(&["run", "task.yaml", "--from", "last", "--dry-run"]);
    assert!(plan.out.contains(&block("text")), "{}", plan.out);
}
