//! `aigo resume`: an interrupted run goes on in its log. Samples that it has begun are taken from the log, those that it has
//! not are read from the dataset, which must not have changed. What it took from an earlier run it takes from there again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aigo_ir::program::Program;
use aigo_log::{Digest, Journal, Log, Run, TornTail};
use aigo_machine::Linked;
use aigo_vm::{Parent, Planned, Players, Rules, RunError, begins_again, error, recorded_trial, spent_by, superseded};

use super::drive::{self, Drive};
use super::{from, replay, run, score};
use crate::args::{Format, ResumeArgs};
use crate::task::Task;
use crate::world::Folder;
use crate::{exit, out, runs, select, task, trust};

pub(crate) fn resume(args: &ResumeArgs) -> u8 {
    resumed(args).unwrap_or_else(|code| code)
}

fn resumed(args: &ResumeArgs) -> Result<u8, u8> {
    let folder = match runs::find(&args.run, &args.driving.runs) {
        Ok(found) if found.is_dir() => found,
        Ok(file) => file.parent().map(Path::to_owned).unwrap_or_default(),
        Err(message) => {
            out::error(&message);
            return Err(exit::USAGE);
        }
    };
    // The task is looked at before the log is touched: a run that cannot go on is left as it is.
    let log = Log::open(&folder).map_err(|error| drive::fail(&RunError::Log(error)))?;
    if log.is_sealed() {
        return Ok(sealed(&log, args.driving.format));
    }
    let header = log.header();
    if header.parent.as_ref().is_some_and(|parent| parent.scores) {
        return score::resume(args, &folder, header);
    }
    let task = same_task(&log, args.task.as_deref())?;
    let trusted = trust::check(&task, args.driving.allow_commands)?;
    let (linked, players) = trusted.with(run::ready(&task, args.driving.jobs as usize)?);
    let parent = match &header.parent {
        Some(named) => Some(parent(args, &folder, named, from::rules(&task.program, named.floating))?),
        None => None,
    };
    let world = Folder::new(&task.root);
    let conversations = task.conversations();
    let again = Again { folder: &folder, linked, players, parent: parent.as_ref(), conversations };
    again.go_on(args, run::planned(&task, &world))
}

/// The run that another one was begun from: named, or beside it.
pub(crate) fn parent(args: &ResumeArgs, folder: &Path, named: &aigo_log::Parent, rules: Rules) -> Result<Parent, u8> {
    if let Some(from) = &args.from {
        return from::open(from, &args.driving.runs, rules);
    }
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let beside = absolute.parent().unwrap_or(&absolute).join(&named.run);
    if beside.is_dir() && beside != absolute {
        return Parent::open(&beside, rules).map_err(|error| drive::fail(&error));
    }
    let message = format!("this run uses answers of the run `{}`, which does not lie beside it", named.run);
    let help = "say where it is with `--from`, or begin a new run from this one: `aigo run TASK --from`";
    Err(drive::fail(&RunError::Told(Box::new(error::PARENT_GONE.nowhere(message).help(help)))))
}

/// A run that goes on.
pub(crate) struct Again<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) linked: Arc<Linked>,
    pub(crate) players: Players,
    pub(crate) parent: Option<&'a Parent>,
    pub(crate) conversations: u64,
}

impl Again<'_> {
    /// Goes on: with the trials that the log has, then with those of `all` that it has not.
    pub(crate) fn go_on(
        self,
        args: &ResumeArgs,
        all: impl Iterator<Item = Result<Planned, RunError>>,
    ) -> Result<u8, u8> {
        let reopened = Journal::reopen(self.folder, env!("CARGO_PKG_VERSION"), drive::durability(&args.driving));
        let (journal, recovery) = reopened.map_err(|error| drive::fail(&RunError::Log(error)))?;
        tell_torn(recovery.torn.as_ref());
        let log = recovery.log;
        let baseline = aigo_vm::baseline(&log).map_err(|error| drive::fail(&error))?;
        let begun = Begun::of(&log, &self.linked.program).map_err(|error| drive::fail(&error))?;
        begun.tell(self.conversations);
        let (gone, program) = (begun.gone, &self.linked.program);
        let numbers = log.numbers().filter(|number| !gone.contains(number));
        let logged = numbers.map(|number| Ok(log.trial(number)?)).map(|trial: Result<_, RunError>| {
            let trial = trial?;
            let (sample, recorded) = recorded_trial(&trial);
            if begins_again(program, &trial) {
                let left = (!program.teardown.is_empty()).then_some((trial.open.trial, recorded));
                return Ok(Planned { left, ..Planned::new(sample) });
            }
            let begun = Some((trial.open.trial, recorded));
            Ok(Planned { begun, closed: trial.close, ..Planned::new(sample) })
        });
        let opened = begun.opened;
        let rest = all.filter(|planned| match planned {
            Ok(planned) => !opened.contains(&(planned.sample.key.to_string(), planned.sample.epoch)),
            Err(_) => true,
        });
        let drive = Drive {
            linked: Arc::clone(&self.linked),
            players: self.players,
            journal: Arc::new(journal),
            id: log.header().id.clone(),
            folder: self.folder,
            digest: Digest::of(log.header(), self.linked.hash),
            conversations: self.conversations,
            baseline,
            next_trial: begun.next_trial,
            calls_made: begun.asks as u64,
            spent: begun.spent,
            driving: &args.driving,
        };
        Ok(drive::drive(drive, from::with(self.parent, &self.linked, logged.chain(rest))))
    }
}

