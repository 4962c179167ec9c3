//! Selection by tags: `p0 and not slow`. One grammar for every command.
//!
//! ```text
//! selection = all { "or" all } ;
//! all       = one { "and" one } ;
//! one       = "not" one | "(" selection ")" | name | '"' any text '"' ;
//! ```

use std::fmt;
use std::ops::Range;

/// How deeply a selection may be nested.
const DEEPEST: usize = 100;

/// What is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Has this tag.
    Tag(String),
    /// Has not.
    Not(Box<Selection>),
    /// All of these hold.
    All(Vec<Selection>),
    /// One of these holds.
    Any(Vec<Selection>),
}

impl Selection {
    /// Reads a selection.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0 };
        let selection = parser.any()?;
        match parser.peek() {
            None => Ok(selection),
            Some((at, Token::Close)) => Err(complaint(text, at, "this `)` closes nothing")),
            Some((at, _)) => Err(complaint(text, at, "`and` or `or` is missing before this")),
        }
    }

    /// Whether something with these tags is selected.
    pub fn matches(&self, tags: &[String]) -> bool {
        match self {
            Self::Tag(tag) => tags.contains(tag),
            Self::Not(inner) => !inner.matches(tags),
            Self::All(all) => all.iter().all(|one| one.matches(tags)),
            Self::Any(all) => all.iter().any(|one| one.matches(tags)),
        }
    }
}

/// The tags that a selection names, each with its place in the text; none of a text that cannot be read.
pub fn named(text: &str) -> Vec<(Range<usize>, String)> {
    let words = tokens(text).unwrap_or_default();
    let ends: Vec<usize> = words.iter().skip(1).map(|(at, _)| *at).chain([text.len()]).collect();
    let tags = words.into_iter().zip(ends).filter_map(|((at, token), end)| {
        let Token::Name(name) = token else { return None };
        let written = text.get(at..end)?.trim_end();
        Some((at..at + written.len(), name))
    });
    tags.collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    And,
    Or,
    Not,
    Open,
    Close,
}

/// A selection that cannot be read. Shown, it is the message, the text, and a caret under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError {
    /// What is wrong.
    pub message: String,
    /// At which byte of the text.
    pub at: usize,
    /// The text.
    text: String,
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.at).unwrap_or(&self.text).chars().count();
        let text = self.text.replace(['\n', '\t'], " ");
        write!(f, "the selection cannot be read: {}\n  {text}\n  {:before$}^", self.message, "")
    }
}

fn complaint(text: &str, at: usize, message: &str) -> SelectionError {
    SelectionError { message: message.to_owned(), at, text: text.to_owned() }
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+' | '#')
}

