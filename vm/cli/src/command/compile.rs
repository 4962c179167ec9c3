//! `aigo compile`: the program as text, as JSON, as a picture, and what a run of it can come to.

use std::path::Path;

use aigo_ir::{draw, print};

use super::plan;
use crate::args::{CompileArgs, Emit, Format};
use crate::replace::Fresh;
use crate::task::Task;
use crate::{exit, out, task};

pub(crate) fn compile(args: &CompileArgs) -> u8 {
    let task = match task::load(&args.task) {
        Err(code) => return code,
        Ok(task) => task,
    };
    let made = match emitted(&task, args.emit, args.format) {
        Ok(made) => made,
        Err(message) => {
            out::error(&message);
            return exit::TASK;
        }
    };
    match &args.output {
        None => out::text(&made),
        Some(path) => {
            if let Err(error) = write(path, &made) {
                out::error(&error);
                return exit::USAGE;
            }
        }
    }
    exit::PASSED
}

fn emitted(task: &Task, emit: Emit, format: Format) -> Result<String, String> {
    Ok(match emit {
        Emit::Ir => print::print_with_lines(&task.program, &task.sources),
        Emit::Json => print::json(&task.program, &task.sources),
        Emit::Dot => draw::dot(&task.program, &task.sources),
        Emit::Svg => draw::svg(&task.program, &task.sources),
        Emit::Bounds => {
            let bounds = plan::bounds(task)?;
            match format {
                Format::Text => bounds.text(),
                Format::Json => bounds.to_value().to_json() + "\n",
            }
        }
    })
}

/// Files of texts that others wrote are as safe to print as what is printed.
fn write(path: &Path, text: &str) -> Result<(), String> {
    Fresh::write_all(path, &aigo_ir::text::printable(text)).map_err(|error| format!("{}: {error}", path.display()))
}
