//! Allowances: comments such as `# aigo: allow(self_judging) no other model is at hand`, which take warnings back in place.
//!
//! Behind something, a comment covers what begins on its line. On a line of its own it covers the construct that begins below
//! it, with everything in that. Above the first key of the file it covers the whole file.

use std::ops::Range;

use aigo_ir::diagnostic::{self, Diagnostic, Row, Severity};
use aigo_ir::span::{FileId, Span};
use aigo_source::{Comment, Tree};

use crate::catalog;

/// The allowances of one file, and what is wrong with how they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowances {
    all: Vec<Allowance>,
    found: Vec<Diagnostic>,
}

/// One name of one comment.
#[derive(Clone, Debug)]
struct Allowance {
    row: &'static Row,
    /// Where the name stands.
    name: Span,
    /// The bytes in which a finding begins that it covers.
    covers: Range<u32>,
    /// The comment with the blanks before it, or with its line where it has one of its own; none where it has other names.
    alone: Option<Span>,
}

impl Allowances {
    /// Those that a file has in its comments.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut read = Self::default();
        for comment in tree.comments().iter().filter(|comment| comment.text.contains("aigo:")) {
            read.comment(tree, comment);
        }
        read
    }

    fn comment(&mut self, tree: &Tree, comment: &Comment) {
        let Some((list, reason)) = self.parts(comment) else { return };
        let text = &comment.text;
        let at = |range: Range<usize>| {
            let start = comment.span.start as usize + 1;
            Span::new(comment.span.file, start + range.start, start + range.end)
        };
        let covers = covered(tree, comment.span);
        let before = self.all.len();
        let mut start = list.start;
        let names = text.get(list).unwrap_or_default();
        let alone = (!names.contains(',')).then(|| with_blanks(tree, comment.span));
        for part in names.split(',') {
            let word = part.trim();
            let from = start + part.len() - part.trim_start().len();
            start += part.len() + 1;
            let name = at(from..from + word.len());
            match known(word) {
                Some(row) => self.all.push(Allowance { row, name, covers: covers.clone(), alone }),
                None => self.found.push(unknown(word, name)),
            }
        }
        if text.get(reason).unwrap_or_default().trim().is_empty() && self.all.len() > before {
            let message = "the allowance has no reason: whoever reads the task next wants to know why";
            let help = format!("write it behind the names: `#{} because …`", text.trim_end());
            self.found.push(catalog::NO_REASON.at(comment.span, message).help(help));
        }
    }

    /// The bytes of a comment's text that hold the names, and those of the reason. None where it is no allowance.
    fn parts(&mut self, comment: &Comment) -> Option<(Range<usize>, Range<usize>)> {
        let text = &comment.text;
        let rest = text.trim_start().strip_prefix("aigo:")?.trim_start();
        let word: &str = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let behind = rest.get(word.len()..)?;
        let open = behind.trim_start().strip_prefix('(');
        let meant = ["allow", "ignore", "disable"];
        if word != "allow" || open.is_none() {
            // Prose that happens to begin so is no slip.
            if open.is_some() || (!word.is_empty() && diagnostic::nearest(word, meant).is_some()) {
                let message = "this comment begins as an allowance does, and cannot be read as one";
                let help = "write `# aigo: allow(NAME) reason`, with the name that the finding has";
                self.found.push(catalog::BAD_ALLOWANCE.at(comment.span, message).help(help));
            }
            return None;
        }
        let inside = open?;
        let start = text.len() - inside.len();
        let Some(length) = inside.find(')') else {
            let message = "the list of names is not closed";
            let help = "write `# aigo: allow(NAME) reason`";
            self.found.push(catalog::BAD_ALLOWANCE.at(comment.span, message).help(help));
            return None;
        };
        Some((start..start + length, start + length + 1..text.len()))
    }

    /// Takes back the findings that are allowed. Where the file was checked whole, allowances of nothing are reported.
    pub(crate) fn apply(self, found: &mut Vec<Diagnostic>, whole: bool) {
        let mut used = vec![false; self.all.len()];
        found.retain(|one| {
            let mut allowed = false;
            for (allowance, used) in self.all.iter().zip(&mut used) {
                if allowance.takes(one) {
                    *used = true;
                    allowed = true;
                }
            }
            !allowed
        });
        found.extend(self.found);
        if !whole {
            return;
        }
        for (allowance, _) in self.all.iter().zip(used).filter(|(_, used)| !used) {
            let message = format!("`{}` is allowed here, and nothing here is found", allowance.row.name);
            let help = "remove the name, or put the comment on the line of the finding or directly above its construct";
            let unused = catalog::UNUSED_ALLOWANCE.at(allowance.name, message).help(help);
            found.push(match allowance.alone {
                Some(comment) => unused.fix("remove the comment", comment, ""),
                None => unused,
            });
        }
    }
}

