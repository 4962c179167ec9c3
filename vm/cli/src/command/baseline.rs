//! `aigo baseline save`: the scores of a run as a small file that is committed.

use std::fs;
use std::path::{Path, PathBuf};

use aigo_ir::bounds::plural;
use aigo_report::{Sheet, baseline};

use crate::args::{BaselineArgs, BaselineCommand};
use crate::measured::Measured;
use crate::{exit, out, read, replace};

pub(crate) fn baseline(args: &BaselineArgs) -> u8 {
    let BaselineCommand::Save(args) = &args.command;
    let measured = match Measured::load(&args.run, &args.runs) {
        Ok(measured) => measured,
        Err(code) => return code,
    };
    let sheet = &measured.sheet;
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.baseline.jsonl", file_stem(sheet))));
    if let Err(why) = write(&path, &baseline::write(sheet)) {
        out::error(&why);
        return exit::USAGE;
    }
    let samples = sheet.trials.iter().map(|trial| &trial.key).collect::<std::collections::BTreeSet<_>>().len();
    out::line(&format!(
        "{}: {}, {}, {} of run {}",
        read::shown(&path),
        plural(sheet.measures.len() as u64, "scorer"),
        plural(samples as u64, "scenario"),
        plural(sheet.trials.len() as u64, "trial"),
        sheet.run
    ));
    if sheet.epochs < 2 {
        out::note(
            "warning: it is of one epoch: where that was a lucky one, the next runs look worse than they are; save a run of \
             several epochs",
        );
    }
    let lacking = sheet.trials.iter().flat_map(|trial| &trial.marks).filter(|mark| mark.is_missing()).count();
    if lacking > 0 || sheet.open > 0 {
        out::note(&format!(
            "warning: {lacking} verdicts are missing and {} conversations never began: gates that they could decide are \
             undecided",
            sheet.open
        ));
    }
    exit::PASSED
}

/// The task's name as a part of a file's name.
fn file_stem(sheet: &Sheet) -> String {
    sheet.task.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect()
}

/// Writes a file whole, or leaves it as it was.
fn write(path: &Path, text: &str) -> Result<(), String> {
    match fs::read(path) {
        Ok(before) if before == text.as_bytes() => Ok(()),
        Ok(before) => replace::replace(path, &before, text.as_bytes()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: it cannot be read, and is not written over: {error}", read::shown(path)))
        }
        Err(_) => replace::Fresh::write_all(path, text)
            .map_err(|error| format!("{}: it cannot be written: {error}", read::shown(path))),
    }
}
