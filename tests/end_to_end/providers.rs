//! Providers over the network: what is streamed, cut off, redirected, echoed, silent.

use std::path::PathBuf;

use crate::golden::golden;
use crate::harness::{Ran, assert_replays, folder, only_run, run_with, trial};
use crate::served::{Served, completion, events, json, reply};

const KEY: (&str, &str) = ("A_KEY", "sk-test/0123456789+very~secret");

/// A task of one sample with one call, by a role that is written as `role`.
fn task(name: &str, role: &str) -> PathBuf {
    let folder = folder(name);
    let text = format!(
        "aigo: 1\nname: t\nmodels:\n  assistant: {{{role}}}\ndataset: {{samples: [{{id: a}}]}}\n\
         solvers: [{{system: Be brief.}}, {{user: Hi}}, generate]\nscorers: [{{name: s, check: {{contains: e}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), text).unwrap();
    folder
}

fn run(folder: &std::path::Path) -> Ran {
    run_with(folder, &["run", "task.yaml", "--format", "json"], &[KEY])
}

fn wire(name: &str) -> String {
    std::fs::read_to_string(golden("wire").join(name)).unwrap()
}

#[test]
fn a_role_of_anthropic_is_asked_and_streamed() {
    let served = Served::start(|_, _| Some(events(&wire("anthropic/thinking.sse"))));
    let role = "model: anthropic/claude-sonnet-4-5, base_url: URL, api_key: {env: A_KEY}, max_tokens: 50";
    let folder = task("providers_anthropic", &role.replace("URL", &served.url));
    let ran = run(&folder);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [seen] = &served.seen()[..] else { panic!("one call: {:?}", served.seen()) };
    assert_eq!(seen.line(), "POST /v1/messages");
    for header in ["x-api-key: sk-test/0123456789+very~secret", "anthropic-version: 2023-06-01"] {
        assert!(seen.head.contains(header), "{}", seen.head);
    }
    assert!(!seen.head.contains("authorization"), "a key goes by one way: {}", seen.head);
    let body = seen.json();
    assert_eq!((body["system"].as_str(), body["stream"].as_bool()), (Some("Be brief."), Some(true)));
    let path = only_run(&folder);
    let got = trial(&path, "a").calls[0].got.clone().unwrap();
    assert_eq!((got.text.as_str(), got.stop.as_str()), ("Yes.", "stop"));
    assert_eq!(got.usage.reasoning, Some(33));
    assert_eq!(got.model.as_deref(), Some("claude-sonnet-4-5-20250929"));
    assert_replays(&folder, &path, &ran);
}

#[test]
fn whole_and_streamed_answers_are_the_same_run() {
    let served = Served::start(|seen, _| {
        let body = r#"{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}"#;
        let part = r#"data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#;
        let streams = seen.json()["stream"].as_bool() == Some(true);
        Some(if streams { events(&format!("{part}\n\ndata: [DONE]\n\n")) } else { json(200, body) })
    });
    let outcomes = |name: &str, stream: &str| {
        let role = format!("model: openai_compatible/m, base_url: {}, stream: {stream}", served.url);
        let ran = run(&task(name, &role));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.json()["outcomes"].to_string()
    };
    assert_eq!(outcomes("providers_streamed", "true"), outcomes("providers_whole", "false"));
    let seen = served.seen();
    let asked: Vec<bool> = seen.iter().map(|seen| seen.json()["stream"].as_bool() == Some(true)).collect();
    assert_eq!(asked, [true, false]);
    // Nothing but the way of it is different, so answers of one can be used for the other.
    let contents = ["providers_streamed", "providers_whole"].map(|name| {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        trial(&only_run(&folder), "a").calls[0].ask.content.clone()
    });
    assert_eq!(contents[0], contents[1]);
}

#[test]
fn a_stream_that_breaks_is_asked_for_again() {
    let served = Served::start(|_, number| {
        Some(match number {
            1 => events(&wire("chat/cut.sse")),
            2 => events(&wire("chat/error_inside.sse")),
            // A proxy that knows no streams answers whole.
            _ => completion("Here."),
        })
    });
    let role = format!("model: openai_compatible/m, base_url: {}, stream: true", served.url);
    let folder = task("providers_cut", &role);
    let ran = run(&folder);
    assert_eq!((ran.code, served.seen().len()), (0, 3), "{}", ran.err);
    assert_eq!(trial(&only_run(&folder), "a").calls.last().unwrap().got.as_ref().unwrap().text, "Here.");
}

#[test]
fn a_server_that_falls_silent_is_given_up_in_time() {
    let served = Served::start(|_, number| match number {
        1 => None,
        _ => Some(completion("Here.")),
    });
    let role = format!("model: openai_compatible/m, base_url: {}, stream: true, timeout: 300ms", served.url);
    let ran = run(&task("providers_silent", &role));
    assert_eq!((ran.code, served.seen().len()), (0, 2), "{}", ran.err);
}

#[test]
fn no_redirect_is_followed_and_no_key_goes_elsewhere() {
    let other = Served::start(|_, _| Some(completion("Here.")));
    let target = other.url.clone();
    let served =
        Served::start(move |_, _| Some(reply(307, &format!("location: {target}/v1/chat/completions\r\n"), "")));
    let role = format!("model: openai_compatible/m, base_url: {}, api_key: {{env: A_KEY}}", served.url);
    let ran = run(&task("providers_redirect", &role));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("redirects are not followed"), "{}", ran.err);
    assert_eq!((other.seen().len(), served.seen().len() <= 3), (0, true));

    // The usual key of a provider is for the provider alone.
    let role = format!("model: openai/gpt-4o-2024-11-20, base_url: {}", other.url);
    let ran = run_with(&task("providers_origin", &role), &["run", "task.yaml"], &[("OPENAI_API_KEY", KEY.1)]);
    assert_eq!((ran.code, other.seen().len()), (0, 1), "{}", ran.err);
    assert!(!other.seen()[0].head.contains("authorization"), "{}", other.seen()[0].head);
}

