//! `aigo compare`: two runs of the same scenarios, or a run and a baseline.

use aigo_compiler::lock::Unlike;
use aigo_report::compare::{self, NOT_COMPARABLE};
use aigo_vm::RunError;

use super::drive;
use crate::args::{CompareArgs, Format};
use crate::measured::{self, Measured};
use crate::{exit, out};

/// How many of the things that differ are named.
const NAMED: usize = 5;

pub(crate) fn compare(args: &CompareArgs) -> u8 {
    let loaded = Measured::load(&args.before, &args.runs).and_then(|before| {
        let after = Measured::load(&args.after, &args.runs)?;
        Ok((before, after))
    });
    let (before, after) = match loaded {
        Ok(both) => both,
        Err(code) => return code,
    };
    for name in &args.scorers {
        if !before.sheet.measures.iter().chain(&after.sheet.measures).any(|measure| *measure.name == **name) {
            let known = before.sheet.measures.iter().chain(&after.sheet.measures);
            out::error(&measured::no_scorer(name, known.map(|measure| &*measure.name)));
            return exit::USAGE;
        }
    }
    let unlike = measured::differences(&before.sheet, &after.sheet, &args.scorers);
    if !unlike.is_empty() {
        let message = format!("{} and {} were measured differently: {}", args.before, args.after, what(&unlike));
        drive::fail(&RunError::Told(Box::new(NOT_COMPARABLE.nowhere(message).help(remedy(&unlike)))));
        return exit::USAGE;
    }
    let comparison = compare::compare(&before.sheet, &after.sheet, &args.scorers);
    let code = comparison.exit();
    match args.format {
        Format::Json => out::line(&compare::json(&comparison, code)),
        Format::Text => {
            let worst = comparison.worst();
            let wanted =
                |key: &str, epoch: u32| worst.iter().any(|one| *one.key == *key && one.epochs.contains(&epoch));
            let told = after.log.as_ref().filter(|_| !worst.is_empty()).map(|log| aigo_vm::retold(log, wanted));
            let told = match told.transpose() {
                Ok(told) => told.unwrap_or_default(),
                Err(error) => return drive::fail(&error),
            };
            let trial = |key: &str, epoch: u32| told.get(&(key.to_owned(), epoch)).cloned();
            out::text(&compare::text(&comparison, code, &trial));
        }
    }
    exit::of_results(code)
}

/// What differs, in words.
pub(crate) fn what(unlike: &Unlike) -> String {
    let all: Vec<&str> = unlike.judges.iter().chain(&unlike.simulators).map(String::as_str).collect();
    let shown = all.iter().take(NAMED).copied().collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// What makes them comparable.
pub(crate) fn remedy(unlike: &Unlike) -> &'static str {
    if unlike.simulators.is_empty() {
        "score the conversations of the first again with the task of the second, as with `aigo score`, or compare the scorers \
         that do not depend on it: `--scorer NAME`"
    } else {
        "conversations that came about differently cannot be compared: run both again with one task that differs in the \
         assistant alone"
    }
}
