//! `aigo check --keys`: one cheap call per endpoint, side by side, and what each refusal comes to.

use std::path::PathBuf;

use crate::harness::{Ran, folder, run_with};
use crate::served::{Seen, Served, completion, json};

const GOOD: &str = "good-key-0123456789";

/// A provider with keys: it tells of models, and answers.
fn provider(seen: &Seen) -> Vec<u8> {
    let has = |key: &str| seen.head.lines().any(|line| line.to_ascii_lowercase().ends_with(key));
    let path = seen.line();
    if path == "GET /open/models" {
        return json(200, r#"{"object":"list","data":[{"id":"small"},{"id":"large"}]}"#);
    }
    if path == "POST /open/chat/completions" {
        let model = seen.json()["model"].as_str().unwrap_or_default().to_owned();
        let error = r#"{"error":{"code":"model_not_found","message":"no such model"}}"#;
        return if model == "hidden" { completion("Hi") } else { json(404, error) };
    }
    if !has(GOOD) {
        return json(
            401,
            r#"{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: wrong-key-0123456789"}}"#,
        );
    }
    match path {
        "GET /models/gpt-5-mini" | "GET /v1/models/claude-sonnet-4-5" => json(200, "{}"),
        "POST /v1/messages" => json(404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#),
        "POST /poor/chat/completions" => json(429, r#"{"error":{"code":"insufficient_quota","message":"pay first"}}"#),
        "POST /busy/chat/completions" => json(429, r#"{"error":{"code":"rate_limit_exceeded","message":"slow"}}"#),
        "POST /chat/completions" => completion("Hi"),
        _ => json(404, "{}"),
    }
}

fn server() -> Served {
    Served::start(|seen, _| Some(provider(seen)))
}

fn task(name: &str, roles: &str) -> PathBuf {
    let folder = folder(name);
    let text = format!(
        "aigo: 1\nname: t\nmodels:\n{roles}dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi}}, generate]\n\
         scorers: [{{name: s, check: {{contains: x}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    folder
}

fn check(folder: &std::path::Path, more: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["check", "task.yaml", "--keys"].iter().chain(more).copied().collect();
    run_with(folder, &arguments, &[("GOOD", GOOD), ("WRONG", "wrong-key-0123456789")])
}

#[test]
fn endpoints_that_accept_key_and_model_are_told_with_what_was_seen() {
    let served = server();
    let url = &served.url;
    let folder = task(
        "keys_accepted",
        &format!(
            "  assistant: {{model: openai/gpt-5-mini, base_url: \"{url}\", api_key: {{env: GOOD}}}}\n  \
             again: {{model: openai/gpt-5-mini, base_url: \"{url}/\", api_key: {{env: GOOD}}, max_tokens: 9}}\n  \
             judge: {{model: anthropic/claude-sonnet-4-5, base_url: \"{url}\", api_key: {{env: GOOD}}}}\n  \
             keyed: {{model: openai_compatible/any, base_url: \"{url}\", api_key: {{env: GOOD}}, stop: [x]}}\n  \
             listed: {{model: openai_compatible/small, base_url: \"{url}/open\"}}\n  \
             hidden: {{model: openai_compatible/hidden, base_url: \"{url}/open\"}}\n  \
             busy: {{model: openai_compatible/any, base_url: \"{url}/busy\", api_key: {{env: GOOD}}}}\n  \
             bot: {{scripted: [Hi]}}\n"
        ),
    );
    let ran = check(&folder, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let of = |role: &str| {
        let line = ran.out.lines().find(|line| line.split_whitespace().nth(1) == Some(role));
        line.unwrap_or_else(|| panic!("no line of {role}: {}", ran.out)).to_owned()
    };
    for role in ["assistant", "again", "judge", "listed"] {
        assert!(of(role).ends_with("accepted: the endpoint has the model"), "{}", ran.out);
    }
    for role in ["keyed", "hidden"] {
        assert!(of(role).ends_with("accepted: the model has answered, for 5 tokens"), "{}", ran.out);
    }
    assert!(of("busy").contains("accepted: it answers that there are too many requests"), "{}", ran.out);
    assert!(of("keyed").contains(" GOOD ") && !ran.out.contains(GOOD), "{}", ran.out);
    assert!(!ran.out.contains(" bot "), "rules of the task are asked nothing: {}", ran.out);
    // One call each, two roles that are the same endpoint are one, and who is listed is not asked for an answer.
    let mut lines: Vec<String> = served.seen().iter().map(|seen| seen.line().to_owned()).collect();
    lines.sort();
    let expected = [
        "GET /models/gpt-5-mini",
        "GET /open/models",
        "GET /open/models",
        "GET /v1/models/claude-sonnet-4-5",
        "POST /busy/chat/completions",
        "POST /chat/completions",
        "POST /open/chat/completions",
    ];
    assert_eq!(lines, expected);
    let asked = served.seen();
    let keyed = asked.iter().find(|seen| seen.line() == "POST /chat/completions").unwrap().json();
    assert_eq!((keyed["max_tokens"].as_i64(), keyed.get("stop")), (Some(1), None), "{keyed}");
}

#[test]
fn what_is_refused_is_a_finding_at_its_role() {
    let served = server();
    let url = &served.url;
    let folder = task(
        "keys_refused",
        &format!(
            "  assistant: {{model: openai/gpt-5-mini, base_url: \"{url}\", api_key: {{env: WRONG}}}}\n  \
             judge: {{model: anthropic/claude-9, base_url: \"{url}\", api_key: {{env: GOOD}}}}\n  \
             poor: {{model: openai_compatible/any, base_url: \"{url}/poor\", api_key: {{env: GOOD}}}}\n  \
             gone: {{model: openai_compatible/gone, base_url: \"{url}/open\"}}\n  \
             unset: {{model: openai_compatible/any, base_url: \"{url}\", api_key: {{env: NOT_SET}}}}\n"
        ),
    );
    let ran = check(&folder, &["--format", "concise"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    for (place, code, said) in [
        ("task.yaml:4:3", "R0130", "Incorrect API key provided: {{secret:WRONG}}"),
        ("task.yaml:5:3", "R0131", "model: x"),
        ("task.yaml:6:3", "R0132", "pay first"),
        ("task.yaml:7:3", "R0131", "no such model"),
        ("task.yaml:8:3", "R0101", "NOT_SET, which is not set"),
    ] {
        let line = ran.out.lines().find(|line| line.contains(&format!("{place}: error[{code}]")));
        assert!(line.is_some_and(|line| line.contains(said)), "{place} {code} {said}\n{}", ran.out);
    }
    assert!(!ran.out.contains("wrong-key") && !ran.err.contains("wrong-key"), "{}{}", ran.out, ran.err);
    let json = check(&folder, &["--format", "json"]);
    assert_eq!((json.code, json.json()["errors"].as_i64()), (3, Some(5)), "{}", json.out);
}

#[test]
fn who_does_not_answer_is_told_and_a_broken_task_asks_nobody() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let role = format!("  assistant: {{model: openai_compatible/any, base_url: \"{closed}\"}}\n");
    let folder = task("keys_unreachable", &role);
    let ran = check(&folder, &[]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("does not answer") && ran.out.contains("no answer"), "{}{}", ran.out, ran.err);

    let served = server();
    let role =
        format!("  assistant: {{model: openai_compatible/small, base_url: \"{}/open\", top_k: 1}}\n", served.url);
    let ran = check(&task("keys_broken", &role), &[]);
    assert_eq!((ran.code, served.seen().len()), (3, 0), "{}{}", ran.out, ran.err);
}
