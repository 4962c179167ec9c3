//! The players of a program: one for each role, and for each call before and after a sample, with the limiter of its endpoint.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{CallKind, ChatModel, CommandCall, HttpCall, Player, Program, Role, Session, ToolAnswer};
use aigo_machine::{Ask, Linked};

use super::application::{self, Application, Purpose};
use super::client::{self, Client};
use super::process::Start;
use super::program;
use super::reading::Places;
use super::secrets::Redactor;
use super::{Reply, Secrets, Talk, headers, key, unset};
use crate::error::{NO_CLIENT, RunError, WEAK_SECRET};
use crate::fault::{Class, Fault};
use crate::limiter::Limiter;

/// Who answers.
pub(crate) enum Kind {
    /// Nobody: a role that is not asked in this run.
    Nobody,
    /// The task's own rules, in this process.
    Scripted,
    /// A chat model behind an API, in its dialect.
    Chat(Box<Client>),
    /// An application behind HTTP.
    Http(Box<Application>),
    /// An application that is a program.
    Command(Box<program::Program>),
}

impl Kind {
    /// One attempt. What is asked of the task's own rules needs nobody, and is asked elsewhere.
    pub(crate) async fn ask(&self, linked: &Linked, ask: &Ask, talk: &Talk) -> Result<Reply, Fault> {
        match self {
            Self::Nobody => Err(Fault::new(Class::Config, "the role is not asked in this run")),
            Self::Scripted => Err(Fault::new(Class::Config, "rules of the task are no endpoint")),
            Self::Chat(client) => client.ask(&ask.request).await,
            Self::Http(application) => application.ask(linked, &ask.request, talk).await,
            Self::Command(program) => program.ask(&ask.request, talk).await,
        }
    }
}

/// An endpoint with its model, and the name of the credential.
type EndpointName = (String, Option<String>);

/// A role's player, and the limiter of its endpoint.
pub(crate) struct PlayerOf {
    /// The name of the role, or of the call.
    name: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) limiter: Arc<Limiter>,
    /// How often it has answered.
    answers: AtomicU64,
}

impl PlayerOf {
    pub(crate) fn has_answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}

/// The players of a program's roles, in its order, and behind them those of its calls around a sample.
pub struct Players {
    all: Vec<PlayerOf>,
    /// Takes every secret that any of them was told out of what any of them says.
    redactor: Redactor,
}

/// What is being set up.
struct Setup<'s> {
    program: &'s Program,
    secrets: Secrets<'s>,
    concurrency: usize,
    connections: Option<reqwest::Client>,
    errors: Vec<RunError>,
}

impl Players {
    /// Sets up the players. Every key that is not set is told. Programs are not run before [`Players::trusted`] allows it.
    pub fn new(program: &Program, secrets: Secrets<'_>, concurrency: usize) -> Result<Self, Vec<RunError>> {
        Self::only(program, &|_| true, secrets, concurrency)
    }

    /// Sets up the players of the roles that can be asked; the others need no key.
    pub fn only(
        program: &Program,
        is_asked: &dyn Fn(&str) -> bool,
        secrets: Secrets<'_>,
        concurrency: usize,
    ) -> Result<Self, Vec<RunError>> {
        // Whatever any role is told is a secret of the run: one server can say what was meant for another.
        let told = RefCell::new(Vec::new());
        let secrets: Secrets<'_> = &|name| {
            let found = secrets(name);
            told.borrow_mut().extend(found.clone().map(|secret| (secret, name.to_owned())));
            found
        };
        let mut setup = Setup { program, secrets, concurrency, connections: None, errors: Vec::new() };
        let mut players = Vec::new();
        let mut limiters: Vec<(EndpointName, Arc<Limiter>)> = Vec::new();
        let mut add = |name: Arc<str>, endpoint: EndpointName, kind: Kind| {
            let limiter = match limiters.iter().find(|(known, _)| *known == endpoint) {
                Some((_, limiter)) => Arc::clone(limiter),
                None => {
                    let limiter = Arc::new(Limiter::new(concurrency));
                    limiters.push((endpoint, Arc::clone(&limiter)));
                    limiter
                }
            };
            players.push(PlayerOf { name, kind, limiter, answers: AtomicU64::new(0) });
        };
        for role in &program.roles {
            let name = match &role.player {
                Player::Scripted(_) | Player::Http(_) | Player::Command(_) => (format!("{}/", role.name), None),
                Player::Chat(model) => {
                    (format!("{}\n{}", model.base_url, model.model), model.api_key.as_ref().map(ToString::to_string))
                }
            };
            let kind = if is_asked(&role.name) { setup.role(role) } else { Some(Kind::Nobody) };
            if let Some(kind) = kind {
                add(Arc::clone(&role.name), name, kind);
            }
        }
        for (when, calls) in [("setup", &program.setup), ("teardown", &program.teardown)] {
            for (at, call) in calls.iter().enumerate() {
                let name = call.caller(when, at);
                let kind = match &call.does {
                    CallKind::Http(call) => setup.http(&name, call, Places::default(), Purpose::Around),
                    CallKind::Command(call) => setup.command(&name, call, Purpose::Around),
                };
                if let Some(kind) = kind {
                    add(Arc::clone(&name), (name.to_string(), None), kind);
                }
            }
        }
        let errors = setup.errors;
        let redactor = Redactor::new(told.take().into_iter());
        if errors.is_empty() { Ok(Self { all: players, redactor }) } else { Err(errors) }
    }

    /// What a person should know before the run begins: of each secret that could be a word that it is not taken out of answers.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let weak = self.redactor.weak().iter().map(|name| {
            let message = format!(
                "{name} is short, or of letters alone: it could be a word, so it is taken out of what goes wrong, and not out of \
                 answers"
            );
            WEAK_SECRET.nowhere(message).help("use a key of at least 12 characters that has digits in it")
        });
        weak.collect()
    }

    /// Takes the secrets of the run out of what an attempt brings.
    pub(crate) fn clean(&self, outcome: &mut Result<Reply, Fault>) {
        self.redactor.clean(outcome);
    }

    /// The same, and the programs of the task may be run: its folder is trusted. They are started in it.
    #[must_use]
    pub fn trusted(mut self, folder: &Path) -> Self {
        for player in &mut self.all {
            if let Kind::Command(program) = &mut player.kind {
                folder.clone_into(&mut program.start.root);
                program.is_allowed = true;
            }
        }
        self
    }

    /// The player of a role, or of a call around a sample.
    pub(crate) fn of(&self, name: &str) -> Option<&PlayerOf> {
        self.all.iter().find(|player| *player.name == *name)
    }
}

