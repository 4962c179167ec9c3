//! Somebody's own application: asked over HTTP in every way, and as a program; killed and resumed; failing; probed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aigo_tests::bot::Bot;

use crate::harness::{
    Ran, assert_replays, bot_program, ending, folder, only_run, run, run_with, score, start, trial, trials,
};
use crate::served::{Served, completion};

const LONGEST: Duration = Duration::from_mins(1);

/// A task with a role and more; a conversation of two turns, in which the bot has to remember.
fn written(name: &str, role: &str, more: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), task(role, more)).expect("the task can be written");
    folder
}

fn task(role: &str, more: &str) -> String {
    let role = role.replace('\n', "\n    ");
    format!(
        "aigo: 1\nname: own\nmodels:\n  assistant:\n    {role}\n\
         dataset: {{samples: [{{id: a, seats: 3}}, {{id: b, seats: 14}}, {{id: c, seats: 5}}]}}\n\
         solvers: [{{script: [\"We have {{{{ seats }}}} seats.\", \"How many seats are it?\"]}}]\n\
         scorers: [{{name: remembers, check: {{contains: \"It is {{{{ seats }}}}.\", turns: last}}}}]\n{more}"
    )
}

fn ran(folder: &Path) -> Ran {
    run(folder, &["run", "task.yaml", "--format", "json", "--allow-commands"])
}

fn remembers(run: &Path, key: &str) -> String {
    score(&trial(run, key), "remembers")
}

const YES: &str = "scored true Some(true)";
const NO: &str = "scored false Some(false)";

/// The program of the example.
fn program() -> String {
    bot_program().display().to_string()
}

fn stateless(bot: &Bot, path: &str) -> String {
    format!(
        "http:\n  url: {}/{path}\n  body: {{messages: {{from_json: \"{{{{ chat | json }}}}\"}}}}\n  reply: {{text: reply, context: used.chunks}}",
        bot.url()
    )
}

fn streaming(bot: &Bot, path: &str) -> String {
    stateless(bot, path) + "\n  stream: true"
}

fn by_client(bot: &Bot) -> String {
    format!(
        "http: {{url: \"{}/sessions/{{{{ session }}}}\", body: {{text: \"{{{{ message }}}}\"}}, reply: reply, session: sticky}}",
        bot.url()
    )
}

fn by_server(bot: &Bot) -> String {
    format!(
        "http:\n  url: {}/sessions\n  body: {{session: \"{{{{ session }}}}\", text: \"{{{{ message }}}}\"}}\n  reply: {{text: reply}}\n  session: {{kind: sticky, created_by: server, id: session.id}}",
        bot.url()
    )
}

#[test]
fn an_application_over_http_is_asked_in_every_way_that_it_may_have() {
    let bot = Bot::start(0).unwrap();
    let ways = [
        ("chat", stateless(&bot, "chat")),
        ("client", by_client(&bot)),
        ("server", by_server(&bot)),
        ("stream", streaming(&bot, "stream")),
        ("lines", streaming(&bot, "lines")),
    ];
    for (name, role) in ways {
        let folder = written(&format!("apps_{name}"), &role, "");
        let ran = ran(&folder);
        let path = only_run(&folder);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.err, ran.out);
        assert_eq!(["a", "b", "c"].map(|key| remembers(&path, key)), [YES; 3], "{name}");
        assert_replays(&folder, &path, &ran);
        // Another run of the same has other sessions, and comes to the same.
        let again = run(&folder, &["run", "task.yaml", "--format", "json", "--runs", "again"]);
        assert_eq!(again.digest(), ran.digest(), "{name}");
    }
    let sent = bot.asked();
    let whole = sent.iter().filter(|asked| asked.body["messages"].as_array().map(Vec::len) == Some(3)).count();
    assert!(whole > 0, "lists go in as lists");
    // What was read is in the log, and judges see it.
    let read = trial(&only_run(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("apps_chat")), "a");
    let chunks: Vec<_> = read.calls.iter().filter_map(|call| call.got.as_ref()).map(|got| got.read.len()).collect();
    assert_eq!(chunks, [0, 1]);
}

