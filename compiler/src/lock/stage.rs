//! A compilation's look at the lock beside its task.

use std::io::{self, Read as _};

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::message::ASSISTANT;
use aigo_ir::program::Program;
use aigo_ir::span::{SourceMap, Span};
use aigo_source::MAX_FILE_BYTES;

use super::{LOCK_FILE, Lock, LockFile, Locking, Move, file_name, moved};
use crate::ast::{Model, Player};
use crate::catalog;
use crate::dataset::Dataset;
use crate::resolve::Resolved;
use crate::sources::Sources;

/// How many of the things that moved a warning names.
const NAMED: usize = 3;

/// What lies beside a task.
pub(crate) struct Beside<'p> {
    what: What,
    locking: Locking,
    /// What the user calls the task.
    path: &'p str,
    /// Where what has no place of its own is told.
    place: Span,
}

enum What {
    /// No lock, or none that is looked at.
    Nothing,
    /// A lock file of other tasks.
    Others,
    /// One that cannot be read, which is told.
    Unreadable,
    /// The task's own lock.
    Lock(Lock),
}

impl<'p> Beside<'p> {
    /// Looks for the lock of a task.
    pub(crate) fn find(
        (path, place): (&'p str, Span),
        locking: Locking,
        world: &dyn Sources,
        sources: &mut SourceMap,
        found: &mut Diagnostics,
    ) -> Self {
        let before = found.len();
        let file = if locking == Locking::Ignored { None } else { read(world, sources, found) };
        let what = match file {
            _ if found.len() > before => What::Unreadable,
            None => What::Nothing,
            Some(mut file) => file.tasks.remove(file_name(path)).map_or(What::Others, What::Lock),
        };
        Self { what, locking, path, place }
    }

    /// Whether there is a lock that the task is held to.
    pub(crate) const fn is_locked(&self) -> bool {
        matches!(self.what, What::Lock(_))
    }

    /// Why the task is not locked; none where it is, or where that is not known.
    fn lacks(&self) -> Option<&'static str> {
        match &self.what {
            What::Nothing => Some("there is no `aigo.lock` beside it"),
            What::Others => Some("`aigo.lock` beside it has no such task"),
            What::Unreadable | What::Lock(_) => None,
        }
    }

    fn help_to_lock(&self) -> String {
        format!("run `aigo lock {}`, and commit `aigo.lock`", self.path)
    }

    /// Tells that no lock has the task, where one is required.
    pub(crate) fn require(&self, found: &mut Diagnostics) {
        if let (Some(why), Locking::Required) = (self.lacks(), self.locking) {
            let message = format!("this task is not locked: {why}");
            found.push(catalog::LACKS_LOCK.at(self.place, message).help(self.help_to_lock()));
        }
    }

    /// Tells that no lock has the task, where it matters: where no gate decides, and where no model plays an instrument, nothing
    /// is lost by a change that nobody noticed.
    pub(crate) fn advise(&self, resolved: &Resolved, found: &mut Diagnostics) {
        let (Some(why), Locking::Told) = (self.lacks(), self.locking) else { return };
        let is_instrument = |model: &&Model| {
            let role = &model.role.value;
            role != ASSISTANT && matches!(model.player, Player::Chat(_)) && resolved.asked.contains(role)
        };
        let model = resolved.task.models.iter().find(is_instrument);
        if let Some(model) = model.filter(|_| !resolved.task.gates.is_empty()) {
            let message = format!(
                "gates decide on scores that depend on the model of `{}`, and nothing tells when it changes: {why}",
                model.role.value
            );
            found.push(catalog::NOT_LOCKED.at(model.role.span, message).help(self.help_to_lock()));
        }
    }

    /// Holds a program and its samples to what was locked.
    pub(crate) fn hold(&self, program: &Program, dataset: &Dataset, found: &mut Diagnostics) {
        let What::Lock(locked) = &self.what else { return };
        let moves = moved(locked, &Lock::of(program, dataset));
        let help = || {
            let path = self.path;
            format!(
                "if that is meant, run `aigo lock {path}`; scores from before it are not comparable with later ones"
            )
        };
        let place = |one: &Move| one.origin.0.unwrap_or(self.place);
        if self.locking == Locking::Required {
            for one in moves {
                let message = format!("since the task was locked, {}", one.what);
                found.push(catalog::MOVED.at(place(&one), message).help(help()));
            }
            return;
        }
        let Some(first) = moves.first() else { return };
        let mut whats: Vec<&str> = moves.iter().take(NAMED).map(|one| &*one.what).collect();
        let more = format!("{} more", moves.len().saturating_sub(NAMED));
        if moves.len() > NAMED {
            whats.push(&more);
        }
        let message = format!("the lock is stale: {}", whats.join("; "));
        let mut warning = catalog::STALE_LOCK.at(place(first), message).help(help());
        for one in moves.iter().skip(1).take(NAMED - 1) {
            if let Some(span) = one.origin.0.filter(|span| first.origin.0 != Some(*span)) {
                warning = warning.related(span, one.what.clone());
            }
        }
        found.push(warning);
    }
}

/// Reads the lock file beside a task; none where there is none, and where it cannot be read, which is reported.
fn read(world: &dyn Sources, sources: &mut SourceMap, found: &mut Diagnostics) -> Option<LockFile> {
    let mut bytes = Vec::new();
    let read = world.open(LOCK_FILE).and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return None,
        Err(error) => {
            let file = sources.add(world.name(LOCK_FILE), "");
            let message = format!("the lock cannot be read: {error}");
            let help = "make it a file that this user may read, or delete it and lock again";
            found.push(catalog::BAD_LOCK.at(Span::new(file, 0, 0), message).help(help));
            return None;
        }
        Ok(_) => {}
    }
    let file = sources.add(world.name(LOCK_FILE), String::from_utf8_lossy(&bytes).into_owned());
    match aigo_source::decode(&bytes, file) {
        Ok(text) => Some(LockFile::read(text, file, found)),
        Err(diagnostic) => {
            found.push(*diagnostic);
            None
        }
    }
}
