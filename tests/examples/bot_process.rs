//! The example bot as a program: lines of JSON in and out. `--forgets` looks at the last message alone, `--keeps` goes by its own
//! memory, `--once` ends after each answer, `--crashes` does not come through.
#![allow(clippy::print_stderr, reason = "a program for people")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    match aigo_tests::bot::program(std::io::stdin().lock(), std::io::stdout().lock(), &flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bot_process: {error}");
            ExitCode::FAILURE
        }
    }
}
