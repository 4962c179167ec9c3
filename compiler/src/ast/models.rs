//! Roles and who plays them.

use aigo_ir::span::Spanned;
use aigo_ir::value::Value;

use super::Leaf;

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
