//! Loading and compiling a task that is about to be used, its findings told.

use std::path::{Path, PathBuf};

use aigo_compiler::select::{Chosen, Selecting};
use aigo_compiler::{Compiled, Dataset, Session, Suite};
use aigo_ir::program::Program;
use aigo_ir::span::{SourceMap, Span};
use aigo_source::MAX_FILE_BYTES;

use crate::read::{self, Unread};
use crate::world::Folder;
use crate::{exit, out, show};

/// A task without errors.
pub(crate) struct Task {
    /// The file as it was named.
    pub(crate) path: PathBuf,
    /// The folder that its files are relative to.
    pub(crate) root: PathBuf,
    pub(crate) program: Program,
    pub(crate) dataset: Dataset,
    pub(crate) sources: SourceMap,
    /// Its named parts.
    pub(crate) suites: Vec<Suite>,
    /// The samples that are taken, and how that was said.
    pub(crate) chosen: Chosen,
    pub(crate) selecting: Selecting,
}

impl Task {
    /// How many samples are taken.
    pub(crate) fn count(&self) -> usize {
        self.chosen.count().unwrap_or(self.dataset.count)
    }

    /// How many conversations that makes.
    pub(crate) fn conversations(&self) -> u64 {
        self.count() as u64 * u64::from(self.program.epochs)
    }
}

impl Task {
    /// The same with another program.
    pub(crate) fn with(&self, program: Program) -> Self {
        let (path, root) = (self.path.clone(), self.root.clone());
        Self {
            path,
            root,
            program,
            dataset: self.dataset.clone(),
            sources: self.sources.clone(),
            suites: self.suites.clone(),
            chosen: self.chosen.clone(),
            selecting: self.selecting.clone(),
        }
    }
}

/// The task's file: the path itself, or `task.yaml` in the folder.
pub(crate) fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("task.yaml") } else { path.to_owned() }
}

/// The folder that a task's files are relative to.
pub(crate) fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Checks what was read of a file. A refusal is one line for people.
pub(crate) fn check(
    session: &Session,
    path: &Path,
    read: Result<Vec<u8>, Unread>,
    world: &Folder,
    wants_program: bool,
) -> Result<Compiled, String> {
    let look = if wants_program { aigo_compiler::compile_in } else { aigo_compiler::check_in };
    compiled(path, read, |name, bytes| look(session, name, bytes, world))
}

/// Does with what was read of a file what `compile` does with its name and its bytes.
fn compiled(
    path: &Path,
    read: Result<Vec<u8>, Unread>,
    compile: impl Fn(&str, &[u8]) -> Compiled,
) -> Result<Compiled, String> {
    let name = path.display().to_string();
    match read {
        Ok(bytes) => Ok(compile(&name, &bytes)),
        Err(Unread::TooLarge) => Ok(too_large(&name)),
        Err(Unread::Refused(why)) => Err(why),
    }
}

/// What is found of a file that is larger than is read: nothing of it is in memory.
fn too_large(name: &str) -> Compiled {
    let mut sources = SourceMap::default();
    let file = sources.add(name, "");
    let message = format!("this file has more than {MAX_FILE_BYTES} bytes, which are the most that are read");
    let help = "move data to a file of its own, such as JSON Lines, which is read row by row";
    let found = aigo_source::catalog::FILE_TOO_LARGE.at(Span::new(file, 0, 0), message).help(help);
    Compiled { program: None, suites: Vec::new(), diagnostics: vec![found], omitted: 0, sources, is_library: false }
}

/// Loads a task that is about to be used. Findings go to standard error; where there is an error, its exit code is given.
pub(crate) fn load(path: &Path) -> Result<Task, u8> {
    let path = file(path);
    let root = folder(&path);
    let world = Folder::new(&root);
    let compile = |name: &str, bytes: &[u8]| aigo_compiler::compile(name, bytes, &world);
    let compiled = compiled(&path, read::file(&path, MAX_FILE_BYTES), compile).map_err(|why| {
        out::error(&why);
        exit::USAGE
    })?;
    let name = path.display().to_string();
    let text = show::plain(&name, &compiled.diagnostics, &compiled.sources);
    if !text.is_empty() {
        out::note(text.trim_end());
    }
    if compiled.is_library {
        out::error(&format!("{name} only defines what tasks import: there is nothing in it to run"));
        return Err(exit::USAGE);
    }
    let Some((program, dataset)) = compiled.program else { return Err(exit::TASK) };
    Ok(Task {
        root,
        path,
        program,
        dataset,
        sources: compiled.sources,
        suites: compiled.suites,
        chosen: Chosen::default(),
        selecting: Selecting::default(),
    })
}
