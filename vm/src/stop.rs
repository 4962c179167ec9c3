//! The one switch that ends a run early: no new call is made after it, and calls in flight come home.

use std::sync::{Mutex, PoisonError};

/// Why a run stops early. Its samples that have not ended are open, and the run can be resumed.
#[derive(Clone, Debug)]
pub enum StopReason {
    /// The user asked for it.
    Interrupted,
    /// The system asked for it: SIGTERM, as CI and containers send it.
    Terminated,
    /// A limit of the run was reached.
    Limit(String),
    /// An endpoint refuses everything: key, quota or address are wrong.
    Endpoint(String),
    /// The log cannot be written.
    Log(aigo_log::LogError),
    /// A trial that has ended does not come to the same again: the log was changed, or this build derives differently.
    Diverged(String),
    /// A trial's task has panicked.
    Fault(String),
}

/// The switch. The first reason stays.
#[derive(Debug, Default)]
pub struct Stop {
    reason: Mutex<Option<StopReason>>,
}

impl Stop {
    /// Stops, unless it has been stopped before.
    pub fn stop(&self, reason: StopReason) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    /// Why, if it has been stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
