//! A record as the part of its line that does not depend on its number: `"e":"ask","s":3,…}`.
//!
//! Written by hand and not by serde: `serde_json` writes DEL, C1 and bidirectional controls raw, and a second pass over each
//! line costs more than the first.

use std::fmt::Write as _;

use aigo_ir::text::json_string;
use aigo_ir::value::Value;

use crate::record::{Ask, At, COMPLETED, Close, FIRST, Got, MAIN, Open, Record, Run, SCORED, STOP, Score, Site};

/// How deep lists and maps may nest in a value. JSON readers stop at 128, and a record adds up to four levels of its own.
pub(crate) const MAX_DEPTH: usize = 120;

/// What a log cannot hold, because it could not be read again.
#[derive(Debug)]
pub(crate) struct TooDeep;

/// The body of a record's line, its closing brace included. `sites` are the header's, rising.
pub(crate) fn body(record: &Record, sites: &[Site]) -> Result<String, TooDeep> {
    let mut out = Object { out: String::with_capacity(size_hint(record)) };
    let _ = write!(out.out, "\"e\":\"{}\"", record.name());
    match record {
        Record::Run(run) => write_run(&mut out, run)?,
        Record::Open(open) => write_open(&mut out, open)?,
        Record::Ask(ask) => write_ask(&mut out, ask, sites),
        Record::Got(got) => write_got(&mut out, got)?,
        Record::Close(close) => write_close(&mut out, close)?,
        Record::Durable(durable) => out.number("upto", durable.upto),
        Record::Resumed(resumed) => out.str("aigo", &resumed.aigo),
        Record::End(end) => {
            out.raw("digest", &format!("\"{}\"", end.digest));
            out.raw("exit", &end.exit.to_string());
        }
    }
    out.out.push('}');
    Ok(out.out)
}

fn size_hint(record: &Record) -> usize {
    match record {
        Record::Run(run) => 512 + run.program.len() * 9 / 8,
        Record::Got(got) => 224 + got.text.len() * 9 / 8,
        _ => 256,
    }
}

fn write_run(out: &mut Object, run: &Run) -> Result<(), TooDeep> {
    out.number("format", run.format.into());
    out.numbers("flags", &run.flags);
    out.str("id", &run.id);
    out.str("aigo", &run.aigo);
    let engines = Value::map(run.engines.iter().map(|(name, version)| (name.as_str(), Value::str(version.as_str()))));
    out.raw("engines", &engines.to_json());
    out.str("program", &run.program);
    out.raw("hash", &format!("\"{}\"", run.hash));
    out.str("dataset", &run.dataset);
    out.number("seed", run.seed);
    if let Some(trials) = run.trials {
        out.number("trials", trials);
    }
    if !run.sites.is_empty() {
        out.list("sites", &run.sites, |out, site| {
            for (separator, text) in ["[", ",", ","].into_iter().zip([&site.graph, &site.node, &site.role]) {
                out.push_str(separator);
                json_string(text, out);
            }
            out.push(']');
            Ok(())
        })?;
    }
    out.maybe_str("task", run.task.as_deref());
    out.maybe_str("root", run.root.as_deref());
    out.maybe_str("baseline", run.baseline.as_deref());
    if let Some(parent) = &run.parent {
        out.name("parent");
        out.out.push_str("{\"run\":");
        json_string(&parent.run, &mut out.out);
        out.flag("scores", parent.scores);
        out.flag("floating", parent.floating);
        out.out.push('}');
    }
    if let Some(selection) = &run.selection {
        out.value("selection", selection)?;
    }
    Ok(())
}

fn write_open(out: &mut Object, open: &Open) -> Result<(), TooDeep> {
    out.number("s", open.trial);
    out.str("key", &open.key);
    if open.epoch != FIRST {
        out.number("epoch", open.epoch.into());
    }
    if open.graph != MAIN {
        out.str("graph", &open.graph);
    }
    out.value("row", &open.row)?;
    if let Some(messages) = &open.messages {
        out.value("messages", messages)?;
    }
    if !open.tags.is_empty() {
        out.list("tags", &open.tags, |out, tag| {
            json_string(tag, out);
            Ok(())
        })?;
    }
    out.maybe_str("cluster", open.cluster.as_deref());
    Ok(())
}

