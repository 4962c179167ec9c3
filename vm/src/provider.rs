//! Who answers: one file per kind of player.

mod anthropic;
mod chat;
mod client;
mod events;
mod json;
mod probe;
mod refusal;
mod responses;
mod said;
pub(crate) mod scripted;
mod secrets;
mod shape;
pub mod wire;

use std::cell::RefCell;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{ChatModel, HeaderValue, Player, Program, Role};
use aigo_machine::{Answer, Request};

use crate::error::{CANNOT_RUN, KEY_UNSET, RunError, WEAK_SECRET};
use crate::fault::{Class, Fault};
use crate::limiter::Limiter;
use crate::rates::Rates;
use client::Client;
use probe::Probe;
pub use probe::Verdict;
use secrets::Redactor;

/// Where secrets come from: the value of an environment variable or of `.env`, by name.
pub type Secrets<'s> = &'s dyn Fn(&str) -> Option<String>;

/// What an attempt brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// The model that served it, as the provider names it.
    pub model: Option<String>,
    /// Whether bytes that are no text were replaced.
    pub lossy: bool,
    /// What the endpoint says about its limits with it.
    pub(crate) rates: Rates,
}

/// A header that the task sets.
pub(crate) struct Header {
    name: String,
    value: String,
    /// The secret in it, and the name of its variable.
    secret: Option<(String, String)>,
}

/// Who answers.
pub(crate) enum Kind {
    /// Nobody: a role that is not asked in this run.
    Nobody,
    /// The task's own rules, in this process.
    Scripted,
    /// A chat model behind an API, in its dialect.
    Chat(Box<Client>),
}

impl Kind {
    /// One attempt. What is asked of the task's own rules needs more than the request, and is asked elsewhere.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        match self {
            Self::Nobody => Err(Fault::new(Class::Config, "the role is not asked in this run")),
            Self::Scripted => Err(Fault::new(Class::Config, "rules of the task are no endpoint")),
            Self::Chat(client) => client.ask(request).await,
        }
    }
}

/// An endpoint with its model, and the name of the credential.
type EndpointName = (String, Option<String>);

/// A role's player, and the limiter of its endpoint.
pub(crate) struct PlayerOf {
    pub(crate) kind: Kind,
    pub(crate) limiter: Arc<Limiter>,
}

/// The players of a program's roles, in its order.
pub struct Players(pub(crate) Vec<PlayerOf>, pub(crate) Redactor);

impl Players {
    /// Sets up the players. Every key that is not set is told.
    pub fn new(program: &Program, secrets: Secrets<'_>, concurrency: usize) -> Result<Self, Vec<RunError>> {
        Self::of(program, &|_| true, secrets, concurrency)
    }

    /// Sets up the players of the roles that can be asked; the others need no key.
    pub fn of(
        program: &Program,
        is_asked: &dyn Fn(&str) -> bool,
        secrets: Secrets<'_>,
        concurrency: usize,
    ) -> Result<Self, Vec<RunError>> {
        let (mut players, mut errors) = (Vec::new(), Vec::new());
        // Whatever any role is told is a secret of the run: one server can say what was meant for another.
        let told = RefCell::new(Vec::new());
        let secrets: Secrets<'_> = &|name| {
            let found = secrets(name);
            told.borrow_mut().extend(found.clone().map(|secret| (secret, name.to_owned())));
            found
        };
        let mut connections = None;
        let mut limiters: Vec<(EndpointName, Arc<Limiter>)> = Vec::new();
        for role in &program.roles {
            let kind = match &role.player {
                _ if !is_asked(&role.name) => Kind::Nobody,
                Player::Scripted(_) => Kind::Scripted,
                Player::Http(_) | Player::Command(_) => {
                    let message = format!("this build cannot ask the role `{}` yet", role.name);
                    errors.push(RunError::told(CANNOT_RUN.nowhere(message)));
                    continue;
                }
                Player::Chat(model) => {
                    let Some(key) = key(role, model, secrets, &mut errors) else { continue };
                    let Some(headers) = headers(role, model, secrets, &mut errors) else { continue };
                    let http = match connections.take() {
                        Some(http) => Ok(http),
                        None => client::http(concurrency),
                    };
                    let made = http.and_then(|http: reqwest::Client| {
                        connections = Some(http.clone());
                        Client::new(http, model, key, headers)
                    });
                    match made {
                        Ok(client) => Kind::Chat(Box::new(client)),
                        Err(diagnostic) => {
                            errors.push(RunError::Told(diagnostic));
                            continue;
                        }
                    }
                }
            };
            let name = match &role.player {
                Player::Scripted(_) | Player::Http(_) | Player::Command(_) => (format!("{}/", role.name), None),
                Player::Chat(model) => {
                    (format!("{}\n{}", model.base_url, model.model), model.api_key.as_ref().map(ToString::to_string))
                }
            };
            let limiter = match limiters.iter().find(|(known, _)| *known == name) {
                Some((_, limiter)) => Arc::clone(limiter),
                None => {
                    let limiter = Arc::new(Limiter::new(concurrency));
                    limiters.push((name, Arc::clone(&limiter)));
                    limiter
                }
            };
            players.push(PlayerOf { kind, limiter });
        }
        let redactor = Redactor::new(told.take().into_iter());
        if errors.is_empty() { Ok(Self(players, redactor)) } else { Err(errors) }
    }

    /// What a person should know before the run begins: of each secret that could be a word that it is not taken out of answers.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let weak = self.1.weak().iter().map(|name| {
            let message = format!(
                "{name} is short, or of letters alone: it could be a word, so it is taken out of what goes wrong, and not out of \
                 answers"
            );
            WEAK_SECRET.nowhere(message).help("use a key of at least 12 characters that has digits in it")
        });
        weak.collect()
    }
}

