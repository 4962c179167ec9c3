//! JSON Lines: one object per line.

use std::io::Read;

use super::feed::{self, Feed, Line};
use super::json_text::{self, Piece};
use super::{MAX_ROW_BYTES, Row, RowError, Take};

/// The rows of a JSON Lines text: one object per line, blank lines skipped. A bad line is an error and the next line is
/// read; an error of the reader itself ends the rows.
pub fn jsonl(reader: impl Read) -> impl Iterator<Item = Result<Row, RowError>> {
    read(reader, Take::Rows)
}

/// The same, or values of any kind.
pub(super) fn read<R: Read>(reader: R, take: Take) -> impl Iterator<Item = Result<Row, RowError>> {
    let mut lines = JsonLines { feed: Feed::new(reader), buffer: Vec::new(), take, begun: false, ended: false };
    std::iter::from_fn(move || lines.next_row())
}

struct JsonLines<R> {
    feed: Feed<R>,
    buffer: Vec<u8>,
    take: Take,
    begun: bool,
    ended: bool,
}

impl<R: Read> JsonLines<R> {
    fn next_row(&mut self) -> Option<Result<Row, RowError>> {
        if !std::mem::replace(&mut self.begun, true)
            && let Err(error) = self.feed.begin()
        {
            self.ended = true;
            return Some(Err(error));
        }
        while !self.ended {
            let first = self.feed.place();
            match self.feed.line(&mut self.buffer, MAX_ROW_BYTES) {
                Ok(Line::Whole) => match feed::text(&self.buffer, first) {
                    Ok(text) if text.trim().is_empty() => {}
                    text => return Some(text.and_then(|text| json_text::row(text, first, Piece::Line, self.take))),
                },
                Ok(Line::TooLong) => {
                    let shown = self.buffer.get(..200).map(String::from_utf8_lossy).unwrap_or_default();
                    let message = format!("this line is longer than {MAX_ROW_BYTES} bytes");
                    return Some(Err(RowError::new(&shown, first, 0, message)));
                }
                Ok(Line::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.feed.broken(&error)));
                }
            }
        }
        None
    }
}
