//! Who talks: chat models, applications, scripted rules; and the calls before and after a sample.

use std::sync::Arc;

use crate::expr::Expr;
use crate::path::Path;
use crate::span::Origin;
use crate::template::Template;
use crate::value::Value;

/// Someone who talks.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// `assistant`, `user`, `judge`, or a name of the task's.
    pub name: Arc<str>,
    /// Who plays it.
    pub player: Player,
    /// Where the task says so.
    pub origin: Origin,
}

/// Who plays a role.
#[derive(Clone, Debug, PartialEq)]
pub enum Player {
    /// Rules in the task: no network, no key.
    Scripted(Vec<Rule>),
    /// A chat model behind an API.
    Chat(ChatModel),
    /// An application behind HTTP.
    Http(Box<HttpRole>),
    /// An application that is a program: JSON lines in and out, no shell.
    Command(CommandRole),
}

/// A chat model and every parameter that changes its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatModel {
    /// How the API speaks.
    pub dialect: Dialect,
    /// The model's name on the wire.
    pub model: Arc<str>,
    /// The endpoint's name: part of the identity of answers, unlike the address.
    pub endpoint: Arc<str>,
    /// The address before `/chat/completions` and `/responses`, or before `/v1/messages` of Anthropic's API. Where it has a
    /// query, the path is put before it.
    pub base_url: Arc<str>,
    /// The environment variable that holds the key.
    pub api_key: Option<Arc<str>>,
    /// The longest a call may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Whether answers are asked for as streams; as the dialect does by itself where nothing is said. It changes no answer.
    pub stream: Option<bool>,
    /// How it is asked for answers of a shape.
    pub structured: Structured,
    /// More headers, their texts as they are; no part of the identity of answers.
    pub headers: Vec<Header>,
    /// The parameters that are set, by their names on the wire, in the order of the language's table, then those of `extra`.
    pub parameters: Vec<(Arc<str>, Value)>,
    /// What it costs.
    pub price: Option<Price>,
}

/// USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Of prompts.
    pub input: f64,
    /// Of answers.
    pub output: f64,
    /// Of prompts that are read from the provider's cache; as `input` where there is none.
    pub cached_input: Option<f64>,
}

/// So many of the units in which money is counted are a USD: at a price per million tokens no sum of tokens is rounded.
pub const PER_USD: f64 = 1e12;
const PER_USD_AND_MILLION: f64 = 1e6;

impl Price {
    /// What so many tokens cost, in 10^-12 USD; `cached` are those of `input` that came from the provider's cache. Part of a
    /// unit counts as a whole one.
    pub fn of(&self, input: u64, cached: u64, output: u64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; casts saturate")]
        let each = |usd_per_million: f64| libm::ceil(usd_per_million * PER_USD_AND_MILLION) as u64;
        let cached = cached.min(input);
        let parts = [
            (input - cached).saturating_mul(each(self.input)),
            cached.saturating_mul(each(self.cached_input.unwrap_or(self.input))),
            output.saturating_mul(each(self.output)),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// The dialects of chat APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /chat/completions` as many speak it after `OpenAI`.
    OpenAiCompatible,
    /// `OpenAI`'s own `POST /chat/completions`.
    OpenAi,
    /// `POST /responses` as others speak it after `OpenAI`.
    CompatibleResponses,
    /// `OpenAI`'s own `POST /responses`.
    OpenAiResponses,
    /// Anthropic's `POST /v1/messages`.
    Anthropic,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 5] =
        [Self::OpenAiCompatible, Self::OpenAi, Self::CompatibleResponses, Self::OpenAiResponses, Self::Anthropic];

    /// The word in programs and content keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAiCompatible => "openai_compatible",
            Self::OpenAi => "openai",
            Self::CompatibleResponses => "openai_compatible_responses",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Whether it is asked at `/responses`.
    pub const fn is_responses(self) -> bool {
        matches!(self, Self::CompatibleResponses | Self::OpenAiResponses)
    }
}

/// How a model is asked for an answer of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// By a JSON Schema, bounds of lengths and numbers among it.
    #[default]
    BoundedSchema,
    /// By a JSON Schema without such bounds: decoders of large providers refuse them.
    Schema,
    /// By a tool that it must call.
    Tool,
    /// By the words of the prompt alone.
    Prompt,
}

