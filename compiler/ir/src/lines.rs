//! The layer below the text form: statements of words, texts, values and blocks. It knows no meaning.
//!
//! ```text
//! word "text" key=word key="text" key=@{"json": 1} { statements }   # comment
//! ```
//! A statement ends with its line; a line that begins with a text goes on with the text of the line before; texts side by
//! side are one text.

use std::fmt;

use crate::text::json_string;
use crate::value::Value;

/// Why a text form cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// From 1.
    pub line: usize,
    /// What was seen and expected.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// One thing of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A bare word: letters, digits, `_`, `.`, `-`.
    Word(String),
    /// A text in quotes, as JSON writes it.
    Text(String),
    /// A value after `@`, in JSON.
    Value(Value),
}

/// A line, its named items, and the block it opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// From 1.
    pub line: usize,
    /// The items without a key, in order.
    pub items: Vec<Item>,
    /// The items with a key, in order; no key twice.
    pub pairs: Vec<(String, Item)>,
    /// The statements in braces.
    pub block: Option<Vec<Statement>>,
}

const MOST_BYTES: usize = 64 << 20;
const MOST_DEPTH: usize = 100;

/// Reads statements.
pub fn read(text: &str) -> Result<Vec<Statement>, ReadError> {
    if text.len() > MOST_BYTES {
        return Err(ReadError { line: 1, message: format!("{} bytes; at most {MOST_BYTES} are read", text.len()) });
    }
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let statements = lexer.block(0)?;
    match lexer.peek() {
        None => Ok(statements),
        Some(c) => lexer.fail(format!("`{c}` where a statement or the end is expected")),
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> Lexer<'t> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError { line: self.line, message: message.into() })
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self, bytes: usize) {
        self.line += self.rest().get(..bytes).map_or(0, |passed| passed.matches('\n').count());
        self.at += bytes;
    }

    /// Passes blanks and comments, not the end of the line.
    fn blanks(&mut self) {
        let rest = self.rest();
        let mut passed = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        if rest.get(passed..).is_some_and(|rest| rest.starts_with('#')) {
            passed = rest.find('\n').unwrap_or(rest.len());
        }
        self.bump(passed);
    }

    /// Passes blanks, comments and ends of lines.
    fn lines(&mut self) {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return;
            }
            self.bump(1);
        }
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Statement>, ReadError> {
        if depth > MOST_DEPTH {
            return self.fail(format!("blocks nested more than {MOST_DEPTH} deep"));
        }
        let mut statements = Vec::new();
        loop {
            self.lines();
            match self.peek() {
                None | Some('}') => return Ok(statements),
                Some(_) => statements.push(self.statement(depth)?),
            }
        }
    }

    fn statement(&mut self, depth: usize) -> Result<Statement, ReadError> {
        let mut statement = Statement { line: self.line, items: Vec::new(), pairs: Vec::new(), block: None };
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | '}') => return Ok(statement),
                Some('{') => {
                    self.bump(1);
                    statement.block = Some(self.block(depth + 1)?);
                    if self.peek() != Some('}') {
                        return self.fail(format!("the block of line {} is not closed", statement.line));
                    }
                    self.bump(1);
                    self.blanks();
                    return match self.peek() {
                        None | Some('\n' | '}') => Ok(statement),
                        Some(c) => self.fail(format!("`{c}` after a block")),
                    };
                }
                Some(_) => self.item(&mut statement)?,
            }
        }
    }

    fn item(&mut self, statement: &mut Statement) -> Result<(), ReadError> {
        let item = self.simple()?;
        if self.peek() != Some('=') {
            statement.items.push(item);
            return Ok(());
        }
        let Item::Word(key) = item else { return self.fail("only a word can be a key") };
        if statement.pairs.iter().any(|(known, _)| *known == key) {
            return self.fail(format!("`{key}=` twice in one statement"));
        }
        self.bump(1);
        let value = self.simple()?;
        statement.pairs.push((key, value));
        Ok(())
    }

    fn simple(&mut self) -> Result<Item, ReadError> {
        match self.peek() {
            Some('"') => self.texts().map(Item::Text),
            Some('@') => {
                self.bump(1);
                self.json::<Value>("a value").map(Item::Value)
            }
            _ => {
                let rest = self.rest();
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c))).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default().to_owned();
                if word.is_empty() {
                    let seen = self.peek().map_or_else(|| "the end".to_owned(), |c| format!("`{}`", c.escape_debug()));
                    return self.fail(format!("{seen} where a word, a text or a value is expected"));
                }
                self.bump(end);
                Ok(Item::Word(word))
            }
        }
    }

    /// Texts side by side, also over line ends.
    fn texts(&mut self) -> Result<String, ReadError> {
        let mut whole = self.json::<String>("a text")?;
        loop {
            let (at, line) = (self.at, self.line);
            self.lines();
            if self.peek() != Some('"') {
                (self.at, self.line) = (at, line);
                return Ok(whole);
            }
            whole.push_str(&self.json::<String>("a text")?);
        }
    }

    fn json<T: serde::de::DeserializeOwned>(&mut self, what: &str) -> Result<T, ReadError> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<T>();
        match stream.next() {
            Some(Ok(value)) => {
                let passed = stream.byte_offset();
                self.bump(passed);
                Ok(value)
            }
            Some(Err(error)) => self.fail(format!("{what} that cannot be read: {error}")),
            None => self.fail(format!("{what} is missing")),
        }
    }
}

