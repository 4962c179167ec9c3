//! Attacks at the door: rows that want to say where requests go, servers that send elsewhere, names that lead to where machines
//! keep secrets, files and programs from outside.

use std::path::PathBuf;

use crate::harness::{ending, folder, only_run, run, run_with, trial};
use crate::served::{Served, json, reply};

const SECRET: &str = "tok-4711-0815-secret-of-one-host";

fn written(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    folder
}

/// A task whose request goes to `url`, with a secret in a header, over samples with a field `x`.
fn task(url: &str, more: &str, values: &[&str]) -> String {
    let samples: Vec<String> =
        values.iter().enumerate().map(|(at, x)| format!("{{id: s{at}, x: {}}}", serde_json::Value::from(*x))).collect();
    format!(
        "aigo: 1\nname: door\nmodels:\n  assistant:\n    http:\n      url: \"{url}\"\n      headers: {{Authorization: {{env: APP_TOKEN, prefix: \"Bearer \"}}}}\n      \
         body: {{text: \"{{{{ message }}}}\"}}\n      reply: reply\n{more}dataset: {{samples: [{}]}}\nsolvers: [{{user: \"Hi {{{{ x }}}}.\"}}, generate]\n\
         scorers: [{{name: polite, check: {{not_contains: nonsense}}}}]\n",
        samples.join(", ")
    )
}

