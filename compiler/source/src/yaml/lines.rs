//! Broken YAML by lines: where entries begin and end by their indentation alone.

/// The last byte at or before `at` that is not blank, so that an error at a line's end belongs to that line.
pub(super) fn visible(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let blank = text.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    if !blank {
        return at;
    }
    let before = text.get(..at).unwrap_or_default().trim_end();
    before.char_indices().next_back().map_or(0, |(at, _)| at)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

pub(super) fn line_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    rest.find('\n').and_then(|end| rest.get(..end)).unwrap_or(rest).trim_end_matches('\r')
}

/// A `-` or a `key:` at the start of a line: the column it stands in, and where its value begins.
pub(super) struct Head {
    pub(super) column: usize,
    pub(super) end: usize,
}

/// The heads of a line, outermost first: `  - a: x` has two.
pub(super) fn heads(line: &str) -> Vec<Head> {
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

pub(super) fn indent(line: &str) -> usize {
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

pub(super) fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The end of the last line that is indented deeper than `column`, from the line at `start` on. A list under a bare `key:`
/// may stand in the key's own column.
pub(super) fn block_end(text: &str, start: usize, column: usize, bare: bool) -> usize {
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
