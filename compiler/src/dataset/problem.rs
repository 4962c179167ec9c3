//! Why a row cannot be taken, and where rows stand.

use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostic};
use aigo_ir::span::{Excerpt, SourceMap, Span};
use aigo_source::{RowError, find_key};

use crate::catalog;

/// Where a row stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// In the task: the row, or the source that it comes from.
    pub(super) span: Span,
    pub(super) what: What,
}

/// What a row is in its source.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A sample of the task, counted from 1, and the places of its values.
    Inline(usize, Arc<[(Arc<str>, Span)]>),
    /// A row of a file, counted from 1.
    File { file: Arc<str>, number: usize, start: Excerpt },
    /// A combination of a matrix.
    Combination(Arc<str>),
    /// A scenario: its id, and the place of that.
    Scenario(Arc<str>, Span),
}

impl Place {
    /// As messages name the row.
    pub(crate) fn text(&self) -> String {
        match &self.what {
            What::Inline(number, _) => format!("sample {number}"),
            What::File { file, number, start } => {
                format!("row {} of {file} (line {})", thousands(*number), thousands(start.first.line))
            }
            What::Combination(id) => format!("the combination `{id}`"),
            What::Scenario(id, _) => format!("the scenario `{id}`"),
        }
    }

    /// What tells places of files apart.
    pub(super) fn key(&self) -> Option<(Arc<str>, usize)> {
        match &self.what {
            What::File { file, start, .. } => Some((file.clone(), start.first.offset)),
            _ => None,
        }
    }

    /// The row's place, in its own file where it has one, which is then added to the map.
    pub(crate) fn locate(&self, sources: &mut SourceMap) -> Span {
        match &self.what {
            What::File { file, start, .. } => Span::new(sources.add_excerpt(&**file, start.clone()), 0, 0),
            _ => self.span,
        }
    }

    /// A problem with the row, at one of its fields if that can be found.
    pub(super) fn problem(&self, row: &'static diagnostic::Row, key: Option<&str>, message: String) -> Problem {
        let mut problem =
            Problem { row, message, help: None, span: self.span, label: NAMED, there: None, fatal: false };
        match &self.what {
            What::Inline(_, places) => {
                let found = key.and_then(|key| places.iter().find(|(name, _)| **name == *key));
                problem.span = found.map_or(self.span, |(_, span)| *span);
            }
            What::File { file, start, .. } => {
                let at = key.and_then(|key| find_key(&start.text, key)).unwrap_or(0);
                problem.there = Some(Box::new((file.clone(), start.clone(), at)));
            }
            What::Scenario(_, id) if key == Some("id") => problem.span = *id,
            What::Scenario(..) | What::Combination(_) => {}
        }
        problem
    }
}

/// Why a row, or a whole source, cannot be taken.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) row: &'static diagnostic::Row,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The place in the task.
    pub(super) span: Span,
    /// What is said of that place.
    pub(super) label: &'static str,
    /// The place in the row's own file: its name, a piece of it, and the byte of the piece.
    pub(super) there: Option<Box<(Arc<str>, Excerpt, usize)>>,
    /// Nothing more can be read of the source.
    pub(super) fatal: bool,
}

const NAMED: &str = "the file is named here";

impl Problem {
    /// A problem of a source.
    pub(super) fn of_source(row: &'static diagnostic::Row, span: Span, message: String) -> Self {
        Self { row, message, help: None, span, label: NAMED, there: None, fatal: true }
    }

    /// What a reader found in a file.
    pub(super) fn of_file(row: &'static diagnostic::Row, file: &Arc<str>, span: Span, error: RowError) -> Self {
        let message = format!("{file}, line {}: {}", error.line, error.message);
        let there = Some(Box::new((Arc::clone(file), error.excerpt, error.at)));
        Self { row, message, help: error.help, span, label: NAMED, there, fatal: error.fatal }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As a finding: in the row's own file, with the place in the task beside it.
    pub(super) fn diagnostic(self, sources: &mut SourceMap) -> Diagnostic {
        let found = match self.there {
            None => self.row.at(self.span, self.message),
            Some(there) => {
                let (file, excerpt, at) = *there;
                let rest = excerpt.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                let span = Span::new(sources.add_excerpt(&*file, excerpt), at, at + rest);
                self.row.at(span, self.message).related(self.span, self.label)
            }
        };
        found
            .help(match self.row.code {
                "E0208" => "paths are relative to the task's folder, and stay under it",
                _ => "mend the row, or leave it out",
            })
            .maybe_help(self.help)
    }
}

/// The most findings of one source.
const MOST_REPORTED: usize = 20;

/// The findings of one source: the first twenty in full, the rest counted.
pub(super) struct Findings {
    span: Span,
    /// What was said of the task itself.
    of_task: Vec<(&'static str, Span)>,
    reported: usize,
    more: usize,
}

impl Findings {
    pub(super) const fn new(span: Span) -> Self {
        Self { span, of_task: Vec::new(), reported: 0, more: 0 }
    }

    pub(super) const fn any(&self) -> bool {
        self.reported > 0
    }

    pub(super) fn push(&mut self, problem: Problem, sources: &mut SourceMap, found: &mut diagnostic::Diagnostics) {
        // One place for many rows: it is said of the first.
        let known = problem.there.is_none() && self.of_task.contains(&(problem.row.code, problem.span));
        if known || (self.reported >= MOST_REPORTED && !problem.fatal) {
            self.more += 1;
            return;
        }
        if problem.there.is_none() {
            self.of_task.push((problem.row.code, problem.span));
        }
        self.reported += 1;
        found.push(problem.diagnostic(sources));
    }

    pub(super) fn finish(self, found: &mut diagnostic::Diagnostics) {
        if self.more > 0 {
            let (rows, verb) = if self.more == 1 { ("row", "is") } else { ("rows", "are") };
            let message = format!("{} more {rows} of this source {verb} bad", thousands(self.more));
            found.push(catalog::BAD_ROW.at(self.span, message).help("mend those that are shown, and check again"));
        }
    }
}

/// A count as people read it: `5,000`.
pub(super) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
