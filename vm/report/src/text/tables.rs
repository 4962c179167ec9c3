//! The table by scorer and group, and the matrix.

use std::fmt::Write as _;

use aigo_ir::text::{excerpt, number};
use aigo_ir::verdict::Outcome;

use crate::gates::GroupValue;
use crate::look::{Look, columns, padded, right};
use crate::matrix::{Cell, Table};
use crate::{Counts, Summary};

/// How wide a name is at most.
const NAME: usize = 40;
/// How many groups of a scorer are shown: the worst ones.
const MOST_GROUPS: usize = 8;
/// How many lines of a matrix are shown.
const MOST_LINES: usize = 20;

/// A line for each scorer, and below it one for each group of a gate over it.
pub(super) fn scorers(summary: &Summary, out: &mut String) {
    let mut lines: Vec<[String; 5]> =
        vec![["scorer".to_owned(), "mean".to_owned(), "pass".to_owned(), "rate".to_owned(), "denominator".to_owned()]];
    let show = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| short(x, 4));
    for ((scorer, counts), mean) in summary.program.scorers.iter().zip(&summary.counts).zip(&summary.means) {
        let rate = (counts.scored > 0).then(|| counts.passed as f64 / counts.scored as f64);
        lines.push([
            excerpt(&scorer.name, NAME),
            show(*mean),
            format!("{}/{}", counts.passed, counts.scored),
            show(rate),
            denominator(counts),
        ]);
        groups(summary, &scorer.name, &mut lines);
    }
    let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| columns(cell)).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    for [name, mean, pass, rate, denominator] in &lines {
        let cells = [mean, pass, rate].into_iter().zip(widths.iter().skip(1)).map(|(cell, width)| right(cell, *width));
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "{}  {}  {denominator}", padded(name, widths[0]), cells.join("  "));
    }
    out.push('\n');
}

/// The groups of the gates over a scorer, each field once: the worst first.
fn groups(summary: &Summary, scorer: &str, lines: &mut Vec<[String; 5]>) {
    let mut seen: Vec<&str> = Vec::new();
    for (gate, value) in summary.program.gates.iter().zip(&summary.gates) {
        let Some(by) = gate.by.as_deref().filter(|by| &*gate.scorer == scorer && !seen.contains(by)) else { continue };
        seen.push(by);
        let mut groups: Vec<&GroupValue> = value.groups.iter().collect();
        groups.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        for group in groups.iter().take(MOST_GROUPS) {
            let missing = if group.missing > 0 { format!(" · {} missing", group.missing) } else { String::new() };
            lines.push([
                format!("  {}", excerpt(&format!("{by}={}", group.name), NAME)),
                group.mean.map_or_else(|| "–".to_owned(), |x| short(x, 4)),
                format!("{}/{}", group.passed, group.scored),
                if group.scored > 0 { short(group.rate(), 4) } else { "–".to_owned() },
                format!("{} scored{missing}", group.scored),
            ]);
        }
        if groups.len() > MOST_GROUPS {
            let rest = format!("  … {} more", groups.len() - MOST_GROUPS);
            lines.push([rest, String::new(), String::new(), String::new(), String::new()]);
        }
    }
}

/// Failures of conversations by the two fields of the matrix.
pub(super) fn matrix(table: &Table, look: &Look, out: &mut String) {
    let cell =
        |cell: &Option<Cell>| cell.map_or_else(|| ".".to_owned(), |cell| format!("{}/{}", cell.failing, cell.ended));
    let fails = |cells: &[Option<Cell>]| cells.iter().flatten().map(|cell| cell.failing).sum::<u64>();
    let mut lines: Vec<&(String, Vec<Option<Cell>>)> = table.lines.iter().collect();
    if lines.len() > MOST_LINES {
        lines.sort_by(|a, b| fails(&b.1).cmp(&fails(&a.1)).then_with(|| a.0.cmp(&b.0)));
        lines.truncate(MOST_LINES);
    }
    let heads: Vec<String> = table.columns.iter().map(|name| excerpt(name, 16)).collect();
    let name = |text: &str| excerpt(text, 28);
    let corner = format!("{} \\ {}", name(&table.of_lines), name(&table.of_columns));
    let first = lines.iter().map(|line| columns(&name(&line.0))).chain([columns(&corner)]).max().unwrap_or(0);
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            let cells = lines.iter().filter_map(|line| line.1.get(at)).map(|own| columns(&cell(own)));
            cells.chain([columns(head)]).max().unwrap_or(0)
        })
        .collect();
    let mut room = look.width.saturating_sub(first);
    let shown = widths.iter().take_while(|width| {
        let fits = room >= **width + 2;
        room = room.saturating_sub(**width + 2);
        fits
    });
    let shown = shown.count().max(1);
    let _ = writeln!(out, "conversations that fail, of those that ended");
    let head: Vec<String> = heads.iter().zip(&widths).take(shown).map(|(head, width)| right(head, *width)).collect();
    let _ = writeln!(out, "{}  {}", padded(&corner, first), head.join("  "));
    for (line, cells) in &lines {
        let cells = cells.iter().zip(&widths).take(shown).map(|(own, width)| {
            let text = right(&cell(own), *width);
            if own.is_some_and(|own| own.failing > 0) { look.red(&text) } else { text }
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "{}  {}", padded(&name(line), first), cells.join("  "));
    }
    let rest = [(table.lines.len() - lines.len(), "lines"), (heads.len().saturating_sub(shown), "columns")];
    for (n, what) in rest.into_iter().filter(|(n, _)| *n > 0) {
        let _ = writeln!(out, "… {n} more {what}");
    }
    out.push('\n');
}

/// A number with so many significant digits, for columns.
pub(crate) fn short(x: f64, digits: usize) -> String {
    let rounded: f64 = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    number(rounded)
}

/// `61 scored · 2 n/a · 1 invalid of 64`
pub(crate) fn denominator(counts: &Counts) -> String {
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
