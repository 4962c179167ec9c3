//! The blanks between tokens, written anew: the indentation of lines by the lists and maps they stand in, single blanks
//! between the tokens of a line, and the columns of comments.

use super::super::lines::line_start;
use super::tokens::{Sort, Token, tokens};
use super::{Fault, STEP};
use crate::scalar::Style;

/// The text with its blanks in order.
pub(super) fn written(text: &str) -> Result<String, Fault> {
    let tokens = tokens(text)?;
    let mut writer = Writer {
        text,
        tokens: &tokens,
        out: String::with_capacity(text.len()),
        open: vec![],
        depth: 0,
        trailing: vec![],
        behind_comments: behind_comments(&tokens),
    };
    for at in 0..tokens.len() {
        writer.token(at);
    }
    let ends_in_block = matches!(tokens.last(), Some(Token { sort: Sort::Lines { .. }, .. }));
    let mut out = writer.aligned();
    // Without its last line break a block scalar at the end of the file is another text.
    if (ends_in_block && text.ends_with('\n')) || (!ends_in_block && !out.is_empty()) {
        out.push('\n');
    }
    Ok(out)
}

/// A block list or map that is open.
#[derive(Clone, Copy)]
struct Block {
    is_list: bool,
    /// The column of its entries, as it was.
    column: usize,
    /// The column of its entries, as it is written.
    indent: usize,
}

/// A comment behind something else in its line.
struct Trailing {
    /// Where it stands in what is written.
    at: usize,
    /// Its column, as it was, and that of the end of what stands before it, as it is written, in characters.
    column: usize,
    code: usize,
}

struct Writer<'t> {
    text: &'t str,
    tokens: &'t [Token],
    out: String,
    open: Vec<Block>,
    /// How many brackets are open.
    depth: usize,
    trailing: Vec<Trailing>,
    /// Of each token, the next one that is no comment; a file may be all comments.
    behind_comments: Vec<usize>,
}

