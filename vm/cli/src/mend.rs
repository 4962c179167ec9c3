//! Certain edits, applied: rounds over texts in memory until nothing more is to be done. What makes things worse is taken
//! back. Nothing is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, Cursor};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use aigo_compiler::{Compiled, Session, Sources};
use aigo_ir::diagnostic::Severity;
use aigo_ir::span::{FileId, SourceFile, SourceMap, Span};

use crate::world::Folder;
use crate::{parallel, read, task};

/// Edits that lie over each other need a round each; nobody writes so many of them.
const MOST_ROUNDS: usize = 50;

/// A task that is mended, and its text.
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// A file that edits have changed.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// What the user calls it.
    pub(crate) shown: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// An edit that was applied.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The file that it is in, as it really is.
    pub(crate) file: PathBuf,
    /// `path:line:column: fixed E0201: write …`
    pub(crate) line: String,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Mended {
    /// By the files that they really are.
    pub(crate) files: BTreeMap<PathBuf, Changed>,
    pub(crate) applied: Vec<Applied>,
    /// One line for each edit that was taken back.
    pub(crate) undone: Vec<String>,
}

/// Applies the edits of all tasks, each file once however many tasks import it. With `only`, no other file is changed.
pub(crate) fn mend(subjects: &[Subject], threads: usize, only: Option<&Path>) -> Mended {
    let mut mended = Mended::default();
    let mut refused: BTreeSet<Refused> = BTreeSet::new();
    let mut open: Vec<&Subject> = subjects.iter().collect();
    let mut looks = looked(&open, &mended.files, threads);
    // A task without an edit has none later: those of what it imports are its own too.
    let has_edits: Vec<bool> = looks.iter().map(|look| !look.edits.is_empty()).collect();
    open = open.into_iter().zip(&has_edits).filter(|(_, has)| **has).map(|(subject, _)| subject).collect();
    looks.retain(|look| !look.edits.is_empty());
    for _ in 0..MOST_ROUNDS {
        let round = chosen(&looks, &refused, only, &mended.files);
        if round.is_empty() {
            break;
        }
        let files = edited(&round, &mended.files);
        let after = looked(&open, &files, threads);
        let worse = worse(&round, &mended.files, &files, &looks, &after);
        if worse.is_empty() {
            mended.applied.extend(round.iter().map(|edit| Applied { file: edit.file.clone(), line: edit.told() }));
            mended.files = files;
            looks = after;
        } else {
            for edit in worse {
                mended.undone.push(edit.told_undone());
                refused.insert(edit.refused());
            }
        }
    }
    mended
}

/// What is found in one task.
struct Look {
    edits: Vec<Edit>,
    found: Vec<Told>,
}

/// A finding without its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Told {
    file: PathBuf,
    code: &'static str,
    message: String,
    line: usize,
    column: usize,
    is_error: bool,
}

/// An edit that a finding proposes.
#[derive(Clone, Debug)]
struct Edit {
    file: PathBuf,
    /// What the user calls the file, and the file's text.
    shown: String,
    whole: std::sync::Arc<str>,
    start: usize,
    end: usize,
    text: String,
    title: String,
    code: &'static str,
    message: String,
    line: usize,
    column: usize,
}

