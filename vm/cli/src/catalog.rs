//! Every code of every crate, and its page.

use aigo_ir::diagnostic::Row;

// The pages of `spec/diagnostics`, by code: `PAGES: &[(&str, &str)]`.
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// All rows, by their codes.
pub(crate) fn rows() -> Vec<&'static Row> {
    let crates =
        [aigo_source::catalog::ROWS, aigo_compiler::catalog::ROWS, &aigo_vm::ROWS, &aigo_log::ROWS, &aigo_report::ROWS];
    let mut rows: Vec<_> = crates.into_iter().flatten().copied().collect();
    rows.sort_by_key(|row| row.code);
    rows
}

/// The page of a code, in Markdown.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by(|(known, _)| (*known).cmp(code)).ok()?;
    PAGES.get(at).map(|(_, text)| *text)
}
