//! A file's text as miette may see it: miette passes control characters on, panics on columns beyond 65,535, and looks for
//! lines from the start of the file for each place. This has no such characters, shows no such lines, and knows where lines
//! begin.

use std::borrow::Cow;

use aigo_ir::span::SourceFile;
use aigo_ir::text::is_dangerous;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::one_line;

/// In bytes. A longer line is not shown.
const WIDEST: usize = 2_000;

/// A text that is safe to show, of the same length as the file's.
#[derive(Debug)]
pub(super) struct SafeSource<'s> {
    name: String,
    text: Cow<'s, str>,
    /// The first byte of each line.
    starts: Vec<usize>,
}

impl<'s> SafeSource<'s> {
    pub(super) fn new(file: &'s SourceFile) -> Self {
        let newlines = file.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self {
            name: one_line(&file.name),
            text: safe(&file.text),
            starts: std::iter::once(0).chain(newlines).collect(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The line of a byte, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The text of a line, without its end.
    pub(super) fn line(&self, line: usize) -> &str {
        let text = self.text.get(self.start(line)..self.start(line + 1)).unwrap_or_default();
        text.strip_suffix('\n').unwrap_or(text)
    }

    /// Whether the line is shown.
    pub(super) fn is_shown(&self, line: usize) -> bool {
        self.line(line).len() <= WIDEST
    }

    /// The next place at or before this one where a character begins.
    pub(super) fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// From 0, in characters.
    pub(super) fn column(&self, at: usize) -> usize {
        self.text.get(self.start(self.line_of(at))..at).map_or(0, |before| before.chars().count())
    }
}

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

impl SourceCode for SafeSource<'_> {
    /// The lines of a span, with those around it that are not too long. Without lines around it, the column tells where the
    /// span begins, in characters.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let (mut first, mut last) = (self.line_of(start), self.line_of(end));
        // Places that are shown together must not have a line between them that is not shown.
        if end > self.text.len() || !(first..=last).all(|line| self.is_shown(line)) {
            return Err(MietteError::OutOfBounds);
        }
        let (from, column) = if before == 0 {
            (start, self.column(start))
        } else {
            let least = first.saturating_sub(before);
            while first > least && self.is_shown(first - 1) {
                first -= 1;
            }
            (self.start(first), 0)
        };
        let most = (last + after).min(self.starts.len().saturating_sub(1));
        while last < most && self.is_shown(last + 1) {
            last += 1;
        }
        let data = self.text.get(from..self.start(last + 1)).unwrap_or_default().as_bytes();
        let shown = SourceSpan::from((from, data.len()));
        let count = last - first + 1;
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), data, shown, first, column, count)))
    }
}
