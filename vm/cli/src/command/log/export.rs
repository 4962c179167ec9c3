//! `aigo log export`: rows for other tools.

use std::io;
use std::sync::Arc;

use aigo_log::Log;
use aigo_machine::Linked;
use aigo_report::export::{self, Cells, MESSAGES, VERDICTS};
use aigo_vm::{RunError, retrace};

use super::eval;
use super::show::Parts;
use crate::args::{ExportArgs, ExportFormat, Rows};
use crate::command::drive;
use crate::replace::Fresh;
use crate::{exit, out, runs};

/// Where rows go.
enum Target {
    Output(out::Output),
    File(Fresh),
}

impl Target {
    fn write(&mut self, text: &str) -> Result<(), String> {
        match self {
            Self::Output(output) => {
                output.write(text);
                output.failure().map_or(Ok(()), Err)
            }
            Self::File(file) => io::Write::write_all(file, text.as_bytes()).map_err(|error| error.to_string()),
        }
    }

    fn finish(self) -> Result<(), String> {
        match self {
            Self::Output(mut output) => {
                output.flush();
                output.failure().map_or(Ok(()), Err)
            }
            Self::File(file) => file.finish().map_err(|error| error.to_string()),
        }
    }
}

pub(super) fn export(args: &ExportArgs) -> u8 {
    let log = match runs::open(&args.run, &args.runs) {
        Ok(log) => log,
        Err(code) => return code,
    };
    let linked = match aigo_vm::linked(&log) {
        Ok(linked) => linked,
        Err(error) => return drive::fail(&error),
    };
    if args.format == ExportFormat::Eval {
        return eval::export(&log, &linked, args.output.as_deref());
    }
    rows(&log, &linked, args)
}

/// A row for each verdict or message.
fn rows(log: &Log, linked: &Arc<Linked>, args: &ExportArgs) -> u8 {
    let unwritten = |why: &str| {
        let target = args.output.as_ref().map_or_else(|| "the output".to_owned(), |path| path.display().to_string());
        out::error(&format!("{target} cannot be written: {why}"));
        exit::USAGE
    };
    let mut target = match &args.output {
        None => Target::Output(out::Output::new()),
        Some(path) => match Fresh::create(path) {
            Ok(file) => Target::File(file),
            Err(error) => return unwritten(&error.to_string()),
        },
    };
    let heads = match args.rows {
        Rows::Verdicts => VERDICTS,
        Rows::Messages => MESSAGES,
    };
    if args.format == ExportFormat::Csv
        && let Err(why) = target.write(&export::csv_heads(&heads))
    {
        return unwritten(&why);
    }
    let counted = match aigo_vm::counted(&linked.program, log) {
        Ok(counted) => counted,
        Err(error) => return drive::fail(&error),
    };
    let mut open = 0_u64;
    for trial in counted {
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => return drive::fail(&RunError::Log(error)),
        };
        let retraced = retrace(linked, &trial);
        open += u64::from(retraced.outcome.is_none());
        let parts = Parts::of(&trial, &retraced);
        let told = parts.told(&trial);
        let rows: Vec<Cells> = match args.rows {
            Rows::Verdicts => export::verdicts(&log.header().id, &told),
            Rows::Messages => export::messages(&log.header().id, &told),
        };
        for cells in &rows {
            let line = match args.format {
                ExportFormat::Csv => export::csv_line(cells),
                ExportFormat::Jsonl | ExportFormat::Eval => export::json_line(&heads, cells),
            };
            if let Err(why) = target.write(&line) {
                return unwritten(&why);
            }
        }
    }
    if let Err(why) = target.finish() {
        return unwritten(&why);
    }
    if open > 0 {
        out::note(&format!("{open} conversations have not ended: they have no verdicts, and the messages so far"));
    }
    exit::PASSED
}
