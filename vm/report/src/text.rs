//! The report for people: the worst transcripts at their failing turns, tables, and the verdict last, where a reader of CI
//! logs looks first.

mod tables;
mod transcript;

use std::fmt::Write as _;

use aigo_ir::text::{excerpt, number};
use aigo_ir::verdict::Evidence;

use crate::gates::GateValue;
use crate::heading::{Heading, Word};
use crate::look::{Look, columns, padded};
use crate::{FEW_CLUSTERS, GateResult, Kindred, Summary, failures};

pub(crate) use tables::{denominator, short};
pub(crate) use transcript::{around, shown};

/// How much of a text is shown in the verdict.
const LONG: usize = 300;
/// How many gates that do not pass are shown with the words that their first failure rests on.
const QUOTED: usize = 3;
/// How wide the gates' column is at most.
const GATE: usize = 44;

/// The report.
pub fn text(summary: &Summary, heading: Heading<'_>, look: &Look) -> String {
    let mut out = String::new();
    for trial in &summary.shown {
        transcript::failing(summary, trial, look, &mut out);
    }
    others(summary, look, &mut out);
    tables::scorers(summary, &mut out);
    for table in &summary.tables {
        tables::matrix(table, look, &mut out);
    }
    verdict(summary, heading.exit, look, &mut out);
    conversations(summary, look, &mut out);
    let _ = writeln!(out, " run {}   digest {}", heading.run, heading.short());
    out
}

/// The kinds of failure of which no conversation is shown.
fn others(summary: &Summary, look: &Look, out: &mut String) {
    let hidden = summary.kinds.iter().filter(|kind| !summary.shown.iter().any(|trial| kind.stands(trial)));
    let hidden: Vec<String> = hidden
        .map(|kind| {
            let name = summary.program.scorers.get(kind.scorer).map_or("", |scorer| &scorer.name);
            let turn = kind.turn.map_or_else(String::new, |turn| format!(" in turn {turn}"));
            format!("{}{turn} ({})", excerpt(name, 60), kind.count)
        })
        .collect();
    if let Some((last, first)) = hidden.get(..hidden.len().min(12)).and_then(<[String]>::split_last) {
        let rest = hidden.len().saturating_sub(12);
        let more = if rest > 0 { format!(" and {rest} more kinds") } else { String::new() };
        let comma = if first.is_empty() { "" } else { ", " };
        out.push_str(&look.wrapped("also failing: ", &format!("{}{comma}{last}{more}", first.join(", ")), 2));
        out.push('\n');
    }
}

fn verdict(summary: &Summary, exit: i32, look: &Look, out: &mut String) {
    let word = Word::of(summary, exit);
    let shown = word.text().to_uppercase();
    let shown = match word {
        Word::Passed | Word::Done => look.strong(&shown),
        Word::Failed => look.red(&shown),
        Word::Incomplete => look.open(&shown),
    };
    let ended: u64 = summary.endings.iter().map(|(_, n)| n).sum();
    let _ = writeln!(
        out,
        "{shown}  {}   {}   {} of {ended} conversations fail   exit {exit}",
        look.strong(&excerpt(&summary.program.name, 60)),
        gates_in_words(summary),
        summary.failing
    );
    if let Some(what) = &summary.unreachable {
        out.push_str(&look.wrapped(" ", &format!("the application is of no use: {}", excerpt(what, LONG)), 2));
    }
    let mut gates: Vec<&GateValue> = summary.gates.iter().collect();
    gates.sort_by_key(|gate| gate.result.rank());
    let width = gates.iter().map(|gate| columns(&gate.gate)).max().unwrap_or(0).min(GATE);
    let mut quoted = 0;
    for gate in gates {
        line(gate, width, look, out);
        if matches!(gate.result, GateResult::Red | GateResult::Undecided) && quoted < QUOTED {
            quoted += usize::from(failures(summary, gate, look, out));
        }
    }
    if let Some(missing) = &summary.missing {
        let all: u64 = summary.counts.iter().map(|count| count.invalid + count.void).sum();
        let all = if all > 1 { format!(" (one of {all} verdicts that are missing)") } else { String::new() };
        out.push_str(&look.wrapped(" ", &format!("missing: {}{all}", excerpt(missing, LONG)), 2));
    }
}

/// `1 of 4 gates red, 1 undecided`
pub(crate) fn gates_in_words(summary: &Summary) -> String {
    let count = |result: GateResult| summary.gates.iter().filter(|gate| gate.result == result).count();
    let (red, undecided, skipped) = (count(GateResult::Red), count(GateResult::Undecided), count(GateResult::Skipped));
    let all = summary.gates.len();
    match (red, undecided) {
        _ if all == 0 => "no gates, so nothing can fail".to_owned(),
        (0, 0) if skipped == all => format!("{all} of {all} gates skipped"),
        (0, 0) if skipped > 0 => format!("{} of {all} gates pass, {skipped} skipped", all - skipped),
        (0, 0) if all == 1 => "the gate passes".to_owned(),
        (0, 0) => format!("{all} gates pass"),
        (0, undecided) => format!("{undecided} of {all} gates undecided"),
        (red, 0) => format!("{red} of {all} gates red"),
        (red, undecided) => format!("{red} of {all} gates red, {undecided} undecided"),
    }
}

