//! Findings away from the texts that they are about: what formats and counts need of them.

use std::cell::Cell;
use std::collections::BTreeMap;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::key::KeyWriter;
use aigo_ir::span::{FileId, Position, SourceMap, Span};

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
    /// What stays the same when lines above move: a hash of the code and of what stands around the place in its line.
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
    /// The place that was counted last. Findings come in order, so many on one long line are counted in one go.
    last: Cell<(FileId, Position)>,
}

/// How much of a line, in bytes on each side of a place, goes into its fingerprint.
const PRINTED: usize = 200;

impl<'s> Locator<'s> {
    pub(crate) fn new(task: &'s str, sources: &'s SourceMap) -> Self {
        let nowhere = Position { offset: usize::MAX, line: 0, column: 0 };
        Self { sources, task, given: BTreeMap::new(), last: Cell::new((FileId::default(), nowhere)) }
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

    /// `path:line:column` of a finding.
    pub(crate) fn shown(&self, diagnostic: &Diagnostic) -> String {
        let place = self.place(diagnostic.span);
        format!("{}:{}:{}", place.path, place.start.line, place.start.column)
    }

    fn place(&self, span: Option<Span>) -> Place {
        let path = self.path(span).to_owned();
        let start = self.position(span.map(|span| (span.file, span.start)));
        let end = self.position(span.map(|span| (span.file, span.end.max(span.start))));
        Place { path, start, end }
    }

    /// Line and column of a byte; the beginning, where the file is not known.
    pub(crate) fn position(&self, at: Option<(FileId, u32)>) -> Position {
        let first = Position { offset: 0, line: 1, column: 1 };
        let Some((id, file, offset)) = at.and_then(|(id, at)| Some((id, self.sources.get(id)?, at))) else {
            return first;
        };
        let offset = floor(&file.text, offset as usize);
        let (line, start) = file.line_at(offset);
        let (known, last) = self.last.get();
        let (from, column) = if known == id && last.line == line && last.offset <= offset {
            (last.offset, last.column)
        } else {
            (start, 1)
        };
        let column = column + file.text.get(from..offset).map_or(0, |before| before.chars().count());
        let position = Position { offset, line, column };
        self.last.set((id, position));
        // Of a piece of a file the places are those in the whole.
        let first = file.first;
        Position {
            offset: first.offset + offset,
            line: first.line + line - 1,
            column: if line == 1 { first.column + column - 1 } else { column },
        }
    }

    /// A hash of the code and of the text on both sides of the place in its line, without the white space around the line;
    /// then the number of equal ones before. Moved lines and another indentation do not change it.
    fn fingerprint(&mut self, diagnostic: &Diagnostic) -> String {
        let span = diagnostic.span.unwrap_or_default();
        let text = self.sources.get(span.file).map_or("", |file| &*file.text);
        let start = floor(text, span.start as usize);
        let before = text.get(floor(text, start.saturating_sub(PRINTED))..start).unwrap_or_default();
        let after = text.get(start..floor(text, start + PRINTED)).unwrap_or_default();
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

/// The next place at or before this one where a character begins.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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
    use aigo_ir::span::{FileId, SourceMap, Span};

    use super::{Locator, plain_path};

    #[test]
    fn places_are_those_of_the_source_map_in_any_order() {
        let mut sources = SourceMap::default();
        let text = "é: 値\r\nb: 😀 c\n\nlast";
        let files = [sources.add("a", text), sources.add("b", "x\ny")];
        let locator = Locator::new("a", &sources);
        // Forwards, backwards, and from file to file.
        let offsets = (0..=text.len() + 3).chain((0..text.len()).rev());
        for offset in offsets.flat_map(|at| [(files[0], at), (files[0], at / 2), (files[1], at)]) {
            let wanted = sources.position(Span::new(offset.0, offset.1, offset.1));
            let offset = (offset.0, u32::try_from(offset.1).unwrap());
            assert_eq!(locator.position(Some(offset)), wanted, "{offset:?}");
        }
        assert_eq!(locator.position(Some((FileId(9), 3))).column, 1);
    }

    #[test]
    fn one_file_has_one_path() {
        let paths = ["a/../lib.yaml", "./lib.yaml", "lib.yaml", "../lib.yaml", "/a//b/./c/../d", "../../x/../y"];
        let plain = ["lib.yaml", "lib.yaml", "lib.yaml", "../lib.yaml", "/a/b/d", "../../y"];
        assert_eq!(paths.map(plain_path), plain);
    }
}
