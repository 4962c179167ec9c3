//! What `run` and `resume` share: driving trials, and telling what came of it.

use std::path::Path;
use std::sync::Arc;

use aigo_log::{Digest, Journal};
use aigo_machine::Linked;
use aigo_report::Sheet;
use aigo_report::Texts;
use aigo_vm::{Finished, Planned, Players, Progress, RunError, Settings, StopReason, error};

use crate::args::{Color, Driving, Durability, Format, Seal};
use crate::watch::Watch;
use crate::{exit, out};

/// Everything that a drive needs.
pub(crate) struct Drive<'d> {
    pub(crate) linked: Arc<Linked>,
    pub(crate) players: Players,
    pub(crate) journal: Arc<Journal>,
    pub(crate) id: String,
    pub(crate) folder: &'d Path,
    /// The digest of the run, of which nothing has ended.
    pub(crate) digest: Digest,
    /// All conversations of the run.
    pub(crate) conversations: u64,
    /// What gates hold the run against.
    pub(crate) baseline: Option<Arc<Sheet>>,
    pub(crate) next_trial: u64,
    pub(crate) calls_made: u64,
    pub(crate) spent: u64,
    pub(crate) driving: &'d Driving,
}

pub(crate) const fn durability(driving: &Driving) -> aigo_log::Durability {
    match driving.durability {
        Durability::Batch => aigo_log::Durability::Batch,
        Durability::Process => aigo_log::Durability::Process,
    }
}

/// Tells an error and gives its code.
pub(crate) fn fail(error: &RunError) -> u8 {
    let diagnostic = error.diagnostic();
    let help = diagnostic.help.as_deref().map_or_else(String::new, |help| format!("\n  help: {help}"));
    out::error(&format!("[{}] {}{help}", diagnostic.row.code, diagnostic.message));
    exit::of_error(error)
}

/// Drives trials to their ends, prints the report, and gives the exit code.
pub(crate) fn drive(drive: Drive<'_>, planned: impl Iterator<Item = Result<Planned, RunError>>) -> u8 {
    let settings = Settings {
        run: drive.id.clone(),
        concurrency: drive.driving.jobs as usize,
        digest: drive.digest,
        conversations: drive.conversations,
        next_trial: drive.next_trial,
        calls_made: drive.calls_made,
        spent: drive.spent,
    };
    let journal = Arc::clone(&drive.journal);
    let watch = Watch::new(drive.conversations);
    let every = watch.every();
    let show = move |progress: &Progress| watch.show(progress);
    let finished = aigo_vm::run(drive.linked, drive.players, journal, planned, settings, interrupted, (every, show));
    out::undrawn();
    match finished {
        Err(error) => fail(&error),
        Ok(finished) => {
            let finished = Finished { report: finished.report.against(drive.baseline), ..finished };
            let code = tell(&finished, &drive.journal, &drive.id, drive.folder, drive.driving);
            // The journal holds the folder's lock.
            drop(drive.journal);
            if finished.open == 0 && finished.stopped.is_none() {
                seal(drive.folder, drive.driving.seal);
            }
            code
        }
    }
}

/// A log of more than so many bytes is sealed when its run has ended. A smaller one is looked at with `grep` and an editor, and
/// sealing saves little.
const SEALED_FROM: u64 = 8 << 20;

/// Seals a log where that is asked for, or worth it. A log that is not sealed is as good as before.
fn seal(folder: &Path, when: Seal) {
    let is_wanted = match when {
        Seal::Never => false,
        Seal::Always => true,
        Seal::Auto => std::fs::metadata(folder.join("log.jsonl")).is_ok_and(|meta| meta.len() > SEALED_FROM),
    };
    if !is_wanted {
        return;
    }
    match aigo_log::seal(folder) {
        Ok(sealing) => out::note(&format!("sealed: {}", sealing.path.display())),
        Err(error) => out::note(&format!("warning: [{}] the log stays as it is: {error}", error.code())),
    }
}

/// The first Ctrl-C ends new calls and lets those in flight come home; the second ends the process.
pub(crate) fn interrupted(reason: &StopReason, again: bool) {
    if again {
        aigo_vm::end_programs();
        let is_user = matches!(reason, StopReason::Interrupted);
        std::process::exit(i32::from(if is_user { exit::INTERRUPTED } else { exit::TERMINATED }));
    }
    out::note("stopping: calls in flight come home, and the run can be resumed; again to stop at once");
}

