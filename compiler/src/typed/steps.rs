//! Steps.

use std::sync::Arc;

use aigo_ir::expr::Expr;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;

use super::{Check, Judge};

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) verb: Verb,
    pub(crate) label: Option<Arc<str>>,
    /// The slot of a labelled reply.
    pub(crate) reply: Option<Arc<str>>,
    pub(crate) when: Option<Expr>,
    pub(crate) expect: Vec<Check>,
    pub(crate) stop_on_fail: bool,
    pub(crate) timeout_s: Option<u64>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Verb {
    System(Said),
    Say { author: &'static str, said: Said },
    History(Expr),
    Generate { role: Arc<str>, rounds: u32 },
    SimulateUser(Box<Simulate>),
    Script(Lines),
    Loop { times: u32, until: Option<Expr>, steps: Vec<Step> },
    ForEach { list: Expr, item: Arc<str>, ty: Type, steps: Vec<Step> },
    If { when: Expr, then: Vec<Step>, otherwise: Vec<Step> },
    Stop { when: Option<Expr>, only_loop: bool },
    Judge { name: Arc<str>, judge: Box<Judge> },
    Set(Vec<Binding>),
    Capture(Vec<Binding>),
    Use { arguments: Vec<Binding>, steps: Arc<[Step]> },
}

/// A slot, the type of its values, and what it is bound to.
pub(crate) type Binding = (Arc<str>, Type, Expr);

impl Verb {
    /// As tasks write it: a part of paths.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::System(_) => "system",
            Self::Say { author, .. } => author,
            Self::History(_) => "history",
            Self::Generate { .. } => "generate",
            Self::SimulateUser(_) => "simulate_user",
            Self::Script(_) => "script",
            Self::Loop { .. } => "loop",
            Self::ForEach { .. } => "for_each",
            Self::If { .. } => "if",
            Self::Stop { .. } => "stop",
            Self::Judge { .. } => "judge",
            Self::Set(_) => "set",
            Self::Capture(_) => "capture",
            Self::Use { .. } => "use",
        }
    }

    /// The lists of steps in it.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &Step> {
        let (one, other): (&[Step], &[Step]) = match self {
            Self::Loop { steps, .. } | Self::ForEach { steps, .. } => (steps, &[]),
            Self::Use { steps, .. } => (steps, &[]),
            Self::If { then, otherwise, .. } => (then, otherwise),
            _ => (&[], &[]),
        };
        one.iter().chain(other)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Said {
    One(Template),
    AnyOf(Vec<(Template, u32)>),
}

#[derive(Clone, Debug)]
pub(crate) enum Lines {
    Texts(Vec<Template>),
    /// A list of texts.
    Expression(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Simulate {
    pub(crate) goal: Template,
    pub(crate) persona: Option<Persona>,
    pub(crate) knows: Option<Template>,
    pub(crate) withholds: Option<Template>,
    pub(crate) language: Option<Template>,
    pub(crate) stop: Option<Template>,
    pub(crate) opening: Option<Template>,
    pub(crate) min_turns: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Persona {
    /// A text.
    Text(Template),
    /// A text that is perhaps the name of a persona: the expression gives the persona's text then.
    Named(Expr),
}
