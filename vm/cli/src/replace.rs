//! Files that are written anew: whole or not at all, and only if nobody else has changed them.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::read;
use crate::runs::LOGS;

/// Replaces the bytes of a file that still has those that were read. A link is followed, permissions stay, and at no moment is
/// there a half-written file. A refusal is one line that names the path and what to do.
pub(crate) fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<(), String> {
    let refused = |why: &str| Err(format!("{}: it was not written: {why}", read::shown(path)));
    let told = |error: &io::Error| format!("{}: it cannot be written: {error}", read::shown(path));
    let real = fs::canonicalize(path).map_err(|error| told(&error))?;
    let metadata = fs::metadata(&real).map_err(|error| told(&error))?;
    if metadata.permissions().readonly() {
        return refused("it is read-only: change its permissions, as with `chmod u+w`");
    }
    let is_same = || fs::read(&real).is_ok_and(|bytes| bytes == before);
    let changed = "it has changed since it was read: try again";
    if !is_same() {
        return refused(changed);
    }
    let (temporary, mut file) = beside(&real).map_err(|error| told(&error))?;
    let written = (|| {
        file.write_all(after)?;
        file.set_permissions(metadata.permissions())?;
        file.sync_all()
    })();
    drop(file);
    let result = match written {
        // As late as can be.
        Ok(()) if !is_same() => refused(changed),
        Ok(()) => fs::rename(&temporary, &real).map_err(|error| told(&error)),
        Err(error) => Err(told(&error)),
    };
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// A new file in the folder of another, hidden, so that no search comes upon it.
fn beside(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut tried = 0_u32;
    loop {
        let temporary = path.with_file_name(format!(".{name}.{}-{tried}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < 100 => tried += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Puts a text in the place of a file: whoever reads meanwhile has the old one or the new one, whole.
pub(crate) fn put(path: &Path, text: &str) -> io::Result<()> {
    let (temporary, mut file) = beside(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    moved
}

/// A file that a command writes: it takes the place of what was there when it is whole, and nothing is left of one that is not.
pub(crate) struct Fresh {
    path: PathBuf,
    /// Where it is written; none where the path is no file, such as a pipe, which is written to as it is.
    temporary: Option<PathBuf>,
    file: BufWriter<fs::File>,
}

impl Fresh {
    /// Begins one. The log of a run and a file of YAML are not written over: that is a slip, and nothing brings them back.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let refused = |why: &str| Err(io::Error::other(format!("{why}, and is not written over")));
        // A link is followed.
        let is_there = path.is_file();
        let path = if is_there { fs::canonicalize(path)? } else { path.to_owned() };
        let is_log = path.file_name().is_some_and(|name| LOGS.iter().any(|log| name == *log));
        if is_there && is_log && path.with_file_name("LOCK").exists() {
            return refused("it is the log of a run");
        }
        if is_there && path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            return refused("it looks like a task");
        }
        if is_there && fs::metadata(&path)?.permissions().readonly() {
            return refused("it is read-only");
        }
        let (temporary, file) = if path.exists() && !is_there {
            (None, OpenOptions::new().write(true).open(&path)?)
        } else {
            match beside(&path) {
                Ok((temporary, file)) => (Some(temporary), file),
                // A file may be writable in a folder that is not.
                Err(error) if is_there && error.kind() == io::ErrorKind::PermissionDenied => {
                    (None, OpenOptions::new().write(true).truncate(true).open(&path)?)
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Self { path, temporary, file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Puts it in its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            if let Ok(before) = fs::metadata(&self.path) {
                self.file.get_ref().set_permissions(before.permissions())?;
            }
            self.file.get_ref().sync_all()?;
            fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
        Ok(())
    }

    /// A whole file of this text.
    pub(crate) fn write_all(path: &Path, text: &str) -> io::Result<()> {
        let mut fresh = Self::create(path)?;
        io::Write::write_all(&mut fresh, text.as_bytes())?;
        fresh.finish()
    }
}

impl io::Write for Fresh {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