fn tell(finished: &Finished, journal: &Journal, id: &str, folder: &Path, driving: &Driving) -> u8 {
    let summary = finished.report.finish();
    let code = match &finished.stopped {
        Some(StopReason::Interrupted) => exit::INTERRUPTED,
        Some(StopReason::Terminated) => exit::TERMINATED,
        Some(StopReason::Log(_)) => exit::LOG,
        Some(StopReason::Diverged(_)) => exit::DIFFERS,
        Some(StopReason::Fault(_)) => exit::FAULT,
        Some(StopReason::Samples(error)) => exit::of_error(error),
        _ => exit::of_results(summary.exit),
    };
    let digest = finished.digest.to_string();
    let strict = strict(&summary, code, driving);
    report(&summary, id, &digest, i32::from(strict), driving.format);
    match &finished.stopped {
        None => {}
        Some(StopReason::Interrupted) => out::note("stopped by the user"),
        Some(StopReason::Terminated) => out::note("stopped by a signal"),
        Some(StopReason::Diverged(what)) => {
            out::error(&format!("[{}] stopped: {what}", error::DIVERGED.code));
        }
        Some(StopReason::Samples(error)) => {
            fail(error);
        }
        Some(StopReason::Fault(what)) => out::error(&format!("stopped by a fault of aigo: {what}")),
        Some(StopReason::Limit(limit)) => out::note(&format!("stopped at {limit}")),
        Some(StopReason::Endpoint(message)) => out::error(&format!("stopped: {message}")),
        Some(StopReason::Log(error)) => out::error(&format!("[{}] {error}", error.code())),
    }
    if let Some(reason) =
        finished.open_reason.as_ref().filter(|_| !matches!(finished.stopped, Some(StopReason::Endpoint(_))))
    {
        out::note(&format!("why a conversation is open: {reason}"));
    }
    if let Some(skew) = finished.skew_s {
        let (by, how) = (skew.abs(), if skew > 0 { "ahead of" } else { "behind" });
        out::note(&format!("warning: this machine's clock is {by} s {how} that of an endpoint"));
    }
    if let (new, again @ 1..) = finished.answers {
        out::note(&format!("{again} answers were used again, {new} are new"));
    }
    if finished.open > 0 {
        out::note(&format!("{} conversations are open: aigo resume {}", finished.open, folder.display()));
    }
    // Without a sound log there is nothing to write the end to, and what does not agree with it must not seal it.
    if !matches!(
        finished.stopped,
        Some(StopReason::Log(_) | StopReason::Diverged(_) | StopReason::Fault(_) | StopReason::Samples(_))
    ) && let Err(error) = finished.seal(journal, i32::from(code))
    {
        return fail(&error);
    }
    let code = strict;
    if driving.reports.is_empty() {
        return code;
    }
    match super::report::write(folder, &driving.reports, Texts::Hidden, Color::Auto) {
        exit::PASSED => code,
        failed if code == exit::PASSED => failed,
        _ => code,
    }
}

/// With `--strict` whatever is missing is 4. The log keeps the code of the results: a replay knows of no flags.
fn strict(summary: &aigo_report::Summary, code: u8, driving: &Driving) -> u8 {
    let missing: u64 = summary.counts.iter().map(|count| count.invalid + count.void + count.open).sum();
    if !driving.strict || code != exit::PASSED || missing == 0 {
        return code;
    }
    out::note(&format!("{missing} verdicts are missing, and `--strict` bears none"));
    exit::INCOMPLETE
}

/// The report, the same for a run and its replay.
pub(crate) fn report(summary: &aigo_report::Summary, id: &str, digest: &str, exit: i32, format: Format) {
    let heading = aigo_report::Heading { run: id, digest, exit };
    match format {
        Format::Json => out::line(&aigo_report::json(summary, heading)),
        Format::Text => {
            // Every part of it is made safe where it is written; colours would not survive a second time.
            let look = super::report::look(Color::Auto);
            out::raw(aigo_report::text(summary, heading, &look).as_bytes());
        }
    }
}
