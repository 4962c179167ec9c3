//! Sources of samples.

use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;

/// A source of samples.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// `samples`: rows with their places.
    Samples(Vec<Spanned<Value>>),
    /// `file`
    File(Spanned<String>),
    /// `matrix`
    Matrix(Vec<(String, Vec<Value>)>, Span),
}
