//! The dialects as they go over the wire: what is sent for a request, and what replies of servers mean, whole and in parts.
//!
//! `golden/wire` has a folder of replies for each dialect, written after its public documentation: `NAME.json` and `NAME.sse`
//! are replies of status 200, `NAME.STATUS.txt` are errors. What they mean is in `DIALECT.replies.txt` beside them.

mod local;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use aigo_compiler::{NoSources, compile};
use aigo_ir::program::{ChatModel, Player, Program};
use aigo_ir::schema::{parameters_schema, verdict_schema};
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_machine::{ChatMessage, ChatRole, Request, ToolCall, ToolOffer};
use aigo_vm::wire::Wire;
use aigo_vm::{Fault, Reply};

use crate::golden::{compare, golden};
use crate::harness::root;

pub(crate) fn program(text: &str) -> Program {
    let compiled = compile("wire.yaml", text.as_bytes(), &NoSources);
    let found: Vec<String> = compiled.diagnostics.iter().map(|found| found.message.clone()).collect();
    compiled.program.unwrap_or_else(|| panic!("{found:#?}")).0
}

fn model(program: &Program, role: &str) -> ChatModel {
    match &program.role(role).unwrap_or_else(|| panic!("no role `{role}`")).player {
        Player::Chat(model) => model.clone(),
        _ => panic!("`{role}` is no chat model"),
    }
}

fn fixture() -> Program {
    program(&std::fs::read_to_string(root().join("tests/fixtures/wire.yaml")).unwrap())
}

pub(crate) fn request(messages: Vec<ChatMessage>) -> Request {
    Request { role: "r".into(), messages, schema: None, tools: Arc::default(), tool: None, scope: None, input: None }
}

fn said(role: ChatRole, text: &str) -> ChatMessage {
    ChatMessage::new(role, text)
}

fn plain() -> Request {
    request(vec![
        said(ChatRole::System, "Be brief."),
        said(ChatRole::User, "Grüße \"you\"\n\u{1b}[2J"),
        said(ChatRole::Assistant, "Hello."),
        said(ChatRole::System, "Now be kind."),
        said(ChatRole::User, "How many seats?"),
        said(ChatRole::User, "And prices?"),
    ])
}

fn judged() -> Request {
    let labels = ["1a".to_owned()];
    let schema = verdict_schema(&Scale::Range(1, 5), EvidenceRule::Commission, false, &labels);
    let items = Value::map([("n", Value::map([("type", Value::str("number")), ("maximum", Value::Int(1))]))]);
    let Value::Map(map) = schema else { panic!("a schema is a map") };
    let mut map = (*map).clone();
    // Names of properties may be those of keywords.
    map.set("$defs", Value::map([("maxLength", items)]));
    Request { schema: Some(("verdict", Value::Map(map.into()))), ..request(vec![said(ChatRole::User, "Judge it.")]) }
}

/// A conversation in which tools were called, side by side, with the same id, and with arguments that are no JSON.
fn tools() -> Request {
    let call = |id: &str, tool: &str, arguments: &str| ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments: arguments.into(),
    };
    let result = |id: &str, text: &str| ChatMessage { answers: Some(id.into()), ..said(ChatRole::Tool, text) };
    let calls = vec![call("a", "seats", "{\"n\": 2}"), call("b", "seats", "{\"n\": ")];
    let again = vec![call("a", "ping", "")];
    let program = program(
        "aigo: 1\nname: t\nmodels: {assistant: {scripted: [x]}}\nworld: {state: {n: 0}}\ntools:\n  - name: seats\n    \
         description: Adds seats.\n    params: {n: {type: integer, default: 1}, who: string}\n    set: {n: n}\n  - {name: ping}\n\
         dataset: {samples: [{id: a}]}\nsolvers: [{user: Hi}, generate]\nscorers: [{name: s, check: {contains: x}}]\n",
    );
    let offers = program.tools.iter().map(|tool| ToolOffer {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: parameters_schema(&tool.params),
    });
    Request {
        tools: offers.collect(),
        ..request(vec![
            said(ChatRole::Assistant, "Welcome."),
            said(ChatRole::User, "Two seats, please."),
            ChatMessage { calls, ..said(ChatRole::Assistant, "One moment.") },
            result("a", "done"),
            result("b", "no such order"),
            ChatMessage { calls: again, ..said(ChatRole::Assistant, "") },
            result("a", ""),
            said(ChatRole::User, " "),
        ])
    }
}

#[test]
fn requests_are_those_of_each_dialect() {
    let program = fixture();
    let mut now = String::new();
    for role in &program.roles {
        let wire = Wire::new(&model(&program, &role.name));
        for (name, request) in [("plain", plain()), ("judged", judged()), ("tools", tools())] {
            let headers = wire.headers().iter().map(|(name, value)| format!(" {name}: {value}"));
            let headers: String = headers.chain(wire.key_header().map(|name| format!(" {name}: KEY"))).collect();
            let body = wire.body(&request);
            serde_json::from_str::<serde_json::Value>(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
            assert!(!body.contains('\u{1b}'), "{body}");
            let _ = write!(now, "# {} {name}\n{}{headers}\n{}\n\n", role.name, wire.url(), folded(&body));
        }
    }
    compare("wire/requests.txt", now.trim_end());
}

/// JSON with each message, tool and parameter on a line of its own.
fn folded(body: &str) -> String {
    let (mut out, mut depth, mut inside, mut escaped) = (String::new(), 0, false, false);
    for c in body.chars() {
        out.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => inside = !inside,
            '{' | '[' if !inside => depth += 1,
            '}' | ']' if !inside => depth -= 1,
            ',' if !inside && depth <= 2 => out.push_str("\n  "),
            _ => {}
        }
    }
    out
}

