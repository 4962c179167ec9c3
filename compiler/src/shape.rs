//! The language's table of keys: construct, key, what its value is, whether it must be there, what it means. The parser and
//! its suggestions read it; editors and the reference will.

mod data;
mod models;
mod scorers;
mod steps;
mod task;

pub use data::*;
pub use models::*;
pub use scorers::*;
pub use steps::*;
pub use task::*;

/// A construct of the language and its keys.
#[derive(Debug)]
pub struct Construct {
    /// As messages name it, with its article.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of a construct.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What it means.
    pub doc: &'static str,
}

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the verbs of a step, scorer, check or rule: exactly one of them stands in the map.
    Verb,
    /// Text that is rendered.
    Template,
    /// An expression.
    Expression,
    /// A name.
    Name,
    /// A number.
    Number,
    /// A map of its own construct.
    Map,
    /// A list.
    List,
    /// True or false.
    Boolean,
    /// Whatever YAML can say.
    Any,
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, doc }
}

impl Construct {
    /// A key by name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names that a person may write, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }

    /// The verbs.
    pub fn verbs(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().filter(|key| key.kind == Kind::Verb).map(|key| key.name)
    }
}