/// What was cut off the log is told.
fn tell_torn(torn: Option<&TornTail>) {
    if let Some(torn) = torn {
        out::note(&format!(
            "the log ended in {} torn bytes, which no one had been told of; they are kept in {}",
            torn.bytes,
            torn.kept.display()
        ));
    }
}

/// A run that is sealed has ended, every conversation of it: its report is shown once more, with the code that it had.
fn sealed(log: &Log, format: Format) -> u8 {
    out::note("the run has ended and its log is sealed: there is nothing to go on with");
    match replay::show(log, format) {
        exit::PASSED => log.end().map_or(exit::FAULT, |end| exit::of_results(end.exit)),
        code => code,
    }
}

/// What a log has of its trials.
#[derive(Default)]
struct Begun {
    opened: BTreeSet<(String, u32)>,
    next_trial: u64,
    closed: usize,
    answers: usize,
    /// Calls that were made; answers of an earlier run are none.
    asks: usize,
    /// In 10^-12 USD.
    spent: u64,
    unanswered: usize,
    /// Trials that begin again, and the answers in them.
    again: usize,
    bought_again: usize,
    /// Those that have begun again already, under another number.
    gone: BTreeSet<u64>,
}

impl Begun {
    /// Says what is there, and what is bought again.
    fn tell(&self, conversations: u64) {
        if self.again > 0 {
            let (begin, their) =
                if self.again == 1 { ("conversation begins", "its") } else { ("conversations begin", "their") };
            out::note(&format!(
                "{} {begin} again, because what {their} application remembered is gone; {} of {their} answers are asked for anew",
                self.again, self.bought_again,
            ));
        }
        out::note(&format!(
            "{} of {conversations} conversations have ended, {} answers are recorded; {} calls were in flight and may have been billed",
            self.closed, self.answers, self.unanswered,
        ));
    }

    fn of(log: &Log, program: &Program) -> Result<Self, RunError> {
        let mut begun = Self { next_trial: 1, gone: superseded(program, log)?, ..Self::default() };
        for trial in log.trials() {
            let trial = trial?;
            let (_, recorded) = recorded_trial(&trial);
            begun.opened.insert((trial.open.key.clone(), trial.open.epoch));
            begun.next_trial = begun.next_trial.max(trial.open.trial + 1);
            begun.closed += usize::from(trial.close.is_some());
            let made = trial.calls.iter().filter(|call| call.got.as_ref().is_none_or(|got| got.from.is_none()));
            begun.asks += made.count();
            begun.spent = begun.spent.saturating_add(spent_by(program, &trial));
            if begun.gone.contains(&trial.open.trial) {
                continue;
            }
            if begins_again(program, &trial) {
                begun.again += 1;
                begun.bought_again += recorded.len();
                continue;
            }
            begun.answers += recorded.len();
            begun.unanswered += recorded.unanswered;
        }
        Ok(begun)
    }
}

/// Where the task of a run is: as it is named now, or as the log has it.
pub(crate) fn path(header: &Run, named: Option<&Path>) -> Result<PathBuf, u8> {
    named.map(Path::to_owned).or_else(|| header.task.as_ref().map(PathBuf::from)).ok_or_else(|| {
        out::error("the log does not say which task it is of: name it with `--task`");
        exit::USAGE
    })
}

/// The task of a log, which must compile to the same program and have the same rows; of its samples those that the run takes.
fn same_task(log: &Log, named: Option<&Path>) -> Result<Task, u8> {
    let header = log.header();
    let path = path(header, named)?;
    let mut task = task::load(&path).inspect_err(|code| {
        if *code == exit::USAGE && named.is_none() {
            out::note("the run's task is not where it was, seen from here: go to the folder that it was begun in, or name it with `--task`");
        }
    })?;
    let changed = |what: &str| {
        let message = format!("{what} of {} has changed since the run began", path.display());
        let help = format!("undo the change, or begin a new run: `aigo run TASK --from {}`", header.id);
        drive::fail(&RunError::Told(Box::new(error::CHANGED.nowhere(message).help(help))))
    };
    if task.dataset.hash.to_string() != header.dataset {
        // Which of the two it is is told by what is looked at first.
        let epochs =
            header.selection.as_ref().and_then(|chosen| aigo_compiler::select::Selecting::of_value(chosen).epochs);
        task.program.epochs = epochs.unwrap_or(task.program.epochs);
        return Err(changed(if task.program.hash() == header.hash { "the dataset" } else { "the task" }));
    }
    select::as_recorded(&mut task, header)?;
    if task.program.hash() != header.hash {
        return Err(changed("the task"));
    }
    Ok(task)
}
