//! What can go wrong with a log: one variant for each thing that its reader would do next.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::text::printable;

/// Bytes that were safely on the disk have changed.
pub(crate) static DAMAGE: Row = Row::error("L0101", "the log is damaged");
/// The end of the log was lost in a crash. Nothing that was acknowledged is gone.
pub(crate) static TORN: Row = Row::warning("L0102", "the log has a torn end");
/// Another process writes the log.
pub(crate) static LOCKED: Row = Row::error("L0103", "another process writes the log");
/// The log was written by a newer version.
pub(crate) static VERSION: Row = Row::error("L0104", "unknown version of the log");
/// The system refused a read, a write or a sync.
pub(crate) static IO: Row = Row::error("L0105", "the log cannot be read or written");
/// The disk is full.
pub(crate) static FULL: Row = Row::error("L0106", "the disk is full");
/// The file is something else.
pub(crate) static NOT_A_LOG: Row = Row::error("L0107", "not a log");
/// A record contradicts another, or names one that is not there.
pub(crate) static MISFIT: Row = Row::error("L0108", "a record refers to one that is missing or does not fit");
/// A record could be written but not be read again.
pub(crate) static UNWRITABLE: Row = Row::error("L0109", "a record that a log cannot hold");
/// The folder of a new run holds files.
pub(crate) static OCCUPIED: Row = Row::error("L0110", "the folder of a new run is not empty");
/// A write after the end.
pub(crate) static FINISHED: Row = Row::error("L0111", "the journal is finished");

/// A sealed log is not what was written.
pub(crate) static BROKEN: Row = Row::error("L0112", "a sealed log is damaged");
/// A sealed log takes no records.
pub(crate) static SEALED: Row = Row::error("L0113", "a sealed log takes no more records");
/// A run that has not ended is not sealed.
pub(crate) static UNFINISHED: Row = Row::error("L0114", "only a run that has ended is sealed");

/// The diagnostics of this crate.
pub static ROWS: [&Row; 14] = [
    &DAMAGE,
    &TORN,
    &LOCKED,
    &VERSION,
    &IO,
    &FULL,
    &NOT_A_LOG,
    &MISFIT,
    &UNWRITABLE,
    &OCCUPIED,
    &FINISHED,
    &BROKEN,
    &SEALED,
    &UNFINISHED,
];

