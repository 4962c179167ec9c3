//! What is compared: a run, or a baseline that was saved of one.

use std::path::Path;

use aigo_compiler::lock::{Lock, Pin, Unlike, unlike};
use aigo_ir::diagnostic::nearest;
use aigo_ir::program::Program;
use aigo_ir::value::Map;
use aigo_log::Log;
use aigo_report::baseline::{self, MAX_BASELINE};
use aigo_report::{Pinned, Sheet};
use aigo_vm::RunError;

use crate::command::drive;
use crate::read::{self, Unread};
use crate::{exit, out, runs};

/// A run or a baseline.
pub(crate) struct Measured {
    pub(crate) sheet: Sheet,
    /// The run's log; none of a baseline.
    pub(crate) log: Option<Log>,
    /// The run's program; none of a baseline.
    pub(crate) program: Option<Program>,
}

/// How a baseline begins.
const BEGINNING: &[u8] = b"{\"baseline\":";

impl Measured {
    /// Finds a run or a baseline and reads its scores. What is wrong is told.
    pub(crate) fn load(named: &str, runs: &Path) -> Result<Self, u8> {
        let path = Path::new(named);
        if path.is_file() && read::head(path, BEGINNING.len()).starts_with(BEGINNING) {
            return Ok(Self { sheet: baseline_of(path)?.0, log: None, program: None });
        }
        let path = runs::find(named, runs).map_err(|message| {
            out::error(&message);
            exit::USAGE
        })?;
        let log = Log::open(&path).map_err(|error| drive::fail(&RunError::Log(error)))?;
        let (program, mut sheet) = aigo_vm::sheet(&log).map_err(|error| drive::fail(&error))?;
        sheet.pins = pins(&program);
        Ok(Self { sheet, log: Some(log), program: Some(program) })
    }
}

/// What the scores of a program depend on, as baselines keep it.
pub(crate) fn pins(program: &Program) -> Vec<Pinned> {
    let pinned = |pin: Pin| Pinned {
        kind: pin.kind.word().into(),
        name: pin.name,
        facts: pin.facts.into_iter().collect::<Map>(),
    };
    Lock::of_program(program).pins.into_iter().map(pinned).collect()
}

/// A baseline's file: its scores, and its text. What is wrong is told.
pub(crate) fn baseline_of(path: &Path) -> Result<(Sheet, String), u8> {
    let most = usize::try_from(MAX_BASELINE).unwrap_or(usize::MAX);
    let bytes = match read::file(path, most) {
        Ok(bytes) => bytes,
        Err(Unread::Refused(why)) => {
            out::error(&why);
            return Err(exit::USAGE);
        }
        Err(Unread::TooLarge) => {
            out::error(&format!("{}: a baseline has at most {MAX_BASELINE} bytes", read::shown(path)));
            return Err(exit::USAGE);
        }
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match baseline::read(&read::shown(path), &text) {
        Ok(sheet) => Ok((sheet, text)),
        Err(diagnostic) => {
            drive::fail(&RunError::Told(diagnostic));
            Err(exit::USAGE)
        }
    }
}

/// What differs between how two sheets were measured, as far as the named scorers depend on it; all of them unless one is.
pub(crate) fn differences(before: &Sheet, after: &Sheet, only: &[String]) -> Unlike {
    let is_compared = |name: &str| only.is_empty() || only.iter().any(|known| known == name);
    let lock = |sheet: &Sheet, judges: &[String], others: &[String]| {
        let pins = sheet.pins.iter().filter_map(|pin| {
            let facts = pin.facts.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            Pin::written(&pin.kind, pin.name.clone(), facts)
        });
        // A judge of scorers that are not compared matters to none that is.
        let has = |roles: &[String], pin: &Pin| roles.iter().any(|role| **role == *pin.name);
        let is_aside = |pin: &Pin| pin.kind.word() == "model" && has(others, pin) && !has(judges, pin);
        Lock { pins: pins.filter(|pin| !is_aside(pin)).collect() }
    };
    let roles = |compared: bool| {
        let measures = before.measures.iter().chain(&after.measures);
        let measures = measures.filter(|measure| is_compared(&measure.name) == compared);
        measures.flat_map(|measure| measure.judges.iter().map(ToString::to_string)).collect::<Vec<String>>()
    };
    let (judges, others) = (roles(true), roles(false));
    unlike(&lock(before, &judges, &others), &lock(after, &judges, &others), &judges, is_compared)
}

/// What is said of a scorer that is not there.
pub(crate) fn no_scorer<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let near = nearest(name, known.iter().copied()).map_or_else(String::new, |near| format!(", did you mean `{near}`"));
    format!("there is no scorer `{name}`{near}; there are {}", known.join(", "))
}
