//! Steps.

use aigo_ir::span::{Span, Spanned};

use super::{Check, Judge, Leaf, Use};

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
    /// `timeout`, in seconds.
    pub(crate) timeout_s: Option<u64>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Verb {
    /// `system`
    System(Said),
    /// `user`
    User(Said),
    /// `assistant`
    Assistant(Said),
    /// `history`
    History(Leaf),
    /// `generate`
    Generate {
        /// `role`
        role: Option<Spanned<String>>,
        /// `max_tool_rounds`
        rounds: Option<Spanned<u32>>,
    },
    /// `simulate_user`
    SimulateUser(Box<Simulate>),
    /// `script`
    Script(Lines),
    /// `loop`
    Loop {
        /// `max_turns`
        times: u32,
        /// `until`
        until: Option<Leaf>,
        /// `solvers`
        steps: Vec<Step>,
    },
    /// `for_each`
    ForEach {
        /// `in`
        list: Leaf,
        /// `as`
        item: Spanned<String>,
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
    /// `judge`, whose scorer is called like the step's label.
    Judge(Box<Judge>),
    /// `set`
    Set(Vec<(Spanned<String>, Leaf)>),
    /// `capture`: names, and the patterns that find their values.
    Capture(Vec<(Spanned<String>, Leaf)>),
    /// `use`
    Use(Use),
}

/// What is said.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// A text.
    One(Leaf),
    /// `any_of`: one of several texts, each with its weight.
    AnyOf(Vec<(Leaf, u32)>),
}

/// The lines of a script.
#[derive(Clone, Debug)]
pub(crate) enum Lines {
    /// Written one by one.
    Texts(Vec<Leaf>),
    /// An expression that gives a list of texts.
    Expression(Leaf),
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
    /// `withholds`
    pub(crate) withholds: Option<Leaf>,
    /// `language`
    pub(crate) language: Option<Leaf>,
    /// `stop`
    pub(crate) stop: Option<Leaf>,
    /// `opening`
    pub(crate) opening: Option<Leaf>,
    /// `min_turns`
    pub(crate) min_turns: u32,
}
