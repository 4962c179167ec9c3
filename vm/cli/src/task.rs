//! Loading and compiling a task, its findings printed.

use std::path::{Path, PathBuf};

use aigo_compiler::{Compiled, Dataset};
use aigo_ir::diagnostic::Severity;
use aigo_ir::program::Program;
use aigo_ir::span::SourceMap;

use crate::args::Findings;
use crate::world::Folder;
use crate::{exit, out, render};

/// A task without errors.
pub(crate) struct Task {
    /// The file as it was named.
    pub(crate) path: PathBuf,
    /// The folder that its files are relative to.
    pub(crate) root: PathBuf,
    pub(crate) program: Program,
    pub(crate) dataset: Dataset,
    pub(crate) sources: SourceMap,
}

/// The task's file: the path itself, or `task.yaml` in the folder.
pub(crate) fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("task.yaml") } else { path.to_owned() }
}

fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Reads and compiles a file. A file that cannot be read is told, and gives the exit code.
pub(crate) fn compile(path: &Path) -> Result<(PathBuf, Compiled), u8> {
    let path = file(path);
    let bytes = std::fs::read(&path).map_err(|error| {
        out::error(&format!("{}: {error}", path.display()));
        exit::USAGE
    })?;
    let world = Folder::new(&folder(&path));
    let compiled = aigo_compiler::compile(&path.display().to_string(), &bytes, &world);
    Ok((path, compiled))
}

/// Findings as text. Gives the number of errors and warnings.
pub(crate) fn show(compiled: &Compiled, format: Findings, colour: bool) -> (String, usize, usize) {
    let (mut text, mut errors, mut warnings) = (String::new(), 0, 0);
    for diagnostic in &compiled.diagnostics {
        match diagnostic.row.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
        }
        match format {
            Findings::Concise => text.push_str(&(diagnostic.concise(&compiled.sources) + "\n")),
            Findings::Full => text.push_str(&(render::full(diagnostic, &compiled.sources, colour) + "\n")),
        }
    }
    (text, errors, warnings)
}

/// Loads a task that is about to be used. Findings go to standard error; where there is an error, its exit code is given.
pub(crate) fn load(path: &Path) -> Result<Task, u8> {
    let (path, compiled) = compile(path)?;
    let (text, ..) = show(&compiled, Findings::Full, false);
    if !text.is_empty() {
        out::note(text.trim_end());
    }
    let Some((program, dataset)) = compiled.program else { return Err(exit::TASK) };
    Ok(Task { root: folder(&path), path, program, dataset, sources: compiled.sources })
}
