//! What went wrong, where, and what to do: one shape for every crate.

use crate::span::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The task cannot be used.
    Error,
    /// The task can be used, and its author should know.
    Warning,
    /// Nothing is wrong with the task; something around it is not there yet. Never denied.
    Note,
}

impl Severity {
    /// The word that is printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One kind of diagnostic: a stable code with its page in `spec/diagnostics/`. Each crate has its own table of rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// `E0301` and the like: E compiler, W lints, N notes, R run, L log, G gates. Never given twice.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What the kind is, in a few words.
    pub title: &'static str,
    /// The name by which a task may allow it in place; empty of what cannot be allowed.
    pub name: &'static str,
}

impl Row {
    /// A row of an error.
    pub const fn error(code: &'static str, title: &'static str) -> Self {
        Self { code, severity: Severity::Error, title, name: "" }
    }

    /// A row of a warning.
    pub const fn warning(code: &'static str, title: &'static str) -> Self {
        Self { code, severity: Severity::Warning, title, name: "" }
    }

    /// A row of a note.
    pub const fn note(code: &'static str, title: &'static str) -> Self {
        Self { code, severity: Severity::Note, title, name: "" }
    }

    /// With the name by which it is allowed in place.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The code, and the name where there is one: `W0603 self_judging`.
    pub fn label(&self) -> String {
        if self.name.is_empty() { self.code.to_owned() } else { format!("{} {}", self.code, self.name) }
    }

    /// A diagnostic of this kind. The message stands alone: it names what was seen and what was expected.
    pub fn at(&'static self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            row: self,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            related: Vec::new(),
            help: None,
            fix: None,
            is_secret: false,
        }
    }

    /// A diagnostic of this kind that has no place in a text.
    pub fn nowhere(&'static self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: None, ..self.at(Span::default(), message) }
    }
}

/// A replacement of text that mends the cause, certain enough to apply without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the fix does, in a few words.
    pub title: String,
    /// Replace this text …
    pub span: Span,
    /// … by this.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub row: &'static Row,
    /// A sentence that stands alone.
    pub message: String,
    /// Where it is.
    pub span: Option<Span>,
    /// What to write under the span; may be empty.
    pub label: String,
    /// Other places that explain it, each with a few words.
    pub related: Vec<(Span, String)>,
    /// What to do next.
    pub help: Option<String>,
    /// An edit that mends it.
    pub fix: Option<Fix>,
    /// Whether the text at the place must not be shown.
    pub is_secret: bool,
}

impl Diagnostic {
    /// With a word under the span.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With another place that explains it.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// With what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whose place holds what must not be shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// With what to do next, where there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// With an edit that mends it.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), span, text: text.into() });
        self
    }

    /// `path:line:column: error[E0301]: message`, one line.
    pub fn concise(&self, sources: &SourceMap) -> String {
        let (code, word) = (self.row.code, self.row.severity.word());
        let text = format!("{word}[{code}]: {}", self.message);
        let line = match self.span.and_then(|span| sources.get(span.file).map(|file| (span, file))) {
            Some((span, file)) => {
                let at = sources.position(span);
                format!("{}:{}:{}: {text}", file.name, at.line, at.column)
            }
            None => text,
        };
        crate::text::printable(&line.replace('\n', " "))
    }
}

/// How many findings of one pass are kept. Nobody reads more, and a hostile file could fill the memory with them.
pub const MOST_FINDINGS: usize = 10_000;

/// How many of those may be no errors, so that warnings cannot crowd out what they do not explain.
pub const MOST_MINOR: usize = MOST_FINDINGS / 2;

/// Findings of one pass, in the order they were found until [`Diagnostics::finish`] sorts them.
///
/// The first [`MOST_FINDINGS`] are kept, the others are only counted.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    /// How many of those are no errors.
    minor: usize,
    omitted: usize,
    has_errors: bool,
}

impl Diagnostics {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.row.severity == Severity::Error;
        self.has_errors |= is_error;
        if self.kept.len() < MOST_FINDINGS && (is_error || self.minor < MOST_MINOR) {
            self.minor += usize::from(!is_error);
            self.kept.push(diagnostic);
        } else {
            self.omitted += 1;
        }
    }

    /// Adds findings.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        more.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// How many there are, those that are not kept included: whether something was found between two moments.
    pub fn len(&self) -> usize {
        self.kept.len() + self.omitted
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// How many were found beyond those that are kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Sorted by file and place, each (place, code, message) once.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        fn key(d: &Diagnostic) -> (bool, Option<Span>, &str, &str) {
            (d.span.is_some(), d.span, d.row.code, &d.message)
        }
        self.kept.sort_by(|a, b| key(a).cmp(&key(b)));
        self.kept.dedup_by(|a, b| key(a) == key(b));
        self.kept
    }
}

