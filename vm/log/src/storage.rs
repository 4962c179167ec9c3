//! The file behind the journal, small enough to be played by a test that loses, tears and refuses writes.

use std::fs::File;
use std::io::{self, Write as _};

/// A file that is only appended to.
pub trait Storage: Send + Sync {
    /// Appends a part of `bytes` and says how long that part is, as `write(2)` does. Never called by two threads at once.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns when all that was written before the call is on the disk. Writes may go on meanwhile.
    fn sync(&self) -> io::Result<()>;

    /// The length in bytes.
    fn size(&self) -> io::Result<u64>;

    /// Cuts the file off.
    fn set_len(&self, length: u64) -> io::Result<()>;
}

/// A file opened for appending.
#[derive(Debug)]
pub struct FileStorage(File);

impl FileStorage {
    /// The file must have been opened with `append`.
    pub const fn new(file: File) -> Self {
        Self(file)
    }
}

impl Storage for FileStorage {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}
