//! The broken tasks, and the folder around them.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};
use std::path::PathBuf;

use aigo_compiler::{Compiled, Session, Sources, check_in, compile};

use crate::harness::root;

/// A broken task.
pub(super) struct Case {
    /// Its file, without the extension.
    pub(super) name: String,
    text: String,
}

impl Case {
    /// What the task's file is called in findings.
    pub(super) const TASK: &str = "task.yaml";

    /// What the compiler says of it.
    pub(super) fn compiled(&self) -> Compiled {
        let (text, folder) = (self.unmarked(), Folder::default());
        let compiled = compile(Self::TASK, text.as_bytes(), &folder);
        let checked = check_in(&Session::default(), Self::TASK, text.as_bytes(), &folder);
        assert_eq!(checked.diagnostics, compiled.diagnostics, "{}: a check finds what compiling finds", self.name);
        compiled
    }

    /// What the compiler says with another text of one of its files.
    pub(super) fn compiled_with(&self, file: &str, text: &str) -> Compiled {
        if file == Self::TASK {
            return compile(Self::TASK, text.as_bytes(), &Folder::default());
        }
        let folder = Folder { changed: Some((file.to_owned(), text.to_owned())) };
        compile(Self::TASK, self.unmarked().as_bytes(), &folder)
    }

    /// The task without marks. Every place stays what it is.
    fn unmarked(&self) -> String {
        let lines = self.text.lines().map(|line| line.split("#!").next().unwrap_or_default().trim_end());
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// The codes that are expected, by file and line.
    pub(super) fn marks(&self) -> BTreeMap<(String, usize), Vec<String>> {
        let mut marks: BTreeMap<(String, usize), Vec<String>> = BTreeMap::new();
        for (at, line) in self.text.lines().enumerate() {
            let Some((_, mark)) = line.split_once("#!") else { continue };
            let mut words = mark.split_whitespace().peekable();
            let mut place = (Self::TASK.to_owned(), at + 1);
            if let Some(further) = words.peek().and_then(|word| word.strip_prefix('+')) {
                place.1 += further.parse::<usize>().expect("a number of lines");
                words.next();
            } else if let Some((file, line)) = words.peek().and_then(|word| word.split_once(':')) {
                place = (file.to_owned(), line.parse().expect("a line"));
                words.next();
            }
            marks.entry(place).or_default().extend(words.map(str::to_owned));
        }
        marks
    }
}

/// All cases, by name.
pub(super) fn cases() -> Vec<Case> {
    let entries =
        std::fs::read_dir(folder()).expect("the cases are there").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    paths.sort();
    let read = |path: PathBuf| Case {
        name: path.file_stem().and_then(|stem| stem.to_str()).expect("a name of text").to_owned(),
        text: std::fs::read_to_string(&path).expect("a case is text"),
    };
    paths.into_iter().map(read).collect()
}

fn folder() -> PathBuf {
    root().join("tests/broken")
}

/// The folder of the cases, of which one file may be changed.
#[derive(Default)]
struct Folder {
    changed: Option<(String, String)>,
}

impl Sources for Folder {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "files of a task stay under its folder"));
        }
        if let Some((_, text)) = self.changed.as_ref().filter(|(changed, _)| changed == path) {
            return Ok(Box::new(Cursor::new(text.clone().into_bytes())));
        }
        if path == "files/rows.jsonl" {
            return Ok(Box::new(Cursor::new(rows().into_bytes())));
        }
        let bytes = std::fs::read(folder().join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
            _ => error,
        })?;
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(folder().join("files"))?;
        let names = entries.filter_map(|entry| Some(format!("files/{}", entry.ok()?.file_name().to_str()?)));
        let mut found: Vec<String> = names.filter(|path| aigo_compiler::glob::matches(pattern, path)).collect();
        found.sort();
        Ok(found)
    }
}

/// A thousand rows, of which the 731st lacks `plan`.
fn rows() -> String {
    let row = |n: usize| match n {
        731 => format!("{{\"id\": \"r{n}\", \"question\": \"Why?\"}}\n"),
        _ => format!("{{\"id\": \"r{n}\", \"question\": \"Why?\", \"plan\": \"Pro\"}}\n"),
    };
    (1..=1000).map(row).collect()
}
