//! What is around an application: calls before and after each sample, tools that others answer, a probe.

use std::path::PathBuf;
use std::time::Duration;

use aigo_tests::bot::Bot;

use crate::harness::{assert_replays, ending, folder, only_run, run, score, start, trial};

const LONGEST: Duration = Duration::from_mins(1);

fn written(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    folder
}

fn lines(bot: &Bot, line: &str) -> usize {
    bot.asked().iter().filter(|asked| asked.line.starts_with(line)).count()
}

#[test]
fn setup_and_teardown_are_made_for_each_sample_and_epoch_and_recorded() {
    let bot = Bot::start(0).unwrap();
    let url = bot.url();
    let folder = written(
        "around_setup",
        &format!(
            r#"aigo: 1
name: around
epochs: 2
models:
  assistant:
    http:
      url: "{url}/chat"
      headers: {{X-User: "{{{{ setup.user.id }}}}"}}
      body: {{messages: {{from_json: "{{{{ chat | json }}}}"}}}}
      reply: reply
setup:
  - http: {{url: "{url}/users", body: {{name: "{{{{ sample.id }}}}", seats: {{from_json: "{{{{ seats }}}}"}}}}}}
    as: user
  - command: [sh, -c, "cat > /dev/null; echo '{{\"port\": 7}}'"]
    as: seeded
teardown:
  - http: {{url: "{url}/users/{{{{ setup.user.id }}}}", method: DELETE}}
dataset: {{samples: [{{id: a, seats: 3}}, {{id: b, seats: 4}}]}}
solvers: [{{user: "We have {{{{ seats }}}} seats."}}, generate]
scorers: [{{name: noted, check: {{contains: Noted}}}}]
"#
        ),
    );
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--allow-commands"]);
    let path = only_run(&folder);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!([lines(&bot, "POST /users"), lines(&bot, "POST /chat"), lines(&bot, "DELETE /users/")], [4, 4, 4]);
    // A number went in as one, and what `setup` brought is read.
    let made = bot.asked().into_iter().find(|asked| asked.line == "POST /users" && asked.body["name"] == "a");
    assert_eq!(made.expect("a user was made").body["seats"], 3);
    assert!(
        bot.asked().iter().filter(|asked| asked.line == "POST /chat").all(|asked| asked.head.contains("x-user: u"))
    );
    let roles: Vec<String> = trial(&path, "a").calls.iter().map(|call| call.site.role.to_string()).collect();
    assert_eq!(roles, ["setup/user", "setup/seeded", "assistant", "teardown/1"]);
    assert_replays(&folder, &path, &ran);
}

