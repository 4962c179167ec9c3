//! Steps.

use std::sync::Arc;

use aigo_ir::expr::Expr;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;

use super::Check;

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
