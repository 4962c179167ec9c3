//! Rows of datasets, read one at a time: JSON Lines, JSON arrays, CSV and TSV, YAML lists, and cross products of fields.
//!
//! `feed` counts bytes, lines and columns; a reader per format makes rows of it; `json_text` says in our words what is wrong
//! with JSON. No reader holds more than one row, of at most 8 MiB; a YAML file is held whole, and has at most 8 MiB.

mod csv;
mod feed;
mod format;
mod json_array;
mod json_lines;
mod json_text;
mod matrix;
mod yaml_list;

pub use csv::csv;
pub use format::Format;
pub use json_array::json;
pub use json_lines::jsonl;
pub use matrix::{Matrix, matrix};
pub use yaml_list::yaml;

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use aigo_ir::span::{Excerpt, Position};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

/// How long a row may be: 8 MiB.
pub const MAX_ROW_BYTES: usize = 8 << 20;
/// How many keys one object of a row may have. Maps keep their order and are searched from the front.
const MAX_KEYS: usize = 10_000;
/// How much of a row is kept to show it.
const SHOWN_BYTES: usize = 400;

/// One row of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Its beginning, at most 400 bytes.
    pub start: Excerpt,
    /// How many bytes it has in its file.
    pub bytes: usize,
    /// Its fields: a map, unless other values were asked for with [`Take::Values`].
    pub value: Value,
}

/// Why a row cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// What was seen and what was expected.
    pub message: String,
    /// What to do next.
    pub help: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What stands there.
    pub excerpt: Excerpt,
    /// The byte of the excerpt.
    pub at: usize,
    /// Whether nothing more can be read of the file.
    pub fatal: bool,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for RowError {}

impl RowError {
    /// An error at a byte of a text that begins at `first`; what is around the byte goes with it.
    pub(crate) fn new(text: &str, first: Position, at: usize, message: impl Into<String>) -> Self {
        let at = text.floor_char_boundary(at);
        let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
        let from = text.ceil_char_boundary(line_start.max(at.saturating_sub(SHOWN_BYTES / 2)));
        let until = text.floor_char_boundary(at.saturating_add(SHOWN_BYTES / 2));
        let whole = |at: usize| position(text, first, at);
        let (place, shown) = (whole(at), text.get(from..until).unwrap_or_default());
        let excerpt = Excerpt { first: whole(from), text: shown.trim_end_matches(['\n', '\r']).into() };
        let at = (at - from).min(excerpt.text.len());
        Self { message: message.into(), help: None, line: place.line, column: place.column, excerpt, at, fatal: false }
    }

    /// An error about a row, at one of its keys if that is near its beginning.
    pub fn of_row(row: &Row, key: Option<&str>, message: impl Into<String>) -> Self {
        let at = key.and_then(|key| find_key(&row.start.text, key)).unwrap_or(0);
        let place = row.start.position(at);
        let (line, column) = (place.line, place.column);
        Self { message: message.into(), help: None, line, column, excerpt: row.start.clone(), at, fatal: false }
    }

    /// With what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The last thing that can be said of the file.
    #[must_use]
    fn fatal(mut self) -> Self {
        self.fatal = true;
        self
    }
}

impl Row {
    fn new(text: &str, first: Position, value: Value) -> Self {
        let shown = text.get(..text.floor_char_boundary(SHOWN_BYTES)).unwrap_or_default();
        Self { line: first.line, start: Excerpt { first, text: Arc::from(shown) }, bytes: text.len(), value }
    }
}

/// Where a key stands in the beginning of a row, as JSON or YAML writes it.
pub fn find_key(text: &str, key: &str) -> Option<usize> {
    let quoted = Value::str(key).to_json();
    let is_key =
        |at: &usize, length: usize| text.get(at + length..).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let json = text.match_indices(&quoted).map(|(at, _)| at).find(|at| is_key(at, quoted.len()));
    let word = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '{' | ',' | '-'))
    };
    json.or_else(|| {
        let mut plain = text.match_indices(key).map(|(at, _)| at);
        plain.find(|at| word(at) && is_key(at, key.len()))
    })
}

/// The place of a byte of a text that begins at `first`.
fn position(text: &str, first: Position, at: usize) -> Position {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map(|newline| newline + 1);
    let column = before.get(start.unwrap_or(0)..).unwrap_or_default().chars().count();
    Position {
        offset: first.offset + before.len(),
        line: first.line + before.bytes().filter(|&b| b == b'\n').count(),
        column: column + if start.is_some() { 1 } else { first.column },
    }
}

/// Rows or what is wrong with them, as they come.
pub type Rows<'r> = Box<dyn Iterator<Item = Result<Row, RowError>> + 'r>;

/// What is taken of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Maps, one a row.
    Rows,
    /// The same; a JSON or YAML file may also be one map, which is its only row.
    Records,
    /// Values of any kind.
    Values,
}

/// The rows of a file in any format. `fields` are the declared types, by which the cells of CSV and TSV are read.
pub fn rows<'r>(format: Format, reader: impl Read + 'r, fields: &[(Arc<str>, Type)], take: Take) -> Rows<'r> {
    match format {
        Format::JsonLines => Box::new(json_lines::read(reader, take)),
        Format::Json => Box::new(json(reader, take)),
        Format::Csv => Box::new(csv(reader, b',', fields)),
        Format::Tsv => Box::new(csv(reader, b'\t', fields)),
        Format::Yaml => Box::new(yaml(reader, take)),
    }
}