#[test]
fn an_application_that_is_a_program_is_given_lines() {
    for (name, flags) in [("plain", ""), ("keeps", ", --keeps"), ("once", ", --once")] {
        let role = format!("command: [{}{flags}]", program());
        let folder = written(&format!("apps_program_{name}"), &role, "");
        let ran = ran(&folder);
        let path = only_run(&folder);
        assert_eq!(["a", "b", "c"].map(|key| remembers(&path, key)), [YES; 3], "{name}: {}", ran.err);
        assert_replays(&folder, &path, &ran);
    }
}

#[test]
fn commands_run_only_where_they_are_allowed() {
    let folder = written("apps_trust", &format!("command: [{}]", program()), "");
    let state = folder.join("state");
    let home = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let refused = run_with(&folder, &["run", "task.yaml"], &home);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("R0140") && refused.err.contains("--allow-commands"), "{}", refused.err);
    assert!(!folder.join("runs").exists(), "a run that is not allowed leaves nothing");
    let allowed = run_with(&folder, &["run", "task.yaml", "--allow-commands"], &home);
    assert_eq!(allowed.code, 0, "{}", allowed.err);
    // It is remembered for the folder and these commands, and for no others.
    assert_eq!(run_with(&folder, &["run", "task.yaml"], &home).code, 0);
    std::fs::write(folder.join("task.yaml"), task(&format!("command: [{}, --once]", program()), "")).unwrap();
    assert_eq!(run_with(&folder, &["run", "task.yaml"], &home).code, 3);
}

#[test]
fn killed_and_resumed_a_session_begins_again_and_the_rest_goes_on() {
    let bot = Bot::start(0).unwrap();
    let ways = [
        ("chat", stateless(&bot, "chat"), false),
        ("stream", streaming(&bot, "stream"), false),
        ("client", by_client(&bot), true),
        ("server", by_server(&bot), true),
    ];
    for (name, role, again) in ways {
        let folder = written(&format!("apps_killed_{name}"), &role, "");
        let alone = run(&folder, &["run", "task.yaml", "--format", "json", "--runs", "alone"]);
        // One conversation at a time: one has ended, and one is in the middle.
        bot.hold_after(3);
        let killed = start(&folder, &["run", "task.yaml", "-j", "1"]);
        assert!(bot.wait_until_held(LONGEST), "{name}");
        killed.kill();
        bot.lift();
        let before = bot.asked().len();
        let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "1"]);
        let path = only_run(&folder);
        assert_eq!(["a", "b", "c"].map(|key| remembers(&path, key)), [YES; 3].map(String::from), "{name}");
        assert_eq!(resumed.digest(), alone.digest(), "{name}");
        assert_eq!(bot.asked().len() - before, if again { 4 } else { 3 }, "{name}");
        assert_eq!(resumed.err.contains("1 conversation begins again"), again, "{name}: {}", resumed.err);
        let replayed = run(&folder, &["replay", "last", "--format", "json"]);
        assert_eq!((replayed.code, replayed.digest()), (0, alone.digest()), "{name}: {}", replayed.err);
    }
}

/// A bot that answers three lines, and then says on a pipe that it holds the fourth back until whoever gave it is gone.
#[cfg(unix)]
const HOLDING: &str = r#"#!/bin/sh
while read -r line; do
  echo "$line" >> asked
  if [ -e hold ] && [ "$(wc -l < asked)" -gt 3 ]; then
    echo held > held
    read -r nothing
    exit 1
  fi
  said=$(echo "$line" | sed 's/.*We have \([0-9]*\) seats.*/\1/')
  case $line in
    *'How many'*) echo "{\"text\":\"It is $said.\"}" ;;
    *) echo '{"text":"Noted."}' ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_program_that_was_cut_off_begins_its_conversation_again_and_the_rest_goes_on() {
    let folder = written("apps_killed_program", "command: [sh, ./bot.sh]", "");
    std::fs::write(folder.join("bot.sh"), HOLDING).unwrap();
    let alone = run(&folder, &["run", "task.yaml", "--format", "json", "--runs", "alone", "--allow-commands"]);
    assert_eq!(alone.code, 0, "{}", alone.err);
    let asked = || std::fs::read_to_string(folder.join("asked")).unwrap().lines().count();
    assert_eq!(asked(), 6);
    std::fs::remove_file(folder.join("asked")).unwrap();
    std::fs::write(folder.join("hold"), "").unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("held")).status().unwrap();
    assert!(made.success());
    let killed = start(&folder, &["run", "task.yaml", "-j", "1", "--allow-commands"]);
    // Reading waits until the bot has written.
    let read = std::process::Command::new("timeout").args(["60", "cat"]).arg(folder.join("held")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "held\n");
    killed.kill();
    std::fs::remove_file(folder.join("hold")).unwrap();
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "1", "--allow-commands"]);
    assert_eq!((asked(), resumed.digest()), (4 + 4, alone.digest()), "{}", resumed.err);
    assert!(resumed.err.contains("1 conversation begins again"), "{}", resumed.err);
    assert_replays(&folder, &only_run(&folder), &resumed);
}

