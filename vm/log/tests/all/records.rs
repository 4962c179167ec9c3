//! Every record comes back from its line, whatever its texts hold, and no line can drive a terminal.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use aigo_ir::key::Key;
use aigo_ir::text::is_dangerous;
use aigo_ir::value::Value;
use aigo_log::{
    Ask, At, Close, Durable, End, FORMAT, Flaw, Got, Open, Parent, Record, Resumed, Run, Score, Site, Usage, decode,
    encode, marked,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::sample;

/// Texts as hostile as they come: escapes, separators, bidirectional controls, NUL, quotes, emoji, and what looks like a line.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}[2J".to_owned()),
        Just("\u{2028}\u{2029}\u{85}\u{9b}\u{7f}".to_owned()),
        Just("\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}".to_owned()),
        Just("\0\r\n\t\u{8}\u{c}\"\\/".to_owned()),
        Just("👩‍👩‍👧🏽é値".to_owned()),
        Just("\\u202e".to_owned()),
        Just("\"}\n{\"c\":\"00000000\",\"n\":1,\"e\":\"durable\",\"upto\":99}\n".to_owned()),
        any::<String>(),
        any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(|x| Value::float(x).unwrap_or(Value::Float(0.5))),
        text().prop_map(Value::str),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::list), vec((text(), inner), 0..4).prop_map(Value::map)]
    })
}

fn key() -> impl Strategy<Value = Key> {
    any::<[u8; 32]>().prop_map(Key)
}

fn site() -> impl Strategy<Value = Site> {
    (text(), text(), text()).prop_map(|(graph, node, role)| Site {
        graph: graph.into(),
        node: node.into(),
        role: role.into(),
    })
}

fn run() -> impl Strategy<Value = Record> {
    let texts = (text(), text(), text(), text());
    let rest = (vec(any::<u32>(), 0..3), btree_map(text(), text(), 0..3), key(), any::<u64>());
    let parent =
        (text(), any::<bool>(), any::<bool>()).prop_map(|(run, scores, floating)| Parent { run, scores, floating });
    let from = (option::of(parent), option::of(value()), vec(site(), 0..3));
    (texts, rest, option::of(any::<u64>()), option::of(text()), option::of(text()), from).prop_map(
        |(texts, rest, trials, task, root, (parent, selection, sites))| {
            let ((id, aigo, program, dataset), (flags, engines, hash, seed)) = (texts, rest);
            Record::Run(Run {
                format: FORMAT,
                flags,
                id,
                aigo,
                engines,
                program,
                hash,
                dataset,
                seed,
                trials,
                sites,
                task,
                baseline: root.clone(),
                root,
                parent,
                selection,
            })
        },
    )
}

fn got() -> impl Strategy<Value = Record> {
    let count = || option::of(any::<u64>());
    let usage = (count(), count(), count(), count()).prop_map(|(input, output, cached, reasoning)| Usage {
        input,
        output,
        cached,
        reasoning,
    });
    let maybe = (
        option::of(text()),
        option::of(text()),
        option::of(value()),
        (any::<bool>(), count(), count(), vec(text(), 0..3)),
    );
    (any::<u64>(), any::<u64>(), text(), vec(value(), 0..3), text(), usage, maybe).prop_map(
        |(trial, ask, text, calls, stop, usage, (model, fault, context, (lossy, ms, from, read)))| {
            Record::Got(Got { trial, ask, text, calls, stop, usage, model, fault, read, context, lossy, ms, from })
        },
    )
}

fn record() -> impl Strategy<Value = Record> {
    let open = (
        any::<u64>(),
        text(),
        any::<u32>(),
        text(),
        value(),
        option::of(value()),
        (vec(text(), 0..3), option::of(text())),
    );
    let at = prop_oneof![any::<u32>().prop_map(At::Row), site().prop_map(At::Site)];
    let ask = (any::<u64>(), at, vec(any::<u32>(), 0..4), text(), any::<bool>(), option::of(any::<u64>()));
    let score = (text(), option::of(any::<u32>()), text(), option::of(value()), option::of(any::<bool>()))
        .prop_map(|(scorer, turn, outcome, value, pass)| Score { scorer, turn, outcome, value, pass });
    prop_oneof![
        run(),
        got(),
        open.prop_map(|(trial, key, epoch, graph, row, messages, (tags, cluster))| Record::Open(Open {
            trial,
            key,
            epoch,
            graph,
            row,
            messages,
            tags,
            cluster
        })),
        ask.prop_map(|(trial, at, index, content, retry, most)| {
            Record::Ask(Ask { trial, at, index, content, retry, most })
        }),
        (any::<u64>(), text(), key(), vec(score, 0..3))
            .prop_map(|(trial, ending, leaf, scores)| Record::Close(Close { trial, ending, leaf, scores })),
        (0..u64::MAX).prop_map(|upto| Record::Durable(Durable { upto })),
        text().prop_map(|aigo| Record::Resumed(Resumed { aigo })),
        (key(), any::<i32>()).prop_map(|(digest, exit)| Record::End(End { digest, exit })),
    ]
}

