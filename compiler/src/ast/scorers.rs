//! Checks, scorers and gates.

use aigo_ir::reduce::Reducer;
use aigo_ir::span::{Span, Spanned};
use aigo_ir::verdict::{EvidenceRule, Scale};

use super::Leaf;

/// A check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// The kind, and whether it is negated.
    pub(crate) kind: (aigo_ir::check::CheckKind, bool),
    /// The words or the pattern.
    pub(crate) wanted: Leaf,
    /// `who`
    pub(crate) who: Option<Spanned<String>>,
    /// `turns`
    pub(crate) turns: Turns,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// The turns that a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// A value per turn.
    Every,
    /// Some one.
    Any,
    /// The first.
    First,
    /// The last.
    Last,
}

/// A scorer.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    /// `name`
    pub(crate) name: Spanned<String>,
    /// How it scores.
    pub(crate) method: Method,
    /// `pass`
    pub(crate) pass: Option<f64>,
    /// `over`
    pub(crate) over: Option<Reducer>,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// How a scorer scores.
#[derive(Clone, Debug)]
pub(crate) enum Method {
    /// `check`
    Check(Check),
    /// `judge`
    Judge(Box<Judge>),
}

/// `judge`
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    /// `rubric`
    pub(crate) rubric: Leaf,
    /// `scale`
    pub(crate) scale: Scale,
    /// `anchors`
    pub(crate) anchors: Vec<(String, String)>,
    /// `per: turn`
    pub(crate) per_turn: bool,
    /// `window`
    pub(crate) window: Option<u32>,
    /// `model`
    pub(crate) model: Option<Spanned<String>>,
    /// `evidence`
    pub(crate) evidence: EvidenceRule,
}

/// A gate.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The condition.
    pub(crate) text: Leaf,
    /// `min_n`
    pub(crate) min_n: Option<u32>,
    /// `max_missing`
    pub(crate) max_missing: Option<f64>,
}
