//! How far a run is, for whoever looks on. Nothing of a run depends on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aigo_machine::Usage;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Conversations that have ended.
    pub ended: u64,
    /// Conversations that stay open.
    pub open: u64,
    /// Answers that were recorded by this process.
    pub answers: u64,
    /// Attempts that were refused, or failed, and are made again.
    pub again: u64,
    /// Tokens of their prompts and of the answers, as providers counted them.
    pub tokens: u64,
    /// What the run has cost so far, in USD, at the prices of the task; earlier processes included.
    pub spent_usd: f64,
    /// Since this process began.
    pub elapsed: Duration,
}

/// What is counted on the way.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    ended: AtomicU64,
    open: AtomicU64,
    answers: AtomicU64,
    again: AtomicU64,
    tokens: AtomicU64,
    used_again: AtomicU64,
}

impl Meter {
    pub(crate) fn answered(&self, usage: &Usage) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }

    pub(crate) fn asks_again(&self) {
        self.again.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn used_again(&self) {
        self.used_again.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// New answers, and those that were used again.
    pub(crate) fn answers(&self) -> (u64, u64) {
        (self.answers.load(Ordering::Relaxed), self.used_again.load(Ordering::Relaxed))
    }

    pub(crate) fn stays_open(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, spent_usd: f64, elapsed: Duration) -> Progress {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Progress {
            ended: of(&self.ended),
            open: of(&self.open),
            answers: of(&self.answers),
            again: of(&self.again),
            tokens: of(&self.tokens),
            spent_usd,
            elapsed,
        }
    }
}