/// The endpoints of roles, to be asked whether they accept key and model. Roles that share all of it are one.
#[derive(Default)]
pub struct Probes {
    all: Vec<Probe>,
    /// What tells endpoints apart: all that is sent to them, secrets too. It is shown to nobody.
    known: Vec<Vec<String>>,
    http: Option<reqwest::Client>,
}

impl Probes {
    /// Adds a role's endpoint; gives its place among the verdicts, and none where the role is no chat model. An error is a
    /// secret that is not set, or that cannot be sent.
    pub fn add(&mut self, role: &Role, secrets: Secrets<'_>) -> Result<Option<usize>, Vec<RunError>> {
        let Player::Chat(model) = &role.player else { return Ok(None) };
        let mut errors = Vec::new();
        let key = key(role, model, secrets, &mut errors);
        let (Some(headers), Some(key)) = (headers(role, model, secrets, &mut errors), key) else { return Err(errors) };
        let mut known = vec![model.dialect.word().to_owned(), model.base_url.to_string(), model.model.to_string()];
        known.extend(key.clone());
        known.extend(headers.iter().flat_map(|header| [header.name.clone(), header.value.clone()]));
        if let Some(at) = self.known.iter().position(|earlier| *earlier == known) {
            return Ok(Some(at));
        }
        let http = match &self.http {
            Some(http) => http.clone(),
            None => probe::http().map_err(|error| vec![error])?,
        };
        self.http = Some(http.clone());
        self.all.push(Probe::new(http, model, key, headers).map_err(|error| vec![error])?);
        self.known.push(known);
        Ok(Some(self.all.len() - 1))
    }

    /// Asks all of them side by side.
    pub fn ask(self) -> Result<Vec<Verdict>, RunError> {
        probe::ask(self.all)
    }
}

/// The key of a model, if it has one; none where it is not set, which is told.
#[expect(clippy::option_option, reason = "no key is wanted, and the key that is wanted is not there")]
fn key(role: &Role, model: &ChatModel, secrets: Secrets<'_>, errors: &mut Vec<RunError>) -> Option<Option<String>> {
    let Some(name) = &model.api_key else { return Some(None) };
    let found = secrets(name).filter(|key| !key.is_empty());
    if found.is_none() {
        errors.push(RunError::told(unset(&role.name, name)));
    }
    found.map(Some)
}

/// The headers of a model, its secrets looked up; each that is not set is told.
fn headers(role: &Role, model: &ChatModel, secrets: Secrets<'_>, errors: &mut Vec<RunError>) -> Option<Vec<Header>> {
    let before = errors.len();
    let mut found = Vec::new();
    for header in &model.headers {
        let (value, secret) = match &header.value {
            HeaderValue::Text(text) => (text.source.to_string(), None),
            HeaderValue::Env { name, prefix } => match secrets(name).filter(|value| !value.is_empty()) {
                Some(value) => (format!("{prefix}{value}"), Some((value, name.to_string()))),
                None => {
                    errors.push(RunError::told(unset(&role.name, name)));
                    continue;
                }
            },
        };
        found.push(Header { name: header.name.to_string(), value, secret });
    }
    (errors.len() == before).then_some(found)
}

fn unset(role: &str, name: &str) -> Diagnostic {
    let message = format!("the role `{role}` needs the environment variable {name}, which is not set");
    KEY_UNSET.nowhere(message).help(format!("set it, or write `{name}=…` into the file `.env` beside the task"))
}
