//! Whether a text is a regular expression, and where it stops being one.

use std::ops::Range;

use crate::eval::regex;

/// Why a text is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// What was seen.
    pub message: String,
    /// Where, in bytes of the pattern.
    pub range: Range<usize>,
}

/// What is wrong with a pattern; none where it compiles.
pub fn pattern_error(pattern: &str) -> Option<PatternError> {
    let why = regex(pattern).err()?;
    let (message, span) = match regex_syntax::Parser::new().parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), Some(*error.span())),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), Some(*error.span())),
        // It is well formed, and too large to compile.
        _ => (why, None),
    };
    let range = span.map_or(0..pattern.len(), |span| span.start.offset..span.end.offset);
    // What ends too early has no character of its own: the last one is shown.
    let last = pattern.char_indices().next_back().map_or(0, |(at, _)| at);
    let range =
        if range.is_empty() { range.start.min(last)..pattern.len().min(range.start + 1).max(range.end) } else { range };
    Some(PatternError { message, range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stands_where_the_pattern_breaks() {
        let place = |pattern: &str| pattern_error(pattern).map(|error| pattern.get(error.range).unwrap().to_owned());
        assert_eq!(place(r"a(?=b)"), Some("(?=".into()));
        assert_eq!(place(r"\$(\d"), Some("(".into()));
        assert_eq!(place(r"é[z-a]"), Some("z-a".into()));
        assert_eq!(place(r"(a)\1"), Some(r"\1".into()));
        assert_eq!(place(r"\p{Greek"), Some("k".into()));
        assert_eq!(place(r"é\pé"), Some(r"\pé".into()));
        assert_eq!(place("é("), Some("(".into()));
        assert_eq!(place(r"\d+"), None);
        assert!(pattern_error(r"\w{9999}").is_some());
    }
}