fn hello() -> Served {
    Served::start(|_, _| Some(json(200, r#"{"reply":"Hello."}"#)))
}

#[test]
fn a_row_does_not_say_where_a_secret_goes() {
    let (own, evil) = (hello(), hello());
    let evil_host = evil.url.trim_start_matches("http://").to_owned();
    // The host is the task's; values stand behind it.
    let values = ["fine", "../admin", &format!("@{evil_host}/"), &format!("x@{evil_host}"), "?a=b", "#"];
    let folder = written("door_path", &task(&format!("{}/chat/{{{{ x }}}}", own.url), "", &values));
    run_with(&folder, &["run", "task.yaml"], &[("APP_TOKEN", SECRET)]);
    assert_eq!((own.seen().len(), evil.seen().len()), (values.len(), 0));
    assert!(own.seen().iter().all(|seen| seen.head.contains(SECRET)));

    // Directly behind the host a value could go on with it: that is told before a run.
    let folder = written("door_host", &task(&format!("{}{{{{ x }}}}", own.url), "", &["/fine"]));
    let checked = run(&folder, &["check", "task.yaml", "--format", "concise"]);
    assert!(checked.code == 3 && checked.out.contains("E0570"), "{}{}", checked.out, checked.err);

    // The row says the host, and those that are possible are named.
    let own_host = own.url.trim_start_matches("http://").to_owned();
    let values = [
        own.url.clone(),
        evil.url.clone(),
        format!("http://{own_host}@{evil_host}"),
        format!("http://{evil_host}\\@{own_host}"),
        "http://169.254.169.254".to_owned(),
        "file:///etc/passwd#".to_owned(),
    ];
    let before = own.seen().len();
    let more = format!("      allow_hosts: [\"{own_host}\"]\n");
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let folder = written("door_listed", &task("{{ x }}/chat", &more, &values));
    let ran = run_with(&folder, &["run", "task.yaml", "--format", "json"], &[("APP_TOKEN", SECRET)]);
    assert_eq!((own.seen().len() - before, evil.seen().len()), (1, 0), "{}", ran.err);
    let path = only_run(&folder);
    assert_eq!(ending(&path, "s0").as_deref(), Some("completed"));
    for (at, value) in values.iter().enumerate().skip(1) {
        assert_eq!(ending(&path, &format!("s{at}")).as_deref(), Some("task_error"), "{value}");
    }
}

#[test]
fn no_redirect_is_followed_and_no_secret_goes_with_one() {
    let evil = hello();
    let target = evil.url.clone();
    for status in [301, 302, 303, 307, 308] {
        let to = target.clone();
        let own = Served::start(move |_, _| Some(reply(status, &format!("location: {to}/chat\r\n"), "")));
        let folder = written("door_redirect", &task(&format!("{}/chat", own.url), "", &["x"]));
        run_with(&folder, &["run", "task.yaml"], &[("APP_TOKEN", SECRET)]);
        assert_eq!((own.seen().len(), evil.seen().len()), (1, 0), "{status}");
        let got = trial(&only_run(&folder), "s0").calls[0].got.clone().expect("an answer");
        assert_eq!(got.fault.as_deref(), Some(&*format!("http_{status}")));
    }
}

#[test]
fn what_an_application_echoes_of_a_secret_is_in_no_file() {
    let own = Served::start(|seen, _| {
        let echoed =
            seen.head.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization")).unwrap_or_default();
        Some(json(200, &serde_json::json!({"reply": format!("I saw {echoed}")}).to_string()))
    });
    let folder = written("door_echo", &task(&format!("{}/chat", own.url), "", &["x"]));
    run_with(&folder, &["run", "task.yaml"], &[("APP_TOKEN", SECRET)]);
    let log = std::fs::read_to_string(only_run(&folder).join("log.jsonl")).unwrap();
    assert!(log.contains("Bearer {{secret:APP_TOKEN}}") && !log.contains(SECRET), "{log}");
}

#[test]
fn link_local_addresses_are_not_asked_even_where_the_task_writes_them() {
    for host in ["169.254.169.254", "0xa9fea9fe", "[fe80::1]", "[::ffff:169.254.169.254]"] {
        let folder = written("door_local", &task(&format!("http://{host}/latest"), "", &["x"]));
        let ran = run_with(&folder, &["run", "task.yaml"], &[("APP_TOKEN", SECRET)]);
        assert_eq!(ending(&only_run(&folder), "s0").as_deref(), Some("task_error"), "{host}: {}", ran.err);
    }
    // A model's address is looked at as an application's is.
    let text = "aigo: 1\nname: m\nmodels: {assistant: {model: openai_compatible/m, base_url: \"http://169.254.169.254/v1\"}}\n\
                dataset: {samples: [{id: a}]}\nsolvers: [{user: Hi.}, generate]\nscorers: [{name: p, check: {contains: x}}]\n";
    let folder = written("door_model", text);
    let ran = run(&folder, &["run", "task.yaml"]);
    assert!(ran.err.contains("link-local"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn files_of_a_task_stay_under_its_folder() {
    let folder = folder("door_files");
    std::fs::create_dir(folder.join("task")).unwrap();
    std::fs::write(folder.join("outside.jsonl"), "{\"x\": \"secret\"}\n").unwrap();
    std::os::unix::fs::symlink(folder.join("outside.jsonl"), folder.join("task/link.jsonl")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("task/up")).unwrap();
    for file in ["../outside.jsonl", "/etc/passwd", "link.jsonl", "up/outside.jsonl", "up/../outside.jsonl"] {
        let text = format!(
            "aigo: 1\nname: f\nmodels: {{assistant: {{scripted: [Hi.]}}}}\ndataset: {{file: {{path: {file}, format: jsonl}}}}\n\
             solvers: [{{user: Hi.}}, generate]\nscorers: [{{name: p, check: {{contains: x}}}}]\n"
        );
        std::fs::write(folder.join("task/task.yaml"), text).unwrap();
        let ran = run(&folder, &["run", "task/task.yaml"]);
        assert!(ran.code == 3 && !ran.err.contains("secret"), "{file}: {}", ran.err);
    }
}

/// What a program has started ends with its conversation; it has of the environment what it is given; there is no shell.
#[cfg(target_os = "linux")]
#[test]
fn programs_have_no_shell_no_environment_and_leave_nothing_running() {
    let folder = folder("door_programs");
    let script = "#!/bin/sh\nsleep 600 &\necho $! > pid\nread line\nprintf '{\"text\":\"%s %s\"}\\n' \"$1\" \"${HOME:-none}$GIVEN\"\nread line\n";
    std::fs::write(folder.join("bot.sh"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("bot.sh"), mode).unwrap();
    let text = "aigo: 1\nname: p\nmodels:\n  assistant:\n    command: [./bot.sh, \"$(touch stolen); `id` | x\"]\n    env: {GIVEN: {env: APP_TOKEN}}\n\
                dataset: {samples: [{id: a}]}\nsolvers: [{user: Hi.}, generate]\nscorers: [{name: p, check: {contains: x}}]\n";
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    let environment = [("APP_TOKEN", SECRET), ("HOME", "/root-of-nobody"), ("PATH", "/usr/bin:/bin")];
    let ran = run_with(&folder, &["run", "task.yaml", "--allow-commands"], &environment);
    let got = trial(&only_run(&folder), "a").calls[0].got.clone().expect("an answer");
    assert_eq!(got.text, "$(touch stolen); `id` | x none{{secret:APP_TOKEN}}", "{}", ran.err);
    assert!(!folder.join("stolen").exists());
    let pid = std::fs::read_to_string(folder.join("pid")).expect("it has started something");
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // One that was killed may wait to be looked after by whoever is above it.
    let is_gone = status.is_empty() || status.contains(" Z ") || status.contains(" X ");
    assert!(is_gone, "what the program has started goes on: {status}");
}
