//! What a check comes to: findings in order, none twice, their counts, and the output in the format that was asked for.

use std::collections::BTreeSet;

use aigo_ir::diagnostic::{MOST_FINDINGS, MOST_MINOR, Severity};

use crate::args::Findings;
use crate::finding::{Finding, Identity, Located, Shown};
use crate::out::{self, Output};
use crate::show::{self, Counts, Whole, plural};

/// Takes findings of one task after the other.
pub(crate) struct Collector {
    format: Findings,
    output: Output,
    /// What is shown.
    seen: BTreeSet<Identity>,
    /// How many of those are no errors.
    minor: usize,
    located: Vec<Located>,
    faults: Vec<String>,
    counts: Counts,
    /// Found, and not shown or kept.
    omitted: usize,
    files: usize,
}

/// What a check came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// Whether something could not be read, found or written.
    pub(crate) has_faults: bool,
}

impl Collector {
    pub(crate) fn new(format: Findings) -> Self {
        Self {
            format,
            output: Output::new(),
            seen: BTreeSet::new(),
            minor: 0,
            located: Vec::new(),
            faults: Vec::new(),
            counts: Counts::default(),
            omitted: 0,
            files: 0,
        }
    }

    /// Takes what was found in one more task; `omitted` findings of it were only counted.
    pub(crate) fn task(&mut self, findings: Vec<Finding>, omitted: usize) {
        self.files += 1;
        self.omitted += omitted;
        for finding in findings {
            self.finding(finding);
        }
    }

    /// Takes findings of tasks that were taken before.
    pub(crate) fn more(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.finding(finding);
        }
    }

    /// Shows lines to people; the other formats have findings alone.
    pub(crate) fn table(&mut self, lines: &str) {
        if self.format == Findings::Text {
            self.output.write(&lines.split_inclusive('\n').map(one_line).collect::<String>());
        }
    }

    fn finding(&mut self, finding: Finding) {
        if self.seen.contains(&finding.identity) {
            return;
        }
        match finding.row.severity {
            Severity::Error => self.counts.errors += 1,
            Severity::Warning => self.counts.warnings += 1,
            Severity::Note => self.counts.notes += 1,
        }
        self.counts.fixable += usize::from(finding.is_fixable);
        let is_minor = finding.row.severity != Severity::Error;
        if self.seen.len() >= MOST_FINDINGS || (is_minor && self.minor >= MOST_MINOR) {
            self.omitted += 1;
            return;
        }
        self.minor += usize::from(is_minor);
        self.seen.insert(finding.identity);
        match finding.shown {
            Shown::Text(text) => self.output.write(&text),
            Shown::Data(located) => self.located.push(*located),
        }
    }

    /// Tells what could not be done. One line, which names the path and what to do.
    pub(crate) fn fault(&mut self, fault: String) {
        self.output.flush();
        out::error(&fault);
        self.faults.push(fault);
    }

    /// How many tasks were checked.
    pub(crate) fn files(&self) -> usize {
        self.files
    }

    /// Writes what is written as a whole.
    pub(crate) fn finish(mut self) -> Outcome {
        let whole = Whole {
            files: self.files,
            counts: self.counts,
            omitted: self.omitted,
            findings: &self.located,
            faults: &self.faults,
        };
        let text = match self.format {
            Findings::Text => summary(&whole),
            Findings::Concise => more(self.omitted),
            Findings::Github => show::github::write(&whole),
            Findings::Json => written(show::json::write(&whole)),
            Findings::Sarif => {
                let folder = std::env::current_dir().unwrap_or_default();
                written(show::sarif::write(&whole, &folder))
            }
        };
        self.output.write(&text);
        self.output.flush();
        if let Some(error) = self.output.failure() {
            self.fault(format!("the findings cannot be written: {error}"));
        }
        Outcome { errors: self.counts.errors, warnings: self.counts.warnings, has_faults: !self.faults.is_empty() }
    }
}

/// Our own types hold nothing that JSON has no form for.
fn written(json: Result<String, serde_json::Error>) -> String {
    json.unwrap_or_else(|error| {
        out::error(&format!("the findings have no JSON: {error}"));
        String::new()
    })
}

/// A line of the table, with nothing in it that could drive a terminal.
fn one_line(line: &str) -> String {
    aigo_ir::text::printable(line.trim_end()) + "\n"
}

fn more(omitted: usize) -> String {
    if omitted == 0 { String::new() } else { format!("… and {}\n", plural(omitted, "more finding")) }
}

/// The last line of text: what was looked at, and what it came to.
fn summary(whole: &Whole<'_>) -> String {
    if whole.files == 0 {
        return String::new();
    }
    let counts = whole.counts;
    let mut parts = vec![plural(counts.errors, "error"), plural(counts.warnings, "warning")];
    if counts.notes > 0 {
        parts.push(plural(counts.notes, "note"));
    }
    let fixable = match counts.fixable {
        0 => String::new(),
        1 => "; 1 has a fix".to_owned(),
        n => format!("; {n} have a fix"),
    };
    format!("{}{}: {}{fixable}\n", more(whole.omitted), plural(whole.files, "file"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use aigo_compiler::Compiled;
    use aigo_ir::diagnostic::Row;
    use aigo_ir::span::{SourceMap, Span};

    use super::Collector;
    use crate::args::Findings;
    use crate::show;
    use crate::terminal::Look;

    static ROW: Row = Row::error("E0000", "a test");

    /// A task that imports a library, whose second line is wrong; the task's own first line is too.
    fn compiled(task: &str, library: &str) -> Compiled {
        let mut sources = SourceMap::default();
        let own = sources.add(task, "aigo: 1\n");
        let imported = sources.add(library, "a: 1\nb: 2\n");
        let diagnostics = vec![ROW.at(Span::new(own, 0, 4), "own"), ROW.at(Span::new(imported, 5, 6), "imported")];
        Compiled { program: None, suites: Vec::new(), diagnostics, omitted: 0, sources, is_library: false }
    }

    #[test]
    fn what_several_tasks_import_is_told_once_under_the_first() {
        let mut collector = Collector::new(Findings::Json);
        for (task, library) in [("a/1.yaml", "lib.yaml"), ("a/2.yaml", "a/../lib.yaml"), ("a/3.yaml", "other.yaml")] {
            let compiled = compiled(task, library);
            collector
                .task(show::findings(task, &compiled.diagnostics, &compiled.sources, Findings::Json, Look::plain()), 0);
        }
        let paths: Vec<&str> = collector.located.iter().map(|found| found.place.path.as_str()).collect();
        assert_eq!(paths, ["a/1.yaml", "lib.yaml", "a/2.yaml", "a/3.yaml", "other.yaml"]);
        assert_eq!((collector.counts.errors, collector.files()), (5, 3));
    }
}
