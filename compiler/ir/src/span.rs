//! Where something was written: files, byte ranges, lines and columns.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// A file of one [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file. Line and column are computed last, by [`SourceMap::position`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`; offsets past 4 GiB are clamped (readers refuse such files earlier).
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest range that holds both; `other` must be of the same file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Keeps the place, changes the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }

    /// Borrows the value, keeps the place.
    pub const fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

/// Where a part of a program was written, if it was written by a person.
///
/// It takes no part in equality: where a thing stands is not what it is, and the text form of a program carries lines
/// only as comments.
#[derive(Clone, Copy, Default)]
pub struct Origin(pub Option<Span>);

impl Origin {
    /// The origin at `span`.
    pub const fn at(span: Span) -> Self {
        Self(Some(span))
    }
}

impl From<Span> for Origin {
    fn from(span: Span) -> Self {
        Self(Some(span))
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(span) => write!(f, "@{}:{}..{}", span.file.0, span.start, span.end),
            None => f.write_str("@?"),
        }
    }
}

/// A place as people count: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes from the start of the file.
    pub offset: usize,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// One text that spans point into.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// What the user calls it: a path as given.
    pub name: String,
    /// Its text. Byte offsets of spans are offsets into this.
    pub text: Arc<str>,
    /// Found when a position is first asked for: most files have no finding.
    line_starts: OnceLock<Vec<u32>>,
    /// How many characters stand before each multiple of [`STRIDE`] bytes. For lines that are longer than that: a file of one
    /// line can have many findings.
    characters: OnceLock<Vec<u32>>,
}

const STRIDE: usize = 4096;

impl SourceFile {
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(newlines).map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect()
        })
    }

    /// The number of characters between two places, both on characters.
    fn count(&self, start: usize, end: usize) -> usize {
        if end - start <= STRIDE {
            return self.text[start..end].chars().count();
        }
        self.before(end) - self.before(start)
    }

    /// The number of characters before a place.
    fn before(&self, at: usize) -> usize {
        let begins = |bytes: &[u8]| bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        let counts = self.characters.get_or_init(|| {
            let mut sum = 0;
            let pieces = self.text.as_bytes().chunks(STRIDE);
            let before = |piece: &[u8]| {
                let next = sum + u32::try_from(begins(piece)).unwrap_or(0);
                std::mem::replace(&mut sum, next)
            };
            pieces.map(before).collect()
        });
        let piece = (at / STRIDE).min(counts.len().saturating_sub(1));
        counts.get(piece).map_or(0, |&n| n as usize) + begins(&self.text.as_bytes()[piece * STRIDE..at])
    }
}

/// All texts that spans of one compilation point into.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a text and gives its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            characters: OnceLock::new(),
        });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// The file, if the id is of this map.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// All files with their ids, in the order of [`SourceMap::add`].
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(at, file)| (FileId(u32::try_from(at).unwrap_or(u32::MAX)), file))
    }

    /// The text under a span, cut to the file and to character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |file| {
            let start = floor_boundary(&file.text, span.start as usize);
            let end = floor_boundary(&file.text, span.end as usize).max(start);
            &file.text[start..end]
        })
    }

    /// Line and column of the span's first byte. An unknown file gives 1:1.
    pub fn position(&self, span: Span) -> Position {
        let Some(file) = self.get(span.file) else { return Position { offset: 0, line: 1, column: 1 } };
        let offset = floor_boundary(&file.text, span.start as usize);
        let starts = file.line_starts();
        let line = starts.partition_point(|&start| start as usize <= offset).max(1);
        let start = starts.get(line - 1).map_or(0, |&start| start as usize);
        Position { offset, line, column: file.count(start, offset) + 1 }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_survive_offsets_inside_one() {
        let mut map = SourceMap::default();
        let file = map.add("t", "é: 値\nb: c\n");
        let at = |start: usize| {
            let p = map.position(Span::new(file, start, start + 1));
            (p.line, p.column)
        };
        assert_eq!((at(0), at(4), at(5), at(8), at(900)), ((1, 1), (1, 4), (1, 4), (2, 1), (3, 1)));
        assert_eq!(map.slice(Span::new(file, 4, 7)), "値");
    }

    #[test]
    fn columns_of_a_very_long_line_are_exact() {
        let mut map = SourceMap::default();
        let text = format!("a\n{}\nb", "é値 x".repeat(3000));
        let file = map.add("t", text.as_str());
        for (at, _) in text.char_indices() {
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let column = text[line..at].chars().count() + 1;
            assert_eq!(map.position(Span::new(file, at, at)).column, column, "{at}");
        }
    }
}
