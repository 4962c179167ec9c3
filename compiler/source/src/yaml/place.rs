//! Where a node really stands, in the few cases in which the parser's marks are next to it.

use crate::scalar::Style;

/// The first dash of a block list whose parser's mark may be at the first item: after `from`, at or before `mark`.
pub(super) fn dash(text: &str, from: usize, mark: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(mark) == Some(&b'-') && mark >= from {
        return mark;
    }
    let mut at = from;
    while at < mark {
        match bytes.get(at) {
            Some(b'-') => return at,
            Some(b'#') => at += line_rest(text, at),
            // An anchor or a tag may itself hold a dash.
            Some(b'&' | b'!') => {
                at += text.get(at..).map_or(1, |rest| rest.find([' ', '\t', '\n', '\r']).unwrap_or(rest.len()));
            }
            _ => at += 1,
        }
    }
    mark
}

fn line_rest(text: &str, at: usize) -> usize {
    text.get(at..).map_or(1, |rest| rest.find(['\n', '\r']).unwrap_or(rest.len()).max(1))
}

/// The bytes of a scalar, from what the parser says. `nothing` is a null that is not written.
pub(super) fn scalar(
    text: &str,
    style: Style,
    decoded: &str,
    start: usize,
    end: usize,
    nothing: bool,
) -> (usize, usize) {
    match style {
        Style::Plain if nothing => {
            // The parser's mark is before the colon of `key:`; the value belongs after it.
            let at = start + usize::from(text.as_bytes().get(start) == Some(&b':'));
            (at, at)
        }
        Style::Literal | Style::Folded => block(text, decoded, start, end),
        _ => (start, end),
    }
}

/// A block scalar without the empty lines that are not its content.
fn block(text: &str, decoded: &str, start: usize, end: usize) -> (usize, usize) {
    let Some(raw) = text.get(start..end) else { return (start, end) };
    if decoded.trim_matches('\n').is_empty() {
        let header = header(text, if raw.starts_with(['|', '>']) { start + 1 } else { start });
        return header.map_or((start, end), |at| (at, at + 1));
    }
    let indent = text.get(..start).map_or(0, |before| start - before.rfind(['\n', '\r']).map_or(0, |at| at + 1));
    let keeps = decoded.ends_with("\n\n");
    let (mut length, mut at) = (0, 0);
    for line in raw.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let empty = at > 0 && body.len() <= indent && body.bytes().all(|b| b == b' ');
        at += line.len();
        if !empty || (keeps && line.ends_with('\n')) {
            length = at;
        }
    }
    (start, start + length)
}

/// The `|` or `>` of an empty block scalar: the last one on the last line before `at` that is not blank.
fn header(text: &str, at: usize) -> Option<usize> {
    let before = text.get(..at)?.trim_end();
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let shown = before.get(line..)?;
    let shown = shown.find(" #").and_then(|comment| shown.get(..comment)).unwrap_or(shown);
    shown.rfind(['|', '>']).map(|at| line + at)
}