/// The name among `known` that `seen` was probably meant to be: a small edit away (Damerau-Levenshtein, at most a third of
/// the length), or equal but for case, `-` and `_`.
pub fn nearest<'a>(seen: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = Plain::of(seen);
    let cutoff = (seen.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|name| wanted.may_be_near(name, cutoff))
        .map(|name| (strsim::damerau_levenshtein(&wanted.text, &plain(name)), name))
        .filter(|&(distance, _)| distance <= cutoff)
        .min()
        .map(|(_, name)| name)
}

/// A name without what people mix up: case, `-` and `_`.
fn plain(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).map(dash).collect()
}

const fn dash(c: char) -> char {
    if c == '-' { '_' } else { c }
}

/// A plain name, and how often its characters occur in it.
struct Plain {
    text: String,
    counts: [i32; BUCKETS],
}

/// Characters are counted by their number modulo this: some share a bucket, which only makes the bound below weaker.
const BUCKETS: usize = 64;

impl Plain {
    fn of(name: &str) -> Self {
        let text = plain(name);
        let mut counts = [0; BUCKETS];
        count(&mut counts, text.chars(), 1);
        Self { text, counts }
    }

    /// Whether `name` can be within `cutoff` edits. An edit adds at most one character and takes at most one away, so the
    /// characters that one of the names has and the other lacks are a lower bound of the distance. This allocates nothing.
    fn may_be_near(&self, name: &str, cutoff: usize) -> bool {
        let mut counts = self.counts;
        count(&mut counts, name.chars().flat_map(char::to_lowercase).map(dash), -1);
        let lacking: i32 = counts.iter().filter(|n| **n > 0).sum();
        let added: i32 = counts.iter().filter(|n| **n < 0).sum();
        usize::try_from(lacking.max(-added)).is_ok_and(|least| least <= cutoff)
    }
}

fn count(counts: &mut [i32; BUCKETS], chars: impl Iterator<Item = char>, step: i32) {
    for c in chars {
        if let Some(count) = counts.get_mut(c as usize % BUCKETS) {
            *count += step;
        }
    }
}

/// Help for an unknown name: the nearest known one, else the list.
pub fn suggest<'a>(seen: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(name) = nearest(seen, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let all: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    (!all.is_empty()).then(|| format!("known here: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound must leave out no name that is near: it is compared with the distance of every name.
    #[test]
    fn the_nearest_name_is_that_of_the_distances_alone() {
        let known = ["min_turns", "max_turns", "turns", "turn", "user", "Über", "İd", "id", "persona", "a", "", "値段"];
        let seen =
            ["min_turn", "min-turns", "MAX_TURNS", "trun", "uber", "i̇d", "di", "personna", "b", "xyz", "値", "snrut"];
        for seen in seen {
            let cutoff = (seen.chars().count() / 3).max(1);
            let all = known.into_iter().map(|name| (strsim::damerau_levenshtein(&plain(seen), &plain(name)), name));
            let nearest_of_all = all.filter(|(distance, _)| *distance <= cutoff).min().map(|(_, name)| name);
            assert_eq!(nearest(seen, known), nearest_of_all, "{seen}");
        }
        assert_eq!(nearest("trun", known), Some("turn"));
    }

    #[test]
    fn findings_beyond_the_most_are_counted() {
        static ROW: Row = Row::warning("W0000", "a test");
        static LAST: Row = Row::error("E0000", "a test");
        let mut found = Diagnostics::default();
        found.extend((0..MOST_FINDINGS + 5).map(|n| ROW.nowhere(n.to_string())));
        assert!(!found.has_errors());
        found.push(LAST.nowhere("the last"));
        assert_eq!((found.len(), found.omitted(), found.has_errors()), (MOST_FINDINGS + 6, MOST_MINOR + 5, true));
        found.extend((0..MOST_FINDINGS).map(|n| LAST.nowhere(n.to_string())));
        let kept = found.finish();
        assert_eq!(kept.len(), MOST_FINDINGS);
        assert_eq!(kept.iter().filter(|one| one.row.severity == Severity::Error).count(), MOST_FINDINGS - MOST_MINOR);
    }
}
