//! The report for people: the worst transcripts at their failing turns, a table, and the verdict last, where a reader of CI
//! logs looks first.

use std::fmt::Write as _;

use aigo_ir::message::MessageKind;
use aigo_ir::text::{excerpt, number};
use aigo_ir::verdict::{Evidence, Outcome, Verdict};

use crate::{Counts, FEW_CLUSTERS, GateResult, Summary, TrialReport};

/// How much of a message is shown.
const WIDTH: usize = 220;
/// How many turns before the evidence are shown.
const BEFORE: u32 = 2;

/// The report. `run` is the run's name and `digest` the first digits of its digest.
pub fn text(summary: &Summary, run: &str, digest: &str) -> String {
    let mut out = String::new();
    for trial in &summary.shown {
        failing(summary, trial, &mut out);
    }
    let hidden = summary.failing.saturating_sub(summary.shown.len() as u64);
    if hidden > 0 {
        let _ = writeln!(out, "… and {hidden} more failing conversations\n");
    }
    table(summary, &mut out);
    verdict(summary, run, digest, &mut out);
    out
}

/// Why a conversation ended badly.
fn why(trial: &TrialReport) -> String {
    trial.fault.as_ref().map_or_else(String::new, |fault| format!(" ({})", excerpt(fault, WIDTH)))
}

fn failing(summary: &Summary, trial: &TrialReport, out: &mut String) {
    let epoch = if summary.program.epochs > 1 { format!(", epoch {}", trial.epoch) } else { String::new() };
    let _ = writeln!(
        out,
        "✗ {}{epoch}   ended: {}{}",
        excerpt(&trial.key, WIDTH),
        trial.ending.word().replace('_', " "),
        why(trial)
    );
    for (at, scorer) in summary.program.scorers.iter().enumerate() {
        let whole = trial.scores.iter().find(|row| row.scorer == at && row.turn.is_none());
        let Some(row) = whole.filter(|row| row.verdict.pass == Some(false)) else { continue };
        let value = row.verdict.value.as_ref().map_or_else(String::new, |value| format!(" = {}", shown_value(value)));
        let reason = if row.verdict.reason.is_empty() {
            String::new()
        } else {
            format!("   why: {}", excerpt(&row.verdict.reason, WIDTH))
        };
        let _ = writeln!(out, "  {}{value}{reason}", excerpt(&scorer.name, 60));
        excerpt_of(trial, &row.verdict, out);
    }
    out.push('\n');
}

fn shown_value(value: &aigo_ir::value::Value) -> String {
    match value {
        aigo_ir::value::Value::Float(x) => number(*x),
        other => other.to_json().trim_matches('"').to_owned(),
    }
}

/// The turns around the evidence, the quoted words between `>>` and `<<`.
fn excerpt_of(trial: &TrialReport, verdict: &Verdict, out: &mut String) {
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
        let marked = cited.iter().fold(body, |body, evidence| mark(&body, &evidence.quote));
        let sign = if cited.is_empty() { ' ' } else { '>' };
        let _ = writeln!(out, "    {sign} {label:<4} {}", excerpt(&marked, WIDTH + 4));
    }
}

/// The text with the quote marked, where it stands in it letter by letter, but for case.
fn mark(text: &str, quote: &str) -> String {
    let found = text.find(quote).or_else(|| {
        let lower = text.to_lowercase();
        // Lowering can change lengths; then the place is not known.
        (lower.len() == text.len()).then(|| lower.find(&quote.to_lowercase())).flatten()
    });
    match found
        .filter(|_| !quote.is_empty())
        .and_then(|at| Some((text.get(..at)?, text.get(at..at + quote.len())?, text.get(at + quote.len()..)?)))
    {
        Some((before, quoted, after)) => format!("{before}>>{quoted}<<{after}"),
        None => text.to_owned(),
    }
}

