//! `aigo run`: a new run in a new folder.

use std::path::Path;
use std::sync::Arc;

use aigo_ir::key::KeyWriter;
use aigo_log::{Digest, FORMAT, Journal, Run, SUMMED};
use aigo_machine::{Linked, Sample};
use aigo_report::compare::NOT_COMPARABLE;
use aigo_report::{Measure, Sheet};
use aigo_vm::{Planned, Players, RunError, error};

use super::drive::{self, Drive};
use super::{compare, coverage, from, plan, probe};
use crate::args::RunArgs;
use crate::task::Task;
use crate::world::{Folder, secrets};
use crate::{exit, measured, out, runs, select, show, task, trust};

pub(crate) fn run(args: &RunArgs) -> u8 {
    started(args).unwrap_or_else(|code| code)
}

fn started(args: &RunArgs) -> Result<u8, u8> {
    let mut task = task::load(&args.task)?;
    select::choose(&mut task, &args.choosing, args.epochs)?;
    let task = task;
    let runs = &args.driving.runs;
    let rules = || from::rules(&task.program, args.reuse_floating);
    let parent = args.from.as_ref().map(|named| from::open(named, runs, rules())).transpose()?;
    let world = Folder::new(&task.root);
    if args.dry_run {
        let foreseen = match &parent {
            Some(parent) => Some((parent, from::foresee(parent, &linked(&task)?, planned(&task, &world))?)),
            None => None,
        };
        let foreseen = foreseen.as_ref().map(|(parent, foreseen)| (&*parent.log().header().id, foreseen));
        return Ok(plan::dry_run(&task, &args.driving, foreseen));
    }
    if args.probe {
        return Ok(probe::probe(&task, args));
    }
    let trusted = trust::check(&task, args.driving.allow_commands)?;
    let (linked, players) = trusted.with(ready(&task, args.driving.jobs as usize)?);
    if let Some(parent) = &parent {
        let foreseen = from::foresee(parent, &linked, planned(&task, &world))?;
        out::note(from::text(&foreseen, &parent.log().header().id).trim_end());
    }
    let baseline = args.baseline.as_deref().map(|path| held_against(&task, path)).transpose()?;
    let (baseline, text) = baseline.map_or((None, None), |(sheet, text)| (Some(Arc::new(sheet)), Some(text)));
    let id = runs::new_id();
    let folder = runs.join(&id);
    let named = parent.as_ref().map(|parent| aigo_log::Parent {
        run: parent.log().header().id.clone(),
        scores: false,
        floating: args.reuse_floating,
    });
    let header = Run { parent: named, baseline: text, ..header(&task, &linked, &id) };
    let journal = Journal::create(&folder, &header, drive::durability(&args.driving));
    let journal = Arc::new(journal.map_err(|error| drive::fail(&RunError::Log(error)))?);
    let samples = if task.count() == 1 { "sample" } else { "samples" };
    out::note(&format!("{}: {} {samples}, run {}", task.program.name, task.count(), folder.display()));
    let planned = shuffled(planned(&task, &world), args.shuffle);
    let planned = from::with(parent.as_ref(), &linked, planned);
    let drive = Drive {
        linked: Arc::clone(&linked),
        players,
        journal,
        id,
        folder: &folder,
        digest: Digest::of(&header, linked.hash),
        conversations: task.conversations(),
        baseline,
        next_trial: 1,
        calls_made: 0,
        spent: 0,
        driving: &args.driving,
    };
    let code = drive::drive(drive, planned);
    if args.coverage {
        coverage::tell(&folder, &linked, &task.sources);
    }
    Ok(code)
}

/// The program ready to run, and its players. What this build cannot run yet is told before anything is asked.
pub(crate) fn ready(task: &Task, concurrency: usize) -> Result<(Arc<Linked>, Players), u8> {
    let missing = aigo_vm::support::missing(&task.program);
    if !missing.is_empty() {
        out::note(show::plain(&task.path.display().to_string(), &missing, &task.sources).trim_end());
        return Err(exit::TASK);
    }
    let linked = linked(task)?;
    let players = Players::new(&task.program, &secrets(&task.root), concurrency)
        .map_err(|errors| errors.iter().map(drive::fail).max().unwrap_or(exit::TASK))?;
    for warning in players.warnings() {
        let help = warning.help.as_deref().map_or_else(String::new, |help| format!("\n  help: {help}"));
        out::note(&format!("warning: [{}] {}{help}", warning.row.code, warning.message));
    }
    Ok((linked, players))
}

