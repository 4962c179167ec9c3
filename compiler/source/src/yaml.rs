//! YAML files: bytes to text, text to a spanned tree with everything that is wrong with it.
//!
//! `quick` reads what almost every file consists of, and `events`, the parser behind a small door, all others; `build` makes
//! the arena (`tree`) of what either saw, `entries` sees to the keys of maps, `resolve` to the values of scalars, `lint` says
//! what is odd about them, `place` mends marks, and `recover` goes on after a syntax error, which `explain` puts in words;
//! both look at broken text through `lines`.

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{FileId, Span};

use crate::catalog;

mod build;
mod entries;
mod events;
mod explain;
pub mod layout;
mod lines;
mod lint;
mod place;
mod quick;
mod recover;
mod resolve;
pub(crate) mod tree;

use tree::Tree;

/// How large a file may be: 8 MiB.
pub const MAX_FILE_BYTES: usize = 8 << 20;

/// A file as far as it can be read, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The tree; what could not be read is an error node in it.
    pub tree: Tree,
    /// Findings in the order in which they were made; any error makes the tree unfit to use.
    pub diagnostics: Vec<Diagnostic>,
}

/// The text of a file. Refused, with the exact byte, if it is not UTF-8, and if it begins as UTF-16 does, with or without a
/// mark: every other byte of such a file may be a NUL, and each would be an error of its own.
pub fn decode(bytes: &[u8], file: FileId) -> Result<&str, Box<Diagnostic>> {
    let save = "save the file as UTF-8";
    let utf_16 = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("by the byte order mark at its start"),
        [0, 1..=255, ..] | [1..=255, 0, ..] => Some("by the NUL in its first character"),
        _ => None,
    };
    if let Some(why) = utf_16 {
        let message = format!("this file is UTF-16, {why}; UTF-8 was expected");
        return Err(Box::new(catalog::NOT_UTF8.at(Span::new(file, 0, 2), message).help(save)));
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let length = error.error_len().unwrap_or(bytes.len() - at);
    let byte = bytes.get(at).copied().unwrap_or_default();
    let cut = if error.error_len().is_none() { ": the file ends inside a character" } else { "" };
    let message = format!("the byte 0x{byte:02X} at offset {at} is not UTF-8{cut}");
    Err(Box::new(catalog::NOT_UTF8.at(Span::new(file, at, at + length), message).help(save)))
}

/// Reads YAML. There is always a tree, and no text makes this panic or take long.
pub fn parse(text: &str, file: FileId) -> Parsed {
    parse_shared(&text.into(), file)
}

/// Reads YAML; the tree shares the text with its owner.
pub fn parse_shared(text: &Arc<str>, file: FileId) -> Parsed {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("this file has {} bytes; at most {MAX_FILE_BYTES} are read", text.len());
        let help = "move data to a file of its own, such as JSON Lines, which is read row by row";
        let found = catalog::FILE_TOO_LARGE.at(Span::new(file, 0, 0), message).help(help);
        return Parsed { tree: Tree::broken(file), diagnostics: vec![found] };
    }
    let mut quick = build::Builder::new(text.clone(), text, file, &[]);
    let mut parsed = match quick::read(text, &mut quick) {
        Ok(()) => Parsed { tree: quick.tree, diagnostics: quick.diagnostics },
        Err(quick::Doubt) => by_events(text, file),
    };
    parsed.diagnostics.shrink_to_fit();
    parsed
}

/// What [`parse`] must agree with: the same by the parser that reads YAML of any kind. For tests.
#[doc(hidden)]
pub fn parse_by_events(text: &str, file: FileId) -> Parsed {
    let mut parsed = by_events(&Arc::from(text), file);
    parsed.diagnostics.shrink_to_fit();
    parsed
}

fn by_events(text: &Arc<str>, file: FileId) -> Parsed {
    let mut builder = build::Builder::new(text.clone(), text, file, &[]);
    match builder.read() {
        Ok(()) => Parsed { tree: builder.tree, diagnostics: builder.diagnostics },
        Err(broken) => recover::recover(text, file, broken),
    }
}
