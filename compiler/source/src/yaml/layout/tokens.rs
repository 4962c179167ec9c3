//! A text cut into tokens, between which are only blanks and line breaks. What scalars and comments are, the parser says;
//! what stands between them are marks of one or a few characters.

use std::collections::VecDeque;

use super::super::events::{Event, Events};
use super::{Fault, fault};
use crate::scalar::Style;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// `-` of a list
    Dash,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `[` or `{`
    Open,
    /// `]` or `}`
    Close,
    /// `&name` or `!tag`
    Property,
    /// `*name`
    Alias,
    /// A plain or quoted scalar.
    Scalar(Style),
    /// `|` or `>` and what follows it
    Header,
    /// The lines of a block scalar without the last line break; so many blanks of each are no content.
    Lines {
        indent: usize,
    },
    Comment,
    /// `---` or `...`
    Marker,
    /// A line that begins with `%`.
    Directive,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) sort: Sort,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How many lines begin between the token before and this one; 0 is the same line.
    pub(super) breaks: usize,
}

impl Token {
    /// Whether it is the first of its line.
    pub(super) const fn is_first(&self) -> bool {
        self.breaks > 0
    }
}

/// The tokens of a text that the parser reads, in order. Its lines end with line feeds.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let (known, blocks) = known(text)?;
    let mut lexer = Lexer { text, at: 0, depth: 0, tokens: Vec::new(), blocks, lines: None };
    for token in known {
        lexer.marks(token.start)?;
        // A block scalar's lines may look like anything; they are taken already.
        if token.start >= lexer.at {
            lexer.push(token.sort, token.start, token.end);
        }
    }
    lexer.marks(text.len())?;
    Ok(lexer.tokens)
}

/// A token before its neighbours are known.
struct Known {
    sort: Sort,
    start: usize,
    end: usize,
}

/// What the parser places: scalars, aliases and comments in the order of the text, and the texts of block scalars.
fn known(text: &str) -> Result<(Vec<Known>, VecDeque<String>), Fault> {
    let (mut known, mut blocks) = (Vec::new(), VecDeque::new());
    let mut events = Events::new(text);
    loop {
        let placed = match events.next() {
            Ok(Some(placed)) => placed,
            Ok(None) => break,
            Err(stop) => return fault(format!("byte {}: {}", stop.at, stop.message)),
        };
        let (start, end) = (placed.start, placed.end);
        let sort = match placed.event {
            Event::Scalar { text, style: Style::Literal | Style::Folded, .. } => {
                blocks.push_back(text.into_owned());
                continue;
            }
            Event::Scalar { style, .. } if end > start => Sort::Scalar(style),
            Event::Alias(_) | Event::UnknownAlias(_) => Sort::Alias,
            Event::Comment(_) => Sort::Comment,
            _ => continue,
        };
        // A mark behind the last character would take in the line break.
        let end = start + text.get(start..end).map_or(0, |token| token.trim_end_matches(BLANKS).len());
        known.push(Known { sort, start, end });
    }
    // Comments may be told late.
    known.sort_by_key(|token| token.start);
    Ok((known, blocks))
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// How many brackets are open.
    depth: usize,
    tokens: Vec<Token>,
    /// The texts of the block scalars whose headers have not come yet.
    blocks: VecDeque<String>,
    /// The lines of a block scalar whose header was the last mark: they begin behind the line break.
    lines: Option<(usize, usize, usize)>,
}

