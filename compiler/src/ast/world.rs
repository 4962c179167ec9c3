//! Scenarios, the world and its tools, suites.

use aigo_ir::node::Ending;
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;

use super::{CallKind, Leaf, Param, Step};

/// A sample with steps of its own.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// `id`
    pub(crate) id: Spanned<String>,
    /// `with`
    pub(crate) fields: Vec<(Spanned<String>, Value)>,
    /// `tags`
    pub(crate) tags: Vec<Spanned<String>>,
    /// `cluster`
    pub(crate) cluster: Option<Spanned<String>>,
    /// `solvers`; none where the task's are meant.
    pub(crate) solvers: Option<Vec<Step>>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A tool.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    /// `name`
    pub(crate) name: Spanned<String>,
    /// `description`
    pub(crate) description: Option<String>,
    /// `params`
    pub(crate) params: Vec<Param>,
    /// `require`
    pub(crate) require: Option<Leaf>,
    /// `set`: paths of the state, and what becomes of them.
    pub(crate) set: Vec<(Leaf, Leaf)>,
    /// `returns`
    pub(crate) returns: Option<Returns>,
    /// `fail`: on which call, with what.
    pub(crate) fail: Option<(u32, String)>,
    /// `ends`
    pub(crate) ends: Option<Ending>,
    /// `http` or `command`, in the place of rules.
    pub(crate) by: Option<ToolBy>,
}

/// Who answers a tool's calls in the place of rules.
#[derive(Clone, Debug)]
pub(crate) struct ToolBy {
    /// `http` or `command`
    pub(crate) does: CallKind,
    /// `reply`
    pub(crate) reply: Option<Leaf>,
    /// `version`
    pub(crate) version: Option<Spanned<String>>,
    /// `idempotent`
    pub(crate) idempotent: bool,
}

/// What a tool gives back.
#[derive(Clone, Debug)]
pub(crate) enum Returns {
    /// An expression.
    Leaf(Leaf),
    /// A map of them.
    Map(Vec<(String, Returns)>),
    /// A list of them.
    List(Vec<Returns>),
}

/// A suite.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    /// Its name.
    pub(crate) name: Spanned<String>,
    /// `select`
    pub(crate) select: Option<Leaf>,
    /// `subset`: how many, stratified by which fields.
    pub(crate) subset: Option<(u32, Vec<Spanned<String>>)>,
}
