//! The task as it was written: every leaf with its place, names still names, text still text.

use std::ops::Range;

use aigo_ir::reduce::Reducer;
use aigo_ir::span::{SourceMap, Span, Spanned};
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_source::ScalarSource;

/// Text that will be read further: a template or an expression.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The text after escapes and folding.
    pub(crate) text: String,
    /// Where the scalar stands.
    pub(crate) span: Span,
    /// How its text lies in the file.
    pub(crate) source: ScalarSource,
}

impl Leaf {
    /// The place of a range of the text.
    pub(crate) fn locate(&self, sources: &SourceMap, range: Range<usize>) -> Span {
        let file = sources.get(self.span.file).map_or("", |file| &*file.text);
        self.source.locate(file, &self.text, range)
    }
}

/// A task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    /// `name`
    pub(crate) name: Option<Spanned<String>>,
    /// `models`
    pub(crate) models: Vec<Model>,
    /// `dataset`
    pub(crate) dataset: Vec<Source>,
    /// Where `dataset` stands, if it does.
    pub(crate) dataset_span: Option<Span>,
    /// `solvers`
    pub(crate) solvers: Vec<Step>,
    /// `scorers`
    pub(crate) scorers: Vec<Scorer>,
    /// `gates`
    pub(crate) gates: Vec<Gate>,
    /// `epochs`
    pub(crate) epochs: Option<u32>,
    /// `seed`
    pub(crate) seed: Option<u64>,
    /// `limits`
    pub(crate) limits: aigo_ir::program::Limits,
    /// The whole task, for findings about what is not there.
    pub(crate) span: Span,
    /// Whether a part could not be read, so that what is missing may have been written.
    pub(crate) damaged: bool,
    /// Whether something in `dataset` could not be read: then not all fields are known.
    pub(crate) dataset_damaged: bool,
    /// Whether something in `scorers` could not be read: then not all scorers are known.
    pub(crate) scorers_damaged: bool,
    /// The roles that `models` names, those that could not be read included.
    pub(crate) roles: Vec<String>,
}

/// A role.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Its name.
    pub(crate) role: Spanned<String>,
    /// Who plays it.
    pub(crate) player: Player,
}

/// Who plays a role.
#[derive(Clone, Debug)]
pub(crate) enum Player {
    /// Rules.
    Scripted(Vec<Rule>),
    /// A chat model.
    Chat(Box<Chat>),
}

/// A chat model as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Chat {
    /// The name behind `openai_compatible/`.
    pub(crate) model: String,
    /// `base_url`
    pub(crate) base_url: String,
    /// `endpoint`
    pub(crate) endpoint: Option<String>,
    /// `api_key: {env}`
    pub(crate) api_key: Option<Spanned<String>>,
    /// The parameters that are set, by their names on the wire.
    pub(crate) parameters: Vec<(&'static str, Value)>,
    /// `price`
    pub(crate) price: Option<(f64, f64)>,
}

/// A rule of a scripted role.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// `when`
    pub(crate) when: Option<Leaf>,
    /// What it answers.
    pub(crate) answer: Answer,
}

/// What a rule answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// `say`, and `status`
    Say(Leaf, Option<String>),
    /// `any_of`
    AnyOf(Vec<(Leaf, u32)>),
    /// `verdict`, and its texts.
    Verdict(Value, Vec<Leaf>),
    /// `fault`
    Fault(u16),
}

/// A source of samples.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// `samples`: rows with their places.
    Samples(Vec<Spanned<Value>>),
    /// `file`
    File(Spanned<String>),
    /// `matrix`
    Matrix(Vec<(String, Vec<Value>)>, Span),
}

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

/// A check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// The kind, and whether it is negated.
    pub(crate) kind: (aigo_ir::check::CheckKind, bool),
    /// The words or the pattern.
    pub(crate) wanted: Leaf,
    /// `who`
    pub(crate) who: Option<Spanned<String>>,
    /// `turns`
    pub(crate) turns: Turns,
    /// Where its verb stands.
    pub(crate) span: Span,
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
}

/// A scorer.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    /// `name`
    pub(crate) name: Spanned<String>,
    /// How it scores.
    pub(crate) method: Method,
    /// `pass`
    pub(crate) pass: Option<f64>,
    /// `over`
    pub(crate) over: Option<Reducer>,
    /// Where its verb stands.
    pub(crate) span: Span,
}

/// How a scorer scores.
#[derive(Clone, Debug)]
pub(crate) enum Method {
    /// `check`
    Check(Check),
    /// `judge`
    Judge(Box<Judge>),
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
    /// `evidence`
    pub(crate) evidence: EvidenceRule,
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
}
