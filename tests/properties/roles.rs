//! Roles of every kind, calls and limits, as a program may have them.

use aigo_ir::path::Path;
use aigo_ir::program::{
    Answer, Call, CallKind, ChatModel, CommandCall, CommandRole, Dialect, Fault, Header, HeaderValue, HttpCall,
    HttpMethod, HttpRole, Limits, Price, ReplyPaths, SampleLimits, ScriptedCall, Session, Structured,
};
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::value::Value;

use super::dice::Dice;
use super::programs::template;

pub(super) fn chat(dice: &mut Dice) -> ChatModel {
    ChatModel {
        dialect: *dice.pick(&Dialect::ALL),
        model: dice.hostile().into(),
        endpoint: dice.hostile().into(),
        base_url: "http://localhost/v1".into(),
        api_key: dice.one_in(2).then(|| dice.hostile().into()),
        timeout_ms: dice.one_in(2).then_some(500),
        stream: dice.one_in(2).then(|| dice.one_in(2)),
        structured: *dice.pick(&Structured::ALL),
        headers: headers(dice),
        parameters: vec![
            ("temperature".into(), Value::Float(0.1)),
            (dice.hostile().into(), Value::list(vec![Value::str(dice.hostile()), Value::Null])),
        ],
        price: dice.one_in(2).then_some(Price {
            input: 0.25,
            output: 1e-7,
            cached_input: dice.one_in(2).then_some(1.0 / 3.0),
        }),
    }
}

fn headers(dice: &mut Dice) -> Vec<Header> {
    let count = dice.below(3);
    let mut one = |n| {
        let value = if dice.one_in(2) {
            HeaderValue::Text(template(dice))
        } else {
            HeaderValue::Env { name: dice.hostile().into(), prefix: dice.pick(&["", "Bearer "]).to_owned().into() }
        };
        Header { name: format!("x-{n}").into(), value }
    };
    (0..count).map(&mut one).collect()
}

fn body(dice: &mut Dice) -> Value {
    Value::map([
        ("text".to_owned(), Value::Str(template(dice).source)),
        (dice.hostile(), Value::list(vec![Value::Int(3), Value::Bool(true), Value::str(dice.literal())])),
    ])
}

fn request(dice: &mut Dice) -> HttpCall {
    HttpCall {
        method: *dice.pick(&HttpMethod::ALL),
        url: template(dice),
        headers: headers(dice),
        body: dice.one_in(2).then(|| body(dice)),
        allow_hosts: (0..dice.below(3)).map(|_| dice.hostile().into()).collect(),
        timeout_ms: dice.one_in(2).then_some(90_000),
    }
}

fn path(dice: &mut Dice) -> Path {
    let paths: [&str; 4] = ["a", "a.b[0].c-d", "[7]", "a[\"odd \\u202e key\"].b"];
    Path::parse(paths[dice.below(4)]).expect("a path")
}

pub(super) fn http(dice: &mut Dice) -> HttpRole {
    let reply = dice.one_in(2).then(|| ReplyPaths {
        text: path(dice),
        calls: dice.one_in(2).then(|| path(dice)),
        context: dice.one_in(2).then(|| path(dice)),
        done: dice.one_in(2).then(|| path(dice)),
    });
    let session = match dice.below(3) {
        0 => Session::Stateless,
        1 => Session::Client,
        _ => Session::Server { id: path(dice) },
    };
    let version = dice.one_in(2).then(|| dice.hostile().into());
    HttpRole { call: request(dice), reply, stream: dice.one_in(2), session, resumable: dice.one_in(2), version }
}

fn command(dice: &mut Dice) -> CommandCall {
    CommandCall {
        run: vec![dice.hostile().into(), "".into(), dice.literal().into()],
        env: (0..dice.below(3)).map(|n| (format!("V{n}").into(), dice.hostile().into())).collect(),
        timeout_ms: dice.one_in(2).then_some(1),
    }
}

pub(super) fn command_role(dice: &mut Dice) -> CommandRole {
    CommandRole {
        call: command(dice),
        resumable: dice.one_in(2),
        version: dice.one_in(2).then(|| dice.hostile().into()),
    }
}

/// A call of `setup`, by its number, or one of `teardown`.
pub(super) fn call(dice: &mut Dice, number: Option<usize>) -> Call {
    let does = if dice.one_in(2) { CallKind::Http(request(dice)) } else { CallKind::Command(command(dice)) };
    let name = number.filter(|_| dice.one_in(2)).map(|n| format!("c{n}").into());
    Call { name, does, origin: Origin::default() }
}

pub(super) fn answer(dice: &mut Dice) -> Answer {
    let status = dice.one_in(2).then(|| "done".into());
    match dice.below(4) {
        0 => Answer::Say { text: template(dice), status },
        1 => Answer::AnyOf { texts: (0..=dice.below(3)).map(|n| (template(dice), n as u32 + 1)).collect(), status },
        2 => Answer::Verdict(Value::map([
            ("score", Value::Int(1)),
            ("reason", Value::Str(template(dice).source)),
            ("evidence", Value::list(vec![Value::Float(0.5), Value::str(dice.literal())])),
        ])),
        _ => {
            let status = Fault::Status(400 + dice.below(200) as u16);
            Answer::Fault(*dice.pick(&[status, Fault::Timeout, Fault::Empty, Fault::Filtered]))
        }
    }
}

pub(super) fn scripted_calls(dice: &mut Dice) -> Vec<ScriptedCall> {
    (0..dice.below(6) / 4).map(|_| ScriptedCall { name: dice.hostile().into(), args: body(dice) }).collect()
}

pub(super) fn chunks(dice: &mut Dice) -> Vec<Template> {
    (0..dice.below(6) / 4).map(|_| template(dice)).collect()
}

pub(super) fn limits(dice: &mut Dice) -> Limits {
    let mut count = || dice.one_in(2).then(|| dice.next() >> 1);
    let (calls, time_s) = (count(), count());
    let sample = SampleLimits {
        calls: count(),
        tokens: count(),
        turns: count(),
        time_s: count(),
        cost_usd: count().map(|_| 0.1),
    };
    Limits { calls, time_s, cost_usd: count().map(|_| 25.0), sample, origin: Origin::default() }
}
