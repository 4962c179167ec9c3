//! Roles and who plays them, calls before and after a sample, limits.

use aigo_ir::program::{Dialect, Fault, HttpMethod, Price, Structured};
use aigo_ir::span::{Span, Spanned};
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
    /// An application behind HTTP.
    Http(Box<Http>),
    /// An application that is a program.
    Command(Command, Option<Spanned<String>>),
}

/// A chat model as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Chat {
    /// How its API speaks.
    pub(crate) dialect: Dialect,
    /// The name behind the provider's.
    pub(crate) model: Spanned<String>,
    /// `base_url`
    pub(crate) base_url: String,
    /// `endpoint`, or the provider's name.
    pub(crate) endpoint: String,
    /// `api_key: {env}`; of a provider that has a usual one, at the place of `model` where the task does not say it.
    pub(crate) api_key: Option<Spanned<String>>,
    /// The parameters that are set, by the language's names, in the order of its table.
    pub(crate) parameters: Vec<Parameter>,
    /// `extra`, by the names on the wire.
    pub(crate) extra: Vec<(String, Value)>,
    /// `price`
    pub(crate) price: Option<Price>,
    /// Whether there is one, be it readable or not.
    pub(crate) has_price: bool,
    /// `timeout`
    pub(crate) timeout_ms: Option<u64>,
    /// `stream`
    pub(crate) stream: Option<bool>,
    /// `structured`
    pub(crate) structured: Option<Structured>,
    /// `headers`
    pub(crate) headers: Vec<Header>,
}

/// A parameter that is set.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// Where the key stands.
    pub(crate) key: Span,
    /// What it is set to.
    pub(crate) value: Spanned<Value>,
}

/// A header.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// Its name in lower case.
    pub(crate) name: Spanned<String>,
    /// What it says.
    pub(crate) value: HeaderValue,
}

/// What a header says.
#[derive(Clone, Debug)]
pub(crate) enum HeaderValue {
    /// A text.
    Text(Leaf),
    /// `{env, prefix}`
    Env(Spanned<String>, String),
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `method`
    pub(crate) method: HttpMethod,
    /// `url`
    pub(crate) url: Leaf,
    /// `headers`
    pub(crate) headers: Vec<Header>,
    /// `body`, and its texts.
    pub(crate) body: Option<(Value, Vec<Leaf>)>,
    /// `allow_hosts`
    pub(crate) allow_hosts: Vec<String>,
    /// `timeout`
    pub(crate) timeout_ms: Option<u64>,
}

/// An application behind HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    /// What is sent.
    pub(crate) request: Request,
    /// `reply`
    pub(crate) reply: Option<Reply>,
    /// `stream`
    pub(crate) stream: bool,
    /// `session`
    pub(crate) session: Session,
    /// `version`
    pub(crate) version: Option<Spanned<String>>,
    /// `resumable`
    pub(crate) resumable: bool,
}

/// Where a reply has what: paths that are still text.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// `text`
    pub(crate) text: Leaf,
    /// `calls`
    pub(crate) calls: Option<Leaf>,
    /// `context`
    pub(crate) context: Option<Leaf>,
    /// `done`
    pub(crate) done: Option<Leaf>,
}

/// Who remembers the conversation.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    /// Nobody.
    Stateless,
    /// The application, under an id of ours.
    Client,
    /// The application, under an id of its own.
    Server(Leaf),
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// The program and its arguments.
    pub(crate) run: Vec<Spanned<String>>,
    /// `env`: its name for each variable, and ours.
    pub(crate) env: Vec<(Spanned<String>, Spanned<String>)>,
    /// `timeout`
    pub(crate) timeout_ms: Option<u64>,
    /// Of one that plays a role: `resumable`
    pub(crate) resumable: bool,
}

/// A call before or after a sample.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// `as`
    pub(crate) name: Option<Spanned<String>>,
    /// What is done.
    pub(crate) does: CallKind,
    /// The verb.
    pub(crate) span: Span,
}

/// What a call does.
#[derive(Clone, Debug)]
pub(crate) enum CallKind {
    /// `http`
    Http(Box<Request>),
    /// `command`
    Command(Command),
}

/// A rule of a scripted role.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// `when`
    pub(crate) when: Option<Leaf>,
    /// What it answers.
    pub(crate) answer: Answer,
    /// `calls`
    pub(crate) calls: Vec<ScriptedCall>,
    /// `context`
    pub(crate) context: Vec<Leaf>,
    /// Its first key, or the text that it is.
    pub(crate) span: Span,
}

/// A tool call of a rule.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedCall {
    /// `name`
    pub(crate) name: Spanned<String>,
    /// `args`, and their texts.
    pub(crate) args: (Value, Vec<Leaf>),
}

/// What a rule answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Nothing but calls and chunks.
    Nothing,
    /// `say`, and `status`
    Say(Leaf, Option<String>),
    /// `any_of`, and `status`
    AnyOf(Vec<(Leaf, u32)>, Option<String>),
    /// `verdict`, and its texts.
    Verdict(Value, Vec<Leaf>),
    /// `fault`
    Fault(Fault),
}

/// The limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// What they are.
    pub(crate) values: aigo_ir::program::Limits,
    /// Where each `cost` stands.
    pub(crate) costs: Vec<Span>,
}
