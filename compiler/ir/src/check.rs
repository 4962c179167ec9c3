//! Deterministic checks of what was said: a closed list, free of charge.

mod calls;
mod json_schema;
mod pattern;
mod run;
mod similarity;

pub use calls::{Compared, Expected, Made, compare, difference};
pub use json_schema::{KEYWORDS, SchemaError, schema_errors};
pub use pattern::{PatternError, pattern_error};
pub use run::{Looked, verdict};
pub use similarity::Measure;

use std::sync::Arc;

use crate::expr::Expr;
use crate::template::Template;
use crate::value::Value;

/// What is looked for in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The text has the words in it, letter by letter.
    Contains,
    /// The regular expression (Rust's syntax) matches somewhere.
    Matches,
    /// The text is the words, but for white space at its ends.
    Equals,
    /// The text begins with the words.
    StartsWith,
}

impl CheckKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Contains, Self::Matches, Self::Equals, Self::StartsWith];

    /// The word in tasks and programs; the negation of each is written `not_` and the word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::Equals => "equals",
            Self::StartsWith => "starts_with",
        }
    }

    /// The kind of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// What a check asks. Every one can be negated.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Words or a pattern in the text.
    Text(CheckKind, Template),
    /// The text is one of these, but for white space at its ends.
    OneOf(Vec<Template>),
    /// The text is JSON that the schema allows.
    JsonSchema(Value),
    /// How many words the text has.
    Words(Between),
    /// The answer came within so many milliseconds.
    Within(u64),
    /// The role said nothing.
    NoReply,
    /// Nothing in the text is like what the role said in an earlier turn.
    NoRepetition(Repeated, Likeness),
    /// How many turns the conversation has.
    Turns(Between),
    /// The assistant's tool calls.
    ToolCalls(Vec<CallPattern>, CallMode),
    /// The values of the state at these paths.
    State(Vec<(Arc<str>, Operand)>),
    /// The state is what these calls make of the first one.
    StateAfter(Vec<CallPattern>),
    /// The text is at least so like another.
    Similarity(Template, Likeness),
    /// The condition holds; it reads what is in scope, `text` and `turn`.
    Expr(Expr),
}

/// Ends of a count, both included; an end that is not there is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// At least.
    pub least: Option<u32>,
    /// At most.
    pub most: Option<u32>,
}

impl Between {
    /// Whether the number is between the ends.
    pub fn holds(self, n: u64) -> bool {
        self.least.is_none_or(|least| n >= u64::from(least)) && self.most.is_none_or(|most| n <= u64::from(most))
    }
}

/// How alike two texts must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// How it is measured.
    pub measure: Measure,
    /// From here on they are alike: 0 to 1.
    pub least: f64,
}

/// What is not to be said again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// The whole of what is said in a turn: a loop.
    #[default]
    Text,
    /// Each of its questions.
    Questions,
}

impl Repeated {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Text, Self::Questions];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Questions => "questions",
        }
    }
}

/// A tool call that is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct CallPattern {
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments; none where any will do.
    pub args: Option<Vec<(Arc<str>, Operand)>>,
}

/// A value that is expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A text, rendered.
    Text(Template),
    /// Any other value, as it is; never a text.
    Data(Value),
}

/// How expected calls are compared with those that were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallMode {
    /// The same calls in the same order.
    #[default]
    Strict,
    /// The same calls in any order.
    Unordered,
    /// No call was made but these.
    Subset,
    /// All of these were made, in any order.
    Superset,
}

impl CallMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Strict, Self::Unordered, Self::Subset, Self::Superset];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Unordered => "unordered",
            Self::Subset => "subset",
            Self::Superset => "superset",
        }
    }
}

impl Test {
    /// The names that a condition reads of its check: what was said, and the number of its turn.
    pub const NAMES: [&'static str; 2] = ["text", "turn"];

    /// The words of all tests, in the order of the language's table.
    pub const WORDS: [&'static str; 16] = [
        "contains",
        "matches",
        "equals",
        "starts_with",
        "one_of",
        "json_schema",
        "words",
        "within",
        "no_reply",
        "no_repetition",
        "turns",
        "tool_calls",
        "state",
        "state_after",
        "similarity",
        "expr",
    ];

    /// The word in tasks and programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Text(kind, _) => kind.word(),
            Self::OneOf(_) => "one_of",
            Self::JsonSchema(_) => "json_schema",
            Self::Words(_) => "words",
            Self::Within(_) => "within",
            Self::NoReply => "no_reply",
            Self::NoRepetition(..) => "no_repetition",
            Self::Turns(_) => "turns",
            Self::ToolCalls(..) => "tool_calls",
            Self::State(_) => "state",
            Self::StateAfter(_) => "state_after",
            Self::Similarity(..) => "similarity",
            Self::Expr(_) => "expr",
        }
    }

    /// What is rendered before the test is made, in order.
    pub fn templates(&self) -> Vec<&Template> {
        fn of(pairs: &[(Arc<str>, Operand)]) -> impl Iterator<Item = &Template> {
            pairs.iter().filter_map(|(_, operand)| match operand {
                Operand::Text(template) => Some(template),
                Operand::Data(_) => None,
            })
        }
        match self {
            Self::Text(_, template) | Self::Similarity(template, _) => vec![template],
            Self::OneOf(templates) => templates.iter().collect(),
            Self::State(pairs) => of(pairs).collect(),
            Self::ToolCalls(calls, _) | Self::StateAfter(calls) => {
                calls.iter().flat_map(|call| of(call.args.as_deref().unwrap_or_default())).collect()
            }
            _ => Vec::new(),
        }
    }
}
