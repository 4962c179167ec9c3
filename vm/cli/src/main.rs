//! `aigo`: what was typed ([`args`]) to what is done, one file per command ([`command`]), and the exit code ([`exit`]).

mod args;
mod catalog;
mod collect;
mod command;
mod diff;
mod exit;
mod find;
mod finding;
mod glob;
mod markdown;
mod measured;
mod mend;
mod out;
mod parallel;
mod peek;
mod read;
mod replace;
mod runs;
mod select;
mod show;
mod task;
mod template;
mod terminal;
mod trust;
mod watch;
mod world;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Templates and expressions are parsed by recursion; this is far more than their limits let them use. Each thread that
/// compiles has as much.
const STACK: usize = 64 << 20;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::PASSED });
        }
    };
    std::panic::set_hook(Box::new(|info| {
        out::error(&format!(
            "aigo has a fault of its own, which is not your task's: {info}\nPlease report it, with the task and this text."
        ));
    }));
    let worker = std::thread::Builder::new().name("aigo".to_owned()).stack_size(STACK).spawn(move || dispatch(args));
    let code = worker.map(std::thread::JoinHandle::join);
    let code = match code {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => exit::FAULT,
        Err(error) => {
            out::error(&format!("the system gives no thread: {error}"));
            exit::FAULT
        }
    };
    ExitCode::from(match out::unwritten() {
        None => code,
        Some(why) => {
            out::error(&format!("standard output cannot be written: {why}"));
            if code == exit::PASSED { exit::USAGE } else { code }
        }
    })
}

fn dispatch(args: Args) -> u8 {
    match args.command {
        Command::Check(args) => command::check::check(&args),
        Command::Fmt(args) => command::fmt::fmt(&args),
        Command::Explain(args) => command::explain::explain(&args),
        Command::Lock(args) => command::lock::lock(&args),
        Command::Compile(args) => command::compile::compile(&args),
        Command::Run(args) => command::run::run(&args),
        Command::Resume(args) => command::resume::resume(&args),
        Command::Replay(args) => command::replay::replay(&args),
        Command::Score(args) => command::score::score(&args),
        Command::Report(args) => command::report::report(&args),
        Command::Compare(args) => command::compare::compare(&args),
        Command::Baseline(args) => command::baseline::baseline(&args),
        Command::Calibrate(args) => command::calibrate::calibrate(&args),
        Command::Noise(args) => command::noise::noise(&args),
        Command::Verify(args) => command::verify::verify(&args),
        Command::Runs(args) => command::runs::runs(&args),
        Command::Log(args) => command::log::log(&args),
        Command::Init(args) => command::init::init(&args),
        Command::Schema(args) => command::schema::schema(&args),
        Command::List(args) => command::library::list(&args),
        Command::Show(args) => command::library::show(&args),
        Command::Completions(args) => command::completions::completions(&args),
    }
}
