//! Who answers: one file per kind of player.

mod address;
mod anthropic;
mod application;
mod chat;
mod client;
mod events;
mod json;
mod players;
mod probe;
mod process;
mod program;
mod reading;
mod refusal;
mod responses;
mod said;
pub(crate) mod scripted;
mod secrets;
mod shape;
mod talk;
pub mod wire;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{ChatModel, HeaderValue, Player, Role};
use aigo_machine::Answer;

use crate::error::{KEY_UNSET, RunError};
use crate::rates::Rates;
pub use players::Players;
pub(crate) use players::{Kind, PlayerOf};
use probe::Probe;
pub use probe::Verdict;
pub use process::end_programs;
pub(crate) use talk::Talk;

/// Where secrets come from: the value of an environment variable or of `.env`, by name.
pub type Secrets<'s> = &'s dyn Fn(&str) -> Option<String>;

/// What an attempt brings.
#[derive(Clone, Debug, Default, PartialEq)]
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
        let (Some(headers), Some(key)) = (headers(&role.name, &model.headers, secrets, &mut errors), key) else {
            return Err(errors);
        };
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

/// Headers, their secrets looked up; each that is not set is told. `who` needs them: a role, or a call.
fn headers(
    who: &str,
    headers: &[aigo_ir::program::Header],
    secrets: Secrets<'_>,
    errors: &mut Vec<RunError>,
) -> Option<Vec<Header>> {
    let before = errors.len();
    let mut found = Vec::new();
    for header in headers {
        let (value, secret) = match &header.value {
            HeaderValue::Text(text) => (text.source.to_string(), None),
            HeaderValue::Env { name, prefix } => match secrets(name).filter(|value| !value.is_empty()) {
                Some(value) => (format!("{prefix}{value}"), Some((value, name.to_string()))),
                None => {
                    errors.push(RunError::told(unset(who, name)));
                    continue;
                }
            },
        };
        found.push(Header { name: header.name.to_string(), value, secret });
    }
    (errors.len() == before).then_some(found)
}

fn unset(who: &str, name: &str) -> Diagnostic {
    // Calls around a sample are named after when they are made.
    let what = if who.contains('/') { "the call" } else { "the role" };
    let message = format!("{what} `{who}` needs the environment variable {name}, which is not set");
    KEY_UNSET.nowhere(message).help(format!("set it, or write `{name}=…` into the file `.env` beside the task"))
}
