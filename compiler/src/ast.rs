//! The task as it was written: every leaf with its place, names still names, text still text.

mod data;
mod define;
mod models;
mod scorers;
mod steps;
mod world;

use std::ops::Range;

use aigo_ir::span::{SourceMap, Span, Spanned};
use aigo_ir::value::Value;
use aigo_source::ScalarSource;

pub(crate) use data::*;
pub(crate) use define::*;
pub(crate) use models::*;
pub(crate) use scorers::*;
pub(crate) use steps::*;
pub(crate) use world::*;

/// Text that will be read further: a template or an expression.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The text after escapes and folding.
    pub(crate) text: String,
    /// Where the scalar stands.
    pub(crate) span: Span,
    /// How its text lies in the file.
    pub(crate) source: ScalarSource,
}

impl Leaf {
    /// The place of a range of the text.
    pub(crate) fn locate(&self, sources: &SourceMap, range: Range<usize>) -> Span {
        let file = sources.get(self.span.file).map_or("", |file| &*file.text);
        self.source.locate(file, &self.text, range)
    }
}

/// A task.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says of another part that it could not be read")]
pub(crate) struct Task {
    /// `name`
    pub(crate) name: Option<Spanned<String>>,
    /// `models`
    pub(crate) models: Vec<Model>,
    /// Whether `models` is no map of roles: then nothing is known of who plays.
    pub(crate) models_damaged: bool,
    /// `fields`
    pub(crate) fields: Vec<Declared>,
    /// `dataset`
    pub(crate) dataset: Vec<Source>,
    /// Where `dataset` stands, if it does.
    pub(crate) dataset_span: Option<Span>,
    /// `solvers`
    pub(crate) solvers: Vec<Step>,
    /// `scorers`
    pub(crate) scorers: Vec<Scorer>,
    /// `gates`
    pub(crate) gates: Vec<Gate>,
    /// `import`
    pub(crate) imports: Vec<Spanned<String>>,
    /// `define`
    pub(crate) define: Define,
    /// `scenarios`
    pub(crate) scenarios: Vec<Scenario>,
    /// `world: {state}`
    pub(crate) state: Option<Spanned<Value>>,
    /// `tools`
    pub(crate) tools: Vec<Tool>,
    /// `suites`
    pub(crate) suites: Vec<Suite>,
    /// `language`
    pub(crate) language: Option<Leaf>,
    /// `tags`
    pub(crate) tags: Vec<Spanned<String>>,
    /// `epochs`
    pub(crate) epochs: Option<Spanned<u32>>,
    /// `seed`
    pub(crate) seed: Option<u64>,
    /// `limits`
    pub(crate) limits: Limits,
    /// `setup`
    pub(crate) setup: Vec<Call>,
    /// `teardown`
    pub(crate) teardown: Vec<Call>,
    /// The whole task, for findings about what is not there.
    pub(crate) span: Span,
    /// Whether a part could not be read, so that what is missing may have been written.
    pub(crate) damaged: bool,
    /// Whether something in `dataset` could not be read: then not all fields are known.
    pub(crate) dataset_damaged: bool,
    /// Whether something in `scorers` could not be read: then not all scorers are known.
    pub(crate) scorers_damaged: bool,
    /// How many mistakes the steps have: where there are some, an expectation may be missing.
    pub(crate) steps_mistaken: usize,
    /// Names that steps bind which cannot be read.
    pub(crate) lost: Vec<String>,
    /// Where `solvers` is written.
    pub(crate) solvers_span: Option<Span>,
    /// The roles that `models` names, those that could not be read included.
    pub(crate) roles: Vec<String>,
}
