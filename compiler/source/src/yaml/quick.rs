//! What almost every task is written in, read in one pass over the bytes: block and flow lists and maps, plain and quoted
//! scalars, literal and folded blocks, comments.
//!
//! [`read`] hands the builder the events that the parser behind `events` would hand it, or gives up with [`Doubt`]: at all
//! that is rare (anchors, tags, tabs, directives, escapes by number, a second document …) and at all that may be an error. So
//! it has nothing to say about a text, and decides nothing: that the two agree is tested on every text at hand.

use std::borrow::Cow;

use super::build::Builder;
use super::events::{Event, Placed};
use crate::scalar::{Style, short_escape};

mod blocks;

/// The text has to be read by the whole parser.
pub(super) struct Doubt;

type Sure<T = ()> = Result<T, Doubt>;

/// How deep lists and maps nest here; the parser has something to say of deeper ones.
const MOST_DEPTH: usize = 60;
/// The longest key, in bytes; the parser refuses those that are a little longer.
const LONGEST_KEY: usize = 1000;
/// How many comments are read here; the parser refuses very many in a row.
const MOST_COMMENTS: usize = 10_000;

/// Reads a text into a builder that has not read anything. After a doubt the builder is of no use.
pub(super) fn read<'t>(text: &'t str, builder: &mut Builder<'t>) -> Sure {
    if !is_harmless(text) {
        return Err(Doubt);
    }
    let mut quick = Quick { text, bytes: text.as_bytes(), at: 0, line: 0, depth: 0, comments: 0, builder };
    quick.gap()?;
    if quick.column() == 0
        && text.get(quick.at..).is_some_and(|rest| rest.starts_with("---"))
        && quick.is_blank(quick.at + 3)
    {
        quick.at += 3;
        quick.line_is_over()?;
    }
    if quick.column() != 0 {
        return Err(Doubt);
    }
    if quick.is_dash() {
        quick.list(0)?;
    } else {
        let key = quick.key()?;
        quick.map(0, key)?;
    }
    if !quick.is_at_end() {
        return Err(Doubt);
    }
    quick.builder.finish();
    Ok(())
}

/// Whether the text has none of the characters that YAML forbids, breaks lines at, or reads as a mark of its encoding.
fn is_harmless(text: &str) -> bool {
    let fits = |byte: u8| (byte >= b' ' && byte != 0x7f) || byte == b'\n' || byte == b'\t';
    // Without a way out in the middle, so that many bytes are looked at together.
    let harmless = text.bytes().fold(true, |all, byte| all & fits(byte));
    let odd =
        |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    harmless && (text.is_ascii() || !text.contains(odd))
}

/// The bytes at which a plain scalar may end, or that it does not hold here.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let bytes = b"\0\n\t :,[]{}";
    let mut at = 0;
    while at < bytes.len() {
        stops[bytes[at] as usize] = true;
        at += 1;
    }
    stops
};

/// A scalar that is not handed over yet.
struct Token<'t> {
    text: Cow<'t, str>,
    style: Style,
    start: usize,
    end: usize,
}

/// Where the reading is.
struct Quick<'b, 't> {
    text: &'t str,
    bytes: &'t [u8],
    /// The next byte.
    at: usize,
    /// Where its line begins.
    line: usize,
    depth: usize,
    comments: usize,
    builder: &'b mut Builder<'t>,
}