/// Why a log cannot be read or written. Cheap to clone: one failure is told to everyone who waits.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A line that was on the disk for certain is not what was written.
    #[error(
        "{log}: line {line} (at byte {at}) is damaged: {flaw}. The log itself says that all lines up to {durable} were safely on \
         the disk, so this is no torn end of a crash. Nothing was changed; restore the file from a copy"
    )]
    Damage {
        /// The file.
        log: String,
        /// The number of the first bad line.
        line: u64,
        /// Where it begins.
        at: u64,
        /// What is wrong with it.
        flaw: String,
        /// The number of the last line that was on the disk.
        durable: u64,
    },
    /// Another process has the lock.
    #[error(
        "{folder}: another process is writing this run (it holds the file LOCK). Wait until it has ended, or stop it; reading is possible meanwhile"
    )]
    Locked {
        /// The run's folder.
        folder: String,
    },
    /// A format or a kind of record that this version does not know.
    #[error(
        "{log}: line {line} (at byte {at}): unknown version: {what}. Read it with the version of aigo that wrote it, or a newer one"
    )]
    Version {
        /// The file.
        log: String,
        /// The number of the line.
        line: u64,
        /// Where it begins.
        at: u64,
        /// What is unknown.
        what: String,
    },
    /// The system refused.
    #[error(
        "{log}: {doing} failed: {source}. What was acknowledged before is in the log; once the cause is mended, the run can be resumed"
    )]
    Io {
        /// The file.
        log: String,
        /// What was being done.
        doing: &'static str,
        /// The system's words.
        source: Arc<io::Error>,
    },
    /// The system refused when a run was to begin.
    #[error("{log}: {doing} failed: {source}. No run was begun: mend the cause, or name another folder with `--runs`")]
    NotBegun {
        /// The file or folder.
        log: String,
        /// What was done.
        doing: &'static str,
        /// The system's words.
        source: Arc<io::Error>,
    },
    /// The disk, or the share of it that the user may have, is full.
    #[error(
        "{log}: no space is left: {source}. What was acknowledged before is in the log; make room, then resume the run"
    )]
    Full {
        /// The file.
        log: String,
        /// The system's words.
        source: Arc<io::Error>,
    },
    /// The file is something else, or its first line never reached the disk.
    #[error("{log}: not a log: {why}. A run is a folder with log.jsonl in it, whose first line is a `run` record")]
    NotALog {
        /// The file.
        log: String,
        /// What is there instead.
        why: String,
    },
    /// An intact line that contradicts the others: the fault of the program that wrote it.
    #[error(
        "{log}: line {line}: {what}. The bytes are as they were written, so the writer was at fault: report it with this line"
    )]
    Misfit {
        /// The file.
        log: String,
        /// The number of the line.
        line: u64,
        /// What does not fit.
        what: String,
    },
    /// A trial that is not in the log.
    #[error("{log}: no record speaks of trial {trial}. List the trials of this log to see their numbers")]
    NoTrial {
        /// The file.
        log: String,
        /// The number that was asked for.
        trial: u64,
    },
    /// A record that could not be read again. Nothing was written, and the journal goes on.
    #[error("a record `{record}` cannot be written: {why}. Nothing was written")]
    Unwritable {
        /// The kind of the record.
        record: &'static str,
        /// What is too much.
        why: String,
    },
    /// The folder of a new run holds files.
    #[error(
        "{folder}: the folder of a new run must be empty, and `{found}` is in it. Choose another folder, or resume the run that is there"
    )]
    Occupied {
        /// The folder.
        folder: String,
        /// The first file that was seen.
        found: String,
    },
    /// A sealed log is not what was written.
    #[error(
        "{log}: the sealed log is damaged at byte {at}: {what}. It was read back when it was sealed, so it has changed since; restore \
         the file from a copy. `zstd -dc` prints what stands before the damage"
    )]
    Broken {
        /// The file.
        log: String,
        /// Where what is wrong begins.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// A sealed log takes no records.
    #[error("{log}: the run has ended and its log is sealed; it takes no more records. Begin a new run")]
    Sealed {
        /// The file.
        log: String,
    },
    /// A run that has not ended is not sealed.
    #[error("{log}: the log is not sealed: {why}. `aigo resume` brings the run to its end, and then it can be sealed")]
    Unfinished {
        /// The file.
        log: String,
        /// What is missing.
        why: String,
    },
    /// A write after [`crate::Journal::finish`].
    #[error("{log}: the journal is finished and takes no more records. Reopen it to go on")]
    Finished {
        /// The file.
        log: String,
    },
}

impl LogError {
    /// The same where no run has begun yet, so that nothing can be resumed.
    pub(crate) fn at_the_beginning(self) -> Self {
        match self {
            Self::Io { log, doing, source } => Self::NotBegun { log, doing, source },
            Self::Full { log, source } => Self::NotBegun { log, doing: "writing", source },
            other => other,
        }
    }

    /// The kind of this error.
    pub fn row(&self) -> &'static Row {
        match self {
            Self::Damage { .. } => &DAMAGE,
            Self::Locked { .. } => &LOCKED,
            Self::Version { .. } => &VERSION,
            Self::Io { .. } | Self::NotBegun { .. } => &IO,
            Self::Full { .. } => &FULL,
            Self::NotALog { .. } => &NOT_A_LOG,
            Self::Misfit { .. } | Self::NoTrial { .. } => &MISFIT,
            Self::Unwritable { .. } => &UNWRITABLE,
            Self::Occupied { .. } => &OCCUPIED,
            Self::Finished { .. } => &FINISHED,
            Self::Broken { .. } => &BROKEN,
            Self::Sealed { .. } => &SEALED,
            Self::Unfinished { .. } => &UNFINISHED,
        }
    }

    /// Its stable code, `L0101` and the like.
    pub fn code(&self) -> &'static str {
        self.row().code
    }

    /// As a diagnostic: a log has no source text to point at.
    pub fn diagnostic(&self) -> Diagnostic {
        self.row().nowhere(printable(&self.to_string()))
    }

    /// What the system said while `doing` something with the file `log`. A full disk is an error of its own.
    pub(crate) fn io(log: impl Display, doing: &'static str, source: io::Error) -> Self {
        let (log, source) = (printable(&log.to_string()), Arc::new(source));
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full { log, source },
            _ => Self::Io { log, doing, source },
        }
    }
}
