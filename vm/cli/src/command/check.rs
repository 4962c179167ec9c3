//! `aigo check`: every mistake of every task, in one pass.

use std::path::Path;

use aigo_compiler::Session;
use aigo_compiler::lock::Locking;
use aigo_ir::diagnostic::Severity;
use aigo_ir::selection::Selection;
use aigo_source::MAX_FILE_BYTES;

use super::fix;
use crate::args::{CheckArgs, Deny, Findings};
use crate::collect::{Collector, Outcome};
use crate::command::keys::{self, Asked};
use crate::find::{self, Candidate, Found};
use crate::finding::Finding;
use crate::mend::Subject;
use crate::read::{self, Unread};
use crate::terminal::Look;
use crate::world::Folder;
use crate::{exit, out, parallel, peek, show, task};

pub(crate) fn check(args: &CheckArgs) -> u8 {
    let selection = match args.select.as_deref().map(Selection::parse).transpose() {
        Ok(selection) => selection,
        Err(error) => {
            out::error(&error.to_string());
            return exit::USAGE;
        }
    };
    let locking = if args.locked { Locking::Required } else { Locking::Told };
    let session = Session::with_lock(locking);
    let look = Look::of_output(args.color);
    let checker = Checker { session, selection, format: args.format, look, keys: args.keys };
    if let (true, true, Some(path)) = (args.stdin, args.fix, &args.path) {
        return fixed_input(path, args);
    }
    let mut collector = Collector::new(args.format);
    let mut is_broken = false;
    let mut asked = Vec::new();
    if let (true, Some(path)) = (args.stdin, &args.path) {
        let looked = checker.compiled(path, read::standard_input(MAX_FILE_BYTES));
        is_broken = take(looked, &mut collector, &mut asked);
    } else {
        let found = find::find(&args.paths);
        let threads = args.jobs.map_or_else(parallel::cores, usize::from);
        if args.fix {
            let subjects = found.candidates.iter().filter_map(|candidate| checker.subject(candidate));
            let subjects: Vec<Subject> = subjects.collect();
            if args.diff {
                found.faults.iter().for_each(|fault| out::error(fault));
                let code = fix::diff(&subjects, threads, None);
                return if code == exit::PASSED && !found.faults.is_empty() { exit::USAGE } else { code };
            }
            let for_machines = matches!(args.format, Findings::Json | Findings::Sarif | Findings::Github);
            for fault in fix::write(&subjects, threads, for_machines) {
                collector.fault(fault);
            }
        }
        let mut tally = Tally { of_searches: vec![0; found.searches.len()], not_selected: 0 };
        found.faults.iter().for_each(|fault| collector.fault(fault.clone()));
        parallel::in_order(
            &found.candidates,
            threads,
            |candidate| checker.looked(candidate),
            |candidate, looked| {
                tally.count(candidate, &looked);
                is_broken |= take(looked, &mut collector, &mut asked);
            },
        );
        tally.tell(&found, args.select.as_deref(), &mut collector);
    }
    if args.keys {
        keys::check(&asked, &mut collector, args.format, look);
    }
    code(collector.finish(), is_broken, args)
}

fn code(outcome: Outcome, is_broken: bool, args: &CheckArgs) -> u8 {
    let is_denied = args.deny == Some(Deny::Warnings) && outcome.warnings > 0;
    match (outcome.errors > 0 || is_broken || is_denied, outcome.has_faults) {
        (true, _) => exit::TASK,
        (false, true) => exit::USAGE,
        (false, false) => exit::PASSED,
    }
}

/// The text of an editor with its fixes: it goes to standard output, and what remains to standard error.
fn fixed_input(path: &Path, args: &CheckArgs) -> u8 {
    let bytes = match read::standard_input(MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Refused(why)) => {
            out::error(&why);
            return exit::USAGE;
        }
        Err(Unread::TooLarge) => {
            out::error(&format!(
                "standard input has more than {MAX_FILE_BYTES} bytes, which are the most that are read"
            ));
            return exit::TASK;
        }
    };
    let mut subject = Subject { path: path.to_owned(), bytes };
    if args.diff {
        return fix::diff(&[subject], 1, Some(path));
    }
    if let Some(text) = fix::text(&subject) {
        subject.bytes = text.into_bytes();
    }
    out::raw(&subject.bytes);
    let world = Folder::with_environment(&task::folder(path));
    let name = path.display().to_string();
    let compiled = aigo_compiler::compile(&name, &subject.bytes, &world);
    let remains = show::plain(&name, &compiled.diagnostics, &compiled.sources);
    if !remains.is_empty() {
        out::note(remains.trim_end());
    }
    let has_warnings = compiled.diagnostics.iter().any(|one| one.row.severity == Severity::Warning);
    let is_denied = args.deny == Some(Deny::Warnings) && has_warnings;
    if is_denied || (compiled.program.is_none() && !compiled.is_library) { exit::TASK } else { exit::PASSED }
}

