//! From a place in the decoded text of a scalar to its place in the file: escapes, folding and indentation undone.

use std::ops::Range;

use aigo_ir::span::Span;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// What is needed to find a decoded character of one scalar in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarSource {
    style: Style,
    /// Of a block scalar: the spaces before each line that are not content.
    indent: u32,
    span: Span,
}

impl ScalarSource {
    pub(crate) fn new(style: Style, span: Span, text: &str) -> Self {
        let before = text.get(..span.start as usize).unwrap_or_default();
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        // The span of a block scalar begins with its content, so what stands before is its indentation.
        let blank = before.get(line..).filter(|lead| lead.bytes().all(|b| b == b' ')).map_or(0, str::len);
        Self { style, indent: u32::try_from(blank).unwrap_or(0), span }
    }

    /// How the scalar is written.
    pub const fn style(self) -> Style {
        self.style
    }

    /// The whole scalar.
    pub const fn span(self) -> Span {
        self.span
    }

    /// The bytes of the file that became `range` of `decoded`, the scalar's text. An escape or a folded line break is found
    /// whole. `file_text` is the text that was parsed; if the two do not agree, the answer is the whole scalar.
    pub fn locate(&self, file_text: &str, decoded: &str, range: Range<usize>) -> Span {
        let mut walk = Walk::new(file_text, decoded, &range);
        let (start, end) = (self.span.start as usize, self.span.end as usize);
        let found = match self.style {
            Style::Plain => walk.flow(start, end, Style::Plain),
            Style::Single | Style::Double if end >= start + 2 => walk.flow(start + 1, end - 1, self.style),
            Style::Single | Style::Double => None,
            Style::Literal | Style::Folded => walk.block(start, end, self.indent as usize, self.style == Style::Folded),
        };
        found.and_then(|()| walk.found()).map_or(self.span, |(start, end)| Span::new(self.span.file, start, end))
    }
}

/// A walk over source and decoded text side by side. Each step checks that they agree; `None` says that they do not.
struct Walk<'a> {
    source: &'a str,
    decoded: &'a str,
    /// How much of `decoded` is accounted for.
    at: usize,
    want: Range<usize>,
    start: Option<usize>,
    end: usize,
}

impl<'a> Walk<'a> {
    fn new(source: &'a str, decoded: &'a str, range: &Range<usize>) -> Self {
        let start = range.start.min(decoded.len());
        Self { source, decoded, at: 0, want: start..range.end.clamp(start, decoded.len()), start: None, end: 0 }
    }

    /// The source bytes `from..to` stand in the decoded text as they are.
    fn verbatim(&mut self, from: usize, to: usize) -> Option<()> {
        let piece = self.source.get(from..to)?;
        let next = self.at + piece.len();
        if self.decoded.get(self.at..next)? != piece {
            return None;
        }
        if self.want.start < next && self.start.is_none() {
            self.start = Some(from + self.want.start.saturating_sub(self.at));
        }
        if self.want.end > self.at {
            self.end = from + self.want.end.min(next) - self.at;
        }
        self.at = next;
        Some(())
    }

    /// The source bytes `from..to` became `piece`.
    fn became(&mut self, piece: &str, from: usize, to: usize) -> Option<()> {
        let next = self.at + piece.len();
        if self.decoded.get(self.at..next)? != piece {
            return None;
        }
        if self.want.start < next && self.start.is_none() {
            self.start = Some(from);
        }
        if self.want.end > self.at {
            self.end = to;
        }
        self.at = next;
        Some(())
    }

    /// The answer, once all of the decoded text is accounted for.
    fn found(&self) -> Option<(usize, usize)> {
        let start = self.start?;
        let end = if self.want.is_empty() { start } else { self.end };
        let whole = self.source.is_char_boundary(start) && self.source.is_char_boundary(end);
        (self.at == self.decoded.len() && whole).then_some((start, end.max(start)))
    }

