//! Checks, scorers and gates.

use aigo_ir::check::{Between, CallMode, CheckKind, Likeness, Repeated};
use aigo_ir::gate::Decide;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::ItemKind;
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};

use super::{Leaf, Use};

/// A check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// What is asked.
    pub(crate) test: Test,
    /// Whether it must not be so.
    pub(crate) negated: bool,
    /// `who`
    pub(crate) who: Option<Spanned<String>>,
    /// `turns`
    pub(crate) turns: Turns,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// What a check asks.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// `contains` and its kin, with the words or the pattern.
    Text(CheckKind, Leaf),
    /// `one_of`
    OneOf(Vec<Leaf>),
    /// `json_schema`
    JsonSchema(Value),
    /// `words`
    Words(Between),
    /// `within`, in milliseconds.
    Within(u64),
    /// `no_reply`
    NoReply,
    /// `no_repetition`
    NoRepetition(Repeated, Likeness),
    /// `turns` as a verb
    Turns(Between),
    /// `tool_calls`
    ToolCalls(Vec<CallPattern>, CallMode),
    /// `state`
    State(Vec<(Spanned<String>, Operand)>),
    /// `state_after`
    StateAfter(Vec<CallPattern>),
    /// `similarity`
    Similarity(Leaf, Likeness),
    /// `expr`
    Expr(Leaf),
}

impl Test {
    /// Whether it is about the whole conversation, and never about one text.
    pub(crate) const fn is_of_conversation(&self) -> bool {
        matches!(self, Self::Turns(_) | Self::ToolCalls(..) | Self::State(_) | Self::StateAfter(_))
    }
}

/// A tool call that is expected.
#[derive(Clone, Debug)]
pub(crate) struct CallPattern {
    /// The tool.
    pub(crate) name: Spanned<String>,
    /// Its arguments; none where any will do.
    pub(crate) args: Option<Vec<(Spanned<String>, Operand)>>,
}

/// A value that is expected.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// Text, rendered.
    Text(Leaf),
    /// Any other value.
    Data(Spanned<Value>),
}

impl Operand {
    /// Where it stands.
    pub(crate) const fn span(&self) -> Span {
        match self {
            Self::Text(leaf) => leaf.span,
            Self::Data(value) => value.span,
        }
    }
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
    /// All of these: one value for the conversation.
    Range(Between),
}

/// A scorer.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    /// `name`; of `use` the used name unless given.
    pub(crate) name: Spanned<String>,
    /// How it scores.
    pub(crate) method: Method,
    /// `pass`
    pub(crate) pass: Option<Spanned<Value>>,
    /// `over`
    pub(crate) over: Option<Spanned<Reducer>>,
    /// `at`
    pub(crate) at: Option<Spanned<String>>,
    /// `runs`
    pub(crate) runs: Option<Spanned<u32>>,
    /// `confirm`
    pub(crate) confirm: Option<Spanned<u32>>,
    /// `completion`
    pub(crate) completion: Option<bool>,
    /// `when`
    pub(crate) when: Option<Leaf>,
    /// `voids`
    pub(crate) voids: Option<Leaf>,
    /// `tags`
    pub(crate) tags: Vec<Spanned<String>>,
    /// The definition that it is, where `use` named one.
    pub(crate) used: Option<Use>,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// How a scorer scores.
#[derive(Clone, Debug)]
pub(crate) enum Method {
    /// `check`
    Check(Box<Check>),
    /// `judge`
    Judge(Box<Judge>),
    /// `graph`
    Graph(Box<Graph>),
    /// `use`: what it names is put in its place before names are looked up.
    Use(Use),
}

impl Method {
    /// The scale of its values; none of what `use` names.
    pub(crate) fn scale(&self) -> Option<&Scale> {
        match self {
            Self::Check(_) => Some(&Scale::Boolean),
            Self::Judge(judge) => Some(&judge.scale),
            Self::Graph(graph) => Some(&graph.scale),
            Self::Use(_) => None,
        }
    }

    /// Whether it has a value for each turn.
    pub(crate) fn has_turns(&self) -> bool {
        match self {
            Self::Check(check) => check.turns == Turns::Every && !check.test.is_of_conversation(),
            Self::Judge(judge) => judge.per_turn,
            Self::Graph(graph) => graph.has_turns(),
            Self::Use(_) => false,
        }
    }
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
    /// `panel`
    pub(crate) panel: Vec<Spanned<String>>,
    /// `quorum`
    pub(crate) quorum: Option<u32>,
    /// `over_panel`
    pub(crate) over_panel: Option<Reducer>,
    /// `examples`
    pub(crate) examples: Vec<Example>,
    /// `sees: [system]`
    pub(crate) sees_system: bool,
    /// `evidence`
    pub(crate) evidence: EvidenceRule,
    /// `skip`: when there is nothing to judge.
    pub(crate) skip: Option<Spanned<String>>,
}

/// A verdict on another conversation.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    /// What was said, as judges are shown it.
    pub(crate) shown: String,
    /// The score.
    pub(crate) score: Value,
    /// `reason`
    pub(crate) reason: Option<String>,
}

/// `graph`
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// `steps`
    pub(crate) steps: Vec<GraphStep>,
    /// `scale`
    pub(crate) scale: Scale,
    /// `per: turn`
    pub(crate) per_turn: bool,
    /// `join`
    pub(crate) join: Option<Reducer>,
}

impl Graph {
    /// Whether it gives values of turns.
    fn has_turns(&self) -> bool {
        fn of(steps: &[GraphStep]) -> bool {
            steps.iter().any(|step| match &step.verb {
                GraphVerb::Each { per_turn, .. } => per_turn.is_some(),
                GraphVerb::If { then, otherwise, .. } => of(then) || of(otherwise),
                _ => false,
            })
        }
        self.per_turn || of(&self.steps)
    }
}

/// A step of a graph.
#[derive(Clone, Debug)]
pub(crate) struct GraphStep {
    /// What it does.
    pub(crate) verb: GraphVerb,
    /// `as`
    pub(crate) label: Option<Spanned<String>>,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// What a step of a graph does.
#[derive(Clone, Debug)]
pub(crate) enum GraphVerb {
    /// `extract`
    Extract {
        /// `prompt`
        prompt: Leaf,
        /// `items`
        items: Vec<(Spanned<String>, ItemKind)>,
        /// `max_items`
        max_items: u32,
        /// `model`
        model: Option<Spanned<String>>,
        /// `who`
        who: Option<Spanned<String>>,
        /// `needed: true`, and where.
        needed: Option<Span>,
    },
    /// `each`
    Each {
        /// `in`
        list: Leaf,
        /// `as`
        item: Spanned<String>,
        /// `steps`
        steps: Vec<GraphStep>,
        /// `batch: true`, and where.
        batch: Option<Span>,
        /// `about`
        about: Option<Leaf>,
        /// `per: turn`, and where.
        per_turn: Option<Span>,
    },
    /// `judge`
    Judge(Box<Judge>),
    /// `set`
    Set(Vec<(Spanned<String>, Leaf)>),
    /// `if`
    If {
        /// `when`
        when: Leaf,
        /// `then`
        then: Vec<GraphStep>,
        /// `else`
        otherwise: Vec<GraphStep>,
        /// Where `else` stands, if it does.
        else_span: Option<Span>,
        /// Where `then` stands.
        then_span: Span,
    },
    /// `score`
    Score(Leaf),
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
    /// `decide`
    pub(crate) decide: Decide,
}
