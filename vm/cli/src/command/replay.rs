//! `aigo replay`: the log's program over the log's answers, and whether this build arrives at the same bytes.

use aigo_log::Log;
use aigo_vm::error::DIVERGED;

use super::drive;
use crate::args::{Format, ReplayArgs};
use crate::{exit, out, runs};

/// How many differences are shown.
const SHOWN: usize = 10;

pub(crate) fn replay(args: &ReplayArgs) -> u8 {
    match runs::open(&args.run, &args.runs) {
        Ok(log) => show(&log, args.format),
        Err(code) => code,
    }
}

/// Replays a log, shows its report, and says whether it is what the log says.
pub(crate) fn show(log: &Log, format: Format) -> u8 {
    let replayed = match aigo_vm::replay(log) {
        Ok(replayed) => replayed,
        Err(error) => return drive::fail(&error),
    };
    let summary = replayed.report.finish();
    let digest = replayed.digest.to_string();
    let recorded_exit = log.end().map_or(summary.exit, |end| end.exit);
    drive::report(&summary, &log.header().id, &digest, recorded_exit, format);
    for divergence in replayed.divergences.iter().take(SHOWN) {
        out::error(&format!("[{}] {divergence}", DIVERGED.code));
    }
    if replayed.divergences.len() > SHOWN {
        out::error(&format!("… and {} more differences", replayed.divergences.len() - SHOWN));
    }
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
