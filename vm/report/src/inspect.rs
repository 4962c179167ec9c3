//! A run as a log of Inspect AI (`.eval`, version 2): an archive with a header, a summary of each sample, and each sample with
//! its messages and scores. Model calls as events, and times, are not in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::message::{ASSISTANT, Message, MessageKind};
use aigo_ir::program::{Player, Program};
use aigo_ir::text::{is_dangerous, json_string};
use aigo_ir::value::Value;

use crate::Summary;
use crate::bought::Bought;
use crate::conversation::{Named, Told, verdict_id};

/// What of a run stands in its header.
#[derive(Clone, Copy, Debug)]
pub struct Header<'h> {
    /// The run's id.
    pub run: &'h str,
    /// When it began, as RFC 3339 has it.
    pub created: &'h str,
    /// The task's path.
    pub task: &'h str,
    /// The version of aigo.
    pub aigo: &'h str,
    /// The digest.
    pub digest: &'h str,
    /// What the run came to.
    pub summary: &'h Summary,
}

/// The model of a program's assistant, as Inspect names models.
fn model(program: &Program) -> String {
    model_of(program, ASSISTANT).unwrap_or_else(|| "none/none".to_owned())
}

fn model_of(program: &Program, role: &str) -> Option<String> {
    match program.role(role).map(|role| &role.player) {
        Some(Player::Chat(model)) => Some(format!("{}/{}", model.dialect.word(), model.model)),
        _ => None,
    }
}

/// Whose tokens are counted together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Model,
    Role,
}

/// The tokens of models, as Inspect counts them: those of requests without the cached ones, which stand beside them.
fn usage(program: &Program, calls: &[(Arc<str>, Bought)], by: By) -> Value {
    let mut all: BTreeMap<String, Bought> = BTreeMap::new();
    for (role, bought) in calls.iter().filter(|(_, bought)| bought.counted > 0) {
        if let Some(model) = model_of(program, role) {
            all.entry(if by == By::Model { model } else { role.to_string() }).or_default().join(bought);
        }
    }
    let of = |bought: &Bought| {
        let cost = bought.cost_usd().and_then(Value::float).map(|cost| ("total_cost", cost));
        let tokens = [
            ("input_tokens", bought.input.saturating_sub(bought.cached)),
            ("output_tokens", bought.output),
            ("total_tokens", bought.input.saturating_add(bought.output)),
            ("input_tokens_cache_read", bought.cached),
            ("reasoning_tokens", bought.reasoning),
        ];
        Value::map(tokens.map(|(name, n)| (name, count(n))).into_iter().chain(cost))
    };
    Value::map(all.iter().map(|(name, bought)| (name.as_str(), of(bought))))
}

fn eval(header: &Header<'_>) -> Value {
    let program = &header.summary.program;
    let planned = header.summary.counts.iter().map(|counts| counts.planned).max().unwrap_or(0);
    let samples = planned / u64::from(program.epochs.max(1));
    Value::map([
        ("run_id", Value::str(header.run)),
        ("created", Value::str(header.created)),
        ("task", Value::Str(program.name.clone())),
        ("task_id", Value::str(header.run)),
        ("task_file", Value::str(header.task)),
        ("dataset", Value::map([("samples", count(samples))])),
        ("model", Value::str(model(program))),
        ("config", Value::map([("epochs", Value::Int(i64::from(program.epochs)))])),
        ("packages", Value::map([("aigo", Value::str(header.aigo))])),
        ("metadata", Value::map([("aigo_digest", Value::str(header.digest))])),
    ])
}

