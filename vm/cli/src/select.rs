//! What was typed of samples, to the samples that are taken.

use aigo_compiler::select::{Seen, Selecting};
use aigo_ir::diagnostic;
use aigo_log::Run;

use crate::args::Choosing;
use crate::task::Task;
use crate::world::Folder;
use crate::{exit, out};

/// Takes the samples of a task that were asked for. A selection that matches nothing is wrong usage.
pub(crate) fn choose(task: &mut Task, choosing: &Choosing, epochs: Option<u32>) -> Result<(), u8> {
    let selecting = selecting(task, choosing, epochs).map_err(|message| refuse(&message))?;
    take(task, selecting)
}

/// Takes the samples of a task that a run was begun with.
pub(crate) fn as_recorded(task: &mut Task, header: &Run) -> Result<(), u8> {
    let selecting = header.selection.as_ref().map(Selecting::of_value).unwrap_or_default();
    take(task, selecting)
}

/// What was typed, the suite looked up in the task.
pub(crate) fn selecting(task: &Task, choosing: &Choosing, epochs: Option<u32>) -> Result<Selecting, String> {
    let suite = choosing.suite.as_ref().map(|wanted| {
        task.suites.iter().find(|suite| suite.name == *wanted).cloned().ok_or_else(|| {
            let known: Vec<&str> = task.suites.iter().map(|suite| &*suite.name).collect();
            let help = match diagnostic::suggest(wanted, known.iter().copied()) {
                Some(help) => format!("; {help}"),
                None if known.is_empty() => "; it has no `suites`".to_owned(),
                None => format!("; it has {}", known.join(", ")),
            };
            format!("the task has no suite `{wanted}`{help}")
        })
    });
    Ok(Selecting {
        select: choosing.select.clone(),
        suite: suite.transpose()?,
        samples: choosing.samples.clone(),
        limit: choosing.limit,
        epochs,
    })
}

/// Tells what is wrong with a selection.
pub(crate) fn refuse(message: &str) -> u8 {
    out::error(message);
    exit::USAGE
}

fn take(task: &mut Task, selecting: Selecting) -> Result<(), u8> {
    let world = Folder::new(&task.root);
    let rows = task.dataset.rows(&world);
    let seen = rows.map(|row| row.map(|row| Seen { key: row.key, tags: row.tags, fields: row.fields }));
    let chosen = selecting.choose(task.program.seed, seen).map_err(|message| refuse(&message))?;
    task.chosen = chosen;
    if let Some(epochs) = selecting.epochs {
        task.program.epochs = epochs;
    }
    task.selecting = selecting;
    Ok(())
}
