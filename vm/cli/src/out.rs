//! The only place that prints. A closed pipe ends silently.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the only place that prints")]

use std::io::Write as _;

use aigo_ir::text::printable;

/// To standard output, with a line end. A reader who has gone away is no error.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(printable(text).as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
}

/// To standard output. Nothing that others wrote reaches a terminal as more than letters.
pub(crate) fn text(text: &str) {
    coloured(&printable(text));
}

/// To standard output, as it is: of what was made safe before it was coloured.
pub(crate) fn coloured(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// To standard error: what is not the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// To standard error: what went wrong.
pub(crate) fn error(text: &str) {
    note(&format!("error: {text}"));
}
