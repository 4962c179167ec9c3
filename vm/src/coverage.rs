//! Which steps of a program the conversations of a log came to, and which ways they took from there.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_log::Log;
use aigo_machine::{Linked, Taken, Trial};

use crate::again::counted;
use crate::error::RunError;
use crate::recorded::{Found, recorded_trial};

/// Goes through all trials of a log once more, with the log's own program, and gathers what they came to; those that did not
/// end as far as they went.
pub fn coverage(log: &Log, linked: &Arc<Linked>) -> Result<BTreeSet<Taken>, RunError> {
    let mut taken = BTreeSet::new();
    for logged in counted(&linked.program, log)? {
        let (sample, recorded) = recorded_trial(&logged?);
        let (mut trial, mut pending) = Trial::traced(Arc::clone(linked), sample);
        while let Some(next) = pending.pop() {
            if let Found::Answer(answer) = recorded.find(&next.ask) {
                pending.extend(trial.answer(next.lane, answer));
            }
        }
        taken.extend(trial.taken().iter().copied());
    }
    Ok(taken)
}
