//! A compilation's look at the lock beside its task.

use std::io::{self, Read as _};

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::program::{Player, Program};
use aigo_ir::span::{SourceMap, Span};
use aigo_source::MAX_FILE_BYTES;

use super::{LOCK_FILE, Lock, LockFile, Locking, file_name, moved, pins};
use crate::catalog;
use crate::dataset::Dataset;
use crate::sources::Sources;

/// How many of the things that moved a warning names.
const NAMED: usize = 3;

/// Holds a compiled task to the lock beside it. `task` is what the user calls it, `place` where what has no place is told.
pub(crate) fn check(
    (program, dataset): (&Program, &Dataset),
    task: (&str, Span),
    locking: Locking,
    world: &dyn Sources,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) {
    if locking == Locking::Ignored {
        return;
    }
    let before = found.len();
    let file = read(world, sources, found);
    if found.len() > before {
        return;
    }
    let (path, place) = task;
    let name = file_name(path);
    let locked = file.as_ref().and_then(|file| file.tasks.get(name));
    let Some(locked) = locked else { return unlocked(program, task, file.is_some(), locking, found) };
    let moves = moved(locked, &Lock::of(program, dataset));
    let help = || {
        format!("if that is meant, run `aigo lock {path}`; scores from before it are not comparable with later ones")
    };
    if locking == Locking::Required {
        for one in moves {
            let message = format!("since the task was locked, {}", one.what);
            found.push(catalog::MOVED.at(one.origin.0.unwrap_or(place), message).help(help()));
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
    let mut warning = catalog::STALE_LOCK.at(first.origin.0.unwrap_or(place), message).help(help());
    for one in moves.iter().skip(1).take(NAMED - 1) {
        if let Some(span) = one.origin.0.filter(|span| first.origin.0 != Some(*span)) {
            warning = warning.related(span, one.what.clone());
        }
    }
    found.push(warning);
}

/// The lock beside a task; none where there is none, and where it cannot be read, which is reported.
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

/// A task that no lock has.
fn unlocked(program: &Program, task: (&str, Span), has_file: bool, locking: Locking, found: &mut Diagnostics) {
    let (path, place) = task;
    let why = if has_file { "`aigo.lock` beside it has no such task" } else { "there is no `aigo.lock` beside it" };
    let help = format!("run `aigo lock {path}`, and commit `aigo.lock`");
    if locking == Locking::Required {
        found.push(catalog::LACKS_LOCK.at(place, format!("this task is not locked: {why}")).help(help));
        return;
    }
    // Where no gate decides, and where no model plays an instrument, nothing is lost by a change that nobody noticed.
    let mut models = pins::instruments(program).into_iter().filter(|role| matches!(role.player, Player::Chat(_)));
    if let (Some(role), false) = (models.next(), program.gates.is_empty()) {
        let message = format!(
            "gates decide on scores that depend on the model of `{}`, and nothing tells when it changes: {why}",
            role.name
        );
        found.push(catalog::NOT_LOCKED.at(role.origin.0.unwrap_or(place), message).help(help));
    }
}
