//! The lock: what makes the scores of two runs comparable, pinned in a file beside the task.
//!
//! ```text
//! Program, Dataset -> Lock::of -> Lock ─┐
//! aigo.lock -> LockFile::read -> Lock ──┴-> moved -> findings
//! ```
//! A [`Lock`] is a list of [`Pin`]s, one for each thing: a rubric, the model of a judge, a persona. The assistant under test,
//! comments, descriptions and names of files are not pinned.

mod alike;
mod moves;
mod pins;
mod stage;
mod text;

pub use alike::{Unlike, unlike};
pub use moves::{Move, moved};
pub(crate) use stage::Beside;

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::span::Origin;
use aigo_ir::value::Value;

/// The name of the file, in the folder of the tasks that it is about.
pub const LOCK_FILE: &str = "aigo.lock";

/// What a compilation says of the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// A stale lock is a warning, and so is that there is none where scores decide and depend on a model.
    #[default]
    Told,
    /// Anything that moved is an error, and so is that there is none.
    Required,
    /// Nothing: the lock is about to be written.
    Ignored,
}

/// What is pinned of one task, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// No two of a kind have one name.
    pub pins: Vec<Pin>,
}

/// One thing that is pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// What it is.
    pub kind: Kind,
    /// Whose it is: a role, a scorer, a solve graph, a persona, a tool.
    pub name: Arc<str>,
    /// What must stay as it is. `hash` is the beginning of a hash of the content; the others are for people to read.
    pub facts: Vec<(Arc<str>, Value)>,
    /// Where the task says so; of one that was read from a file, nowhere.
    pub origin: Origin,
}

impl Pin {
    /// A pin that was written elsewhere; none where nothing is pinned under that word.
    pub fn written(kind: &str, name: Arc<str>, facts: Vec<(Arc<str>, Value)>) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|known| known.word() == kind)?;
        Some(Self { kind, name, facts, origin: Origin::default() })
    }

    fn fact(&self, key: &str) -> Option<&Value> {
        self.facts.iter().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }

    /// Whether two pins hold the same, in whatever order it is written.
    fn agrees(&self, other: &Self) -> bool {
        self.facts.len() == other.facts.len() && self.facts.iter().all(|(key, value)| other.fact(key) == Some(value))
    }
}

/// What can be pinned, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The samples.
    Dataset,
    /// What the task's own steps say as the user.
    Script,
    /// A part of the library, by its version.
    Library,
    /// Who plays a role, but for the assistant under test.
    Model,
    /// A judge's rubric, or what it is to find.
    Rubric,
    /// The values that a judged scorer gives, and the least that passes.
    Scale,
    /// What those values mean.
    Anchors,
    /// The verdicts that a judge is shown.
    Examples,
    /// What aigo itself tells a judge.
    Prompt,
    /// How a judged scorer comes to its verdict.
    Scoring,
    /// What a simulated user is told.
    Simulator,
    /// When a conversation with a simulated user ends.
    StopRule,
    /// A persona.
    Persona,
    /// The limits of a sample.
    Limits,
    /// What the world is at the start.
    World,
    /// How a tool answers.
    Tool,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 16] = [
        Self::Dataset,
        Self::Script,
        Self::Library,
        Self::Model,
        Self::Rubric,
        Self::Scale,
        Self::Anchors,
        Self::Examples,
        Self::Prompt,
        Self::Scoring,
        Self::Simulator,
        Self::StopRule,
        Self::Persona,
        Self::Limits,
        Self::World,
        Self::Tool,
    ];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Script => "script",
            Self::Library => "library",
            Self::Model => "model",
            Self::Rubric => "rubric",
            Self::Scale => "scale",
            Self::Anchors => "anchors",
            Self::Examples => "examples",
            Self::Prompt => "prompt",
            Self::Scoring => "scoring",
            Self::Simulator => "simulator",
            Self::StopRule => "stop_rule",
            Self::Persona => "persona",
            Self::Limits => "limits",
            Self::World => "world",
            Self::Tool => "tool",
        }
    }
}

/// A lock file: the locks of the tasks of one folder, by the names of their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockFile {
    /// The locks.
    pub tasks: BTreeMap<String, Lock>,
}

/// The name of a task's file, by which a lock file knows it.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
