//! Run-time data: what rows hold, templates print and expressions compute.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value. Cheap to clone; maps keep the order in which they were written; floats are finite and never `-0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing: YAML's and JSON's `null`.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number; see [`Value::float`].
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map with unique keys, in source order.
    Map(Arc<Map>),
}

/// The pairs of a map value, keys unique, in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(Vec<(Arc<str>, Value)>);

impl Map {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| &**k == key).map(|(_, v)| v)
    }

    /// Sets a key, in its old place if it was there.
    pub fn set(&mut self, key: impl Into<Arc<str>>, value: Value) {
        let key = key.into();
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// A map of pairs whose keys are known to be unique.
    pub const fn of_unique(pairs: Vec<(Arc<str>, Value)>) -> Self {
        Self(pairs)
    }

    /// Keeps the pairs of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Value) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// The values, to change them in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut Value)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The pairs in source order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.0.iter().map(|(k, v)| (k, v))
    }

    /// How many pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<Arc<str>>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(pairs: I) -> Self {
        let mut map = Self::default();
        for (key, value) in pairs {
            map.set(key, value);
        }
        map
    }
}

impl Value {
    /// A text value.
    pub fn str(text: impl Into<Arc<str>>) -> Self {
        Self::Str(text.into())
    }

    /// A list value.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// A map value.
    pub fn map<K: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(Arc::new(pairs.into_iter().collect()))
    }

    /// A float, if finite: NaN and infinities are no values.
    pub fn float(x: f64) -> Option<Self> {
        x.is_finite().then_some(Self::Float(if x == 0.0 { 0.0 } else { x }))
    }

    /// The kind, as messages name it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// The text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number of an integer or float.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "scores and counts; beyond 2^53 the comparison is approximate"
            )]
            Self::Int(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// The whole number of an integer.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The truth of a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs of a map.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The value of a map's key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// Equality as JSON has it: numbers by value, maps whatever the order of their keys.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(_) | Self::Float(_), Self::Int(_) | Self::Float(_)) => {
                crate::eval::order(self, other).is_some_and(std::cmp::Ordering::is_eq)
            }
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| value.same(other)))
            }
            (a, b) => a == b,
        }
    }

    /// Whether lists and maps nest at most `depth` deep. It stops there, so no depth is too deep for the stack.
    pub fn is_shallow(&self, depth: usize) -> bool {
        match self {
            Self::List(items) => depth > 0 && items.iter().all(|item| item.is_shallow(depth - 1)),
            Self::Map(map) => depth > 0 && map.iter().all(|(_, item)| item.is_shallow(depth - 1)),
            _ => true,
        }
    }

    /// The value of a JSON text; `None` where it is none.
    pub fn of_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Compact JSON in which no character can drive a terminal. Reading it gives the value back, bit for bit.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Self::Int(n) => out.push_str(&n.to_string()),
            Self::Float(x) => out.push_str(&serde_json::to_string(x).unwrap_or_default()),
            Self::Str(text) => crate::text::json_string(text, out),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    crate::text::json_string(key, out);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Self::Int(n)
    }
}

/// As JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(b) => serializer.serialize_bool(*b),
            Self::Int(n) => serializer.serialize_i64(*n),
            Self::Float(x) => serializer.serialize_f64(*x),
            Self::Str(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items.iter()),
            Self::Map(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map.iter() {
                    out.serialize_entry(&**key, value)?;
                }
                out.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E: de::Error>(self, n: u64) -> Result<Value, E> {
        i64::try_from(n).map(Value::Int).map_err(|_| E::custom("a whole number above 9223372036854775807"))
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Value, E> {
        Value::float(x).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let (mut pairs, mut keys) = (Vec::new(), BTreeSet::new());
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            let key: Arc<str> = key.into();
            if !keys.insert(Arc::clone(&key)) {
                return Err(de::Error::custom(format!("the key `{key}` stands twice in one object")));
            }
            pairs.push((key, value));
        }
        Ok(Value::Map(Arc::new(Map(pairs))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_order_and_bits() {
        let text = r#"{"z":1,"a":[0.1,-3,true,null,"é"],"m":{}}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value.to_json(), text);
        for n in 1..2000_i32 {
            let x = Value::Float(f64::from(n) / 97.0);
            assert_eq!(serde_json::from_str::<Value>(&x.to_json()).unwrap(), x);
        }
    }

    #[test]
    fn what_cannot_be_a_value_is_refused() {
        for bad in ["18446744073709551615", "1e999", r#"{"a":1,"a":2}"#, "\"\\ud800\""] {
            assert!(serde_json::from_str::<Value>(bad).is_err(), "{bad}");
        }
        assert!(Value::float(f64::NAN).is_none());
    }
}
