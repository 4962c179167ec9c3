//! CSV and TSV: a header, then a row per record. Cells in double quotes may hold separators, line breaks and doubled quotes.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use aigo_ir::span::Position;
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};

use super::feed::{self, Feed};
use super::{MAX_KEYS, MAX_ROW_BYTES, Row, RowError};

/// The rows of a CSV text. A cell is text unless its column's type is declared in `fields`. A bad record is an error and the
/// next one is read; a bad header, and a quote that is not closed, end the rows.
pub fn csv<R: Read>(
    reader: R,
    separator: u8,
    fields: &[(Arc<str>, Type)],
) -> impl Iterator<Item = Result<Row, RowError>> + use<R> {
    let (feed, fields) = (Feed::new(reader), fields.to_vec());
    let mut csv = Csv { feed, separator, fields, header: None, raw: Vec::new(), ended: false };
    std::iter::from_fn(move || {
        if csv.ended {
            return None;
        }
        let row = csv.next_row().transpose();
        csv.ended = row.as_ref().is_none_or(|row| row.as_ref().is_err_and(|error| error.fatal));
        row
    })
}

/// What to do with a file whose cells something else separates.
const OTHER_SEPARATOR: &str = "save the file with commas as `.csv`, or with tabs as `.tsv`";

struct Column {
    name: Arc<str>,
    ty: Option<Type>,
}

struct Csv<R> {
    feed: Feed<R>,
    separator: u8,
    fields: Vec<(Arc<str>, Type)>,
    header: Option<Arc<[Column]>>,
    /// The record as it stands in the file.
    raw: Vec<u8>,
    ended: bool,
}

/// What came of taking a record's bytes.
enum Taken {
    Whole,
    /// The quote at this byte is not closed.
    Open(usize),
    End,
}

/// A cell and where it begins in its record.
struct Cell<'r> {
    text: Cow<'r, str>,
    at: usize,
}

impl<R: Read> Csv<R> {
    fn next_row(&mut self) -> Result<Option<Row>, RowError> {
        let header = match &self.header {
            Some(header) => Arc::clone(header),
            None => {
                self.feed.begin()?;
                let header: Arc<[Column]> = self.header()?.into();
                self.header = Some(Arc::clone(&header));
                header
            }
        };
        let Some(first) = self.record()? else { return Ok(None) };
        let text = checked(&self.raw, first)?;
        let cells = cells(text, first, char::from(self.separator))?;
        if cells.len() != header.len() {
            let plural = |n: usize| format!("{n} cell{}", if n == 1 { "" } else { "s" });
            let message = format!("this row has {}, and the header has {}", plural(cells.len()), header.len());
            // The first that is too many, or the end where one is missing.
            let at = cells.get(header.len()).map_or(text.len(), |cell| cell.at);
            let help = "a cell with a separator, a quote or a line break in it stands in double quotes: `\"a, b\"`";
            return Err(RowError::new(text, first, at, message).help(help));
        }
        let mut fields = Vec::with_capacity(cells.len());
        for (column, cell) in header.iter().zip(cells) {
            let value = match &column.ty {
                None => Value::str(&*cell.text),
                Some(ty) => value(&cell.text, ty).ok_or_else(|| {
                    let shown: String = cell.text.chars().take(60).collect();
                    let message = format!("the cell of `{}` is `{shown}`, which is no {ty}", column.name);
                    RowError::new(text, first, cell.at, message)
                        .help("mend the cell, or declare another type in `fields`")
                })?,
            };
            fields.push((column.name.clone(), value));
        }
        // The header has no name twice.
        let value = Value::Map(Arc::new(Map::of_unique(fields)));
        Ok(Some(Row::new(text, first, value)))
    }

