//! `aigo report`: what a run came to, in each form that other programs take. `run` and `resume` write the same with
//! `--report`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aigo_log::Log;
use aigo_report::{Cases, Form, Heading, Summary, Table, Texts, Told};
use aigo_vm::error::DIVERGED;
use aigo_vm::{Depth, RunError};

use super::drive;
use crate::args::{Color, ReportArgs, ReportFormat, Wanted};
use crate::replace::Fresh;
use crate::terminal::Look;
use crate::{exit, out, runs};

pub(crate) fn report(args: &ReportArgs) -> u8 {
    let path = match runs::find(&args.run, &args.runs) {
        Ok(path) => path,
        Err(message) => {
            out::error(&message);
            return exit::USAGE;
        }
    };
    let texts = if args.with_text { Texts::Shown } else { Texts::Hidden };
    let wanted = Wanted { format: args.format, file: args.output.clone() };
    write(&path, &[wanted], texts, args.color)
}

/// Writes reports of a run, which are made in one pass over its log. Gives 0, or the code of what went wrong.
pub(crate) fn write(run: &Path, wanted: &[Wanted], texts: Texts, color: Color) -> u8 {
    let log = match Log::open(run) {
        Ok(log) => log,
        Err(error) => return drive::fail(&RunError::Log(error)),
    };
    if let Some(warning) = log.state().warning(&run.display().to_string()) {
        out::note(&format!("warning: [{}] {}", warning.row.code, warning.message));
    }
    let made = match Made::of(&log, wanted) {
        Ok(made) => made,
        Err(error) => return drive::fail(&error),
    };
    let mut code = exit::PASSED;
    for one in wanted {
        let text = made.text(one.format, &log, texts, one.file.is_none().then_some(color));
        let given = match &one.file {
            Some(file) => write_file(file, &text),
            None => print(one.format, &text, || made.text(ReportFormat::Markdown, &log, texts, None)),
        };
        if let Err(message) = given {
            out::error(&message);
            code = exit::USAGE;
        }
    }
    for divergence in made.divergences.iter().take(SHOWN) {
        out::error(&format!("[{}] {divergence}; it is reported as it was recorded", DIVERGED.code));
    }
    if made.divergences.len() > SHOWN {
        out::error(&format!("… and {} more differences", made.divergences.len() - SHOWN));
    }
    if made.divergences.is_empty() { code } else { exit::DIFFERS }
}

/// How many differences are shown.
const SHOWN: usize = 10;

/// Everything that the wanted forms are made of.
struct Made {
    summary: Summary,
    digest: String,
    exit: i32,
    jsonl: String,
    csv: String,
    junit: String,
    divergences: Vec<aigo_vm::Divergence>,
}

impl Made {
    fn of(log: &Log, wanted: &[Wanted]) -> Result<Self, RunError> {
        let wants = |format: ReportFormat| wanted.iter().any(|one| one.format == format);
        let mut jsonl = wants(ReportFormat::Jsonl).then(|| Table::new(Form::Jsonl));
        let mut csv = wants(ReportFormat::Csv).then(|| Table::new(Form::Csv));
        let mut cases = wants(ReportFormat::Junit).then(Cases::default);
        let depth = if jsonl.is_some() || csv.is_some() { Depth::All } else { Depth::Failing };
        let folded = aigo_vm::fold(log, depth, |program, told: Told<'_>| {
            for table in jsonl.iter_mut().chain(&mut csv) {
                table.add(program, told);
            }
            if let Some(cases) = &mut cases {
                cases.add(program, told);
            }
        })?;
        let summary = folded.report.finish();
        let digest = folded.digest.to_string();
        let exit = log.end().map_or(summary.exit, |end| end.exit);
        let heading = Heading { run: &log.header().id, digest: &digest, exit };
        Ok(Self {
            exit,
            jsonl: jsonl.map(Table::finish).unwrap_or_default(),
            csv: csv.map(Table::finish).unwrap_or_default(),
            junit: cases.map(|cases| cases.finish(&summary, heading)).unwrap_or_default(),
            summary,
            digest,
            divergences: folded.divergences,
        })
    }

    /// One form. `color` is given where it goes to standard output.
    fn text(&self, format: ReportFormat, log: &Log, texts: Texts, color: Option<Color>) -> String {
        let heading = Heading { run: &log.header().id, digest: &self.digest, exit: self.exit };
        match format {
            ReportFormat::Text => {
                let look = color.map_or(aigo_report::Look::PLAIN, look);
                aigo_report::text(&self.summary, heading, &look)
            }
            ReportFormat::Json => aigo_report::json(&self.summary, heading) + "\n",
            ReportFormat::Markdown => aigo_report::markdown(&self.summary, heading, texts),
            ReportFormat::Github => {
                let task = log.header().task.as_deref();
                // Where the task is at hand, the line of each gate is looked up in it.
                let text = task.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
                aigo_report::github(&self.summary, task, |gate| line_of(&text, gate))
            }
            ReportFormat::Jsonl => self.jsonl.clone(),
            ReportFormat::Csv => self.csv.clone(),
            ReportFormat::Junit => self.junit.clone(),
        }
    }
}

/// How text looks on standard output.
pub(crate) fn look(color: Color) -> aigo_report::Look {
    let Look { colour, width } = Look::of_output(color);
    aigo_report::Look { colour, width }
}

/// The line of a task in which a gate stands as reports write it.
fn line_of(task: &str, gate: &str) -> Option<u32> {
    let at = task.lines().position(|line| line.contains(gate) && !line.trim_start().starts_with('#'))?;
    u32::try_from(at + 1).ok()
}

/// To a file, whose folders are made. The message of a failure stands alone.
fn write_file(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("the report cannot be written to {}: {error}", file.display());
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    Fresh::write_all(file, text).map_err(failed)
}

/// To standard output. On GitHub's runners the annotations come with the summary of the step, which is a file of theirs.
fn print(format: ReportFormat, text: &str, markdown: impl Fn() -> String) -> Result<(), String> {
    // Every form is made safe where it is written; CSV has line ends of its own.
    out::raw(text.as_bytes());
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from);
    match summary.filter(|_| format == ReportFormat::Github) {
        None => Ok(()),
        Some(file) => {
            let failed = |error: std::io::Error| format!("the summary cannot be added to {}: {error}", file.display());
            let mut opened = std::fs::OpenOptions::new().create(true).append(true).open(&file).map_err(failed)?;
            opened.write_all(markdown().as_bytes()).map_err(failed)
        }
    }
}
