//! Rows of datasets: JSON Lines, read one line at a time, and cross products of fields.

use std::fmt;
use std::io::BufRead;

use aigo_ir::value::{Map, Value};

/// How long a line of a dataset may be: 8 MiB.
const MAX_LINE_BYTES: usize = 8 << 20;
/// How many keys one object of a row may have. Maps keep their order and are searched from the front.
const MAX_KEYS: usize = 10_000;

/// One row of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line it was read from, from 1.
    pub line: usize,
    /// Its fields: always a map.
    pub value: Value,
}

/// Why a row cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// What was seen and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for RowError {}

/// The rows of a JSON Lines text: one object per line, blank lines skipped. A bad line is an error and the next line is
/// read; an error of the reader itself ends the rows.
pub fn jsonl<R: BufRead>(reader: R) -> JsonLines<R> {
    JsonLines { reader, line: 0, ended: false, buffer: Vec::new() }
}

/// See [`jsonl`].
pub struct JsonLines<R> {
    reader: R,
    line: usize,
    ended: bool,
    buffer: Vec<u8>,
}

/// What came of reading one line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: BufRead> JsonLines<R> {
    /// Reads one line without its line break into the buffer, never more than a line may have.
    fn fill(&mut self) -> std::io::Result<Line> {
        self.buffer.clear();
        let (mut any, mut too_long) = (false, false);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            any = true;
            let newline = chunk.iter().position(|&b| b == b'\n');
            let part = newline.and_then(|at| chunk.get(..at)).unwrap_or(chunk);
            if self.buffer.len() + part.len() > MAX_LINE_BYTES {
                too_long = true;
            } else {
                self.buffer.extend_from_slice(part);
            }
            let used = newline.map_or(chunk.len(), |at| at + 1);
            self.reader.consume(used);
            if newline.is_some() {
                break;
            }
        }
        Ok(if too_long {
            Line::TooLong
        } else if any {
            Line::Whole
        } else {
            Line::End
        })
    }

    fn error(&self, column: usize, message: impl Into<String>) -> RowError {
        RowError { message: message.into(), line: self.line, column }
    }

    /// The row of the line in the buffer, `None` if it is blank.
    fn row(&self) -> Option<Result<Row, RowError>> {
        let bytes = match self.line {
            1 => self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer),
            _ => &self.buffer,
        };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let column = String::from_utf8_lossy(good).chars().count() + 1;
                let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
                return Some(Err(
                    self.error(column, format!("the byte 0x{byte:02X} is not UTF-8: save the file as UTF-8"))
                ));
            }
        };
        if text.trim().is_empty() {
            return None;
        }
        if is_too_wide(text) {
            return Some(Err(self.error(1, format!("an object of this line has more than {MAX_KEYS} keys"))));
        }
        Some(match serde_json::from_str::<Value>(text) {
            Ok(value @ Value::Map(_)) => Ok(Row { line: self.line, value }),
            Ok(other) => {
                let message = format!(
                    "this line is {}; each line is one JSON object, such as {{\"input\": \"Hi\"}}",
                    other.kind()
                );
                let blank = text.chars().take_while(|c| c.is_whitespace()).count();
                Err(self.error(blank + 1, message))
            }
            Err(error) => {
                // serde_json counts bytes; people count characters.
                let bytes = error.column().saturating_sub(1);
                let column = text.char_indices().take_while(|&(at, _)| at < bytes).count() + 1;
                Err(self.error(column, words(&error, text)))
            }
        })
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = Result<Row, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            self.line += 1;
            match self.fill() {
                Ok(Line::Whole) => {
                    if let Some(row) = self.row() {
                        return Some(row);
                    }
                }
                Ok(Line::TooLong) => {
                    return Some(Err(self.error(1, format!("this line is longer than {MAX_LINE_BYTES} bytes"))));
                }
                Ok(Line::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.error(1, format!("the file cannot be read further: {error}"))));
                }
            }
        }
        None
    }
}

/// Whether an object has too many keys, found before the line is parsed.
fn is_too_wide(text: &str) -> bool {
    if text.len() < 4 * MAX_KEYS {
        return false;
    }
    let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => open.push(0_usize),
            b'}' | b']' if !quoted => {
                open.pop();
            }
            b':' if !quoted => {
                let Some(keys) = open.last_mut() else { continue };
                *keys += 1;
                if *keys > MAX_KEYS {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// An error of the JSON parser in our words.
fn words(error: &serde_json::Error, line: &str) -> String {
    let full = error.to_string();
    let said = full.split(" at line ").next().unwrap_or(&full);
    let near = if line.trim_start().starts_with(['{', '[']) {
        ""
    } else {
        "; each line is one JSON object, such as {\"input\": \"Hi\"}"
    };
    let text = match said {
        _ if error.is_eof() => "the line ends inside its JSON value: an object may not be spread over several lines",
        "trailing characters" => "text follows the JSON value: one object per line, without commas between lines",
        "trailing comma" => "a comma stands before the closing bracket: JSON allows none there",
        "key must be a string" => "a key in double quotes was expected here",
        "expected `:`" => "a `:` was expected after the key",
        "expected `,` or `}`" => "`,` or `}` was expected after a value of the object",
        "expected `,` or `]`" => "`,` or `]` was expected after an item of the list",
        "expected value" => {
            "a JSON value was expected here: text in double quotes, a number, true, false, null, `[` or `{`"
        }
        "invalid escape" => "a backslash in the text begins no escape that JSON knows: write a backslash as `\\\\`",
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "a `\\u` escape is half of a character: such an escape needs its second half, `\\ud83d\\ude00`"
        }
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a control character stands in the text: write it as an escape, such as `\\t`"
        }
        "number out of range" => "a number is too large to be computed with",
        "recursion limit exceeded" => "lists and objects are nested too deeply",
        other => other,
    };
    format!("{text}{near}")
}

/// The cross product of fields, the last one varying fastest. A field without values gives no rows; no field gives none.
pub fn matrix(fields: &[(String, Vec<Value>)]) -> Matrix<'_> {
    let done = fields.is_empty() || fields.iter().any(|(_, values)| values.is_empty());
    Matrix { fields, at: vec![0; fields.len()], done }
}

/// See [`matrix`].
pub struct Matrix<'a> {
    fields: &'a [(String, Vec<Value>)],
    /// The index of each field's value in the next row.
    at: Vec<usize>,
    done: bool,
}

impl Iterator for Matrix<'_> {
    type Item = Map;

    fn next(&mut self) -> Option<Map> {
        if self.done {
            return None;
        }
        let pairs = self.fields.iter().zip(&self.at);
        let row =
            pairs.map(|((name, values), &at)| (name.as_str(), values.get(at).cloned().unwrap_or_default())).collect();
        self.done = true;
        for ((_, values), at) in self.fields.iter().zip(&mut self.at).rev() {
            *at += 1;
            if *at < values.len() {
                self.done = false;
                break;
            }
            *at = 0;
        }
        Some(row)
    }
}
