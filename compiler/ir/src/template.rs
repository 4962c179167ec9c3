//! Templates: text with places to fill in, in Jinja's syntax. Checking them is [`crate::typing`]'s, rendering
//! [`crate::engine`]'s.

use std::ops::Range;
use std::sync::Arc;

use minijinja::machinery::{self, Token, ast};
use minijinja::syntax::SyntaxConfig;

use crate::expr_parse::at_of;
use crate::span::Origin;

mod convert;
mod names;
mod scan;
mod slips;

pub use convert::as_expression;
pub(crate) use scan::outer_names;
pub use scan::renamed;

/// A template's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Jinja text.
    pub source: Arc<str>,
    /// Where it was written.
    pub origin: Origin,
}

impl Template {
    /// A template that nobody wrote in a task.
    pub fn new(source: impl Into<Arc<str>>) -> Self {
        Self { source: source.into(), origin: Origin::default() }
    }

    /// The names that it takes from outside, each once, in the order in which they appear; none of a template that cannot be
    /// read. A name that the template may have set itself before is not among them.
    pub fn names(&self) -> Vec<Arc<str>> {
        if has_no_tags(&self.source) {
            return Vec::new();
        }
        names::simple(&self.source)
            .unwrap_or_else(|| tree(&self.source).map(|tree| scan::outer_names(&tree)).unwrap_or_default())
    }

    /// Whether rendering gives the text itself, without looking at anything.
    pub fn is_literal(&self) -> bool {
        is_literal(&self.source)
    }
}

/// Whether Jinja would leave the text as it is. Jinja drops one newline at the end.
pub fn is_literal(source: &str) -> bool {
    has_no_tags(source) && !source.ends_with('\n')
}

/// Whether it has neither places to fill in, nor statements, nor comments.
pub(crate) fn has_no_tags(source: &str) -> bool {
    tag_at(source, 0).is_none()
}

/// Where the next tag begins, from a place in the text on.
pub(crate) fn tag_at(source: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += source.get(at..)?.find('{')?;
        if matches!(source.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')) {
            return Some(at);
        }
        at += 1;
    }
}

/// Why a template or expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What was seen.
    pub message: String,
    /// Where, in bytes of the text; on character boundaries.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
    /// The text that mends it, in place of the range.
    pub fix: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(range: Range<usize>, source: &str, message: impl Into<String>) -> Self {
        let floor = |mut at: usize| {
            at = at.min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(range.start);
        Self { message: message.into(), range: start..floor(range.end).max(start), help: None, fix: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into()).filter(|text| !text.is_empty());
        self
    }
}

/// What the engine says of a text that it cannot read, or of a template that it could not render.
pub(crate) fn syntax_error(error: &minijinja::Error, source: &str) -> SyntaxError {
    let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    SyntaxError::new(error.range().unwrap_or(0..source.len()), source, message)
}

/// The syntax tree of a template that is small enough for the parser, which recurses.
pub(crate) fn tree(source: &str) -> Result<ast::Stmt<'_>, SyntaxError> {
    guard(source, false)?;
    machinery::parse(source, "<template>", SyntaxConfig::default()).map_err(|error| slips::explain(&error, source))
}

/// The parser recurses on chains of operators and of statements, as everything does that walks its trees; these bounds keep
/// them far from the end of a small thread's stack (measured: half of 2 MiB in a debug build).
const MOST_BYTES: usize = 64 << 10;
/// The most tokens of one expression, which is also the most of one tag.
const MOST_TOKENS: usize = 400;
/// The most statements of a template: `elif` nests as deep as it is repeated.
const MOST_STATEMENTS: usize = 400;

/// Refuses what could exhaust the stack of the parser. It looks at tokens only where the bytes do not show that the text is
/// harmless.
pub(crate) fn guard(source: &str, expression: bool) -> Result<(), SyntaxError> {
    if source.len() > MOST_BYTES {
        let message = format!("{} bytes; at most {MOST_BYTES} are read", source.len());
        return Err(SyntaxError::new(0..source.len(), source, message).help("split it into several steps"));
    }
    // A token has at least one byte, and a statement two.
    if source.len() <= MOST_TOKENS || (!expression && has_short_tags(source)) {
        return Ok(());
    }
    let (mut tokens, mut statements) = (0, 0);
    for token in machinery::tokenize(source, expression, SyntaxConfig::default()) {
        // What is no token is the parser's to explain; it reads no further either.
        let Ok((token, span)) = token else { return Ok(()) };
        tokens += 1;
        if matches!(token, Token::BlockStart) {
            statements += 1;
        }
        if matches!(token, Token::VariableStart | Token::BlockStart) {
            tokens = 0;
        }
        let what = if tokens > MOST_TOKENS {
            "an expression of more than 400 tokens"
        } else if statements > MOST_STATEMENTS {
            "more than 400 statements in one template"
        } else {
            continue;
        };
        return Err(SyntaxError::new(at_of(span).range(), source, what).help("split it into several steps"));
    }
    Ok(())
}

/// Whether every tag surely ends within so many bytes that it cannot have too many tokens. Where a string could hide the end
/// of a tag, nothing is sure.
fn has_short_tags(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut from, mut statements) = (0, 0);
    while let Some(open) = tag_at(source, from) {
        // What a comment hides is looked at as if it were not hidden.
        if bytes.get(open + 1) == Some(&b'#') {
            from = open + 1;
            continue;
        }
        statements += usize::from(bytes.get(open + 1) == Some(&b'%'));
        let tag = bytes.get(open + 2..).unwrap_or_default();
        let Some(length) = tag.windows(2).take(MOST_TOKENS).position(|pair| matches!(pair, b"}}" | b"%}")) else {
            return false;
        };
        let inside = tag.get(..length).unwrap_or_default();
        let (mut single, mut double) = (0, 0);
        for byte in inside {
            single += usize::from(*byte == b'\'');
            double += usize::from(*byte == b'"');
        }
        let unsure = (single > 0 && double > 0) || single % 2 == 1 || double % 2 == 1 || inside.contains(&b'\\');
        if unsure || statements > MOST_STATEMENTS {
            return false;
        }
        from = open + 2 + length;
    }
    true
}
