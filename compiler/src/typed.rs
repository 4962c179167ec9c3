//! The task with its expressions read and typed: what lowering takes.

use std::sync::Arc;

use aigo_ir::check::CheckKind;
use aigo_ir::expr::Expr;
use aigo_ir::gate::Gate;
use aigo_ir::program::{Field, Limits, Role};
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::ast::Turns;

/// A task without mistakes of names, kinds and types.
pub(crate) struct Task {
    pub(crate) name: Arc<str>,
    pub(crate) seed: u64,
    pub(crate) epochs: u32,
    pub(crate) limits: Limits,
    pub(crate) fields: Vec<Field>,
    pub(crate) roles: Vec<Role>,
    pub(crate) steps: Vec<Step>,
    pub(crate) expects: bool,
    pub(crate) scorers: Vec<Scorer>,
    pub(crate) gates: Vec<Gate>,
}

pub(crate) struct Step {
    pub(crate) verb: Verb,
    pub(crate) label: Option<Arc<str>>,
    pub(crate) when: Option<Expr>,
    pub(crate) expect: Vec<Check>,
    pub(crate) stop_on_fail: bool,
    pub(crate) origin: Origin,
}

pub(crate) enum Verb {
    System(Template),
    Say { author: &'static str, text: Template },
    Generate { role: Arc<str> },
    SimulateUser(Box<Simulate>),
    Script(Vec<Template>),
    Loop { times: u32, until: Option<Expr>, steps: Vec<Step> },
    If { when: Expr, then: Vec<Step>, otherwise: Vec<Step> },
    Stop { when: Option<Expr>, only_loop: bool },
    Set(Vec<(Arc<str>, Type, Expr)>),
}

impl Verb {
    /// As tasks write it: a part of paths.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::System(_) => "system",
            Self::Say { author, .. } => author,
            Self::Generate { .. } => "generate",
            Self::SimulateUser(_) => "simulate_user",
            Self::Script(_) => "script",
            Self::Loop { .. } => "loop",
            Self::If { .. } => "if",
            Self::Stop { .. } => "stop",
            Self::Set(_) => "set",
        }
    }
}

pub(crate) struct Simulate {
    pub(crate) goal: Template,
    pub(crate) persona: Option<Template>,
    pub(crate) knows: Option<Template>,
    pub(crate) opening: Option<Template>,
    pub(crate) min_turns: u32,
}

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