/// Takes a statement apart; what is left over is an error.
pub struct Cursor<'s> {
    statement: &'s Statement,
    items: std::slice::Iter<'s, Item>,
    taken: Vec<bool>,
}

impl<'s> Cursor<'s> {
    /// At the first item.
    pub fn new(statement: &'s Statement) -> Self {
        Self { statement, items: statement.items.iter(), taken: vec![false; statement.pairs.len()] }
    }

    /// An error at this statement.
    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError { line: self.statement.line, message: message.into() })
    }

    /// The next item, a word.
    pub fn word(&mut self, what: &str) -> Result<&'s str, ReadError> {
        match self.items.next() {
            Some(Item::Word(word)) => Ok(word),
            _ => self.fail(format!("{what} is missing: a word is expected")),
        }
    }

    /// The next item, a text.
    pub fn text(&mut self, what: &str) -> Result<&'s str, ReadError> {
        match self.items.next() {
            Some(Item::Text(text)) => Ok(text),
            _ => self.fail(format!("{what} is missing: a text in quotes is expected")),
        }
    }

    /// The next item, a value.
    pub fn value(&mut self, what: &str) -> Result<&'s Value, ReadError> {
        match self.items.next() {
            Some(Item::Value(value)) => Ok(value),
            _ => self.fail(format!("{what} is missing: a value after `@` is expected")),
        }
    }

    fn pair(&mut self, key: &str) -> Option<&'s Item> {
        let at = self.statement.pairs.iter().position(|(known, _)| known == key)?;
        if let Some(taken) = self.taken.get_mut(at) {
            *taken = true;
        }
        self.statement.pairs.get(at).map(|(_, item)| item)
    }

    /// The word of a key.
    pub fn word_of(&mut self, key: &str) -> Result<Option<&'s str>, ReadError> {
        match self.pair(key) {
            None => Ok(None),
            Some(Item::Word(word)) => Ok(Some(word)),
            Some(_) => self.fail(format!("`{key}=` takes a word")),
        }
    }

    /// The text of a key.
    pub fn text_of(&mut self, key: &str) -> Result<Option<&'s str>, ReadError> {
        match self.pair(key) {
            None => Ok(None),
            Some(Item::Text(text)) => Ok(Some(text)),
            Some(_) => self.fail(format!("`{key}=` takes a text in quotes")),
        }
    }

    /// The text of a key that must be there.
    pub fn needed_text(&mut self, key: &str) -> Result<&'s str, ReadError> {
        match self.text_of(key)? {
            Some(text) => Ok(text),
            None => self.fail(format!("`{key}=` is missing")),
        }
    }

    /// The word of a key that must be there.
    pub fn needed_word(&mut self, key: &str) -> Result<&'s str, ReadError> {
        match self.word_of(key)? {
            Some(word) => Ok(word),
            None => self.fail(format!("`{key}=` is missing")),
        }
    }

    /// The value of a key.
    pub fn value_of(&mut self, key: &str) -> Result<Option<&'s Value>, ReadError> {
        match self.pair(key) {
            None => Ok(None),
            Some(Item::Value(value)) => Ok(Some(value)),
            Some(_) => self.fail(format!("`{key}=` takes a value after `@`")),
        }
    }

    /// A finite number of a key that must be there.
    pub fn needed_number(&mut self, key: &str) -> Result<f64, ReadError> {
        match self.value_of(key)?.and_then(Value::as_f64) {
            Some(x) => Ok(x),
            None => self.fail(format!("`{key}=@NUMBER` is missing")),
        }
    }

    /// A whole number written as a word.
    pub fn count_of<N: std::str::FromStr>(&mut self, key: &str) -> Result<Option<N>, ReadError> {
        match self.word_of(key)? {
            None => Ok(None),
            Some(word) => match word.parse() {
                Ok(n) => Ok(Some(n)),
                Err(_) => self.fail(format!("`{key}={word}`: a whole number is expected")),
            },
        }
    }

    /// The statements of the block; none without one.
    pub fn block(&self) -> &'s [Statement] {
        self.statement.block.as_deref().unwrap_or_default()
    }

    /// Whether items without a key are left.
    pub fn has_items(&self) -> bool {
        self.items.len() > 0
    }

    /// Whether there is a block.
    pub const fn has_block(&self) -> bool {
        self.statement.block.is_some()
    }

    /// Ends the statement: nothing may be left over.
    pub fn finish(mut self) -> Result<(), ReadError> {
        if let Some(item) = self.items.next() {
            return self.fail(format!("{item:?} is left over"));
        }
        let left = self.taken.iter().position(|taken| !taken).and_then(|at| self.statement.pairs.get(at));
        match left {
            Some((key, _)) => self.fail(format!("`{key}=` is not known here")),
            None => Ok(()),
        }
    }
}