impl<'t> Quick<'_, 't> {
    /// A byte of the text; 0 behind its end, which no text has inside.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn next(&self) -> u8 {
        self.byte(self.at)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The column of the next byte, from 0. Only spaces, dashes and quotes stand before where it matters.
    fn column(&self) -> usize {
        self.at - self.line
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\n' | 0)
    }

    /// Whether the next item of a list begins here.
    fn is_dash(&self) -> bool {
        self.next() == b'-' && self.is_blank(self.at + 1)
    }

    fn hand_over(&mut self, event: Event<'t>, start: usize, end: usize) -> Sure {
        if self.builder.take(Placed { event, start, end }) { Ok(()) } else { Err(Doubt) }
    }

    fn scalar(&mut self, token: Token<'t>) -> Sure {
        let Token { text, style, start, end } = token;
        if self.builder.untagged(text, style, start, end) { Ok(()) } else { Err(Doubt) }
    }

    fn deeper(&mut self) -> Sure {
        self.depth += 1;
        if self.depth > MOST_DEPTH { Err(Doubt) } else { Ok(()) }
    }

    /// Ends a list or map behind the last byte that was read.
    fn end(&mut self) -> Sure {
        self.depth -= 1;
        self.hand_over(Event::End, self.at, self.at)
    }

    fn skip_spaces(&mut self) {
        while self.next() == b' ' {
            self.at += 1;
        }
    }

    /// Skips blanks, line breaks and comments. Says whether a line was begun.
    fn gap(&mut self) -> Sure<bool> {
        let mut begun = self.at == self.line;
        loop {
            self.skip_spaces();
            match self.next() {
                b'\n' => {
                    self.at += 1;
                    self.line = self.at;
                    begun = true;
                }
                b'#' => self.comment(begun)?,
                b'\t' => return Err(Doubt),
                _ => return Ok(begun),
            }
        }
    }

    /// A comment up to the end of its line.
    fn comment(&mut self, is_alone: bool) -> Sure {
        let start = self.at;
        let separate = is_alone || self.byte(start.wrapping_sub(1)) == b' ';
        // What follows a value and begins otherwise may have been meant as a part of it.
        let plain =
            is_alone || matches!(self.byte(start + 1), b' ' | b'\t' | b'#' | b'!' | b'-' | b'=' | b'*' | b'\n' | 0);
        self.comments += 1;
        if !separate || !plain || self.comments > MOST_COMMENTS {
            return Err(Doubt);
        }
        self.at = self.line_end(start);
        self.hand_over(Event::Comment(Cow::Borrowed(self.slice(start + 1, self.at))), start, self.at)
    }

    /// The end of the line that a byte is on, without its break.
    fn line_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
    }

    /// What stands behind a complete value: nothing but a comment up to the end of the line.
    fn line_is_over(&mut self) -> Sure {
        if self.gap()? || self.is_at_end() { Ok(()) } else { Err(Doubt) }
    }

    /// The scalar that begins here, on one line.
    fn token(&mut self, in_flow: bool) -> Sure<Token<'t>> {
        match self.next() {
            b'"' => self.double(),
            b'\'' => self.single(),
            _ => self.plain(in_flow),
        }
    }

    fn plain(&mut self, in_flow: bool) -> Sure<Token<'t>> {
        let start = self.at;
        match self.next() {
            b'-' if self.byte(start + 1).is_ascii_alphanumeric() => {}
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%'
            | b'@' | b'`' | b'\t' | b'\n' | 0 => return Err(Doubt),
            _ => {}
        }
        let end = self.plain_end(start, in_flow)?;
        self.at = end;
        Ok(Token { text: Cow::Borrowed(self.slice(start, end)), style: Style::Plain, start, end })
    }

    /// Where plain text ends that is at `at`: before a `: `, a ` #`, the end of the line, in a flow also a bracket or comma.
    fn plain_end(&self, mut at: usize, in_flow: bool) -> Sure<usize> {
        let mut end = at;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let length = rest.iter().position(|&byte| STOPS.get(usize::from(byte)).is_none_or(|stops| *stops));
            let length = length.unwrap_or(rest.len());
            at += length;
            if length > 0 {
                end = at;
            }
            match self.byte(at) {
                b' ' => {
                    while self.byte(at) == b' ' {
                        at += 1;
                    }
                    if self.byte(at) == b'#' {
                        return Ok(end);
                    }
                }
                b':' if self.is_blank(at + 1) => return Ok(end),
                b':' if in_flow && matches!(self.byte(at + 1), b',' | b'[' | b']' | b'{' | b'}') => return Err(Doubt),
                b'\t' => return Err(Doubt),
                b'\n' | 0 => return Ok(end),
                b',' | b'[' | b']' | b'{' | b'}' if in_flow => return Ok(end),
                _ => {
                    at += 1;
                    end = at;
                }
            }
        }
    }

    fn single(&mut self) -> Sure<Token<'t>> {
        let (start, mut from) = (self.at, self.at + 1);
        let mut whole = String::new();
        loop {
            let end = self.quoted_end(from, b'\'')?;
            let twice = self.byte(end + 1) == b'\'';
            if !twice {
                self.at = end + 1;
                let rest = self.slice(from, end);
                let text = if whole.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(whole + rest) };
                return Ok(Token { text, style: Style::Single, start, end: self.at });
            }
            whole.push_str(self.slice(from, end + 1));
            from = end + 2;
        }
    }

    fn double(&mut self) -> Sure<Token<'t>> {
        let (start, mut from) = (self.at, self.at + 1);
        let mut whole = String::new();
        loop {
            let end = self.quoted_end(from, b'"')?;
            whole.reserve(if self.byte(end) == b'\\' { end - from + 16 } else { 0 });
            if self.byte(end) == b'"' {
                self.at = end + 1;
                let rest = self.slice(from, end);
                let text = if whole.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(whole + rest) };
                return Ok(Token { text, style: Style::Double, start, end: self.at });
            }
            whole.push_str(self.slice(from, end));
            let letter = char::from(self.byte(end + 1));
            // The others name a character by its number, or break a line.
            let plain = letter.is_ascii_graphic() || letter == ' ';
            whole.push(short_escape(letter).filter(|_| plain).ok_or(Doubt)?);
            from = end + 2;
        }
    }

    /// The next quote, or backslash in double quotes, on the line.
    fn quoted_end(&self, from: usize, quote: u8) -> Sure<usize> {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let stops = |&byte: &u8| byte == quote || byte == b'\n' || (byte == b'\\' && quote == b'"');
        let end = from + rest.iter().position(stops).ok_or(Doubt)?;
        if self.byte(end) == b'\n' { Err(Doubt) } else { Ok(end) }
    }

    /// Whether the scalar that was just read is a key: its colon follows.
    fn is_key(&self) -> bool {
        self.next() == b':' && self.is_blank(self.at + 1)
    }

    /// A key with its colon behind it.
    fn key(&mut self) -> Sure<Token<'t>> {
        let key = self.token(false)?;
        if self.is_key() { Ok(key) } else { Err(Doubt) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aigo_ir::span::FileId;

    use super::super::build::Builder;
    use super::read;

    fn is_read(text: &str) -> bool {
        let shared: Arc<str> = text.into();
        read(text, &mut Builder::new(shared, text, FileId(0), &[])).is_ok()
    }

    /// What the two readers make of texts is compared elsewhere; here, that this one reads what is common, and leaves the rest.
    #[test]
    fn what_is_common_is_read_here() {
        let task = "# A comment.\naigo: 1\n\nmodels:   # and another\n  user: {model: a/b, url: \"http://x:1/v\", t: [1, -2.5, 'it''s']}\n\
                    list:\n- a b: \"\\n\"\n  c: |  # text\n    - x: 1\n\n      # y\n  d: >-\n    folded\n    text\n-  'é'\n\
                    rows:\n  - {id: a,\n     b: c,}\n  - plain text\n    that goes on\nempty:\n";
        for text in [task, &format!("# x\n---  # y\n{task}"), "a: 1", "a:\n", "- 1\n"] {
            assert!(is_read(text), "{text}");
        }
        for rare in [
            "",
            "text\n",
            "a: &x 1\n",
            "a: *x\n",
            "a: !t 1\n",
            "a:\t1\n",
            "a: b: c\n",
            "--- a\n",
            "a: 1\n---\nb: 1\n",
            "a: 1\n...\n",
            "a: 1\r\n",
            "\u{feff}a: 1\n",
            "? a\n",
            "- - a\n",
            "a: \"\\x41\"\n",
            "a: 'x\n  y'\n",
            "a: {b}\n",
            "a: [b: c]\n",
            "a: |2\n  x\n",
            "a: |\n  x",
            "a: 1 #x\n",
            "a: {{ x }}\n",
            " a: 1\n",
            "a: 1\n b: 2\n",
            "-\n",
            "a\n",
            "a: \u{7}\n",
            "a: \u{85}\n",
        ] {
            assert!(!is_read(rare), "{rare:?}");
        }
    }
}
