//! Deterministic checks of a text: a closed list, free of charge.

use crate::eval::regex;
use crate::value::Value;
use crate::verdict::{Evidence, Verdict};

/// What is looked for.
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

    /// The word of the kind or of its negation.
    pub const fn word_of(self, negated: bool) -> &'static str {
        match (self, negated) {
            (Self::Contains, true) => "not_contains",
            (Self::Matches, true) => "not_matches",
            (Self::Equals, true) => "not_equals",
            (Self::StartsWith, true) => "not_starts_with",
            (kind, false) => kind.word(),
        }
    }

    /// The kind of a word, and whether it is negated.
    pub fn parse(word: &str) -> Option<(Self, bool)> {
        let (plain, negated) = word.strip_prefix("not_").map_or((word, false), |plain| (plain, true));
        Self::ALL.into_iter().find(|kind| kind.word() == plain).map(|kind| (kind, negated))
    }

    /// Checks a text, which stands in the message `label`. A failing negation shows the words that it found.
    pub fn run(self, negated: bool, wanted: &str, text: &str, label: &str) -> Result<Verdict, String> {
        let found: Option<&str> = match self {
            Self::Contains => text.find(wanted).and_then(|at| text.get(at..at + wanted.len())),
            Self::Matches => {
                let pattern = regex(wanted).map_err(|why| format!("`{wanted}` is no regular expression: {why}"))?;
                pattern.find(text).map(|found| found.as_str())
            }
            Self::Equals => (text.trim() == wanted.trim()).then_some(text),
            Self::StartsWith => text.starts_with(wanted).then(|| text.get(..wanted.len()).unwrap_or_default()),
        };
        let pass = found.is_some() != negated;
        let shown = crate::text::excerpt(wanted, 80);
        let reason = match (pass, negated) {
            (true, _) => String::new(),
            (false, false) => format!("does not {} `{shown}`", self.verb()),
            (false, true) => format!("{} `{shown}`", self.word().replace('_', " ")),
        };
        let mut verdict = Verdict::scored(Value::Bool(pass), pass, reason);
        if !pass {
            // What is missing has no words to quote: the whole message is the evidence, cut.
            let quote = found.map_or_else(|| crate::text::excerpt(text, 120), str::to_owned);
            verdict.evidence.push(Evidence { turn: label.into(), quote: quote.into() });
        }
        Ok(verdict)
    }

    const fn verb(self) -> &'static str {
        match self {
            Self::Contains => "contain",
            Self::Matches => "match",
            Self::Equals => "equal",
            Self::StartsWith => "start with",
        }
    }
}
