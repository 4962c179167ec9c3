//! What was typed to look into logs, to verify them, to hand them on.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::Format;

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How the score card is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunsArgs {
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How the list is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) command: LogCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Show a run's conversations, one of them whole, a verdict's prompt and reply, or what differs from another run
    Show(LogShowArgs),
    /// Write a row for each verdict or message, or a log for Inspect
    Export(ExportArgs),
    /// Pack the log of a run that has ended
    Seal(SealArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LogShowArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// A sample by its key, and with `/2` behind it, its second epoch
    pub(crate) sample: Option<String>,
    /// A verdict of the sample: the exact prompt and the raw reply of each call behind it; `kind`, or `kind:2` for that of turn 2
    #[arg(long, value_name = "ID", requires = "sample")]
    pub(crate) verdict: Option<String>,
    /// Another run: show what differs between the two
    #[arg(long, value_name = "RUN", conflicts_with = "verdict")]
    pub(crate) diff: Option<String>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The form
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
    /// What a row is
    #[arg(long, value_enum, default_value_t = Rows::Verdicts)]
    pub(crate) rows: Rows,
    /// Write to this file, and print nothing
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A JSON object on each line
    Jsonl,
    /// For spreadsheets: no cell is a formula
    Csv,
    /// A log of Inspect AI, for its viewer; `-o FILE` is needed
    Eval,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// A verdict of a turn or a conversation
    Verdicts,
    /// A message
    Messages,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SealArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
}
