//! `aigo score`: the scorers of a task on the conversations of a run. It makes a new run that names the other as its parent; the
//! conversations are taken over as they were recorded, and nobody but scorers asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aigo_compiler::select::{Chosen, Seen, Selecting};
use aigo_ir::bounds::plural;
use aigo_ir::program::Program;
use aigo_log::{Digest, Journal, Log, Run};
use aigo_machine::Linked;
use aigo_vm::{Parent, Planned, Players, Rules, RunError, error, recorded_trial};

use super::drive::{self, Drive};
use super::resume::{self, Again};
use super::{from, run};
use crate::args::{ResumeArgs, ScoreArgs};
use crate::task::{self, Task};
use crate::world::secrets;
use crate::{exit, out, runs, select, show};

pub(crate) fn score(args: &ScoreArgs) -> u8 {
    scored(args).unwrap_or_else(|code| code)
}

fn scored(args: &ScoreArgs) -> Result<u8, u8> {
    let path = runs::find(&args.run, &args.driving.runs).map_err(|message| select::refuse(&message))?;
    let log = Log::open(&path).map_err(|error| drive::fail(&RunError::Log(error)))?;
    let mut task = task::load(&resume::path(log.header(), args.task.as_deref())?)?;
    let linked = grafted(&log, &task)?;
    let parent = Parent::of(log, rules(&linked.program, args.reuse_floating)).map_err(|error| drive::fail(&error))?;
    let samples = samples(&parent).map_err(|error| drive::fail(&error))?;
    let selecting = select::selecting(&task, &args.choosing, None).map_err(|message| select::refuse(&message))?;
    let seen = samples
        .iter()
        .map(|seen| Ok(Seen { key: Arc::clone(&seen.key), tags: seen.tags.clone(), fields: Arc::clone(&seen.fields) }));
    let chosen = selecting.choose(task.program.seed, seen).map_err(|message| select::refuse(&message))?;
    (task.chosen, task.selecting) = (chosen, selecting);
    let foreseen = from::foresee(&parent, &linked, planned(&parent, &task))?;
    let header = parent.log().header();
    if args.dry_run {
        match args.driving.format {
            crate::args::Format::Text => out::text(&from::text(&foreseen, &header.id)),
            crate::args::Format::Json => out::line(&from::to_value(&foreseen, &header.id).to_json()),
        }
        return Ok(exit::PASSED);
    }
    let players = players(&linked.program, &task.path, &task, args.driving.jobs as usize)?;
    out::note(from::text(&foreseen, &header.id).trim_end());
    let id = runs::new_id();
    let folder = args.driving.runs.join(&id);
    let conversations = conversations(&parent, &task.chosen, task.selecting.is_all());
    let named = aigo_log::Parent { run: header.id.clone(), scores: true, floating: args.reuse_floating };
    let own = Run {
        parent: Some(named),
        dataset: header.dataset.clone(),
        trials: Some(conversations),
        seed: header.seed,
        ..run::header(&task, &linked, &id)
    };
    let journal = Journal::create(&folder, &own, drive::durability(&args.driving));
    let journal = Arc::new(journal.map_err(|error| drive::fail(&RunError::Log(error)))?);
    out::note(&format!("{}: {conversations} conversations, run {}", linked.program.name, folder.display()));
    let drive = Drive {
        linked: Arc::clone(&linked),
        players,
        journal,
        id,
        folder: &folder,
        digest: Digest::of(&own, linked.hash),
        conversations,
        baseline: None,
        next_trial: 1,
        calls_made: 0,
        spent: 0,
        driving: &args.driving,
    };
    Ok(drive::drive(drive, from::with(Some(&parent), &linked, planned(&parent, &task))))
}

/// Goes on with a run that scores: its program is in its log, its conversations in its parent's.
pub(crate) fn resume(args: &ResumeArgs, folder: &Path, header: &Run) -> Result<u8, u8> {
    let Some(named) = &header.parent else { return Err(exit::FAULT) };
    let log = Log::open(folder).map_err(|error| drive::fail(&RunError::Log(error)))?;
    let linked = aigo_vm::linked(&log).map_err(|error| drive::fail(&error))?;
    let parent = resume::parent(args, folder, named, rules(&linked.program, named.floating))?;
    // Keys are beside the task; the task itself is not needed, and may have changed.
    let path = resume::path(header, args.task.as_deref()).map(|path| task::file(&path)).unwrap_or_default();
    let players = of_scorers(&linked.program, &path, args.driving.jobs as usize)?;
    let selecting = header.selection.as_ref().map(Selecting::of_value).unwrap_or_default();
    let samples = samples(&parent).map_err(|error| drive::fail(&error))?;
    let chosen =
        selecting.choose(header.seed, samples.into_iter().map(Ok)).map_err(|message| select::refuse(&message))?;
    let conversations = conversations(&parent, &chosen, selecting.is_all());
    let all = trials(&parent, move |key| chosen.has(key));
    Again { folder, linked, players, parent: Some(&parent), conversations }.go_on(args, all)
}

