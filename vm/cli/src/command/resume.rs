//! `aigo resume`: an interrupted run goes on in its log. Samples that it has begun are taken from the log, those that it has
//! not are read from the dataset, which must not have changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aigo_ir::program::Program;
use aigo_log::{Journal, Log, TornTail};
use aigo_vm::{Planned, RunError, error, recorded_trial, spent_by};

use super::drive::{self, Drive};
use super::run;
use crate::args::ResumeArgs;
use crate::task::Task;
use crate::world::Folder;
use crate::{exit, out, runs, task};

pub(crate) fn resume(args: &ResumeArgs) -> u8 {
    let folder = match runs::find(&args.run, &args.driving.runs) {
        Ok(found) if found.is_dir() => found,
        Ok(file) => file.parent().map(Path::to_owned).unwrap_or_default(),
        Err(message) => {
            out::error(&message);
            return exit::USAGE;
        }
    };
    // The task is looked at before the log is touched: a run that cannot go on is left as it is.
    let task = match Log::open(&folder)
        .map_err(|error| drive::fail(&RunError::Log(error)))
        .and_then(|log| same_task(&log, args.task.as_deref()))
    {
        Ok(task) => task,
        Err(code) => return code,
    };
    let (linked, players) = match run::ready(&task, args.driving.jobs as usize) {
        Ok(ready) => ready,
        Err(code) => return code,
    };
    let reopened = Journal::reopen(&folder, env!("CARGO_PKG_VERSION"), drive::durability(&args.driving));
    let (journal, recovery) = match reopened {
        Ok(reopened) => reopened,
        Err(error) => return drive::fail(&RunError::Log(error)),
    };
    recovery.torn.iter().for_each(told);
    let log = recovery.log;
    let known = Begun::of(&log, &task.program).and_then(|begun| Ok((begun, aigo_vm::baseline(&log)?)));
    let (begun, baseline) = match known {
        Ok(known) => known,
        Err(error) => return drive::fail(&error),
    };
    out::note(&format!(
        "{} of {} conversations have ended, {} answers are recorded; {} calls were in flight and may have been billed",
        begun.closed,
        task.dataset.count * task.program.epochs as usize,
        begun.answers,
        begun.unanswered,
    ));
    let world = Folder::new(&task.root);
    let logged = log.numbers().map(|number| Ok(log.trial(number)?)).map(|trial: Result<_, RunError>| {
        let trial = trial?;
        let (sample, recorded) = recorded_trial(&trial);
        let begun = Some((trial.open.trial, recorded));
        Ok(Planned { sample, begun, closed: trial.close })
    });
    let opened = begun.opened;
    let rest = run::planned(&task, &world).filter(|planned| match planned {
        Ok(planned) => !opened.contains(&(planned.sample.key.to_string(), planned.sample.epoch)),
        Err(_) => true,
    });
    let drive = Drive {
        linked,
        players,
        journal: Arc::new(journal),
        id: log.header().id.clone(),
        folder: &folder,
        dataset: task.dataset.hash,
        conversations: task.dataset.count as u64 * u64::from(task.program.epochs),
        baseline,
        next_trial: begun.next_trial,
        calls_made: begun.asks as u64,
        spent: begun.spent,
        driving: &args.driving,
    };
    drive::drive(drive, logged.chain(rest))
}

/// Tells of bytes that were cut from the end of a log.
fn told(torn: &TornTail) {
    out::note(&format!(
        "the log ended in {} torn bytes, which no one had been told of; they are kept in {}",
        torn.bytes,
        torn.kept.display()
    ));
}

/// What a log has of its trials.
struct Begun {
    opened: BTreeSet<(String, u32)>,
    next_trial: u64,
    closed: usize,
    answers: usize,
    asks: usize,
    /// In 10^-12 USD.
    spent: u64,
    unanswered: usize,
}

impl Begun {
    fn of(log: &Log, program: &Program) -> Result<Self, RunError> {
        let mut begun =
            Self { opened: BTreeSet::new(), next_trial: 1, closed: 0, answers: 0, asks: 0, spent: 0, unanswered: 0 };
        for trial in log.trials() {
            let trial = trial?;
            let (_, recorded) = recorded_trial(&trial);
            begun.opened.insert((trial.open.key.clone(), trial.open.epoch));
            begun.next_trial = begun.next_trial.max(trial.open.trial + 1);
            begun.closed += usize::from(trial.close.is_some());
            begun.answers += recorded.len();
            begun.asks += trial.calls.len();
            begun.spent = begun.spent.saturating_add(spent_by(program, &trial));
            begun.unanswered += recorded.unanswered;
        }
        Ok(begun)
    }
}

/// The task of a log, which must compile to the same program and have the same rows.
fn same_task(log: &Log, named: Option<&Path>) -> Result<Task, u8> {
    let header = log.header();
    let Some(path) = named.map(Path::to_owned).or_else(|| header.task.as_ref().map(PathBuf::from)) else {
        out::error("the log does not say which task it is of: name it with `--task`");
        return Err(exit::USAGE);
    };
    let task = task::load(&path).inspect_err(|code| {
        if *code == exit::USAGE && named.is_none() {
            out::note("the run was begun in another folder: name the task with `--task`");
        }
    })?;
    let changed = |what: &str| {
        let message = format!("{what} of {} has changed since the run began", path.display());
        let help = "undo the change, or begin a new run: `aigo run`";
        drive::fail(&RunError::Told(Box::new(error::CHANGED.nowhere(message).help(help))))
    };
    if task.program.hash() != header.hash {
        return Err(changed("the task"));
    }
    if task.dataset.hash.to_string() != header.dataset {
        return Err(changed("the dataset"));
    }
    Ok(task)
}
