//! A file's text as miette may see it. miette passes control characters on, panics on columns beyond 65,535, does not crop
//! lines, and looks for lines from the start of the file for each place. So it gets a window of a few lines, without such
//! characters and as wide as the terminal.

use std::borrow::Cow;
use std::ops::Range;

use aigo_ir::span::SourceFile;
use aigo_ir::text::is_dangerous;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::one_line;
use crate::finding::floor;

/// A text that is safe to show, of the same length as the file's.
pub(super) struct SafeSource<'s> {
    file: &'s SourceFile,
    name: String,
    text: Cow<'s, str>,
}

impl<'s> SafeSource<'s> {
    /// `secrets` are the ranges of which nothing may be seen.
    pub(super) fn new(file: &'s SourceFile, secrets: impl Iterator<Item = Range<usize>>) -> Self {
        let mut text = safe(&file.text);
        for secret in secrets {
            let range = floor(&text, secret.start)..floor(&text, secret.end);
            // The layout stays what it is.
            let dark: String = text.get(range.clone()).unwrap_or_default().bytes().map(dark).collect();
            text.to_mut().replace_range(range, &dark);
        }
        Self { file, name: one_line(&file.name), text }
    }

    /// The line of a byte, from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.file.line_at(at.min(self.text.len())).0
    }

    /// The first byte of a line, and the one behind its last, the line end left out.
    fn line(&self, line: usize) -> (usize, usize) {
        let (start, next) = (self.file.line_start(line), self.file.line_start(line + 1));
        let text = self.text.get(start..next).unwrap_or_default();
        (start, start + text.trim_end_matches(['\n', '\r']).len())
    }

    /// The whole characters of a range that lie on its first line.
    pub(super) fn on_one_line(&self, start: usize, end: usize) -> (usize, usize) {
        let start = floor(&self.text, start);
        let (_, last) = self.line(self.line_of(start));
        (start, floor(&self.text, end).min(last.max(start)).max(start))
    }

    /// The part of a line of at most `room` characters that has the bytes `start..end` in it, and whether something is cut
    /// off on either side. This looks at no more of a long line than is shown.
    fn part(&self, line: usize, start: usize, end: usize, room: usize) -> (usize, usize) {
        let (first, last) = self.line(line);
        let fits = |from: usize, to: usize| {
            to - from <= 4 * room && self.text.get(from..to).is_some_and(|text| text.chars().count() <= room)
        };
        if fits(first, last) {
            return (first, last);
        }
        let end = end.clamp(first, last);
        let from = if fits(first, end) { first } else { self.back(start.clamp(first, last), first, room / 3) };
        let rest = self.text.get(from..last).unwrap_or_default();
        match rest.char_indices().nth(room) {
            Some((at, _)) => (from, from + at),
            // The end is in sight: there is room for more before the place.
            None => (self.back(last, first, room), last),
        }
    }

    /// So many characters before a place, but not before `least`.
    fn back(&self, at: usize, least: usize, count: usize) -> usize {
        let before = self.text.get(least..at).unwrap_or_default();
        before.char_indices().rev().nth(count.saturating_sub(1)).map_or(least, |(back, _)| least + back)
    }

    /// The lines around places, of which the first is where a finding is; it stands at `column`, from 0.
    pub(super) fn window(&self, places: &[(usize, usize)], column: usize, room: usize) -> Window {
        let lines = |at: &(usize, usize)| self.line_of(at.0);
        let first = places.iter().map(lines).min().unwrap_or(1);
        let last = places.iter().map(lines).max().unwrap_or(1);
        let lines_before = self.file.first.line - 1;
        let mut window =
            Window { name: self.name.clone(), text: String::new(), lines: Vec::new(), lines_before, column };
        for line in first.saturating_sub(1).max(1)..=(last + 1).min(self.file.lines()) {
            let own = places.iter().find(|place| self.line_of(place.0) == line);
            // Behind a newline at the end is a line that nobody has written.
            if own.is_none() && line == self.file.lines() && self.line(line).0 == self.text.len() {
                continue;
            }
            let (start, end) = own.copied().unwrap_or_else(|| (self.line(line).0, self.line(line).0));
            // Room for a mark on either side.
            let (from, to) = self.part(line, start, end, room.saturating_sub(2));
            let (whole_from, whole_to) = self.line(line);
            let start = window.text.len();
            window.text.push_str(if from > whole_from { CUT } else { "" });
            let shown = Shown { line, start, text: window.text.len(), whole_from, from, to };
            window.text.push_str(self.text.get(from..to).unwrap_or_default());
            window.text.push_str(if to < whole_to { CUT } else { "" });
            window.text.push('\n');
            window.lines.push(shown);
        }
        window
    }

    /// The lines that hold a range, with the range replaced: what stands before and behind is cropped where it is long.
    pub(super) fn edited(&self, start: usize, end: usize, text: &str, room: usize) -> (usize, String) {
        let start = floor(&self.text, start);
        let end = floor(&self.text, end).max(start);
        let (first, last) = (self.line_of(start), self.line_of(end));
        let (from, _) = self.part(first, start, start, room);
        let (whole_from, _) = self.line(first);
        let (_, whole_to) = self.line(last);
        let rest = self.text.get(end..whole_to.max(end)).unwrap_or_default();
        let to = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
        let mark = if from > whole_from { CUT } else { "" };
        let before = self.text.get(from..start).unwrap_or_default();
        (first, format!("{mark}{before}{text}{}", rest.get(..to).unwrap_or_default()))
    }
}

