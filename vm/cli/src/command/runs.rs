//! `aigo runs`: the runs of a folder, the oldest first.

use aigo_ir::text::{excerpt, number};
use aigo_ir::value::Value;
use aigo_log::Log;
use aigo_vm::Survey;

use crate::args::{Format, RunsArgs};
use crate::{exit, out, runs};

/// How much of a task's path is shown.
const TASK: usize = 40;

/// A run as the list shows it.
struct Row {
    id: String,
    task: String,
    state: String,
    exit: Option<i32>,
    digest: Option<String>,
    survey: Option<Survey>,
}

pub(crate) fn runs(args: &RunsArgs) -> u8 {
    let ids = match runs::all(&args.runs) {
        Ok(ids) => ids,
        Err(error) => {
            out::error(&runs::unread(&args.runs, &error));
            return exit::USAGE;
        }
    };
    let rows: Vec<Row> = ids.into_iter().map(|id| Row::of(id, args)).collect();
    match args.format {
        Format::Json => out::line(&Value::list(rows.iter().map(Row::to_value).collect()).to_json()),
        Format::Text if rows.is_empty() => out::note(&format!("there is no run in {}", args.runs.display())),
        Format::Text => out::text(&table(&rows)),
    }
    exit::PASSED
}

impl Row {
    /// A run's row. What is wrong with a log is the state of its run, and no reason to hide the others.
    fn of(id: String, args: &RunsArgs) -> Self {
        let read = Log::open(&args.runs.join(&id)).and_then(|log| Ok((aigo_vm::survey(&log)?, log)));
        match read {
            Err(error) => {
                let state = format!("{} ({})", error.code(), error.row().title);
                Self { id, task: String::new(), state, exit: None, digest: None, survey: None }
            }
            Ok((survey, log)) => {
                let state = match (log.end(), log.is_sealed()) {
                    (_, true) => "sealed",
                    (Some(_), _) if survey.ended >= survey.trials => "ended",
                    // Whether somebody writes it now is known to its lock alone, which is the writer's.
                    _ => "open",
                };
                Self {
                    id,
                    task: log.header().task.clone().unwrap_or_default(),
                    state: state.to_owned(),
                    exit: log.end().map(|end| end.exit),
                    digest: log.end().map(|end| end.digest.to_string()),
                    survey: Some(survey),
                }
            }
        }
    }

    fn to_value(&self) -> Value {
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let counted = |of: fn(&Survey) -> u64| self.survey.as_ref().map_or(Value::Null, |survey| count(of(survey)));
        let cost = self.survey.and_then(|survey| survey.cost_usd).and_then(Value::float);
        Value::map([
            ("run", Value::str(self.id.as_str())),
            ("task", Value::str(self.task.as_str())),
            ("state", Value::str(self.state.as_str())),
            ("exit", self.exit.map_or(Value::Null, |exit| Value::Int(i64::from(exit)))),
            ("digest", self.digest.as_deref().map_or(Value::Null, Value::str)),
            ("trials", counted(|survey| survey.trials)),
            ("ended", counted(|survey| survey.ended)),
            ("calls", counted(|survey| survey.calls)),
            ("answers", counted(|survey| survey.answers)),
            ("cost_usd", cost.unwrap_or(Value::Null)),
        ])
    }

    fn cells(&self) -> [String; 8] {
        let dash = || "–".to_owned();
        let counted = |of: fn(&Survey) -> String| self.survey.as_ref().map_or_else(dash, of);
        [
            self.id.clone(),
            excerpt(&self.task, TASK),
            self.state.clone(),
            self.exit.map_or_else(dash, |exit| exit.to_string()),
            self.digest.as_deref().and_then(|digest| digest.get(..12)).map_or_else(dash, str::to_owned),
            counted(|survey| format!("{}/{}", survey.ended, survey.trials)),
            counted(|survey| survey.calls.to_string()),
            counted(|survey| survey.cost_usd.map_or_else(|| "–".to_owned(), |usd| format!("{} USD", number(usd)))),
        ]
    }
}

fn table(rows: &[Row]) -> String {
    let heads = ["run", "task", "state", "exit", "digest", "ended", "calls", "cost"].map(str::to_owned);
    let all: Vec<[String; 8]> = std::iter::once(heads).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 8];
    for cells in &all {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |cells: &[String; 8]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| {
            let room = " ".repeat(width.saturating_sub(cell.chars().count()));
            format!("{cell}{room}")
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    all.iter().map(line).collect()
}
