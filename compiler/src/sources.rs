//! The compiler's one door to the world.

use std::io::{self, BufRead};

/// What the compiler may ask. Paths are as the task writes them, relative to the task's folder.
pub trait Sources {
    /// Opens a file for reading.
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>>;

    /// What makes a file the same file for every task of a process: two paths with one identity are read once.
    fn identity(&self, path: &str) -> io::Result<String> {
        Ok(path.to_owned())
    }

    /// What the user calls the file.
    fn name(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// A door to nowhere: for tasks without files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::Error::new(io::ErrorKind::NotFound, format!("{path}: no files here")))
    }
}