/// Writes a statement's items.
pub struct Line {
    text: String,
    indent: usize,
}

impl Line {
    /// A statement that begins with a word.
    pub fn new(indent: usize, word: &str) -> Self {
        Self { text: format!("{}{word}", "  ".repeat(indent)), indent }
    }

    /// A word.
    pub fn word(&mut self, word: &str) -> &mut Self {
        self.text.push(' ');
        self.text.push_str(word);
        self
    }

    /// A text: one line of it a line.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.text.push(' ');
        self.quoted(text);
        self
    }

    fn quoted(&mut self, text: &str) {
        let mut parts: Vec<&str> = text.split_inclusive('\n').collect();
        if parts.is_empty() {
            parts.push("");
        }
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                self.text.push('\n');
                self.text.push_str(&"  ".repeat(self.indent + 2));
            }
            json_string(part, &mut self.text);
        }
    }

    /// A pair with a text.
    pub fn pair(&mut self, key: &str, text: &str) -> &mut Self {
        self.word(key).text.push('=');
        self.quoted(text);
        self
    }

    /// A pair with a word.
    pub fn pair_word(&mut self, key: &str, word: impl fmt::Display) -> &mut Self {
        self.word(&format!("{key}={word}"))
    }

    /// A pair with a value.
    pub fn pair_value(&mut self, key: &str, value: &Value) -> &mut Self {
        self.word(&format!("{key}=@{}", value.to_json()))
    }

    /// A pair with a number.
    pub fn pair_number(&mut self, key: &str, x: f64) -> &mut Self {
        self.pair_value(key, &Value::float(x).unwrap_or_default())
    }

    /// The text, without a line end.
    pub fn end(&self) -> &str {
        &self.text
    }
}
