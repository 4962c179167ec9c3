//! What stands at the head of a report.

use crate::{GateResult, Summary};

/// What a report says of a run beside its results.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'r> {
    /// The run's name.
    pub run: &'r str,
    /// The digest, as 64 digits.
    pub digest: &'r str,
    /// The exit code of the run. It is not [`Summary::exit`] where the run was interrupted.
    pub exit: i32,
}

impl<'r> Heading<'r> {
    /// As much of the digest as people compare.
    pub(crate) fn short(&self) -> &'r str {
        self.digest.get(..12).unwrap_or(self.digest)
    }
}

/// What the results of a run are in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Every gate passes.
    Passed,
    /// No gate has decided anything: there is none, or all were skipped.
    Done,
    /// A gate is red.
    Failed,
    /// Something is open or undecided.
    Incomplete,
}

impl Word {
    pub(crate) fn of(summary: &Summary, exit: i32) -> Self {
        match summary.exit {
            // What has stopped the run is no result of it.
            _ if !matches!(exit, 0..=5) || exit == 3 => Self::Incomplete,
            0 if summary.gates.iter().all(|gate| gate.result == GateResult::Skipped) => Self::Done,
            0 => Self::Passed,
            1 => Self::Failed,
            _ => Self::Incomplete,
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        }
    }
}
