//! Limits: of the run, which leave samples open, and of a sample, which end it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aigo_tests::mock::{Fault, How, Mock};

use crate::harness::{Ran, assert_replays, folder, only_run, run, trials};

/// A folder with a task of so many samples, three calls each.
fn task(name: &str, mock: &Mock, samples: usize, limits: &str) -> PathBuf {
    let folder = folder(name);
    let mut rows = String::new();
    for n in 0..samples {
        let _ = writeln!(rows, "{{\"id\":\"s{n}\",\"question\":\"Question {n}?\"}}");
    }
    std::fs::write(folder.join("rows.jsonl"), rows).unwrap();
    write(&folder, mock, limits);
    folder
}

fn write(folder: &Path, mock: &Mock, limits: &str) {
    let text = format!(
        "aigo: 1\nname: limits\nlimits: {limits}\nmodels:\n  assistant:\n    model: openai_compatible/m\n    base_url: {}\n    \
         api_key: {{env: A_KEY}}\n    max_tokens: 100\n    price: {{input: 10, output: 20}}\ndataset: {{file: rows.jsonl}}\nsolvers:\n  \
         - script: [\"{{{{ question }}}}\", And then?, \"So, {{{{ question }}}}\"]\n\
         scorers: [{{name: noted, check: {{contains: Noted}}}}]\n",
        mock.base_url()
    );
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    std::fs::write(folder.join(".env"), "A_KEY=a-key-of-the-tests").unwrap();
}

fn start(folder: &Path, jobs: &str) -> Ran {
    run(folder, &["run", "task.yaml", "--format", "json", "-j", jobs])
}

fn resume(folder: &Path) -> Ran {
    run(folder, &["resume", "last", "--format", "json", "-j", "16"])
}

/// What the mock has billed, in USD.
fn billed(mock: &Mock) -> f64 {
    mock.bills().values().map(|bill| bill.input_tokens as f64 * 1e-5 + bill.output_tokens as f64 * 2e-5).sum()
}

#[test]
fn a_run_never_costs_more_than_it_may_even_where_the_worst_is_billed() {
    // Each call is billed about half a cent; one answer in seven is lost, and billed.
    for jobs in ["1", "16", "500"] {
        let mock = Mock::start(0, Duration::ZERO).unwrap();
        mock.bill_worst(true);
        let lost = Fault::reply(1..=1, "").how(How::Reset(0));
        mock.script((0..200).map(|n| Fault { nth: 7 * n + 1..=7 * n + 1, ..lost.clone() }).collect());
        let folder = task(&format!("cost_{jobs}"), &mock, 400, "{cost: 0.5 USD}");
        let stopped = start(&folder, jobs);
        assert_eq!(stopped.code, 4, "{}", stopped.err);
        assert!(stopped.err.contains("stopped at `limits.cost` of 0.5 USD"), "{}", stopped.err);
        let first = billed(&mock);
        assert!((0.4..=0.5).contains(&first), "{first} USD at {jobs}: the limit is kept, and used");
        assert_replays(&folder, &only_run(&folder), &stopped);

        // What was spent is known from the log: nothing more is bought under the same limit.
        let again = resume(&folder);
        assert_eq!(again.code, 4, "{}", again.err);
        assert!(billed(&mock) <= 0.5, "{} USD", billed(&mock));
        write(&folder, &mock, "{cost: 1 USD}");
        let more = resume(&folder);
        assert_eq!(more.code, 4, "{}", more.err);
        let second = billed(&mock);
        assert!((0.85..=1.0).contains(&second), "{second} USD after a raised limit");
        assert_replays(&folder, &only_run(&folder), &more);
    }
}

#[test]
fn the_usual_bill_uses_the_limit_up_all_the_same() {
    // Reserved is some twenty times what an answer costs: calls wait for each other near the limit, and go on.
    let mock = Mock::start(0, Duration::from_millis(1)).unwrap();
    let folder = task("cost_usual", &mock, 400, "{cost: 0.2 USD}");
    let stopped = start(&folder, "64");
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    let cost = billed(&mock);
    assert!((0.19..=0.2).contains(&cost), "{cost} USD");
}

#[test]
fn the_report_says_what_was_bought_and_so_does_its_replay() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let folder = task("bought", &mock, 5, "{}");
    let ran = start(&folder, "4");
    let (object, bills) = (ran.json(), mock.bills());
    let usage = &object["usage"]["assistant"];
    let tokens = |key: &str| usage[key].as_u64().unwrap();
    assert_eq!(tokens("input"), bills.values().map(|bill| bill.input_tokens).sum::<u64>());
    assert_eq!(tokens("output"), bills.values().map(|bill| bill.output_tokens).sum::<u64>());
    assert!((object["cost_usd"].as_f64().unwrap() - billed(&mock)).abs() < 1e-9, "{object}");
    assert!(tokens("ms_50") <= tokens("ms_95") && tokens("reused") == 0, "{usage}");
    assert_replays(&folder, &only_run(&folder), &ran);
    let text = run(&folder, &["report", "last"]).out;
    for wanted in
        [" calls answered: assistant 15", " tokens: assistant ", " cost: assistant 0.", " half answered within: "]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // The same in the log of another tool, in all and by sample.
    run(&folder, &["log", "export", "last", "--format", "eval", "-o", "bought.eval"]);
    let files = super::logs::files(&std::fs::read(folder.join("bought.eval")).unwrap());
    let of = |wanted: &str| &files.iter().find(|(name, _)| name == wanted).unwrap().1;
    let whole = &of("header.json")["stats"]["model_usage"]["openai_compatible/m"];
    assert_eq!(whole["input_tokens"].as_u64(), Some(tokens("input")), "{whole}");
    assert_eq!(whole["total_cost"], object["cost_usd"]);
    let samples = (0..5).map(|n| of(&format!("samples/s{n}_epoch_1.json")));
    let sum = samples.map(|sample| sample["role_usage"]["assistant"]["output_tokens"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, tokens("output"));
    // Of another run nothing was bought.
    let again = run(&folder, &["run", "task.yaml", "--from", "last", "--format", "json"]);
    let object = again.json();
    assert_eq!(
        (object["usage"]["assistant"]["reused"].as_u64(), object["calls"]["assistant"].as_u64()),
        (Some(15), Some(15))
    );
    assert!(object["cost_usd"].is_null() && object["usage"]["assistant"]["input"].is_null(), "{object}");
}