/// What tells an edit from others, wherever it moves to.
type Refused = (PathBuf, &'static str, String, String);

impl Edit {
    fn refused(&self) -> Refused {
        (self.file.clone(), self.code, self.message.clone(), self.text.clone())
    }

    fn place(&self) -> String {
        format!("{}:{}:{}", self.shown, self.line, self.column)
    }

    fn told(&self) -> String {
        format!("{}: fixed {}: {}", self.place(), self.code, self.title)
    }

    fn told_undone(&self) -> String {
        let (place, code, title) = (self.place(), self.code, &self.title);
        format!("{place}: the fix of {code} (`{title}`) was taken back, since it would bring an error; mend it by hand")
    }

    /// How many bytes more the text has behind it.
    fn growth(&self) -> isize {
        self.text.len().cast_signed() - (self.end - self.start).cast_signed()
    }
}

type Files = BTreeMap<PathBuf, Changed>;

/// Looks at each task with the texts as they are now.
fn looked(subjects: &[&Subject], files: &Files, threads: usize) -> Vec<Look> {
    // What is imported may have changed, so each round has a session of its own.
    let session = Session::default();
    let mut looks = Vec::with_capacity(subjects.len());
    let work = |subject: &&Subject| {
        let real = real(&subject.path);
        let world = Patched { folder: Folder::with_environment(&task::folder(&subject.path)), files };
        let bytes = files.get(&real).map_or(subject.bytes.as_slice(), |changed| changed.after.as_bytes());
        let name = subject.path.display().to_string();
        let compiled = aigo_compiler::compile_in(&session, &name, bytes, &world);
        look(&compiled, &name, &real)
    };
    parallel::in_order(subjects, threads, work, |_, look| looks.push(look));
    looks
}

fn look(compiled: &Compiled, task: &str, real_task: &Path) -> Look {
    let mut places = Places { sources: &compiled.sources, task, real_task, known: BTreeMap::new() };
    let mut look = Look { edits: Vec::new(), found: Vec::new() };
    for one in &compiled.diagnostics {
        let Some((file, line, column, _)) = one.span.and_then(|span| places.of(span)) else { continue };
        let (code, message, is_error) = (one.row.code, one.message.clone(), one.row.severity == Severity::Error);
        look.found.push(Told { file, code, message: message.clone(), line, column, is_error });
        let Some((fix, (file, line, column, source))) =
            one.fix.as_ref().and_then(|fix| Some((fix, places.of(fix.span)?)))
        else {
            continue;
        };
        if !is_whole(source, fix.span) {
            continue;
        }
        look.edits.push(Edit {
            file,
            shown: source.name.clone(),
            whole: source.text.clone(),
            start: fix.span.start as usize,
            end: fix.span.end as usize,
            text: fix.text.clone(),
            title: fix.title.clone(),
            code,
            message,
            line,
            column,
        });
    }
    look
}

/// Where the spans of one task are.
struct Places<'p> {
    sources: &'p SourceMap,
    task: &'p str,
    real_task: &'p Path,
    known: BTreeMap<FileId, PathBuf>,
}

impl<'p> Places<'p> {
    /// The file that it really is, line and column, and the text.
    fn of(&mut self, span: Span) -> Option<(PathBuf, usize, usize, &'p SourceFile)> {
        let file = self.sources.get(span.file)?;
        let is_task = file.name == self.task && self.sources.rank(span.file) == 0;
        let find = || if is_task { self.real_task.to_owned() } else { real(Path::new(&file.name)) };
        let path = self.known.entry(span.file).or_insert_with(find).clone();
        let place = self.sources.position(span);
        Some((path, place.line, place.column, file))
    }
}

/// Whether all of the file is held, and not only some lines of its data.
fn is_whole(file: &SourceFile, span: Span) -> bool {
    file.first.offset == 0 && file.text.get(span.start as usize..span.end as usize).is_some()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The edits of one round: those of every file in their order, each that lies over another left for the next round.
fn chosen(looks: &[Look], refused: &BTreeSet<Refused>, only: Option<&Path>, files: &Files) -> Vec<Edit> {
    let is_wanted = |edit: &&Edit| {
        only.is_none_or(|only| edit.file == real(only)) && !refused.contains(&edit.refused()) && is_current(edit, files)
    };
    let mut all: Vec<&Edit> = looks.iter().flat_map(|look| &look.edits).filter(is_wanted).collect();
    all.sort_by(|a, b| (&a.file, a.start, a.end, a.code, &a.text).cmp(&(&b.file, b.start, b.end, b.code, &b.text)));
    let mut chosen: Vec<Edit> = Vec::new();
    for edit in all {
        let is_free = chosen
            .last()
            .is_none_or(|last| last.file != edit.file || (last.end <= edit.start && last.start < edit.start));
        if is_free {
            chosen.push(edit.clone());
        }
    }
    chosen
}

/// Whether the text that the edit is of is the file's text: what was read as something else is no text to edit.
fn is_current(edit: &Edit, files: &Files) -> bool {
    files.get(&edit.file).is_none_or(|changed| *changed.after == *edit.whole)
}

/// The texts with the edits of a round.
fn edited(round: &[Edit], files: &Files) -> Files {
    let mut files = files.clone();
    for edits in round.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = edits.first() else { continue };
        let mut text = first.whole.to_string();
        for edit in edits.iter().rev() {
            text.replace_range(edit.start..edit.end, &edit.text);
        }
        let fresh = || Changed { shown: first.shown.clone(), before: first.whole.to_string(), after: String::new() };
        files.entry(first.file.clone()).or_insert_with(fresh).after = text;
    }
    files
}

