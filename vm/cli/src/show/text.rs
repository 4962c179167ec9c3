//! Findings for people, drawn by miette: the message, the text around the place, what to do, and the line as a fix would
//! leave it.

use std::cell::OnceCell;
use std::fmt::{self, Write as _};

use aigo_ir::diagnostic::{Diagnostic, Fix, Severity};
use aigo_ir::span::{FileId, SourceMap, Span};
use aigo_ir::text::printable;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters, ThemeStyles};

use super::one_line;
use super::safe::SafeSource;
use crate::terminal::Look;

/// Lines of a fix that are shown.
const MOST_LINES: usize = 3;

/// Draws findings of one task. Each file is made safe once, when the first finding in it is drawn.
pub(super) struct Painter<'s> {
    sources: &'s SourceMap,
    files: Vec<OnceCell<SafeSource<'s>>>,
    handler: GraphicalReportHandler,
    look: Look,
}

impl<'s> Painter<'s> {
    pub(super) fn new(sources: &'s SourceMap, look: Look) -> Self {
        let styles = if look.colour { ThemeStyles::ansi() } else { ThemeStyles::none() };
        let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(look.width).with_links(false);
        Self { sources, files: sources.files().map(|_| OnceCell::new()).collect(), handler, look }
    }

    fn source(&self, file: FileId) -> Option<&SafeSource<'s>> {
        let found = self.sources.get(file)?;
        self.files.get(file.0 as usize).map(|cell| cell.get_or_init(|| SafeSource::new(found)))
    }

    /// One finding, with a line end.
    pub(super) fn paint(&self, diagnostic: &Diagnostic) -> String {
        let mut out = String::new();
        let here = diagnostic.span.map(|span| span.file);
        let places = diagnostic.related.iter().filter(|(other, _)| Some(other.file) == here);
        let primary = diagnostic.span.map(|span| (span, diagnostic.label.as_str()));
        let mut shown = Drawn {
            code: Some(diagnostic.row.code),
            severity: match diagnostic.row.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
                Severity::Note => miette::Severity::Advice,
            },
            message: one_line(&diagnostic.message),
            help: diagnostic.help.as_deref().map(printable),
            source: None,
            labels: Vec::new(),
        };
        let related = places.map(|(span, label)| (*span, label.as_str()));
        self.place(&mut shown, primary.into_iter().chain(related));
        self.draw(&shown, &mut out);
        for (span, label) in diagnostic.related.iter().filter(|(other, _)| Some(other.file) != here) {
            self.elsewhere(*span, label, &mut out);
        }
        if let Some(fix) = &diagnostic.fix {
            self.fix(fix, &mut out);
        }
        out
    }

    fn draw(&self, shown: &Drawn<'_>, out: &mut String) {
        let mut text = String::new();
        if self.handler.render_report(&mut text, shown).is_err() {
            text = format!("{} {}", shown.code.unwrap_or_default(), shown.message);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }

    /// A place in another file that explains a finding.
    fn elsewhere(&self, span: Span, label: &str, out: &mut String) {
        let severity = miette::Severity::Advice;
        let message = one_line(if label.is_empty() { "see also" } else { label });
        let mut shown = Drawn { code: None, severity, message, help: None, source: None, labels: Vec::new() };
        self.place(&mut shown, std::iter::once((span, "")));
        self.draw(&shown, out);
    }

    /// Puts labels at places of one file. The first is where the finding is: its line heads the text, whichever place comes
    /// first in the file. What stands on a line that is too long is only told.
    fn place<'p>(&'p self, shown: &mut Drawn<'p>, places: impl Iterator<Item = (Span, &'p str)>) {
        for (at, (span, label)) in places.enumerate() {
            let Some(source) = self.source(span.file) else { return };
            let start = source.floor(span.start as usize);
            if source.is_shown(source.line_of(start)) {
                shown.source = Some(source);
                shown.labels.push(label_at(source, span, label, at == 0));
            } else if at == 0 {
                let (line, column) = (source.line_of(start) + 1, source.column(start) + 1);
                let _ = write!(shown.message, " ({}:{line}:{column})", source.name());
                return;
            }
        }
    }

    /// The lines of a fix as it would leave them.
    fn fix(&self, fix: &Fix, out: &mut String) {
        let Some(source) = self.source(fix.span.file) else { return };
        let (start, end) = (source.floor(fix.span.start as usize), source.floor(fix.span.end as usize));
        let (first, last) = (source.line_of(start), source.line_of(end.max(start)));
        let (on, off) = if self.look.colour { ("\u{1b}[36m", "\u{1b}[0m") } else { ("", "") };
        let _ = writeln!(out, "{on}   fix: {off}{}", one_line(&fix.title));
        if !source.is_shown(first) || !source.is_shown(last) {
            return;
        }
        let text = source.text();
        let first_line = source.line(first);
        let column = source.column(start);
        let before: String = first_line.chars().take(column).collect();
        let after: String = source.line(last).chars().skip(source.column(end.max(start))).collect();
        debug_assert!(text.is_char_boundary(start));
        let edited = format!("{before}{}{after}", fix.text);
        let room = self.look.width.saturating_sub(10);
        let mut lines = edited.lines().enumerate();
        for (at, line) in lines.by_ref().take(MOST_LINES) {
            let from = if at == 0 { column } else { 0 };
            let _ = writeln!(out, "  {:>5} │ {}", first + at + 1, cropped(line, from, room));
        }
        if lines.next().is_some() {
            let _ = writeln!(out, "  {:>5} │", "…");
        }
    }
}

/// A line in at most `room` columns, so that the character at `column` is among them.
fn cropped(line: &str, column: usize, room: usize) -> String {
    let line = printable(&line.trim_end().replace('\t', "    "));
    if line.chars().count() <= room {
        return line;
    }
    let from = if column + room / 3 > room { column - room / 3 } else { 0 };
    let mut out = if from > 0 { "…".to_owned() } else { String::new() };
    out.extend(line.chars().skip(from).take(room.saturating_sub(2)));
    if line.chars().count() > from + room.saturating_sub(2) {
        out.push('…');
    }
    out
}

/// A label on whole characters, on one line.
fn label_at(source: &SafeSource<'_>, span: Span, label: &str, is_primary: bool) -> LabeledSpan {
    let start = source.floor(span.start as usize);
    let mut end = source.floor(span.end as usize).max(start);
    if let Some(newline) = source.text().get(start..end).and_then(|under| under.find('\n')) {
        end = start + newline;
    }
    let label = (!label.is_empty()).then(|| one_line(label));
    if is_primary {
        LabeledSpan::new_primary_with_span(label, (start, end - start))
    } else {
        LabeledSpan::new_with_span(label, (start, end - start))
    }
}

/// A finding as miette takes it.
#[derive(Debug)]
struct Drawn<'s> {
    code: Option<&'static str>,
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    source: Option<&'s SafeSource<'s>>,
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}
