//! Two runs side by side, baselines, and the gates that hold a run against one.

use std::fmt::Write as _;
use std::path::Path;

use crate::harness::{self, Ran};

/// A support bot that answers what it is asked, but for the samples from `broken` on, and a judge who sees it. `judge` and
/// `user` stand for what the ruler is.
fn task(broken: u32, rubric: &str, gates: &str) -> String {
    let samples = (0..16).map(|n| format!("    - {{id: s{n:02}, n: {n}}}\n")).collect::<Vec<_>>().concat();
    format!(
        "aigo: 1\nname: support\nmodels:\n  assistant:\n    scripted:\n      - {{when: n >= {broken}, say: Two seats cost $12.}}\n      \
         - Please see the pricing page.\n  judge:\n    scripted:\n      - when: \"'$12' in last.text\"\n        verdict: {{score: 2, \
         reason: It quotes a price., evidence: [{{turn: 1a, quote: $12}}]}}\n      - verdict: {{score: 5, reason: It does not., \
         evidence: []}}\ndataset:\n  samples:\n{samples}solvers:\n  - user: What do {{{{ n }}}} seats cost?\n  - generate\nscorers:\n  \
         - {{name: no_price, check: {{not_contains: $12}}}}\n  - name: policy\n    judge: {{rubric: {rubric}, evidence: commission}}\n\
         gates: {gates}\n"
    )
}

/// Runs a task into a folder of its own, and gives the run's folder.
fn run(folder: &Path, runs: &str, text: &str, more: &[&str]) -> (String, Ran) {
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    let arguments = [&["run", "task.yaml", "--runs", runs, "--format", "json"], more].concat();
    let ran = harness::run(folder, &arguments);
    let mut ids = std::fs::read_dir(folder.join(runs)).expect("there are runs").map(|entry| entry.unwrap().path());
    let id = ids.next().expect("a run").strip_prefix(folder).unwrap().display().to_string();
    (id, ran)
}

const GATES: &str = "['rate(no_price) >= 0.1']";

#[test]
fn what_got_worse_is_told_with_its_transcripts() {
    let folder = harness::folder("compare-worse");
    let rubric = "It names no price.";
    let (before, _) = run(&folder, "a", &task(16, rubric, GATES), &[]);
    let (after, _) = run(&folder, "b", &task(8, rubric, GATES), &[]);
    let compared = harness::run(&folder, &["compare", &before, &after, "--format", "json"]);
    assert_eq!(compared.code, 5, "{compared:?}");
    let json = compared.json();
    let policy = &json["scorers"]["policy"];
    assert_eq!(
        (policy["verdict"].as_str(), policy["difference"].as_f64(), policy["scenarios"].as_u64()),
        (Some("worse"), Some(-1.5), Some(16)),
        "{policy}"
    );
    // Eight of sixteen changed, all the one way: 2 of 2^8 flips are as far.
    assert_eq!((policy["p_flip"].as_f64(), policy["p_adjusted"].as_f64()), (Some(2.0 / 256.0), Some(4.0 / 256.0)));
    assert_eq!(json["scorers"]["no_price"]["mcnemar"]["worse"].as_u64(), Some(8));
    assert_eq!(policy["worse"].as_array().map(Vec::len), Some(8));
    let text = harness::run(&folder, &["compare", &before, &after]);
    assert_eq!(text.code, 5);
    for wanted in ["✗ s08   no_price 1 → 0", "Two seats cost >>$12<<.", "WORSE  support   2 of 2", "8− 0+ 8="] {
        assert!(text.out.contains(wanted), "{wanted}: {}", text.out);
    }
    let back = harness::run(&folder, &["compare", &after, &before]);
    assert!(back.code == 0 && back.out.contains("NOT WORSE  support   0 of 2"), "{back:?}");
    let same = harness::run(&folder, &["compare", &before, &before, "--format", "json"]);
    assert_eq!((same.code, same.json()["scorers"]["policy"]["p_flip"].as_f64()), (0, Some(1.0)), "{same:?}");
}