#[test]
fn a_limit_of_cost_needs_a_greatest_length_of_answers() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let folder = task("cost_unbounded", &mock, 1, "{cost: 1 USD}");
    let text = std::fs::read_to_string(folder.join("task.yaml")).unwrap();
    std::fs::write(folder.join("task.yaml"), text.replace("    max_tokens: 100\n", "")).unwrap();
    let refused = start(&folder, "1");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("R0110") && refused.err.contains("max_tokens"), "{}", refused.err);
    assert!(mock.arrivals().is_empty());
}

#[test]
fn no_more_calls_and_no_more_time_than_allowed_and_the_rest_is_done_later() {
    let mock = Mock::start(0, Duration::from_millis(2)).unwrap();
    let folder = task("calls", &mock, 50, "{calls: 40}");
    let stopped = start(&folder, "16");
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    assert!(stopped.err.contains("stopped at `limits.calls` of 40"), "{}", stopped.err);
    assert_eq!(mock.arrivals().len(), 40);
    assert_eq!(stopped.json()["calls"]["assistant"], 40, "answers of open conversations count");
    assert_replays(&folder, &only_run(&folder), &stopped);
    write(&folder, &mock, "{calls: 150, time: 60m}");
    let whole = resume(&folder);
    assert_eq!(whole.code, 0, "{}", whole.err);
    assert_eq!(mock.arrivals().len(), 150);
    assert_replays(&folder, &only_run(&folder), &whole);

    let slow = Mock::start(0, Duration::from_millis(50)).unwrap();
    let folder = task("time", &slow, 100, "{time: 1s}");
    let stopped = start(&folder, "2");
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    assert!(stopped.err.contains("stopped at `limits.time` of 1 s"), "{}", stopped.err);
    assert!(slow.billed().values().all(|&billed| billed == 1) && slow.arrivals().len() < 100);
    write(&folder, &slow, "{time: 60m}");
    let whole = resume(&folder);
    assert_eq!(whole.code, 0, "{}", whole.err);
    assert_eq!(slow.arrivals().len(), 300, "nothing was bought twice");
}

#[test]
fn a_limit_of_the_sample_ends_it_and_replays_from_what_is_recorded() {
    // Three calls of a hundred tokens and more; answers take a third of a second where time counts.
    for (limits, calls, pause) in [
        ("{calls: 2}", 2, 0),
        ("{turns: 1}", 1, 0),
        ("{tokens: 20}", 1, 0),
        ("{cost: 0.0001 USD}", 1, 0),
        ("{time: 1s}", 2, 600),
        ("{calls: 3, turns: 3, tokens: 100000, cost: 1 USD, time: 1m}", 3, 0),
    ] {
        let mock = Mock::start(0, Duration::from_millis(pause)).unwrap();
        let folder = task("sample_limit", &mock, 6, &format!("{{sample: {limits}}}"));
        let ran = start(&folder, "6");
        assert_eq!(ran.code, 0, "{limits}: {}", ran.err);
        let path = only_run(&folder);
        for trial in trials(&path) {
            let ending = trial.close.as_ref().unwrap().ending.as_str();
            assert_eq!((trial.calls.len(), ending == "sample_limit"), (calls, calls < 3), "{limits}: {ending}");
            assert!(trial.close.as_ref().unwrap().scores[0].outcome == "scored", "what was said is scored");
        }
        assert_replays(&folder, &path, &ran);
    }
}

#[test]
fn an_answer_that_takes_longer_than_its_step_may_is_none() {
    let mock = Mock::start(0, Duration::from_millis(1500)).unwrap();
    let folder = task("step_timeout", &mock, 2, "{calls: 100}");
    let text = std::fs::read_to_string(folder.join("task.yaml")).unwrap();
    let at = text.find("  - script").unwrap();
    let end = text.find("scorers:").unwrap();
    let steps = "  - user: \"{{ question }}\"\n  - {generate: {}, timeout: 1s}\n";
    std::fs::write(folder.join("task.yaml"), format!("{}{steps}{}", &text[..at], &text[end..])).unwrap();
    let ran = start(&folder, "2");
    let path = only_run(&folder);
    for trial in trials(&path) {
        assert_eq!(trial.close.unwrap().ending, "application_failure", "{}", ran.err);
        assert_eq!(trial.calls[0].got.as_ref().unwrap().fault.as_deref(), Some("timeout"));
    }
    assert_eq!(mock.arrivals().len(), 2, "it would take as long again");
    assert_replays(&folder, &path, &ran);
}

#[test]
fn concurrency_cannot_be_seen_in_the_digest() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let folder = task("concurrency", &mock, 400, "{calls: 100000}");
    let digests = ["1", "64", "1000"].map(|jobs| {
        let ran = run(&folder, &["run", "task.yaml", "--runs", jobs, "--format", "json", "-j", jobs]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let replayed = run(&folder, &["replay", "last", "--runs", jobs, "--format", "json"]);
        assert_eq!(replayed.out, ran.out, "{}", replayed.err);
        ran.digest()
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]));
}