/// What became of a candidate.
enum Looked {
    NotATask,
    NotSelected,
    Unread(String),
    Checked {
        findings: Vec<Finding>,
        omitted: usize,
        /// Whether it has errors.
        is_broken: bool,
        /// Where the endpoints are to be asked: whose.
        asked: Option<Box<Asked>>,
    },
}

/// Takes what became of a candidate; whether it has errors.
fn take(looked: Looked, collector: &mut Collector, to_ask: &mut Vec<Asked>) -> bool {
    match looked {
        Looked::NotATask | Looked::NotSelected => false,
        Looked::Unread(fault) => {
            collector.fault(fault);
            false
        }
        Looked::Checked { findings, omitted, is_broken, asked } => {
            collector.task(findings, omitted);
            to_ask.extend(asked.map(|asked| *asked));
            is_broken
        }
    }
}

/// How every candidate is looked at, by any thread.
struct Checker {
    /// What imports is read once.
    session: Session,
    selection: Option<Selection>,
    format: Findings,
    look: Look,
    /// Whether endpoints are asked.
    keys: bool,
}

impl Checker {
    fn looked(&self, candidate: &Candidate) -> Looked {
        let read = read::file(&candidate.path, MAX_FILE_BYTES);
        self.left_out(candidate, &read).unwrap_or_else(|| self.compiled(&candidate.path, read))
    }

    /// Why a file is not checked, if it is not.
    fn left_out(&self, candidate: &Candidate, read: &Result<Vec<u8>, Unread>) -> Option<Looked> {
        let path = &candidate.path;
        if !candidate.is_named && !peek::is_task(path, read) {
            return Some(Looked::NotATask);
        }
        let (Some(selection), Ok(bytes)) = (&self.selection, read) else { return None };
        let is_other = peek::tags(path, bytes).is_some_and(|tags| !selection.matches(&tags));
        is_other.then_some(Looked::NotSelected)
    }

    /// What is to be fixed of a candidate.
    fn subject(&self, candidate: &Candidate) -> Option<Subject> {
        let read = read::file(&candidate.path, MAX_FILE_BYTES);
        if self.left_out(candidate, &read).is_some() {
            return None;
        }
        read.ok().map(|bytes| Subject { path: candidate.path.clone(), bytes })
    }

    fn compiled(&self, path: &Path, read: Result<Vec<u8>, Unread>) -> Looked {
        let world = Folder::with_environment(&task::folder(path));
        match task::check(&self.session, path, read, &world, self.keys) {
            Err(why) => Looked::Unread(why),
            Ok(compiled) => {
                let name = path.display().to_string();
                let found = show::findings(&name, &compiled.diagnostics, &compiled.sources, self.format, self.look);
                // Of errors the first is always kept.
                let is_broken = compiled.diagnostics.iter().any(|one| one.row.severity == Severity::Error);
                let (omitted, sources) = (compiled.omitted, compiled.sources);
                let program = compiled.program.filter(|_| self.keys);
                let asked = program
                    .map(|(program, _)| Box::new(Asked { path: path.to_owned(), roles: program.roles, sources }));
                Looked::Checked { findings: found, omitted, is_broken, asked }
            }
        }
    }
}

/// What the searches came to: a search that finds no task is probably a mistake in what was typed.
struct Tally {
    /// Tasks by the number of the search.
    of_searches: Vec<usize>,
    not_selected: usize,
}

impl Tally {
    fn count(&mut self, candidate: &Candidate, looked: &Looked) {
        if matches!(looked, Looked::NotATask) {
            return;
        }
        self.not_selected += usize::from(matches!(looked, Looked::NotSelected));
        for search in &candidate.searches {
            if let Some(count) = self.of_searches.get_mut(*search) {
                *count += 1;
            }
        }
    }

    fn tell(&self, found: &Found, selection: Option<&str>, collector: &mut Collector) {
        for (search, count) in found.searches.iter().zip(&self.of_searches) {
            if *count > 0 || search.is_damaged {
                continue;
            }
            let typed = read::shown(&search.typed);
            let what = if search.is_pattern {
                format!("{typed}: the pattern matches no task")
            } else {
                format!("{typed}: there is no task in this folder")
            };
            collector.fault(format!("{what}; a task is a `.yaml` file with the key `aigo` at its top"));
        }
        if let Some(selection) = selection.filter(|_| self.not_selected > 0 && collector.files() == 0) {
            let tasks = show::plural(self.not_selected, "task");
            let fault = format!("`-k {selection}` matches none of {tasks}: look at their `tags`, names and files");
            collector.fault(fault);
        }
    }
}
