//! From what was typed to the files that are looked at: files, folders and patterns.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aigo_compiler::glob::is_pattern;

use crate::{glob, read};

/// Folders that hold no tasks of the user's own; hidden ones are left out too. Named directly, each is searched.
const LEFT_OUT: [&str; 3] = ["node_modules", "runs", "target"];

/// A file that may be a task.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Whether it was named itself: then it is a task, whatever is in it.
    pub(crate) is_named: bool,
    /// The searches that came upon it, by their numbers.
    pub(crate) searches: Vec<usize>,
}

/// A folder or a pattern in which tasks are looked for.
#[derive(Debug)]
pub(crate) struct Search {
    /// As it was typed.
    pub(crate) typed: PathBuf,
    pub(crate) is_pattern: bool,
    /// Whether a part of it could not be read: then it is told already that not all was seen.
    pub(crate) is_damaged: bool,
}

/// What was found, in the order of what was typed, and in a search in the order of the names.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) searches: Vec<Search>,
    /// One line each.
    pub(crate) faults: Vec<String>,
    /// The candidates by the files that they really are, so that none is looked at twice. Not as paths, which are compared
    /// part by part.
    known: BTreeMap<OsString, usize>,
    /// The folder of the last named file, as it was typed and as it really is.
    last_folder: Option<(PathBuf, PathBuf)>,
}

/// Finds what was typed; nothing stands for the current folder.
pub(crate) fn find(typed: &[PathBuf]) -> Found {
    let mut found = Found::default();
    if typed.is_empty() {
        found.folder(Path::new("."));
    }
    for path in typed {
        let own = fs::symlink_metadata(path);
        let is_link = own.as_ref().is_ok_and(fs::Metadata::is_symlink);
        match if is_link { fs::metadata(path) } else { own } {
            Ok(metadata) if metadata.is_dir() => found.folder(path),
            Ok(_) => found.named(path, is_link),
            Err(error) => match path.to_str().filter(|text| is_pattern(text)) {
                Some(pattern) => found.pattern(pattern),
                None => found.faults.push(read::missing(path, &error)),
            },
        }
    }
    found
}

impl Found {
    fn named(&mut self, path: &Path, is_link: bool) {
        let real = if is_link { None } else { self.in_folder(path) };
        let real = real.or_else(|| fs::canonicalize(path).ok()).unwrap_or_else(|| path.to_owned());
        if let Some(candidate) = self.known.get(real.as_os_str()).and_then(|at| self.candidates.get_mut(*at)) {
            candidate.is_named = true;
            return;
        }
        self.add(real, Candidate { path: path.to_owned(), is_named: true, searches: Vec::new() });
    }

    /// What a path that is no link really is. Files that are named one after the other mostly share their folder.
    fn in_folder(&mut self, path: &Path) -> Option<PathBuf> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        if self.last_folder.as_ref().is_none_or(|(last, _)| last != folder) {
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            self.last_folder = Some((folder.to_owned(), fs::canonicalize(here).ok()?));
        }
        self.last_folder.as_ref().map(|(_, real)| real.join(name))
    }

    fn add(&mut self, real: PathBuf, candidate: Candidate) {
        self.known.insert(real.into_os_string(), self.candidates.len());
        self.candidates.push(candidate);
    }

    fn folder(&mut self, path: &Path) {
        let search = self.search(path, false);
        self.walk(path, search);
    }

    fn search(&mut self, typed: &Path, is_pattern: bool) -> usize {
        self.searches.push(Search { typed: typed.to_owned(), is_pattern, is_damaged: false });
        self.searches.len() - 1
    }

    fn pattern(&mut self, pattern: &str) {
        let search = self.search(Path::new(pattern), true);
        for path in glob::expand(pattern) {
            if path.is_dir() {
                self.walk(&path, search);
            } else if is_yaml(&path) && path.is_file() {
                let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                self.came_upon(real, path, search);
            }
        }
    }

    fn came_upon(&mut self, real: PathBuf, path: PathBuf, search: usize) {
        match self.known.get(real.as_os_str()).and_then(|at| self.candidates.get_mut(*at)) {
            Some(candidate) => candidate.searches.push(search),
            None => self.add(real, Candidate { path, is_named: false, searches: vec![search] }),
        }
    }

    /// All YAML files below a folder. Links to folders are not followed, so no loop of them can hold this up, and no file is
    /// found twice; links to files are.
    fn walk(&mut self, top: &Path, search: usize) {
        let real = fs::canonicalize(top).unwrap_or_else(|_| top.to_owned());
        let shown = if top == Path::new(".") { PathBuf::new() } else { top.to_owned() };
        let mut open = vec![(shown, real, true)];
        while let Some((shown, real, is_folder)) = open.pop() {
            if !is_folder {
                self.came_upon(real, shown, search);
                continue;
            }
            let entries = match entries(if shown.as_os_str().is_empty() { Path::new(".") } else { &shown }) {
                Ok(entries) => entries,
                Err(error) => {
                    self.faults.push(read::unreadable_folder(&shown, &error));
                    if let Some(search) = self.searches.get_mut(search) {
                        search.is_damaged = true;
                    }
                    continue;
                }
            };
            // The last pushed is looked at first.
            for entry in entries.into_iter().rev() {
                let path = shown.join(&entry.name);
                if entry.is_folder {
                    if !is_left_out(&entry.name) {
                        open.push((path, real.join(&entry.name), true));
                    }
                } else if is_yaml(Path::new(&entry.name)) && !is_hidden(&entry.name) {
                    if entry.is_file {
                        open.push((path, real.join(&entry.name), false));
                    } else if path.is_file() {
                        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                        open.push((path, real, false));
                    }
                }
            }
        }
    }
}

/// What stands in a folder.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    /// A folder itself, not a link to one.
    pub(crate) is_folder: bool,
    /// A regular file itself, not a link to one.
    pub(crate) is_file: bool,
}

/// The entries of a folder by their names.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    for entry in fs::read_dir(here)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        found.push(Entry { name: entry.file_name(), is_folder: kind.is_dir(), is_file: kind.is_file() });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether a folder of this name is not searched.
pub(crate) fn is_left_out(name: &OsStr) -> bool {
    is_hidden(name) || LEFT_OUT.iter().any(|left_out| name == *left_out)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"))
}
