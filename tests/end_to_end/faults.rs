//! Faults of servers: which are waited out, which are a sample's ending, and which stop the run at once.

use std::path::PathBuf;
use std::time::Duration;

use aigo_tests::mock::{Fault, Mock};

use crate::harness::{Ran, assert_replays, ending, folder, only_run, run, run_with, score, task, trial};

struct Setting {
    mock: Mock,
    folder: PathBuf,
}

/// A server with a script, and the simple task that asks it.
fn setting(name: &str, faults: Vec<Fault>) -> Setting {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    mock.script(faults);
    let folder = folder(name);
    task(&folder, "simple", &[("BASE_URL", &mock.base_url())]);
    Setting { mock, folder }
}

impl Setting {
    fn run(&self, jobs: &str) -> Ran {
        run(&self.folder, &["run", "task.yaml", "--format", "json", "-j", jobs])
    }

    fn resume(&self) -> Ran {
        run(&self.folder, &["resume", "last", "--format", "json"])
    }

    /// How many requests named a model.
    fn asked(&self, model: &str) -> usize {
        self.mock.arrivals().iter().filter(|arrival| arrival.model == model).count()
    }
}

/// A count of the one scorer's outcomes.
fn count(ran: &Ran, key: &str) -> i64 {
    ran.json()["outcomes"]["good"][key].as_i64().unwrap_or_else(|| panic!("no `{key}`"))
}