impl Lexer<'_> {
    fn push(&mut self, sort: Sort, start: usize, end: usize) {
        let before = self.tokens.last().map_or(0, |token| token.end);
        let between = self.text.get(before..start).unwrap_or_default();
        let breaks = between.bytes().filter(|byte| *byte == b'\n').count() + usize::from(self.tokens.is_empty());
        self.tokens.push(Token { sort, start, end, breaks });
        self.at = end;
    }

    /// Takes the marks up to a place.
    fn marks(&mut self, to: usize) -> Result<(), Fault> {
        while let Some(c) = self.text.get(self.at..to).and_then(|rest| rest.chars().next()) {
            if c == '\n'
                && let Some((start, end, indent)) = self.lines.take()
                && end > start
            {
                self.push(Sort::Lines { indent }, start, end);
                continue;
            }
            if matches!(c, ' ' | '\t' | '\n') {
                self.at += 1;
            } else {
                self.mark(c)?;
            }
        }
        Ok(())
    }

    fn mark(&mut self, c: char) -> Result<(), Fault> {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        let first = start == 0 || self.text.as_bytes().get(start - 1) == Some(&b'\n');
        let marker =
            |mark: &str| rest.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(BLANKS));
        let (sort, length) = match c {
            '-' | '.' if first && (marker("---") || marker("...")) => (Sort::Marker, 3),
            '%' if first && self.depth == 0 => {
                (Sort::Directive, rest.lines().next().map_or(0, |line| line.trim_end().len()))
            }
            '-' if self.depth == 0 => (Sort::Dash, 1),
            '?' => (Sort::Question, 1),
            ':' => (Sort::Colon, 1),
            ',' => (Sort::Comma, 1),
            '[' | '{' => (Sort::Open, 1),
            ']' | '}' => (Sort::Close, 1),
            '&' | '!' => (Sort::Property, self.property(rest)),
            '|' | '>' if self.depth == 0 => (Sort::Header, rest.find([' ', '\t', '\n']).unwrap_or(rest.len())),
            _ => return fault(format!("byte {start}: `{c}` is no mark")),
        };
        match sort {
            Sort::Open => self.depth += 1,
            Sort::Close => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.push(sort, start, start + length);
        if sort == Sort::Header {
            self.lines = Some(self.lines_of_block(start)?);
        }
        Ok(())
    }

    /// The length of an anchor or a tag.
    fn property(&self, rest: &str) -> usize {
        let is_end = |c: char| BLANKS.contains(&c) || (self.depth > 0 && ",[]{}".contains(c));
        match rest.strip_prefix("!<").and_then(|tag| tag.find('>')) {
            Some(end) => end + 3,
            None => rest.find(is_end).unwrap_or(rest.len()),
        }
    }

    /// Where the lines of the block scalar begin and end whose header is at a place, and how far they are indented. The last
    /// line break is left out, and so are the empty lines at the end that do not count.
    fn lines_of_block(&mut self, header: usize) -> Result<(usize, usize, usize), Fault> {
        let Some(decoded) = self.blocks.pop_front() else { return fault(format!("byte {header}: no block scalar")) };
        let rest = self.text.get(header..).unwrap_or_default();
        let keeps = rest.split(BLANKS).next().is_some_and(|mark| mark.contains('+'));
        let Some(start) = rest.find('\n').map(|newline| header + newline + 1) else { return Ok((0, 0, 0)) };
        let lines = || self.text.get(start..).unwrap_or_default().split_inclusive('\n');
        let blanks = |line: &str| line.bytes().take_while(|byte| *byte == b' ').count();
        let is_blank = |line: &str| line.trim_matches([' ', '\n']).is_empty();
        let is_empty = decoded.trim_matches('\n').is_empty();
        // What the first line that says something has before its content; blanks of the content count as content.
        let own = decoded.split('\n').find(|line| !line.trim_matches(' ').is_empty()).map_or(0, blanks);
        let indent = match lines().find(|line| !is_blank(line)) {
            // Blanks on lines of nothing are no content.
            _ if is_empty => usize::MAX,
            Some(line) => blanks(line).saturating_sub(own),
            // A text of blanks alone: what its longest line has before it.
            None => lines()
                .map(blanks)
                .max()
                .unwrap_or(0)
                .saturating_sub(decoded.split('\n').map(blanks).max().unwrap_or(0)),
        };
        let (mut end, mut at) = (start, start);
        for line in lines() {
            let blank = is_blank(line);
            if !blank && (is_empty || blanks(line) < indent) {
                break;
            }
            at += line.len();
            // A blank line with more blanks than the indentation has content.
            if !blank || keeps || (!is_empty && line.trim_end_matches('\n').len() > indent) {
                end = at;
            }
        }
        let end = end - usize::from(end > start && self.text.as_bytes().get(end - 1) == Some(&b'\n'));
        Ok((start, end, indent))
    }
}

/// What ends a word.
const BLANKS: [char; 3] = [' ', '\t', '\n'];