#[test]
fn what_a_server_says_of_a_key_stays_in_no_log() {
    // The key as it is, in base64 behind `user:`, and within an address.
    let echoed = [
        "sk-test/0123456789+very~secret",
        "dXNlcjpzay10ZXN0LzAxMjM0NTY3ODkrdmVyeX5zZWNyZXQ=",
        "sk-test%2F0123456789%2Bvery~secret",
    ];
    let text = echoed.join(" and ");
    let served = Served::start(move |_, _| Some(completion(&format!("I see {text}."))));
    let role = format!("model: openai_compatible/m, base_url: {}, api_key: {{env: A_KEY}}", served.url);
    let folder = task("providers_echo", &role);
    let ran = run(&folder);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let log = std::fs::read_to_string(only_run(&folder).join("log.jsonl")).unwrap();
    assert_eq!(log.matches("{{secret:A_KEY}}").count(), 3, "{log}");
    for secret in echoed {
        assert!(!log.contains(secret), "{secret}\n{log}");
    }

    let refused = Served::start(|seen, _| Some(json(401, &format!("{{\"error\":{{\"message\":{:?}}}}}", seen.head))));
    let role = format!("model: openai_compatible/m, base_url: {}, api_key: {{env: A_KEY}}", refused.url);
    let ran = run(&task("providers_refused", &role));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("{{secret:A_KEY}}") && !ran.err.contains("very~secret"), "{}", ran.err);
}

#[test]
fn replies_that_are_no_replies_are_faults_that_say_what_was_seen() {
    for (name, bytes, said) in [
        ("gzip", reply(200, "content-encoding: gzip\r\n", "x"), "compressed (gzip)"),
        ("html", reply(200, "content-type: text/html\r\n", "<html>Log in"), "<html>Log in"),
    ] {
        // Without money to lose nothing is tried for long: the run has one call.
        let served = Served::start(move |_, number| Some(if number == 1 { bytes.clone() } else { json(401, "{}") }));
        let role = format!("model: openai_compatible/m, base_url: {}", served.url);
        let ran = run(&task(&format!("providers_{name}"), &role));
        assert_eq!(ran.code, 4, "{name}: {}", ran.err);
        assert_eq!(served.seen().len(), 2, "{name}: {said} is tried again");
    }
}