    fn header(&mut self) -> Result<Vec<Column>, RowError> {
        let Some(first) = self.record()? else {
            return Err(self.feed.error("this file is empty; a header with the names of the fields was expected"));
        };
        let text = checked(&self.raw, first).map_err(RowError::fatal)?;
        let error = |at: usize, message: String| RowError::new(text, first, at, message).fatal();
        let cells = cells(text, first, char::from(self.separator)).map_err(RowError::fatal)?;
        if let [only] = &*cells
            && let Some(other) = [';', '\t', ','].into_iter().find(|other| only.text.contains(*other))
        {
            let shown = if other == '\t' { "a tab".to_owned() } else { format!("`{other}`") };
            let expected = if self.separator == b'\t' { "a tab" } else { "a comma" };
            let message = format!("the header is one cell with {shown} in it; cells are separated by {expected} here");
            return Err(error(only.at, message).help(OTHER_SEPARATOR));
        }
        if cells.len() > MAX_KEYS {
            return Err(error(0, format!("the header has more than {MAX_KEYS} cells")));
        }
        let mut seen = std::collections::BTreeMap::new();
        for (at, cell) in cells.iter().enumerate() {
            if cell.text.trim().is_empty() {
                let message = format!("cell {} of the header is empty: each column needs a name", at + 1);
                return Err(error(cell.at, message).help("name the column, or take it out"));
            }
            if let Some(earlier) = seen.insert(cell.text.trim(), at) {
                let message =
                    format!("the header has `{}` twice, in its cells {} and {}", cell.text.trim(), earlier + 1, at + 1);
                return Err(error(cell.at, message).help("give each column a name of its own"));
            }
        }
        let column = |cell: &Cell<'_>| {
            let name = cell.text.trim();
            let ty = self.fields.iter().find(|(known, _)| &**known == name).map(|(_, ty)| ty.clone());
            Column { name: name.into(), ty }
        };
        Ok(cells.iter().map(column).collect())
    }

    /// Takes the next record that is not blank into `raw`, and gives its place.
    fn record(&mut self) -> Result<Option<Position>, RowError> {
        loop {
            let first = self.feed.place();
            let taken = self.bytes().map_err(|error| self.feed.broken(&error))?;
            if matches!(taken, Taken::End) {
                return Ok(None);
            }
            if let Taken::Open(at) = taken {
                let shown = self.raw.get(at..self.raw.len().min(at + 200)).unwrap_or_default();
                let lines = String::from_utf8_lossy(self.raw.get(..at).unwrap_or_default()).into_owned();
                let place = super::position(&lines, first, lines.len());
                let within = if self.raw.len() > MAX_ROW_BYTES {
                    format!("within {MAX_ROW_BYTES} bytes")
                } else {
                    "before the file ends".to_owned()
                };
                let message = format!("the quote that opens here is not closed {within}");
                let help = "close it with a second `\"`; a quote inside of a quoted cell is doubled: `\"\"`";
                let error = RowError::new(&String::from_utf8_lossy(shown), place, 0, message);
                return Err(error.help(help).fatal());
            }
            if self.raw.len() > MAX_ROW_BYTES {
                let shown = self.raw.get(..200).map(String::from_utf8_lossy).unwrap_or_default().into_owned();
                self.skip_line().map_err(|error| self.feed.broken(&error))?;
                return Err(RowError::new(&shown, first, 0, format!("this row is longer than {MAX_ROW_BYTES} bytes")));
            }
            if !self.raw.iter().all(u8::is_ascii_whitespace) || self.raw.contains(&self.separator) {
                return Ok(Some(first));
            }
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        while self.feed.take()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }

    /// Takes bytes up to the end of the record.
    fn bytes(&mut self) -> io::Result<Taken> {
        self.raw.clear();
        let mut opened = None;
        let mut begins = true;
        if self.feed.peek()?.is_none() {
            return Ok(Taken::End);
        }
        while let Some(byte) = self.feed.take()? {
            if opened.is_some() {
                self.raw.push(byte);
                if byte == b'"' {
                    match self.feed.peek()? {
                        Some(b'"') => self.raw.extend(self.feed.take()?),
                        _ => opened = None,
                    }
                }
            } else if byte == b'\n' {
                break;
            } else if byte == b'\r' {
                if self.feed.peek()? == Some(b'\n') {
                    self.feed.take()?;
                }
                break;
            } else {
                if begins && byte == b'"' {
                    opened = Some(self.raw.len());
                }
                begins = byte == self.separator;
                self.raw.push(byte);
            }
            if self.raw.len() > MAX_ROW_BYTES {
                break;
            }
        }
        Ok(opened.map_or(Taken::Whole, Taken::Open))
    }
}

/// The text of a record, without NUL.
fn checked(raw: &[u8], first: Position) -> Result<&str, RowError> {
    let text = feed::text(raw, first)?;
    match text.find('\0') {
        Some(at) => Err(RowError::new(text, first, at, "a NUL byte stands here: this is no text")),
        None => Ok(text),
    }
}

/// The cells of a record.
fn cells(text: &str, first: Position, separator: char) -> Result<Vec<Cell<'_>>, RowError> {
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let (cell, length) = match rest.strip_prefix('"') {
            None => {
                let length = rest.find(separator).unwrap_or(rest.len());
                (Cow::Borrowed(rest.get(..length).unwrap_or_default()), length)
            }
            Some(inner) => {
                let length = closing(inner);
                let cell = inner.get(..length).unwrap_or_default();
                let cell =
                    if cell.contains('"') { Cow::Owned(cell.replace("\"\"", "\"")) } else { Cow::Borrowed(cell) };
                (cell, length + 2)
            }
        };
        cells.push(Cell { text: cell, at });
        at += length;
        match text.get(at..).and_then(|rest| rest.chars().next()) {
            None => return Ok(cells),
            Some(c) if c == separator => at += c.len_utf8(),
            Some(c) if [',', ';', '\t', '|'].contains(&c) => {
                let shown = |c| if c == '\t' { "a tab".to_owned() } else { format!("`{c}`") };
                let message = format!(
                    "{} follows the closing quote of this cell; cells are separated by {} here",
                    shown(c),
                    shown(separator)
                );
                return Err(RowError::new(text, first, at, message).help(OTHER_SEPARATOR));
            }
            Some(_) => {
                let message = "text follows the closing quote of this cell";
                let help = "a quote inside of a quoted cell is doubled: `\"say \"\"hi\"\"\"`";
                return Err(RowError::new(text, first, at, message).help(help));
            }
        }
    }
}

/// Where the quote stands that closes a cell: the first that is not doubled.
fn closing(inner: &str) -> usize {
    let mut at = 0;
    while let Some(quote) = inner.get(at..).and_then(|rest| rest.find('"')) {
        at += quote;
        if inner.get(at + 1..).is_none_or(|rest| !rest.starts_with('"')) {
            return at;
        }
        at += 2;
    }
    inner.len()
}

/// A cell as a value of a type; none where it cannot be read so.
fn value(cell: &str, ty: &Type) -> Option<Value> {
    let trimmed = cell.trim();
    match ty {
        Type::Maybe(_) | Type::Null if trimmed.is_empty() => Some(Value::Null),
        Type::Maybe(ty) => value(cell, ty),
        Type::Bool if trimmed.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Type::Bool if trimmed.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        Type::Bool | Type::Null => None,
        Type::Int => trimmed.parse().ok().map(Value::Int),
        Type::Number => match trimmed.parse::<i64>() {
            Ok(n) => Some(Value::Int(n)),
            Err(_) if trimmed.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                trimmed.parse().ok().and_then(Value::float)
            }
            Err(_) => None,
        },
        Type::List(_) | Type::Record(_) => serde_json::from_str(trimmed).ok(),
        _ => Some(Value::str(cell)),
    }
}
