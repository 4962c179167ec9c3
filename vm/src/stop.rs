//! The one switch that ends a run early: no new call is made after it, and calls in flight come home.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::error::RunError;

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
    /// The samples that come next cannot be taken.
    Samples(Arc<RunError>),
    /// A trial's task has panicked.
    Fault(String),
}

/// The switch. The first reason stays.
#[derive(Debug, Default)]
pub struct Stop {
    stopped: AtomicBool,
    reason: Mutex<Option<StopReason>>,
    told: Notify,
}

impl Stop {
    /// Stops, unless it has been stopped before. That the samples are not those of the run weighs more than what a user or a
    /// limit has asked for.
    pub fn stop(&self, reason: StopReason) {
        let mut known = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        let is_asked_for = |known: &StopReason| {
            use StopReason::{Endpoint, Interrupted, Limit, Terminated};
            matches!(known, Interrupted | Terminated | Limit(_) | Endpoint(_))
        };
        if known.is_none() || (matches!(reason, StopReason::Samples(_)) && known.as_ref().is_some_and(is_asked_for)) {
            *known = Some(reason);
        }
        drop(known);
        self.stopped.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    /// Why, if it has been stopped.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Waits until it is stopped: whoever sleeps wakes up.
    pub(crate) async fn stopped(&self) {
        let told = self.told.notified();
        tokio::pin!(told);
        // Registered before the look, so that a stop in between is not missed.
        told.as_mut().enable();
        if !self.is_stopped() {
            told.await;
        }
    }
}
