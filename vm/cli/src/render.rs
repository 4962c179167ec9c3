//! Findings for people, by miette, from a source that is made safe first: it passes control characters on, and panics on
//! columns beyond 65,535.

use std::fmt;

use aigo_ir::diagnostic::{Diagnostic, Severity};
use aigo_ir::span::{SourceMap, Span};
use aigo_ir::text::{is_dangerous, printable};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, NamedSource, SourceCode,
    SourceSpan, SpanContents,
};

/// A line longer than this is not shown.
const WIDEST: usize = 2_000;

/// Renders one finding.
pub(crate) fn full(diagnostic: &Diagnostic, sources: &SourceMap, colour: bool) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
    let shown = Shown::new(diagnostic, sources);
    let mut out = String::new();
    if handler.render_report(&mut out, &shown).is_err() {
        return diagnostic.concise(sources);
    }
    out.trim_end().to_owned() + "\n"
}

/// A finding as miette takes it.
#[derive(Debug)]
struct Shown {
    code: &'static str,
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    source: Option<Piece>,
    labels: Vec<LabeledSpan>,
}

impl Shown {
    fn new(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        let severity = match diagnostic.row.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        };
        let mut shown = Self {
            code: diagnostic.row.code,
            severity,
            message: printable(&diagnostic.message),
            help: diagnostic.help.as_deref().map(printable),
            source: None,
            labels: Vec::new(),
        };
        let Some(span) = diagnostic.span else { return shown };
        let Some(file) = sources.get(span.file) else { return shown };
        let places = std::iter::once((span, diagnostic.label.as_str()));
        let places = places.chain(diagnostic.related.iter().map(|(span, label)| (*span, label.as_str())));
        let here: Vec<(Span, &str)> = places.filter(|(other, _)| other.file == span.file).collect();
        if here.iter().any(|(span, _)| is_wide(&file.text, *span)) {
            let at = sources.position(span);
            shown.message = format!("{} ({}:{}:{})", shown.message, printable(&file.name), at.line, at.column);
            return shown;
        }
        // The first is where the finding is: its line heads the text, whichever place comes first in the file.
        let labels = here.iter().enumerate();
        shown.labels = labels.map(|(at, (span, label))| label_at(&file.text, *span, label, at == 0)).collect();
        let source = NamedSource::new(printable(&file.name), safe(&file.text));
        shown.source = Some(Piece { source, before: file.first.line - 1 });
        shown
    }
}

/// A text, or a piece of one whose lines count on from those before it.
#[derive(Debug)]
struct Piece {
    source: NamedSource<String>,
    before: usize,
}

impl SourceCode for Piece {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.source.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.source.name().to_owned(),
            found.data(),
            *found.span(),
            found.line() + self.before,
            found.column(),
            found.line_count(),
        )))
    }
}

fn is_wide(text: &str, span: Span) -> bool {
    let start = (span.start as usize).min(text.len());
    let before = text.as_bytes().get(..start).unwrap_or_default().iter().rev().take_while(|b| **b != b'\n').count();
    let after = text.as_bytes().get(start..).unwrap_or_default().iter().take_while(|b| **b != b'\n').count();
    before + after > WIDEST
}

/// A label on whole characters, on one line.
fn label_at(text: &str, span: Span, label: &str, primary: bool) -> LabeledSpan {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    let mut end = floor(span.end as usize).max(start);
    if let Some(newline) = text.get(start..end).and_then(|under| under.find('\n')) {
        end = start + newline;
    }
    let label = (!label.is_empty()).then(|| printable(label));
    if primary {
        LabeledSpan::new_primary_with_span(label, (start, end - start))
    } else {
        LabeledSpan::new_with_span(label, (start, end - start))
    }
}

/// The text with every character that could drive a terminal replaced, at the same length in bytes.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (is_dangerous(c) && c != '\n' && c != '\t', c.len_utf8()) {
            (false, _) => out.push(c),
            (true, 1) => out.push(if c == '\r' { ' ' } else { '?' }),
            (true, 2) => out.push('¿'),
            (true, _) => out.push('\u{fffd}'),
        }
    }
    out
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl miette::Diagnostic for Shown {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}
