//! The shipped example: real findings, with no key and no network, and the same bytes again.

use crate::harness::{Ran, folder, only_run, root, run, run_with};

fn quickstart(name: &str, more: &[&str], environment: &[(&str, &str)]) -> (std::path::PathBuf, Ran) {
    let folder = folder(name);
    let task = root().join("tests/fixtures/quickstart");
    let mut arguments = vec!["run", task.to_str().unwrap()];
    arguments.extend(more);
    let ran = run_with(&folder, &arguments, environment);
    (folder, ran)
}

#[test]
fn the_report_quotes_the_words_at_their_turns_and_the_build_fails() {
    let (folder, ran) = quickstart("quickstart", &[], &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    let block = |head: &str| -> Vec<&str> {
        let from = lines.iter().position(|line| line.starts_with(head)).unwrap_or_else(|| panic!("no `{head}`"));
        lines[from..].iter().take_while(|line| !line.is_empty()).copied().collect()
    };
    // The user's words in turn 1 and the breach in turn 2, joined.
    let forgets = block("✗ Business/forgets");
    assert!(
        forgets[1].starts_with(
            "  plan_kept = 1   (3 like this, all slip=forgets)   why: The user said Business, and the answer"
        ),
        "{forgets:#?}"
    );
    assert!(forgets.contains(&"    > 1u   Hi, >>we are on the Business plan<<."), "{forgets:#?}");
    assert!(forgets.contains(&"    > 2a   >>On the Free plan<< there are no extra seats."), "{forgets:#?}");
    let quotes = block("✗ Business/quotes");
    assert!(quotes.contains(&"    > 3a   A seat is about >>$1<<2 a month."), "{quotes:#?}");
    let verdict = block("FAILED  quickstart");
    assert_eq!(verdict[0], "FAILED  quickstart   2 of 2 gates red   6 of 9 conversations fail   exit 1");
    assert_eq!(verdict[1].split_whitespace().collect::<Vec<_>>().join(" "), "red mean(plan_kept) >= 4 3.667");
    assert_eq!(verdict[2], "      fails in turn 2 (3, all slip=forgets)");
    assert!(
        verdict[3].starts_with("      Business/forgets  1u \"we are on the Business plan\"  2a \"On the Free plan\""),
        "{verdict:#?}"
    );
    assert!(verdict.contains(&" calls answered: assistant 27 · judge 9 · user 36"), "{verdict:#?}");

    let path = only_run(&folder);
    let replayed = run(&folder, &["replay", path.to_str().unwrap()]);
    assert_eq!((replayed.code, replayed.out), (0, ran.out), "{}", replayed.err);
}

#[test]
fn the_object_has_every_figure_and_replays_byte_for_byte() {
    let (folder, ran) = quickstart("quickstart_json", &["--format", "json"], &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let object = ran.json();
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    // `serde_json` without `preserve_order` sorts; the order on the wire is asserted by the replay's bytes.
    assert_eq!(keys, ["calls", "cost_usd", "digest", "exit", "gates", "outcomes", "run", "task", "usage"]);
    assert_eq!((object["exit"].as_i64(), object["calls"]["user"].as_i64()), (Some(1), Some(36)));
    let plan = &object["outcomes"]["plan_kept"];
    assert_eq!((plan["planned"].as_i64(), plan["scored"].as_i64(), plan["open"].as_i64()), (Some(9), Some(9), Some(0)));
    assert_eq!(object["gates"][0]["value"].as_f64(), Some(11.0 / 3.0));
    assert_eq!(object["gates"][1]["result"], "red");
    assert_eq!(object["digest"].as_str().unwrap().len(), 64);
    crate::harness::assert_replays(&folder, &only_run(&folder), &ran);
}

#[test]
fn the_digest_knows_neither_concurrency_nor_place_nor_time_zone() {
    let (_, one) = quickstart("quickstart_1", &["--format", "json", "-j", "1"], &[]);
    let elsewhere =
        [("TZ", "Asia/Kathmandu"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("HOME", "/nowhere")];
    for (jobs, environment) in [("8", &[][..]), ("1000", &[]), ("8", &elsewhere)] {
        let name = format!("quickstart_{jobs}_{}", environment.len());
        let (_, ran) = quickstart(&name, &["--format", "json", "-j", jobs], environment);
        // Everything but the run's own name is equal.
        let without_run = |ran: &Ran| ran.out.split_once(",\"digest\"").map(|(_, rest)| rest.to_owned()).unwrap();
        assert_eq!(without_run(&ran), without_run(&one), "-j {jobs}, {environment:?}");
    }
}

/// The digest of a run must depend on what was said: one word more in the task is another digest.
#[test]
fn another_word_is_another_digest() {
    let (folder, before) = quickstart("quickstart_word", &["--format", "json"], &[]);
    let text = std::fs::read_to_string(root().join("tests/fixtures/quickstart/task.yaml")).unwrap();
    let changed = text.replace("You're welcome!", "You are welcome!");
    assert_ne!(text, changed);
    std::fs::write(folder.join("task.yaml"), changed).unwrap();
    let after = run(&folder, &["run", "task.yaml", "--runs", "changed", "--format", "json"]);
    assert_ne!(after.digest(), before.digest());
    assert_eq!(after.json()["outcomes"], before.json()["outcomes"]);
}
