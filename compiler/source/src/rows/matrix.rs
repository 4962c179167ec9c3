//! Cross products of fields.

use std::sync::Arc;

use aigo_ir::value::{Map, Value};

/// The cross product of fields with different names, the last one varying fastest. A field without values gives no rows; no field gives none.
pub fn matrix(fields: &[(Arc<str>, Vec<Value>)]) -> Matrix<'_> {
    let done = fields.is_empty() || fields.iter().any(|(_, values)| values.is_empty());
    Matrix { fields, at: vec![0; fields.len()], done }
}

/// See [`matrix`].
pub struct Matrix<'a> {
    fields: &'a [(Arc<str>, Vec<Value>)],
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
        let row = pairs.map(|((name, values), &at)| (name.clone(), values.get(at).cloned().unwrap_or_default()));
        let row = Map::of_unique(row.collect());
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