proptest! {
    #[test]
    fn every_record_comes_back(record in record(), n in any::<u64>()) {
        let n = if matches!(record, Record::Durable(_)) { u64::MAX } else { n };
        let line = encode(n, &record).unwrap();
        let content = line.strip_suffix('\n').unwrap();
        prop_assert!(!content.chars().any(is_dangerous), "{content:?}");
        prop_assert_eq!(decode(content.as_bytes()).unwrap(), (n, record.clone()));
        prop_assert!(serde_json::from_str::<serde_json::Value>(content).unwrap().is_object());
        if !matches!(record, Record::Durable(_)) {
            let line = marked(n, n / 2, &record).unwrap();
            prop_assert_eq!(decode(line.trim_end_matches('\n').as_bytes()).unwrap(), (n, record));
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_read(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}

#[test]
fn the_checksum_is_the_one_of_the_specification() {
    let line = encode(17, &sample::durable(16)).unwrap();
    assert_eq!(line, "{\"c\":\"03c4deb0\",\"n\":17,\"e\":\"durable\",\"upto\":16}\n");
    // The check value of CRC32C.
    assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn unknown_fields_are_ignored_and_unknown_kinds_are_not() {
    let line = |body: &str| {
        let summed = format!("\"n\":2,{body}");
        format!("{{\"c\":\"{:08x}\",{summed}", crc32c::crc32c(summed.as_bytes()))
    };
    let read = |body: &str| decode(line(body).as_bytes());
    let resumed = Record::Resumed(Resumed { aigo: "9".to_owned() });
    assert_eq!(read(r#""e":"resumed","aigo":"9","new":[{}]}"#).unwrap().1, resumed);
    for other in ["1", "-1", "0.5", "true", "null", "\"one\"", "[[1]]", "{\"a\":{}}"] {
        let body = format!(r#""e":"resumed","aigo":"9","s":{other},"upto":{other},"format":{other}}}"#);
        assert_eq!(read(&body).map(|(_, record)| record), Ok(resumed.clone()), "{other}");
    }
    assert!(matches!(read(r#""e":"dream","s":"one"}"#), Err(Flaw::Unknown(_))));
    assert!(matches!(read(r#""e":"end","exit":0}"#), Err(Flaw::Fields { .. })));
    assert!(matches!(read(r#""e":"end","exit":0"#), Err(Flaw::Json(_))));
    assert!(matches!(read(r#""e":"ask","s":"one"}"#), Err(Flaw::Fields { .. })));
}

#[test]
fn a_place_is_a_number_or_a_name_and_never_both_or_neither() {
    let with = |place: &str| {
        let summed = format!("\"n\":2,\"e\":\"ask\",\"s\":1,{place}\"k\":\"0\"}}");
        decode(format!("{{\"c\":\"{:08x}\",{summed}", crc32c::crc32c(summed.as_bytes())).as_bytes())
    };
    let at = |place: &str| match with(place) {
        Ok((_, Record::Ask(ask))) => Some(ask.at),
        _ => None,
    };
    assert_eq!(at("\"p\":7,"), Some(At::Row(7)));
    let name = "\"g\":\"solve\",\"p\":\"steps.0\",\"role\":\"target\",";
    assert_eq!(at(name), Some(At::Site(sample::site("steps.0"))));
    for wrong in ["", "\"p\":-1,", "\"p\":4294967296,", "\"g\":\"solve\",", "\"p\":\"x\",", "\"g\":\"x\",\"p\":7,"] {
        assert!(matches!(with(wrong), Err(Flaw::Fields { .. })), "{wrong}");
    }
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let nest = |depth| (0..depth).fold(Value::Null, |inner, _| Value::list(vec![inner]));
    let with = |value| {
        let Record::Got(got) = sample::got(0, 1, "x") else { unreachable!() };
        Record::Got(Got { calls: vec![value], ..got })
    };
    let line = encode(1, &with(nest(120))).unwrap();
    assert!(decode(line.trim_end().as_bytes()).is_ok());
    assert_eq!(encode(1, &with(nest(121))).unwrap_err().code(), "L0109");
    let long = "x".repeat(aigo_log::MAX_LINE);
    assert_eq!(encode(1, &sample::got(0, 1, &long)).unwrap_err().code(), "L0109");
}