/// A gate: what came of it, its value, its interval, and why.
fn line(gate: &GateValue, width: usize, look: &Look, out: &mut String) {
    let mark = match gate.result {
        GateResult::Red => look.red("red "),
        GateResult::Pass => "ok  ".to_owned(),
        GateResult::Undecided => look.open(" ?  "),
        GateResult::Skipped => "skip".to_owned(),
    };
    let name = format!(" {mark} {}", padded(&excerpt(&gate.gate, 200), width));
    let figures = figures(gate);
    // Where a line has no room for all figures, the interval stands below.
    let fits = columns(&name) + 3 + columns(&figures) <= look.width;
    let (value, below) = figures.split_once("   ").filter(|_| !fits).unwrap_or((&figures, ""));
    let head = format!("{name}   {value}");
    // Notes name values of fields, which other people wrote.
    let note = [below.to_owned(), excerpt(&gate.note, LONG)].into_iter().filter(|part| !part.is_empty());
    let note = note.collect::<Vec<_>>().join("   ");
    if note.is_empty() || columns(&head) + 3 + columns(&note) <= look.width {
        let _ = writeln!(out, "{}", format!("{head}   {note}").trim_end());
    } else {
        let _ = writeln!(out, "{head}");
        out.push_str(&look.wrapped("      ", &note, 8));
    }
}

/// `0.969 (62 of 64)   95%: 0.89 to 0.99`
pub(crate) fn figures(gate: &GateValue) -> String {
    let value = gate.value.map_or_else(|| "–".to_owned(), |x| short(x, 4));
    let of = gate.passed.map_or_else(String::new, |(passed, of)| format!(" ({passed} of {of})"));
    let ends = match (gate.low, gate.high) {
        (Some(low), Some(high)) if low != high && gate.result == GateResult::Undecided => {
            format!("   {} to {} with what is missing", short(low, 4), short(high, 4))
        }
        _ => String::new(),
    };
    let interval = gate.interval.map_or_else(String::new, |interval| {
        let about = if interval.clusters < FEW_CLUSTERS { "about " } else { "" };
        format!("   95%: {about}{} to {}", short(interval.low, 3), short(interval.high, 3))
    });
    format!("{value}{of}{ends}{interval}")
}

/// Where a gate's scorer fails, and the words that the first failure rests on. Says whether there was one.
fn failures(summary: &Summary, gate: &GateValue, look: &Look, out: &mut String) -> bool {
    let scorer = summary.program.scorers.iter().position(|scorer| scorer.name == gate.scorer);
    let kinds = || summary.kinds.iter().filter(|kind| Some(kind.scorer) == scorer);
    let Some(first) = kinds().next() else { return false };
    let most = |kind: &Kindred| {
        kind.most.as_ref().filter(|_| kind.count > 1).map_or_else(String::new, |(value, n)| {
            let all = if *n == kind.count { "all".to_owned() } else { n.to_string() };
            format!(", {all} {}", excerpt(value, 40))
        })
    };
    out.push_str(&look.wrapped("      ", &format!("fails {}", failures::places(kinds(), most)), 8));
    let epoch = if summary.program.epochs > 1 { format!(", epoch {}", first.epoch) } else { String::new() };
    let quotes: Vec<String> = first.evidence.iter().map(quote).collect();
    let why = if first.reason.is_empty() { String::new() } else { format!("  why: {}", excerpt(&first.reason, 160)) };
    let text = format!("{}{epoch}  {}{why}", excerpt(&first.key, 60), quotes.join("  "));
    out.push_str(&look.wrapped("      ", &text, 8));
    true
}

/// `6a "About twelve bucks a seat"`
fn quote(evidence: &Evidence) -> String {
    format!("{} \"{}\"", excerpt(&evidence.turn, 12), excerpt(&evidence.quote, 80))
}

/// How conversations ended, who was asked, and what was never held against anything.
fn conversations(summary: &Summary, look: &Look, out: &mut String) {
    if let Some(fault) = &summary.fault {
        out.push_str(&look.wrapped(" ", &format!("ended badly, for example: {}", excerpt(fault, LONG)), 2));
    }
    let mut endings: Vec<String> =
        summary.endings.iter().map(|(ending, n)| format!("{n} {}", ending.word().replace('_', " "))).collect();
    if summary.open > 0 {
        endings.push(format!("{} open", summary.open));
    }
    if endings.is_empty() {
        endings.push("none".to_owned());
    }
    out.push_str(&look.wrapped(" conversations: ", &endings.join(" · "), 2));
    for (what, parts) in crate::bought::lines(&summary.calls) {
        out.push_str(&look.wrapped(&format!(" {what}: "), &parts.join(" · "), 2));
    }
    let unchecked = crate::trust::never_checked(&summary.program);
    if !unchecked.is_empty() {
        out.push_str(&look.wrapped(" never checked: ", &unchecked.join(" · "), 2));
    }
}

/// A share in per cent, for the formats of other programs.
pub(crate) fn percent(x: f64) -> String {
    number(libm::round(x * 1000.0) / 10.0)
}