impl Setup<'_> {
    fn role(&mut self, role: &Role) -> Option<Kind> {
        let acts =
            self.program.tools.iter().any(|tool| matches!(&tool.answer, ToolAnswer::Role(by) if *by == role.name));
        let purpose = if acts { Purpose::Tool } else { Purpose::Talk };
        match &role.player {
            Player::Scripted(_) => Some(Kind::Scripted),
            Player::Chat(model) => self.chat(role, model),
            Player::Http(http) => {
                let session = match &http.session {
                    Session::Server { id } => Some(id.clone()),
                    Session::Stateless | Session::Client => None,
                };
                let kind = self.http(&role.name, &http.call, Places { reply: http.reply.clone(), session }, purpose)?;
                let Kind::Http(mut application) = kind else { return Some(kind) };
                application.session = http.session.clone();
                application.streams = http.stream;
                // Who remembers would hear a message twice.
                application.repeats = !http.session.is_sticky() && !self.program.acts_once(&role.name);
                Some(Kind::Http(application))
            }
            Player::Command(command) => self.command(&role.name, &command.call, purpose),
        }
    }

    fn connections(&mut self) -> Option<reqwest::Client> {
        if self.connections.is_none() {
            match client::http(self.concurrency) {
                Ok(made) => self.connections = Some(made),
                Err(diagnostic) => self.errors.push(RunError::Told(diagnostic)),
            }
        }
        self.connections.clone()
    }

    fn chat(&mut self, role: &Role, model: &ChatModel) -> Option<Kind> {
        let key = key(role, model, self.secrets, &mut self.errors)?;
        let headers = headers(&role.name, &model.headers, self.secrets, &mut self.errors)?;
        let http = self.connections()?;
        match Client::new(http, model, key, headers) {
            Ok(client) => Some(Kind::Chat(Box::new(client))),
            Err(diagnostic) => {
                self.errors.push(RunError::Told(diagnostic));
                None
            }
        }
    }

    fn http(&mut self, name: &str, call: &HttpCall, places: Places, purpose: Purpose) -> Option<Kind> {
        let secret: Vec<_> = call
            .headers
            .iter()
            .filter(|header| matches!(header.value, aigo_ir::program::HeaderValue::Env { .. }))
            .cloned()
            .collect();
        let headers = headers(name, &secret, self.secrets, &mut self.errors)?;
        let secret_headers = match application::secret_headers(&headers) {
            Ok(map) => map,
            Err(message) => {
                self.errors.push(RunError::told(NO_CLIENT.nowhere(format!("`{name}`: {message}"))));
                return None;
            }
        };
        let secrets = Redactor::new(headers.into_iter().filter_map(|header| header.secret));
        Some(Kind::Http(Box::new(Application {
            http: self.connections()?,
            call: call.clone(),
            places,
            session: Session::Stateless,
            streams: false,
            purpose,
            repeats: true,
            secret_headers,
            secrets,
        })))
    }

    fn command(&mut self, name: &str, call: &CommandCall, purpose: Purpose) -> Option<Kind> {
        let (mut variables, mut known) = (Vec::new(), Vec::new());
        let before = self.errors.len();
        for (own, from) in &call.env {
            match (self.secrets)(from).filter(|value| !value.is_empty()) {
                Some(value) => {
                    known.push((value.clone(), from.to_string()));
                    variables.push((own.to_string(), value));
                }
                None => self.errors.push(RunError::told(unset(name, from))),
            }
        }
        let start = Start { call: call.clone(), root: PathBuf::new(), variables };
        let secrets = Redactor::new(known.into_iter());
        let program = program::Program { start, purpose, secrets, is_allowed: false };
        (self.errors.len() == before).then(|| Kind::Command(Box::new(program)))
    }
}
