//! Whether the commands of a task may run: they do what they like on this machine, so whoever runs the task says so once.
//! What was allowed is remembered by the task's folder and by what its commands are: others are asked for anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aigo_ir::key::KeyWriter;
use aigo_ir::program::{CallKind, CommandCall, Player, Program};
use aigo_machine::Linked;
use aigo_vm::{Players, error};

use crate::task::Task;
use crate::{exit, out, read, replace, show};

/// A list of trusted folders is not longer.
const MOST: usize = 1 << 20;

/// Whether a task's commands may run, and where.
pub(crate) struct Trusted(Option<PathBuf>);

impl Trusted {
    /// Players who may run what is trusted.
    pub(crate) fn with(self, (linked, players): (Arc<Linked>, Players)) -> (Arc<Linked>, Players) {
        match self.0 {
            Some(folder) => (linked, players.trusted(&folder)),
            None => (linked, players),
        }
    }
}

/// Looks whether the task has commands, and whether they may run. What is allowed now is remembered; what is not allowed is
/// told, with each command, and gives the exit code.
pub(crate) fn check(task: &Task, allow: bool) -> Result<Trusted, u8> {
    let commands = commands(&task.program);
    let Some((first, _)) = commands.first() else { return Ok(Trusted(None)) };
    let folder = task.root.canonicalize().map_err(|fault| {
        out::error(&format!("{}: {fault}", task.root.display()));
        exit::USAGE
    })?;
    let line = line(&folder, &commands);
    let list = list();
    let known = list.as_deref().map(|list| read::file(list, MOST).unwrap_or_default()).unwrap_or_default();
    let known = String::from_utf8_lossy(&known).into_owned();
    if known.lines().any(|known| known == line) {
        return Ok(Trusted(Some(folder)));
    }
    if !allow {
        let shown: Vec<String> = commands.iter().map(|(_, call)| format!("`{}`", words(call))).collect();
        let what = if commands.len() == 1 { "a command" } else { "commands" };
        let message = format!("the task runs {what} on this machine: {}", shown.join(", "));
        let found = match first {
            Some(span) => error::NOT_TRUSTED.at(*span, message),
            None => error::NOT_TRUSTED.nowhere(message),
        };
        let help = "look at what they do, and allow them once: `--allow-commands`; it is remembered for this folder";
        let found = [found.help(help)];
        out::note(show::plain(&task.path.display().to_string(), &found, &task.sources).trim_end());
        return Err(exit::TASK);
    }
    match &list {
        Some(list) => match remember(list, &known, &line) {
            Ok(()) => {
                out::note(&format!("the commands of {} are allowed from now on: {}", folder.display(), list.display()));
            }
            Err(fault) => out::note(&format!("allowed for this run; {} cannot be written: {fault}", list.display())),
        },
        None => out::note("the commands are allowed for this run; without a home folder it is not remembered"),
    }
    Ok(Trusted(Some(folder)))
}

type Place = Option<aigo_ir::span::Span>;

/// The commands of a program, in its order, each with its place in the task.
fn commands(program: &Program) -> Vec<(Place, &CommandCall)> {
    let of_roles = program.roles.iter().filter_map(|role| match &role.player {
        Player::Command(command) => Some((role.origin.0, &command.call)),
        _ => None,
    });
    let calls = program.setup.iter().chain(&program.teardown);
    let of_calls = calls.filter_map(|call| match &call.does {
        CallKind::Command(command) => Some((call.origin.0, command)),
        CallKind::Http(_) => None,
    });
    of_roles.chain(of_calls).collect()
}

fn words(call: &CommandCall) -> String {
    let words: Vec<String> = call.run.iter().map(|word| aigo_ir::text::printable(word)).collect();
    aigo_ir::text::excerpt(&words.join(" "), 120)
}

/// The line of the list that allows these commands in a folder: a hash, and the folder for people to read.
fn line(folder: &Path, commands: &[(Place, &CommandCall)]) -> String {
    let mut writer = KeyWriter::new("aigo.trust.1");
    let shown = folder.display().to_string();
    writer.str(&shown).list(commands.len());
    for (_, call) in commands {
        writer.list(call.run.len());
        for word in &call.run {
            writer.str(word);
        }
        writer.list(call.env.len());
        for (own, from) in &call.env {
            writer.str(own).str(from);
        }
    }
    format!("{} {}", writer.finish().hex(16), aigo_ir::text::printable(&shown))
}

/// The list of what is trusted: the user's own, in `aigo/trusted` of the folder for states of programs.
fn list() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| folder("LOCALAPPDATA"));
    let state = state.or_else(|| folder("HOME").map(|home| home.join(".local").join("state")))?;
    Some(state.join("aigo").join("trusted"))
}

fn remember(list: &Path, known: &str, line: &str) -> std::io::Result<()> {
    if let Some(folder) = list.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut text = known.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    replace::put(list, &text)
}
