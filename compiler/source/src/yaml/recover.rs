//! Mask and parse again: no YAML parser goes on after an error, so the entry that holds it is blanked (same length, line
//! breaks kept, `key:` kept) and the text is parsed once more. A healthy file never comes here.

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{FileId, Span};

use super::Parsed;
use super::build::{Broken, Builder};
use super::events::Cause;
use super::explain::{describe, place};
use super::lines::{Head, block_end, heads, indent, is_blank, line_at, line_start, visible};
use crate::catalog;

/// How often one text is parsed at most …
const MAX_PARSES: usize = 64;
/// … and how many bytes that may be together.
const MAX_PARSED_BYTES: usize = 64 << 20;

/// A part of the text that is left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where a stand-in was written that becomes an error node.
    pub(super) hole: Option<usize>,
    /// The start of the line on which the masked entry begins.
    line: usize,
    /// The place from which the entry was found, and how often it was widened.
    anchor: usize,
    step: usize,
    /// Whether there is a diagnostic for it, and if the entry was in the wrong column, which.
    told: bool,
    misplaced: Option<usize>,
}

/// Parses with masks until nothing is left to mask. `broken` is what the first parse met.
pub(super) fn recover(text: &Arc<str>, file: FileId, mut broken: Broken) -> Parsed {
    let mut masks: Vec<Mask> = Vec::new();
    let mut syntax: Vec<Diagnostic> = Vec::new();
    let tries = MAX_PARSES.min(MAX_PARSED_BYTES / text.len().max(1)).max(4);
    for nth in 0..tries {
        broken.stop.at = place(text, &broken);
        add_mask(text, file, &broken, &mut masks, &mut syntax);
        let last = nth + 2 >= tries;
        if last {
            give_up(text, file, &mut masks, &mut syntax, nth + 1 == tries);
        }
        let blanked = masked(text, &masks);
        let mut builder = Builder::new(text.clone(), &blanked, file, &masks);
        match builder.read() {
            Ok(()) => {
                syntax.append(&mut builder.diagnostics);
                return Parsed { tree: builder.tree, diagnostics: syntax };
            }
            Err(next) => broken = next,
        }
    }
    // Blank text always parses, so this is not reached; an error node is the honest answer if it were.
    let masks = [whole(text, 0)];
    let mut builder = Builder::new(text.clone(), "", file, &masks);
    let _ = builder.read();
    Parsed { tree: builder.tree, diagnostics: syntax }
}

/// Masks where reading stopped, or widens the mask that did not help.
fn add_mask(text: &str, file: FileId, broken: &Broken, masks: &mut Vec<Mask>, syntax: &mut Vec<Diagnostic>) {
    let cause = broken.bracket.or_else(|| line_before(text, broken)).unwrap_or(broken.stop.at);
    let anchor = visible(text, cause.min(broken.stop.at));
    // An error before the last mask is the earlier cause of what that mask was for.
    while let Some(mask) = masks.pop_if(|mask| anchor < mask.line) {
        if mask.told {
            syntax.pop();
        }
    }
    if broken.stop.cause == Cause::Comments {
        syntax.push(describe(text, file, broken, anchor));
        masks.push(Mask { told: true, ..comments(text, broken.stop.at) });
        return;
    }
    if let Some(mask) = masks.last_mut().filter(|mask| anchor <= mask.end || broken.stop.at <= mask.end) {
        *mask = Mask { told: mask.told, misplaced: mask.misplaced, ..region(text, mask.anchor, mask.step + 1) };
        let (start, line) = (mask.start, mask.line);
        // A wider mask may cover earlier ones; their diagnostics stay.
        let wide = masks.pop();
        masks.retain(|earlier| earlier.end < start.min(line));
        masks.extend(wide);
        return;
    }
    let misplaced = matches!(broken.stop.cause, Cause::KeyExpected | Cause::ItemExpected)
        .then(|| broken.stop.at - line_start(text, broken.stop.at));
    let told = !misplaced.is_some_and(|column| is_sibling(text, broken.stop.at, column, masks));
    if told {
        syntax.push(describe(text, file, broken, anchor));
    }
    masks.push(Mask { told, misplaced, ..region(text, anchor, 0) });
}

/// The comments from a place on, as far as nothing else stands between them.
fn comments(text: &str, at: usize) -> Mask {
    let start = line_start(text, at);
    let mut end = start;
    for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        if !is_blank(line) {
            break;
        }
        end += line.len();
    }
    Mask { start, end, line: start, anchor: start, ..Mask::default() }
}

