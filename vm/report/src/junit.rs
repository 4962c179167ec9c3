//! `JUnit`'s XML, for the test reports of CI: a suite of the gates, then one for each scorer, with a case for each sample.
//!
//! Elements and attributes are those of Jenkins' `junit-10.xsd`, which GitLab, GitHub's reporters and Azure read as well.
//! There is no time in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::program::Program;

use crate::rows::{Row, missing_word, rows};
use crate::text::{figures, shown};
use crate::{GateResult, Heading, Summary, Told};

/// The cases of a run. They are sorted by scorer, sample and epoch when they are written.
#[derive(Debug, Default)]
pub struct Cases {
    suites: BTreeMap<usize, Suite>,
}

#[derive(Debug, Default)]
struct Suite {
    cases: BTreeMap<(Arc<str>, u32), String>,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Cases {
    /// Takes a trial in.
    pub fn add(&mut self, program: &Program, told: Told<'_>) {
        let (key, epoch) = match told {
            Told::Ended(trial) => (&trial.key, trial.epoch),
            Told::Open(open) => (&open.key, open.epoch),
        };
        for row in rows(program, told).into_iter().filter(|row| row.turn.is_none()) {
            let Some(at) = program.scorers.iter().position(|scorer| *scorer.name == *row.scorer) else { continue };
            let suite = self.suites.entry(at).or_default();
            let case = suite.case(program, &row);
            suite.cases.insert((Arc::clone(key), epoch), case);
        }
    }

    /// The document.
    pub fn finish(mut self, summary: &Summary, heading: Heading<'_>) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let gates = gates(summary);
        let own = [&gates].into_iter().chain(self.suites.values());
        let total = own.fold([0; 4], |[a, b, c, d], suite| {
            [a + suite.cases.len() as u64, b + suite.failures, c + suite.errors, d + suite.skipped]
        });
        let name = text(&summary.program.name);
        let _ = writeln!(out, "<testsuites name=\"{name}\"{}>", counts(total, false));
        let Heading { run, digest, exit } = heading;
        gates.write("gates", &[("run", run), ("digest", digest), ("exit", &exit.to_string())], &mut out);
        for (at, scorer) in summary.program.scorers.iter().enumerate() {
            let suite = self.suites.remove(&at).unwrap_or_default();
            let denominator = summary.counts.get(at).map(crate::text::denominator).unwrap_or_default();
            suite.write(&scorer.name, &[("conversations", &denominator)], &mut out);
        }
        out.push_str("</testsuites>\n");
        out
    }
}

impl Suite {
    fn case(&mut self, program: &Program, row: &Row<'_>) -> String {
        let epoch = if program.epochs > 1 { format!(" (epoch {})", row.epoch) } else { String::new() };
        let class = format!("{}.{}", program.name, row.scorer);
        let mut out =
            format!("<testcase name=\"{}\" classname=\"{}\"", text(&format!("{}{epoch}", row.sample)), text(&class));
        let value = row.value.map_or_else(String::new, shown);
        match missing_word(row) {
            Some("not_applicable") => {
                self.skipped += 1;
                let _ = write!(out, "><skipped message=\"{}\"/></testcase>", text(&said("not applicable", row.reason)));
            }
            Some(word) => {
                self.errors += 1;
                let message = text(&said(word, row.reason));
                let _ = write!(out, "><error message=\"{message}\" type=\"{word}\"/></testcase>");
            }
            None if row.pass == Some(false) => {
                self.failures += 1;
                let message = text(&said(&format!("{} = {value}", row.scorer), row.reason));
                let quotes = row.evidence.iter().map(|one| format!("{} \"{}\"", one.turn, one.quote));
                let quotes: Vec<String> = quotes.collect();
                let body = text(&quotes.join("\n"));
                let _ = write!(out, "><failure message=\"{message}\" type=\"fail\">{body}</failure></testcase>");
            }
            None => out.push_str("/>"),
        }
        out
    }

    fn write(&self, name: &str, properties: &[(&str, &str)], out: &mut String) {
        let total = [self.cases.len() as u64, self.failures, self.errors, self.skipped];
        let _ = writeln!(out, "  <testsuite name=\"{}\"{}>", text(name), counts(total, true));
        out.push_str("    <properties>\n");
        for (name, value) in properties {
            let _ = writeln!(out, "      <property name=\"{}\" value=\"{}\"/>", text(name), text(value));
        }
        out.push_str("    </properties>\n");
        for case in self.cases.values() {
            let _ = writeln!(out, "    {case}");
        }
        out.push_str("  </testsuite>\n");
    }
}

/// `what: why`, or what stands alone.
fn said(what: &str, why: &str) -> String {
    if why.is_empty() { what.to_owned() } else { format!("{what}: {why}") }
}

/// A case for each gate: a red one has failed, an undecided one could not be run to an end.
fn gates(summary: &Summary) -> Suite {
    let mut suite = Suite::default();
    let class = text(&format!("{}.gates", summary.program.name));
    for (at, gate) in (0_u32..).zip(&summary.gates) {
        let mut out = format!("<testcase name=\"{}\" classname=\"{class}\"", text(&gate.gate));
        let message = text(&said(&figures(gate), &gate.note));
        match gate.result {
            GateResult::Pass => out.push_str("/>"),
            GateResult::Red => {
                suite.failures += 1;
                let _ = write!(out, "><failure message=\"{message}\" type=\"red\"/></testcase>");
            }
            GateResult::Undecided => {
                suite.errors += 1;
                let _ = write!(out, "><error message=\"{message}\" type=\"undecided\"/></testcase>");
            }
            GateResult::Skipped => {
                suite.skipped += 1;
                let _ = write!(out, "><skipped message=\"{}\"/></testcase>", text(&gate.note));
            }
        }
        suite.cases.insert(("".into(), at), out);
    }
    suite
}

/// The counts as attributes. The root element of the schema has none of what was skipped; its suites have.
fn counts([tests, failures, errors, skipped]: [u64; 4], of_suite: bool) -> String {
    let skipped = if of_suite { format!(" skipped=\"{skipped}\"") } else { String::new() };
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"{skipped}")
}

/// Text within XML: its own signs are escaped, and what XML has no form for, or a terminal could act on, is written as
/// `\u{..}`.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in aigo_ir::text::printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}
