//! Recorded conversations: what is read, what is said about records that are none, and that what is written reads back.
#![expect(clippy::panic, reason = "a test")]

use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::value::{Map, Value};
use aigo_source::transcript::{Transcript, conversations, write};
use aigo_source::{Format, RowError, Take, rows};
use proptest::prelude::*;

fn read(format: Format, text: &[u8]) -> Vec<Result<Transcript, RowError>> {
    conversations(rows(format, text, &[], Take::Records), |error| error).collect()
}

fn sole(line: &str) -> Transcript {
    let mut found = read(Format::JsonLines, line.as_bytes());
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn shown(line: &str) -> String {
    sole(line).conversation.transcript(0, 99, None)
}

#[test]
fn the_shapes_that_are_around_are_one_conversation() {
    let expected = "[1u] user: Hi\n[1a] assistant: Hello.\n";
    for line in [
        r#"{"messages": [{"author": "user", "text": "Hi"}, {"author": "assistant", "text": "Hello."}]}"#,
        r#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}]}"#,
        r#"{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]}"#,
        r#"{"conversation": [{"user": "Hi", "sys": "Hello."}]}"#,
        r#"{"turns": "[{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": \"Hello.\"}]"}"#,
        "{\"session_id\": 1, \"role\": \"user\", \"content\": \"Hi\"}\n{\"session_id\": 1, \"role\": \"assistant\", \"content\": \"Hello.\"}",
    ] {
        assert_eq!(shown(line), expected, "{line}");
    }
}

#[test]
fn tool_traffic_is_read_in_every_shape() {
    let expected = "[1u] user: Go\n[1t1] call of find: {\"n\":1}\n[1t1] result of find: none\n[1a] assistant: Done.\n";
    let around = |calls: &str, result: &str| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "Go"}}, {calls}, {result}, {{"role": "assistant", "content": "Done."}}]}}"#
        )
    };
    for (calls, result) in [
        (
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{\"n\":1}"}}]}"#,
            r#"{"role": "tool", "tool_call_id": "1", "content": "none"}"#,
        ),
        (
            r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "find", "arguments": {"n": 1}}]}"#,
            r#"{"role": "tool", "name": "find", "content": "none"}"#,
        ),
        (
            r#"{"role": "assistant", "content": null, "function_call": {"name": "find", "arguments": "{\"n\":1}"}}"#,
            r#"{"role": "function", "name": "find", "content": "none"}"#,
        ),
        (
            r#"{"from": "function_call", "value": "{\"name\": \"find\", \"arguments\": {\"n\": 1}}"}"#,
            r#"{"from": "observation", "value": "none"}"#,
        ),
    ] {
        assert_eq!(shown(&around(calls, result)), expected, "{calls}");
    }
}

#[test]
fn context_is_kept_per_turn_and_the_rest_are_fields() {
    let found = sole(
        r#"{"id": "c", "user_id": 7, "expected": "x", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "context": ["one"]}, {"role": "assistant", "content": "c", "retrieval_context": ["two"]}]}"#,
    );
    assert_eq!(found.row.value.to_json(), r#"{"id":"c","user_id":7,"expected":"x","turn_context":[[],["one","two"]]}"#);
}

#[test]
fn messages_of_a_line_each_are_grouped_by_their_conversation() {
    let text = br#"{"conversation_id": "a", "user_id": "u", "role": "user", "content": "1"}
{"conversation_id": "a", "role": "assistant", "content": "2"}
{"conversation_id": "b", "role": "user", "content": "3"}
{"messages": [{"role": "user", "content": "4"}]}
{"conversation_id": "c", "role": "user"}
{"conversation_id": "c", "role": "assistant", "content": "lost with its conversation"}
"#;
    let found = read(Format::JsonLines, text);
    let sizes: Vec<Option<usize>> =
        found.iter().map(|found| found.as_ref().ok().map(|t| t.conversation.messages().len())).collect();
    assert_eq!(sizes, [Some(2), Some(1), Some(1), None]);
    assert_eq!(found[0].as_ref().unwrap().row.value.to_json(), r#"{"user_id":"u","id":"a"}"#);
    let error = found[3].as_ref().unwrap_err();
    assert_eq!((error.line, error.message.contains("message 1 of the conversation `c` has no text")), (5, true));
    let csv = b"conversation_id,role,content\nx,user,Hi\nx,assistant,Hello\n";
    assert_eq!(read(Format::Csv, csv)[0].as_ref().unwrap().conversation.messages().len(), 2);
}

#[test]
fn records_that_are_none_are_told() {
    for (line, part) in [
        (r#"{"question": "x"}"#, "this record has no messages"),
        (r#"{"messages": []}"#, "`messages` is empty"),
        (r#"{"messages": [{"role": "user", "content": "x"}, "y"]}"#, "message 2 is a string; a map was expected"),
        (r#"{"messages": [{"content": "x"}]}"#, "message 1 says not who speaks"),
        (r#"{"messages": [{"role": 5, "content": "x"}]}"#, "message 1 has an author that is a number"),
        (r#"{"messages": [{"role": "assistant"}]}"#, "message 1 has no text"),
        (
            r#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}"#,
            "a part of the type `image_url`; only text",
        ),
        (r#"{"messages": [{"role": "tool", "content": "x"}]}"#, "no call before it waits for one"),
        (r#"{"messages": [{"role": "assistant", "tool_calls": [{}]}]}"#, "a call that names no tool"),
        (r#"{"turns": "[nonsense"}"#, "`turns` is a text that is no JSON list"),
        (r#"{"messages": [{"role": "user", "content": "x", "context": "y"}]}"#, "a `context` that is a string"),
    ] {
        let error = read(Format::JsonLines, format!("\n{line}").as_bytes()).remove(0).unwrap_err();
        assert!(error.message.contains(part), "{line}: {error}");
        assert_eq!(error.line, 2);
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "\\PC{0,12}", Just("user".to_owned()), Just("a\n\"b\u{202e}".to_owned())]
}

fn kind() -> impl Strategy<Value = MessageKind> {
    prop_oneof![
        Just(MessageKind::Say),
        text().prop_map(|audience| MessageKind::System { audience: audience.into() }),
        (text(), text(), text()).prop_map(|(id, tool, arguments)| MessageKind::Call {
            id: id.into(),
            tool: tool.into(),
            arguments: arguments.into()
        }),
        (text(), text()).prop_map(|(id, tool)| MessageKind::Result { id: id.into(), tool: tool.into() }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        messages in proptest::collection::vec((prop_oneof![Just(USER.to_owned()), Just(ASSISTANT.to_owned()), "[a-z]{1,6}"], kind(), text()), 1..12),
        id in proptest::option::of("[a-z0-9]{1,6}"),
        field in text(),
    ) {
        let mut conversation = Conversation::default();
        for (author, kind, text) in messages {
            // A call whose tool has no name is nobody's.
            if matches!(&kind, MessageKind::Call { tool, .. } if tool.is_empty()) {
                continue;
            }
            conversation.push(author.into(), kind, text.into());
        }
        prop_assume!(!conversation.messages().is_empty());
        let mut rest = Map::default();
        if let Some(id) = id {
            rest.set("id", Value::str(id));
        }
        rest.set("expected", Value::str(field));
        let line = write(&conversation, &rest);
        let back = sole(&line);
        prop_assert_eq!(Conversation::of_record(&conversation.record()), Some(conversation.clone()));
        prop_assert_eq!(back.conversation, conversation);
        prop_assert_eq!(back.row.value, Value::Map(rest.into()));
    }
}
