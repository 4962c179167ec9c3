//! Answers of an earlier run, used again: whose can be, and where they are.
//!
//! An answer is found by its content, which holds the draw: the sample's key, the epoch, the graph, the item and the repeat.
//! So answers of different samples, epochs and repeats never stand for one another, and an answer that is found answers
//! exactly this call, wherever it stands in the program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use aigo_ir::program::{ChatModel, Player, Program, Role};
use aigo_ir::value::Value;
use aigo_log::{Log, Trial as LoggedTrial};
use aigo_machine::{Answer, Ask, Linked, Sample};

use crate::error::RunError;
use crate::outcome;
use crate::preview;
use crate::recorded::{content, content_in_digits};

/// How the answers of a role can be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Never, and nothing is lost: rules of the task are computed anew, at no cost. They may read what no message says.
    Computed,
    /// Wherever the content is the same.
    ByContent,
    /// All of a conversation's or none: the application remembers what it was told.
    WholeSample,
    /// Only on request: the name of the model stands for whatever is served under it at the time.
    Floating,
    /// Never: nothing says which version of the application answered.
    Unversioned,
}

/// How the answers of a role can be used again. `floats` says whether a model's name is one of several versions.
pub fn rule(role: &Role, floats: &dyn Fn(&ChatModel) -> bool) -> Rule {
    match &role.player {
        Player::Scripted(_) => Rule::Computed,
        Player::Chat(model) if floats(model) => Rule::Floating,
        Player::Http(http) if http.version.is_none() => Rule::Unversioned,
        Player::Command(command) if command.version.is_none() => Rule::Unversioned,
        Player::Http(http) if http.session.is_sticky() => Rule::WholeSample,
        // The content of applications holds their version and the whole conversation before.
        Player::Chat(_) | Player::Http(_) | Player::Command(_) => Rule::ByContent,
    }
}

/// The rules of a program's roles.
#[derive(Clone, Debug)]
pub struct Rules {
    roles: Vec<(Arc<str>, Rule)>,
    /// Whether conversations are taken as they were recorded, so that their answers are found whoever gave them, and nobody is
    /// asked for one.
    pub conversations_stay: bool,
}

impl Rules {
    /// Of a program. With `reuse_floating`, answers of models with a floating name are used again.
    pub fn new(program: &Program, floats: &dyn Fn(&ChatModel) -> bool, reuse_floating: bool) -> Self {
        let of = |role: &Role| match rule(role, floats) {
            Rule::Floating if reuse_floating => Rule::ByContent,
            rule => rule,
        };
        let roles = program.roles.iter().map(|role| (Arc::clone(&role.name), of(role)));
        Self { roles: roles.collect(), conversations_stay: false }
    }

    /// Of a role; one that is not in the program has no answers.
    pub fn of(&self, role: &str) -> Rule {
        self.roles.iter().find(|(name, _)| **name == *role).map_or(Rule::Unversioned, |(_, rule)| *rule)
    }

    /// Whether the answers of a conversation must be found all together.
    pub(crate) fn has_sessions(&self) -> bool {
        self.roles.iter().any(|(_, rule)| *rule == Rule::WholeSample)
    }

    /// Whether the call is a conversation's, and conversations stay as they are.
    pub(crate) fn keeps(&self, ask: &Ask) -> bool {
        self.conversations_stay && !ask.position.graph.starts_with("score/")
    }
}

/// An answer of an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) answer: Answer,
    pub(crate) model: Option<String>,
    pub(crate) context: Option<Value>,
    pub(crate) lossy: bool,
    /// The line that asked for it, in the log of that run.
    pub(crate) line: u64,
}

/// Why an answer is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bar {
    /// No answer has this content.
    Unknown,
    /// [`Rule::Floating`].
    Floating,
    /// [`Rule::Unversioned`].
    Unversioned,
    /// [`Rule::WholeSample`], and a part of the conversation has changed.
    Session,
    /// What is recorded is a fault that may not come again.
    Fault,
    /// It is a call around a sample, which prepares an application or takes down what was prepared: each run makes its own.
    Around,
}

/// Whether a call is made around a sample, by no role.
fn is_around(ask: &Ask) -> bool {
    !ask.position.graph.contains('/')
}

/// What an earlier run has of one sample in one epoch.
#[derive(Debug)]
pub struct Reusable {
    rules: Arc<Rules>,
    by_content: BTreeMap<String, Held>,
    /// Whether answers of applications that remember may be used.
    sessions: bool,
}

impl Reusable {
    fn new(rules: &Arc<Rules>, trials: &[LoggedTrial]) -> Self {
        let mut by_content = BTreeMap::new();
        for call in trials.iter().flat_map(|trial| &trial.calls) {
            let Some(got) = &call.got else { continue };
            let held = Held {
                answer: Answer { is_reused: true, ..outcome::answer(got) },
                model: got.model.clone(),
                context: got.context.clone(),
                lossy: got.lossy,
                line: call.n,
            };
            by_content.insert(call.ask.content.clone(), held);
        }
        Self { rules: Arc::clone(rules), by_content, sessions: true }
    }

