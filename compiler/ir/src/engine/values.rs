//! Values on their way into the engine and out of it.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, State, Value as Jinja};

use crate::value::{Map, Value};

pub(super) fn to_jinja(value: Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(b) => Jinja::from(b),
        Value::Int(n) => Jinja::from(n),
        Value::Float(x) => Jinja::from(x),
        Value::Str(text) => Jinja::from(text),
        Value::List(items) => Jinja::from_object(List(items)),
        Value::Map(map) => Jinja::from_object(Record(map)),
    }
}

#[derive(Debug)]
struct List(Arc<Vec<Value>>);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_usize()?).cloned().map(to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

#[derive(Debug)]
struct Record(Arc<Map>);

impl Object for Record {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_str()?).filter(|value| **value != Value::Null).cloned().map(to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        // What is null is not there: otherwise a map with a null would not equal itself.
        let there = self.0.iter().filter(|(_, value)| **value != Value::Null);
        Enumerator::Values(there.map(|(key, _)| Jinja::from(key.clone())).collect())
    }
}

/// The other way. Lists and maps that came from outside come back as they were, without a copy.
pub(super) fn from_jinja(value: &Jinja, state: &State) -> Result<Value, Error> {
    read(value, state, 0)
}

fn read(value: &Jinja, state: &State, depth: u8) -> Result<Value, Error> {
    let bad = |what: &str| Error::new(ErrorKind::InvalidOperation, format!("{what} is no value"));
    if let Some(List(items)) = value.downcast_object_ref::<List>() {
        return Ok(Value::List(Arc::clone(items)));
    }
    if let Some(Record(map)) = value.downcast_object_ref::<Record>() {
        return Ok(Value::Map(Arc::clone(map)));
    }
    if depth > 64 {
        return Err(bad("what is nested more than 64 deep"));
    }
    match value.kind() {
        ValueKind::None => Ok(Value::Null),
        ValueKind::Bool => Ok(Value::Bool(value.is_true())),
        ValueKind::Number if value.is_integer() => {
            i64::try_from(value.clone()).map(Value::Int).map_err(|_| bad("a number outside the range of 64 bits"))
        }
        ValueKind::Number => {
            f64::try_from(value.clone()).ok().and_then(Value::float).ok_or_else(|| bad("a number that is not finite"))
        }
        ValueKind::String => Ok(Value::str(value.as_str().unwrap_or_default())),
        ValueKind::Seq | ValueKind::Iterable => {
            let mut items = Vec::new();
            for item in value.try_iter()? {
                state.consume_fuel(1)?;
                items.push(read(&item, state, depth + 1)?);
            }
            Ok(Value::list(items))
        }
        ValueKind::Map => {
            let mut pairs: Vec<(Arc<str>, Value)> = Vec::new();
            for key in value.try_iter()? {
                state.consume_fuel(1)?;
                let name = key.as_str().ok_or_else(|| bad("a key that is not a string"))?.into();
                pairs.push((name, read(&value.get_item(&key)?, state, depth + 1)?));
            }
            Ok(Value::map(pairs))
        }
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        _ => Err(bad("this")),
    }
}

/// How much fuel it costs to go through a value once.
pub(super) fn cost(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.len() as u64 / 64,
        Value::List(items) => items.len() as u64,
        Value::Map(map) => map.len() as u64,
        _ => 1,
    }
}