/// The words of a selection, each with its first byte.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, SelectionError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        let (token, taken) = match c {
            c if c.is_whitespace() => {
                rest = rest.trim_start();
                continue;
            }
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '"' | '\'' => {
                let inside = rest.get(1..).unwrap_or_default();
                let end = inside.find(c).ok_or_else(|| complaint(text, at, "this quote is not closed"))?;
                (Token::Name(inside.get(..end).unwrap_or_default().to_owned()), end + 2)
            }
            c if is_part_of_name(c) => {
                let end = rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default();
                let token = match word {
                    "and" => Token::And,
                    "or" => Token::Or,
                    "not" => Token::Not,
                    name => Token::Name(name.to_owned()),
                };
                (token, end)
            }
            '&' => return Err(complaint(text, at, "write `and`")),
            '|' | ',' => return Err(complaint(text, at, "write `or`")),
            '!' => return Err(complaint(text, at, "write `not`")),
            _ => return Err(complaint(text, at, "this is no part of a name; put the tag in quotes")),
        };
        found.push((at, token));
        rest = rest.get(taken..).unwrap_or_default();
    }
    Ok(found)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<(usize, Token)> {
        self.tokens.get(self.at).cloned()
    }

    fn took(&mut self, wanted: &Token) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|(_, token)| token == wanted);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Selection, SelectionError> {
        let mut all = vec![self.all()?];
        while self.took(&Token::Or) {
            all.push(self.all()?);
        }
        Ok(joined(all, Selection::Any))
    }

    fn all(&mut self) -> Result<Selection, SelectionError> {
        let mut all = vec![self.one()?];
        while self.took(&Token::And) {
            all.push(self.one()?);
        }
        Ok(joined(all, Selection::All))
    }

    fn one(&mut self) -> Result<Selection, SelectionError> {
        let Some((at, token)) = self.peek() else {
            let message = if self.tokens.is_empty() { "it is empty; name a tag" } else { "a tag is missing here" };
            return Err(complaint(self.text, self.text.trim_end().len(), message));
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(complaint(self.text, at, &format!("it is nested more than {DEEPEST} deep")));
        }
        let found = match token {
            Token::Name(name) => Selection::Tag(name),
            Token::Not => Selection::Not(Box::new(self.one()?)),
            Token::Open => {
                let inside = self.any()?;
                if !self.took(&Token::Close) {
                    let (place, message) = match self.peek() {
                        None => (at, "this `(` is not closed"),
                        Some((next, _)) => (next, "`and`, `or` or `)` is missing before this"),
                    };
                    return Err(complaint(self.text, place, message));
                }
                inside
            }
            Token::And | Token::Or | Token::Close => {
                return Err(complaint(self.text, at, "a tag is missing before this"));
            }
        };
        self.depth -= 1;
        Ok(found)
    }
}

/// One stands for itself.
fn joined(mut all: Vec<Selection>, join: fn(Vec<Selection>) -> Selection) -> Selection {
    match all.pop() {
        Some(last) if all.is_empty() => last,
        Some(last) => {
            all.push(last);
            join(all)
        }
        None => join(all),
    }
}

#[cfg(test)]
mod tests {
    use super::Selection;

    fn selects(text: &str, tags: &[&str]) -> bool {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Selection::parse(text).unwrap().matches(&tags)
    }

    #[test]
    fn not_binds_closer_than_and_and_and_closer_than_or() {
        for (text, tags, wanted) in [
            ("p0", &["p0", "slow"][..], true),
            ("p0", &["p01"], false),
            ("p0 and not slow", &["p0", "slow"], false),
            ("p0 and not slow", &["p0"], true),
            ("a or b and c", &["a"], true),
            ("(a or b) and c", &["a"], false),
            ("not a or b", &["a", "b"], true),
            ("not (a or b)", &["b"], false),
            ("not not a", &["a"], true),
            ("mind-changer or \"two words\"", &["two words"], true),
            ("android and order", &["android", "order"], true),
        ] {
            assert_eq!(selects(text, tags), wanted, "{text} {tags:?}");
        }
    }

    #[test]
    fn a_mistake_is_shown_at_its_place() {
        for (text, message, column) in [
            ("", "it is empty", 0),
            ("a and", "a tag is missing here", 5),
            ("and a", "a tag is missing before this", 0),
            ("a b", "`and` or `or` is missing before this", 2),
            ("(a or b", "this `(` is not closed", 0),
            ("(a b)", "`and`, `or` or `)` is missing before this", 3),
            ("a)", "this `)` closes nothing", 1),
            ("ä && b", "write `and`", 2),
            ("a, b", "write `or`", 1),
            ("!a", "write `not`", 0),
            ("a or 'b", "this quote is not closed", 5),
            ("a or *", "put the tag in quotes", 5),
        ] {
            let error = Selection::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
            assert_eq!(error.lines().last().unwrap().len(), column + 3, "{text}: {error}");
        }
        let deep = "not ".repeat(100_000) + "a";
        assert!(Selection::parse(&deep).unwrap_err().message.contains("nested more than 100 deep"));
    }
}
