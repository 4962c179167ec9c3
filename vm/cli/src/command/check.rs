//! `aigo check`: every mistake of every task, in one pass.

use std::path::Path;

use aigo_compiler::Session;
use aigo_ir::selection::Selection;
use aigo_source::MAX_FILE_BYTES;

use crate::args::{CheckArgs, Deny, Findings};
use crate::collect::Collector;
use crate::command::keys::{self, Asked};
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
    let look = Look::of_output(args.color);
    let checker = Checker { session: Session::default(), selection, format: args.format, look, keys: args.keys };
    let mut collector = Collector::new(args.format);
    let mut is_broken = false;
    let mut asked = Vec::new();
    if let (true, Some(path)) = (args.stdin, &args.path) {
        let looked = checker.compiled(path, read::standard_input(MAX_FILE_BYTES));
        is_broken = take(looked, &mut collector, &mut asked);
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
                is_broken |= take(looked, &mut collector, &mut asked);
            },
        );
        tally.tell(&found, args.select.as_deref(), &mut collector);
    }
    if args.keys {
        keys::check(&asked, &mut collector, args.format, look);
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
        /// Whether it has errors, those included that are not among the findings.
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
        match task::compile(&self.session, path, read, &world) {
            Err(why) => Looked::Unread(why),
            Ok(compiled) => {
                let name = path.display().to_string();
                let found = show::findings(&name, &compiled.diagnostics, &compiled.sources, self.format, self.look);
                let is_broken = compiled.program.is_none() && !compiled.is_library;
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