/// Stands for what is cut off.
const CUT: &str = "…";

/// The text with every character that could drive a terminal replaced by one of the same length in bytes.
fn safe(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| is_dangerous(c) && c != '\n' && c != '\t';
    if !text.chars().any(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (is_bad(c), c.len_utf8()) {
            (false, _) => out.push(c),
            (true, 1) => out.push(if c == '\r' { ' ' } else { '?' }),
            (true, 2) => out.push('¿'),
            (true, _) => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

/// What stands for a byte of a secret.
const fn dark(byte: u8) -> char {
    if matches!(byte, b'\n' | b'\t' | b' ') { byte as char } else { '*' }
}

/// Some lines of a file, cropped.
#[derive(Debug)]
pub(super) struct Window {
    name: String,
    text: String,
    lines: Vec<Shown>,
    /// Where the finding stands in its line of the file, from 0.
    column: usize,
    /// How many lines of the file stand before the text, of which it is a piece.
    lines_before: usize,
}

/// A line of a window.
#[derive(Debug)]
struct Shown {
    /// Its number in the file, from 1.
    line: usize,
    /// Where it begins in the window.
    start: usize,
    /// Where its text begins in the window, behind the mark of what is cut off.
    text: usize,
    /// Where it begins in the file.
    whole_from: usize,
    /// The bytes of the file that it shows.
    from: usize,
    to: usize,
}

impl Window {
    /// A range of the file, on one line, as a range of the window.
    pub(super) fn range(&self, start: usize, end: usize) -> (usize, usize) {
        let Some(shown) = self.lines.iter().rev().find(|shown| shown.whole_from <= start) else { return (0, 0) };
        let inside = |at: usize| shown.text + at.clamp(shown.from, shown.to) - shown.from;
        (inside(start), inside(end) - inside(start))
    }

    /// The line of a byte of the window, from 0.
    fn at(&self, byte: usize) -> usize {
        self.lines.partition_point(|shown| shown.start <= byte).saturating_sub(1)
    }
}

impl SourceCode for Window {
    /// The lines of a span, with those around it. Without lines around it miette wants to know where the finding stands.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let first = self.at(start).saturating_sub(before);
        let next = self.at(end) + after + 1;
        let of = |at: usize| self.lines.get(at).map_or(self.text.len(), |shown| shown.start);
        let (from, column) = if before == 0 { (start, self.column) } else { (of(first), 0) };
        let data = self.text.get(from..of(next)).ok_or(MietteError::OutOfBounds)?.as_bytes();
        let line = self.lines.get(first).map_or(0, |shown| shown.line - 1) + self.lines_before;
        let count = next.min(self.lines.len()) - first;
        let range = SourceSpan::from((from, data.len()));
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), data, range, line, column, count)))
    }
}