#[test]
fn other_judges_and_simulators_are_refused_and_the_remedy_is_named() {
    let folder = harness::folder("compare-refused");
    let (before, _) = run(&folder, "a", &task(16, "It names no price.", GATES), &[]);
    let (after, _) = run(&folder, "b", &task(8, "It is polite.", GATES), &[]);
    let refused = harness::run(&folder, &["compare", &before, &after]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
    for wanted in ["[R0231]", "the rubric of `policy` changed", "--scorer NAME"] {
        assert!(refused.err.contains(wanted), "{wanted}: {}", refused.err);
    }
    let rest = harness::run(&folder, &["compare", &before, &after, "--scorer", "no_price", "--format", "json"]);
    assert_eq!((rest.code, rest.json()["scorers"]["no_price"]["verdict"].as_str()), (5, Some("worse")), "{rest:?}");
    let simulated = |stop: &str, persona: &str| {
        format!(
            "aigo: 1\nname: chat\nmodels:\n  assistant: {{scripted: [{{say: Certainly.}}]}}\n  user: {{scripted: [{{say: Hello.}}]}}\n\
             define: {{personas: {{terse: {{text: {persona}, probes: [polite]}}}}}}\ndataset: {{matrix: {{persona: [terse], n: [1, 2]}}}}\n\
             solvers:\n  - loop:\n      max_turns: 3\n      {stop}solvers: [{{simulate_user: {{goal: Two seats., persona: '{{{{ persona }}}}'}}}}, \
             generate]\nscorers: [{{name: polite, check: {{contains: Certainly}}}}]\n"
        )
    };
    let (one, _) = run(&folder, "c", &simulated("", "You write few words."), &[]);
    let cases = [
        ("d", simulated("until: turn >= 2\n      ", "You write few words."), "the stop rule of `main` changed"),
        ("e", simulated("", "You write no words."), "the persona `terse` changed"),
    ];
    for (runs, text, wanted) in cases {
        let (other, ran) = run(&folder, runs, &text, &[]);
        let refused = harness::run(&folder, &["compare", &one, &other]);
        assert!(refused.code == 2 && refused.err.contains(wanted), "{refused:?} {ran:?}");
        assert!(refused.err.contains("run both again"), "{}", refused.err);
    }
}

#[test]
fn an_edited_scenario_is_paired_and_marked() {
    let folder = harness::folder("compare-edited");
    let text = task(16, "It names no price.", GATES);
    let (before, _) = run(&folder, "a", &text, &[]);
    let edited =
        text.replace("id: s03, n: 3", "id: s03, n: 33").replace("    - {id: s15, n: 15}\n", "    - {id: new, n: 15}\n");
    let (after, _) = run(&folder, "b", &edited, &[]);
    let compared = harness::run(&folder, &["compare", &before, &after, "--format", "json"]);
    let json = compared.json();
    assert_eq!((json["edited"].to_string(), json["only_before"].to_string()), ("[\"s03\"]".into(), "[\"s15\"]".into()));
    assert_eq!(
        (json["only_after"].to_string(), &json["scorers"]["policy"]["scenarios"]),
        ("[\"new\"]".into(), &15.into())
    );
}

#[test]
fn gates_are_held_against_a_baseline_and_replay_knows_it() {
    let folder = harness::folder("baseline-gates");
    let rubric = "It names no price.";
    let gates = "['delta(mean(policy)) >= -0.5', regressed(policy), 'not_inferior(no_price, margin=0.2)']";
    let (before, without) = run(&folder, "a", &task(16, rubric, gates), &[]);
    let results = |ran: &Ran| {
        let gates = ran.json()["gates"].as_array().unwrap().clone();
        gates.iter().map(|gate| gate["result"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((without.code, results(&without)), (0, vec!["skipped".to_owned(); 3]), "{without:?}");
    let saved = harness::run(&folder, &["baseline", "save", &before, "-o", "main.jsonl"]);
    assert!(
        saved.code == 0 && saved.out.contains("2 scorers, 16 scenarios") && saved.err.contains("one epoch"),
        "{saved:?}"
    );
    let bytes = std::fs::read(folder.join("main.jsonl")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("pricing page"), "a baseline has no text of a conversation");
    let again = harness::run(&folder, &["baseline", "save", &before, "-o", "main.jsonl"]);
    assert!(again.code == 0 && std::fs::read(folder.join("main.jsonl")).unwrap() == bytes, "{again:?}");
    let of_it = harness::run(&folder, &["baseline", "save", "main.jsonl", "-o", "again.jsonl"]);
    assert!(of_it.code == 0 && std::fs::read(folder.join("again.jsonl")).unwrap() == bytes, "{of_it:?}");
    let (same, ran) = run(&folder, "b", &task(16, rubric, gates), &["--baseline", "main.jsonl"]);
    // Nothing changed in 16 scenarios: the true share of changes may still be 17%, which is less than the margin.
    assert_eq!((ran.code, results(&ran)), (0, vec!["pass".to_owned(); 3]), "{ran:?}");
    harness::assert_replays(&folder, &folder.join(&same), &ran);
    let (worse, ran) = run(&folder, "c", &task(8, rubric, gates), &["--baseline", "main.jsonl"]);
    assert_eq!((ran.code, results(&ran)), (1, vec!["red".to_owned(); 3]), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["gates"][0]["value"].as_f64(), Some(-1.5));
    harness::assert_replays(&folder, &folder.join(&worse), &ran);
    let compared = harness::run(&folder, &["compare", "main.jsonl", &worse]);
    assert_eq!(compared.code, 5, "{compared:?}");
    // Another ruler is told before anything is asked.
    let (_, refused) = run(&folder, "b", &task(16, "It is polite.", gates), &["--baseline", "main.jsonl"]);
    assert!(refused.code == 3 && refused.err.contains("[R0231]") && refused.out.is_empty(), "{refused:?}");
    let (_, refused) = run(&folder, "b", &task(16, rubric, gates), &["--baseline", "task.yaml"]);
    assert!(refused.code == 2 && refused.err.contains("[R0230]") && refused.out.is_empty(), "{refused:?}");
}

/// Scores of so many scenarios on 1..5, with what each scenario is like and what one conversation adds to it, as a baseline.
fn scores(random: &mut u64, scenarios: &[f64], drop: f64) -> aigo_report::Sheet {
    let trial = |(at, level): (usize, &f64)| {
        let seen = (level - drop + 0.8 * normal(random)).clamp(1.0, 5.0);
        aigo_report::SheetTrial {
            key: format!("s{at:03}").into(),
            epoch: 1,
            content: "".into(),
            cluster: format!("s{at:03}").into(),
            ending: "done".into(),
            marks: vec![aigo_report::Mark {
                outcome: Some(aigo_ir::verdict::Outcome::Scored),
                number: Some(seen),
                pass: seen >= 4.0,
            }],
        }
    };
    aigo_report::Sheet {
        task: "null".into(),
        epochs: 1,
        measures: vec![aigo_report::Measure {
            name: "x".into(),
            low: 1.0,
            high: 5.0,
            pass: 4.0,
            is_boolean: false,
            judges: Vec::new(),
        }],
        trials: scenarios.iter().enumerate().map(trial).collect(),
        ..aigo_report::Sheet::default()
    }
}

/// A number like those of a normal distribution: twelve even ones, summed.
fn normal(random: &mut u64) -> f64 {
    let mut even = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((*random >> 40) as u32) / f64::from(1 << 24)
    };
    (0..12).map(|_| even()).sum::<f64>() - 6.0
}

/// Sixteen scenarios, so that all flips are counted. Of 100 comparisons in which nothing changed at most five call something
/// worse, and of 100 with the drop that such a comparison says it would find, at least 75 find it.
#[test]
fn nothing_changed_is_seldom_worse_and_the_drop_that_is_stated_is_found() {
    use aigo_report::compare::{Verdict, compare};
    let mut random = 7;
    let scenarios: Vec<f64> = (0..16).map(|_| 3.2 + 0.6 * normal(&mut random)).collect();
    let mut compared = |drop: f64| {
        let (before, after) = (scores(&mut random, &scenarios, 0.0), scores(&mut random, &scenarios, drop));
        let mut one = compare(&before, &after, &[]).scorers.remove(0);
        (one.verdict, one.paired.take().and_then(|paired| paired.detectable).unwrap())
    };
    let null: Vec<(Verdict, f64)> = (0..100).map(|_| compared(0.0)).collect();
    let alarms = null.iter().filter(|(verdict, _)| *verdict == Verdict::Worse).count();
    assert!(alarms <= 5, "{alarms} of 100 are called worse");
    let stated = null.iter().map(|(_, detectable)| detectable).sum::<f64>() / 100.0;
    let found = (0..100).filter(|_| compared(stated).0 == Verdict::Worse).count();
    assert!(found >= 75, "{found} of 100 drops of {stated} are found");
}

/// A baseline of two scorers over so many scenarios: one that falls in the first few, and one that never moves.
fn falling(folder: &Path, name: &str, scenarios: u32, fallen: u32) {
    let mut text = format!(
        "{{\"baseline\":1,\"task\":\"t\",\"run\":\"{name}\",\"dataset\":\"d\",\"epochs\":1,\"open\":0}}\n\
         {{\"scorer\":\"falls\",\"low\":0.0,\"high\":1.0,\"pass\":1.0,\"boolean\":true,\"judges\":[]}}\n\
         {{\"scorer\":\"stays\",\"low\":0.0,\"high\":1.0,\"pass\":1.0,\"boolean\":true,\"judges\":[]}}\n"
    );
    for n in 0..scenarios {
        let (value, pass) = if n < fallen { ("0.0", false) } else { ("1.0", true) };
        let _ = writeln!(
            text,
            "{{\"sample\":\"s{n}\",\"epoch\":1,\"content\":\"c\",\"cluster\":\"s{n}\",\"ending\":\"done\",\
             \"scores\":{{\"falls\":[{value},{pass}],\"stays\":[1.0,true]}}}}"
        );
    }
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_scorer_that_never_moved_hides_no_fall_and_a_fall_of_few_is_no_clean_bill() {
    let folder = harness::folder("compare_falls");
    for (fallen, code, word) in [(6, 5, "WORSE"), (4, 4, "UNDECIDED"), (0, 0, "NOT WORSE")] {
        falling(&folder, "a.jsonl", 7, 0);
        falling(&folder, "b.jsonl", 7, fallen);
        let ran = harness::run(&folder, &["compare", "a.jsonl", "b.jsonl"]);
        assert!(ran.code == code && ran.out.contains(&format!("\n{word}")), "{fallen}: {ran:?}");
        assert_eq!(ran.out.contains("too few clusters to be told"), fallen == 4, "{}", ran.out);
    }
}
