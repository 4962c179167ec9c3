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

/// The beginning of a file.
const START: Position = Position { offset: 0, line: 1, column: 1 };

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

/// A piece of a text that is not held whole: a few lines of a file that was streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Where the piece begins in its file.
    pub first: Position,
    /// The piece.
    pub text: Arc<str>,
}

impl Excerpt {
    /// The place in the file of a byte of the piece, cut to the piece and to a character.
    pub fn position(&self, at: usize) -> Position {
        let before = &self.text[..floor_boundary(&self.text, at)];
        let line_start = before.rfind('\n').map(|newline| newline + 1);
        let lines = before.bytes().filter(|&b| b == b'\n').count();
        let column = before[line_start.unwrap_or(0)..].chars().count();
        Position {
            offset: self.first.offset + before.len(),
            line: self.first.line + lines,
            column: if line_start.is_some() { column + 1 } else { self.first.column + column },
        }
    }
}

/// One text that spans point into.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// What the user calls it: a path as given.
    pub name: String,
    /// Its text, or the piece of it that is held. Byte offsets of spans are offsets into this.
    pub text: Arc<str>,
    /// Where the text begins in the file: 1:1 unless it is an [`Excerpt`].
    pub first: Position,
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

impl SourceFile {
    /// A text by its name.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self::of_excerpt(name, Excerpt { first: START, text: text.into() })
    }

    /// A piece of a text.
    pub fn of_excerpt(name: impl Into<String>, excerpt: Excerpt) -> Self {
        let Excerpt { first, text } = excerpt;
        Self { name: name.into(), text, first, line_starts: OnceLock::new(), characters: OnceLock::new() }
    }

    /// The line of a byte, from 1, and the byte at which that line begins.
    pub fn line_at(&self, offset: usize) -> (usize, usize) {
        let line = self.line_starts().partition_point(|&start| start as usize <= offset).max(1);
        (line, self.line_starts().get(line - 1).map_or(0, |&start| start as usize))
    }

    /// The byte at which a line begins, by its number from 1; the end of the text for those behind the last.
    pub fn line_start(&self, line: usize) -> usize {
        self.line_starts().get(line.saturating_sub(1)).map_or(self.text.len(), |&start| start as usize)
    }

    /// How many lines there are; behind a newline at the end is one more, which is empty.
    pub fn lines(&self) -> usize {
        self.line_starts().len()
    }
}

/// All texts that spans of one compilation point into.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<(FileId, Arc<SourceFile>)>,
    own: u32,
}

impl SourceMap {
    /// Adds a text and gives its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.add_excerpt(name, Excerpt { first: START, text: text.into() })
    }

    /// Adds a piece of a text. Spans are of the piece; [`SourceMap::position`] gives places in the whole file.
    pub fn add_excerpt(&mut self, name: impl Into<String>, excerpt: Excerpt) -> FileId {
        let file = FileId(self.own);
        self.own += 1;
        self.adopt(file, Arc::new(SourceFile::of_excerpt(name, excerpt)));
        file
    }

    /// Adds a text that has its id from elsewhere: it is shared with other maps. Such ids are far above those that
    /// [`SourceMap::add`] gives.
    pub fn adopt(&mut self, file: FileId, source: Arc<SourceFile>) {
        self.files.push((file, source));
    }

    /// The place of a file in the order in which the files were added.
    pub fn rank(&self, file: FileId) -> usize {
        self.files.iter().position(|(known, _)| *known == file).unwrap_or(self.files.len())
    }

    /// The file, if the id is of this map.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.iter().find(|(known, _)| *known == file).map(|(_, source)| &**source)
    }

    /// All files with their ids, in the order of [`SourceMap::add`].
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().map(|(file, source)| (*file, &**source))
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
        let Some(file) = self.get(span.file) else { return START };
        let offset = floor_boundary(&file.text, span.start as usize);
        let (line, start) = file.line_at(offset);
        let column = file.count(start, offset);
        Position {
            offset: file.first.offset + offset,
            line: file.first.line + line - 1,
            column: column + if line == 1 { file.first.column } else { 1 },
        }
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
    fn an_excerpt_has_the_places_of_its_file() {
        let mut map = SourceMap::default();
        let excerpt = Excerpt { first: Position { offset: 900, line: 733, column: 5 }, text: "é,b\nc".into() };
        let places: Vec<_> = [0, 3, 5, 99].map(|at| excerpt.position(at)).into();
        let file = map.add_excerpt("t", excerpt);
        assert_eq!(places, [0, 3, 5, 99].map(|at| map.position(Span::new(file, at, at))));
        assert_eq!((places[1].offset, places[1].line, places[1].column), (903, 733, 7));
        assert_eq!((places[2].line, places[2].column), (734, 1));
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
