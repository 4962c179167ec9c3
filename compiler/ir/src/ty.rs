//! The types of values, as the checker knows them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::value::Value;

/// What is known of a value before the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Nothing is known: fields whose rows disagree. Checked when it runs.
    Any,
    /// Nothing.
    Null,
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// Any number.
    Number,
    /// Text.
    Str,
    /// A list whose items share a type.
    List(Box<Type>),
    /// A map with known keys.
    Record(Vec<(Arc<str>, Type)>),
    /// A message of the conversation.
    Message,
    /// A role's answer.
    Reply,
    /// A verdict: of a judge, a check or a reducer.
    Verdict,
    /// What a simulated user said: a message and a status.
    UserTurn,
    /// The type, or nothing: a field that some rows lack.
    Maybe(Box<Type>),
}

impl Type {
    /// A persona, as a parameter has it: its name and text, what it must do, and the scorers that it probes.
    pub fn persona() -> Self {
        let list = || Self::List(Box::new(Self::Str));
        let fields = [("name", Self::Str), ("text", Self::Str), ("must", list()), ("probes", list())];
        Self::Record(fields.map(|(name, ty)| (Arc::from(name), ty)).into())
    }

    /// The type of an attribute; `None` where the type has no such attribute.
    pub fn attribute(&self, name: &str) -> Option<Self> {
        let named = |pairs: &[(&str, Self)]| pairs.iter().find(|(n, _)| *n == name).map(|(_, ty)| ty.clone());
        match self {
            Self::Any => Some(Self::Any),
            Self::Record(fields) => fields.iter().find(|(n, _)| &**n == name).map(|(_, ty)| ty.clone()),
            Self::Message => {
                named(&[("author", Self::Str), ("kind", Self::Str), ("text", Self::Str), ("turn", Self::Int)])
            }
            Self::Reply => named(&[
                ("text", Self::Str),
                ("stop", Self::Str),
                ("fault", Self::Maybe(Box::new(Self::Str))),
                ("calls", Self::List(Box::new(texts(&["id", "tool", "arguments"])))),
            ]),
            Self::Verdict => named(&[
                ("outcome", Self::Str),
                ("value", Self::Any),
                ("pass", Self::Any),
                ("reason", Self::Str),
                ("complaint", Self::Str),
                ("evidence", Self::List(Box::new(texts(&["turn", "quote"])))),
            ]),
            Self::UserTurn => named(&[("message", Self::Str), ("status", Self::Str)]),
            _ => None,
        }
    }

    /// The names of the attributes that the type is known to have.
    pub fn attributes(&self) -> Vec<String> {
        let fixed: &[&str] = match self {
            Self::Record(fields) => return fields.iter().map(|(name, _)| name.to_string()).collect(),
            Self::Message => &["author", "kind", "text", "turn"],
            Self::Reply => &["text", "stop", "fault", "calls"],
            Self::Verdict => &["outcome", "value", "pass", "reason", "complaint", "evidence"],
            Self::UserTurn => &["message", "status"],
            _ => &[],
        };
        fixed.iter().map(|&name| name.to_owned()).collect()
    }

    /// Whether a value of `self` can be used where `wanted` is expected.
    pub fn fits(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Any, _) | (_, Self::Any) | (Self::Int, Self::Number) => true,
            (a, b) if a == b => true,
            (Self::Null, Self::Maybe(_)) => true,
            (Self::Maybe(a), Self::Maybe(b)) | (Self::List(a), Self::List(b)) => a.fits(b),
            (a, Self::Maybe(b)) => a.fits(b),
            (Self::Record(_), Self::Message | Self::Reply | Self::Verdict | Self::UserTurn) => {
                let fits = |name: &String| Some(self.attribute(name)?.fits(&wanted.attribute(name)?));
                wanted.attributes().iter().all(|name| fits(name) == Some(true))
            }
            (Self::Record(have), Self::Record(want)) => {
                want.iter().all(|(name, ty)| match have.iter().find(|(n, _)| n == name) {
                    Some((_, have)) => have.fits(ty),
                    None => matches!(ty, Self::Maybe(_)),
                })
            }
            _ => false,
        }
    }

    /// The smallest type that holds values of both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Self::Int, Self::Number) | (Self::Number, Self::Int) => Self::Number,
            (Self::Null, Self::Maybe(_)) => other.clone(),
            (Self::Maybe(_), Self::Null) => self.clone(),
            (Self::Null, b) => Self::Maybe(Box::new(b.clone())),
            (a, Self::Null) => Self::Maybe(Box::new(a.clone())),
            (Self::Maybe(a), Self::Maybe(b)) => maybe(a.join(b)),
            (Self::Maybe(a), b) | (b, Self::Maybe(a)) => maybe(a.join(b)),
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.join(b))),
            (Self::Record(a), Self::Record(b)) => Self::Record(join_records(a, b)),
            _ => Self::Any,
        }
    }

    /// The type of a value. The items of an empty list are of any type.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Number,
            Value::Str(_) => Self::Str,
            Value::List(items) => {
                let joined = items.iter().map(Self::of).reduce(|a, b| a.join(&b));
                Self::List(Box::new(joined.unwrap_or(Self::Any)))
            }
            Value::Map(map) => Self::Record(map.iter().map(|(key, value)| (key.clone(), Self::of(value))).collect()),
        }
    }

    /// Whether it can be printed by a template without a filter.
    pub const fn is_printable(&self) -> bool {
        matches!(self, Self::Any | Self::Bool | Self::Int | Self::Number | Self::Str)
    }
}

