//! Checks and scorers.

use std::sync::Arc;

use aigo_ir::check::Test;
use aigo_ir::expr::Expr;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::Items;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::ast::{Example, Turns};

#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) test: Test,
    pub(crate) negated: bool,
    pub(crate) who: Arc<str>,
    pub(crate) turns: Turns,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    pub(crate) name: Arc<str>,
    pub(crate) method: Method,
    pub(crate) pass: Option<f64>,
    pub(crate) over: Option<Reducer>,
    pub(crate) at: Option<Arc<str>>,
    pub(crate) runs: Option<u32>,
    pub(crate) confirm: Option<u32>,
    pub(crate) completion: bool,
    pub(crate) when: Option<Expr>,
    /// The scorers that are void where this one fails.
    pub(crate) voids: Option<Expr>,
    pub(crate) tags: Vec<Arc<str>>,
    /// What a definition is given: bound before anything is asked.
    pub(crate) given: Vec<super::Binding>,
    /// What it is of the standard library, and its version.
    pub(crate) library: Option<(Arc<str>, u32)>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Method {
    Check(Box<Check>),
    Judge(Box<Judge>),
    Graph(Box<Graph>),
}

impl Method {
    pub(crate) fn scale(&self) -> &Scale {
        match self {
            Self::Check(_) => &Scale::Boolean,
            Self::Judge(judge) => &judge.scale,
            Self::Graph(graph) => &graph.scale,
        }
    }

    /// Whether a judge is asked.
    pub(crate) fn judges(&self) -> bool {
        match self {
            Self::Check(_) => false,
            Self::Judge(_) => true,
            Self::Graph(graph) => graph.steps.iter().any(GraphStep::asks),
        }
    }
}

impl Method {
    /// Whether a judge is asked for a list.
    pub(crate) fn extracts(&self) -> bool {
        fn of_step(step: &GraphStep) -> bool {
            match step {
                GraphStep::Extract { .. } => true,
                GraphStep::If { then, otherwise, .. } => then.iter().chain(otherwise).any(of_step),
                _ => false,
            }
        }
        matches!(self, Self::Graph(graph) if graph.steps.iter().any(of_step))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Judge {
    /// One, or those of a panel.
    pub(crate) roles: Vec<Arc<str>>,
    /// Of a panel: how many must give a verdict, and how they are joined.
    pub(crate) panel: Option<(u32, Reducer)>,
    pub(crate) rubric: Template,
    pub(crate) scale: Scale,
    pub(crate) anchors: Vec<(String, String)>,
    pub(crate) examples: Vec<Example>,
    pub(crate) per_turn: bool,
    pub(crate) window: Option<u32>,
    pub(crate) sees_system: bool,
    pub(crate) evidence: EvidenceRule,
    /// When there is nothing to judge, and the turn or the item is left out.
    pub(crate) skip: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) steps: Vec<GraphStep>,
    pub(crate) scale: Scale,
    /// Of a graph that is gone through for each turn: the slot of the turn's number.
    pub(crate) of_turn: Option<Arc<str>>,
    /// How a list of verdicts becomes one; that of the scorer's values unless given.
    pub(crate) join: Option<Reducer>,
    /// Whether it has values of turns.
    pub(crate) has_turns: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum GraphStep {
    Extract {
        role: Arc<str>,
        prompt: Template,
        items: Items,
        /// The one role whose messages are shown.
        only: Option<Arc<str>>,
        /// Whether the scorer does not apply where nothing is found.
        needed: bool,
        into: Arc<str>,
        origin: Origin,
    },
    Each(Box<Each>),
    Judge {
        judge: Box<Judge>,
        into: Option<Arc<str>>,
        origin: Origin,
    },
    Set {
        name: Arc<str>,
        ty: Type,
        value: Expr,
        origin: Origin,
    },
    If {
        when: Expr,
        then: Vec<GraphStep>,
        otherwise: Vec<GraphStep>,
        origin: Origin,
    },
    /// Steps one after the other.
    Several(Vec<GraphStep>),
    /// What the graph, or within `each` the item, comes to.
    Score {
        value: Scored,
        origin: Origin,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) list: Expr,
    pub(crate) item: Arc<str>,
    pub(crate) item_ty: Type,
    pub(crate) steps: Vec<GraphStep>,
    /// The type of an item's result.
    pub(crate) gives: Type,
    pub(crate) into: Arc<str>,
    /// Whether the one judge in it is asked once for all items.
    pub(crate) batch: bool,
    /// What is said once before the items.
    pub(crate) about: Option<Template>,
    /// Whether its items are numbers of turns, whose values its verdicts are.
    pub(crate) per_turn: bool,
    pub(crate) origin: Origin,
}

/// What is scored.
#[derive(Clone, Debug)]
pub(crate) enum Scored {
    /// An expression, of this type.
    Value(Expr, Type),
    /// The verdict of the judge that was asked last on the way.
    Last,
}

impl GraphStep {
    fn asks(&self) -> bool {
        match self {
            Self::Extract { .. } | Self::Judge { .. } => true,
            Self::Each(each) => each.steps.iter().any(Self::asks),
            Self::If { then, otherwise, .. } => then.iter().chain(otherwise).any(Self::asks),
            Self::Several(steps) => steps.iter().any(Self::asks),
            Self::Set { .. } | Self::Score { .. } => false,
        }
    }
}
