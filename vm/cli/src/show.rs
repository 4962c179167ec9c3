//! Findings in each of the formats.
//!
//! `text` and `concise` are made per finding; of the others the data are kept, and the whole is written at the end.

pub(crate) mod github;
pub(crate) mod json;
mod safe;
pub(crate) mod sarif;
mod text;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::SourceMap;
use aigo_ir::text::is_dangerous;

use crate::args::Findings;
use crate::finding::{Finding, Located, Locator, Shown};
use crate::terminal::Look;

/// A task's findings as a format wants them. `task` is what the user calls it.
pub(crate) fn findings(
    task: &str,
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    format: Findings,
    look: Look,
) -> Vec<Finding> {
    // Most tasks have none.
    if diagnostics.is_empty() {
        return Vec::new();
    }
    let mut locator = Locator::new(task, sources);
    let secrets = diagnostics.iter().filter(|one| one.is_secret).filter_map(|one| one.span).collect();
    let painter = text::Painter::new(sources, secrets, look);
    let each = diagnostics.iter().map(|diagnostic| Finding {
        row: diagnostic.row,
        identity: locator.identity(diagnostic),
        is_fixable: diagnostic.fix.is_some(),
        shown: match format {
            Findings::Text => Shown::Text(painter.paint(diagnostic, &locator) + "\n"),
            Findings::Concise => Shown::Text(concise(diagnostic, &locator)),
            Findings::Json | Findings::Sarif | Findings::Github => Shown::Data(Box::new(locator.located(diagnostic))),
        },
    });
    each.collect()
}

/// Findings for people, without colour, as one text.
pub(crate) fn plain(task: &str, diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let findings = findings(task, diagnostics, sources, Findings::Text, Look::plain());
    let texts = findings.into_iter().filter_map(|finding| match finding.shown {
        Shown::Text(text) => Some(text),
        Shown::Data(_) => None,
    });
    texts.collect()
}

/// `path:line:column: error[E0301]: message`, one line.
fn concise(diagnostic: &Diagnostic, locator: &Locator<'_>) -> String {
    let (code, word) = (diagnostic.row.code, diagnostic.row.severity.word());
    one_line(&format!("{}: {word}[{code}]: {}", locator.shown(diagnostic), diagnostic.message)) + "\n"
}

/// Text of others on one line, safe for terminals, and no longer than anybody reads.
fn one_line(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let (shown, cut) = text.split_at_checked(end).unwrap_or((text, ""));
    let shown = aigo_ir::text::printable(&shown.replace(['\n', '\t'], " "));
    if cut.is_empty() { shown } else { shown + "…" }
}

/// In characters. A message has a name or a value of the file in it, which may be as long as the file.
const LONGEST: usize = 1_000;

/// Everything of one check, for the formats that are written as a whole.
pub(crate) struct Whole<'w> {
    /// How many files were checked.
    pub(crate) files: usize,
    pub(crate) counts: Counts,
    /// How many findings are not among the located ones, since there are too many.
    pub(crate) omitted: usize,
    pub(crate) findings: &'w [Located],
    /// What could not be checked.
    pub(crate) faults: &'w [String],
}

/// How many findings there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
    pub(crate) fixable: usize,
}

/// JSON in which no character can drive a terminal. Outside of its strings there are none, and in a string each is written
/// as an escape.
fn harmless(json: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if is_dangerous(c) && c != '\n' {
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

/// `1 error`, `2 errors`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    aigo_ir::bounds::plural(n as u64, word)
}
