//! `aigo run`: a new run in a new folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_log::{FORMAT, Journal, Run};
use aigo_machine::{Linked, Sample};
use aigo_vm::{Planned, Players, RunError, error};

use super::drive::{self, Drive};
use super::{plan, probe};
use crate::args::RunArgs;
use crate::task::Task;
use crate::world::{Folder, secrets};
use crate::{exit, out, runs, show, task, trust};

pub(crate) fn run(args: &RunArgs) -> u8 {
    let task = match task::load(&args.task) {
        Ok(task) => task,
        Err(code) => return code,
    };
    if args.dry_run {
        return plan::dry_run(&task, &args.driving);
    }
    if args.probe {
        return probe::probe(&task, args);
    }
    let ready = trust::check(&task, args.driving.allow_commands)
        .and_then(|trusted| ready(&task, args.driving.jobs as usize).map(|ready| trusted.with(ready)));
    let (linked, players) = match ready {
        Ok(ready) => ready,
        Err(code) => return code,
    };
    let id = runs::new_id();
    let folder = args.driving.runs.join(&id);
    let header = header(&task, &linked, &id);
    let journal = match Journal::create(&folder, &header, drive::durability(&args.driving)) {
        Ok(journal) => Arc::new(journal),
        Err(error) => return drive::fail(&RunError::Log(error)),
    };
    let samples = task.dataset.count;
    out::note(&format!("{}: {samples} samples, run {}", task.program.name, folder.display()));
    let world = Folder::new(&task.root);
    let planned = planned(&task, &world);
    let dataset = task.dataset.hash;
    let driving = &args.driving;
    drive::drive(
        Drive {
            linked,
            players,
            journal,
            id,
            folder: &folder,
            dataset,
            conversations: samples as u64 * u64::from(task.program.epochs),
            next_trial: 1,
            calls_made: 0,
            spent: 0,
            driving,
        },
        planned,
    )
}

/// The program ready to run, and its players. What this build cannot run yet is told before anything is asked.
pub(crate) fn ready(task: &Task, concurrency: usize) -> Result<(Arc<Linked>, Players), u8> {
    let missing = aigo_vm::support::missing(&task.program);
    if !missing.is_empty() {
        out::note(show::plain(&task.path.display().to_string(), &missing, &task.sources).trim_end());
        return Err(exit::TASK);
    }
    let linked = Linked::new(task.program.clone()).map_err(|violations| {
        // The compiler has verified it: what is found now is a fault of aigo.
        for violation in &violations {
            out::error(&violation.to_string());
        }
        exit::FAULT
    })?;
    let players = Players::new(&task.program, &secrets(&task.root), concurrency)
        .map_err(|errors| errors.iter().map(drive::fail).max().unwrap_or(exit::TASK))?;
    Ok((Arc::new(linked), players))
}

/// A trial per sample and epoch.
pub(crate) fn planned<'t>(task: &'t Task, world: &'t Folder) -> impl Iterator<Item = Result<Planned, RunError>> + 't {
    let epochs = task.program.epochs;
    task.dataset.rows(world).flat_map(move |row| {
        let trials: Vec<Result<Planned, RunError>> = match row {
            Err(message) => {
                vec![Err(RunError::Told(Box::new(error::BAD_ROW.nowhere(message))))]
            }
            Ok(row) => (1..=epochs)
                .map(|epoch| {
                    let sample = Sample {
                        key: row.key.clone(),
                        epoch,
                        graph: row.graph.clone(),
                        row: Arc::clone(&row.fields),
                        conversation: Arc::clone(&row.conversation),
                        tags: row.tags.iter().map(|tag| tag.as_str().into()).collect(),
                        cluster: (row.cluster != row.key).then(|| row.cluster.clone()),
                    };
                    Ok(Planned { sample: Arc::new(sample), begun: None, closed: None })
                })
                .collect(),
        };
        trials
    })
}

pub(crate) fn header(task: &Task, linked: &Linked, id: &str) -> Run {
    let engines = [("minijinja", "3.1.0"), ("regex", "1"), ("unicode-normalization", "0.1")];
    Run {
        format: FORMAT,
        flags: Vec::new(),
        id: id.to_owned(),
        aigo: env!("CARGO_PKG_VERSION").to_owned(),
        engines: engines
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        program: aigo_ir::print::print_with_lines(&task.program, &task.sources),
        hash: linked.hash,
        dataset: task.dataset.hash.to_string(),
        seed: task.program.seed,
        trials: Some(task.dataset.count as u64 * u64::from(task.program.epochs)),
        // As it was given: a log that is handed on tells nothing of the machine it was made on.
        task: Some(task.path.display().to_string()),
        root: None,
    }
}