fn table(summary: &Summary, out: &mut String) {
    let names: Vec<String> = summary.program.scorers.iter().map(|scorer| excerpt(&scorer.name, 60)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "{:<width$}  {:>6}  {:>8}  {:>8}  denominator", "scorer", "mean", "pass", "rate");
    for ((name, counts), mean) in names.iter().zip(&summary.counts).zip(&summary.means) {
        let rate = (counts.scored > 0).then(|| counts.passed as f64 / counts.scored as f64);
        let show = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| short(x, 4));
        let pass = format!("{}/{}", counts.passed, counts.scored);
        let _ =
            writeln!(out, "{name:<width$}  {:>6}  {pass:>8}  {:>8}  {}", show(*mean), show(rate), denominator(counts));
    }
    out.push('\n');
}

/// A number with so many significant digits, for columns.
fn short(x: f64, digits: usize) -> String {
    let rounded: f64 = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    number(rounded)
}

/// `61 scored · 2 n/a · 1 invalid of 64`
fn denominator(counts: &Counts) -> String {
    let parts = [
        (counts.scored, "scored"),
        (counts.not_applicable, "n/a"),
        (counts.invalid, Outcome::Invalid.word()),
        (counts.void, Outcome::Void.word()),
        (counts.open, "open"),
    ];
    let shown: Vec<String> =
        parts.iter().filter(|(n, word)| *n > 0 || *word == "scored").map(|(n, word)| format!("{n} {word}")).collect();
    format!("{} of {}", shown.join(" · "), counts.planned)
}

fn verdict(summary: &Summary, run: &str, digest: &str, out: &mut String) {
    let red = summary.gates.iter().filter(|gate| gate.result == GateResult::Red).count();
    let word = match summary.exit {
        0 => "PASSED",
        1 => "FAILED",
        _ => "INCOMPLETE",
    };
    let gates = match (summary.gates.len(), red) {
        (0, _) => "no gates".to_owned(),
        (all, red) => format!("{red} of {all} gates red"),
    };
    let _ = writeln!(
        out,
        "{word}  {}   {gates}   {} failing conversations   exit {}",
        excerpt(&summary.program.name, WIDTH),
        summary.failing,
        summary.exit
    );
    let width = summary.gates.iter().map(|gate| gate.gate.chars().count()).max().unwrap_or(0);
    for gate in &summary.gates {
        let mark = match gate.result {
            GateResult::Red => "red",
            GateResult::Pass => "ok",
            GateResult::Undecided => "?",
            GateResult::Skipped => "skip",
        };
        let value = gate.value.map_or_else(|| "–".to_owned(), number);
        let ends = match (gate.low, gate.high) {
            (Some(low), Some(high)) if low != high => format!(" ({} to {})", number(low), number(high)),
            _ => String::new(),
        };
        let interval = gate.interval.map_or_else(String::new, |interval| {
            let about = if interval.clusters < FEW_CLUSTERS { "about " } else { "" };
            format!("   95%: {about}{} to {}", short(interval.low, 3), short(interval.high, 3))
        });
        let note = if gate.note.is_empty() { String::new() } else { format!("   {}", gate.note) };
        let _ = writeln!(out, " {mark:<3} {:<width$}   {value}{ends}{interval}{note}", gate.gate);
    }
    if let Some(fault) = &summary.fault {
        let _ = writeln!(out, " ended badly, for example: {}", excerpt(fault, 300));
    }
    if let Some(missing) = &summary.missing {
        let _ = writeln!(out, " {}", excerpt(missing, 300));
    }
    let mut endings: Vec<String> =
        summary.endings.iter().map(|(ending, n)| format!("{n} {}", ending.word().replace('_', " "))).collect();
    if summary.open > 0 {
        endings.push(format!("{} open", summary.open));
    }
    let _ = writeln!(out, " conversations: {}", endings.join(" · "));
    let calls: Vec<String> = summary.calls.iter().map(|(role, n)| format!("{role} {n}")).collect();
    let _ = writeln!(out, " calls answered: {}", if calls.is_empty() { "none".to_owned() } else { calls.join(" · ") });
    let _ = writeln!(out, " run {run}   digest {digest}");
}
