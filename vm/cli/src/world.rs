//! The real world behind the compiler's door, and the secrets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use aigo_compiler::Sources;

use crate::read;

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
        Ok(Box::new(BufReader::with_capacity(256 << 10, File::open(found)?)))
    }

    fn env_is_set(&self, name: &str) -> bool {
        !self.tells_unset || secrets(&self.root)(name).is_some_and(|value| !value.is_empty())
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
    String::from_utf8_lossy(&bytes).lines().filter_map(assignment).collect()
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