impl Writer<'_> {
    fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    /// The column of a token, as it was, in bytes.
    fn column(&self, token: &Token) -> usize {
        token.start - line_start(self.text, token.start)
    }

    /// Whether a token stands deeper than the dash before it: a dash may stand alone.
    fn is_deeper(&self, at: usize) -> bool {
        let dash = at.checked_sub(1).and_then(|at| self.get(at));
        dash.zip(self.get(at)).is_some_and(|(dash, token)| self.column(token) > self.column(dash))
    }

    fn token(&mut self, at: usize) {
        let Some(&token) = self.get(at) else { return };
        let before = at.checked_sub(1).and_then(|at| self.get(at)).map(|token| token.sort);
        if token.sort == Sort::Close {
            self.depth = self.depth.saturating_sub(1);
        }
        let joins = before == Some(Sort::Dash) && self.depth == 0 && token.sort != Sort::Comment && self.is_deeper(at);
        if let Sort::Lines { indent } = token.sort {
            self.block_lines(token, indent);
        } else if token.is_first() && !joins {
            self.line(at, token);
        } else if token.sort == Sort::Comment {
            let code = last_line(&self.out).chars().count();
            self.out.push_str("  ");
            let line = last_line(self.text.get(..token.start).unwrap_or_default());
            self.trailing.push(Trailing { at: self.out.len(), column: line.chars().count(), code });
        } else {
            self.out.push_str(before.map_or("", |before| separator(before, token.sort)));
            self.begin(at, true);
        }
        self.write(token);
        if token.sort == Sort::Open {
            self.depth += 1;
        }
    }

    /// Begins a line for a token.
    fn line(&mut self, at: usize, token: Token) {
        if !self.out.is_empty() {
            // At most one empty line.
            (0..token.breaks.min(2)).for_each(|_| self.out.push('\n'));
        }
        let indent = match token.sort {
            // The last bracket must be deeper than the entry that it belongs to.
            Sort::Close => self.flow_indent(self.depth.max(1)),
            _ if self.depth > 0 => self.flow_indent(self.depth),
            Sort::Comment => self.comment_indent(at, token),
            _ => self.begin(at, false),
        };
        (0..indent).for_each(|_| self.out.push(' '));
    }

    /// The indentation of a line inside of so many brackets.
    fn flow_indent(&self, depth: usize) -> usize {
        self.open.last().map_or(STEP * depth.saturating_sub(1), |block| block.indent + STEP * depth)
    }

    /// Looks what begins with a token: an entry of a list or a map that is open, a new one, or a value. Gives the column of
    /// its line. `on_line` says that it is not the first of it, as it is written.
    fn begin(&mut self, at: usize, on_line: bool) -> usize {
        let indent = self.open.last().map_or(0, |block| block.indent + STEP);
        let Some(&token) = self.get(at).filter(|_| self.depth == 0) else { return indent };
        let before = at.checked_sub(1).and_then(|at| self.get(at)).map(|token| token.sort);
        let may_begin =
            token.is_first() || matches!(before, Some(Sort::Dash | Sort::Question | Sort::Colon | Sort::Marker));
        let column = self.column(&token);
        let is_list = match token.sort {
            Sort::Marker | Sort::Directive => {
                self.open.clear();
                return 0;
            }
            Sort::Colon if token.is_first() => {
                self.close(column, false);
                return self.open.last().map_or(0, |block| block.indent);
            }
            Sort::Dash => true,
            Sort::Question => false,
            _ if may_begin && self.is_key(at) => false,
            // A text that is the whole document must not look like a mark of documents.
            Sort::Scalar(_) if self.open.is_empty() => return STEP,
            _ => return indent,
        };
        self.close(column, is_list);
        match self.open.last() {
            Some(block) if block.column == column && block.is_list == is_list => block.indent,
            _ => {
                let inner = self.open.last().map_or(0, |block| block.indent + STEP);
                let indent = if on_line { last_line(&self.out).chars().count() } else { inner };
                self.open.push(Block { is_list, column, indent });
                indent
            }
        }
    }

    /// Closes what has ended where an entry stands at a column. A list may stand at the column of the map that it is in.
    fn close(&mut self, column: usize, is_list: bool) {
        let has_ended = |block: &Block| block.column > column || (block.column == column && block.is_list && !is_list);
        while self.open.last().is_some_and(has_ended) {
            self.open.pop();
        }
    }

    /// Whether the token is the first of a key.
    fn is_key(&self, mut at: usize) -> bool {
        let on_line = |at: usize| self.get(at).filter(|token| !token.is_first()).map(|token| token.sort);
        while self.get(at).is_some_and(|token| token.sort == Sort::Property) {
            at += 1;
            if on_line(at).is_none() {
                return false;
            }
        }
        let is_text = matches!(self.get(at).map(|token| token.sort), Some(Sort::Scalar(_) | Sort::Alias));
        (is_text && on_line(at + 1) == Some(Sort::Colon)) || self.get(at).is_some_and(|token| token.sort == Sort::Colon)
    }

    /// The column of a comment on a line of its own: that of what follows if it stood there or before the first part of
    /// something, else that of the innermost list or map that it was indented for.
    fn comment_indent(&mut self, at: usize, token: Token) -> usize {
        let column = self.column(&token);
        let next = self.behind_comments.get(at).copied().unwrap_or(at);
        let open = self.open.clone();
        let innermost = open.last().map(|block| block.indent);
        if let Some(&follows) = self.get(next) {
            let indent = self.begin(next, false);
            self.open.clone_from(&open);
            if self.column(&follows) == column || innermost.is_none_or(|innermost| indent > innermost) {
                return indent;
            }
        }
        open.iter().rfind(|block| block.column <= column).map_or(0, |block| block.indent)
    }

    /// Writes a token.
    fn write(&mut self, token: Token) {
        let raw = self.text.get(token.start..token.end).unwrap_or_default();
        match token.sort {
            Sort::Comment => {
                let text = raw.trim_start_matches('#');
                self.out.push_str(raw.get(..raw.len() - text.len()).unwrap_or_default());
                // Behind a value it may be a part of the value that was cut; a warning asks for the blank then.
                if token.is_first() && text.starts_with(char::is_alphanumeric) {
                    self.out.push(' ');
                }
                self.out.push_str(text.trim_end_matches([' ', '\t']));
            }
            Sort::Header => self.out.extend(raw.chars().map(|c| if c.is_ascii_digit() { '2' } else { c })),
            Sort::Scalar(style) if raw.contains('\n') => self.scalar_lines(raw, style),
            Sort::Lines { .. } => {}
            _ => self.out.push_str(raw),
        }
    }

    /// A plain or quoted scalar of several lines. Blanks around its line breaks are no part of its text.
    fn scalar_lines(&mut self, raw: &str, style: Style) {
        let indent = match self.depth {
            0 => self.open.last().map_or(STEP, |block| block.indent + STEP),
            depth => self.flow_indent(depth),
        };
        let last = raw.matches('\n').count();
        for (at, line) in raw.split('\n').enumerate() {
            let line = if at == 0 { line } else { line.trim_start_matches([' ', '\t']) };
            let mut kept = if at == last { line } else { line.trim_end_matches([' ', '\t']) };
            let slashes = kept.len() - kept.trim_end_matches('\\').len();
            if style == Style::Double && slashes % 2 == 1 && kept.len() < line.len() {
                // The blank behind it is escaped.
                kept = line.get(..=kept.len()).unwrap_or(line);
            }
            if at > 0 {
                self.out.push('\n');
                if !kept.is_empty() {
                    (0..indent).for_each(|_| self.out.push(' '));
                }
            }
            self.out.push_str(kept);
        }
    }

    /// The lines of a block scalar, each moved as far as the others.
    fn block_lines(&mut self, token: Token, old: usize) {
        let indent = self.open.last().map_or(STEP, |block| block.indent + STEP);
        let raw = self.text.get(token.start..token.end).unwrap_or_default();
        for line in raw.split('\n') {
            let blanks = line.bytes().take(old).take_while(|byte| *byte == b' ').count();
            let content = line.get(blanks..).unwrap_or_default();
            self.out.push('\n');
            if !content.is_empty() {
                (0..indent).for_each(|_| self.out.push(' '));
                self.out.push_str(content);
            }
        }
    }

    /// What is written, with the comments behind other things in their columns: those that follow each other and stood in
    /// one column stay in one, and each other stands two blanks behind what is before it.
    fn aligned(self) -> String {
        let mut out = String::with_capacity(self.out.len());
        let mut done = 0;
        for run in self.trailing.chunk_by(|a, b| a.column == b.column) {
            let needed = run.iter().map(|one| one.code + 2).max().unwrap_or(0);
            let column = if run.len() > 1 { run.first().map_or(0, |one| one.column).max(needed) } else { needed };
            for one in run {
                out.push_str(self.out.get(done..one.at).unwrap_or_default());
                done = one.at;
                (one.code + 2..column).for_each(|_| out.push(' '));
            }
        }
        out.push_str(self.out.get(done..).unwrap_or_default());
        out
    }
}

/// The first token from each on that is no comment, by its number.
fn behind_comments(tokens: &[Token]) -> Vec<usize> {
    let mut behind = vec![tokens.len(); tokens.len()];
    let mut next = tokens.len();
    for (at, token) in tokens.iter().enumerate().rev() {
        if token.sort != Sort::Comment {
            next = at;
        }
        if let Some(slot) = behind.get_mut(at) {
            *slot = next;
        }
    }
    behind
}

/// What stands between two tokens of a line.
fn separator(before: Sort, token: Sort) -> &'static str {
    match (before, token) {
        (Sort::Open, _) | (_, Sort::Close | Sort::Comma) | (Sort::Scalar(_) | Sort::Close, Sort::Colon) => "",
        // Also behind an alias, whose name the colon would belong to.
        _ => " ",
    }
}

/// The end of a text from its last line break.
fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}
