//! Who answers: one file per kind of player.

mod openai;
mod scripted;

use std::sync::Arc;
use std::time::Duration;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::key::KeyWriter;
use aigo_ir::program::{ChatModel, HeaderValue, Player, Program, Role};
use aigo_machine::{Answer, Ask, Linked};
use tokio::sync::SemaphorePermit;

use crate::error::{CANNOT_RUN, KEY_UNSET, RunError};
use crate::fault::{Class, Fault};
use crate::limiter::Limiter;

/// Where secrets come from: the value of an environment variable or of `.env`, by name.
pub type Secrets<'s> = &'s dyn Fn(&str) -> Option<String>;

/// What an attempt brings: the answer, the model that served it, and whether bytes that are no text were replaced.
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) model: Option<String>,
    pub(crate) lossy: bool,
}

enum Kind {
    Scripted,
    OpenAi(Box<openai::Client>),
}

/// An endpoint with its model, and the name of the credential.
type EndpointName = (String, Option<String>);

/// A role's player, and the limiter of its endpoint.
struct PlayerOf {
    kind: Kind,
    limiter: Arc<Limiter>,
}

/// The players of a program's roles, in its order.
pub struct Players(Vec<PlayerOf>);

/// Attempts of one call: the first and its retries.
const MOST_ATTEMPTS: u32 = 6;
/// Rests on request do not count as attempts, and there is an end to them all the same.
const MOST_RESTS: u32 = 60;
const FIRST_PAUSE_MS: u64 = 500;
const LONGEST_PAUSE_MS: u64 = 30_000;

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

    /// Waits for a place at the endpoint of a role. Whoever has it may ask at once: what waits here was not sent.
    pub(crate) async fn enter(
        &self,
        linked: &Linked,
        ask: &Ask,
        stopped: &impl Fn() -> bool,
    ) -> Option<SemaphorePermit<'_>> {
        match self.of(linked, ask) {
            Some((PlayerOf { kind: Kind::OpenAi(_), limiter }, _)) => limiter.enter(stopped).await,
            _ => None,
        }
    }

    fn of<'p, 'l>(&'p self, linked: &'l Linked, ask: &Ask) -> Option<(&'p PlayerOf, &'l Player)> {
        let at = linked.program.roles.iter().position(|role| role.name == ask.request.role)?;
        Some((self.0.get(at)?, &linked.program.roles.get(at)?.player))
    }

    /// Asks until there is an answer, or a fault that repetition does not mend. A fault of the request itself is an answer:
    /// it would come again. The first attempt is made with the permit of [`Players::enter`].
    pub(crate) async fn ask(
        &self,
        linked: &Linked,
        ask: &Ask,
        mut permit: Option<SemaphorePermit<'_>>,
        stopped: impl Fn() -> bool,
    ) -> Result<Reply, Fault> {
        let (limiter, client) = match self.of(linked, ask) {
            Some((PlayerOf { kind: Kind::Scripted, .. }, Player::Scripted(rules))) => {
                let answer = scripted::answer(linked, rules, ask);
                return Ok(Reply { answer, model: None, lossy: false });
            }
            Some((PlayerOf { kind: Kind::OpenAi(client), limiter }, _)) => (limiter, client),
            _ => return Err(Fault::new(Class::Config, format!("nobody plays the role `{}`", ask.request.role))),
        };
        let (mut attempt, mut rests) = (1, 0);
        loop {
            let place = match permit.take() {
                Some(place) => Some(place),
                None => limiter.enter(&stopped).await,
            };
            let outcome = client.ask(&ask.request).await;
            drop(place);
            let fault = match outcome {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            match &fault.class {
                Class::Request(word) => {
                    // What the server said is kept: it is all that tells a wrong parameter from a bad application.
                    let text = fault.message.as_str().into();
                    let answer =
                        Answer { text, stop: "fault".into(), fault: Some((*word).into()), ..Answer::default() };
                    return Ok(Reply { answer, model: None, lossy: false });
                }
                Class::RateLimit(rest) if rests < MOST_RESTS => {
                    rests += 1;
                    limiter.rest(rest.unwrap_or_else(|| pause(ask, rests)));
                }
                Class::Transient | Class::Protocol if attempt < MOST_ATTEMPTS => {
                    attempt += 1;
                    tokio::time::sleep(pause(ask, attempt)).await;
                }
                _ => return Err(fault),
            }
            if stopped() {
                return Err(fault);
            }
        }
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

/// Full jitter: anything from nothing to the doubled pause. Drawn from the call, so that callers who failed together do not
/// come back together, and no source of randomness is needed.
fn pause(ask: &Ask, attempt: u32) -> Duration {
    let most = FIRST_PAUSE_MS.saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE_MS);
    let drawn = KeyWriter::new("aigo.pause").key(&ask.content).u64(u64::from(attempt)).finish().number();
    Duration::from_millis(drawn % (most + 1))
}
