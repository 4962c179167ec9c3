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

/// How many lines may lie between places that are drawn together: each has one line around it.
const NEAR: usize = 3;
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
        let (near, far): (Vec<_>, Vec<_>) = diagnostic
            .related
            .iter()
            .partition(|(other, _)| diagnostic.span.is_some_and(|span| self.is_near(span, *other)));
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
        let related = near.into_iter().map(|(span, label)| (*span, label.as_str()));
        self.place(&mut shown, primary.into_iter().chain(related));
        self.draw(&shown, &mut out);
        for (span, label) in far {
            self.elsewhere(*span, label, &mut out);
        }
        if let Some(fix) = &diagnostic.fix {
            self.fix(fix, diagnostic.help.as_deref(), &mut out);
        }
        out
    }

    /// Whether two places are shown in one piece of text.
    fn is_near(&self, span: Span, other: Span) -> bool {
        let line = |span: Span| self.source(span.file).map(|source| source.line_of(span.start as usize));
        span.file == other.file && line(span).zip(line(other)).is_some_and(|(a, b)| a.abs_diff(b) <= NEAR)
    }

    fn draw(&self, shown: &Drawn<'_>, out: &mut String) {
        let mut text = String::new();
        if self.handler.render_report(&mut text, shown).is_err() {
            text = format!("{} {}", shown.code.unwrap_or_default(), shown.message);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }

    /// A place in another file, or far away in this one, that explains a finding.
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

    /// The lines of a fix as it would leave them. What it does is told unless the help has just said so.
    fn fix(&self, fix: &Fix, help: Option<&str>, out: &mut String) {
        let Some(source) = self.source(fix.span.file) else { return };
        let (start, end) = (source.floor(fix.span.start as usize), source.floor(fix.span.end as usize));
        let (first, last) = (source.line_of(start), source.line_of(end.max(start)));
        if help != Some(fix.title.as_str()) {
            let (on, off) = if self.look.colour { ("\u{1b}[36m", "\u{1b}[0m") } else { ("", "") };
            let _ = writeln!(out, "{on}   fix: {off}{}", one_line(&fix.title));
        }
        if !source.is_shown(first) || !source.is_shown(last) {
            return;
        }
        let first_line = source.line(first);
        let column = source.column(start);
        let before: String = first_line.chars().take(column).collect();
        let after: String = source.line(last).chars().skip(source.column(end.max(start))).collect();
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

#[cfg(test)]
mod tests {
    use aigo_ir::diagnostic::Row;
    use aigo_ir::span::{FileId, SourceMap, Span};

    use super::Painter;
    use crate::terminal::Look;

    static ROW: Row = Row::error("E0000", "a test");

    fn span(file: u32, start: usize, end: usize) -> Span {
        Span::new(FileId(file), start, end)
    }

    #[test]
    fn places_in_other_files_and_far_away_are_shown_with_their_own_lines() {
        let mut sources = SourceMap::default();
        let long = (1..=900).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        sources.add("a.yaml", long.as_str());
        sources.add("lib.yaml", "x: 1\ny: {min_turn: 2}\n");
        let at = |n: usize| long.find(&format!("line {n}\n")).unwrap();
        let found = ROW
            .at(span(0, at(800), at(800) + 4), "the second")
            .related(span(0, at(3) + 5, at(3) + 6), "the first")
            .related(span(0, at(802), at(802) + 4), "near")
            .related(span(1, 9, 17), "written here")
            .fix("write `min_turns`", span(1, 9, 17), "min_turns");
        let shown = Painter::new(&sources, Look::plain()).paint(&found);
        let wanted = "E0000

  × the second
     ╭─[a.yaml:800:1]
 799 │ line 799
 800 │ line 800
     · ────
 801 │ line 801
 802 │ line 802
     · ──┬─
     ·   ╰── near
 803 │ line 803
     ╰────
  ☞ the first
   ╭─[a.yaml:3:6]
 2 │ line 2
 3 │ line 3
   ·      ─
 4 │ line 4
   ╰────
  ☞ written here
   ╭─[lib.yaml:2:5]
 1 │ x: 1
 2 │ y: {min_turn: 2}
   ·     ────────
   ╰────
   fix: write `min_turns`
      2 │ y: {min_turns: 2}
";
        assert_eq!(shown, wanted, "\n{shown}");
    }

    #[test]
    fn a_line_that_is_too_long_is_told_and_not_shown() {
        let mut sources = SourceMap::default();
        let text = format!("a: é{}b\nc: d\n{}\n", "x".repeat(100_000), "y".repeat(3_000));
        sources.add("a.yaml", text.as_str());
        let at = text.find('b').unwrap();
        let painter = Painter::new(&sources, Look::plain());
        let shown = painter.paint(&ROW.at(span(0, at, at + 1), "too far").fix("mend", span(0, at, at + 1), "z"));
        assert!(shown.contains("too far (a.yaml:1:100005)") && shown.len() < 200, "{shown}");
        // Nor is it shown around another, or between two places.
        let two = ROW.at(span(0, at + 2, at + 3), "here").related(span(0, 0, 1), "before");
        let shown = painter.paint(&two);
        assert!(shown.contains("2 │ c: d") && !shown.contains("xxx") && !shown.contains("yyy"), "{shown}");
    }
}
