//! Checks and scorers.

use std::sync::Arc;

use aigo_ir::check::CheckKind;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::ast::Turns;

#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) kind: (CheckKind, bool),
    pub(crate) wanted: Template,
    pub(crate) who: Arc<str>,
    pub(crate) turns: Turns,
    pub(crate) origin: Origin,
}

#[derive(Debug)]
pub(crate) struct Scorer {
    pub(crate) name: Arc<str>,
    pub(crate) method: Method,
    /// What a definition is given: bound before anything is asked.
    pub(crate) given: Vec<super::Binding>,
    pub(crate) pass: Option<f64>,
    pub(crate) over: Option<Reducer>,
    pub(crate) origin: Origin,
}

#[derive(Debug)]
pub(crate) enum Method {
    Check(Check),
    Judge(Box<Judge>),
}

#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) role: Arc<str>,
    pub(crate) rubric: Template,
    pub(crate) scale: Scale,
    pub(crate) anchors: Vec<(String, String)>,
    pub(crate) per_turn: bool,
    pub(crate) window: Option<u32>,
    pub(crate) evidence: EvidenceRule,
}
