//! Rows to conversations: a row is a conversation, or one message of it.

use aigo_ir::value::{Map, Value};

use super::items::{self, Reader};
use super::{MAX_MESSAGES, NAMES, Transcript, finish, is_message, whole};
use crate::rows::{MAX_ROW_BYTES, Row, RowError};

/// The conversations of rows. Rows that are one message each belong together as long as they name the same conversation and
/// stand one after the other; such a conversation is at most 8 MiB.
///
/// `explain` makes the error of a record that is no conversation, so that it can be told from those of `rows`.
pub fn conversations<'r, E: 'r>(
    rows: impl Iterator<Item = Result<Row, E>> + 'r,
    explain: impl Fn(RowError) -> E + 'r,
) -> impl Iterator<Item = Result<Transcript, E>> + 'r {
    let mut groups = Groups { rows, explain, open: None, waiting: None };
    std::iter::from_fn(move || groups.next_one())
}

/// A conversation that is being put together.
struct Open {
    name: String,
    row: Row,
    reader: Reader,
    messages: usize,
    error: Option<RowError>,
}

struct Groups<R, E, X> {
    rows: R,
    explain: X,
    open: Option<Open>,
    /// What follows the conversation that was given last.
    waiting: Option<Result<Transcript, E>>,
}

impl<E, R: Iterator<Item = Result<Row, E>>, X: Fn(RowError) -> E> Groups<R, E, X> {
    fn next_one(&mut self) -> Option<Result<Transcript, E>> {
        if let Some(waiting) = self.waiting.take() {
            return Some(waiting);
        }
        loop {
            let next = match self.rows.next() {
                None => return self.close(),
                Some(Ok(row)) if row.value.as_map().is_some_and(is_message) => {
                    if let Some(done) = self.message(&row) {
                        return Some(done);
                    }
                    continue;
                }
                Some(Ok(row)) => whole(row).map_err(&self.explain),
                Some(Err(error)) => Err(error),
            };
            return Some(match self.close() {
                None => next,
                Some(done) => {
                    self.waiting = Some(next);
                    done
                }
            });
        }
    }

    /// Takes a message; gives the conversation before it if that has ended.
    fn message(&mut self, row: &Row) -> Option<Result<Transcript, E>> {
        let map = row.value.as_map().cloned().unwrap_or_default();
        let name = NAMES.iter().find_map(|key| map.get(key)).map(|name| match name {
            Value::Str(text) => text.to_string(),
            other => other.to_json(),
        });
        let name = name.unwrap_or_default();
        let ended = if self.open.as_ref().is_some_and(|open| open.name != name) { self.close() } else { None };
        let open = self.open.get_or_insert_with(|| {
            let mut rest: Map = map.clone();
            rest.retain(|key, _| !items::is_of_message(key));
            let row = Row { value: Value::Map(rest.into()), bytes: 0, ..row.clone() };
            Open { name, row, reader: Reader::default(), messages: 0, error: None }
        });
        open.messages += 1;
        open.row.bytes += row.bytes;
        if open.error.is_none() {
            let found = if open.messages > MAX_MESSAGES || open.row.bytes > MAX_ROW_BYTES {
                Err(format!(
                    "goes beyond what a conversation may have: {MAX_MESSAGES} messages and {MAX_ROW_BYTES} bytes"
                ))
            } else {
                open.reader.take(&row.value)
            };
            if let Err(message) = found {
                let message = format!("message {} of the conversation `{}` {message}", open.messages, open.name);
                open.error = Some(RowError::of_row(row, None, message));
            }
        }
        ended
    }

    fn close(&mut self) -> Option<Result<Transcript, E>> {
        let Open { mut row, reader, error, .. } = self.open.take()?;
        if let Some(error) = error {
            return Some(Err((self.explain)(error)));
        }
        let mut rest = row.value.as_map().cloned().unwrap_or_default();
        let made = finish(reader, &mut rest);
        row.value = Value::Map(rest.into());
        Some(match made {
            Ok(conversation) => Ok(Transcript { row, conversation }),
            Err(message) => Err((self.explain)(RowError::of_row(&row, None, message))),
        })
    }
}
