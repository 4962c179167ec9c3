//! The compiler's one door to the world.

use std::io::{self, BufRead};

/// What the compiler may ask. Paths are as the task writes them, relative to the task's folder.
pub trait Sources {
    /// Opens a file for reading. A file of samples is opened once to type its rows, once more where ids stand twice, where
    /// rows have no ids, or where a shuffled source is cut, and then by each reading of [`Dataset::rows`](crate::Dataset::rows).
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>>;

    /// What makes a file the same file for every task of a process: two paths with one identity are read once.
    fn identity(&self, path: &str) -> io::Result<String> {
        Ok(path.to_owned())
    }

    /// What the user calls the file.
    fn name(&self, path: &str) -> String {
        path.to_owned()
    }

    /// The files that a pattern matches, as [`glob::matches`](crate::glob::matches) says: sorted, under the task's folder,
    /// written as [`Sources::open`] takes them. Nothing else is told of the folder.
    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, format!("{pattern}: no patterns here; name the files")))
    }

    /// Whether the environment has a value for a name, which is not empty. What cannot be known is taken as set.
    fn env_is_set(&self, _name: &str) -> bool {
        true
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
