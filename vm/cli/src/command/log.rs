//! `aigo log`: looking into a log, handing it on, sealing it.

mod diff;
mod eval;
mod export;
mod show;

use std::path::Path;

use aigo_vm::RunError;

use super::drive;
use crate::args::{LogArgs, LogCommand, SealArgs};
use crate::{exit, out, runs};

pub(crate) fn log(args: &LogArgs) -> u8 {
    match &args.command {
        LogCommand::Show(args) => match &args.diff {
            Some(other) => diff::diff(args, other),
            None => show::show(args),
        },
        LogCommand::Export(args) => export::export(args),
        LogCommand::Seal(args) => seal(args),
    }
}

fn seal(args: &SealArgs) -> u8 {
    let folder = match runs::find(&args.run, &args.runs) {
        Ok(found) if found.is_dir() => found,
        Ok(file) => file.parent().map(Path::to_owned).unwrap_or_default(),
        Err(message) => {
            out::error(&message);
            return exit::USAGE;
        }
    };
    match aigo_log::seal(&folder) {
        Err(error) => drive::fail(&RunError::Log(error)),
        Ok(sealing) if sealing.before == 0 => {
            out::note(&format!("{} is sealed already", sealing.path.display()));
            exit::PASSED
        }
        Ok(sealing) => {
            out::note(&format!("{}: {} bytes, before {}", sealing.path.display(), sealing.after, sealing.before));
            exit::PASSED
        }
    }
}