impl Structured {
    /// All ways.
    pub const ALL: [Self; 4] = [Self::BoundedSchema, Self::Schema, Self::Tool, Self::Prompt];

    /// The word in tasks, programs and content keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BoundedSchema => "bounded_schema",
            Self::Schema => "schema",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
        }
    }
}

/// A header of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Its name, in lower case.
    pub name: Arc<str>,
    /// What it says.
    pub value: HeaderValue,
}

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub enum HeaderValue {
    /// A text that is rendered; of a chat model it is taken as it is.
    Text(Template),
    /// A secret.
    Env {
        /// The environment variable that holds it.
        name: Arc<str>,
        /// What stands before it, such as `Bearer `; may be empty.
        prefix: Arc<str>,
    },
}

/// A request over HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpCall {
    /// How.
    pub method: HttpMethod,
    /// Where.
    pub url: Template,
    /// The headers, in the order of the task.
    pub headers: Vec<Header>,
    /// A value whose texts are templates, sent as JSON after they are rendered; their results stay texts.
    pub body: Option<Value>,
    /// The hosts that it may go to, where the address does not say one: `host`, or `host:port`.
    pub allow_hosts: Vec<Arc<str>>,
    /// The longest it may take, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// The methods of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// Without a body.
    Get,
    /// The usual one.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl HttpMethod {
    /// All methods.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// As it is sent.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// An application behind HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRole {
    /// What is sent for each message that it is to answer.
    pub call: HttpCall,
    /// Where its reply has what; none where the whole body is the text.
    pub reply: Option<ReplyPaths>,
    /// Whether the reply comes as server-sent events, each with a part of the text.
    pub stream: bool,
    /// Whether it remembers the conversation.
    pub session: Session,
    /// Whether a conversation that was cut off goes on in the middle all the same.
    pub resumable: bool,
    /// The application's version: what it answered is only used again under the same one, and never without one.
    pub version: Option<Arc<str>>,
}

/// Where an application's JSON reply has what.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyPaths {
    /// The text.
    pub text: Path,
    /// The tool calls that it made: a list of `{name, args}`.
    pub calls: Option<Path>,
    /// The chunks that it has read: a list of texts.
    pub context: Option<Path>,
    /// Whether it has ended the conversation: a boolean.
    pub done: Option<Path>,
}

/// Whether an application remembers the conversation between calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Session {
    /// It does not: each request has all that it needs.
    Stateless,
    /// It does, under an id that aigo makes for each sample and epoch. It cannot be resumed in the middle.
    Client,
    /// It does, under an id that its first reply has. It cannot be resumed in the middle.
    Server {
        /// Where the first reply has the id.
        id: Path,
    },
}

impl Session {
    /// Whether a sample that was cut off has to begin again.
    pub const fn is_sticky(&self) -> bool {
        !matches!(self, Self::Stateless)
    }
}

/// A program that is run without a shell.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandCall {
    /// The program and its arguments, as they are; never empty.
    pub run: Vec<Arc<str>>,
    /// The variables that it is given: its name for each, and ours.
    pub env: Vec<(Arc<str>, Arc<str>)>,
    /// The longest it may take, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// An application that is a program.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRole {
    /// How it is started.
    pub call: CommandCall,
    /// Whether a conversation that was cut off goes on in the middle, with a new process.
    pub resumable: bool,
    /// The application's version: what it answered is only used again under the same one, and never without one.
    pub version: Option<Arc<str>>,
}

/// A call before or after a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name under which `setup` has its reply.
    pub name: Option<Arc<str>>,
    /// What is done.
    pub does: CallKind,
    /// Where the task says so.
    pub origin: Origin,
}

/// What a call does.
#[derive(Clone, Debug, PartialEq)]
pub enum CallKind {
    /// Sends a request.
    Http(HttpCall),
    /// Runs a program.
    Command(CommandCall),
}

/// A rule of a scripted role: the first whose condition holds answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// When; always if there is none.
    pub when: Option<Expr>,
    /// With what.
    pub answer: Answer,
    /// The tool calls that come with it, in order.
    pub calls: Vec<ScriptedCall>,
    /// The chunks that it claims to have read.
    pub context: Vec<Template>,
}

