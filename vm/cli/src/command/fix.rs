//! `aigo check --fix`: the edits that findings propose, applied to the files, or shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::mend::{self, Mended, Subject};
use crate::{exit, out, replace};

/// Applies the edits of all tasks and writes the files. What was fixed is told, in formats for machines on standard error. Gives
/// what could not be written.
pub(super) fn write(subjects: &[Subject], threads: usize, for_machines: bool) -> Vec<String> {
    let mended = mend::mend(subjects, threads, None);
    let mut faults = Vec::new();
    let mut failed: BTreeSet<&PathBuf> = BTreeSet::new();
    for (path, changed) in mended.files.iter().filter(|(_, changed)| changed.before != changed.after) {
        if let Err(fault) = replace::replace(path, changed.before.as_bytes(), changed.after.as_bytes()) {
            faults.push(fault);
            failed.insert(path);
        }
    }
    for line in lines(&mended, &failed) {
        if for_machines { out::note(line) } else { out::line(line) }
    }
    for line in &mended.undone {
        out::note(line);
    }
    faults
}

/// What was fixed, by file, in the order in which it was.
fn lines<'m>(mended: &'m Mended, failed: &BTreeSet<&PathBuf>) -> Vec<&'m str> {
    let mut applied: Vec<_> = mended.applied.iter().filter(|one| !failed.contains(&one.file)).collect();
    applied.sort_by_key(|one| &one.file);
    applied.into_iter().map(|one| one.line.as_str()).collect()
}

/// Shows what would change; whether something would.
pub(super) fn diff(subjects: &[Subject], threads: usize, only: Option<&Path>) -> u8 {
    let mended = mend::mend(subjects, threads, only);
    for line in &mended.undone {
        out::note(line);
    }
    let diffs: Vec<String> = mended.files.values().map(mend::diff).filter(|diff| !diff.is_empty()).collect();
    for diff in &diffs {
        out::text(diff);
    }
    if diffs.is_empty() { exit::PASSED } else { exit::TASK }
}

/// The text of standard input with its edits; they are told on standard error.
pub(super) fn text(subject: &Subject) -> Option<String> {
    let mended = mend::mend(std::slice::from_ref(subject), 1, Some(&subject.path));
    lines(&mended, &BTreeSet::new()).into_iter().chain(mended.undone.iter().map(String::as_str)).for_each(out::note);
    mended.files.into_values().next().map(|changed| changed.after)
}
