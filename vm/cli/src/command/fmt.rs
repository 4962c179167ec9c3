//! `aigo fmt`: files laid out anew, with what they say unchanged.

use std::path::Path;

use aigo_compiler::{Session, expand};
use aigo_ir::diagnostic::{Diagnostic, Severity};
use aigo_ir::span::{FileId, SourceMap};
use aigo_source::{MAX_FILE_BYTES, Parsed, layout};

use crate::args::FmtArgs;
use crate::find::{self, Candidate};
use crate::read::{self, Unread};
use crate::show::plural;
use crate::world::Folder;
use crate::{diff, exit, out, parallel, peek, replace, show, task};

pub(crate) fn fmt(args: &FmtArgs) -> u8 {
    if let (true, Some(path)) = (args.stdin, &args.path) {
        return standard_input(path, args);
    }
    let found = find::find(&args.paths);
    let mut tally = Tally::default();
    for fault in &found.faults {
        tally.fault(fault);
    }
    let threads = args.jobs.map_or_else(parallel::cores, usize::from);
    let mut of_searches = vec![0_usize; found.searches.len()];
    let work = |candidate: &Candidate| looked(candidate, args.expand);
    parallel::in_order(&found.candidates, threads, work, |candidate, looked| {
        if !matches!(looked, Looked::Other) {
            for search in &candidate.searches {
                if let Some(count) = of_searches.get_mut(*search) {
                    *count += 1;
                }
            }
        }
        take(candidate, looked, args, &mut tally);
    });
    for (search, _) in
        found.searches.iter().zip(&of_searches).filter(|(search, count)| **count == 0 && !search.is_damaged)
    {
        let typed = read::shown(&search.typed);
        let what = if search.is_pattern { "the pattern matches" } else { "there is in this folder" };
        tally.fault(&format!("{typed}: {what} no task and no file of definitions"));
    }
    tally.tell(args);
    tally.code(args)
}

/// What a file came to.
enum Looked {
    /// No task, and no file of definitions.
    Other,
    Unread(String),
    /// Its findings, as text.
    Broken(String),
    Faulty(String),
    Done {
        before: String,
        after: String,
    },
}

#[derive(Default)]
struct Tally {
    changed: usize,
    same: usize,
    is_broken: bool,
    has_faults: bool,
    is_faulty: bool,
}

impl Tally {
    fn fault(&mut self, fault: &str) {
        out::error(fault);
        self.has_faults = true;
    }

    fn tell(&self, args: &FmtArgs) {
        if args.diff || self.changed + self.same == 0 {
            return;
        }
        let done = if args.check { "would be formatted" } else { "formatted" };
        out::line(&format!("{} {done}, {} unchanged", plural(self.changed, "file"), self.same));
    }

    fn code(&self, args: &FmtArgs) -> u8 {
        let would_change = (args.check || args.diff) && self.changed > 0;
        if self.is_faulty {
            exit::FAULT
        } else if self.is_broken || would_change {
            exit::TASK
        } else if self.has_faults {
            exit::USAGE
        } else {
            exit::PASSED
        }
    }
}

fn take(candidate: &Candidate, looked: Looked, args: &FmtArgs, tally: &mut Tally) {
    let shown = read::shown(&candidate.path);
    match looked {
        Looked::Other => {}
        Looked::Unread(why) => tally.fault(&why),
        Looked::Broken(findings) => {
            out::note(findings.trim_end());
            tally.is_broken = true;
        }
        Looked::Faulty(what) => {
            out::error(&what);
            tally.is_faulty = true;
        }
        Looked::Done { before, after } if before == after => tally.same += 1,
        Looked::Done { before, after } => {
            if args.diff {
                out::text(&diff::unified(&shown, &before, &after));
            } else if args.check {
                out::line(&format!("{shown}: would be formatted"));
            } else if let Err(fault) = replace::replace(&candidate.path, before.as_bytes(), after.as_bytes()) {
                return tally.fault(&fault);
            } else {
                out::line(&format!("{shown}: formatted"));
            }
            tally.changed += 1;
        }
    }
}