    fn held(&self, ask: &Ask) -> Option<&Held> {
        self.by_content.get(&content(ask)).or_else(|| self.by_content.get(&content_in_digits(ask)))
    }

    /// The answer to a call, or why there is none.
    pub(crate) fn find(&self, ask: &Ask) -> Result<&Held, Bar> {
        let held = self.held(ask);
        if self.rules.keeps(ask) {
            return held.ok_or(Bar::Unknown);
        }
        if is_around(ask) {
            return Err(Bar::Around);
        }
        match self.rules.of(&ask.request.role) {
            Rule::Computed => return Err(Bar::Unknown),
            Rule::Floating => return Err(Bar::Floating),
            Rule::Unversioned => return Err(Bar::Unversioned),
            // What is asked otherwise is told as such; the rest goes with it.
            Rule::WholeSample if !self.sessions && held.is_some() => return Err(Bar::Session),
            Rule::WholeSample | Rule::ByContent => {}
        }
        let held = held.ok_or(Bar::Unknown)?;
        match held.answer.fault.as_deref() {
            Some(fault) if !STAYS.contains(&fault) => Err(Bar::Fault),
            _ => Ok(held),
        }
    }

    /// What a call around the sample brought then: a look ahead takes it that it brings the same again.
    pub(crate) fn around(&self, ask: &Ask) -> Option<&Held> {
        self.held(ask).filter(|_| is_around(ask))
    }

    /// Whether the task's own rules answer.
    pub(crate) fn computes(&self, ask: &Ask) -> bool {
        !self.rules.keeps(ask) && self.rules.of(&ask.request.role) == Rule::Computed
    }

    /// Whether nobody may be asked for this call.
    pub(crate) fn keeps(&self, ask: &Ask) -> bool {
        self.rules.keeps(ask)
    }
}

/// Faults that say what the model makes of the prompt, and would come again.
const STAYS: [&str; 2] = ["filtered", "context_length"];

/// An earlier run whose answers are used again.
pub struct Parent {
    log: Log,
    rules: Arc<Rules>,
    /// The numbers of the trials of each sample in each epoch.
    trials: BTreeMap<(String, u32), Vec<u64>>,
}

impl Parent {
    /// Opens a run: its folder, or its log. All of it is read once.
    pub fn open(path: &Path, rules: Rules) -> Result<Self, RunError> {
        Self::of(Log::open(path)?, rules)
    }

    /// Of a log that is open.
    pub fn of(log: Log, rules: Rules) -> Result<Self, RunError> {
        let mut trials: BTreeMap<(String, u32), Vec<u64>> = BTreeMap::new();
        for trial in log.trials() {
            let open = trial?.open;
            trials.entry((open.key, open.epoch)).or_default().push(open.trial);
        }
        Ok(Self { log, rules: Arc::new(rules), trials })
    }

    /// The run's log.
    pub const fn log(&self) -> &Log {
        &self.log
    }

    /// The run's log, back again.
    pub fn into_log(self) -> Log {
        self.log
    }

    /// Whether it has begun the sample in the epoch.
    pub fn has(&self, key: &str, epoch: u32) -> bool {
        self.trials.contains_key(&(key.to_owned(), epoch))
    }

    /// Every sample with its epoch, in order.
    pub fn samples(&self) -> impl Iterator<Item = (&str, u32)> {
        self.trials.keys().map(|(key, epoch)| (&**key, *epoch))
    }

    /// What the log has of a sample in an epoch, the last beginning last.
    pub fn recorded(&self, key: &str, epoch: u32) -> Result<Vec<LoggedTrial>, RunError> {
        let numbers = self.trials.get(&(key.to_owned(), epoch)).into_iter().flatten();
        Ok(numbers.map(|number| self.log.trial(*number)).collect::<Result<_, _>>()?)
    }

    /// The answers that can be used again for a sample. Where an application remembers its conversation, it is looked ahead
    /// whether all of its answers are found.
    pub fn answers(&self, linked: &Arc<Linked>, sample: &Arc<Sample>) -> Result<Reusable, RunError> {
        let trials = self.recorded(&sample.key, sample.epoch)?;
        let mut reusable = Reusable::new(&self.rules, &trials);
        if self.rules.has_sessions() {
            let ahead = preview::preview(linked, sample, &reusable);
            let of_session = |role: &str| self.rules.of(role) == Rule::WholeSample;
            let is_whole = !ahead.misses.iter().any(|miss| of_session(&miss.ask.request.role));
            reusable.sessions = ahead.is_solved && is_whole;
        }
        Ok(reusable)
    }
}