/// A map whose values are texts: a tool call, whose arguments are JSON, or a piece of evidence.
fn texts(keys: &[&str]) -> Type {
    Type::Record(keys.iter().map(|&key| (key.into(), Type::Str)).collect())
}

fn maybe(ty: Type) -> Type {
    match ty {
        Type::Any | Type::Null | Type::Maybe(_) => ty,
        ty => Type::Maybe(Box::new(ty)),
    }
}

/// A key that one side lacks may be missing in the joined record.
fn join_records(a: &[(Arc<str>, Type)], b: &[(Arc<str>, Type)]) -> Vec<(Arc<str>, Type)> {
    if a.len() == b.len() && a.iter().zip(b).all(|((a, _), (b, _))| a == b) {
        return a.iter().zip(b).map(|((name, a), (_, b))| (name.clone(), a.join(b))).collect();
    }
    let index = |side: &'_ [(Arc<str>, Type)]| -> BTreeMap<Arc<str>, Type> { side.iter().cloned().collect() };
    let (of_a, of_b) = (index(a), index(b));
    let mut out: Vec<(Arc<str>, Type)> = a
        .iter()
        .map(|(name, ty)| (name.clone(), of_b.get(name).map_or_else(|| maybe(ty.clone()), |other| ty.join(other))))
        .collect();
    out.extend(
        b.iter().filter(|(name, _)| !of_a.contains_key(name)).map(|(name, ty)| (name.clone(), maybe(ty.clone()))),
    );
    out
}

/// As the text form writes it: `string`, `list<int>`, `{id: string, n: int?}`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("boolean"),
            Self::Int => f.write_str("integer"),
            Self::Number => f.write_str("number"),
            Self::Str => f.write_str("string"),
            Self::Message => f.write_str("message"),
            Self::Reply => f.write_str("reply"),
            Self::Verdict => f.write_str("verdict"),
            Self::UserTurn => f.write_str("user_turn"),
            Self::List(item) => write!(f, "list<{item}>"),
            Self::Maybe(ty) => write!(f, "{ty}?"),
            Self::Record(fields) => {
                f.write_str("{")?;
                for (at, (name, ty)) in fields.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    let mut quoted = String::new();
                    crate::text::json_string(name, &mut quoted);
                    write!(f, "{comma}{quoted}: {ty}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Type {
    /// Reads what `Display` writes. `None` where the text is no type.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = TypeReader { rest: text, depth: 0 };
        let ty = reader.ty()?;
        reader.rest.trim().is_empty().then_some(ty)
    }
}

struct TypeReader<'t> {
    rest: &'t str,
    depth: u8,
}

impl TypeReader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn ty(&mut self) -> Option<Type> {
        self.depth += 1;
        if self.depth > 32 {
            return None;
        }
        let mut ty = self.base()?;
        while self.eat("?") {
            ty = Type::Maybe(Box::new(ty));
        }
        self.depth -= 1;
        Some(ty)
    }

    fn base(&mut self) -> Option<Type> {
        if self.eat("list<") {
            let item = self.ty()?;
            return self.eat(">").then(|| Type::List(Box::new(item)));
        }
        if self.eat("{") {
            return self.record();
        }
        let words = [
            ("any", Type::Any),
            ("null", Type::Null),
            ("boolean", Type::Bool),
            ("integer", Type::Int),
            ("number", Type::Number),
            ("string", Type::Str),
            ("message", Type::Message),
            ("reply", Type::Reply),
            ("verdict", Type::Verdict),
            ("user_turn", Type::UserTurn),
        ];
        words.into_iter().find_map(|(word, ty)| self.eat(word).then_some(ty))
    }

    fn record(&mut self) -> Option<Type> {
        let mut fields: Vec<(Arc<str>, Type)> = Vec::new();
        if self.eat("}") {
            return Some(Type::Record(fields));
        }
        loop {
            self.rest = self.rest.trim_start();
            let mut stream = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let name = stream.next()?.ok()?;
            self.rest = self.rest.get(stream.byte_offset()..)?;
            if !self.eat(":") {
                return None;
            }
            let ty = self.ty()?;
            fields.push((name.into(), ty));
            if self.eat("}") {
                return Some(Type::Record(fields));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_and_read_back() {
        for text in ["string", "list<list<integer>>?", "{\"a\": number?, \"b c\": {}}", "verdict"] {
            assert_eq!(Type::parse(text).unwrap().to_string(), text);
        }
        assert!(
            Type::parse("list<").is_none()
                && Type::parse("string x").is_none()
                && Type::parse(&"list<".repeat(99)).is_none()
        );
    }

    #[test]
    fn joins_keep_what_is_common() {
        let row = |text: &str| Type::of(&serde_json::from_str(text).unwrap());
        let joined = row(r#"{"a":1,"b":"x"}"#).join(&row(r#"{"a":1.5,"c":true}"#));
        assert_eq!(joined.to_string(), r#"{"a": number, "b": string?, "c": boolean?}"#);
    }
}
