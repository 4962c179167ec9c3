//! Patterns of paths, expanded by us: shells of Windows do not, and a quoted pattern should mean the same everywhere.
//!
//! Names are matched as those of data files are, by [`aigo_compiler::glob`]; `**` stands for any number of folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use aigo_compiler::glob::{Name, is_pattern};

use crate::find::{entries, is_left_out};

/// The paths that a pattern matches, in the order of their names. Names that begin with a dot are matched by patterns that
/// begin with one; `**` goes neither into them, nor into folders that are not searched, nor through links.
pub(crate) fn expand(pattern: &str) -> Vec<PathBuf> {
    let is_separator = |c: char| c == '/' || c == MAIN_SEPARATOR;
    let mut parts: Vec<&str> = pattern.split(is_separator).filter(|part| !part.is_empty() && *part != ".").collect();
    parts.dedup_by(|a, b| *a == "**" && *b == "**");
    let base = if pattern.starts_with(is_separator) { PathBuf::from("/") } else { PathBuf::new() };
    let mut expansion = Expansion { seen: BTreeSet::new(), found: Vec::new() };
    expansion.step(&base, &parts);
    expansion.found
}

struct Expansion {
    /// Folder and number of parts left: `**` reaches some in several ways.
    seen: BTreeSet<(PathBuf, usize)>,
    found: Vec<PathBuf>,
}

impl Expansion {
    fn step(&mut self, base: &Path, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            self.found.push(base.to_owned());
            return;
        };
        if !self.seen.insert((base.to_owned(), parts.len())) {
            return;
        }
        if !is_pattern(part) {
            let path = base.join(part);
            if fs::symlink_metadata(&path).is_ok() {
                self.step(&path, rest);
            }
            return;
        }
        // What cannot be read matches nothing.
        let entries = entries(base).unwrap_or_default();
        if *part == "**" {
            // At the end it stands for everything below, which is what a folder stands for.
            self.step(base, rest);
            for entry in entries.iter().filter(|entry| !rest.is_empty() && entry.is_folder && !is_left_out(&entry.name))
            {
                self.step(&base.join(&entry.name), parts);
            }
            return;
        }
        let part = Name::parse(part);
        for entry in entries {
            if part.takes(&entry.name.to_string_lossy()) {
                self.step(&base.join(&entry.name), rest);
            }
        }
    }
}
