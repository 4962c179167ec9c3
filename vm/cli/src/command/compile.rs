//! `aigo compile`: the program as text.

use crate::args::CompileArgs;
use crate::{exit, out, task};

pub(crate) fn compile(args: &CompileArgs) -> u8 {
    match task::load(&args.task) {
        Err(code) => code,
        Ok(task) => {
            out::text(&aigo_ir::print::print_with_lines(&task.program, &task.sources));
            exit::PASSED
        }
    }
}
