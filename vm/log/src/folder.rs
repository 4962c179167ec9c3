//! A run's folder: the log, its lock, and what was cut off after a crash.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use aigo_ir::text::printable;

use crate::error::LogError;

/// The name of the log.
pub(crate) const LOG: &str = "log.jsonl";
/// Its name once it is sealed, and while it is being sealed.
pub(crate) const SEALED: &str = "log.jsonl.zst";
const PART: &str = "log.jsonl.zst.part";
const LOCK: &str = "LOCK";
const TORN: &str = "torn";

/// A run's folder that this process alone writes, as long as the value lives.
pub(crate) struct Folder {
    path: PathBuf,
    /// The system gives the lock back when the file is closed, also after a kill.
    lock: File,
}

impl Folder {
    /// Makes a new folder, or takes an empty one.
    pub(crate) fn create(path: &Path) -> Result<Self, LogError> {
        let failed = |doing| move |error| LogError::io(path.display(), doing, error);
        fs::create_dir_all(path).map_err(failed("creating the folder"))?;
        if let Some(found) = fs::read_dir(path).map_err(failed("reading the folder"))?.next() {
            let found = found.map_err(failed("reading the folder"))?.file_name();
            return Err(occupied(path, &found.to_string_lossy()));
        }
        let folder = Self::lock(path)?;
        // The new name is in the parent's folder.
        if let Some(parent) = path.parent() {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            sync_folder(parent).map_err(failed("syncing the parent folder"))?;
        }
        Ok(folder)
    }

    /// Takes the lock of a folder.
    pub(crate) fn lock(path: &Path) -> Result<Self, LogError> {
        let failed = |error| LogError::io(path.join(LOCK).display(), "locking", error);
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), lock }),
            Err(TryLockError::WouldBlock) => Err(LogError::Locked { folder: printable(&path.display().to_string()) }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The log's path.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Where the folder is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The sealed log's path.
    pub(crate) fn sealed(&self) -> PathBuf {
        self.path.join(SEALED)
    }

    /// Where it is written aside.
    pub(crate) fn part(&self) -> PathBuf {
        self.path.join(PART)
    }

    /// Removes the log that is sealed now.
    pub(crate) fn remove_log(&self) -> Result<(), LogError> {
        let removed = fs::remove_file(self.log()).and_then(|()| sync_folder(&self.path));
        removed.map_err(self.failed("removing the log that is sealed now"))
    }

    /// Makes the log, which must not be there.
    pub(crate) fn create_log(&self) -> Result<File, LogError> {
        let file =
            OpenOptions::new().append(true).create_new(true).open(self.log()).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => occupied(&self.path, LOG),
                _ => self.failed("creating the log")(error),
            })?;
        sync_folder(&self.path).map_err(self.failed("syncing the folder"))?;
        Ok(file)
    }

    /// Opens the log for appending.
    pub(crate) fn append_log(&self) -> Result<File, LogError> {
        OpenOptions::new().read(true).append(true).open(self.log()).map_err(self.failed("opening"))
    }

    /// Copies the log's bytes from `at` into a file of their own, which is on the disk when this returns, then cuts the log.
    pub(crate) fn cut(&self, at: u64) -> Result<PathBuf, LogError> {
        let aside = self.path.join(TORN);
        fs::create_dir_all(&aside).map_err(self.failed("creating the folder `torn`"))?;
        let (kept, mut copy) = new_file(&aside, at).map_err(self.failed("keeping the torn end"))?;
        let mut log = File::open(self.log()).map_err(self.failed("opening"))?;
        log.seek(SeekFrom::Start(at))
            .and_then(|_| io::copy(&mut log.by_ref(), &mut copy))
            .and_then(|_| copy.sync_all())
            .and_then(|()| sync_folder(&aside))
            .and_then(|()| sync_folder(&self.path))
            .map_err(self.failed("keeping the torn end"))?;
        let log = OpenOptions::new().write(true).open(self.log()).map_err(self.failed("opening"))?;
        log.set_len(at).and_then(|()| log.sync_all()).map_err(self.failed("cutting the torn end off"))?;
        Ok(kept)
    }

    /// The lock alone, which the journal holds.
    pub(crate) fn into_lock(self) -> File {
        self.lock
    }

    fn failed(&self, doing: &'static str) -> impl Fn(io::Error) -> LogError {
        let log = self.log();
        move |error| LogError::io(log.display(), doing, error)
    }
}

fn occupied(path: &Path, found: &str) -> LogError {
    LogError::Occupied { folder: printable(&path.display().to_string()), found: printable(found) }
}

/// A file named after the place of the cut. A run may be torn at one place more than once.
fn new_file(folder: &Path, at: u64) -> io::Result<(PathBuf, File)> {
    let mut again = 1_u32;
    loop {
        let name = if again == 1 { format!("at-{at}") } else { format!("at-{at}.{again}") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => again += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Makes the names in a folder durable.
#[cfg(unix)]
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Other systems do it themselves, and do not open folders as files.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