/// A tool call of a scripted role.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedCall {
    /// The tool.
    pub name: Arc<str>,
    /// A map whose texts are templates.
    pub args: Value,
}

/// What a scripted role answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A text; a simulated user's status with it.
    Say {
        /// The text; empty where the rule only makes calls.
        text: Template,
        /// `going`, `done` or `gave_up`, of a simulated user.
        status: Option<Arc<str>>,
    },
    /// One of several texts, drawn by position from the run's seed.
    AnyOf {
        /// The texts, each with its weight.
        texts: Vec<(Template, u32)>,
        /// `going`, `done` or `gave_up`, of a simulated user.
        status: Option<Arc<str>>,
    },
    /// A judge's verdict: a map whose texts are templates.
    Verdict(Value),
    /// A fault.
    Fault(Fault),
}

/// A fault that a scripted role plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP status.
    Status(u16),
    /// No answer in time.
    Timeout,
    /// An answer without anything in it.
    Empty,
    /// An answer that a content filter has taken.
    Filtered,
}

impl Fault {
    /// Those that are words.
    pub const WORDS: [Self; 3] = [Self::Timeout, Self::Empty, Self::Filtered];

    /// The word in programs; a status is its number.
    pub fn word(self) -> String {
        match self {
            Self::Status(status) => status.to_string(),
            Self::Timeout => "timeout".to_owned(),
            Self::Empty => "empty".to_owned(),
            Self::Filtered => "filtered".to_owned(),
        }
    }

    /// The other way.
    pub fn parse(word: &str) -> Option<Self> {
        let named = Self::WORDS.into_iter().find(|fault| fault.word() == word);
        named.or_else(|| word.parse().ok().map(Self::Status))
    }

    /// The class that the answer has.
    pub fn class(self) -> String {
        match self {
            Self::Status(status) => format!("http_{status}"),
            other => other.word(),
        }
    }
}

impl Rule {
    /// Everything in it that is rendered.
    pub fn texts(&self) -> Vec<Template> {
        let mut found = match &self.answer {
            Answer::Say { text, .. } => vec![text.clone()],
            Answer::AnyOf { texts, .. } => texts.iter().map(|(text, _)| text.clone()).collect(),
            Answer::Verdict(shape) => texts_of(shape),
            Answer::Fault(_) => Vec::new(),
        };
        found.extend(self.calls.iter().flat_map(|call| texts_of(&call.args)));
        found.extend(self.context.iter().cloned());
        found
    }
}

impl HttpCall {
    /// Everything in it that is rendered.
    pub fn texts(&self) -> Vec<Template> {
        let headers = self.headers.iter().filter_map(|header| match &header.value {
            HeaderValue::Text(text) => Some(text.clone()),
            HeaderValue::Env { .. } => None,
        });
        let mut found: Vec<Template> = std::iter::once(self.url.clone()).chain(headers).collect();
        found.extend(self.body.iter().flat_map(texts_of));
        found
    }
}

impl Call {
    /// Everything in it that is rendered.
    pub fn texts(&self) -> Vec<Template> {
        match &self.does {
            CallKind::Http(call) => call.texts(),
            CallKind::Command(_) => Vec::new(),
        }
    }
}

impl Player {
    /// Everything in it that is rendered.
    pub fn texts(&self) -> Vec<Template> {
        match self {
            Self::Scripted(rules) => rules.iter().flat_map(Rule::texts).collect(),
            Self::Http(role) => role.call.texts(),
            Self::Chat(_) | Self::Command(_) => Vec::new(),
        }
    }

    /// The names that it reads; the same one may come more than once.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> = self.texts().iter().flat_map(Template::names).collect();
        if let Self::Scripted(rules) = self {
            let conditions = rules.iter().filter_map(|rule| rule.when.as_ref());
            names.extend(conditions.flat_map(Expr::names).map(Arc::from));
        }
        names
    }
}

/// The texts of a value, each a template.
fn texts_of(value: &Value) -> Vec<Template> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Template>) {
    match value {
        Value::Str(text) => found.push(Template::new(text.clone())),
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Map(map) => map.iter().for_each(|(_, item)| collect(item, found)),
        _ => {}
    }
}