impl Allowance {
    fn takes(&self, found: &Diagnostic) -> bool {
        let begins = |span: Span| span.file == self.name.file && self.covers.contains(&span.start);
        std::ptr::eq(self.row, found.row) && found.span.is_some_and(begins)
    }
}

/// A comment and what goes with it: its line, or the blanks between it and what stands before it.
fn with_blanks(tree: &Tree, comment: Span) -> Span {
    let text = tree.text();
    let before = text.get(..comment.start as usize).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']);
    let end = comment.end as usize;
    let rest = text.get(end..).unwrap_or_default();
    let newline = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    let own = kept.is_empty() || kept.ends_with('\n');
    Span::new(comment.file, kept.len(), if own { end + newline } else { end })
}

/// Every row that can be allowed.
fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    let all = aigo_source::catalog::ROWS.iter().chain(catalog::ROWS);
    all.copied().filter(|row| row.severity == Severity::Warning && !row.name.is_empty())
}

fn known(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

fn unknown(word: &str, at: Span) -> Diagnostic {
    let of_code = |row: &&Row| row.code.eq_ignore_ascii_case(word);
    let every = aigo_source::catalog::ROWS.iter().chain(catalog::ROWS).copied();
    if every.clone().filter(|row| row.severity == Severity::Error).any(|row| of_code(&row)) {
        let message = format!("`{word}` is an error, and errors cannot be allowed");
        return catalog::BAD_ALLOWANCE.at(at, message).help("mend what it says, and remove it here");
    }
    let shown = aigo_ir::text::excerpt(word, 40);
    let found = catalog::BAD_ALLOWANCE.at(at, format!("no warning is called `{shown}`"));
    let near = rows().find(of_code).map(|row| row.name);
    match near.or_else(|| diagnostic::nearest(word, rows().map(|row| row.name))) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), at, near),
        None => found.help("write the name that the finding has; `aigo explain` lists all"),
    }
}

/// The bytes in which findings begin that a comment covers.
fn covered(tree: &Tree, comment: Span) -> Range<u32> {
    let text = tree.text();
    let at = comment.start as usize;
    let line = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let before = text.get(line..at).unwrap_or_default();
    let end_of = |from: usize| text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |n| from + n + 1);
    if !before.trim().is_empty() {
        // A block scalar's content begins on the next line, and belongs to this one.
        let opens = before.trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>']);
        let end = if opens { end_of_block(text, line) } else { end_of(at) };
        return bytes(line, end);
    }
    let first = text.lines().find(|line| !is_blank_or_comment(line));
    let head = first.map_or(text.len(), |line| line.as_ptr() as usize - text.as_ptr() as usize);
    if at < head {
        return bytes(0, text.len() + 1);
    }
    // Other comments may stand between.
    let mut next = end_of(at);
    while next < text.len() && text.get(next..end_of(next)).is_some_and(|line| line.trim_start().starts_with('#')) {
        next = end_of(next);
    }
    bytes(next, end_of_block(text, next))
}

fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with('#') || line == "---" || line.starts_with('%')
}

/// The end of what begins on the line that starts here: the lines behind it that are indented deeper, and of a key the list
/// that stands below it without further indentation.
fn end_of_block(text: &str, start: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_item = |line: &str| line.trim_start() == "-" || line.trim_start().starts_with("- ");
    let rest = text.get(start..).unwrap_or_default();
    let mut lines = rest.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| !line.trim().is_empty()) else { return start };
    let mut end = start + first.len();
    let mut checked = end;
    for line in lines {
        checked += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let listed = !is_item(first) && is_item(line.trim_end()) && indent(line) == indent(first);
        if indent(line) <= indent(first) && !listed {
            break;
        }
        end = checked;
    }
    end
}

fn bytes(start: usize, end: usize) -> Range<u32> {
    let span = Span::new(FileId(0), start, end);
    span.start..span.end
}