fn looked(candidate: &Candidate, expand: bool) -> Looked {
    let path = &candidate.path;
    let read = read::file(path, MAX_FILE_BYTES);
    if !candidate.is_named && !peek::is_task(path, &read) && !peek::defines(&read) {
        return Looked::Other;
    }
    formatted(path, read, expand)
}

/// Lays out what was read of a file.
fn formatted(path: &Path, read: Result<Vec<u8>, Unread>, expand: bool) -> Looked {
    let name = path.display().to_string();
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(Unread::Refused(why)) => return Looked::Unread(why),
        Err(Unread::TooLarge) => {
            return Looked::Unread(format!(
                "{}: it has more than {MAX_FILE_BYTES} bytes, which are the most that are read",
                read::shown(path)
            ));
        }
    };
    let mut sources = SourceMap::default();
    let file = sources.add(name.as_str(), String::from_utf8_lossy(&bytes).into_owned());
    let broken = |found: &[Diagnostic]| Looked::Broken(show::plain(&name, found, &sources));
    let text = match aigo_source::decode(&bytes, file) {
        Ok(text) => text,
        Err(found) => return broken(&[*found]),
    };
    let parsed = aigo_source::parse(text, file);
    let errors = errors(&parsed);
    if !errors.is_empty() {
        return broken(&errors);
    }
    let done = if expand { expanded(path, text, &parsed) } else { form(path, &parsed).map_err(Looked::Faulty) };
    match done {
        Ok(after) => Looked::Done { before: text.to_owned(), after },
        Err(looked) => looked,
    }
}

fn errors(parsed: &Parsed) -> Vec<Diagnostic> {
    parsed.diagnostics.iter().filter(|one| one.row.severity == Severity::Error).cloned().collect()
}

fn form(path: &Path, parsed: &Parsed) -> Result<String, String> {
    layout::formatted(parsed).map_err(|fault| faulty(path, &fault.what))
}

fn faulty(path: &Path, what: &str) -> String {
    format!(
        "{}: the file is left as it is, since formatting would change what it says: {what}. This is a fault of aigo, not of the \
         file: please report it, with the file",
        read::shown(path)
    )
}

/// The text with its short forms written out, if it is the same program then.
fn expanded(path: &Path, text: &str, parsed: &Parsed) -> Result<String, Looked> {
    let name = path.display().to_string();
    let world = Folder::new(&task::folder(path));
    // What a text means: the program's hash, or that it only defines.
    let compiled = |text: &str| aigo_compiler::compile_in(&Session::default(), &name, text.as_bytes(), &world);
    let before = compiled(text);
    if before.program.is_none() && !before.is_library {
        return Err(Looked::Broken(show::plain(&name, &before.diagnostics, &before.sources)));
    }
    let long = expand::expanded(parsed, |text| aigo_source::parse(text, FileId(0)));
    let read = aigo_source::parse(&long, FileId(0));
    if let Some(error) = errors(&read).first() {
        return Err(Looked::Faulty(faulty(path, &error.message)));
    }
    let after = form(path, &read).map_err(Looked::Faulty)?;
    let again = compiled(&after);
    let hash = |program: &Option<(aigo_ir::program::Program, _)>| program.as_ref().map(|(program, _)| program.hash());
    if hash(&before.program) != hash(&again.program) || before.is_library != again.is_library {
        return Err(Looked::Faulty(faulty(path, "the program is another one")));
    }
    Ok(after)
}

/// The text of an editor.
fn standard_input(path: &Path, args: &FmtArgs) -> u8 {
    match formatted(path, read::standard_input(MAX_FILE_BYTES), args.expand) {
        Looked::Other => exit::PASSED,
        Looked::Unread(why) => {
            out::error(&why);
            exit::USAGE
        }
        Looked::Broken(findings) => {
            out::note(findings.trim_end());
            exit::TASK
        }
        Looked::Faulty(what) => {
            out::error(&what);
            exit::FAULT
        }
        Looked::Done { before, after } => {
            if args.diff {
                out::text(&diff::unified(&read::shown(path), &before, &after));
            } else if !args.check {
                out::raw(after.as_bytes());
            }
            if (args.check || args.diff) && before != after { exit::TASK } else { exit::PASSED }
        }
    }
}
