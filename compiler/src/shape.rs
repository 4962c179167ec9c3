//! The language's table of keys: construct, key, what its value may be, whether it must be there, its default, what it means.
//! The parser, its suggestions, the schema and the reference are read from it.

mod data;
mod forms;
mod models;
mod scorers;
mod steps;
mod task;

pub use data::*;
pub use forms::*;
pub use models::*;
pub use scorers::*;
pub use steps::*;
pub use task::*;

/// The version of aigo in which the first keys came.
pub const FIRST: &str = "0.1";

/// A construct of the language and its keys.
#[derive(Debug)]
pub struct Construct {
    /// As messages name it, with its article.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of a construct.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// Whether it says what the map is.
    pub part: Part,
    /// What its value may be.
    pub form: Form,
    /// Whether it must be there.
    pub required: Required,
    /// The verbs beside which it means something; every one where none is named.
    pub beside: &'static [&'static str],
    /// The keys that must stand beside it.
    pub needs: &'static [&'static str],
    /// What counts where it is not there, as it would be written; none where that depends on something or is nothing.
    pub default: Option<&'static str>,
    /// The version of aigo in which it came.
    pub since: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// What a key is in its map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One of the verbs of a step, scorer, check or rule: exactly one of them stands in the map.
    Verb,
    /// A verb where its value is a map; beside a verb otherwise.
    VerbAsMap,
    /// Beside a verb, or in a map that has none.
    Sibling,
    /// The same, and the map needs no verb where it stands.
    Alone,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// It need not be.
    No,
    /// It must be.
    Yes,
    /// It must be where this other key is not.
    Unless(&'static str),
    /// It must be where this other key's text begins so.
    Where(&'static str, &'static str),
}

const fn key(name: &'static str, form: Form, doc: &'static str) -> Key {
    Key {
        name,
        part: Part::Sibling,
        form,
        required: Required::No,
        beside: &[],
        needs: &[],
        default: None,
        since: FIRST,
        doc,
    }
}

const fn verb(name: &'static str, form: Form, doc: &'static str) -> Key {
    Key { part: Part::Verb, ..key(name, form, doc) }
}

impl Key {
    const fn required(self) -> Self {
        Self { required: Required::Yes, ..self }
    }

    const fn beside(self, beside: &'static [&'static str]) -> Self {
        Self { beside, ..self }
    }

    const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn part(self, part: Part) -> Self {
        Self { part, ..self }
    }

    /// What its value is, in a word: the second column of the tables of the manual.
    pub const fn word(&self) -> &'static str {
        match self.part {
            Part::Verb => "verb",
            _ => self.form.word(),
        }
    }

    /// Whether its map needs no verb.
    pub fn stands_alone(&self) -> bool {
        self.part == Part::Alone
    }

    /// Whether it means something beside a verb.
    pub fn goes_with(&self, verb: &str) -> bool {
        self.beside.is_empty() || self.beside.contains(&verb)
    }
}

impl Construct {
    /// A key by name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        // Most keys are told apart by their first byte, without a call that compares all.
        let first = name.bytes().next();
        self.keys.iter().find(|key| key.name.bytes().next() == first && key.name == name)
    }

    /// The names that a person may write, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }

    /// The verbs.
    pub fn verbs(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().filter(|key| key.part == Part::Verb).map(|key| key.name)
    }
}
