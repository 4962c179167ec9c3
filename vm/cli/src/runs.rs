//! Where runs are, and what they are called.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use aigo_ir::key::KeyWriter;
use aigo_log::Log;
use aigo_vm::RunError;

use crate::command::drive;
use crate::{exit, out};

/// A new run's id: the time in UTC to the second, its milliseconds in hexadecimal, and two digits that tell runs of one
/// millisecond apart. Ids sort by time: `last` is the one that began last.
pub(crate) fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(now.as_secs() / 86_400);
    let second = now.as_secs() % 86_400;
    let mut writer = KeyWriter::new("aigo.run.id");
    writer.u64(u64::from(std::process::id())).u64(u64::from(now.subsec_nanos())).u64(now.as_secs());
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (milliseconds, apart) = (now.subsec_millis(), writer.finish().hex(1));
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{milliseconds:03x}{apart}")
}

/// Days since 1970 to year, month and day of the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date
/// algorithms", `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The names of a log in a run's folder: as lines, and sealed.
pub(crate) const LOGS: [&str; 2] = ["log.jsonl", "log.jsonl.zst"];

/// Whether a folder is that of a run. One whose log has not a byte was never begun.
fn is_run(folder: &Path) -> bool {
    LOGS.iter().any(|log| std::fs::metadata(folder.join(log)).is_ok_and(|log| log.len() > 0))
}

/// The ids of the runs in a folder, sorted.
pub(crate) fn all(runs: &Path) -> std::io::Result<Vec<String>> {
    let entries = std::fs::read_dir(runs)?.filter_map(Result::ok).filter(|entry| is_run(&entry.path()));
    let mut ids: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    ids.sort();
    Ok(ids)
}

/// Why there are no runs to look at.
pub(crate) fn unread(runs: &Path, error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound {
        return format!(
            "there is no folder {} yet; `aigo run TASK` makes it, and `--runs` names another",
            runs.display()
        );
    }
    format!("the folder of runs, {}: {error}", runs.display())
}

/// The folder of a run that was named by its folder, its log, the beginning of its id, or `last`. The message of a failure
/// stands alone.
pub(crate) fn find(named: &str, runs: &Path) -> Result<PathBuf, String> {
    let path = Path::new(named);
    if (path.is_dir() && is_run(path)) || path.is_file() {
        return Ok(path.to_owned());
    }
    let mut ids = all(runs).map_err(|error| format!("there is no run `{named}`: {}", unread(runs, &error)))?;
    if named == "last" {
        return ids.pop().map(|id| runs.join(id)).ok_or_else(|| format!("there is no run in {}", runs.display()));
    }
    ids.retain(|id| id.starts_with(named));
    match ids.as_slice() {
        [one] => Ok(runs.join(one)),
        [] => Err(format!("there is no run `{named}` in {}: `aigo runs` lists those that there are", runs.display())),
        many => Err(format!("`{named}` is the beginning of {} runs: {}", many.len(), many.join(", "))),
    }
}

/// The log of a run that was named so, told if its end is torn. A failure is told, and gives the exit code.
pub(crate) fn open(named: &str, runs: &Path) -> Result<Log, u8> {
    let path = find(named, runs).map_err(|message| {
        out::error(&message);
        exit::USAGE
    })?;
    let log = Log::open(&path).map_err(|error| drive::fail(&RunError::Log(error)))?;
    if let Some(warning) = log.warning() {
        out::note(&format!("warning: [{}] {}", warning.row.code, warning.message));
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_become_dates() {
        let dates = [0, 59, 19_782, 20_787].map(super::civil);
        assert_eq!(dates, [(1970, 1, 1), (1970, 3, 1), (2024, 2, 29), (2026, 11, 30)]);
    }
}
