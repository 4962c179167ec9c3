//! What went wrong, where, and what to do: one shape for every crate.

use crate::span::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The task cannot be used.
    Error,
    /// The task can be used, and its author should know.
    Warning,
}

impl Severity {
    /// The word that is printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One kind of diagnostic: a stable code with its page in `spec/diagnostics/`. Each crate has its own table of rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// `E0301` and the like: E compiler, W lints, R run, L log, G gates. Never given twice.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What the kind is, in a few words.
    pub title: &'static str,
}

impl Row {
    /// A row of an error.
    pub const fn error(code: &'static str, title: &'static str) -> Self {
        Self { code, severity: Severity::Error, title }
    }

    /// A row of a warning.
    pub const fn warning(code: &'static str, title: &'static str) -> Self {
        Self { code, severity: Severity::Warning, title }
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

/// Findings of one pass, in the order they were found until [`Diagnostics::finish`] sorts them.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds findings.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// How many there are: whether something was found between two moments.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.row.severity == Severity::Error)
    }

    /// Sorted by place, each (place, code, message) once.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        let key = |d: &Diagnostic| (d.span.is_some(), d.span, d.row.code, d.message.clone());
        self.0.sort_by_key(key);
        self.0.dedup_by(|a, b| key(a) == key(b));
        self.0
    }
}

/// The name among `known` that `seen` was probably meant to be: a small edit away (Damerau-Levenshtein, at most a third of
/// the length), or equal but for case, `-` and `_`.
pub fn nearest<'a>(seen: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace('-', "_");
    let (wanted, cutoff) = (plain(seen), (seen.chars().count() / 3).max(1));
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &plain(name)), name))
        .filter(|&(distance, _)| distance <= cutoff)
        .min()
        .map(|(_, name)| name)
}

/// Help for an unknown name: the nearest known one, else the list.
pub fn suggest<'a>(seen: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(name) = nearest(seen, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let all: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    (!all.is_empty()).then(|| format!("known here: {}", all.join(", ")))
}
