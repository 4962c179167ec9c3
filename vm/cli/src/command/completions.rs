//! `aigo completions`: what a shell needs to complete commands and flags.

use clap::CommandFactory as _;

use crate::args::{Args, CompletionsArgs};
use crate::exit;
use crate::out::Output;

pub(crate) fn completions(args: &CompletionsArgs) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "aigo", &mut script);
    let mut out = Output::new();
    // Nobody but the build wrote this, so it is printed as it is, tabs included.
    out.write(&String::from_utf8_lossy(&script));
    out.flush();
    exit::PASSED
}
