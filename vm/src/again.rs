//! Trials that begin again: those whose application kept something between two calls that is gone.

use std::collections::{BTreeMap, BTreeSet};

use aigo_ir::program::Program;
use aigo_log::{Log, LogError, Trial};

use crate::error::RunError;

/// Whether an interrupted trial has to begin again: it has asked an application whose session or process is gone. Nothing of
/// it is used; all that it has asked is asked, and bought, again.
pub fn begins_again(program: &Program, trial: &Trial) -> bool {
    trial.close.is_none() && trial.calls.iter().any(|call| program.begins_again(&call.site.role))
}

/// The numbers of the trials of a log that count, in its order.
pub(crate) fn standing(program: &Program, log: &Log) -> Result<Vec<u64>, RunError> {
    let gone = superseded(program, log)?;
    Ok(log.numbers().filter(|number| !gone.contains(number)).collect())
}

/// The trials of a log that count, in its order.
pub fn counted<'l>(
    program: &Program,
    log: &'l Log,
) -> Result<impl Iterator<Item = Result<Trial, LogError>> + 'l, RunError> {
    Ok(standing(program, log)?.into_iter().map(|number| log.trial(number)))
}

/// The trials of a log that have begun again under another number: nothing of them counts.
pub fn superseded(program: &Program, log: &Log) -> Result<BTreeSet<u64>, RunError> {
    let mut gone = BTreeSet::new();
    if program.roles.iter().all(aigo_ir::program::Role::resumes) {
        return Ok(gone);
    }
    let mut last: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for trial in log.trials() {
        let open = trial?.open;
        // The one that began last counts, in whatever order a log has them.
        let known = last.entry((open.key, open.epoch)).or_insert(open.trial);
        if *known != open.trial {
            gone.insert((*known).min(open.trial));
            *known = (*known).max(open.trial);
        }
    }
    Ok(gone)
}