#[test]
fn a_refused_key_stops_the_run_after_a_handful_of_calls() {
    for (status, code) in [(401, ""), (403, ""), (402, ""), (404, ""), (429, "insufficient_quota")] {
        let name = format!("fault_stops_{status}");
        let setting = setting(&name, vec![Fault::new(1..=u64::MAX, status, code)]);
        let rows: Vec<String> = (0..500).map(|n| format!("    - {{id: more-{n}, question: Q{n}}}\n")).collect();
        let path = setting.folder.join("task.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("  samples:\n", &format!("  samples:\n{}", rows.concat()))).unwrap();

        let stopped = setting.run("4");
        assert_eq!(stopped.code, 4, "{status}: {}", stopped.err);
        assert!(stopped.err.contains(&format!("stopped: the role `assistant`: HTTP {status}")), "{}", stopped.err);
        assert!(stopped.err.contains("505 conversations are open: aigo resume"), "{}", stopped.err);
        assert!(setting.mock.arrivals().len() <= 4, "{status}: {} calls", setting.mock.arrivals().len());
        assert_eq!(count(&stopped, "open"), 505);
        assert_replays(&setting.folder, &only_run(&setting.folder), &stopped);

        setting.mock.script(Vec::new());
        let resumed = setting.resume();
        assert_eq!(resumed.code, 0, "{status}: {}", resumed.err);
        assert_eq!(count(&resumed, "scored"), 505);
        assert_replays(&setting.folder, &only_run(&setting.folder), &resumed);
    }
}

#[test]
fn too_many_requests_is_waited_out_for_as_long_as_it_says() {
    let setting = setting("fault_429", vec![Fault::new(2..=2, 429, "rate_limit").header("retry-after", "1")]);
    let ran = setting.run("1");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let arrivals: Vec<_> = setting.mock.arrivals();
    assert_eq!(arrivals.len(), 11, "ten calls, one of them twice");
    // The second request is the first sample's judge: the same body comes again, a second later.
    assert_eq!(arrivals[1].mark, arrivals[2].mark);
    let waited = arrivals[2].at - arrivals[1].at;
    assert!(waited >= Duration::from_millis(990), "{waited:?}");
    assert!(setting.mock.billed().values().all(|&billed| billed == 1));
    assert_replays(&setting.folder, &only_run(&setting.folder), &ran);
}

#[test]
fn what_may_go_well_next_time_is_tried_again_and_leaves_no_trace_in_the_digest() {
    let setting = setting("fault_transient", Vec::new());
    let calm = setting.run("4");
    assert_eq!(calm.code, 0, "{}", calm.err);
    let garbage = Fault::reply(4..=4, "<html>not a chat completion");
    let cut = Fault::reply(6..=6, r#"{"choices":[]}"#);
    let hidden = Fault::reply(8..=8, r#"{"error":{"message":"overloaded","code":503}}"#);
    setting.mock.script(vec![Fault::new(1..=2, 500, ""), garbage, cut, hidden]);
    let before = setting.mock.arrivals().len();
    let shaken = run(&setting.folder, &["run", "task.yaml", "--runs", "shaken", "--format", "json", "-j", "4"]);
    assert_eq!(shaken.code, 0, "{}", shaken.err);
    assert_eq!(setting.mock.arrivals().len() - before, 10 + 5, "ten calls, and five faults tried again");
    assert_eq!(shaken.digest(), calm.digest());
    assert_eq!(shaken.json()["calls"], calm.json()["calls"]);
}

#[test]
fn a_request_that_can_never_succeed_is_that_samples_ending() {
    let too_long = |model| Fault::new(2..=2, 400, "context_length_exceeded").of(model);
    let setting = setting("fault_400", vec![too_long("assistant-m"), too_long("judge-m")]);
    let ran = setting.run("1");
    // The judge's fault is one missing of five: more than the gate bears.
    assert_eq!(ran.code, 4, "{}", ran.err);
    let path = only_run(&setting.folder);
    // With one call at a time samples go in order: `b` is the second to ask, and the second to be judged is `c`.
    let endings = ["a", "b", "c", "d", "e"].map(|key| ending(&path, key).unwrap());
    assert_eq!(endings, ["completed", "application_failure", "completed", "completed", "completed"]);
    let failed = trial(&path, "b");
    assert_eq!(failed.calls.len(), 1, "nothing is judged where nothing was answered");
    assert_eq!(failed.calls[0].got.as_ref().unwrap().fault.as_deref(), Some("context_length"));
    // An application that fails is the worst of the scale, and is not left out.
    assert_eq!(score(&failed, "good"), "scored 1 Some(false)");
    assert_eq!(score(&trial(&path, "c"), "good"), "void none None");
    assert_eq!((setting.asked("assistant-m"), setting.asked("judge-m")), (5, 4), "no fault is tried again");
    assert_eq!((count(&ran, "scored"), count(&ran, "void")), (4, 1));
    assert_replays(&setting.folder, &path, &ran);
}

#[test]
fn a_key_that_is_not_set_is_told_before_anything_is_asked() {
    let setting = setting("fault_key", Vec::new());
    let path = setting.folder.join("task.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let url = setting.mock.base_url();
    let keyed = text.replace(&format!("base_url: {url}}}"), &format!("base_url: {url}, api_key: {{env: A_KEY}}}}"));
    assert_ne!(text, keyed);
    std::fs::write(&path, keyed).unwrap();
    for environment in [&[][..], &[("A_KEY", "")]] {
        let unset = run_with(&setting.folder, &["run", "task.yaml"], environment);
        assert_eq!(unset.code, 3, "{}", unset.err);
        assert_eq!(unset.err.matches("[R0101]").count(), 2, "both roles are told: {}", unset.err);
        assert!(unset.err.contains("A_KEY, which is not set"), "{}", unset.err);
    }
    assert!(setting.mock.arrivals().is_empty());
    assert!(!setting.folder.join("runs").exists(), "a run that cannot begin leaves nothing");

    let secret = "sk-0123456789-very-secret";
    let set = run_with(&setting.folder, &["run", "task.yaml", "--format", "json"], &[("A_KEY", secret)]);
    assert_eq!(set.code, 0, "{}", set.err);
    let log = std::fs::read_to_string(only_run(&setting.folder).join("log.jsonl")).unwrap();
    assert!(log.contains("A_KEY") && !log.contains(secret), "the key's name is in the log, and the key is not");
    // No key is needed to replay.
    assert_replays(&setting.folder, &only_run(&setting.folder), &set);
}

#[test]
fn a_limit_of_calls_leaves_samples_open_and_a_raised_one_lets_the_run_go_on() {
    let setting = setting("fault_limit", Vec::new());
    let path = setting.folder.join("task.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}\nlimits: {{calls: 4}}\n")).unwrap();
    let stopped = setting.run("1");
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    assert!(stopped.err.contains("stopped at `limits.calls` of 4"), "{}", stopped.err);
    assert_eq!(setting.mock.arrivals().len(), 4);
    assert_eq!((count(&stopped, "scored"), count(&stopped, "open")), (2, 3));
    let run_path = only_run(&setting.folder);
    assert_replays(&setting.folder, &run_path, &stopped);

    // Resumed as it is, the limit holds for the whole run.
    let again = setting.resume();
    assert_eq!((again.code, setting.mock.arrivals().len()), (4, 4), "{}", again.err);

    // Any other part of the task is another program, and the run is left as it is.
    let log = std::fs::read(run_path.join("log.jsonl")).unwrap();
    std::fs::write(&path, format!("{text}\nseed: 7\nlimits: {{calls: 40}}\n")).unwrap();
    let refused = setting.resume();
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("[R0106]") && refused.err.contains("begin a new run"), "{}", refused.err);
    assert_eq!(std::fs::read(run_path.join("log.jsonl")).unwrap(), log);

    std::fs::write(&path, format!("{text}\nlimits: {{calls: 40}}\n")).unwrap();
    let through = setting.resume();
    assert_eq!((count(&through, "scored"), count(&through, "open")), (5, 0), "{}", through.err);
    assert_replays(&setting.folder, &run_path, &through);
}
