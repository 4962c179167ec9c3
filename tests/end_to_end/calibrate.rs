//! Judges and people, and the chances over epochs, on data whose answers are known.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness;

/// A file of the shared data, or none: then the test has nothing to hold itself against, and says so.
#[expect(clippy::print_stderr, reason = "who runs the tests should know what was not run")]
fn shared(name: &str) -> Option<PathBuf> {
    let path = harness::root().join("../../shared/data").join(name);
    let other = harness::root().join("../shared/data").join(name);
    let found = [other, path].into_iter().find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: there is no {name} beside the project");
    }
    found
}

fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the data can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// MT-Bench's votes as labels, and GPT-4's verdicts as asked in both orders: a verdict that flips says the first both times.
fn mt_bench(folder: &Path, data: &Path) {
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let (mut labels, mut verdicts) = (String::new(), String::new());
    let line = |row: &Value, rater: &str, first: &str, second: &str, winner: &str| {
        json!({
            "item": format!("{} turn {}", row["question_id"], row["turn"]), "turn": row["turn"],
            "cluster": row["question_id"].to_string(), "rater": rater, "first": first, "second": second, "winner": winner,
        })
    };
    for row in rows(&data.join("human.jsonl")) {
        let (a, b, winner) = (text(&row, "model_a"), text(&row, "model_b"), text(&row, "winner"));
        let won = if winner == "tie" { "tie".to_owned() } else { text(&row, &winner) };
        let _ = writeln!(labels, "{}", line(&row, &text(&row, "judge"), &a, &b, &won));
    }
    for row in rows(&data.join("gpt4_pair.jsonl")) {
        let (a, b, winner) = (text(&row, "model_a"), text(&row, "model_b"), text(&row, "winner"));
        let said = match winner.as_str() {
            "tie" => ["tie".to_owned(), "tie".to_owned()],
            "tie (inconsistent)" => [a.clone(), b.clone()],
            won => [text(&row, won), text(&row, won)],
        };
        let _ = writeln!(verdicts, "{}", line(&row, "gpt-4", &a, &b, &said[0]));
        let _ = writeln!(verdicts, "{}", line(&row, "gpt-4", &b, &a, &said[1]));
    }
    std::fs::write(folder.join("labels.jsonl"), labels).unwrap();
    std::fs::write(folder.join("verdicts.jsonl"), verdicts).unwrap();
}

