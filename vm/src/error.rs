//! What can end a run, and its rows of diagnostics.

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_log::LogError;

/// A key is not set.
pub static KEY_UNSET: Row = Row::error("R0101", "an API key is not set");
/// A chat client cannot be made.
pub static NO_CLIENT: Row = Row::error("R0102", "a connection cannot be set up");
/// A row of the dataset cannot be taken.
pub static BAD_ROW: Row = Row::error("R0103", "a row cannot be taken");
/// A recorded answer does not fit.
pub static DIVERGED: Row = Row::error("R0104", "a recorded answer does not fit what is asked");
/// The program of a log cannot be used.
pub static BAD_PROGRAM: Row = Row::error("R0105", "the program in a log cannot be used");
/// The task or the dataset of an interrupted run has changed.
pub static CHANGED: Row = Row::error("R0106", "the task has changed since the run began");
/// Commands of a task that is not trusted.
pub static NOT_TRUSTED: Row = Row::error("R0140", "commands that are not allowed to run");
/// An application that does not remember.
pub static FORGETS: Row = Row::error("R0141", "an application that forgets");
/// An application that cannot be probed.
pub static NOT_PROBED: Row = Row::error("R0142", "an application that cannot be probed");

/// A limit of cost that cannot be kept.
pub static NO_BOUND: Row = Row::error("R0110", "a limit of cost that cannot be kept");
/// A key is refused.
pub static KEY_REFUSED: Row = Row::error("R0130", "an endpoint refuses the key");
/// A model or an address is not there.
pub static MODEL_REFUSED: Row = Row::error("R0131", "an endpoint does not have the model");
/// An account is empty.
pub static MONEY_GONE: Row = Row::error("R0132", "an endpoint takes no more calls from the account");
/// An endpoint does not want what it is sent.
pub static CALL_REFUSED: Row = Row::error("R0133", "an endpoint refuses the smallest call");
/// The run that answers come from cannot be found.
pub static PARENT_GONE: Row = Row::error("R0190", "the run that answers come from is not there");
/// Scorers cannot be put on recorded conversations.
pub static NO_GRAFT: Row = Row::error("R0191", "scorers that do not fit the recorded conversations");
/// A secret that could be a word.
pub static WEAK_SECRET: Row = Row::warning("R0170", "a secret that could be a word");

/// All rows of running.
pub static ROWS: [&Row; 17] = [
    &KEY_UNSET,
    &NO_CLIENT,
    &BAD_ROW,
    &DIVERGED,
    &BAD_PROGRAM,
    &CHANGED,
    &NO_BOUND,
    &KEY_REFUSED,
    &MODEL_REFUSED,
    &MONEY_GONE,
    &CALL_REFUSED,
    &PARENT_GONE,
    &NO_GRAFT,
    &WEAK_SECRET,
    &NOT_TRUSTED,
    &FORGETS,
    &NOT_PROBED,
];

/// What ends a run before it is through.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunError {
    /// Of this crate, as a diagnostic.
    #[error("{}", .0.message)]
    Told(Box<Diagnostic>),
    /// Of the log.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl RunError {
    pub(crate) fn told(diagnostic: Diagnostic) -> Self {
        Self::Told(Box::new(diagnostic))
    }

    /// As a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Told(diagnostic) => (**diagnostic).clone(),
            Self::Log(error) => error.diagnostic(),
        }
    }
}
