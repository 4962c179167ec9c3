//! What changed between two texts, in the unified format, which `patch` and `git apply` read.

use std::fmt::Write as _;
use std::ops::Range;

/// Lines that are shown around a change.
const CONTEXT: usize = 3;
/// Where the lines that differ would need a larger table than this, they are shown as one change.
const MOST_CELLS: usize = 4_000_000;

/// The changes of one file; empty where there are none.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut out = format!("--- {path}\n+++ {path}\n");
    for group in changes.chunk_by(|a, b| b.0.start - a.0.end <= 2 * CONTEXT) {
        hunk(&mut out, group, &old, &new);
    }
    out
}

/// Lines of the old text and what stands for them in the new one.
type Change = (Range<usize>, Range<usize>);

fn hunk(out: &mut String, group: &[Change], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let before = first.0.start.min(CONTEXT);
    let after = (old.len() - last.0.end).min(CONTEXT);
    let (old_range, new_range) =
        (first.0.start - before..last.0.end + after, first.1.start - before..last.1.end + after);
    let _ = writeln!(out, "@@ -{} +{} @@", counted(&old_range), counted(&new_range));
    let mut at = old_range.start;
    for (removed, added) in group {
        lines(out, ' ', old, at..removed.start);
        lines(out, '-', old, removed.clone());
        lines(out, '+', new, added.clone());
        at = removed.end;
    }
    lines(out, ' ', old, at..old_range.end);
}

/// A range as a hunk names it: the first line from 1, or the one before an empty range, and how many.
fn counted(range: &Range<usize>) -> String {
    let first = if range.is_empty() { range.start } else { range.start + 1 };
    if range.len() == 1 { first.to_string() } else { format!("{first},{}", range.len()) }
}

fn lines(out: &mut String, mark: char, of: &[&str], range: Range<usize>) {
    for line in of.get(range).unwrap_or_default() {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The changes in order: what is common at both ends is left out, and between them the longest common part.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len().saturating_mul(b.len()) > MOST_CELLS {
        return vec![(head..head + a.len(), head..head + b.len())];
    }
    let width = b.len() + 1;
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let cell = i * width + j;
            longest[cell] =
                if a[i] == b[j] { longest[cell + width + 1] + 1 } else { longest[cell + 1].max(longest[cell + width]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut changes: Vec<Change> = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (from_i, from_j) = (i, j);
        while (i < a.len() || j < b.len()) && !(i < a.len() && j < b.len() && a[i] == b[j]) {
            let cell = i * width + j;
            if j == b.len() || (i < a.len() && longest[cell + width] >= longest[cell + 1]) { i += 1 } else { j += 1 }
        }
        changes.push((head + from_i..head + i, head + from_j..head + j));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn changes_are_shown_with_lines_around_them() {
        let old = (1..=20).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let new = old.replace("\n2\n", "\nzwei\n").replace("\n5\n", "\n").replace("20\n", "20");
        let wanted = "--- t\n+++ t\n@@ -1,8 +1,7 @@\n 1\n-2\n+zwei\n 3\n 4\n-5\n 6\n 7\n 8\n@@ -17,4 +16,4 @@\n 17\n 18\n 19\n-20\n\
                      +20\n\\ No newline at end of file\n";
        assert_eq!(unified("t", &old, &new), wanted);
        assert_eq!(unified("t", &old, &old), "");
        assert_eq!(unified("t", "", "a\n"), "--- t\n+++ t\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified("t", "a\nb\n", "b\n"), "--- t\n+++ t\n@@ -1,2 +1 @@\n-a\n b\n");
    }
}
