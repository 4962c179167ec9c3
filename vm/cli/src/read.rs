//! Reading files that may be anything: nothing here waits for a pipe, and nothing reads more than it was told.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::Path;

use aigo_ir::text::printable;

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It has more bytes than are read.
    TooLarge,
    /// One line that names the path and what to do.
    Refused(String),
}

/// A path on one line, safe to print.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).replace('\n', "\\u{a}")
}

/// The bytes of a regular file that has at most `most` of them.
pub(crate) fn file(path: &Path, most: usize) -> Result<Vec<u8>, Unread> {
    let metadata = fs::metadata(path).map_err(|error| Unread::Refused(missing(path, &error)))?;
    if !metadata.is_file() {
        return Err(Unread::Refused(not_a_file(path, metadata.file_type())));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if size > most {
        return Err(Unread::TooLarge);
    }
    let refused = |error: io::Error| Unread::Refused(missing(path, &error));
    let mut bytes = Vec::with_capacity(size + 1);
    limited(File::open(path).map_err(refused)?, most, &mut bytes).map_err(refused)?;
    if bytes.len() > most { Err(Unread::TooLarge) } else { Ok(bytes) }
}

/// The first bytes of a file that is known to be regular.
pub(crate) fn head(path: &Path, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = File::open(path).and_then(|file| limited(file, most, &mut bytes));
    bytes
}

/// What standard input has, if that is at most `most` bytes.
pub(crate) fn standard_input(most: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    limited(io::stdin().lock(), most, &mut bytes)
        .map_err(|error| Unread::Refused(format!("standard input: {error}")))?;
    if bytes.len() > most { Err(Unread::TooLarge) } else { Ok(bytes) }
}

/// One byte more than the most tells that there are more.
fn limited(from: impl io::Read, most: usize, into: &mut Vec<u8>) -> io::Result<usize> {
    from.take(most as u64 + 1).read_to_end(into)
}

/// What to say of a path that cannot be opened.
pub(crate) fn missing(path: &Path, error: &io::Error) -> String {
    let link = fs::read_link(path).ok();
    let path = shown(path);
    match (error.kind(), link) {
        (io::ErrorKind::NotFound, Some(target)) => {
            format!("{path}: this link leads to {}, which is not there: mend it or remove it", shown(&target))
        }
        (io::ErrorKind::NotFound, None) => format!("{path}: there is no such file or folder: check the path"),
        (io::ErrorKind::PermissionDenied, _) => {
            format!("{path}: this user may not read it: change its permissions, as with `chmod u+r`")
        }
        (_, Some(_)) => format!("{path}: this link cannot be followed ({error}): mend it or remove it"),
        (_, None) => format!("{path}: it cannot be read: {error}"),
    }
}

/// What to say of a folder whose entries cannot be listed.
pub(crate) fn unreadable_folder(path: &Path, error: &io::Error) -> String {
    let path = shown(path);
    format!("{path}: the folder cannot be read, so tasks in it are not checked: {error}")
}

fn not_a_file(path: &Path, kind: FileType) -> String {
    let path = shown(path);
    let what = if kind.is_dir() { "a folder" } else { special(kind) };
    format!("{path}: this is {what}, not a file: name a file, or pipe the text to `aigo check --stdin --path NAME`")
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "something else"
}
