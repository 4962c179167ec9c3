//! `aigo replay`: a log's program over its recorded answers, offline; this build arrives at the same bytes. With a task, that
//! task over the same answers.

use std::num::NonZeroUsize;

use aigo_log::Log;
use aigo_vm::error::DIVERGED;
use aigo_vm::{Replayed, Schedule};

use super::{against, drive};
use crate::args::{Format, ReplayArgs};
use crate::{exit, out, runs};

/// How many differences are shown.
const SHOWN: usize = 10;

pub(crate) fn replay(args: &ReplayArgs) -> u8 {
    replayed(args).unwrap_or_else(|code| code)
}

fn replayed(args: &ReplayArgs) -> Result<u8, u8> {
    let log = runs::open(&args.run, &args.runs)?;
    let jobs = args.jobs.and_then(|jobs| NonZeroUsize::new(usize::from(jobs)));
    let schedule = Schedule { jobs, shuffle: args.shuffle };
    if let Some(task) = &args.task {
        let (log, replayed) = against::replayed(log, task, &schedule)?;
        return Ok(of_task(&log, &replayed, args));
    }
    let replayed = aigo_vm::replay_in(&log, &schedule).map_err(|error| drive::fail(&error))?;
    Ok(of_log(&log, &replayed, args.format))
}

/// Replays a log, shows its report, and says whether it is what the log says.
pub(crate) fn show(log: &Log, format: Format) -> u8 {
    match aigo_vm::replay(log) {
        Ok(replayed) => of_log(log, &replayed, format),
        Err(error) => drive::fail(&error),
    }
}

/// What became of the log's own program.
fn of_log(log: &Log, replayed: &Replayed, format: Format) -> u8 {
    let summary = replayed.report.finish();
    let digest = replayed.digest.to_string();
    let recorded_exit = log.end().map_or(summary.exit, |end| end.exit);
    drive::report(&summary, &log.header().id, &digest, recorded_exit, format);
    tell(replayed);
    match log.end() {
        None => out::note("the run has not ended: `aigo resume` goes on with it"),
        Some(end) if end.digest.to_string() != digest => {
            out::error(&format!("the digest is {digest}, and the log says {}", end.digest));
            return exit::DIFFERS;
        }
        // Codes of results follow from the results; those of interruptions and faults do not.
        Some(end) if (0..=4).contains(&end.exit) && end.exit != summary.exit => {
            out::error(&format!("the exit code is {}, and the log says {}", summary.exit, end.exit));
            return exit::DIFFERS;
        }
        Some(_) if replayed.divergences.is_empty() => out::note("replayed: the same digest"),
        Some(_) => {}
    }
    if replayed.divergences.is_empty() { exit::PASSED } else { exit::DIFFERS }
}

/// What became of a task over the log's answers.
fn of_task(log: &Log, replayed: &Replayed, args: &ReplayArgs) -> u8 {
    let summary = replayed.report.finish();
    let code = if replayed.divergences.is_empty() { exit::PASSED } else { exit::DIFFERS };
    drive::report(&summary, &log.header().id, &replayed.digest.to_string(), i32::from(code), args.format);
    tell(replayed);
    let differ = replayed.divergences.len();
    if differ == 0 {
        out::note("the task asks for nothing else than was recorded, and comes to the same");
    } else {
        out::note(&format!(
            "{differ} conversations differ; `aigo run TASK --from RUN` asks again for what has changed"
        ));
    }
    code
}

fn tell(replayed: &Replayed) {
    for divergence in replayed.divergences.iter().take(SHOWN) {
        out::error(&format!("[{}] {divergence}", DIVERGED.code));
    }
    if replayed.divergences.len() > SHOWN {
        out::error(&format!("… and {} more differences", replayed.divergences.len() - SHOWN));
    }
}