/// The edits that did not do what they should: their finding is still there, there are more errors on their lines, or the
/// file is less YAML than before.
fn worse<'r>(round: &'r [Edit], old: &Files, new: &Files, before: &[Look], after: &[Look]) -> Vec<&'r Edit> {
    let (before, after) = (all(before), all(after));
    let count = |all: &BTreeSet<Told>, file: &Path, code: &str, message: &str| {
        all.iter().filter(|told| told.file == file && told.code == code && told.message == message).count()
    };
    let errors = |all: &BTreeSet<Told>, file: &Path, lines: &RangeInclusive<usize>| {
        all.iter().filter(|told| told.is_error && told.file == file && lines.contains(&told.line)).count()
    };
    let mut worse: Vec<&Edit> = Vec::new();
    for edits in round.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = edits.first() else { continue };
        let then = old.get(&first.file).map_or(&*first.whole, |changed| &changed.after);
        let now = new.get(&first.file).map_or("", |changed| &changed.after);
        if syntax_errors(now) > syntax_errors(then) {
            // What else is found of such a file says little.
            let damaging = damaging(edits);
            worse.extend(edits.iter().filter(|edit| damaging.contains(&edit.start)));
            continue;
        }
        let mut moved = 0_isize;
        for edit in edits {
            let start = edit.start.saturating_add_signed(moved);
            moved += edit.growth();
            let lines_before = line(then, edit.start)..=line(then, edit.end);
            let lines_after = line(now, start)..=line(now, start + edit.text.len());
            let persists = count(&after, &edit.file, edit.code, &edit.message)
                >= count(&before, &edit.file, edit.code, &edit.message);
            let brings = errors(&after, &edit.file, &lines_after) > errors(&before, &edit.file, &lines_before);
            if persists || brings {
                worse.push(edit);
            }
        }
    }
    worse
}

/// Which edits leave what is less YAML, by where they begin: made one after the other, each that does is left out.
fn damaging(edits: &[Edit]) -> BTreeSet<usize> {
    let mut text = edits.first().map(|edit| edit.whole.to_string()).unwrap_or_default();
    let (mut errors, mut moved, mut found) = (syntax_errors(&text), 0_isize, BTreeSet::new());
    for edit in edits {
        let place = edit.start.saturating_add_signed(moved)..edit.end.saturating_add_signed(moved);
        let mut with = text.clone();
        with.replace_range(place, &edit.text);
        let now = syntax_errors(&with);
        if now > errors {
            found.insert(edit.start);
        } else {
            (text, errors) = (with, now);
            moved += edit.growth();
        }
    }
    found
}

/// What is found in all tasks, each once.
fn all(looks: &[Look]) -> BTreeSet<Told> {
    looks.iter().flat_map(|look| look.found.iter().cloned()).collect()
}

fn syntax_errors(text: &str) -> usize {
    let parsed = aigo_source::parse(text, FileId(0));
    parsed.diagnostics.iter().filter(|one| one.row.severity == Severity::Error).count()
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// A task's folder in which some files have other texts than on the disk.
struct Patched<'p> {
    folder: Folder,
    files: &'p Files,
}

impl Sources for Patched<'_> {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        match self.files.get(Path::new(&self.folder.identity(path)?)) {
            Some(changed) => Ok(Box::new(Cursor::new(changed.after.clone().into_bytes()))),
            None => self.folder.open(path),
        }
    }

    fn identity(&self, path: &str) -> io::Result<String> {
        self.folder.identity(path)
    }

    fn name(&self, path: &str) -> String {
        self.folder.name(path)
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        self.folder.list(pattern)
    }

    fn env_is_set(&self, name: &str) -> bool {
        self.folder.env_is_set(name)
    }
}

/// A change as a diff names it.
pub(crate) fn diff(changed: &Changed) -> String {
    crate::diff::unified(&read::shown(Path::new(&changed.shown)), &changed.before, &changed.after)
}
