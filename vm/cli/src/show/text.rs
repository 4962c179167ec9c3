//! Findings for people, drawn by miette: the message, the text around the place, what to do, and the line as a fix would
//! leave it.

use std::cell::OnceCell;
use std::fmt::{self, Write as _};

use aigo_ir::diagnostic::{Diagnostic, Fix, Severity};
use aigo_ir::span::{FileId, SourceMap, Span};
use aigo_ir::text::printable;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters, ThemeStyles};

use super::one_line;
use super::safe::{SafeSource, Window};
use crate::finding::Locator;
use crate::terminal::Look;

/// How many lines may lie between places that are drawn together: each has one line around it.
const NEAR: usize = 3;
/// What stands before the text of a line: its number and a bar.
const MARGIN: usize = 10;
/// Lines of a fix that are shown.
const MOST_LINES: usize = 3;

/// Draws findings of one task. Each file is made safe once, when the first finding in it is drawn.
pub(super) struct Painter<'s> {
    sources: &'s SourceMap,
    /// What no finding may show, its own or another's.
    secrets: Vec<Span>,
    files: Vec<OnceCell<SafeSource<'s>>>,
    handler: GraphicalReportHandler,
    look: Look,
}

impl<'s> Painter<'s> {
    pub(super) fn new(sources: &'s SourceMap, secrets: Vec<Span>, look: Look) -> Self {
        let styles = if look.colour { ThemeStyles::ansi() } else { ThemeStyles::none() };
        let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(look.width).with_links(false);
        Self { sources, secrets, files: sources.files().map(|_| OnceCell::new()).collect(), handler, look }
    }

    fn source(&self, file: FileId) -> Option<&SafeSource<'s>> {
        let found = self.sources.get(file)?;
        let secrets =
            || self.secrets.iter().filter(|span| span.file == file).map(|span| span.start as usize..span.end as usize);
        // Files that are imported have numbers of their own.
        self.files.get(self.sources.rank(file)).map(|cell| cell.get_or_init(|| SafeSource::new(found, secrets())))
    }

    /// One finding, with a line end.
    pub(super) fn paint(&self, diagnostic: &Diagnostic, locator: &Locator<'_>) -> String {
        let mut out = String::new();
        let (near, far): (Vec<_>, Vec<_>) = diagnostic
            .related
            .iter()
            .partition(|(other, _)| diagnostic.span.is_some_and(|span| self.is_near(span, *other)));
        let mut places: Vec<(Span, &str)> =
            diagnostic.span.iter().map(|span| (*span, diagnostic.label.as_str())).collect();
        places.extend(near.into_iter().map(|(span, label)| (*span, label.as_str())));
        let mut shown = Drawn {
            code: Some(diagnostic.row.label()),
            severity: match diagnostic.row.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
                Severity::Note => miette::Severity::Advice,
            },
            message: one_line(&diagnostic.message),
            help: diagnostic.help.as_deref().map(one_line),
            window: None,
            labels: Vec::new(),
        };
        self.place(&mut shown, &places, locator);
        self.draw(&shown, &mut out);
        for (span, label) in far {
            self.elsewhere(*span, label, locator, &mut out);
        }
        if let Some(fix) = &diagnostic.fix {
            self.fix(fix, diagnostic.help.as_deref(), &mut out);
        }
        if !diagnostic.row.name.is_empty() {
            let (on, off) = self.marks();
            let _ = writeln!(out, "{on} allow: {off}# aigo: allow({}) why", diagnostic.row.name);
        }
        out
    }

    /// Whether two places are shown in one piece of text.
    fn is_near(&self, span: Span, other: Span) -> bool {
        let line = |span: Span| self.source(span.file).map(|source| source.line_of(span.start as usize));
        span.file == other.file && line(span).zip(line(other)).is_some_and(|(a, b)| a.abs_diff(b) <= NEAR)
    }

    fn draw(&self, shown: &Drawn, out: &mut String) {
        let mut text = String::new();
        if self.handler.render_report(&mut text, shown).is_err() {
            text = format!("{} {}", shown.code.as_deref().unwrap_or_default(), shown.message);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }

    /// A place in another file, or far away in this one, that explains a finding.
    fn elsewhere(&self, span: Span, label: &str, locator: &Locator<'_>, out: &mut String) {
        let severity = miette::Severity::Advice;
        let message = one_line(if label.is_empty() { "see also" } else { label });
        let mut shown = Drawn { code: None, severity, message, help: None, window: None, labels: Vec::new() };
        self.place(&mut shown, &[(span, "")], locator);
        self.draw(&shown, out);
    }

    /// Puts labels at places of one file, near each other. The first is where the finding is: it heads the text, whichever
    /// comes first in the file.
    fn place(&self, shown: &mut Drawn, places: &[(Span, &str)], locator: &Locator<'_>) {
        let Some((first, _)) = places.first() else { return };
        let Some(source) = self.source(first.file) else { return };
        let column = locator.position(Some((first.file, first.start))).column - 1;
        let ranges: Vec<(usize, usize)> =
            places.iter().map(|(span, _)| source.on_one_line(span.start as usize, span.end as usize)).collect();
        let window = source.window(&ranges, column, self.look.width.saturating_sub(MARGIN));
        for (at, ((start, end), (_, label))) in ranges.iter().zip(places).enumerate() {
            let label = (!label.is_empty()).then(|| one_line(label));
            let range = window.range(*start, *end);
            shown.labels.push(if at == 0 {
                LabeledSpan::new_primary_with_span(label, range)
            } else {
                LabeledSpan::new_with_span(label, range)
            });
        }
        shown.window = Some(window);
    }

    /// What colours a word before a text, and ends that.
    const fn marks(&self) -> (&'static str, &'static str) {
        if self.look.colour { ("\u{1b}[36m", "\u{1b}[0m") } else { ("", "") }
    }

    /// The lines of a fix as it would leave them. What it does is told unless the help has just said so.
    fn fix(&self, fix: &Fix, help: Option<&str>, out: &mut String) {
        let Some(source) = self.source(fix.span.file) else { return };
        if help != Some(fix.title.as_str()) {
            let (on, off) = self.marks();
            let _ = writeln!(out, "{on}   fix: {off}{}", one_line(&fix.title));
        }
        let room = self.look.width.saturating_sub(MARGIN);
        let (line, edited) = source.edited(fix.span.start as usize, fix.span.end as usize, &fix.text, room);
        let mut lines = edited.lines().enumerate();
        for (at, text) in lines.by_ref().take(MOST_LINES) {
            let _ = writeln!(out, "  {:>5} │ {}", line + at, cropped(text, room));
        }
        if lines.next().is_some() {
            let _ = writeln!(out, "  {:>5} │", "…");
        }
    }
}

