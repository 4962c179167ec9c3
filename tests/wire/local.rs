//! What a real server sent and was sent, in the folder of a local model beside the project. Where it is absent, this says so
//! and holds nothing.

use std::path::{Path, PathBuf};

use aigo_machine::{ChatMessage, ChatRole, Request};
use aigo_vm::wire::Wire;
use serde_json::Value;

use super::{model, program, request, streamed};
use crate::harness::root;

fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("AIGO_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let folder = shared.join("models/smollm2/wire");
    if !folder.is_dir() {
        #[expect(clippy::print_stderr, reason = "who runs the tests should know what was left out")]
        {
            eprintln!("skipped: {} is not there", folder.display());
        }
        return None;
    }
    Some(folder)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn wire(parameters: &str) -> Wire {
    let task = format!(
        "aigo: 1\nname: t\nmodels: {{assistant: {{model: openai_compatible/smollm2-135m-instruct, base_url: \"http://localhost/v1\"{parameters}}}}}\n\
         dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi}}, generate]\nscorers: [{{name: s, check: {{contains: x}}}}]\n"
    );
    Wire::new(&model(&program(&task), "assistant"))
}

/// The messages of a recorded request.
fn conversation(recorded: &Value) -> Request {
    let messages = recorded["messages"].as_array().unwrap().iter().map(|message| {
        let role = match message["role"].as_str().unwrap() {
            "system" => ChatRole::System,
            "user" => ChatRole::User,
            _ => ChatRole::Assistant,
        };
        ChatMessage::new(role, message["content"].as_str().unwrap())
    });
    request(messages.collect())
}

#[test]
fn requests_are_those_that_a_real_server_took() {
    let Some(folder) = folder() else { return };
    for (name, parameters) in [
        ("turn1", ", temperature: 0, seed: 7, max_tokens: 120"),
        ("turn4", ", temperature: 0, seed: 7, max_tokens: 120"),
        ("stream", ", temperature: 0, seed: 7, max_tokens: 80, stream: true"),
        ("length_stop", ", temperature: 0, max_tokens: 5"),
        ("logprobs", ", temperature: 0, max_tokens: 8, extra: {logprobs: true, top_logprobs: 3}"),
        ("json_schema_judge", ", temperature: 0, max_tokens: 120"),
    ] {
        let recorded = json(&folder.join(format!("{name}.request.json")));
        let mut request = conversation(&recorded);
        if let Some(format) = recorded.pointer("/response_format/json_schema/schema") {
            let schema: aigo_ir::value::Value = serde_json::from_value(format.clone()).unwrap();
            request.schema = Some(("verdict", schema));
        }
        let sent: Value = serde_json::from_str(&wire(parameters).body(&request)).unwrap();
        assert_eq!(sent, recorded, "{name}");
    }
}

#[test]
fn replies_of_a_real_server_are_read() {
    let Some(folder) = folder() else { return };
    let wire = wire("");
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(name) = name.strip_suffix(".response.json") else { continue };
        read += 1;
        let (bytes, body) = (std::fs::read(&path).unwrap(), json(&path));
        let ask = request(vec![ChatMessage::new(ChatRole::User, "x")]);
        if name.starts_with("error") {
            let fault = wire.reply(&ask, 400, &bytes).unwrap_err();
            let class =
                if name.contains("overflow") { "Request(\"context_length\")" } else { "Request(\"bad_request\")" };
            assert_eq!(format!("{:?}", fault.class), class, "{name}");
            continue;
        }
        let reply = wire.reply(&ask, 200, &bytes).unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let choice = &body["choices"][0];
        assert_eq!(&*reply.answer.text, choice["message"]["content"].as_str().unwrap(), "{name}");
        assert_eq!(&*reply.answer.stop, choice["finish_reason"].as_str().unwrap(), "{name}");
        let usage = &body["usage"];
        let counted = [reply.answer.usage.input, reply.answer.usage.output, reply.answer.usage.cached];
        let cached = &usage["prompt_tokens_details"]["cached_tokens"];
        assert_eq!(
            counted,
            [&usage["prompt_tokens"], &usage["completion_tokens"], cached].map(Value::as_u64),
            "{name}"
        );
        assert_eq!(reply.model.as_deref(), body["model"].as_str());
    }
    assert!(read >= 10, "{read} replies");
}

#[test]
fn a_real_stream_is_read_like_a_whole_reply() {
    let Some(folder) = folder() else { return };
    let bytes = std::fs::read(folder.join("stream.response.sse")).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let parts = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let parts: Vec<Value> = parts.map(|data| serde_json::from_str(data).unwrap()).collect();
    let said: String = parts.iter().filter_map(|part| part["choices"][0]["delta"]["content"].as_str()).collect();
    assert!(said.len() > 10, "{said}");
    let wire = wire(", stream: true");
    let ask = request(vec![ChatMessage::new(ChatRole::User, "x")]);
    for size in [1, 5, usize::MAX] {
        let reply = streamed(&wire, &ask, &bytes, size).unwrap_or_else(|fault| panic!("{}", fault.message));
        assert_eq!((&*reply.answer.text, &*reply.answer.stop), (said.as_str(), "stop"));
    }
}