fn count(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn plan() -> Value {
    Value::map([("name", Value::str("plan")), ("steps", Value::list(Vec::new())), ("config", empty())])
}

fn empty() -> Value {
    Value::map(Vec::<(&str, Value)>::new())
}

/// The file `_journal/start.json`.
pub fn start(header: &Header<'_>) -> String {
    Value::map([("version", Value::Int(2)), ("eval", eval(header)), ("plan", plan())]).to_json()
}

/// The file `header.json`.
pub fn header(header: &Header<'_>) -> String {
    let summary = header.summary;
    let scorers = summary.program.scorers.iter().zip(&summary.counts).zip(&summary.means);
    let scores = scorers.map(|((scorer, counts), mean)| {
        let mean = mean
            .and_then(Value::float)
            .map(|value| ("mean", Value::map([("name", Value::str("mean")), ("value", value), ("params", empty())])));
        Value::map([
            ("name", Value::Str(scorer.name.clone())),
            ("scorer", Value::Str(scorer.name.clone())),
            ("params", empty()),
            ("scored_samples", count(counts.scored)),
            ("unscored_samples", count(counts.planned.saturating_sub(counts.scored))),
            ("metrics", Value::map(mean)),
        ])
    });
    let scores = Value::list(scores.collect());
    let planned = summary.counts.iter().map(|counts| counts.planned).max().unwrap_or(0);
    let results = Value::map([
        ("total_samples", count(planned)),
        ("completed_samples", count(planned.saturating_sub(summary.open))),
        ("scores", scores),
    ]);
    let stats = Value::map([
        ("started_at", Value::str(header.created)),
        ("completed_at", Value::str(header.created)),
        ("model_usage", usage(&summary.program, &summary.calls, By::Model)),
        ("role_usage", usage(&summary.program, &summary.calls, By::Role)),
    ]);
    let status = if summary.open > 0 { "cancelled" } else { "success" };
    Value::map([
        ("version", Value::Int(2)),
        ("status", Value::str(status)),
        ("eval", eval(header)),
        ("plan", plan()),
        ("results", results),
        ("stats", stats),
    ])
    .to_json()
}

/// The name of a sample's file, by which Inspect finds it. No name leads out of the folder into which somebody unpacks it.
pub fn sample_name(told: &Told<'_>) -> String {
    let key: String = told.key.chars().map(|c| if is_dangerous(c) || c == '\\' { '_' } else { c }).collect();
    format!("samples/{}_epoch_{}.json", key.replace("..", "__").trim_start_matches('/'), told.epoch)
}

/// The file of a sample.
pub fn sample(program: &Program, told: &Told<'_>) -> String {
    let messages = messages(told);
    let last = messages.iter().rev().find(|message| message.get("role").and_then(Value::as_str) == Some("assistant"));
    let last =
        last.cloned().unwrap_or_else(|| Value::map([("role", Value::str("assistant")), ("content", Value::str(""))]));
    let completion = last.get("content").cloned().unwrap_or_default();
    let choice = Value::map([("message", last), ("stop_reason", Value::str("stop"))]);
    let output = Value::map([
        ("model", Value::str(model(program))),
        ("choices", Value::list(vec![choice])),
        ("completion", completion),
    ]);
    let mut calls: BTreeMap<Arc<str>, Bought> = BTreeMap::new();
    for answered in told.calls {
        calls.entry(Arc::clone(&answered.role)).or_default().add(program, answered);
    }
    let calls: Vec<_> = calls.into_iter().collect();
    let fields = [
        ("input", Value::str(input(told))),
        ("target", Value::str("")),
        ("messages", Value::list(messages)),
        ("output", output),
        ("metadata", Value::Map(std::sync::Arc::new(told.row.clone()))),
        ("store", empty()),
        ("events", Value::list(Vec::new())),
        ("model_usage", usage(program, &calls, By::Model)),
        ("role_usage", usage(program, &calls, By::Role)),
        ("attachments", empty()),
    ];
    let mut out = head(told);
    for (name, value) in fields {
        field(name, &value, &mut out);
    }
    out.push_str(",\"scores\":");
    scores(told, &mut out);
    if let Some(fault) = told.fault.filter(|_| told.ending.is_none()) {
        let error = [("message", fault), ("traceback", ""), ("traceback_ansi", "")].map(|(k, v)| (k, Value::str(v)));
        field("error", &Value::map(error), &mut out);
    }
    out + "}"
}

/// A sample's part of the file `summaries.json`, which is a list of these.
pub fn summary(told: &Told<'_>) -> String {
    let mut out = head(told);
    field("input", &Value::str(input(told)), &mut out);
    field("target", &Value::str(""), &mut out);
    out.push_str(",\"scores\":");
    scores(told, &mut out);
    field("completed", &Value::Bool(told.ending.is_some()), &mut out);
    out + "}"
}

fn head(told: &Told<'_>) -> String {
    let mut out = String::from("{\"id\":");
    json_string(told.key, &mut out);
    field("epoch", &Value::Int(i64::from(told.epoch)), &mut out);
    out
}

fn field(name: &str, value: &Value, out: &mut String) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    match value {
        Value::Str(text) => json_string(text, out),
        other => out.push_str(&other.to_json()),
    }
}

