//! The only place that prints. A closed pipe ends silently.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the only place that prints")]

use std::io::{self, BufWriter, StdoutLock, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use aigo_ir::text::printable;

/// To standard output, with a line end. A reader who has gone away is no error.
pub(crate) fn line(text: &str) {
    all(&[printable(text).as_bytes(), b"\n"]);
}

/// To standard output. Nothing that others wrote reaches a terminal as more than letters.
pub(crate) fn text(text: &str) {
    all(&[printable(text).as_bytes()]);
}

/// To standard output as it is: a text that was read, for the program that gave it.
pub(crate) fn raw(text: &[u8]) {
    all(&[text]);
}

/// What standard output did not take, and why: the first time.
static UNWRITTEN: Mutex<Option<String>> = Mutex::new(None);

fn all(parts: &[&[u8]]) {
    let mut out = std::io::stdout().lock();
    let written = parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
    }
}

/// Why something that was to be printed is not, if that is so; a reader who has gone away is no reason.
pub(crate) fn unwritten() -> Option<String> {
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Standard output for much text, which was made safe before it was coloured. When its reader has gone away, nothing more
/// is written, and that is no error.
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, std::io::stdout().lock()), failed: None }
    }

    pub(crate) fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }

    /// What went wrong, but for a reader who has gone away.
    pub(crate) fn failure(&self) -> Option<String> {
        let failed = self.failed.as_ref().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        failed.map(ToString::to_string)
    }
}

/// Whether a line stands on the terminal that is drawn anew.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// To standard error: a line that takes the place of the one drawn before. Only for terminals.
pub(crate) fn drawn(text: &str) {
    IS_DRAWN.store(true, Ordering::Relaxed);
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\u{1b}[2K{}", printable(text)).and_then(|()| err.flush());
}

/// Takes the drawn line away.
pub(crate) fn undrawn() {
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[2K");
    }
}

/// To standard error: what is not the result.
pub(crate) fn note(text: &str) {
    undrawn();
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// To standard error: what went wrong.
pub(crate) fn error(text: &str) {
    note(&format!("error: {text}"));
}
