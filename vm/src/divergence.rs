//! Divergences: what a replay makes otherwise than it was recorded, and through whose doing.

use std::collections::BTreeMap;
use std::fmt;

use aigo_ir::text::printable;
use aigo_log::Run;
use aigo_machine::Position;

use crate::difference::Difference;

/// Whose doing a divergence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The task says something else than it did.
    Task,
    /// An engine that results depend on has another version here.
    Engine,
    /// The log was changed after it was written.
    Log,
    /// aigo itself does otherwise than the version that recorded: a fault of ours.
    Aigo,
}

impl Cause {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Task => "the task has changed",
            Self::Engine => "an engine has another version than when this was recorded",
            Self::Log => "the log was changed after it was written",
            Self::Aigo => {
                "this version of aigo does otherwise than the one that recorded: a fault of aigo, please report it"
            }
        }
    }

    /// Of a log's own program that does not come to what the log says, with this build.
    pub(crate) fn of_build(header: &Run) -> Self {
        if header.engines != engines() {
            Self::Engine
        } else if header.aigo == env!("CARGO_PKG_VERSION") {
            Self::Log
        } else {
            Self::Aigo
        }
    }
}

/// The engines whose behaviour shows in results, and their versions in this build.
pub fn engines() -> BTreeMap<String, String> {
    let engines = [("minijinja", "3.1.0"), ("regex", "1"), ("unicode-normalization", "0.1")];
    engines.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

/// The first difference of a trial. There is no other place that makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The sample's key.
    pub sample: String,
    /// From 1.
    pub epoch: u32,
    /// The call, where the difference is in one.
    pub position: Option<Position>,
    /// What differs.
    pub what: String,
    /// Part by part, where both calls are known.
    pub differences: Vec<Difference>,
    /// Whose doing it is.
    pub cause: Cause,
}

/// What differs in a trial, before it is known whose doing that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) position: Option<Position>,
    pub(crate) what: String,
    pub(crate) differences: Vec<Difference>,
}

impl Found {
    pub(crate) fn at(position: &Position, what: impl Into<String>) -> Self {
        Self { position: Some(position.clone()), what: what.into(), differences: Vec::new() }
    }

    pub(crate) fn whole(what: impl Into<String>) -> Self {
        Self { position: None, what: what.into(), differences: Vec::new() }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{} at {}", position.graph, position.node)?;
            if !position.index.is_empty() {
                let index: Vec<String> = position.index.iter().map(ToString::to_string).collect();
                write!(f, " [{}]", index.join(", "))?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)?;
        for difference in &self.differences {
            write!(f, "\n    {difference}")?;
        }
        Ok(())
    }
}

impl Divergence {
    pub(crate) fn new(sample: &str, epoch: u32, found: Found, cause: Cause) -> Self {
        let Found { position, what, differences } = found;
        Self { sample: sample.to_owned(), epoch, position, what, differences, cause }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, what, differences, .. } = self;
        let found = Found { position: position.clone(), what: what.clone(), differences: differences.clone() };
        let (sample, epoch) = (printable(&self.sample), self.epoch);
        let separator = if position.is_some() { "," } else { ":" };
        write!(f, "sample {sample}, epoch {epoch}{separator} {found}\n    cause: {}", self.cause.words())
    }
}
