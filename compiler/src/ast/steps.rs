//! Steps.

use aigo_ir::span::{Span, Spanned};

use super::{Check, Leaf};

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What it does.
    pub(crate) verb: Verb,
    /// Where its verb stands.
    pub(crate) span: Span,
    /// `as`
    pub(crate) label: Option<Spanned<String>>,
    /// `when`
    pub(crate) when: Option<Leaf>,
    /// `expect`
    pub(crate) expect: Vec<Check>,
    /// `on_fail: stop`
    pub(crate) stop_on_fail: bool,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    /// `system`
    System(Leaf),
    /// `user`
    User(Leaf),
    /// `assistant`
    Assistant(Leaf),
    /// `generate`, and the role that is asked.
    Generate(Option<Spanned<String>>),
    /// `simulate_user`
    SimulateUser(Box<Simulate>),
    /// `script`
    Script(Vec<Leaf>),
    /// `loop`
    Loop {
        /// `max_turns`
        times: u32,
        /// `until`
        until: Option<Leaf>,
        /// `solvers`
        steps: Vec<Step>,
    },
    /// `if`
    If {
        /// `when`
        when: Leaf,
        /// `then`
        then: Vec<Step>,
        /// `else`
        otherwise: Vec<Step>,
    },
    /// `stop`
    Stop {
        /// `when`
        when: Option<Leaf>,
        /// `loop`
        only_loop: bool,
    },
    /// `set`
    Set(Vec<(Spanned<String>, Leaf)>),
}

/// `simulate_user`
#[derive(Clone, Debug)]
pub(crate) struct Simulate {
    /// `goal`
    pub(crate) goal: Leaf,
    /// `persona`
    pub(crate) persona: Option<Leaf>,
    /// `knows`
    pub(crate) knows: Option<Leaf>,
    /// `opening`
    pub(crate) opening: Option<Leaf>,
    /// `min_turns`
    pub(crate) min_turns: u32,
}
