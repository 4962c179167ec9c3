//! A row taken apart: its id, its tags, its fields.

use std::borrow::Cow;
use std::sync::Arc;

use aigo_ir::key::KeyWriter;
use aigo_ir::message::Conversation;
use aigo_ir::value::{Map, Value};

use super::declared::{Fields, misfit};
use super::problem::{Place, Problem};
use crate::catalog;

/// How deep the lists and maps of a field may nest: a log must be able to hold the row.
const MOST_DEPTH: usize = 64;

/// A row as a source gives it.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) id: Option<String>,
    /// Which repeat of its scenario it is, where a recording says so.
    pub(super) epoch: Option<u32>,
    pub(super) fields: Arc<Map>,
    pub(super) tags: Vec<String>,
    pub(super) cluster: Option<String>,
    pub(super) conversation: Arc<Conversation>,
    pub(super) graph: Arc<str>,
    pub(super) place: Place,
    /// How many bytes it has in its source, about.
    pub(super) bytes: usize,
}

impl Raw {
    /// A row from a map: `id` and `tags` are taken out, the rest are its fields, which must be of their declared types.
    pub(super) fn new(mut row: Map, graph: &Arc<str>, place: Place, declared: &Fields) -> Result<Self, Problem> {
        let problem = |key: &str, message: String| {
            place.problem(&catalog::BAD_ROW, Some(key), format!("{}: {message}", place.text()))
        };
        let (mut id, mut tags) = (None, Vec::new());
        for (name, value) in row.iter() {
            match (&**name, value) {
                ("id", value) => id = Some(id_of(value).map_err(|message| problem("id", message))?),
                ("tags", value) => tags = tags_of(value).map_err(|message| problem("tags", message))?,
                (name, _) if crate::parse::is_reserved(name) => {
                    let why = if name.starts_with('_') { "is a name of aigo's own" } else { "is always in scope" };
                    return Err(problem(name, format!("a field cannot be called `{name}`, which {why}")));
                }
                (_, value) if !value.is_shallow(MOST_DEPTH) => {
                    return Err(problem(name, format!("`{name}` is nested more than {MOST_DEPTH} deep")));
                }
                (name, value) => {
                    if let Some(wrong) = declared.get(name).and_then(|ty| misfit(value, ty)) {
                        let message = format!("`{name}` of {} {wrong}", place.text());
                        let help = "mend the value, or declare another type in `fields`";
                        return Err(place.problem(&catalog::WRONG_VALUE, Some(name), message).help(help));
                    }
                }
            }
        }
        row.retain(|name, _| !matches!(name, "id" | "tags"));
        Ok(Self {
            id,
            epoch: None,
            fields: Arc::new(row),
            tags,
            cluster: None,
            conversation: Arc::default(),
            graph: Arc::clone(graph),
            place,
            bytes: 0,
        })
    }
}

fn id_of(value: &Value) -> Result<String, String> {
    match value {
        Value::Str(text) if !text.is_empty() && text.len() <= 200 => Ok(String::from(&**text)),
        Value::Int(n) => Ok(n.to_string()),
        other => Err(format!("`id` must be a text of 1 to 200 bytes or a whole number, and is {}", cut(other))),
    }
}

/// A list of texts; of a cell, texts with commas between.
fn tags_of(value: &Value) -> Result<Vec<String>, String> {
    let wrong = || "`tags` must be a list of texts".to_owned();
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Str(text) => {
            Ok(text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect())
        }
        Value::List(items) => items.iter().map(|tag| tag.as_str().map(str::to_owned).ok_or_else(wrong)).collect(),
        _ => Err(wrong()),
    }
}

fn cut(value: &Value) -> String {
    let text = value.to_json();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Whether a text has at most 40 characters.
fn is_short(text: &str) -> bool {
    text.len() <= 40 || text.chars().nth(40).is_none()
}

/// The id of a value of a matrix, or of a cluster: its own `id`, a short text or a number as it is, otherwise a hash.
pub(super) fn value_id(value: &Value) -> Cow<'_, str> {
    match value.get("id").unwrap_or(value) {
        Value::Str(text) if is_short(text) && !text.bytes().any(|byte| matches!(byte, b'/' | b'\n')) => {
            Cow::Borrowed(text)
        }
        plain @ (Value::Int(_) | Value::Float(_) | Value::Bool(_)) => Cow::Owned(plain.to_json()),
        other => Cow::Owned(KeyWriter::new("aigo.value.1").value(other).finish().hex(8)),
    }
}