#[test]
fn mt_bench_agrees_as_its_authors_say() {
    let Some(data) = shared("mt_bench") else { return };
    let folder = harness::folder("calibrate-mt-bench");
    mt_bench(&folder, &data);
    let run = |more: &[&str]| {
        let files = ["calibrate", "--labels", "labels.jsonl", "--verdicts", "verdicts.jsonl", "--format", "json"];
        let ran = harness::run(&folder, &[&files, more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran
    };
    let experts = run(&["--raters", "expert*", "--by", "turn"]).json();
    let counts = |turn: &str, of: &str, name: &str| {
        let figure = &experts["groups"][turn][of][name];
        (figure["same"].as_u64().unwrap(), figure["of"].as_u64().unwrap())
    };
    let (judge, people) = ("judge and each person", "people and people");
    let (all, without) = ("agreement", "agreement without ties");
    for (turn, wanted) in [
        ("1", [(886, 1343), (727, 859), (454, 721), (388, 479)]),
        ("2", [(871, 1325), (731, 864), (471, 707), (388, 474)]),
    ] {
        let seen = [(judge, all), (judge, without), (people, all), (people, without)];
        assert_eq!(seen.map(|(of, name)| counts(turn, of, name)), wanted, "turn {turn}");
    }
    let everybody = run(&[]);
    assert_eq!(everybody.out, run(&[]).out, "equal labels give equal bytes");
    let all = &everybody.json()["all"];
    assert_eq!((&all["flipped"], &all["both_orders"]), (&json!(380), &json!(2400)));
    let most = &all["judge and most people"];
    let shown = |name: &str| format!("{:.3}", most[name]["value"].as_f64().unwrap());
    assert_eq!((&most["items"], &most["agreement without ties"]["of"]), (&json!(1814), &json!(1078)));
    let seen = ["agreement", "kappa", "agreement without ties", "kappa without ties"].map(shown);
    assert_eq!(seen, ["0.672", "0.505", "0.884", "0.767"]);
    let end = |at: usize| most["kappa"]["interval"][at].as_f64().unwrap();
    assert!((end(0) - 0.460).abs() < 0.004 && (end(1) - 0.547).abs() < 0.004, "{most}");
    let people = &all["people and people"];
    assert_eq!((&people["items"], &all["clusters"]), (&json!(961), &json!(80)));
    assert_eq!(format!("{:.3}", people["alpha, nominal"]["value"].as_f64().unwrap()), "0.485");
}

/// The example of Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011: four observers, twelve units.
#[test]
fn alpha_is_that_of_its_author() {
    let folder = harness::folder("calibrate-alpha");
    let observers = ["A", "B", "C", "D"];
    let units: [[u8; 12]; 4] = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ];
    let mut labels = String::new();
    for (rater, row) in observers.iter().zip(&units) {
        for (unit, value) in row.iter().enumerate().filter(|(_, value)| **value > 0) {
            let _ = writeln!(labels, "{}", json!({"item": format!("u{unit}"), "rater": rater, "value": value}));
        }
    }
    std::fs::write(folder.join("labels.jsonl"), labels).unwrap();
    let ran = harness::run(&folder, &["calibrate", "--labels", "labels.jsonl", "--format", "json"]);
    let people = &ran.json()["all"]["people and people"];
    let alpha = |name: &str| format!("{:.3}", people[name]["value"].as_f64().unwrap());
    assert_eq!(["alpha, nominal", "alpha, ordinal", "alpha, interval"].map(alpha), ["0.743", "0.815", "0.849"]);
}

/// Pass^k of recorded conversations: each record says its scenario and its epoch, and `labels` what came of it.
fn passes(folder: &Path, records: &str) -> Value {
    std::fs::write(folder.join("recorded.jsonl"), records).unwrap();
    let task = "aigo: 1\nname: airline\nmodels: {assistant: {scripted: [{say: Hello.}]}}\ndataset: {transcripts: recorded.jsonl}\n\
                scorers:\n  - {name: solved, check: {expr: labels.reward == 1, turns: last}}\n\
                gates: ['pass_all(solved, 1) >= 0.4', 'pass_all(solved, 2) >= 0.2', 'pass_all(solved, 3) >= 0.2', \
                'pass_all(solved, 4) >= 0.1', 'pass_at(solved, 4) >= 0.5']\n";
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = harness::run(folder, &["run", "task.yaml", "--format", "json"]);
    assert!(ran.code <= 1, "{ran:?}");
    let run = harness::only_run(folder);
    harness::assert_replays(folder, &run, &ran);
    let noise = harness::run(folder, &["noise", "last", "--format", "json"]);
    assert_eq!(noise.code, 0, "{noise:?}");
    let found = noise.json();
    let solved = found["scorers"]["solved"].clone();
    for (at, gate) in ran.json()["gates"].as_array().unwrap().iter().take(4).enumerate() {
        assert_eq!(gate["value"], solved["passes"][at]["pass_all"], "{gate}");
    }
    solved
}

#[test]
fn tau_bench_passes_as_its_authors_say() {
    let Some(data) = shared("tau_bench/gpt-4o-airline.json") else { return };
    let folder = harness::folder("calibrate-tau-bench");
    let text = std::fs::read_to_string(data).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let record = |row: &Value| {
        json!({
            "scenario": row["task_id"], "epoch": row["trial"].as_u64().unwrap() + 1,
            "labels": {"reward": row["reward"].as_f64().unwrap() as i64}, "messages": row["traj"],
        })
    };
    let records = rows.iter().map(|row| format!("{}\n", record(row))).collect::<Vec<_>>().concat();
    let solved = passes(&folder, &records);
    assert_eq!((&solved["values"], &solved["scenarios"], &solved["clusters"]), (&json!(200), &json!(50), &json!(50)));
    let of = |key: &str, digits: usize| {
        let rows = solved["passes"].as_array().unwrap();
        rows.iter().map(|row| format!("{:.digits$}", row[key].as_f64().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(of("pass_all", 4), ["0.4200", "0.2733", "0.2200", "0.2000"]);
    assert_eq!(of("pass_all_error", 3), ["0.052", "0.055", "0.057", "0.057"]);
    let shown = |key: &str| format!("{:.3}", solved[key].as_f64().unwrap());
    // The two estimands, and where the noise lives.
    assert_eq!(["suite_error", "population_error"].map(shown), ["0.027", "0.052"]);
    let shown = |key: &str| format!("{:.2}", solved[key].as_f64().unwrap());
    assert_eq!(["scenario_variance", "epoch_variance", "correlation"].map(shown), ["0.10", "0.15", "0.40"]);
}

#[test]
fn recordings_of_one_scenario_are_its_epochs() {
    let folder = harness::folder("calibrate-epochs");
    let rewards: BTreeMap<&str, [u8; 4]> =
        [("a", [1, 1, 1, 1]), ("b", [1, 0, 1, 0]), ("c", [0, 0, 0, 0]), ("d", [1, 1, 1, 0]), ("e", [0, 1, 0, 0])]
            .into();
    let mut records = String::new();
    for (scenario, rewards) in rewards {
        for (epoch, reward) in rewards.iter().enumerate() {
            let messages =
                json!([{"role": "user", "content": "Two seats."}, {"role": "assistant", "content": "Booked."}]);
            let record =
                json!({"scenario": scenario, "epoch": epoch + 1, "labels": {"reward": reward}, "messages": messages});
            let _ = writeln!(records, "{record}");
        }
    }
    let solved = passes(&folder, &records);
    let of = |at: usize| solved["passes"][at]["pass_all"].as_f64().unwrap();
    // Means over scenarios of C(c, k)/C(4, k), with c of 4, 2, 0, 3 and 1.
    for (at, wanted) in [0.5, (1.0 + 1.0 / 6.0 + 0.5) / 5.0, (1.0 + 0.25) / 5.0, 0.2].into_iter().enumerate() {
        assert!((of(at) - wanted).abs() < 1e-12, "{at}: {} {wanted}", of(at));
    }
}

#[test]
fn verdicts_of_a_run_are_held_against_its_labels() {
    let folder = harness::folder("calibrate-run");
    let samples = (0..12).map(|n| format!("    - {{id: s{n}, n: {n}}}\n")).collect::<Vec<_>>().concat();
    let task = format!(
        "aigo: 1\nname: judged\nmodels:\n  assistant: {{scripted: [{{say: 'Seats: {{{{ n }}}}.'}}]}}\n  judge:\n    scripted:\n      - {{when: n \
         >= 8, verdict: {{score: false, reason: Too many., evidence: []}}}}\n      - verdict: {{score: true, reason: Fine., evidence: []}}\n\
         dataset:\n  samples:\n{samples}solvers: [{{user: How many?}}, generate]\nscorers:\n  - name: few\n    judge: {{rubric: It says fewer \
         than eight., scale: boolean, evidence: none}}\n"
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    assert_eq!(harness::run(&folder, &["run", "task.yaml"]).code, 0);
    let mut labels = String::new();
    for n in 0..10 {
        let _ = writeln!(labels, "{}", json!({"sample": format!("s{n}"), "value": n < 7}));
    }
    let _ = writeln!(labels, "{}", json!({"sample": "s99", "value": true}));
    std::fs::write(folder.join("labels.jsonl"), &labels).unwrap();
    let run =
        |more: &[&str]| harness::run(&folder, &[&["calibrate", "last", "--labels", "labels.jsonl"], more].concat());
    let ran = run(&["--format", "json"]);
    let all = &ran.json()["all"];
    // Of ten labels it agrees with all but that of s7; one label is of no sample.
    let most = &all["judge and most people"];
    let counts = |name: &str| (most[name]["same"].as_u64().unwrap(), most[name]["of"].as_u64().unwrap());
    assert_eq!((counts("agreement"), &all["without_verdict"]), ((9, 10), &json!(1)), "{}", ran.out);
    assert_eq!((counts("TPR: fails that it sees"), counts("TNR: passes that it sees")), ((2, 3), (7, 7)));
    assert!(run(&[]).out.contains("TPR: fails that it sees"), "{:?}", run(&[]));
    assert!(ran.err.contains("1 of 11 labels") && ran.err.contains("labels.jsonl, line 11: `s99`"), "{}", ran.err);
    std::fs::write(folder.join("labels.jsonl"), "\n{\"sample\": \"s-1\", \"value\": true}\n").unwrap();
    let refused = run(&[]);
    assert!(refused.code == 2 && refused.err.contains("labels.jsonl, line 2: `s-1`, did you mean `s1`"), "{refused:?}");
    std::fs::write(folder.join("labels.jsonl"), "{\"sample\": \"s1\", \"value\": 4}\n").unwrap();
    let refused = run(&[]);
    assert!(
        refused.code == 2 && refused.err.contains("line 1: the label of `s1` is 4, and `few` is on the scale"),
        "{refused:?}"
    );
    std::fs::write(folder.join("labels.jsonl"), "{\"sample\": \"s1\"}\n").unwrap();
    let refused = run(&[]);
    assert!(refused.code == 2 && refused.err.contains("[R0232] labels.jsonl, line 1"), "{refused:?}");
}

#[test]
fn noise_is_split_where_the_data_has_it() {
    let folder = harness::folder("noise-split");
    let samples = (0..6).map(|n| format!("    - {{id: s{n}, n: {n}}}\n")).collect::<Vec<_>>().concat();
    let verdict = |score: u32| format!("'{{\"evidence\": [], \"reason\": \"ok\", \"score\": {score}}}'");
    let task = format!(
        "aigo: 1\nname: noisy\nepochs: 3\nmodels:\n  assistant: {{scripted: [{{say: 'Seats: {{{{ n }}}}.'}}]}}\n  judge: {{scripted: [{{any_of: \
         [{}, {}]}}]}}\ndataset:\n  samples:\n{samples}solvers: [{{user: How many?}}, generate]\nscorers:\n  - name: tone\n    judge: {{rubric: It \
         is kind., evidence: none}}\n    runs: 4\n",
        verdict(2),
        verdict(5)
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    assert_eq!(harness::run(&folder, &["run", "task.yaml"]).code, 0);
    let run = harness::only_run(&folder);
    // The draws of a conversation are the answers in the log; their variances have three degrees of freedom each.
    let variance = |trial: &aigo_log::Trial| {
        let score =
            |call: &aigo_log::Call| if call.got.as_ref().unwrap().text.contains("\"score\": 2") { 2.0 } else { 5.0 };
        let judged = trial.calls.iter().filter(|call| &*call.site.role == "judge");
        let draws: Vec<f64> = judged.map(score).collect();
        assert_eq!(draws.len(), 4);
        let mean = draws.iter().sum::<f64>() / 4.0;
        draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 3.0
    };
    let trials = harness::trials(&run);
    let wanted = trials.iter().map(variance).sum::<f64>() / trials.len() as f64;
    let noise = harness::run(&folder, &["noise", "last", "--format", "json"]);
    let tone = noise.json()["scorers"]["tone"].clone();
    assert!((tone["judge_variance"].as_f64().unwrap() - wanted).abs() < 1e-12, "{tone} {wanted}");
    assert_eq!((&tone["judge_draws"], &tone["scenarios"], &tone["values"]), (&json!(4.0), &json!(6), &json!(18)));
    let text = harness::run(&folder, &["noise", "last"]);
    for wanted in
        ["population (other scenarios like these)", "suite (these scenarios again)", "variance: scenarios", "about "]
    {
        assert!(text.out.contains(wanted), "{wanted}: {}", text.out);
    }
    let saved = harness::run(&folder, &["baseline", "save", "last", "-o", "noisy.jsonl"]);
    assert!(saved.code == 0 && !saved.err.contains("one epoch"), "{saved:?}");
}