#[test]
fn an_application_that_was_deployed_anew_is_asked_anew_unless_its_version_says_that_it_is_the_same() {
    let bot = Bot::start(0).unwrap();
    let versions = ["", "\nversion: 3", "\nversion: 3", "\nversion: 4", "\nversion: 4"];
    let folder = written("apps_deployed", "scripted: [Hi.]", "");
    let mut asked = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        std::fs::write(folder.join("task.yaml"), task(&(stateless(&bot, "chat") + version), "")).unwrap();
        let before = bot.asked().len();
        let arguments = ["run", "task.yaml", "--format", "json", "--from", "last"];
        let ran = run(&folder, &arguments[..if at == 0 { 4 } else { 6 }]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        asked.push(bot.asked().len() - before);
    }
    assert_eq!(asked, [6, 6, 0, 6, 0]);
}

#[test]
fn a_failing_application_fails_its_samples_and_the_run_goes_on() {
    let bot = Bot::start(0).unwrap();
    let faults = [
        ("faulty", "http_500", 3),
        ("garbled", "bad_reply", 1),
        ("elsewhere", "http_307", 1),
        ("hangs_up", "broken", 3),
        ("nowhere", "http_404", 1),
    ];
    for (path, fault, attempts) in faults {
        let folder = written(&format!("apps_{path}"), &stateless(&bot, path), "");
        let before = bot.asked().len();
        let ran = ran(&folder);
        let run = only_run(&folder);
        // `faulty` fails by what is said: to `b` alone it answers.
        let fails: &[&str] = if path == "faulty" { &["b"] } else { &["a", "b", "c"] };
        for key in ["a", "b", "c"] {
            let ended = ending(&run, key).expect("it has ended");
            let wanted = if fails.contains(&key) { "application_failure" } else { "completed" };
            assert_eq!(ended, wanted, "{path} {key}: {}", ran.err);
            if fails.contains(&key) {
                let got = trial(&run, key).calls.iter().find_map(|call| call.got.clone()).expect("an answer");
                assert_eq!(got.fault.as_deref(), Some(fault), "{path}: {}", got.text);
                assert_eq!(remembers(&run, key), NO);
            }
        }
        let asked = bot.asked().len() - before;
        let rest = (3 - fails.len()) * 2;
        assert_eq!(asked, fails.len() * attempts + rest, "{path}");
        assert_replays(&folder, &run, &ran);
    }
}

#[test]
fn a_slow_application_is_told_by_its_timeout_and_by_within() {
    let bot = Bot::start(0).unwrap();
    let role = stateless(&bot, "slow") + "\ntimeout: 300ms";
    let folder = written("apps_slow", &role, "");
    let cut = ran(&folder);
    assert_eq!(ending(&only_run(&folder), "a").as_deref(), Some("application_failure"), "{}", cut.err);
    let more = "  - {name: quick, check: {within: 1s}}\n  - {name: patient, check: {within: 20s}}\n";
    let text =
        task(&stateless(&bot, "slow"), "").replace("scorers: [{name: remembers", "scorers:\n  - {name: remembers");
    let text = text.replace("turns: last}}]", "turns: last}}") + more;
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--runs", "late"]);
    let late = std::fs::read_dir(folder.join("late")).unwrap().next().unwrap().unwrap().path();
    assert_eq!([score(&trial(&late, "a"), "quick"), score(&trial(&late, "a"), "patient")], [NO, YES], "{}", ran.err);
    assert_replays(&folder, &late, &ran);
}

