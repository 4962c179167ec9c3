//! The matrix of a dataset that is one: conversations and failures of each pair of values.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::value::{Map, Value};

/// Conversations with one pair of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Those that ended.
    pub(crate) ended: u64,
    /// Of these, those that fail.
    pub(crate) failing: u64,
}

/// The values of a sample's two fields by which it is in the matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The names of the fields, in the order in which the task has them.
    pub(crate) fields: [Arc<str>; 2],
    /// Their values, as ids.
    pub(crate) values: [String; 2],
}

/// The counts of all pairs.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    /// Of each pair of fields, as a run can have several sources of samples.
    tables: BTreeMap<[Arc<str>; 2], BTreeMap<[String; 2], Cell>>,
}

/// A matrix as it is shown: the field with more values is that of the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) of_lines: Arc<str>,
    pub(crate) of_columns: Arc<str>,
    pub(crate) columns: Vec<String>,
    /// The value of each line, and its cells; none where there is no such sample.
    pub(crate) lines: Vec<(String, Vec<Option<Cell>>)>,
}

/// More fields than this are not those of a matrix that a person reads.
const MOST_FIELDS: usize = 24;

/// Where a sample is in a matrix: its key joins the ids of two fields' values, or of these and more fields' values, by `/`.
pub(crate) fn place(key: &str, row: &Map) -> Option<Place> {
    if row.len() > MOST_FIELDS || !key.contains('/') {
        return None;
    }
    let ids: Vec<(&Arc<str>, String)> = row.iter().filter_map(|(name, value)| Some((name, id(value)?))).collect();
    let begins = |text: &str, with: &str| text.strip_prefix(with).and_then(|rest| rest.strip_prefix('/')).map(str::len);
    for (first, one) in &ids {
        let Some(rest) = begins(key, one).and_then(|length| key.get(key.len() - length..)) else { continue };
        let second = ids.iter().find(|(name, other)| name != first && (rest == other || begins(rest, other).is_some()));
        if let Some((second, other)) = second {
            let fields = [Arc::clone(first), Arc::clone(second)];
            return Some(Place { fields, values: [one.clone(), other.clone()] });
        }
    }
    None
}

/// What stands for a value in the id of a sample.
fn id(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) if !text.is_empty() => Some(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some(value.to_json()),
        Value::Map(_) => value.get("id").filter(|id| !matches!(id, Value::Map(_))).and_then(id),
        _ => None,
    }
}

impl Matrix {
    pub(crate) fn add(&mut self, place: &Place, fails: bool) {
        let table = self.tables.entry(place.fields.clone()).or_default();
        let cell = table.entry(place.values.clone()).or_default();
        cell.ended += 1;
        cell.failing += u64::from(fails);
    }

    /// What can be shown of it: tables with two values at least in either direction.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let tables = self.tables.iter().filter_map(|(fields, cells)| table(fields, cells));
        tables.collect()
    }
}

fn table(fields: &[Arc<str>; 2], cells: &BTreeMap<[String; 2], Cell>) -> Option<Table> {
    let values = |at: usize| {
        let mut values: Vec<&String> = cells.keys().filter_map(|pair| pair.get(at)).collect();
        values.sort();
        values.dedup();
        values
    };
    let [first, second] = [values(0), values(1)];
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let [one, other] = fields;
    let turned = second.len() > first.len();
    let (of_lines, of_columns) = if turned { (other, one) } else { (one, other) };
    let (lines, columns) = if turned { (second, first) } else { (first, second) };
    let cell = |line: &String, column: &String| {
        let pair = if turned { [column.clone(), line.clone()] } else { [line.clone(), column.clone()] };
        cells.get(&pair).copied()
    };
    let lines = lines.into_iter().map(|line| (line.clone(), columns.iter().map(|column| cell(line, column)).collect()));
    Some(Table {
        of_lines: Arc::clone(of_lines),
        of_columns: Arc::clone(of_columns),
        lines: lines.collect(),
        columns: columns.iter().map(|column| (*column).clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pairs: &[(&str, &str)]) -> Map {
        pairs.iter().map(|(name, value)| (*name, Value::str(*value))).collect()
    }

    #[test]
    fn a_key_tells_which_fields_the_matrix_has() {
        let found = |key: &str, row: &Map| place(key, row).map(|place| place.fields.map(|name| name.to_string()));
        let pair = row(&[("goal", "a/b"), ("note", "x"), ("persona", "terse")]);
        assert_eq!(found("a/b/terse", &pair), Some(["goal".to_owned(), "persona".to_owned()]));
        assert_eq!(found("terse/a/b", &pair), Some(["persona".to_owned(), "goal".to_owned()]));
        assert!(found("a/b/terse/x", &pair).is_some());
        assert_eq!((found("a/b", &pair), found("other", &pair)), (None, None));
        let goal = Value::map([("id", Value::str("g1")), ("text", Value::str("long"))]);
        let with_ids: Map = [("goal", goal), ("seats", Value::Int(3))].into_iter().collect();
        assert_eq!(found("g1/3", &with_ids), Some(["goal".to_owned(), "seats".to_owned()]));
    }

    #[test]
    fn the_field_with_more_values_is_that_of_the_lines() {
        let mut matrix = Matrix::default();
        for (persona, goal, fails) in [("p", "a", true), ("p", "b", false), ("q", "c", true), ("p", "a", false)] {
            let fields = ["persona".into(), "goal".into()];
            matrix.add(&Place { fields, values: [persona.to_owned(), goal.to_owned()] }, fails);
        }
        let [table] = matrix.tables().try_into().unwrap();
        assert_eq!((&*table.of_lines, table.columns.len(), table.lines.len()), ("goal", 2, 3));
        assert_eq!(table.lines[0], ("a".to_owned(), vec![Some(Cell { ended: 2, failing: 1 }), None]));
    }
}
