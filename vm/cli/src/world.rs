//! The real world behind the compiler's door, and the secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use aigo_compiler::Sources;

use crate::read;

/// How many files and folders a pattern may look at.
const MOST_ENTRIES: usize = 100_000;

/// Files under one folder.
pub(crate) struct Folder {
    root: PathBuf,
    /// Whether unset variables are told while the task is checked. A run tells them by itself, as errors.
    tells_unset: bool,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), tells_unset: false }
    }

    /// A folder whose environment is looked at.
    pub(crate) fn with_environment(root: &Path) -> Self {
        Self { root: root.to_owned(), tells_unset: true }
    }
}

impl Sources for Folder {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let found = self.locate(path)?;
        Ok(Box::new(BufReader::with_capacity(256 << 10, File::open(found)?)))
    }

    fn identity(&self, path: &str) -> io::Result<String> {
        Ok(self.locate(path)?.display().to_string())
    }

    fn name(&self, path: &str) -> String {
        self.root.strip_prefix(".").unwrap_or(&self.root).join(path).display().to_string()
    }

    fn env_is_set(&self, name: &str) -> bool {
        !self.tells_unset || secrets(&self.root)(name).is_some_and(|value| !value.is_empty())
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        let escapes =
            Path::new(pattern).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
        if escapes {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "files of a task stay under its folder"));
        }
        let root = self.root.canonicalize()?;
        let base = aigo_compiler::glob::folder(pattern);
        let Ok(first) = root.join(base).canonicalize() else { return Ok(Vec::new()) };
        if !first.starts_with(&root) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the folder is a link out of the task's folder",
            ));
        }
        let mut found = Vec::new();
        let mut folders = vec![(first, base.to_owned())];
        let mut seen = 0_usize;
        while let Some((folder, name)) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let Ok(part) = entry.file_name().into_string() else { continue };
                let path = if name.is_empty() { part } else { format!("{name}/{part}") };
                seen += 1;
                if seen > MOST_ENTRIES {
                    let message =
                        format!("more than {MOST_ENTRIES} files and folders to look at; name a deeper folder");
                    return Err(io::Error::other(message));
                }
                // A link to a folder is not followed, so there are no loops.
                if entry.file_type()?.is_dir() {
                    folders.push((entry.path(), path));
                } else if aigo_compiler::glob::matches(pattern, &path) {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

impl Folder {
    /// The file of a path that a task writes: a regular file under the task's folder.
    fn locate(&self, path: &str) -> io::Result<PathBuf> {
        let relative = Path::new(path);
        let escapes = relative.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
        let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned()));
        if escapes {
            return refuse("files of a task stay under its folder");
        }
        let found = self.root.join(relative).canonicalize()?;
        if !found.starts_with(self.root.canonicalize()?) {
            return refuse("the file is a link out of the task's folder");
        }
        if !found.is_file() {
            return refuse("it is not a regular file");
        }
        Ok(found)
    }
}

/// More than this is no list of secrets.
const MOST_SECRETS: usize = 1 << 20;

/// Secrets: the environment, then the file `.env` in the task's folder, which is read when a name is not in the environment.
pub(crate) fn secrets(root: &Path) -> impl Fn(&str) -> Option<String> {
    let path = root.join(".env");
    move |name| std::env::var(name).ok().or_else(|| assignments(&path).remove(name))
}

fn assignments(path: &Path) -> BTreeMap<String, String> {
    let bytes = read::file(path, MOST_SECRETS).unwrap_or_default();
    // Editors of some systems begin a file with the mark of UTF-8.
    let text = String::from_utf8_lossy(&bytes);
    text.trim_start_matches('\u{feff}').lines().filter_map(assignment).collect()
}

/// `NAME=value`, `export NAME="value"`; comments and other lines say nothing.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    (!name.is_empty() && !name.starts_with('#')).then(|| (name.to_owned(), value.to_owned()))
}