/// The program ready to run.
fn linked(task: &Task) -> Result<Arc<Linked>, u8> {
    let linked = Linked::new(task.program.clone()).map_err(|violations| {
        // The compiler has verified it: what is found now is a fault of aigo.
        for violation in &violations {
            out::error(&violation.to_string());
        }
        exit::FAULT
    })?;
    Ok(Arc::new(linked))
}

/// A baseline, and the text of its file. One that was measured differently is refused before anything is paid.
fn held_against(task: &Task, path: &Path) -> Result<(Sheet, String), u8> {
    let (before, text) = measured::baseline_of(path)?;
    let now = Sheet {
        measures: task.program.scorers.iter().map(Measure::of).collect(),
        pins: measured::pins(&task.program),
        ..Sheet::default()
    };
    let unlike = measured::differences(&before, &now, &[]);
    if unlike.is_empty() {
        return Ok((before, text));
    }
    let message = format!(
        "the baseline {} was measured differently than this task measures: {}",
        path.display(),
        compare::what(&unlike)
    );
    let help = "save a new baseline from a run of this task; the scores of before say nothing beside those of now";
    Err(drive::fail(&RunError::Told(Box::new(NOT_COMPARABLE.nowhere(message).help(help)))))
}

/// A trial per sample that is taken and epoch.
pub(crate) fn planned<'t>(task: &'t Task, world: &'t Folder) -> impl Iterator<Item = Result<Planned, RunError>> + 't {
    let taken = |row: &Result<aigo_compiler::Row, String>| row.as_ref().map_or(true, |row| task.chosen.has(&row.key));
    let epochs = task.program.epochs;
    task.dataset.rows_held(world).filter(taken).flat_map(move |row| {
        let trials: Vec<Result<Planned, RunError>> = match row {
            Err(message) => {
                vec![Err(RunError::Told(Box::new(error::BAD_ROW.nowhere(message))))]
            }
            // A recording that says which epoch it is is that one alone.
            Ok(row) => row
                .epoch
                .map_or(1..=epochs, |epoch| epoch..=epoch)
                .map(|epoch| {
                    let sample = Arc::new(sample(&row, epoch));
                    Ok(Planned::new(sample))
                })
                .collect(),
        };
        trials
    })
}

/// A row as the machine takes it.
pub(crate) fn sample(row: &aigo_compiler::Row, epoch: u32) -> Sample {
    Sample {
        key: row.key.clone(),
        epoch,
        graph: row.graph.clone(),
        row: Arc::clone(&row.fields),
        conversation: Arc::clone(&row.conversation),
        tags: row.tags.iter().map(|tag| tag.as_str().into()).collect(),
        cluster: (row.cluster != row.key).then(|| row.cluster.clone()),
    }
}

/// The trials in another order. All of them are held for it.
fn shuffled<'p>(
    planned: impl Iterator<Item = Result<Planned, RunError>> + 'p,
    seed: Option<u64>,
) -> Box<dyn Iterator<Item = Result<Planned, RunError>> + 'p> {
    let Some(seed) = seed else { return Box::new(planned) };
    let mut all: Vec<_> = planned.collect();
    all.sort_by_cached_key(|planned| {
        let sample = planned.as_ref().ok().map(|planned| &planned.sample);
        let mut writer = KeyWriter::new("aigo.order");
        writer.u64(seed).maybe_str(sample.map(|sample| &*sample.key));
        writer.u64(sample.map_or(0, |sample| u64::from(sample.epoch))).finish()
    });
    Box::new(all.into_iter())
}

/// The first line of the log of a run of the task.
pub(crate) fn header(task: &Task, linked: &Linked, id: &str) -> Run {
    Run {
        format: FORMAT,
        flags: vec![SUMMED],
        id: id.to_owned(),
        aigo: env!("CARGO_PKG_VERSION").to_owned(),
        engines: aigo_vm::engines(),
        program: aigo_ir::print::print_with_lines(&linked.program, &task.sources),
        hash: linked.hash,
        dataset: task.dataset.hash.to_string(),
        seed: task.program.seed,
        trials: Some(task.conversations()),
        sites: aigo_vm::sites(linked),
        // As it was given: a log that is handed on tells nothing of the machine it was made on.
        task: Some(task.path.display().to_string()),
        root: None,
        parent: None,
        selection: (!task.selecting.is_all()).then(|| task.selecting.to_value()),
        baseline: None,
    }
}
