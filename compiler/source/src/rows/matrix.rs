//! Cross products of fields.

use aigo_ir::value::{Map, Value};

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
