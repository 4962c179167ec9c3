//! The text of one JSON object to a value, and what is wrong with it in our words.

use aigo_ir::span::Position;
use aigo_ir::value::Value;

use super::{MAX_KEYS, Row, RowError, Take};

/// What a row of JSON is in its file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line of JSON Lines.
    Line,
    /// An item of an array.
    Item,
}

impl Piece {
    const fn this(self) -> &'static str {
        match self {
            Self::Line => "this line",
            Self::Item => "this item",
        }
    }

    const fn wanted(self) -> &'static str {
        match self {
            Self::Line => "each line is one JSON object, such as {\"input\": \"Hi\"}",
            Self::Item => "each item of the array is an object, such as {\"input\": \"Hi\"}",
        }
    }
}

/// The row of a text that begins at `first`.
pub(super) fn row(text: &str, first: Position, piece: Piece, take: Take) -> Result<Row, RowError> {
    let error = |at: usize, message: String| RowError::new(text, first, at, message);
    if is_too_wide(text) {
        return Err(error(0, format!("an object of {} has more than {MAX_KEYS} keys", piece.this())));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if take == Take::Values || value.as_map().is_some() => Ok(Row::new(text, first, value)),
        Ok(other) => {
            let blank = text.len() - text.trim_start().len();
            Err(error(blank, format!("{} is {}; {}", piece.this(), other.kind(), piece.wanted())))
        }
        Err(found) => {
            // The parser counts lines of the text, and bytes of the line.
            let lines = text.split_inclusive('\n').take(found.line().saturating_sub(1));
            let at = lines.map(str::len).sum::<usize>() + found.column().saturating_sub(1);
            Err(error(at, words(&found, text, piece)))
        }
    }
}

/// Whether an object has too many keys, found before the text is parsed.
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
fn words(error: &serde_json::Error, text: &str, piece: Piece) -> String {
    let full = error.to_string();
    let said = full.split(" at line ").next().unwrap_or(&full);
    let near = if text.trim_start().starts_with(['{', '[']) { String::new() } else { format!("; {}", piece.wanted()) };
    let text = match said {
        _ if error.is_eof() && piece == Piece::Item => "the item ends inside its JSON value",
        _ if error.is_eof() => "the line ends inside its JSON value: an object may not be spread over several lines",
        "trailing characters" if piece == Piece::Item => "text follows the item: items are separated by commas",
        "trailing characters" => "text follows the JSON value: one object per line, without commas between lines",
        "trailing comma" => "a comma stands before the closing bracket: JSON allows none there",
        "key must be a string" => "a key in double quotes was expected here",
        "expected `:`" => "a `:` was expected after the key",
        "expected `,` or `}`" => "`,` or `}` was expected after a value of the object",
        "expected `,` or `]`" => "`,` or `]` was expected after an item of the list",
        "expected value" => {
            "a JSON value was expected here: text in double quotes, a number, true, false, null, `[` or `{`"
        }
        "expected ident" => "`true`, `false` or `null` was expected here; text stands in double quotes",
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
