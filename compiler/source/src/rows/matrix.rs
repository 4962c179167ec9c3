//! Cross products of fields.

use aigo_ir::value::{Map, Value};

/// The cross product of fields, the last one varying fastest. A field without values gives no rows; no field gives none.
pub fn matrix<V: AsRef<[Value]>>(fields: &[(String, V)]) -> Matrix<'_, V> {
    let done = fields.is_empty() || fields.iter().any(|(_, values)| values.as_ref().is_empty());
    Matrix { fields, at: vec![0; fields.len()], done }
}

/// See [`matrix`].
pub struct Matrix<'a, V> {
    fields: &'a [(String, V)],
    /// The index of each field's value in the next row.
    at: Vec<usize>,
    done: bool,
}

impl<V: AsRef<[Value]>> Iterator for Matrix<'_, V> {
    type Item = Map;

    fn next(&mut self) -> Option<Map> {
        if self.done {
            return None;
        }
        let pairs = self.fields.iter().zip(&self.at);
        let row = pairs
            .map(|((name, values), &at)| (name.as_str(), values.as_ref().get(at).cloned().unwrap_or_default()))
            .collect();
        self.done = true;
        for ((_, values), at) in self.fields.iter().zip(&mut self.at).rev() {
            *at += 1;
            if *at < values.as_ref().len() {
                self.done = false;
                break;
            }
            *at = 0;
        }
        Some(row)
    }
}
