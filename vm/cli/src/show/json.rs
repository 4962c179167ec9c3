//! `--format json`: one object. `spec/check.md` defines it.

use aigo_ir::span::Position;
use serde::Serialize;

use super::{Whole, harmless};
use crate::finding;

/// The version of the object's shape.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Object<'w> {
    version: u32,
    files: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    fixable: usize,
    omitted: usize,
    diagnostics: Vec<Item<'w>>,
}

#[derive(Serialize)]
struct Item<'w> {
    code: &'static str,
    name: Option<&'static str>,
    severity: &'static str,
    message: &'w str,
    help: Option<&'w str>,
    #[serde(flatten)]
    place: Place<'w>,
    related: Vec<Related<'w>>,
    fix: Option<Fix<'w>>,
}

#[derive(Serialize)]
struct Place<'w> {
    path: &'w str,
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    offset: usize,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Related<'w> {
    message: &'w str,
    #[serde(flatten)]
    place: Place<'w>,
}

#[derive(Serialize)]
struct Fix<'w> {
    title: &'w str,
    edits: [Edit<'w>; 1],
}

#[derive(Serialize)]
struct Edit<'w> {
    #[serde(flatten)]
    place: Place<'w>,
    text: &'w str,
}

const fn point(at: Position) -> Point {
    Point { offset: at.offset, line: at.line, column: at.column }
}

fn place(place: &finding::Place) -> Place<'_> {
    Place { path: &place.path, start: point(place.start), end: point(place.end) }
}

/// The whole check as text with a line end.
pub(crate) fn write(whole: &Whole<'_>) -> Result<String, serde_json::Error> {
    let items = whole.findings.iter().map(|found| Item {
        code: found.row.code,
        name: Some(found.row.name).filter(|name| !name.is_empty()),
        severity: found.row.severity.word(),
        message: &found.message,
        help: found.help.as_deref(),
        place: place(&found.place),
        related: found.related.iter().map(|(message, at)| Related { message, place: place(at) }).collect(),
        fix: found
            .fix
            .as_ref()
            .map(|fix| Fix { title: &fix.title, edits: [Edit { place: place(&fix.place), text: &fix.text }] }),
    });
    let counts = whole.counts;
    let object = Object {
        version: VERSION,
        files: whole.files,
        errors: counts.errors,
        warnings: counts.warnings,
        notes: counts.notes,
        fixable: counts.fixable,
        omitted: whole.omitted,
        diagnostics: items.collect(),
    };
    serde_json::to_string(&object).map(|text| harmless(&text))
}