fn write_ask(out: &mut Object, ask: &Ask, sites: &[Site]) {
    out.number("s", ask.trial);
    match &ask.at {
        At::Row(row) => out.number("p", u64::from(*row)),
        At::Site(site) => match sites.binary_search(site) {
            Ok(row) => out.number("p", row as u64),
            Err(_) => {
                out.str("g", &site.graph);
                out.str("p", &site.node);
                out.str("role", &site.role);
            }
        },
    }
    if !ask.index.is_empty() {
        out.numbers("i", &ask.index);
    }
    out.str("k", &ask.content);
    out.flag("retry", ask.retry);
    if let Some(most) = ask.most {
        out.number("most", most);
    }
}

fn write_got(out: &mut Object, got: &Got) -> Result<(), TooDeep> {
    out.number("s", got.trial);
    out.number("a", got.ask);
    out.str("text", &got.text);
    if !got.calls.is_empty() {
        out.list("calls", &got.calls, |out, call| json_value(call, out))?;
    }
    if got.stop != STOP {
        out.str("stop", &got.stop);
    }
    let usage = &got.usage;
    let counts = [("in", usage.input), ("out", usage.output), ("cached", usage.cached), ("think", usage.reasoning)];
    for (name, count) in counts {
        if let Some(count) = count {
            out.number(name, count);
        }
    }
    out.maybe_str("model", got.model.as_deref());
    out.maybe_str("fault", got.fault.as_deref());
    if !got.read.is_empty() {
        out.list("read", &got.read, |out, chunk| {
            json_string(chunk, out);
            Ok(())
        })?;
    }
    if let Some(context) = &got.context {
        out.value("context", context)?;
    }
    out.flag("lossy", got.lossy);
    if let Some(ms) = got.ms {
        out.number("ms", ms);
    }
    if let Some(from) = got.from {
        out.number("from", from);
    }
    Ok(())
}

fn write_close(out: &mut Object, close: &Close) -> Result<(), TooDeep> {
    out.number("s", close.trial);
    if close.ending != COMPLETED {
        out.str("ending", &close.ending);
    }
    out.raw("leaf", &format!("\"{}\"", close.leaf.base64(32)));
    out.list("scores", &close.scores, json_score)
}

fn json_score(out: &mut String, score: &Score) -> Result<(), TooDeep> {
    out.push_str("{\"scorer\":");
    json_string(&score.scorer, out);
    if let Some(turn) = score.turn {
        let _ = write!(out, ",\"turn\":{turn}");
    }
    if score.outcome != SCORED {
        out.push_str(",\"outcome\":");
        json_string(&score.outcome, out);
    }
    if let Some(value) = &score.value {
        out.push_str(",\"value\":");
        json_value(value, out)?;
    }
    if let Some(pass) = score.pass {
        let _ = write!(out, ",\"pass\":{pass}");
    }
    out.push('}');
    Ok(())
}

fn json_value(value: &Value, out: &mut String) -> Result<(), TooDeep> {
    if !value.is_shallow(MAX_DEPTH) {
        return Err(TooDeep);
    }
    match value {
        Value::Str(text) => json_string(text, out),
        other => out.push_str(&other.to_json()),
    }
    Ok(())
}

/// An object whose first field stands, so that each further one begins with a comma.
struct Object {
    out: String,
}

impl Object {
    fn name(&mut self, name: &str) {
        self.out.push_str(",\"");
        self.out.push_str(name);
        self.out.push_str("\":");
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.push_str(json);
    }

    fn str(&mut self, name: &str, text: &str) {
        self.name(name);
        json_string(text, &mut self.out);
    }

    fn maybe_str(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.str(name, text);
        }
    }

    fn number(&mut self, name: &str, n: u64) {
        self.name(name);
        let _ = write!(self.out, "{n}");
    }

    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.raw(name, "true");
        }
    }

    fn value(&mut self, name: &str, value: &Value) -> Result<(), TooDeep> {
        self.name(name);
        json_value(value, &mut self.out)
    }

    fn numbers(&mut self, name: &str, numbers: &[u32]) {
        let _ = self.list(name, numbers, |out, n| {
            let _ = write!(out, "{n}");
            Ok(())
        });
    }

    fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut item: impl FnMut(&mut String, &T) -> Result<(), TooDeep>,
    ) -> Result<(), TooDeep> {
        self.name(name);
        self.out.push('[');
        for (at, one) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            item(&mut self.out, one)?;
        }
        self.out.push(']');
        Ok(())
    }
}
