//! Markdown, for comments on changes and for the summary of a step of GitHub's workflows. What was said in conversations, and
//! what judges said of it, is in it only where that is asked for.

use std::fmt::Write as _;

use aigo_ir::text::excerpt;

use crate::heading::{Heading, Word};
use crate::matrix::Table;
use crate::text::{denominator, figures, gates_in_words, percent, short};
use crate::{GateResult, Kindred, Summary};

/// Whether reasons and quotes are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Texts {
    /// They are left out: a comment is read by more people than a log.
    #[default]
    Hidden,
    /// They are in it.
    Shown,
}

/// How many kinds of failure are listed.
const KINDS: usize = 20;
/// How many lines of a matrix are written.
const MOST_LINES: usize = 40;

/// The report as Markdown.
pub fn markdown(summary: &Summary, heading: Heading<'_>, texts: Texts) -> String {
    let mut out = String::new();
    let word = Word::of(summary, heading.exit).text();
    let ended: u64 = summary.endings.iter().map(|(_, n)| n).sum();
    let _ = writeln!(out, "### {}: {word}\n", escaped(&summary.program.name));
    let _ = writeln!(
        out,
        "{}; {} of {ended} conversations fail{}; exit {}.\n",
        gates_in_words(summary),
        summary.failing,
        if summary.open > 0 { format!(", {} are open", summary.open) } else { String::new() },
        heading.exit
    );
    if let Some(what) = &summary.unreachable {
        let _ = writeln!(out, "The application is of no use: {}.\n", escaped(&excerpt(what, 200)));
    }
    gates(summary, &mut out);
    scorers(summary, &mut out);
    for table in &summary.tables {
        matrix(table, &mut out);
    }
    kinds(summary, texts, &mut out);
    let unchecked = crate::trust::never_checked(&summary.program);
    if !unchecked.is_empty() {
        let _ = writeln!(out, "Never checked: {}.\n", unchecked.join("; "));
    }
    for (at, (what, parts)) in crate::bought::lines(&summary.calls).iter().enumerate() {
        let what = if at == 0 { "Calls answered" } else { what };
        let _ = write!(out, "{}{what}: {}.", if at == 0 { "" } else { " " }, escaped(&parts.join("; ")));
    }
    let _ = writeln!(out, " Run {}, digest {}.", code(heading.run), code(heading.short()));
    out
}

fn gates(summary: &Summary, out: &mut String) {
    if summary.gates.is_empty() {
        return;
    }
    out.push_str("| | gate | value | |\n|---|---|---|---|\n");
    let mut gates: Vec<_> = summary.gates.iter().collect();
    gates.sort_by_key(|gate| gate.result.rank());
    for gate in gates {
        let word = if gate.result == GateResult::Red { "**red**" } else { gate.result.word() };
        let _ =
            writeln!(out, "| {word} | {} | {} | {} |", code(&gate.gate), escaped(&figures(gate)), escaped(&gate.note));
    }
    out.push('\n');
}

fn scorers(summary: &Summary, out: &mut String) {
    out.push_str("| scorer | mean | pass | denominator |\n|---|--:|--:|---|\n");
    for ((scorer, counts), mean) in summary.program.scorers.iter().zip(&summary.counts).zip(&summary.means) {
        let mean = mean.map_or_else(|| "–".to_owned(), |mean| short(mean, 4));
        let rate =
            if counts.scored > 0 { percent(counts.passed as f64 / counts.scored as f64) + "%" } else { "–".into() };
        let _ = writeln!(out, "| {} | {mean} | {rate} | {} |", escaped(&scorer.name), denominator(counts));
    }
    out.push('\n');
}

fn matrix(table: &Table, out: &mut String) {
    let name = |text: &str| escaped(&excerpt(text, 40));
    let _ = writeln!(out, "Conversations that fail, of those that ended:\n");
    let _ = writeln!(
        out,
        "| {} \\\\ {} | {} |",
        name(&table.of_lines),
        name(&table.of_columns),
        table.columns.iter().map(|column| name(column)).collect::<Vec<_>>().join(" | ")
    );
    let _ = writeln!(out, "|---|{}", "--:|".repeat(table.columns.len()));
    for (line, cells) in table.lines.iter().take(MOST_LINES) {
        let cells =
            cells.iter().map(|cell| cell.map_or_else(String::new, |cell| format!("{}/{}", cell.failing, cell.ended)));
        let _ = writeln!(out, "| {} | {} |", name(line), cells.collect::<Vec<_>>().join(" | "));
    }
    if table.lines.len() > MOST_LINES {
        let _ = writeln!(out, "\n… {} more", table.lines.len() - MOST_LINES);
    }
    out.push('\n');
}

fn kinds(summary: &Summary, texts: Texts, out: &mut String) {
    if summary.kinds.is_empty() {
        return;
    }
    out.push_str("| fails | turn | how many | first |\n|---|--:|--:|---|\n");
    for kind in summary.kinds.iter().take(KINDS) {
        let scorer = summary.program.scorers.get(kind.scorer).map_or("", |scorer| &scorer.name);
        let turn = kind.turn.map_or_else(String::new, |turn| turn.to_string());
        let epoch = if summary.program.epochs > 1 { format!(", epoch {}", kind.epoch) } else { String::new() };
        let most = kind.most.as_ref().filter(|_| kind.count > 1).map_or_else(String::new, |(value, n)| {
            let all = if *n == kind.count { "all".to_owned() } else { n.to_string() };
            format!(", {all} {}", escaped(&excerpt(value, 60)))
        });
        let _ = writeln!(
            out,
            "| {} | {turn} | {}{most} | {}{epoch} |",
            escaped(scorer),
            kind.count,
            escaped(&excerpt(&kind.key, 80))
        );
    }
    if summary.kinds.len() > KINDS {
        let _ = writeln!(out, "\n… {} more kinds of failure", summary.kinds.len() - KINDS);
    }
    out.push('\n');
    if texts == Texts::Shown {
        summary.kinds.iter().take(KINDS).for_each(|kind| quoted(summary, kind, out));
    }
}

/// The words that a kind of failure rests on.
fn quoted(summary: &Summary, kind: &Kindred, out: &mut String) {
    let scorer = summary.program.scorers.get(kind.scorer).map_or("", |scorer| &scorer.name);
    let reason = excerpt(&kind.reason, 300);
    let colon = if reason.is_empty() { "" } else { ": " };
    let _ = writeln!(out, "**{}**, {}{colon}{}\n", escaped(scorer), escaped(&excerpt(&kind.key, 80)), escaped(&reason));
    for evidence in &kind.evidence {
        let _ = writeln!(out, "> {} {}\n", code(&evidence.turn), escaped(&excerpt(&evidence.quote, 300)));
    }
}

/// Text in which nothing is Markdown, HTML, a mention or a link.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in aigo_ir::text::printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push(' '),
            // A name behind `@` is told of the comment, and a number behind `#` is a link.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // What looks like an address is made a link by itself.
    out.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// Text as code, with a fence longer than any within it. A pipe would end the cell of a table all the same.
fn code(text: &str) -> String {
    let text = aigo_ir::text::printable(text).replace('\n', " ").replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
