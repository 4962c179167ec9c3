//! A syntax error as a diagnostic: what it probably is, where it really is, and a fix where one is sure.

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{FileId, Span};
use aigo_ir::text::excerpt;

use super::build::Broken;
use super::events::Cause;
use super::lines::{heads, indent, is_blank, line_at, line_start};
use super::lint;
use crate::catalog;
use crate::scalar::short_escape;

/// A syntax error in our words, with a fix where one is sure. `anchor` is where the broken entry was found.
pub(super) fn describe(text: &str, file: FileId, broken: &Broken, anchor: usize) -> Diagnostic {
    let stop = &broken.stop;
    let at = stop.at.min(text.len());
    let found = template(text, file, at, anchor).or_else(|| match stop.cause {
        Cause::Escape => escape(text, file, broken, at),
        Cause::Colon if line_start(text, anchor) < line_start(text, at) && broken.bracket.is_none() => {
            Some(no_colon(text, file, anchor))
        }
        Cause::Colon if broken.bracket.is_none() => colon(text, file, at),
        Cause::KeyExpected => after_bracket(text, file, at),
        _ => None,
    });
    if let Some(found) = found {
        return found;
    }
    let first = text.get(at..).and_then(|rest| rest.chars().next());
    let length = first.filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
    let row = if stop.cause == Cause::TooDeep { &catalog::TOO_DEEP } else { &catalog::SYNTAX };
    let mut found = row.at(Span::new(file, at, at + length), &*stop.message).maybe_help(stop.help.map(str::to_owned));
    if let Some(bracket) = broken.bracket.filter(|&bracket| bracket < at) {
        found = found.related(Span::new(file, bracket, bracket + 1), "this bracket is open");
    }
    match quote_line(text, at).filter(|_| stop.cause == Cause::Unquoted && broken.bracket.is_none()) {
        Some((start, end, quoted)) => found.fix("quote the value", Span::new(file, start, end), quoted),
        None => found,
    }
}

/// The place of an error: of a tab, where the tab is; the parser names the value before it. What is masked has other
/// characters than the file, so a place in it is moved to the start of the file's.
pub(super) fn place(text: &str, broken: &Broken) -> usize {
    let mut at = broken.stop.at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if broken.stop.cause != Cause::Tab {
        return at;
    }
    let mut line = line_start(text, at);
    while let Some(end) = text.get(line..).and_then(|rest| rest.find('\n')) {
        let tab = line + indent(line_at(text, line));
        if tab >= at && text.as_bytes().get(tab) == Some(&b'\t') {
            return tab;
        }
        line += end + 1;
    }
    at
}

/// The escape itself, of which the parser only knows the text it stands in.
fn escape(text: &str, file: FileId, broken: &Broken, start: usize) -> Option<Diagnostic> {
    let inner = text.get(start..)?.strip_prefix('"')?;
    let (mut at, mut bad, mut good) = (0, None, false);
    while let Some(next) = inner.get(at..).and_then(|rest| rest.find(['"', '\\'])) {
        at += next;
        let rest = inner.get(at..)?;
        let Some(letter) = rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { break };
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let hex = rest.get(2..).unwrap_or_default().chars().take_while(char::is_ascii_hexdigit).count();
        let known = matches!(letter, '\n' | '\r') || short_escape(letter).is_some() || (digits > 0 && hex >= digits);
        good |= known;
        if !known && bad.is_none() {
            bad = Some((start + 1 + at, 1 + letter.len_utf8()));
        }
        at += 1 + letter.len_utf8();
    }
    let (place, length) = bad?;
    let shown = excerpt(text.get(place..place + length)?, 8);
    let message = format!("`{shown}` is no escape that YAML knows");
    let found = catalog::SYNTAX
        .at(Span::new(file, place, place + length), message)
        .maybe_help(broken.stop.help.map(str::to_owned));
    // In single quotes a backslash is itself, so that is what was meant if no other escape is in use.
    let raw = inner.get(..at).filter(|raw| !good && !raw.contains(['\'', '\n', '\r']));
    Some(match raw.filter(|raw| inner.get(raw.len()..).is_some_and(|rest| rest.starts_with('"'))) {
        Some(raw) => found.fix("use single quotes", Span::new(file, start, start + raw.len() + 2), format!("'{raw}'")),
        None => found,
    })
}

/// A first line without a colon makes all that follows one scalar, up to the first colon.
fn no_colon(text: &str, file: FileId, anchor: usize) -> Diagnostic {
    let start = line_start(text, anchor);
    let line = line_at(text, start);
    let from = start + (line.len() - line.trim_start().len());
    let shown = excerpt(line, 40);
    let (message, help) = if line.contains(':') {
        (format!("`{shown}` has no space after its `:`"), "write a space after the colon")
    } else {
        (format!("`{shown}` has no `:`, and keys follow under it"), "write `key:` or `key: value`")
    };
    catalog::SYNTAX.at(Span::new(file, from, start + line.trim_end().len()), message).help(help)
}

/// A colon in a value, or under an entry that has a value.
fn colon(text: &str, file: FileId, at: usize) -> Option<Diagnostic> {
    let start = line_start(text, at);
    let line = line_at(text, start);
    let span = Span::new(file, at, at + 1);
    if let Some((from, to, quoted)) = quote_line(text, at) {
        let found = catalog::SYNTAX.at(span, "a value without quotes cannot hold a `: `").help("quote the value");
        return Some(found.fix("quote the value", Span::new(file, from, to), quoted));
    }
    let head = heads(line).pop().filter(|head| start + head.end == at + 1)?;
    let above = text.get(..start)?.trim_end();
    let before = line_start(text, above.len());
    let deeper = heads(line_at(text, before)).pop().is_some_and(|above| above.column < head.column);
    if !deeper || start == 0 {
        return None;
    }
    let key = excerpt(line.get(head.column..head.end - 1)?, 40);
    let message = format!("`{key}` is indented under an entry that has a value already");
    let above = Span::new(file, before + indent(line_at(text, before)), above.len());
    let key = Span::new(file, start + head.column, at);
    let help = "align it with the entry above, or remove that entry's value";
    Some(catalog::SYNTAX.at(key, message).related(above, "this entry").help(help))
}

/// `[x, y] z`: the parser says that it expected a key.
fn after_bracket(text: &str, file: FileId, at: usize) -> Option<Diagnostic> {
    let before = text.get(line_start(text, at)..at)?.trim_end();
    let close = before.chars().next_back().filter(|c| matches!(c, ']' | '}' | '"' | '\''))?;
    let end = at + line_at(text, at).trim_end().len();
    let help = "remove it, or put the whole value in single quotes";
    Some(
        catalog::SYNTAX
            .at(Span::new(file, at, end), format!("text follows the closing `{close}` of the value"))
            .help(help),
    )
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
