//! `aigo check`: every mistake of every task, in one pass.

use std::io::IsTerminal as _;

use crate::args::{CheckArgs, Deny, Findings};
use crate::{exit, out, task};

pub(crate) fn check(args: &CheckArgs) -> u8 {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (mut errors, mut warnings, mut unread) = (0, 0, 0);
    for path in &args.tasks {
        match task::compile(path) {
            Err(_) => unread += 1,
            Ok((_, compiled)) => {
                let (text, more_errors, more_warnings) = task::show(&compiled, args.format, colour);
                out::coloured(&text);
                errors += more_errors;
                warnings += more_warnings;
            }
        }
    }
    if args.format == Findings::Full {
        let tasks = args.tasks.len() - unread;
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        out::line(&format!("{}: {}, {}", plural(tasks, "task"), plural(errors, "error"), plural(warnings, "warning")));
    }
    let denied = args.deny == Some(Deny::Warnings) && warnings > 0;
    match (errors > 0 || denied, unread > 0) {
        (true, _) => exit::TASK,
        (false, true) => exit::USAGE,
        (false, false) => exit::PASSED,
    }
}
