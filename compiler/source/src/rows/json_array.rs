//! A JSON array of objects, item by item: only one item is held.

use std::io::{self, Read};

use aigo_ir::span::Position;

use super::feed::{self, Feed};
use super::json_text::{self, Piece};
use super::{MAX_ROW_BYTES, Row, RowError, Take};

/// The rows of a JSON array. A bad item is an error and the next item is read, as far as brackets and quotes tell where it
/// begins. [`Take::Records`] also takes a text that is
/// one object.
pub fn json(reader: impl Read, take: Take) -> impl Iterator<Item = Result<Row, RowError>> {
    let mut array = JsonArray { feed: Feed::new(reader), buffer: Vec::new(), take, state: State::Begin };
    std::iter::from_fn(move || {
        if array.state == State::Ended {
            return None;
        }
        let row = array.next_row().unwrap_or_else(|error| Err(array.feed.broken(&error)).transpose());
        if row.as_ref().is_none_or(|row| row.as_ref().is_err_and(|error| error.fatal)) {
            array.state = State::Ended;
        }
        row
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Begin,
    /// Behind `[`, at its place.
    First(usize, usize),
    /// Behind an item.
    Behind(usize, usize),
    /// Behind the one object.
    Single,
    Ended,
}

struct JsonArray<R> {
    feed: Feed<R>,
    buffer: Vec<u8>,
    take: Take,
    state: State,
}

type Found = Option<Result<Row, RowError>>;

impl<R: Read> JsonArray<R> {
    fn blank(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.feed.peek()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.feed.take()?,
                other => return Ok(other),
            };
        }
    }

    fn next_row(&mut self) -> io::Result<Found> {
        if self.state == State::Begin
            && let Some(error) = self.begin()?
        {
            return Ok(Some(Err(error)));
        }
        let next = self.blank()?;
        let (line, column) = match self.state {
            State::First(line, column) | State::Behind(line, column) => (line, column),
            State::Single => return self.single_row(),
            State::Begin | State::Ended => return Ok(None),
        };
        let unclosed =
            || Some(Err(self.feed.error(format!("the file ends inside its array, which begins at {line}:{column}"))));
        match (next, self.state) {
            (None, _) => return Ok(unclosed()),
            (Some(b']'), _) => {
                self.feed.take()?;
                return self.end();
            }
            (Some(b','), State::Behind(..)) => {
                self.feed.take()?;
                match self.blank()? {
                    None => {
                        let message = format!("the file ends inside its array, which begins at {line}:{column}");
                        return Ok(Some(Err(self.feed.error(message))));
                    }
                    Some(b']') => {
                        let message = "a comma stands before the closing bracket: JSON allows none there";
                        return Ok(Some(Err(self.feed.error(message))));
                    }
                    Some(_) => {}
                }
            }
            (Some(_), State::Behind(..)) => {
                let message = "`,` or `]` was expected after an item of the array";
                return Ok(Some(Err(self.feed.error(message))));
            }
            _ => {}
        }
        self.state = State::Behind(line, column);
        self.item()
    }

    /// Finds the array.
    fn begin(&mut self) -> io::Result<Option<RowError>> {
        if let Err(error) = self.feed.begin() {
            return Ok(Some(error));
        }
        let next = self.blank()?;
        let place = self.feed.place();
        let message = match next {
            Some(b'[') => {
                self.feed.take()?;
                self.state = State::First(place.line, place.column);
                return Ok(None);
            }
            Some(b'{') if self.take == Take::Records => {
                self.state = State::Single;
                return Ok(None);
            }
            Some(b'{') => "this file begins with an object; an array of objects was expected: `[{…}, {…}]`",
            Some(_) => "this file is no JSON array; an array of objects was expected: `[{…}, {…}]`",
            None => "this file is empty; an array of objects was expected: `[{…}, {…}]`",
        };
        let help =
            "a file with one object per line is JSON Lines: call it `.jsonl`, or write `{path: …, format: jsonl}`";
        Ok(Some(self.feed.error(message).help(help)))
    }

    fn single_row(&mut self) -> io::Result<Found> {
        self.state = State::Ended;
        let row = self.item()?;
        if row.as_ref().is_some_and(Result::is_ok) && self.blank()?.is_some() {
            let help = "a file with one object per line is JSON Lines: call it `.jsonl`";
            return Ok(Some(Err(self.feed.error("text follows the object of this file").help(help))));
        }
        Ok(row)
    }

    fn end(&mut self) -> io::Result<Found> {
        self.state = State::Ended;
        let rest = self.blank()?;
        Ok(rest.map(|_| Err(self.feed.error("text follows the array: a file holds one array"))))
    }

    /// Takes an item: up to the comma or bracket that ends it.
    fn item(&mut self) -> io::Result<Found> {
        self.buffer.clear();
        let first = self.feed.place();
        let (mut depth, mut quoted, mut escaped, mut length) = (0_usize, false, false, 0_usize);
        while let Some(byte) = self.feed.peek()? {
            if !quoted && depth == 0 && (matches!(byte, b',' | b']') || (length > 0 && byte.is_ascii_whitespace())) {
                break;
            }
            self.feed.take()?;
            length += 1;
            if length <= MAX_ROW_BYTES {
                self.buffer.push(byte);
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = quoted,
                b'"' => quoted = !quoted,
                b'{' | b'[' if !quoted => depth += 1,
                b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && !quoted && matches!(byte, b'}' | b']') {
                break;
            }
        }
        Ok(Some(self.row(first, depth > 0 || quoted, length)))
    }

    fn row(&self, first: Position, open: bool, length: usize) -> Result<Row, RowError> {
        if length > MAX_ROW_BYTES || open {
            let shown = self.buffer.get(..self.buffer.len().min(200)).unwrap_or_default();
            let shown = String::from_utf8_lossy(shown);
            if open {
                let message = "the file ends inside this item: a bracket or a quote is not closed";
                return Err(RowError::new(&shown, first, 0, message).fatal());
            }
            let message = format!("this item is longer than {MAX_ROW_BYTES} bytes");
            return Err(RowError::new(&shown, first, 0, message));
        }
        feed::text(&self.buffer, first).and_then(|text| json_text::row(text, first, Piece::Item, self.take))
    }
}
