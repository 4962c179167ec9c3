//! Every exit code; 1 (a gate is red) and 4 (undecided, or open samples) come from the report. If several hold: signal, 70, 6, 3, 5, 1, 4, 0.

/// Everything asked for holds.
pub(crate) const PASSED: u8 = 0;
/// Wrong usage, nothing matched, runs that cannot be compared, or something could not be found, read or written.
pub(crate) const USAGE: u8 = 2;
/// The task has errors, also denied warnings and keys that are not set.
pub(crate) const TASK: u8 = 3;
/// A gate is undecided, or something is open, or missing that may not be.
pub(crate) const INCOMPLETE: u8 = 4;
/// A replay differs, or a comparison finds something worse.
pub(crate) const DIFFERS: u8 = 5;
/// A log is damaged, locked, or of an unknown version.
pub(crate) const LOG: u8 = 6;
/// A fault of aigo.
pub(crate) const FAULT: u8 = 70;
/// Interrupted by the user.
pub(crate) const INTERRUPTED: u8 = 130;
/// Ended by a signal.
pub(crate) const TERMINATED: u8 = 143;

/// The code of results: 1 where a gate is red even at the best end, 4 where something is undecided or open, else 0.
pub(crate) fn of_results(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(FAULT)
}

/// The code of what ended a run.
pub(crate) fn of_error(error: &aigo_vm::RunError) -> u8 {
    match error {
        aigo_vm::RunError::Log(_) => LOG,
        // The log's program is at fault, or does not fit this build.
        aigo_vm::RunError::Told(diagnostic) if *diagnostic.row == aigo_vm::error::BAD_PROGRAM => LOG,
        aigo_vm::RunError::Told(_) => TASK,
    }
}
