//! `aigo replay RUN --task T`: a task over the answers of a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use aigo_log::Log;
use aigo_machine::{Linked, Sample};
use aigo_vm::{Against, Parent, Replayed, RunError, Schedule, error};

use super::{drive, from, run};
use crate::world::Folder;
use crate::{exit, out, select, task};

/// Runs the task over the answers of the log, offline.
pub(crate) fn replayed(log: Log, path: &Path, schedule: &Schedule) -> Result<(Log, Replayed), u8> {
    let mut task = task::load(path)?;
    select::as_recorded(&mut task, log.header())?;
    let linked = Linked::new(task.program.clone()).map_err(|violations| {
        for violation in &violations {
            out::error(&violation.to_string());
        }
        exit::FAULT
    })?;
    let linked = Arc::new(linked);
    let fail = |error: RunError| drive::fail(&error);
    let index = Parent::of(log, from::rules(&task.program, false)).map_err(fail)?;
    let world = Folder::new(&task.root);
    let mut rows: BTreeMap<Arc<str>, aigo_compiler::Row> = BTreeMap::new();
    let mut unrecorded: Vec<(Arc<str>, u32)> = Vec::new();
    for row in task.dataset.rows(&world) {
        let row = row.map_err(|message| fail(RunError::Told(Box::new(error::BAD_ROW.nowhere(message)))))?;
        if task.chosen.has(&row.key) {
            let epochs = (1..=task.program.epochs).filter(|epoch| !index.has(&row.key, *epoch));
            unrecorded.extend(epochs.map(|epoch| (Arc::clone(&row.key), epoch)));
            rows.insert(Arc::clone(&row.key), row);
        }
    }
    // A run that was stopped has not begun all of its samples.
    let begun = index.samples().count() as u64;
    if index.log().header().trials.is_some_and(|all| all > begun) {
        unrecorded.clear();
    }
    let epochs = task.program.epochs;
    let sample = |key: &str, epoch: u32| -> Option<Arc<Sample>> {
        let row = rows.get(key).filter(|_| epoch <= epochs)?;
        Some(Arc::new(run::sample(row, epoch)))
    };
    let against = Against { linked: &linked, sample: &sample, unrecorded: &unrecorded };
    let replayed = aigo_vm::replay_against(index.log(), &against, schedule).map_err(fail)?;
    Ok((index.into_log(), replayed))
}
