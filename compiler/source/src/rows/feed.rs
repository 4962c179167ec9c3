//! A reader that knows where it is: byte, line and column of what comes next.

use std::io::{self, ErrorKind, Read};

use aigo_ir::span::Position;

use super::RowError;

const CHUNK_BYTES: usize = 64 << 10;

/// Bytes, counted.
pub(super) struct Feed<R> {
    reader: R,
    chunk: Vec<u8>,
    at: usize,
    next: Position,
}

/// What came of reading one line.
pub(super) enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: Read> Feed<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, chunk: Vec::new(), at: 0, next: Position { offset: 0, line: 1, column: 1 } }
    }

    /// Where the next byte stands.
    pub(super) const fn place(&self) -> Position {
        self.next
    }

    /// An error where the next byte stands, which ends the file.
    pub(super) fn error(&self, message: impl Into<String>) -> RowError {
        RowError::new("", self.next, 0, message).fatal()
    }

    /// An error of the reader itself.
    pub(super) fn broken(&self, error: &io::Error) -> RowError {
        self.error(format!("the file cannot be read further: {error}"))
    }

    /// Looks at the first bytes: a byte order mark of UTF-8 is passed over, one of UTF-16 is an error.
    pub(super) fn begin(&mut self) -> Result<(), RowError> {
        while self.chunk.len() < 3 && self.more().map_err(|error| self.broken(&error))? {}
        if self.chunk.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
            self.next.offset = 3;
        } else if self.chunk.starts_with(b"\xff\xfe") || self.chunk.starts_with(b"\xfe\xff") {
            let message = "this file is UTF-16, by the byte order mark at its start; UTF-8 was expected";
            return Err(self.error(message).help("save the file as UTF-8"));
        }
        Ok(())
    }

    /// Reads more behind what is there; says whether something came.
    fn more(&mut self) -> io::Result<bool> {
        if self.at > 0 {
            self.chunk.drain(..self.at);
            self.at = 0;
        }
        let had = self.chunk.len();
        self.chunk.resize(had + CHUNK_BYTES, 0);
        loop {
            match self.reader.read(self.chunk.get_mut(had..).unwrap_or_default()) {
                Ok(count) => {
                    self.chunk.truncate(had + count);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.chunk.truncate(had);
                    return Err(error);
                }
            }
        }
    }

    /// The next byte, which stays.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.chunk.len() {
            self.more()?;
        }
        Ok(self.chunk.get(self.at).copied())
    }

    /// The next byte, which is taken.
    pub(super) fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.at += 1;
            self.next.offset += 1;
            if byte == b'\n' {
                self.next.line += 1;
                self.next.column = 1;
            } else if byte & 0xc0 != 0x80 {
                self.next.column += 1;
            }
        }
        Ok(byte)
    }

    /// Takes a line with its line break, and puts it without the break into `into`, unless it is longer than `most`.
    pub(super) fn line(&mut self, into: &mut Vec<u8>, most: usize) -> io::Result<Line> {
        into.clear();
        let (mut any, mut too_long) = (false, false);
        loop {
            if self.at == self.chunk.len() && !self.more()? {
                break;
            }
            any = true;
            let rest = self.chunk.get(self.at..).unwrap_or_default();
            let newline = rest.iter().position(|&b| b == b'\n');
            let part = newline.and_then(|at| rest.get(..at)).unwrap_or(rest);
            if into.len() + part.len() > most {
                too_long = true;
            } else {
                into.extend_from_slice(part);
            }
            let used = newline.map_or(rest.len(), |at| at + 1);
            self.at += used;
            self.next.offset += used;
            if newline.is_some() {
                break;
            }
        }
        self.next.line += usize::from(any);
        self.next.column = 1;
        Ok(if too_long {
            Line::TooLong
        } else if any {
            Line::Whole
        } else {
            Line::End
        })
    }
}

/// The text of bytes, or an error at the first that is none.
pub(super) fn text(bytes: &[u8], first: Position) -> Result<&str, RowError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at_checked(error.valid_up_to()).unwrap_or_default();
        let good = std::str::from_utf8(good).unwrap_or_default();
        let byte = bad.first().copied().unwrap_or_default();
        RowError::new(good, first, good.len(), format!("the byte 0x{byte:02X} is not UTF-8: save the file as UTF-8"))
    })
}
