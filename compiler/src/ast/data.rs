//! Sources of samples, and the declared types of their fields.

use std::sync::Arc;

use aigo_ir::span::{Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};
use aigo_source::Format;

use super::Leaf;

/// A source of samples.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What it gives.
    pub(crate) samples: Samples,
    /// Where the value of its verb stands.
    pub(crate) span: Span,
    /// `tags`: added to those of every row.
    pub(crate) tags: Vec<String>,
    /// `cluster`: the field that says which samples belong together.
    pub(crate) cluster: Option<Spanned<String>>,
    /// `filter`
    pub(crate) filter: Option<Leaf>,
    /// `shuffle`
    pub(crate) shuffle: Option<Shuffle>,
    /// `limit`
    pub(crate) limit: Option<u64>,
}

impl Source {
    /// Whether it gives recorded conversations.
    pub(crate) const fn is_recorded(&self) -> bool {
        matches!(self.samples, Samples::Transcripts { .. })
    }

    /// A source without any further keys.
    pub(crate) const fn new(samples: Samples, span: Span) -> Self {
        Self { samples, span, tags: Vec::new(), cluster: None, filter: None, shuffle: None, limit: None }
    }
}

/// How rows are shuffled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shuffle {
    /// From the task's seed.
    OfTask,
    /// From a seed of its own.
    Seed(u64),
}

/// What a source gives.
#[derive(Clone, Debug)]
pub(crate) enum Samples {
    /// `samples`
    Inline(Vec<InlineRow>),
    /// `file`
    File(DataFile),
    /// `matrix`
    Matrix(Vec<Column>),
    /// `transcripts`
    Transcripts {
        /// Files and patterns.
        paths: Vec<Spanned<String>>,
        /// `continue: each_turn`
        each_turn: bool,
    },
    /// The samples of `scenarios`.
    Scenarios(Vec<ScenarioSample>),
}

/// A sample that is written in the task.
#[derive(Clone, Debug)]
pub(crate) struct InlineRow {
    /// Its keys and values.
    pub(crate) fields: Map,
    /// Where the values stand, in their order.
    pub(crate) places: Vec<Span>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A file of rows.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    /// Its path.
    pub(crate) path: Spanned<String>,
    /// `format`, where it is not the extension's.
    pub(crate) format: Option<Format>,
}

/// A field of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: Spanned<String>,
    /// Its values.
    pub(crate) values: ColumnValues,
}

/// The values of a field of a matrix.
#[derive(Clone, Debug)]
pub(crate) enum ColumnValues {
    /// A list in the task.
    Inline(Vec<Spanned<Value>>),
    /// A list in a file.
    File(DataFile),
}

/// The sample of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioSample {
    /// Its id.
    pub(crate) id: Spanned<String>,
    /// Its tags.
    pub(crate) tags: Vec<String>,
    /// Which samples it belongs together with; itself unless given.
    pub(crate) cluster: Option<String>,
    /// `with`: its fields.
    pub(crate) fields: Vec<(Spanned<String>, Value)>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A declared field.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// Its name.
    pub(crate) name: Spanned<Arc<str>>,
    /// Its type.
    pub(crate) ty: Type,
}
