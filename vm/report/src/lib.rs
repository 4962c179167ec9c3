//! The report: a fold over what trials came to. Live run and replay feed the same fold, so equal trials give equal bytes,
//! whatever the order in which they ended. No time is in it but that which the log has of answers.

mod against;
mod agreement;
pub mod baseline;
mod bought;
pub mod calibrate;
mod column;
pub mod compare;
pub mod conversation;
pub mod export;
mod failures;
mod fold;
mod gates;
mod github;
mod groups;
mod heading;
pub mod inspect;
mod interval;
mod json;
mod junit;
mod look;
mod markdown;
mod matrix;
mod noise;
mod packed;
mod paired;
mod random;
mod rows;
mod sheet;
mod stats;
mod text;
mod trials;
mod trust;
pub mod zip;

pub use bought::{Answered, Bought, Tokens};
pub use fold::Report;
pub use gates::{GateResult, GateValue, GroupValue};
pub use github::github;
pub use heading::Heading;
pub use interval::{FEW_CLUSTERS, Interval, LEAST_CLUSTERS};
pub use json::json;
pub use junit::Cases;
pub use look::Look;
pub use markdown::{Texts, markdown};
pub use noise::{Noise, Passes, noise, noise_json, noise_text};
pub use paired::Paired;
pub use rows::{COLUMNS, Form, Row, Table, rows};
pub use sheet::{Mark, Measure, Pinned, Sheet, SheetTrial};
pub use text::text;

use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::program::Program;
use aigo_ir::value::Map;
use aigo_ir::verdict::{Evidence, Verdict};

/// All rows of this crate.
pub static ROWS: [&aigo_ir::diagnostic::Row; 3] =
    [&baseline::BAD_BASELINE, &compare::NOT_COMPARABLE, &calibrate::BAD_LABELS];

/// A verdict and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The scorer's place in the program.
    pub scorer: usize,
    /// The turn; none for the conversation.
    pub turn: Option<u32>,
    /// What it says.
    pub verdict: Verdict,
}

/// What a trial came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// The sample's key.
    pub key: Arc<str>,
    /// From 1.
    pub epoch: u32,
    /// How the conversation ended.
    pub ending: Ending,
    /// What was wrong with the task, where something was.
    pub fault: Option<String>,
    /// The conversation.
    pub conversation: Arc<Conversation>,
    /// Every verdict.
    pub scores: Vec<Scored>,
    /// The answered calls.
    pub calls: Vec<Answered>,
    /// The sample's fields.
    pub row: Arc<Map>,
    /// Its tags.
    pub tags: Arc<[Arc<str>]>,
    /// Which samples it belongs together with: values of one cluster are not independent.
    pub cluster: Arc<str>,
    /// The hash of what it began with, and that of what it came to: its part of the run's digest.
    pub opened: Key,
    /// See above.
    pub leaf: Key,
}

/// A trial without an end.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTrial {
    /// The sample's key.
    pub key: Arc<str>,
    /// From 1.
    pub epoch: u32,
    /// Its tags.
    pub tags: Arc<[Arc<str>]>,
    /// Which samples it belongs together with.
    pub cluster: Arc<str>,
}

/// What the formats with a line for each verdict are told of a run, a trial after the other, in any order.
#[derive(Clone, Copy, Debug)]
pub enum Told<'t> {
    /// A trial that ended.
    Ended(&'t TrialReport),
    /// One that began, and has not ended.
    Open(&'t OpenTrial),
}

/// Failures of one kind: by the same scorer, in the same turn.
#[derive(Clone, Debug)]
pub(crate) struct Kindred {
    pub(crate) scorer: usize,
    pub(crate) turn: Option<u32>,
    pub(crate) count: u64,
    /// The value of a field of the matrix that most share, and how many do.
    pub(crate) most: Option<(String, u64)>,
    /// The conversation that stands for them.
    pub(crate) key: Arc<str>,
    pub(crate) epoch: u32,
    pub(crate) reason: Arc<str>,
    pub(crate) evidence: Vec<Evidence>,
}

impl Kindred {
    /// Whether a trial is the one that stands for these failures.
    pub(crate) fn stands(&self, trial: &TrialReport) -> bool {
        (&self.key, self.epoch) == (&trial.key, trial.epoch)
    }
}

/// The counts of one scorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All trials.
    pub planned: u64,
    /// With a value.
    pub scored: u64,
    /// Where the scorer does not apply.
    pub not_applicable: u64,
    /// Whose judge broke its contract.
    pub invalid: u64,
    /// Whose simulator or infrastructure failed.
    pub void: u64,
    /// That did not end.
    pub open: u64,
    /// Of the scored ones, those that pass.
    pub passed: u64,
}

/// The folded run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The program.
    pub program: Arc<Program>,
    /// The counts of each scorer, in the program's order.
    pub counts: Vec<Counts>,
    /// The mean of each scorer's numbers, where it has any.
    pub means: Vec<Option<f64>>,
    /// The gates, in the program's order.
    pub gates: Vec<GateValue>,
    /// How conversations ended.
    pub endings: Vec<(Ending, u64)>,
    /// Answered calls by role, sorted.
    pub calls: Vec<(Arc<str>, Bought)>,
    /// Trials that did not end.
    pub open: u64,
    /// Trials that fail: of which a scorer that a gate names does not pass; without gates, any scorer.
    pub failing: u64,
    /// The kinds of failure, those behind red gates first, then the frequent ones.
    pub(crate) kinds: Vec<Kindred>,
    /// The conversations that stand for the first kinds.
    pub(crate) shown: Vec<TrialReport>,
    /// The dataset's matrices, where it has any.
    pub(crate) tables: Vec<matrix::Table>,
    /// The application failure in which more than half of the trials ended.
    pub unreachable: Option<String>,
    /// Why a conversation ended badly, of one such.
    pub fault: Option<String>,
    /// What was wrong with a missing verdict, of one such.
    pub missing: Option<String>,
    /// The exit code that the results ask for.
    pub exit: i32,
}
