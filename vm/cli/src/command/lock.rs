//! `aigo lock`: pins what makes scores comparable, in the file beside each task.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use aigo_compiler::Session;
use aigo_compiler::lock::{LOCK_FILE, Lock, LockFile, Locking, file_name, moved};
use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::SourceMap;
use aigo_source::MAX_FILE_BYTES;

use crate::args::{CheckArgs, Color, Findings, LockArgs};
use crate::command::check;
use crate::read::{self, Unread};
use crate::world::Folder;
use crate::{exit, find, out, peek, replace, show, task};

pub(crate) fn lock(args: &LockArgs) -> u8 {
    if args.check {
        return check::check(&only_held(args));
    }
    let found = find::find(&args.tasks);
    let mut locking = Writing { session: Session::with_lock(Locking::Ignored), ..Writing::default() };
    found.faults.iter().for_each(|fault| locking.fault(fault));
    for candidate in &found.candidates {
        let read = read::file(&candidate.path, MAX_FILE_BYTES);
        if candidate.is_named || peek::is_task(&candidate.path, &read) {
            locking.task(&candidate.path, read, candidate.is_named);
        }
    }
    if locking.tasks == 0 && !locking.has_faults {
        locking.fault("there is no task here to lock; a task is a `.yaml` file with the key `aigo` at its top");
    }
    for (folder, locks) in std::mem::take(&mut locking.locks) {
        locking.folder(&folder, locks);
    }
    match (locking.is_broken, locking.has_faults) {
        (true, _) => exit::TASK,
        (false, true) => exit::USAGE,
        (false, false) => exit::PASSED,
    }
}

/// `aigo lock --check` as a check.
fn only_held(args: &LockArgs) -> CheckArgs {
    CheckArgs {
        paths: args.tasks.clone(),
        stdin: false,
        path: None,
        select: None,
        format: Findings::Text,
        deny: None,
        locked: true,
        fix: false,
        diff: false,
        keys: false,
        color: Color::Auto,
        jobs: None,
    }
}

#[derive(Default)]
struct Writing {
    session: Session,
    /// By folder and by the name of the task's file.
    locks: BTreeMap<PathBuf, BTreeMap<String, Lock>>,
    tasks: usize,
    /// Whether a task or a lock has errors.
    is_broken: bool,
    /// Whether something could not be found, read or written.
    has_faults: bool,
}

impl Writing {
    fn fault(&mut self, fault: impl AsRef<str>) {
        out::error(fault.as_ref());
        self.has_faults = true;
    }

    /// Compiles a task; what is pinned of it is kept until all are compiled.
    fn task(&mut self, path: &Path, read: Result<Vec<u8>, Unread>, is_named: bool) {
        self.tasks += 1;
        let folder = task::folder(path);
        let compiled = match task::check(&self.session, path, read, &Folder::new(&folder), true) {
            Ok(compiled) => compiled,
            Err(why) => return self.fault(why),
        };
        let name = path.display().to_string();
        if path.to_str().is_none() {
            // A lock is text, and names its tasks.
            return self
                .fault(format!("{}: its name is not UTF-8, so no lock can name it: rename it", read::shown(path)));
        }
        match compiled.program {
            Some((program, dataset)) => {
                let lock = Lock::of(&program, &dataset);
                self.locks.entry(folder).or_default().insert(file_name(&name).to_owned(), lock);
            }
            None if compiled.is_library => {
                if is_named {
                    self.fault(format!("{name} only defines what tasks import: lock the tasks"));
                }
            }
            None => {
                out::note(show::plain(&name, &compiled.diagnostics, &compiled.sources).trim_end());
                out::error(&format!("{name} has errors, so it is not locked"));
                self.is_broken = true;
            }
        }
    }

    /// Writes the locks of a folder's tasks, and keeps those of its others.
    fn folder(&mut self, folder: &Path, locks: BTreeMap<String, Lock>) {
        // Held until the file is written, so that two at once lose nothing. Where folders cannot be held, nothing is lost but that.
        let _held = File::open(folder).and_then(|held| held.lock().map(|()| held));
        let path = folder.strip_prefix(".").unwrap_or(folder).join(LOCK_FILE);
        let Some((mut file, before)) = self.before(&path) else { return };
        let mut said = Vec::new();
        for (task, lock) in locks {
            let shown = read::shown(&path.with_file_name(&task));
            match file.tasks.get(&task) {
                None => said.push(format!("{shown}: {} pinned", show::plural(lock.pins.len(), "thing"))),
                Some(old) => {
                    let moves = moved(old, &lock);
                    let word = if moves.is_empty() { "nothing moved" } else { "locked anew" };
                    said.push(format!("{shown}: {word}"));
                    said.extend(moves.into_iter().map(|one| format!("  {}", one.what)));
                }
            }
            file.tasks.insert(task, lock);
        }
        let gone: Vec<String> = file.tasks.keys().filter(|task| !folder.join(task).exists()).cloned().collect();
        for task in gone {
            said.push(format!("{}: taken out, since there is no such file", read::shown(&path.with_file_name(&task))));
            file.tasks.remove(&task);
        }
        let text = file.print();
        if before.as_deref() != Some(text.as_bytes())
            && let Err(error) = write(&path, &text)
        {
            return self.fault(format!("{}: it cannot be written: {error}", read::shown(&path)));
        }
        for line in &said {
            out::line(line);
        }
    }

    /// The lock file as it is, and its bytes; none of both where there is no such file. Where it cannot be read, nothing is
    /// written in its place.
    fn before(&mut self, path: &Path) -> Option<(LockFile, Option<Vec<u8>>)> {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Some((LockFile::default(), None));
        }
        let bytes = match read::file(path, MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(Unread::Refused(why)) => {
                self.fault(why);
                return None;
            }
            Err(Unread::TooLarge) => {
                self.fault(format!("{}: this is no lock: it is too large", read::shown(path)));
                return None;
            }
        };
        let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
        let name = path.display().to_string();
        let id = sources.add(&*name, String::from_utf8_lossy(&bytes).into_owned());
        let file = match aigo_source::decode(&bytes, id) {
            Ok(text) => LockFile::read(text, id, &mut found),
            Err(diagnostic) => {
                found.push(*diagnostic);
                LockFile::default()
            }
        };
        if found.has_errors() {
            out::note(show::plain(&name, &found.finish(), &sources).trim_end());
            out::error(&format!("{name} is left as it is"));
            self.is_broken = true;
            return None;
        }
        Some((file, Some(bytes)))
    }
}

/// Writes a lock. A link stays, and the file that it leads to is replaced.
fn write(path: &Path, text: &str) -> io::Result<()> {
    replace::put(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), text)
}
