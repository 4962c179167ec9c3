//! `--format github`: workflow commands, which GitHub shows beside the lines of a change.

use std::fmt::Write as _;

use aigo_ir::diagnostic::Severity;

use super::{Whole, one_line, plural};
use crate::finding::Located;

/// GitHub shows no more of one level in one step.
const MOST: usize = 10;

/// At most ten commands of each level, and a line that counts the others.
pub(crate) fn write(whole: &Whole<'_>) -> String {
    let mut out = String::new();
    let mut others = Vec::new();
    for (severity, level, count) in [
        (Severity::Error, "error", whole.counts.errors),
        (Severity::Warning, "warning", whole.counts.warnings),
        (Severity::Note, "notice", whole.counts.notes),
    ] {
        let own = whole.findings.iter().filter(|found| found.row.severity == severity).take(MOST);
        let mut written = 0;
        for found in own {
            command(level, found, &mut out);
            written += 1;
        }
        if count > written {
            others.push(plural(count - written, severity.word()));
        }
    }
    if !others.is_empty() {
        let _ = writeln!(out, "{} more: `aigo check --format concise` lists all", others.join(", "));
    }
    out
}

fn command(level: &str, found: &Located, out: &mut String) {
    let (start, end) = (found.place.start, found.place.end);
    let path = found.place.path.strip_prefix("./").unwrap_or(&found.place.path);
    let _ = write!(out, "::{level} file={},line={}", property(path), start.line);
    // Columns are only taken for a range on one line.
    if start.line == end.line {
        let _ = write!(out, ",col={},endLine={},endColumn={}", start.column, end.line, end.column);
    } else {
        let _ = write!(out, ",endLine={}", end.line);
    }
    let title = format!("{}: {}", found.row.label(), found.row.title);
    let help = found.help.as_deref().map_or_else(String::new, |help| format!("\nhelp: {}", one_line(help)));
    let message = format!("{}{help}", one_line(&found.message));
    let _ = writeln!(out, ",title={}::{}", property(&title), data(&message));
}

/// Text behind the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(&one_line(text)).replace(':', "%3A").replace(',', "%2C")
}
