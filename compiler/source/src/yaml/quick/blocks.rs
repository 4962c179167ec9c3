//! Lists and maps, and the scalars that reach over several lines.

use std::borrow::Cow;

use super::{Doubt, LONGEST_KEY, Quick, Sure, Token};
use crate::scalar::Style;
use crate::yaml::events::Event;

impl<'t> Quick<'_, 't> {
    /// A block list whose first dash is next, in the column `indent`.
    pub(super) fn list(&mut self, indent: usize) -> Sure {
        self.deeper()?;
        self.hand_over(Event::ListStart { flow: false, tag: None }, self.at, self.at)?;
        loop {
            self.at += 1;
            self.gap()?;
            // An item that is not there, and a list in a list, where the parser's marks are their own.
            if self.is_at_end() || self.column() <= indent || self.is_dash() {
                return Err(Doubt);
            }
            self.node(indent, true)?;
            if self.is_at_end() || self.column() < indent || !self.is_dash() {
                break;
            }
            if self.column() > indent {
                return Err(Doubt);
            }
        }
        self.end()
    }

    /// A block map whose first key was read, in the column `indent`.
    pub(super) fn map(&mut self, indent: usize, first: Token<'t>) -> Sure {
        self.deeper()?;
        self.hand_over(Event::MapStart { flow: false, tag: None }, first.start, first.start)?;
        let mut key = first;
        loop {
            if key.end - key.start > LONGEST_KEY {
                return Err(Doubt);
            }
            self.scalar(key)?;
            self.value(indent)?;
            if self.is_at_end() || self.column() < indent {
                break;
            }
            if self.column() > indent {
                return Err(Doubt);
            }
            key = self.key()?;
        }
        self.end()
    }

    /// What a key of a map in the column `indent` holds; its colon is next.
    fn value(&mut self, indent: usize) -> Sure {
        let colon = self.at;
        self.at += 1;
        let below = self.gap()?;
        if !below && !self.is_at_end() {
            return self.node(indent, false);
        }
        let is_deeper = self.column() > indent;
        if !self.is_at_end() && self.is_dash() && self.column() >= indent {
            return self.list(self.column());
        }
        if !self.is_at_end() && is_deeper {
            return self.node(indent, true);
        }
        // The parser's mark of a value that is not there.
        let nothing = Token { text: Cow::Borrowed(""), style: Style::Plain, start: colon, end: colon };
        self.scalar(nothing)
    }

    /// A value that begins here and is no block list; `indent` is the column of the list or map that it is in. Reads on up to
    /// what follows it.
    fn node(&mut self, indent: usize, may_be_map: bool) -> Sure {
        match self.next() {
            b'|' | b'>' => return self.block(indent),
            b'[' | b'{' => self.flow(indent)?,
            _ => {
                let column = self.column();
                let token = self.token(false)?;
                if self.is_key() {
                    return if may_be_map { self.map(column, token) } else { Err(Doubt) };
                }
                let token = if token.style == Style::Plain { self.continued(token, indent)? } else { token };
                self.scalar(token)?;
            }
        }
        self.line_is_over()
    }

    /// A plain scalar with the lines that continue it.
    fn continued(&mut self, mut token: Token<'t>, indent: usize) -> Sure<Token<'t>> {
        loop {
            let (mut ahead, mut line, mut breaks) = (self.at, self.line, 0);
            loop {
                match self.byte(ahead) {
                    b' ' => {}
                    b'\n' => (line, breaks) = (ahead + 1, breaks + 1),
                    _ => break,
                }
                ahead += 1;
            }
            if breaks == 0 || ahead >= self.bytes.len() || ahead - line <= indent || self.byte(ahead) == b'#' {
                return Ok(token);
            }
            (self.at, self.line) = (ahead, line);
            let more = self.plain(false)?;
            if self.is_key() {
                return Err(Doubt);
            }
            let text = token.text.to_mut();
            text.push_str(if breaks == 1 { " " } else { "" });
            text.extend(std::iter::repeat_n('\n', breaks - 1));
            text.push_str(&more.text);
            token.end = more.end;
        }
    }

    /// A list or map in brackets; `indent` is the column of the block that it is in.
    fn flow(&mut self, indent: usize) -> Sure {
        self.deeper()?;
        let is_list = self.next() == b'[';
        let (start, close) = if is_list {
            (Event::ListStart { flow: true, tag: None }, b']')
        } else {
            (Event::MapStart { flow: true, tag: None }, b'}')
        };
        self.hand_over(start, self.at, self.at + 1)?;
        self.at += 1;
        loop {
            self.flow_gap(indent)?;
            if self.next() == close {
                break;
            }
            if !is_list {
                let key = self.token(true)?;
                if !self.is_key() || key.end - key.start > LONGEST_KEY {
                    return Err(Doubt);
                }
                self.scalar(key)?;
                self.at += 1;
                self.flow_gap(indent)?;
            }
            if matches!(self.next(), b'[' | b'{') {
                self.flow(indent)?;
            } else {
                let token = self.token(true)?;
                self.scalar(token)?;
            }
            self.flow_gap(indent)?;
            match self.next() {
                b',' => self.at += 1,
                next if next == close => {}
                _ => return Err(Doubt),
            }
        }
        self.at += 1;
        self.end()
    }

    /// Skips blanks and line breaks in a flow, whose lines must be deeper than the block around it.
    fn flow_gap(&mut self, indent: usize) -> Sure {
        let line = self.line;
        loop {
            self.skip_spaces();
            if self.next() != b'\n' {
                break;
            }
            self.at += 1;
            self.line = self.at;
        }
        if self.line != line && self.column() <= indent { Err(Doubt) } else { Ok(()) }
    }

    /// A literal or folded block whose `|` or `>` is next.
    fn block(&mut self, parent: usize) -> Sure {
        let folded = self.next() == b'>';
        let style = if folded { Style::Folded } else { Style::Literal };
        self.at += 1;
        let strips = self.next() == b'-';
        self.at += usize::from(strips);
        self.skip_spaces();
        if self.next() == b'#' {
            self.comment(false)?;
        }
        if self.next() != b'\n' {
            return Err(Doubt);
        }
        self.at += 1;
        self.line = self.at;
        self.skip_spaces();
        let (indent, start) = (self.column(), self.at);
        if indent <= parent || matches!(self.next(), b'\n' | 0) {
            return Err(Doubt);
        }
        let (mut text, end) = self.lines(indent, folded)?;
        if strips {
            text.truncate(text.trim_end_matches('\n').len());
        }
        self.at = self.line;
        self.scalar(Token { text: Cow::Owned(text), style, start, end })?;
        self.line_is_over()
    }

    /// The lines of a block from the column `indent` on, and where the last of them ends. Reads on up to the line behind.
    fn lines(&mut self, indent: usize, folded: bool) -> Sure<(String, usize)> {
        let (mut text, mut end, mut empty) = (String::new(), self.line, 0);
        loop {
            let from = self.line + (0..indent).take_while(|at| self.byte(self.line + at) == b' ').count();
            let next = self.byte(from);
            if next == b'\n' {
                empty += 1;
                self.line = from + 1;
                continue;
            }
            if from < self.line + indent || next == 0 {
                // A tab may be meant as indentation, and a last line of spaces as a line.
                let unsure = next == b'\t' || (next == 0 && from > self.line);
                return if unsure { Err(Doubt) } else { Ok((text, end)) };
            }
            let to = self.line_end(from);
            let line = self.slice(from, to);
            // Lines that are indented further are not folded, and those of nothing but spaces are hard to tell from empty ones.
            let is_plain = !matches!(next, b' ' | b'\t') || (!folded && !line.trim_matches([' ', '\t']).is_empty());
            if !is_plain || self.byte(to) != b'\n' {
                return Err(Doubt);
            }
            if folded && !text.is_empty() {
                text.truncate(text.len() - 1);
                text.push_str(if empty == 0 { " " } else { "" });
            }
            text.extend(std::iter::repeat_n('\n', empty));
            text.push_str(line);
            text.push('\n');
            (self.line, end, empty) = (to + 1, to + 1, 0);
        }
    }
}
