//! Findings away from the texts that they are about: what formats and counts need of them.

use std::collections::BTreeMap;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::key::KeyWriter;
use aigo_ir::span::{Position, SourceMap, Span};

/// One finding, ready to be shown.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) row: &'static Row,
    pub(crate) identity: Identity,
    pub(crate) is_fixable: bool,
    pub(crate) shown: Shown,
}

/// What tells findings apart: two tasks that import one file find the same in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    path: String,
    bytes: (u32, u32),
    code: &'static str,
    message: String,
}

/// A finding as its format wants it.
#[derive(Debug)]
pub(crate) enum Shown {
    /// Text, line ends included.
    Text(String),
    /// What machines read.
    Data(Box<Located>),
}

/// A finding with its places counted.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) row: &'static Row,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) place: Place,
    pub(crate) related: Vec<(String, Place)>,
    pub(crate) fix: Option<Edit>,
    /// What stays the same when lines above move: a hash of code, line and column in it.
    pub(crate) fingerprint: String,
}

/// A range of a file.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// A replacement of text.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) title: String,
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// Counts the places of findings of one task.
pub(crate) struct Locator<'s> {
    sources: &'s SourceMap,
    /// What the user calls the task: findings without a place are about it.
    task: &'s str,
    /// How often each fingerprint was given: equal lines are told apart by their order.
    given: BTreeMap<String, u32>,
}

impl<'s> Locator<'s> {
    pub(crate) fn new(task: &'s str, sources: &'s SourceMap) -> Self {
        Self { sources, task, given: BTreeMap::new() }
    }

    pub(crate) fn identity(&self, diagnostic: &Diagnostic) -> Identity {
        let span = diagnostic.span.unwrap_or_default();
        Identity {
            path: plain_path(self.path(diagnostic.span)),
            bytes: (span.start, span.end),
            code: diagnostic.row.code,
            message: diagnostic.message.clone(),
        }
    }

    pub(crate) fn located(&mut self, diagnostic: &Diagnostic) -> Located {
        let related = diagnostic.related.iter().map(|(span, label)| (label.clone(), self.place(Some(*span))));
        let fix = diagnostic.fix.as_ref().map(|fix| Edit {
            title: fix.title.clone(),
            place: self.place(Some(fix.span)),
            text: fix.text.clone(),
        });
        Located {
            row: diagnostic.row,
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            place: self.place(diagnostic.span),
            related: related.collect(),
            fix,
            fingerprint: self.fingerprint(diagnostic),
        }
    }

    fn path(&self, span: Option<Span>) -> &'s str {
        span.and_then(|span| self.sources.get(span.file)).map_or(self.task, |file| file.name.as_str())
    }

    fn place(&self, span: Option<Span>) -> Place {
        let first = Position { offset: 0, line: 1, column: 1 };
        let path = self.path(span).to_owned();
        let Some(span) = span.filter(|span| self.sources.get(span.file).is_some()) else {
            return Place { path, start: first, end: first };
        };
        let start = self.sources.position(span);
        let end = self.sources.position(Span { start: span.end.max(span.start), ..span });
        Place { path, start, end }
    }

    /// A hash of the code, the text of the line without the white space around it, and the column in it; then the number of
    /// equal ones before. Moved lines and another indentation do not change it.
    fn fingerprint(&mut self, diagnostic: &Diagnostic) -> String {
        let span = diagnostic.span.unwrap_or_default();
        let file = self.sources.get(span.file).map_or("", |file| &*file.text);
        let start = self.sources.position(span).offset;
        let (before, after) = file.split_at_checked(start).unwrap_or_default();
        let before = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let after = after.split('\n').next().unwrap_or_default().trim_end();
        let mut writer = KeyWriter::new("aigo.finding.line");
        writer.str(diagnostic.row.code).str(before).str(after);
        let hash = writer.finish().hex(8);
        let count = self.given.entry(hash.clone()).or_default();
        *count += 1;
        format!("{hash}:{count}")
    }
}

/// A path without `.` and, where that is certain, `..`: one file that two tasks import by different ways.
fn plain_path(path: &str) -> String {
    if !path.contains("./") && !path.contains("//") {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !["..", ""].contains(last)) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.first() == Some(&".") {
        parts.remove(0);
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::plain_path;

    #[test]
    fn one_file_has_one_path() {
        let paths = ["a/../lib.yaml", "./lib.yaml", "lib.yaml", "../lib.yaml", "/a//b/./c/../d", "../../x/../y"];
        let plain = ["lib.yaml", "lib.yaml", "lib.yaml", "../lib.yaml", "/a/b/d", "../../y"];
        assert_eq!(paths.map(plain_path), plain);
    }
}