/// How many conversations a run has that scores another one: those that began there, and, unless some are chosen, those that
/// never did, which stay open.
fn conversations(parent: &Parent, chosen: &Chosen, is_all: bool) -> u64 {
    let begun = parent.samples().count() as u64;
    let never = parent.log().header().trials.unwrap_or_default().saturating_sub(begun);
    if is_all && never > 0 {
        let run = &parent.log().header().id;
        let what = plural(never, "conversation");
        out::note(&format!("{what} never began in {run}: go on with it first, or they stay open in this one as well"));
    }
    let taken = parent.samples().filter(|(key, _)| chosen.has(key)).count() as u64;
    if is_all { taken + never } else { taken }
}

fn rules(program: &Program, reuse_floating: bool) -> Rules {
    let mut rules = from::rules(program, reuse_floating);
    rules.conversations_stay = true;
    rules
}

/// The conversations of the log's program with the scorers of the task.
fn grafted(log: &Log, task: &Task) -> Result<Arc<Linked>, u8> {
    let own = aigo_vm::linked(log).map_err(|error| drive::fail(&error))?;
    let grafted = aigo_vm::graft(&own.program, &task.program).map_err(|error| drive::fail(&error))?;
    for gate in &grafted.without {
        out::note(&format!("left out: the gate `{gate}`, since the recorded conversations have no such score"));
    }
    let linked = Linked::new(grafted.program).map_err(|violations| {
        let first = violations.first().map_or_else(String::new, ToString::to_string);
        let message = format!("the scorers of {} do not fit: {first}", task.path.display());
        let help = "run the task anew: `aigo run TASK --from RUN`";
        drive::fail(&RunError::Told(Box::new(error::NO_GRAFT.nowhere(message).help(help))))
    })?;
    Ok(Arc::new(linked))
}

/// The players of the roles that scorers ask; the others are asked nothing.
fn players(program: &Program, path: &Path, task: &Task, concurrency: usize) -> Result<Players, u8> {
    let asked = aigo_vm::asked_by_scorers(program);
    let mut roles = program.roles.clone();
    roles.retain(|role| asked.contains(&role.name));
    let (setup, teardown) = (Vec::new(), Vec::new());
    let missing = aigo_vm::support::missing(&Program { roles, setup, teardown, ..program.clone() });
    if !missing.is_empty() {
        out::note(show::plain(&path.display().to_string(), &missing, &task.sources).trim_end());
        return Err(exit::TASK);
    }
    of_scorers(program, path, concurrency)
}

fn of_scorers(program: &Program, path: &Path, concurrency: usize) -> Result<Players, u8> {
    let asked = aigo_vm::asked_by_scorers(program);
    let root: PathBuf = task::folder(path);
    Players::only(program, &|role| asked.contains(role), &secrets(&root), concurrency)
        .map_err(|errors| errors.iter().map(drive::fail).max().unwrap_or(exit::TASK))
}

/// Each sample of a run once, for a choice among them.
fn samples(parent: &Parent) -> Result<Vec<Seen>, RunError> {
    let mut samples: Vec<Seen> = Vec::new();
    for (key, epoch) in parent.samples() {
        if samples.last().is_some_and(|last| *last.key == *key) {
            continue;
        }
        let Some(trial) = parent.recorded(key, epoch)?.pop() else { continue };
        let fields = trial.open.row.as_map().cloned().unwrap_or_default();
        samples.push(Seen { key: key.into(), tags: trial.open.tags, fields: Arc::new(fields) });
    }
    Ok(samples)
}

fn planned<'p>(parent: &'p Parent, task: &'p Task) -> impl Iterator<Item = Result<Planned, RunError>> + 'p {
    trials(parent, |key| task.chosen.has(key))
}

/// A trial for each of a run, as it was begun there.
fn trials<'p>(
    parent: &'p Parent,
    has: impl Fn(&str) -> bool + 'p,
) -> impl Iterator<Item = Result<Planned, RunError>> + 'p {
    parent.samples().filter(move |(key, _)| has(key)).filter_map(|(key, epoch)| {
        let last = parent.recorded(key, epoch).map(|mut trials| trials.pop()).transpose()?;
        Some(last.map(|trial| {
            let (sample, _) = recorded_trial(&trial);
            Planned::new(sample)
        }))
    })
}
