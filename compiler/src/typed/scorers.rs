//! Checks and scorers.

use std::sync::Arc;

use aigo_ir::check::CheckKind;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::ast::Turns;

pub(crate) struct Check {
    pub(crate) kind: (CheckKind, bool),
    pub(crate) wanted: Template,
    pub(crate) who: Arc<str>,
    pub(crate) turns: Turns,
    pub(crate) origin: Origin,
}

pub(crate) struct Scorer {
    pub(crate) name: Arc<str>,
    pub(crate) method: Method,
    pub(crate) pass: Option<f64>,
    pub(crate) over: Option<Reducer>,
    pub(crate) origin: Origin,
}

pub(crate) enum Method {
    Check(Check),
    Judge(Box<Judge>),
}

pub(crate) struct Judge {
    pub(crate) role: Arc<str>,
    pub(crate) rubric: Template,
    pub(crate) scale: Scale,
    pub(crate) anchors: Vec<(String, String)>,
    pub(crate) per_turn: bool,
    pub(crate) window: Option<u32>,
    pub(crate) evidence: EvidenceRule,
}