#[test]
fn what_a_conversation_leaves_behind_that_begins_again_is_taken_down() {
    let bot = Bot::start(0).unwrap();
    let url = bot.url();
    let folder = written(
        "around_left",
        &format!(
            r#"aigo: 1
name: left
models:
  assistant:
    http: {{url: "{url}/sessions/{{{{ session }}}}", body: {{text: "{{{{ message }}}}"}}, reply: reply, session: sticky}}
setup:
  - http: {{url: "{url}/users", body: {{name: "{{{{ sample.id }}}}"}}}}
    as: user
teardown:
  - http: {{url: "{url}/users/{{{{ setup.user.id }}}}", method: DELETE, headers: {{X-Turn: "{{{{ turn }}}}"}}}}
dataset: {{samples: [{{id: a, seats: 3}}, {{id: b, seats: 4}}]}}
solvers: [{{script: ["We have {{{{ seats }}}} seats.", How many?]}}]
scorers: [{{name: noted, check: {{contains: Noted}}}}]
"#
        ),
    );
    // What it said goes through the log to the end of the first sample and into the second conversation.
    bot.hold_after(6);
    let killed = start(&folder, &["run", "task.yaml", "-j", "1"]);
    assert!(bot.wait_until_held(LONGEST));
    killed.kill();
    bot.lift();
    let resumed = run(&folder, &["resume", "last", "-j", "1"]);
    assert!(resumed.err.contains("1 conversation begins again"), "{}", resumed.err);
    let asked = bot.asked();
    let users: Vec<&str> = asked.iter().map(|asked| &*asked.line).filter(|line| line.contains("/users")).collect();
    assert_eq!(users, ["POST /users", "DELETE /users/u1"].repeat(3), "no two users are there at once");
    // It reads what it would have read where the conversation went no further.
    let read =
        asked.iter().filter(|asked| asked.line.starts_with("DELETE")).all(|asked| asked.head.contains("x-turn: 2"));
    assert!(read, "{asked:?}");
    let path = only_run(&folder);
    let roles = |number| {
        let log = aigo_log::Log::open(&path).expect("a log");
        let calls = log.trial(number).expect("a trial").calls;
        calls.into_iter().map(|call| call.site.role.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(roles(2), ["setup/user", "assistant", "assistant", "teardown/1"]);
    assert_eq!(roles(3), ["setup/user", "assistant", "assistant", "teardown/1"]);
    // Nothing is taken down twice, and what was left says nothing of the run.
    let again = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!((again.code, lines(&bot, "DELETE /users/")), (resumed.code, 3), "{}", again.err);
    assert_replays(&folder, &path, &again);
}

#[test]
fn a_setup_that_fails_voids_the_sample_and_teardown_is_made_all_the_same() {
    let bot = Bot::start(0).unwrap();
    let url = bot.url();
    let folder = written(
        "around_fails",
        &format!(
            r#"aigo: 1
name: around
models: {{assistant: {{scripted: [Certainly.]}}}}
setup:
  - http: {{url: "{url}/users"}}
    as: user
  - http: {{url: "{url}/nothing"}}
teardown:
  - http: {{url: "{url}/users/{{{{ setup.user.id }}}}", method: DELETE}}
dataset: {{samples: [{{id: a}}]}}
solvers: [{{user: Hi.}}, generate]
scorers: [{{name: sure, check: {{contains: Certainly}}}}]
"#
        ),
    );
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    assert_eq!(ending(&path, "a").as_deref(), Some("tool_failure"), "{}", ran.err);
    assert_eq!(score(&trial(&path, "a"), "sure"), "void none None");
    assert_eq!(lines(&bot, "DELETE /users/u1"), 1);
    assert_replays(&folder, &path, &ran);
}

/// An assistant that reads an order, changes it, and reads it again; a program counts.
fn shop(url: &str, idempotent: bool) -> String {
    format!(
        r#"aigo: 1
name: shop
models:
  assistant:
    scripted:
      - {{when: "messages | length == 1", calls: [{{name: set_seats, args: {{order: "{{{{ wanted }}}}", n: "5"}}}}]}}
      - {{when: "messages | length == 3", calls: [{{name: find, args: {{order: "{{{{ wanted }}}}"}}}}]}}
      - {{when: "messages | length == 5", calls: [{{name: count, args: {{text: a b c}}}}]}}
      - say: "{{{{ messages[4].text }}}} {{{{ messages[-1].text }}}}"
tools:
  - name: set_seats
    params: {{order: string, n: string}}
    http: {{url: "{url}/orders/{{{{ order }}}}", method: PUT, body: {{seats: {{from_json: "{{{{ n }}}}"}}}}}}
    idempotent: {idempotent}
  - name: find
    description: Looks an order up.
    params: {{order: string}}
    http: {{url: "{url}/orders/{{{{ order }}}}", method: GET}}
    reply: order.seats
    idempotent: true
  - name: count
    params: {{text: string}}
    command: [sh, -c, "read line; case $line in *'a b c'*) echo 3;; *) exit 1;; esac"]
dataset: {{samples: [{{id: one, wanted: A1}}]}}
solvers: [{{user: Five seats on it.}}, generate]
scorers: [{{name: told, check: {{equals: 5 3}}}}, {{name: acts, check: {{tool_calls: [{{name: set_seats}}, {{name: find}}, {{name: count}}]}}}}]
"#
    )
}

#[test]
fn tools_are_answered_over_http_and_by_programs() {
    let bot = Bot::start(0).unwrap();
    let folder = written("around_tools", &shop(&bot.url(), false));
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--allow-commands"]);
    let path = only_run(&folder);
    let one = trial(&path, "one");
    assert_eq!([score(&one, "told"), score(&one, "acts")], ["scored true Some(true)"; 2], "{}", ran.err);
    assert_replays(&folder, &path, &ran);
}

#[test]
fn a_tool_that_fails_voids_the_sample_and_what_it_refuses_is_told() {
    let bot = Bot::start(0).unwrap();
    let text = shop(&bot.url(), false).replace("echo 3", "echo no >&2; exit 7");
    let folder = written("around_tool_fails", &text);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json", "--allow-commands"]);
    let path = only_run(&folder);
    assert_eq!(ending(&path, "one").as_deref(), Some("tool_failure"), "{}", ran.err);
    let got = trial(&path, "one").calls.last().and_then(|call| call.got.clone()).expect("an answer");
    assert!(got.fault.as_deref() == Some("exited") && got.text.contains("no"), "{got:?}");
    // An order that is not there is the assistant's affair.
    let text = shop(&bot.url(), false)
        .replace("name: set_seats, args: {order: \"{{ wanted }}\"", "name: find, args: {order: \"none\"");
    let text = text.replace("order: \"none\", n: \"5\"", "order: \"none\"");
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    run(&folder, &["run", "task.yaml", "--runs", "refused", "--allow-commands"]);
    let refused = std::fs::read_dir(folder.join("refused")).unwrap().next().unwrap().unwrap().path();
    let first = trial(&refused, "one").calls[1].got.clone().expect("an answer");
    assert!(first.fault.is_none() && first.text.contains(r#"{"error":"HTTP 404"#), "{first:?}");
}

#[test]
fn a_tool_that_may_have_acted_is_only_called_again_where_it_says_so() {
    for idempotent in [false, true] {
        let bot = Bot::start(0).unwrap();
        let folder = written(&format!("around_cut_{idempotent}"), &shop(&bot.url(), idempotent));
        bot.hold_after(0);
        let killed = start(&folder, &["run", "task.yaml", "--allow-commands"]);
        assert!(bot.wait_until_held(LONGEST));
        killed.kill();
        bot.lift();
        let resumed = run(&folder, &["resume", "last", "--format", "json", "--allow-commands"]);
        let path = only_run(&folder);
        let wanted = if idempotent { "completed" } else { "tool_failure" };
        assert_eq!(ending(&path, "one").as_deref(), Some(wanted), "{}", resumed.err);
        assert_eq!(lines(&bot, "PUT "), if idempotent { 2 } else { 1 });
        assert_replays(&folder, &path, &resumed);
    }
}

#[test]
fn a_probe_finds_an_application_that_forgets() {
    let bot = Bot::start(0).unwrap();
    let url = bot.url();
    let task = |role: &str| {
        format!(
            "aigo: 1\nname: own\nmodels:\n  assistant:\n    {role}\ndataset: {{samples: [{{id: a}}]}}\n\
             solvers: [{{user: Hi.}}, generate]\nscorers: [{{name: noted, check: {{contains: Noted}}}}]\n"
        )
    };
    let whole = r#"body: {messages: {from_json: "{{ chat | json }}"}}, reply: reply"#;
    let last = r#"body: {messages: [{role: user, content: "{{ message }}"}]}, reply: reply"#;
    let session = r#"body: {text: "{{ message }}"}, reply: reply, session: sticky"#;
    let cases = [
        (format!("http: {{url: \"{url}/chat\", {whole}}}"), 0, "remembers"),
        (format!("http: {{url: \"{url}/sessions/{{{{ session }}}}\", {session}}}"), 0, "remembers"),
        (format!("http: {{url: \"{url}/forgets\", {whole}}}"), 1, "it reads more than the last message"),
        (format!("http: {{url: \"{url}/chat\", {last}}}"), 1, "put `chat` or `messages` into it"),
        (format!("http: {{url: \"{url}/garbled\", {whole}}}"), 3, "the reply is no JSON: <html>Welcome!"),
        ("scripted: [Certainly.]".to_owned(), 3, "R0142"),
    ];
    for (role, code, said) in cases {
        let folder = written("around_probe", &task(&role));
        let ran = run(&folder, &["run", "task.yaml", "--probe"]);
        let all = format!("{}{}", ran.out, ran.err);
        // Wrapped and drawn for people: what is said, without the drawing.
        let all = all.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert_eq!(ran.code, code, "{role}: {all}");
        assert!(all.contains(said), "{role}: {all}");
        assert_eq!(all.contains("R0141"), code == 1, "{all}");
        assert!(!folder.join("runs").exists(), "a probe is no run");
    }
}