    /// Remembers where an empty range at the very end stands.
    fn finish(&mut self, end: usize) {
        if self.want.start == self.decoded.len() && self.start.is_none() {
            self.start = Some(end);
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    /// The length of the line break at `at`, 0 if there is none.
    fn break_at(&self, at: usize) -> usize {
        match self.byte(at) {
            Some(b'\r') if self.byte(at + 1) == Some(b'\n') => 2,
            Some(b'\r' | b'\n') => 1,
            _ => 0,
        }
    }

    /// Plain and quoted text between `at` and `end`.
    fn flow(&mut self, mut at: usize, end: usize, style: Style) -> Option<()> {
        while at < end {
            match self.byte(at)? {
                b' ' | b'\t' | b'\n' | b'\r' => at = self.blanks(at, end, 0)?,
                b'\'' if style == Style::Single => {
                    self.became("'", at, at + 2)?;
                    at += 2;
                }
                b'\\' if style == Style::Double => at = self.escape(at, end)?,
                _ => {
                    let rest = self.source.get(at..end)?;
                    let stop = rest.find([' ', '\t', '\n', '\r', '\'', '\\']);
                    // A quote or a backslash that is no more than itself in this style is stepped over.
                    let length = stop.filter(|&n| n > 0).unwrap_or(if stop.is_some() { 1 } else { rest.len() });
                    self.verbatim(at, at + length)?;
                    at += length;
                }
            }
        }
        self.finish(end);
        Some(())
    }

    /// A run of spaces, tabs and line breaks: kept if there is no break, else folded. `breaks` is 1 after an escaped break.
    fn blanks(&mut self, from: usize, end: usize, mut breaks: usize) -> Option<usize> {
        let (mut at, mut pieces, escaped) = (from, Vec::new(), breaks > 0);
        while at < end {
            let length = self.break_at(at);
            if length > 0 {
                breaks += 1;
                if breaks > 1 {
                    pieces.push((at, at + length));
                }
                at += length;
            } else if matches!(self.byte(at), Some(b' ' | b'\t')) {
                at += 1;
            } else {
                break;
            }
        }
        if breaks == 0 {
            self.verbatim(from, at)?;
        } else if breaks == 1 && !escaped {
            self.became(" ", from, at)?;
        }
        for (start, end) in pieces {
            self.became("\n", start, end)?;
        }
        Some(at)
    }

    /// A backslash in double quotes: gives the place after its escape.
    fn escape(&mut self, at: usize, end: usize) -> Option<usize> {
        let newline = self.break_at(at + 1);
        if newline > 0 {
            return self.blanks(at + 1 + newline, end, 1);
        }
        let character = self.source.get(at + 1..end)?.chars().next()?;
        let digits = match character {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let mut next = at + 1 + character.len_utf8() + digits;
        let mut code = if digits > 0 { self.hex(next - digits, next)? } else { short_escape(character)? as u32 };
        if digits == 4 && (0xd800..0xdc00).contains(&code) && self.source.get(next..next + 2)? == "\\u" {
            let low = self.hex(next + 2, next + 6)?;
            code = 0x10000 + ((code - 0xd800) << 10) + low.checked_sub(0xdc00)?;
            next += 6;
        }
        let mut buffer = [0; 4];
        self.became(char::from_u32(code)?.encode_utf8(&mut buffer), at, next)?;
        Some(next)
    }

    fn hex(&self, from: usize, to: usize) -> Option<u32> {
        u32::from_str_radix(self.source.get(from..to)?, 16).ok()
    }

    /// Literal or folded text whose first character is at `start`. Lines are walked one by one; line breaks are handed out
    /// when the next line tells what became of them.
    fn block(&mut self, start: usize, end: usize, indent: usize, folded: bool) -> Option<()> {
        let mut at = self.leading_breaks(start, indent)?;
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let mut after_blank = None;
        while at < end {
            let line = self.source.get(at..end)?;
            let blank = line.bytes().take(if at == start { 0 } else { indent }).take_while(|&b| b == b' ').count();
            let from = at + blank;
            let to = at + line.find(['\n', '\r']).unwrap_or(line.len());
            if to > from {
                let starts_blank = matches!(self.byte(from), Some(b' ' | b'\t'));
                let folds = folded && after_blank == Some(false) && !starts_blank;
                self.hand_out(&pending, folds)?;
                pending.clear();
                after_blank = Some(starts_blank);
                self.verbatim(from, to)?;
            }
            let newline = self.break_at(to);
            if newline > 0 {
                pending.push((to, to + newline));
            }
            at = to + newline;
            if newline == 0 {
                break;
            }
        }
        // What the end keeps of its breaks depends on the chomping; the decoded text knows.
        while self.at < self.decoded.len() {
            let (from, to) = if pending.is_empty() { (end, end) } else { pending.remove(0) };
            self.became("\n", from, to)?;
        }
        self.finish(end);
        Some(())
    }

    /// The breaks of the empty lines before the first line of content; gives where that begins.
    fn leading_breaks(&mut self, start: usize, indent: usize) -> Option<usize> {
        let count = self.decoded.bytes().take_while(|&b| b == b'\n').count();
        if count == 0 || count == self.decoded.len() {
            return (count == 0).then_some(start);
        }
        let mut breaks = Vec::new();
        let mut line = start.checked_sub(indent)?;
        for _ in 0..count {
            let before = self.source.get(..line)?;
            let text = before
                .strip_suffix('\n')
                .map(|t| t.strip_suffix('\r').unwrap_or(t))
                .or_else(|| before.strip_suffix('\r'))?;
            breaks.push((text.len(), line));
            line = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        }
        for (from, to) in breaks.into_iter().rev() {
            self.became("\n", from, to)?;
        }
        Some(start)
    }

    fn hand_out(&mut self, breaks: &[(usize, usize)], folds: bool) -> Option<()> {
        match breaks {
            [(from, to)] if folds => self.became(" ", *from, *to),
            breaks => breaks.iter().skip(usize::from(folds)).try_for_each(|&(from, to)| self.became("\n", from, to)),
        }
    }
}

/// The character of an escape of one letter, in double quotes.
pub(crate) fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => character,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}