/// What is said first: Inspect shows it for the sample.
fn input(told: &Told<'_>) -> String {
    let first = told.conversation.messages().iter().find(|message| message.kind == MessageKind::Say);
    first.map_or_else(String::new, |message| message.text.to_string())
}

fn messages(told: &Told<'_>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for (at, message) in told.conversation.messages().iter().enumerate() {
        let id = Value::str(format!("m{at}"));
        let text = Value::Str(message.text.clone());
        found.push(match &message.kind {
            MessageKind::System { audience } if &**audience == ASSISTANT => of("system", id, text, Vec::new()),
            // What other roles are told, and what the application has read, is nothing that was said; Inspect has no place for it.
            MessageKind::System { .. } | MessageKind::Read => continue,
            MessageKind::Say => of(if said_by_assistant(message) { "assistant" } else { "user" }, id, text, Vec::new()),
            MessageKind::Call { id: call, tool, arguments } => {
                let parsed = serde_json::from_str::<Value>(arguments).ok().filter(|value| value.as_map().is_some());
                let made = Value::map([
                    ("id", Value::Str(call.clone())),
                    ("function", Value::Str(tool.clone())),
                    ("arguments", parsed.unwrap_or_else(empty)),
                    ("type", Value::str("function")),
                ]);
                of("assistant", id, text, vec![("tool_calls", Value::list(vec![made]))])
            }
            MessageKind::Result { id: call, tool } => {
                let fields = vec![("tool_call_id", Value::Str(call.clone())), ("function", Value::Str(tool.clone()))];
                of("tool", id, text, fields)
            }
        });
    }
    found
}

fn said_by_assistant(message: &Message) -> bool {
    &*message.author == ASSISTANT
}

fn of(role: &str, id: Value, text: Value, more: Vec<(&str, Value)>) -> Value {
    let first = [("id", id), ("role", Value::str(role)), ("content", text)];
    Value::map(first.into_iter().chain(more))
}

/// The scores by their names. A verdict without a value is `NaN`, Inspect's word for it, and says why.
fn scores(told: &Told<'_>, out: &mut String) {
    out.push('{');
    for (at, row) in told.scores.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        json_string(&verdict_id(&row.scorer, row.turn), out);
        out.push_str(":{\"value\":");
        match &row.verdict.value {
            Some(Value::Str(text)) => json_string(text, out),
            Some(value) => out.push_str(&value.to_json()),
            None => out.push_str("NaN"),
        }
        field("explanation", &Value::Str(row.verdict.reason.clone()), out);
        field("metadata", &metadata(row), out);
        out.push('}');
    }
    out.push('}');
}

fn metadata(row: &Named) -> Value {
    let evidence = row.verdict.evidence.iter().map(|evidence| {
        Value::map([("turn", Value::Str(evidence.turn.clone())), ("quote", Value::Str(evidence.quote.clone()))])
    });
    Value::map([
        ("outcome", Value::str(row.verdict.outcome.word())),
        ("pass", row.verdict.pass.map_or(Value::Null, Value::Bool)),
        ("evidence", Value::list(evidence.collect())),
    ])
}
