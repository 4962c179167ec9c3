//! Mask and parse again: no YAML parser goes on after an error, so the entry that holds it is blanked (same length, line
//! breaks kept, `key:` kept) and the text is parsed once more. A healthy file never comes here.

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{FileId, Span};
use aigo_ir::text::excerpt;

use super::build::{Broken, Builder};
use super::{Parsed, lint};
use crate::catalog;

/// How often one text is parsed at most …
const MAX_PARSES: usize = 64;
/// … and how many bytes that may be together.
const MAX_PARSED_BYTES: usize = 64 << 20;

/// A part of the text that is left out.
#[derive(Clone, Debug)]
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
}

/// Parses with masks until nothing is left to mask. `broken` is what the first parse met.
pub(super) fn recover(text: &Arc<str>, file: FileId, mut broken: Broken) -> Parsed {
    let mut masks: Vec<Mask> = Vec::new();
    let mut syntax: Vec<Diagnostic> = Vec::new();
    let tries = MAX_PARSES.min(MAX_PARSED_BYTES / text.len().max(1)).max(4);
    for nth in 0..tries {
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
    while masks.last().is_some_and(|mask| anchor < mask.line) {
        masks.pop();
        syntax.pop();
    }
    if let Some(mask) = masks.last_mut().filter(|mask| anchor <= mask.end || broken.stop.at <= mask.end) {
        *mask = region(text, mask.anchor, mask.step + 1);
        let (start, line) = (mask.start, mask.line);
        // A wider mask may cover earlier ones; their diagnostics stay.
        let wide = masks.pop();
        masks.retain(|earlier| earlier.end < start.min(line));
        masks.extend(wide);
        return;
    }
    syntax.push(describe(text, file, broken, anchor));
    masks.push(region(text, anchor, 0));
}

/// The line before the error, if that is the cause: it begins with the `%` of a directive, or it is all of a document that
/// ended with it, since it lacks its colon or has an indentation of its own.
fn line_before(text: &str, broken: &Broken) -> Option<usize> {
    let here = line_start(text, broken.stop.at);
    let above = text.get(..here)?.trim_end();
    let last = line_start(text, above.len());
    if line_at(text, last).starts_with('%') {
        return Some(last);
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
        Mask { start: rest, end: text.len(), hole: None, line: rest, anchor: rest, step: 0 }
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
    Mask { start, end: text.len(), hole, line: 0, anchor, step: usize::MAX - 1 }
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

/// The last byte at or before `at` that is not blank, so that an error at a line's end belongs to that line.
fn visible(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let blank = text.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    if !blank {
        return at;
    }
    let before = text.get(..at).unwrap_or_default().trim_end();
    before.char_indices().next_back().map_or(0, |(at, _)| at)
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

fn line_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    rest.find('\n').and_then(|end| rest.get(..end)).unwrap_or(rest).trim_end_matches('\r')
}

/// A `-` or a `key:` at the start of a line: the column it stands in, and where its value begins.
struct Head {
    column: usize,
    end: usize,
}

/// The heads of a line, outermost first: `  - a: x` has two.
fn heads(line: &str) -> Vec<Head> {
    let mut found = Vec::new();
    let mut at = indent(line);
    while let Some(rest) = line.get(at..) {
        if rest == "-" || rest.starts_with("- ") {
            found.push(Head { column: at, end: at + 1 });
            at += 1;
            at += rest.get(1..).map_or(0, indent);
            continue;
        }
        found.extend(key_length(rest).map(|length| Head { column: at, end: at + length }));
        break;
    }
    found
}

fn indent(line: &str) -> usize {
    line.bytes().take_while(|&b| b == b' ').count()
}

/// The length of `key:` at the start of `rest`, if there is one.
fn key_length(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let after = match first {
        '[' | '{' | '#' | '|' | '>' | '%' | '@' | '`' | '&' | '*' | '!' | '?' | ',' | ']' | '}' => return None,
        '"' | '\'' => 1 + rest.get(1..)?.find(first)? + 1,
        _ => 0,
    };
    let tail = rest.get(after..)?;
    if after > 0 {
        let gap = tail.len() - tail.trim_start_matches(' ').len();
        let colon = tail.get(gap..)?;
        return (colon == ":" || colon.starts_with(": ")).then_some(after + gap + 1);
    }
    let inner = tail.find(": ").filter(|&at| tail.get(..at).is_some_and(|key| !key.contains(" #")));
    inner.or_else(|| tail.strip_suffix(':').map(str::len)).map(|at| at + 1)
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
            return Mask { start, end, hole: None, line: start, anchor, step };
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
    Mask { start, end, hole, line: line_at, anchor, step }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The end of the last line that is indented deeper than `column`, from the line at `start` on. A list under a bare `key:`
/// may stand in the key's own column.
fn block_end(text: &str, start: usize, column: usize, bare: bool) -> usize {
    let mut end = start + line_at(text, start).len();
    let mut at = start;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\n')).map(|n| at + n + 1) {
        let line = line_at(text, next);
        at = next;
        if is_blank(line) {
            continue;
        }
        let own = indent(line);
        let item = bare && own == column && line.get(own..).is_some_and(|rest| rest == "-" || rest.starts_with("- "));
        if own <= column && !item {
            break;
        }
        end = next + line.len();
    }
    end
}

/// A syntax error in our words, with a fix where one is sure.
fn describe(text: &str, file: FileId, broken: &Broken, anchor: usize) -> Diagnostic {
    let stop = &broken.stop;
    let at = stop.at.min(text.len());
    if let Some(found) = template(text, file, at, anchor) {
        return found;
    }
    let length = text
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .filter(|c| !matches!(c, '\n' | '\r'))
        .map_or(0, char::len_utf8);
    let row = if stop.too_deep { &catalog::TOO_DEEP } else { &catalog::SYNTAX };
    let mut found =
        row.at(Span::new(file, at, at + length), stop.message.clone()).maybe_help(stop.help.map(str::to_owned));
    if let Some(bracket) = broken.bracket.filter(|&bracket| bracket < at) {
        found = found.related(Span::new(file, bracket, bracket + 1), "this bracket is open");
    }
    match quote_line(text, at) {
        Some((start, end, quoted)) if stop.quotable && broken.bracket.is_none() => {
            found.fix("quote the value", Span::new(file, start, end), quoted)
        }
        _ => found,
    }
}

/// A finding for a value that starts with a template and has no quotes, if that is what stands before the error.
fn template(text: &str, file: FileId, at: usize, anchor: usize) -> Option<Diagnostic> {
    let opens = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with("{{") || rest.starts_with("{%"));
    let line = line_start(text, at);
    let start = if opens(anchor) {
        anchor
    } else {
        let before = line_at(text, line).get(..at + 2 - line).or_else(|| text.get(line..at))?;
        let start = line + before.rfind("{{").max(before.rfind("{%"))?;
        // It must begin a value, and not stand in a text that is quoted already.
        let lead = text.get(line..start)?;
        let begins = lead.trim_end().is_empty() || lead.trim_end().ends_with([':', '-', ',', '[']);
        let value = heads(lead).last().map_or(0, |head| head.end);
        if !begins || lead.get(value..)?.contains(['"', '\'']) {
            return None;
        }
        start
    };
    let rest = line_at(text, start);
    let message = format!("`{}` starts with a template, which YAML reads as a map: it needs quotes", excerpt(rest, 40));
    let span = Span::new(file, start, start + 2);
    let found = catalog::UNQUOTED_TEMPLATE.at(span, message).help("quote the whole value");
    if let Some((from, to, quoted)) = quote_line(text, start).filter(|(from, _, _)| *from == start) {
        return Some(found.fix("quote the value", Span::new(file, from, to), quoted));
    }
    let end = rest.find("}}").filter(|_| anchor < start).map(|end| start + end + 2);
    let inside = end
        .filter(|&end| text.get(end..).is_some_and(|after| after.trim_start_matches(' ').starts_with([',', ']', '}'])));
    Some(match inside.and_then(|end| Some((end, text.get(start..end)?))) {
        Some((end, raw)) => found.fix("quote the template", Span::new(file, start, end), lint::quoted(raw)),
        None => found,
    })
}

/// The value of `key: value` or `- value` on the line of `at`, and the value in quotes, if it is one line of plain words.
fn quote_line(text: &str, at: usize) -> Option<(usize, usize, String)> {
    let start = line_start(text, at);
    let line = line_at(text, start);
    let head = heads(line).into_iter().rev().find(|head| start + head.end <= at)?;
    let rest = line.get(head.end..)?;
    let value = rest.trim();
    let from = start + head.end + (rest.len() - rest.trim_start().len());
    let more = text.get(start + line.len()..)?.trim_start_matches(['\r', '\n']);
    let alone = is_blank(more.lines().next().unwrap_or_default()) || indent(more) <= head.column;
    let odd = value.contains(" #") || value.contains('\t') || value.starts_with(['[', '&', '*', '!', '|', '>', '#']);
    (alone && !odd && !value.is_empty()).then(|| (from, from + value.len(), lint::quoted(value)))
}