/// What a reply means, as a person can review it.
fn told(outcome: &Result<Reply, Fault>) -> String {
    let mut out = String::new();
    match outcome {
        Err(fault) => {
            let billed = if fault.billed { ", perhaps billed" } else { "" };
            let _ = writeln!(out, "  {:?}{billed}: {}", fault.class, fault.message);
        }
        Ok(reply) => {
            let answer = &reply.answer;
            let _ = writeln!(out, "  text {:?}, stop {}", answer.text, answer.stop);
            for call in &answer.calls {
                let _ = writeln!(out, "  call {} {} {}", call.id, call.tool, call.arguments);
            }
            if let Some(fault) = &answer.fault {
                let _ = writeln!(out, "  fault {fault}");
            }
            let usage = &answer.usage;
            let counts =
                [("in", usage.input), ("out", usage.output), ("cached", usage.cached), ("think", usage.reasoning)];
            let counts = counts.iter().filter_map(|(name, count)| count.map(|count| format!(" {name} {count}")));
            let _ = writeln!(out, "  usage{}", counts.collect::<String>());
            let model = reply.model.as_deref().unwrap_or("none");
            let _ = writeln!(out, "  model {model}{}", if reply.lossy { ", lossy" } else { "" });
        }
    }
    out
}

/// Reads a stream that comes in parts of so many bytes.
pub(crate) fn streamed(wire: &Wire, request: &Request, bytes: &[u8], size: usize) -> Result<Reply, Fault> {
    let mut stream = wire.stream(request);
    for part in bytes.chunks(size) {
        stream.push(part)?;
    }
    stream.finish()
}

fn replies(dialect: &str, role: &str) {
    let program = fixture();
    let folder = golden("wire").join(dialect);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{} replies", paths.len());
    let mut now = String::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        // A reply to a judge that had to call a tool is read as one.
        let is_forced = name.starts_with("forced");
        let wire = Wire::new(&model(&program, if is_forced { "forced" } else { role }));
        let wire = if is_forced && dialect == "anthropic" { Wire::new(&model(&program, "older")) } else { wire };
        let request = if is_forced { judged() } else { plain() };
        let parts: Vec<&str> = name.split('.').collect();
        let outcome = match parts.as_slice() {
            [_, "json"] => wire.reply(&request, 200, &bytes),
            [_, status, _] => wire.reply(&request, status.parse().unwrap(), &bytes),
            _ => {
                let whole = streamed(&wire, &request, &bytes, usize::MAX);
                for size in [1, 2, 3, 7, 64] {
                    assert_eq!(streamed(&wire, &request, &bytes, size), whole, "{name} in parts of {size} bytes");
                }
                whole
            }
        };
        let _ = write!(now, "# {name}\n{}\n", told(&outcome));
    }
    compare(&format!("wire/{dialect}.replies.txt"), now.trim_end());
}

#[test]
fn replies_of_chat_completions_mean_what_they_say() {
    replies("chat", "assistant");
}

#[test]
fn replies_of_responses_mean_what_they_say() {
    replies("responses", "responses");
}

#[test]
fn replies_of_anthropic_mean_what_they_say() {
    replies("anthropic", "anthropic");
}

/// A stream that is cut anywhere before its reason to stop is a fault that may pass, never an answer.
#[test]
fn a_stream_that_is_cut_off_is_no_answer() {
    let program = fixture();
    for (dialect, role, mark) in [
        ("chat", "assistant", "\"finish_reason\":\"tool_calls\""),
        ("responses", "responses", "response.completed"),
        ("anthropic", "anthropic", "\"stop_reason\":\"tool_use\""),
    ] {
        let bytes = std::fs::read(golden("wire").join(dialect).join("tools.sse")).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let stop = text.find(mark).unwrap_or_else(|| panic!("{dialect} has no {mark}"));
        let wire = Wire::new(&model(&program, role));
        for end in (0..stop).step_by(5).chain([stop]) {
            let fault = streamed(&wire, &plain(), &bytes[..end], usize::MAX).unwrap_err();
            assert_eq!(format!("{:?}", fault.class), "Transient", "{dialect} at {end}: {}", fault.message);
            assert!(fault.billed, "what was cut off may have been billed");
        }
        assert!(streamed(&wire, &plain(), &bytes, usize::MAX).is_ok());
    }
}

#[test]
fn a_reply_without_end_is_given_up() {
    let wire = Wire::new(&model(&fixture(), "streamed"));
    let (mut stream, part) = (wire.stream(&plain()), vec![b'x'; 1 << 20]);
    let fault = (0..64).find_map(|_| stream.push(&part).err()).expect("there is an end");
    assert!(fault.message.contains("more than"), "{}", fault.message);
}