/// Whether an entry in the wrong column stands in one block with an earlier one in the same column. What moved the first
/// moved all of them, so it is one mistake.
fn is_sibling(text: &str, at: usize, column: usize, masks: &[Mask]) -> bool {
    let Some(earlier) = masks.iter().rev().find(|mask| mask.misplaced == Some(column)) else { return false };
    let between = text.get(earlier.line..=at.min(text.len().saturating_sub(1))).unwrap_or_default();
    between.lines().filter(|line| !is_blank(line)).all(|line| {
        let own = heads(line).last().map_or(indent(line), |head| head.column);
        own.max(indent(line)) >= column
    })
}

/// A line before the error, if that is the cause: it begins with the `%` of a directive, or lacks its colon and so takes in
/// the lines up to the next colon, or is all of a document that ended with it, by an indentation of its own.
fn line_before(text: &str, broken: &Broken) -> Option<usize> {
    let here = line_start(text, broken.stop.at);
    let above = text.get(..here)?.trim_end();
    let last = line_start(text, above.len());
    if line_at(text, last).starts_with('%') {
        return Some(last);
    }
    if let Some(scalar) = broken.scalar {
        let start = line_start(text, scalar);
        let alone =
            heads(line_at(text, start)).iter().all(|head| text.as_bytes().get(start + head.column) == Some(&b'-'));
        if start < here && alone {
            return Some(scalar);
        }
    }
    let start = line_start(text, broken.ended?);
    let end = block_end(text, start, indent(line_at(text, start)), false);
    text.get(end..here)?.lines().all(is_blank).then_some(start)
}

/// Leaves out everything from the last mask on, and in the last parse everything.
fn give_up(text: &str, file: FileId, masks: &mut Vec<Mask>, syntax: &mut Vec<Diagnostic>, all: bool) {
    let start = masks.last().map_or(0, |mask| mask.line);
    let rest = top(text, start);
    if !all {
        let message = "this file has too many syntax errors: what follows here was not read";
        let found =
            catalog::GAVE_UP.at(Span::new(file, start, start), message).help("mend the errors above and check again");
        syntax.push(found);
    }
    let start = if all { 0 } else { rest };
    masks.retain(|mask| mask.end < start);
    masks.push(if all {
        whole(text, start)
    } else {
        Mask { start: rest, end: text.len(), line: rest, anchor: rest, ..Mask::default() }
    });
}

/// The start of the entry without indentation that holds `at`.
fn top(text: &str, at: usize) -> usize {
    let mut start = line_start(text, at);
    while start > 0
        && !line_at(text, start).starts_with(|c: char| !c.is_whitespace() && c != '#' && c != '}' && c != ']')
    {
        start = line_start(text, start - 1);
    }
    start
}

fn whole(text: &str, anchor: usize) -> Mask {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let hole = text.get(start..).and_then(|rest| rest.find(|c: char| !c.is_whitespace())).map(|at| start + at);
    Mask { start, end: text.len(), hole, anchor, step: usize::MAX - 1, ..Mask::default() }
}

/// The text with its masked parts blank: same bytes elsewhere, same line breaks.
fn masked(text: &str, masks: &[Mask]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for mask in masks {
        for byte in bytes.iter_mut().take(mask.end).skip(mask.start).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        if let Some(byte) = mask.hole.and_then(|hole| bytes.get_mut(hole)) {
            *byte = b'~';
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The part to mask for an error at `anchor`, the `step`-th try: the value of the innermost entry that begins before it,
/// then wider ones, then the whole line with what is indented under it, then the entries around, at last everything.
fn region(text: &str, anchor: usize, step: usize) -> Mask {
    let mut start = line_start(text, anchor);
    let mut limit = usize::MAX;
    let mut left = step;
    let mut first = true;
    loop {
        let line = line_at(text, start);
        for head in
            heads(line).into_iter().rev().filter(|head| head.column < limit && (!first || start + head.end <= anchor))
        {
            if left == 0 {
                return value_mask(text, start, &head, line, anchor, step);
            }
            left -= 1;
        }
        let own = indent(line);
        if left == 0 {
            let end = block_end(text, start, own, false);
            return Mask { start, end, line: start, anchor, step, ..Mask::default() };
        }
        left -= 1;
        first = false;
        limit = own.min(limit);
        // Up to the entry that this one belongs to.
        loop {
            if start == 0 || limit == 0 {
                return whole(text, anchor);
            }
            start = line_start(text, start - 1);
            let line = line_at(text, start);
            if !is_blank(line) && indent(line) < limit {
                break;
            }
        }
    }
}

fn value_mask(text: &str, line_at: usize, head: &Head, line: &str, anchor: usize, step: usize) -> Mask {
    let start = line_at + head.end;
    let bare = line.get(head.end..).is_none_or(is_blank);
    let end = block_end(text, line_at, head.column, bare).max(start);
    let hole = text.get(start..end).and_then(|part| part.find(|c: char| !c.is_whitespace())).map(|at| start + at);
    Mask { start, end, hole, line: line_at, anchor, step, ..Mask::default() }
}