/// A line in at most `room` characters.
fn cropped(line: &str, room: usize) -> String {
    let line = printable(&line.trim_end().replace('\t', "    "));
    match line.char_indices().nth(room) {
        None => line,
        Some(_) => line.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A finding as miette takes it.
#[derive(Debug)]
struct Drawn {
    code: Option<String>,
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    window: Option<Window>,
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawn {}

impl miette::Diagnostic for Drawn {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.window.as_ref().map(|window| window as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}

#[cfg(test)]
mod tests {
    use aigo_ir::diagnostic::{Diagnostic, Row};
    use aigo_ir::span::{FileId, SourceMap, Span};

    use super::Painter;
    use crate::finding::Locator;
    use crate::terminal::Look;

    static ROW: Row = Row::error("E0000", "a test");

    fn paint(sources: &SourceMap, found: &Diagnostic) -> String {
        Painter::new(sources, Vec::new(), Look::plain()).paint(found, &Locator::new("a.yaml", sources))
    }

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
        let shown = paint(&sources, &found);
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
    fn a_long_line_is_cropped_around_the_place() {
        let mut sources = SourceMap::default();
        let text = format!("a: é{}b{}\nc: d\n{}\n", "x".repeat(100_000), "z".repeat(99), "y".repeat(3_000));
        sources.add("a.yaml", text.as_str());
        let at = text.find('b').unwrap();
        let found = ROW.at(span(0, at, at + 1), "here").fix("mend", span(0, at, at + 1), "B");
        let shown = paint(&sources, &found);
        let (before, after) = ("x".repeat(29), "z".repeat(58));
        assert!(
            shown.contains(&format!("[a.yaml:1:100005]\n 1 │ …{before}b{after}…\n   · {}─\n", " ".repeat(30))),
            "{shown}"
        );
        assert!(shown.contains(&format!("      1 │ …{}B", "x".repeat(30))), "{shown}");
        // Another place on that line, which is cut off, is told at the edge.
        let both = ROW.at(span(0, at, at + 1), "here").related(span(0, 0, 1), "cut off");
        let shown = paint(&sources, &both);
        assert!(shown.contains("cut off") && shown.contains("[a.yaml:1:100005]"), "{shown}");
        // Nor is it shown whole around another; and what stands at its start is shown from there.
        let two = ROW.at(span(0, at + 103, at + 104), "here").related(span(0, 0, 1), "before");
        let shown = paint(&sources, &two);
        assert!(shown.contains(" 1 │ a: éxxx") && shown.contains("2 │ c: d") && shown.contains("3 │ yyy"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    }

    #[test]
    fn places_at_ends_and_over_several_lines_are_drawn() {
        let mut sources = SourceMap::default();
        let text = "a: 1\r\n\r\n値: \t😀x\nlast";
        sources.add("a.yaml", text);
        sources.add("empty.yaml", "");
        for start in 0..=text.len() + 2 {
            for end in [start, start + 1, start + 3, text.len() + 9] {
                for other in [0, start, text.len()] {
                    let found = ROW.at(span(0, start, end), "m").label("l").related(span(0, other, other + 2), "o");
                    let shown = paint(&sources, &found);
                    let at = sources.position(span(0, start, end));
                    assert!(shown.contains(&format!("[a.yaml:{}:{}]", at.line, at.column)), "{start}..{end}: {shown}");
                }
            }
        }
        let shown = paint(&sources, &ROW.at(span(1, 0, 0), "nothing").fix("write it", span(1, 0, 0), "x: 1\ny: 2\n"));
        assert!(shown.contains("[empty.yaml:1:1]") && shown.contains("      2 │ y: 2\n"), "{shown}");
    }
}
