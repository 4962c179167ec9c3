//! The groups of gates: trials by the value of a field.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::program::Program;
use aigo_ir::value::{Map, Value};

/// Of each field that a gate groups by: its values, and which one each trial has.
#[derive(Debug, Default)]
pub(crate) struct Grouping(Vec<Field>);

#[derive(Debug)]
struct Field {
    path: Arc<str>,
    values: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// Of each trial, in the order in which they were added, the number of its value.
    trials: Vec<u32>,
}

impl Grouping {
    pub(crate) fn new(program: &Program) -> Self {
        let mut fields: Vec<Field> = Vec::new();
        for by in program.gates.iter().filter_map(|gate| gate.by.as_ref()) {
            if !fields.iter().any(|field| field.path == *by) {
                let path = Arc::clone(by);
                fields.push(Field { path, values: Vec::new(), numbers: BTreeMap::new(), trials: Vec::new() });
            }
        }
        Self(fields)
    }

    pub(crate) fn add(&mut self, row: &Map) {
        for field in &mut self.0 {
            let shown = value(row, &field.path);
            let next = u32::try_from(field.values.len()).unwrap_or(u32::MAX);
            let number = *field.numbers.entry(shown.clone()).or_insert(next);
            if number == next {
                field.values.push(shown);
            }
            field.trials.push(number);
        }
    }

    /// The value of a trial's field.
    pub(crate) fn name(&self, by: &str, trial: usize) -> &str {
        let field = self.0.iter().find(|field| &*field.path == by);
        let number = field.and_then(|field| Some((field, *field.trials.get(trial)? as usize)));
        number.and_then(|(field, number)| field.values.get(number)).map_or("", String::as_str)
    }
}

/// The value at a path such as `goal.id`, as it prints.
fn value(row: &Map, path: &str) -> String {
    let mut parts = path.split('.');
    let first = parts.next().and_then(|name| row.get(name));
    match parts.try_fold(first, |value, name| Some(value?.get(name))).flatten() {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::Str(text)) => text.to_string(),
        Some(other) => other.to_json(),
    }
}
