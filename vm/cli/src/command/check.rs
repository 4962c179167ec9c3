//! `aigo check`: every mistake of every task, in one pass.

use std::path::Path;

use aigo_compiler::Session;
use aigo_compiler::lock::Locking;
use aigo_ir::diagnostic::Severity;
use aigo_ir::selection::Selection;
use aigo_source::MAX_FILE_BYTES;

use crate::args::{CheckArgs, Deny, Findings};
use crate::collect::Collector;
use crate::find::{self, Candidate, Found};
use crate::finding::Finding;
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
    let checker = Checker { session, selection, format: args.format, look: Look::of_output(args.color) };
    let mut collector = Collector::new(args.format);
    let mut is_broken = false;
    if let (true, Some(path)) = (args.stdin, &args.path) {
        let looked = checker.compiled(path, read::standard_input(MAX_FILE_BYTES));
        is_broken = take(looked, &mut collector);
    } else {
        let found = find::find(&args.paths);
        let threads = args.jobs.map_or_else(parallel::cores, usize::from);
        let mut tally = Tally { of_searches: vec![0; found.searches.len()], not_selected: 0 };
        found.faults.iter().for_each(|fault| collector.fault(fault.clone()));
        parallel::in_order(
            &found.candidates,
            threads,
            |candidate| checker.looked(candidate),
            |candidate, looked| {
                tally.count(candidate, &looked);
                is_broken |= take(looked, &mut collector);
            },
        );
        tally.tell(&found, args.select.as_deref(), &mut collector);
    }
    let outcome = collector.finish();
    let is_denied = args.deny == Some(Deny::Warnings) && outcome.warnings > 0;
    match (outcome.errors > 0 || is_broken || is_denied, outcome.has_faults) {
        (true, _) => exit::TASK,
        (false, true) => exit::USAGE,
        (false, false) => exit::PASSED,
    }
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
    },
}

/// Takes what became of a candidate; whether it has errors.
fn take(looked: Looked, collector: &mut Collector) -> bool {
    match looked {
        Looked::NotATask | Looked::NotSelected => false,
        Looked::Unread(fault) => {
            collector.fault(fault);
            false
        }
        Looked::Checked { findings, omitted, is_broken } => {
            collector.task(findings, omitted);
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
}

impl Checker {
    fn looked(&self, candidate: &Candidate) -> Looked {
        let path = &candidate.path;
        let read = read::file(path, MAX_FILE_BYTES);
        if !candidate.is_named && !peek::is_task(path, &read) {
            return Looked::NotATask;
        }
        if let (Some(selection), Ok(bytes)) = (&self.selection, &read)
            && peek::tags(path, bytes).is_some_and(|tags| !selection.matches(&tags))
        {
            return Looked::NotSelected;
        }
        self.compiled(path, read)
    }

    fn compiled(&self, path: &Path, read: Result<Vec<u8>, Unread>) -> Looked {
        let world = Folder::with_environment(&task::folder(path));
        match task::check(&self.session, path, read, &world) {
            Err(why) => Looked::Unread(why),
            Ok(compiled) => Looked::Checked {
                findings: show::findings(
                    &path.display().to_string(),
                    &compiled.diagnostics,
                    &compiled.sources,
                    self.format,
                    self.look,
                ),
                omitted: compiled.omitted,
                // Of errors the first is always kept.
                is_broken: compiled.diagnostics.iter().any(|one| one.row.severity == Severity::Error),
            },
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
