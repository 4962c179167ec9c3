//! The compiler's one door to the world.

use std::io::{self, BufRead};

/// What the compiler may ask. Paths are as the task writes them, relative to the task's folder.
pub trait Sources {
    /// Opens a file for reading.
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>>;

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