#[test]
fn an_application_that_nobody_reaches_stops_the_run() {
    let folder = written("apps_unreachable", "http: {url: \"http://127.0.0.1:9/chat\", reply: reply}", "");
    let ran = ran(&folder);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("cannot be reached"), "{}", ran.err);
    assert!(trials(&only_run(&folder)).iter().all(|trial| trial.close.is_none()));
}

#[test]
fn a_program_that_crashes_says_why() {
    let folder = written("apps_crashes", &format!("command: [{}, --crashes]", program()), "");
    let ran = ran(&folder);
    let run = only_run(&folder);
    assert_eq!(ending(&run, "a").as_deref(), Some("application_failure"), "{}", ran.err);
    let got = trial(&run, "a").calls.last().and_then(|call| call.got.clone()).expect("an answer");
    assert_eq!(got.fault.as_deref(), Some("exited"));
    assert!(got.text.contains("out of order"), "{}", got.text);
}

#[test]
fn a_judge_is_shown_what_was_read_and_may_quote_it() {
    let judge = Served::start(|_, _| {
        let verdict =
            r#"{"evidence": [{"turn": "1c1", "quote": "The plan is Pro."}], "reason": "It was read.", "score": false}"#;
        Some(completion(verdict))
    });
    let folder = folder("apps_context");
    let text = format!(
        "aigo: 1\nname: read\nmodels:\n  assistant: {{scripted: [{{say: You are on Team., context: [\"The plan is {{{{ plan }}}}.\", Else.]}}]}}\n  \
         judge: {{model: openai_compatible/j, base_url: \"{}\"}}\ndataset: {{samples: [{{id: a, plan: Pro}}]}}\n\
         solvers: [{{user: Which plan am I on?}}, generate]\nscorers: [{{name: grounded, judge: {{rubric: It says what it read., scale: boolean}}}}]\n",
        judge.url
    );
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    let ran = ran(&folder);
    let path = only_run(&folder);
    let asked = judge.seen()[0].json()["messages"].to_string();
    let order = [
        "[1u] user: Which",
        "[1c1] read by assistant: The plan is Pro.",
        "[1c2] read by assistant: Else.",
        "[1a] assistant: You",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| asked.find(part).unwrap_or_else(|| panic!("{part}: {asked}"))).collect();
    assert!(places.is_sorted(), "{asked}");
    assert_eq!(score(&trial(&path, "a"), "grounded"), NO, "{}", ran.err);
    assert_replays(&folder, &path, &ran);
}

#[test]
fn a_scorer_at_a_step_sees_what_was_there_when_the_step_was_through() {
    let folder = folder("apps_at");
    let text = "aigo: 1\nname: at\nmodels:\n  assistant:\n    scripted:\n      - {when: \"messages | length == 1\", calls: [{name: add}]}\n      - {when: turn == 1, say: First.}\n      - Second.\n\
        world: {state: {n: 0}}\ntools: [{name: add, set: {n: state.n + 1}}]\n\
        dataset: {samples: [{id: a, more: true}, {id: b, more: false}]}\nsolvers:\n  - user: Hi.\n  - generate: {as: greeted}\n  - if:\n      when: more\n      then: [{user: And?}, {generate: {as: went_on}}]\n\
        scorers:\n  - {name: early, at: greeted, check: {equals: First., turns: last}}\n  - {name: late, check: {equals: First., turns: last}}\n\
        \x20 - {name: turns, at: greeted, check: {turns: {max: 1}}}\n  - {name: state, at: greeted, check: {state: {n: 1}}}\n  - {name: missing, at: went_on, check: {contains: Second, turns: last}}\n";
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    let ran = ran(&folder);
    let path = only_run(&folder);
    let of = |key: &str| ["early", "late", "turns", "state", "missing"].map(|name| score(&trial(&path, key), name));
    assert_eq!(of("a"), [YES, NO, YES, YES, YES], "{}", ran.err);
    assert_eq!(of("b"), [YES, YES, YES, YES, "not_applicable none None"], "{}", ran.err);
    assert_replays(&folder, &path, &ran);
}
