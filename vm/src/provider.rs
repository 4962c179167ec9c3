//! Who answers: one file per kind of player.

mod openai;
pub(crate) mod scripted;

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{ChatModel, HeaderValue, Player, Program, Role};
use aigo_machine::{Answer, Request};

use crate::error::{CANNOT_RUN, KEY_UNSET, RunError};
use crate::fault::{Class, Fault};
use crate::limiter::Limiter;
use crate::rates::Rates;

/// Where secrets come from: the value of an environment variable or of `.env`, by name.
pub type Secrets<'s> = &'s dyn Fn(&str) -> Option<String>;

/// What an attempt brings: the answer, the model that served it, and whether bytes that are no text were replaced.
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) model: Option<String>,
    pub(crate) lossy: bool,
    /// What the endpoint says about its limits with it.
    pub(crate) rates: Rates,
}

/// Who answers.
pub(crate) enum Kind {
    /// The task's own rules, in this process.
    Scripted,
    /// Chat completions.
    OpenAi(Box<openai::Client>),
}

impl Kind {
    /// One attempt. What is asked of the task's own rules needs more than the request, and is asked elsewhere.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        match self {
            Self::Scripted => Err(Fault::new(Class::Config, "rules of the task are no endpoint")),
            Self::OpenAi(client) => client.ask(request).await,
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
pub struct Players(pub(crate) Vec<PlayerOf>);

impl Players {
    /// Sets up the players. Every key that is not set is told.
    pub fn new(program: &Program, secrets: Secrets<'_>, concurrency: usize) -> Result<Self, Vec<RunError>> {
        let (mut players, mut errors) = (Vec::new(), Vec::new());
        let mut limiters: Vec<(EndpointName, Arc<Limiter>)> = Vec::new();
        for role in &program.roles {
            let kind = match &role.player {
                Player::Scripted(_) => Kind::Scripted,
                Player::Http(_) | Player::Command(_) => {
                    let message = format!("this build cannot ask the role `{}` yet", role.name);
                    errors.push(RunError::told(CANNOT_RUN.nowhere(message)));
                    continue;
                }
                Player::Chat(model) => {
                    let key = model.api_key.as_ref().map(|name| (name, secrets(name).filter(|key| !key.is_empty())));
                    if let Some((name, None)) = &key {
                        errors.push(RunError::told(unset(&role.name, name)));
                        continue;
                    }
                    let Some(headers) = headers(role, model, secrets, &mut errors) else { continue };
                    match openai::Client::new(model, key.and_then(|(_, key)| key), headers, concurrency) {
                        Ok(client) => Kind::OpenAi(Box::new(client)),
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
        if errors.is_empty() { Ok(Self(players)) } else { Err(errors) }
    }
}

/// The headers of a model, its secrets looked up; each that is not set is told.
fn headers(
    role: &Role,
    model: &ChatModel,
    secrets: Secrets<'_>,
    errors: &mut Vec<RunError>,
) -> Option<Vec<openai::Header>> {
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
        found.push(openai::Header { name: header.name.to_string(), value, secret });
    }
    (errors.len() == before).then_some(found)
}

fn unset(role: &str, name: &str) -> Diagnostic {
    let message = format!("the role `{role}` needs the environment variable {name}, which is not set");
    KEY_UNSET.nowhere(message).help(format!("set it, or write `{name}=…` into the file `.env` beside the task"))
}
