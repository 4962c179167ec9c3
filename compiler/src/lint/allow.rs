//! Allowances: comments such as `# aigo: allow(self_judging) no other model is at hand`, which take warnings back in place.
//!
//! Behind something, a comment covers what begins on its line. On a line of its own it covers the construct that begins below
//! it, with everything in that. Above the first key of the file it covers the whole file.

use std::cell::OnceCell;
use std::ops::Range;

use aigo_ir::diagnostic::{self, Diagnostic, Row, Severity};
use aigo_ir::span::{FileId, Span};
use aigo_source::{Comment, Tree};

use crate::catalog;

/// The most names that the allowances of one file may have.
const MOST: usize = 1_000;

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
        let mut comments = tree.comments().iter().filter(|comment| comment.text.contains("aigo:")).peekable();
        if comments.peek().is_some() {
            let blocks = Blocks::of(tree.text());
            for comment in comments {
                read.comment(tree, &blocks, comment);
                if read.all.len() + read.found.len() > MOST {
                    let message = format!("a file allows at most {MOST} times, and no allowance is read behind this");
                    let help = "allow for a whole file or construct: put the comment above its first key";
                    read.found.push(catalog::BAD_ALLOWANCE.at(comment.span, message).help(help));
                    break;
                }
            }
        }
        read
    }

    fn comment(&mut self, tree: &Tree, blocks: &Blocks<'_>, comment: &Comment) {
        let Some((list, reason)) = self.parts(comment) else { return };
        let text = &comment.text;
        let at = |range: Range<usize>| {
            let start = comment.span.start as usize + 1;
            Span::new(comment.span.file, start + range.start, start + range.end)
        };
        let covers = blocks.covered(comment.span);
        let before = self.all.len();
        let mut start = list.start;
        let names = text.get(list).unwrap_or_default();
        let alone = (!names.contains(',')).then(|| with_blanks(tree, comment.span));
        for part in names.split(',').take(MOST) {
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
        // Whether a lock stands beside the task is no matter of the file: who copies it may have none.
        let of_the_file = |allowance: &Allowance| allowance.row.code != catalog::NOT_LOCKED.code;
        let unused = self.all.iter().zip(used).filter(|(allowance, used)| !used && of_the_file(allowance));
        for (allowance, _) in unused {
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

/// The lines of a file that hold something, each with the end of what begins on it: the lines behind it that are indented
/// deeper, and of a key the list that stands below it without further indentation. Found in one pass, however many comments ask,
/// and not at all where they stand above the first key, as most do.
struct Blocks<'t> {
    text: &'t str,
    /// Where each line begins, and where its block ends.
    lines: OnceCell<Vec<(usize, usize)>>,
}

impl<'t> Blocks<'t> {
    const fn of(text: &'t str) -> Self {
        Self { text, lines: OnceCell::new() }
    }

    /// The lines that hold something: where each begins and ends, and how deep it is.
    fn filled(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut end = 0;
        self.text.split_inclusive('\n').filter_map(move |line| {
            let start = end;
            end += line.len();
            let content = line.trim_start_matches(['\u{feff}', ' ']);
            let word = content.trim();
            if word.is_empty() || word.starts_with(['#', '%']) || word == "---" {
                return None;
            }
            // An item belongs to the key above it that is indented as it is.
            let is_item = word == "-" || word.starts_with("- ");
            Some((start, end, 2 * (line.len() - content.len()) + usize::from(is_item)))
        })
    }

    /// Where the first line begins that holds something.
    fn first(&self) -> Option<usize> {
        self.filled().next().map(|(start, ..)| start)
    }

    fn lines(&self) -> &[(usize, usize)] {
        self.lines.get_or_init(|| {
            let filled: Vec<(usize, usize, usize)> = self.filled().collect();
            let mut lines: Vec<(usize, usize)> = filled.iter().map(|(start, end, _)| (*start, *end)).collect();
            // From the end: the lines that no line behind them is left of, the nearest on top.
            let mut open: Vec<usize> = Vec::new();
            for at in (0..lines.len()).rev() {
                let level = |at: usize| filled.get(at).map(|(.., level)| *level).unwrap_or_default();
                while open.last().is_some_and(|behind| level(*behind) > level(at)) {
                    open.pop();
                }
                let last = open.last().copied().unwrap_or(lines.len()) - 1;
                if let (Some(line), Some((_, end, _))) = (lines.get_mut(at), filled.get(last)) {
                    line.1 = *end;
                }
                open.push(at);
            }
            lines
        })
    }

    /// The first line that holds something, at or behind a place: where it begins, and its block ends.
    fn line_behind(&self, at: usize) -> Option<(usize, usize)> {
        let lines = self.lines();
        lines.get(lines.partition_point(|(start, _)| *start < at)).copied()
    }

    /// The bytes in which findings begin that a comment covers.
    fn covered(&self, comment: Span) -> Range<u32> {
        let (text, at) = (self.text, comment.start as usize);
        let before = text.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let before = before.get(line..).unwrap_or_default();
        let behind = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline + 1);
        if !before.trim().is_empty() {
            // A block scalar's content begins on the next line, and belongs to this one.
            let opens = before.trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>']);
            let end = self.line_behind(line).filter(|_| opens).map_or(behind, |(_, end)| end);
            return bytes(line, end);
        }
        if self.first().is_none_or(|first| at < first) {
            return bytes(0, text.len() + 1);
        }
        // Other comments may stand between, and nothing else.
        let Some((start, end)) = self.line_behind(behind) else { return bytes(at, at) };
        let between = text.get(behind..start).unwrap_or_default();
        let is_near = between.lines().all(|line| line.trim_start().starts_with('#'));
        if is_near { bytes(start, end) } else { bytes(at, at) }
    }
}

fn bytes(start: usize, end: usize) -> Range<u32> {
    let span = Span::new(FileId(0), start, end);
    span.start..span.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_covers_what_it_stands_at() {
        let text = "# top\n\na: 1\n# key\nb:\n- c: 2\n  # item\n\n  d: 3 # behind\n# second\n- e: | # block\n    f\n\n    g\nh: 4\n# last\n";
        let blocks = Blocks::of(text);
        let covered = |comment: &str| {
            let at = text.find(comment).unwrap_or_default();
            let range = blocks.covered(Span::new(FileId(0), at, at + comment.len()));
            text.get(range.start as usize..(range.end as usize).min(text.len())).unwrap_or_default()
        };
        assert_eq!(covered("# top"), text);
        assert_eq!(covered("# key"), text.get(text.find("b:").unwrap()..text.find("h:").unwrap()).unwrap());
        assert_eq!(covered("# item"), "", "a blank line stands between");
        assert_eq!(covered("# behind"), "  d: 3 # behind\n");
        assert_eq!(covered("# second"), "- e: | # block\n    f\n\n    g\n");
        assert_eq!(covered("# block"), "- e: | # block\n    f\n\n    g\n");
        assert_eq!(covered("# last"), "");
    }
}
