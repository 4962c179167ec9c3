//! Failing conversations: the turns around the evidence, with the words that were quoted.

use std::fmt::Write as _;

use aigo_ir::message::MessageKind;
use aigo_ir::quote;
use aigo_ir::text::{excerpt, number};
use aigo_ir::value::Value;
use aigo_ir::verdict::{Evidence, Verdict};

use crate::failures::whole;
use crate::look::Look;
use crate::{Kindred, Summary, TrialReport};

/// How much of a message is shown.
const LONG: usize = 220;
/// How much of a message is shown before the words that are quoted.
const LEAD: usize = 80;
/// How many turns before the evidence are shown.
const BEFORE: u32 = 2;

/// A failing conversation, and how many fail as it does.
pub(super) fn failing(summary: &Summary, trial: &TrialReport, look: &Look, out: &mut String) {
    let epoch = if summary.program.epochs > 1 { format!(", epoch {}", trial.epoch) } else { String::new() };
    let name = look.strong(&format!("{}{epoch}", excerpt(&trial.key, LONG)));
    let why = trial.fault.as_ref().map_or_else(String::new, |fault| format!(" ({})", excerpt(fault, LONG)));
    let ended = format!("ended: {}{why}", trial.ending.word().replace('_', " "));
    out.push_str(&look.wrapped(&format!("{} {name}   ", look.red("✗")), &ended, 4));
    let mut shown_already: Vec<&[Evidence]> = Vec::new();
    for (at, scorer) in summary.program.scorers.iter().enumerate() {
        let Some(verdict) = whole(&trial.scores, at).filter(|verdict| verdict.pass == Some(false)) else { continue };
        let value = verdict.value.as_ref().map_or_else(String::new, |value| format!(" = {}", shown(value)));
        let like =
            summary.kinds.iter().find(|kind| kind.scorer == at && kind.stands(trial)).map_or_else(String::new, like);
        let reason = if verdict.reason.is_empty() {
            String::new()
        } else {
            format!("   why: {}", excerpt(&verdict.reason, LONG))
        };
        let head = format!("  {}{value}", look.red(&excerpt(&scorer.name, 60)));
        out.push_str(&look.wrapped(&head, &format!("{like}{reason}"), 6));
        // Several scorers may point to the same words.
        if !shown_already.contains(&verdict.evidence.as_slice()) {
            shown_already.push(&verdict.evidence);
            around(trial, verdict, look, out);
        }
    }
    out.push('\n');
}

/// `   (19 like this, 12 of them persona=adversary)`
fn like(kind: &Kindred) -> String {
    if kind.count < 2 {
        return String::new();
    }
    let of = match &kind.most {
        Some((_, n)) if *n == kind.count => {
            kind.most.as_ref().map_or_else(String::new, |(value, _)| format!(", all {value}"))
        }
        Some((value, n)) => format!(", {n} of them {value}"),
        None => String::new(),
    };
    format!("   ({} like this{})", kind.count, excerpt(&of, 60))
}

/// A value as people read it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Float(x) => number(*x),
        Value::Str(text) => excerpt(text, 60),
        other => other.to_json(),
    }
}

/// The turns around the evidence, the quoted words between `>>` and `<<`.
pub(crate) fn around(trial: &TrialReport, verdict: &Verdict, look: &Look, out: &mut String) {
    let turns: Vec<u32> = verdict.evidence.iter().filter_map(Evidence::turn_number).collect();
    let Some((last, breach)) = turns.iter().max().zip(turns.iter().min()) else { return };
    let messages = trial.conversation.labelled(0, u32::MAX);
    let mut skipped = false;
    for (label, message) in &messages {
        let near = message.turn + BEFORE > *last && message.turn <= *last;
        let cited: Vec<&Evidence> = verdict.evidence.iter().filter(|e| *e.turn == **label).collect();
        if !near && cited.is_empty() {
            skipped |= message.turn >= *breach && message.turn < *last;
            continue;
        }
        if std::mem::take(&mut skipped) {
            let _ = writeln!(out, "      …");
        }
        let body = match &message.kind {
            MessageKind::Call { tool, arguments, .. } => format!("call of {tool}: {arguments}"),
            MessageKind::Read => format!("read: {}", message.text),
            _ => message.text.to_string(),
        };
        let text = marked(&body, &cited);
        let (sign, text) = if cited.is_empty() { (' ', text) } else { ('>', text) };
        let line = look.wrapped(&format!("    {sign} {label:<4} "), &text, 11);
        out.push_str(&paint(&line, look));
    }
}

/// The marks in colour, where there are colours.
fn paint(line: &str, look: &Look) -> String {
    if !look.colour || !line.contains(">>") {
        return line.to_owned();
    }
    let mut out = String::new();
    for (at, part) in line.split(">>").enumerate() {
        match part.split_once("<<").filter(|_| at > 0) {
            Some((quoted, rest)) => {
                let _ = write!(out, "{}{rest}", look.red(&format!(">>{quoted}<<")));
            }
            None if at > 0 => {
                let _ = write!(out, ">>{part}");
            }
            None => out.push_str(part),
        }
    }
    out
}

/// Where a quote stands: letter by letter, else as quotes are compared.
fn places(quote: &str, text: &str) -> Vec<(usize, usize)> {
    match text.find(quote).filter(|_| !quote.trim().is_empty()) {
        Some(at) => vec![(at, at + quote.len())],
        None => quote::places(quote, text),
    }
}

/// The text on one line with what is quoted marked, cut so that the first quoted words are in it.
pub(super) fn marked(text: &str, cited: &[&Evidence]) -> String {
    let mut places: Vec<(usize, usize)> = cited.iter().flat_map(|evidence| places(&evidence.quote, text)).collect();
    places.sort_unstable();
    let first = places.first().map(|(start, _)| *start);
    let mut out = String::new();
    let mut at = 0;
    // What was said may have the marks' own letters in it: those of the report are the ones that stand around a quote.
    for (start, end) in places {
        if start < at {
            continue;
        }
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        let _ = write!(out, "{}>>{}<<", part(at, start), part(start, end));
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    let first = first.map_or(0, |start| text.get(..start).unwrap_or_default().chars().count());
    let whole = excerpt(&out, usize::MAX);
    if first > LEAD && whole.chars().count() > LONG {
        let rest: String = out.chars().skip(first - LEAD).collect();
        return excerpt(&format!("…{rest}"), LONG + 4);
    }
    excerpt(&whole, LONG + 4)
}
