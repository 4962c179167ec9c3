//! `aigo log export --format eval`: a run as a log of Inspect AI.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use aigo_log::{Log, LogError};
use aigo_machine::Linked;
use aigo_report::Summary;
use aigo_report::inspect::{self, Header};
use aigo_report::zip::Zip;
use aigo_vm::{RunError, retrace};

use super::show::Parts;
use crate::command::drive;
use crate::replace::Fresh;
use crate::{exit, out};

/// Why an export did not come about.
enum Failed {
    Log(LogError),
    Write(io::Error),
}

impl From<LogError> for Failed {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

pub(super) fn export(log: &Log, linked: &Arc<Linked>, output: Option<&Path>) -> u8 {
    let Some(path) = output else {
        out::error("an archive is no text: name the file that it is written to, `-o RUN.eval`");
        return exit::USAGE;
    };
    let replayed = match aigo_vm::replay(log) {
        Ok(replayed) => replayed,
        Err(error) => return drive::fail(&error),
    };
    let gone = match aigo_vm::superseded(&linked.program, log) {
        Ok(gone) => gone,
        Err(error) => return drive::fail(&error),
    };
    match write((log, &gone), linked, &replayed.report.finish(), &replayed.digest.to_string(), path) {
        Ok(()) => exit::PASSED,
        Err(Failed::Log(error)) => drive::fail(&RunError::Log(error)),
        Err(Failed::Write(error)) => {
            out::error(&format!("{} cannot be written: {error}", path.display()));
            exit::USAGE
        }
    }
}

/// Writes the file. Trials that have begun again under another number are left out.
fn write(
    (log, gone): (&Log, &BTreeSet<u64>),
    linked: &Arc<Linked>,
    summary: &Summary,
    digest: &str,
    path: &Path,
) -> Result<(), Failed> {
    let created = created(&log.header().id);
    let header = Header {
        run: &log.header().id,
        created: &created,
        task: log.header().task.as_deref().unwrap_or_default(),
        aigo: &log.header().aigo,
        digest,
        summary,
    };
    let mut zip = Zip::new(Fresh::create(path)?);
    zip.add("_journal/start.json", inspect::start(&header).as_bytes())?;
    let mut summaries = Vec::new();
    for number in log.numbers().filter(|number| !gone.contains(number)) {
        let trial = log.trial(number)?;
        let retraced = retrace(linked, &trial);
        let parts = Parts::of(&trial, &retraced);
        let told = parts.told(&trial);
        zip.add(&inspect::sample_name(&told), inspect::sample(&linked.program, &told).as_bytes())?;
        summaries.push(inspect::summary(&told));
    }
    zip.add("summaries.json", format!("[{}]", summaries.join(",")).as_bytes())?;
    zip.add("header.json", inspect::header(&header).as_bytes())?;
    zip.finish()?.finish()?;
    Ok(())
}

/// When a run began, by its id, which begins with the time in UTC; the first day of 1970 where it does not.
fn created(id: &str) -> String {
    let digits = |range: std::ops::Range<usize>| {
        id.get(range).filter(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let parts = (digits(0..4), digits(4..6), digits(6..8), digits(9..11), digits(11..13), digits(13..15));
    match parts {
        (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) => {
            format!("{year}-{month}-{day}T{hour}:{minute}:{second}+00:00")
        }
        _ => "1970-01-01T00:00:00+00:00".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_id_says_when_its_run_began() {
        assert_eq!(super::created("20261130-210750-411c"), "2026-11-30T21:07:50+00:00");
        assert_eq!(super::created("brave-fox"), "1970-01-01T00:00:00+00:00");
    }
}
