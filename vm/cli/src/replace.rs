//! Files that are written anew: whole or not at all, and only if nobody else has changed them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::read;

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
