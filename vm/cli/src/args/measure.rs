//! What was typed to compare runs, keep baselines, calibrate judges and tell noise.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::Format;

#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    /// What there was before: a run (its folder, its log, the beginning of its id, or `last`) or a baseline
    #[arg(value_name = "BEFORE")]
    pub(crate) before: String,
    /// What there is now, likewise
    #[arg(value_name = "AFTER")]
    pub(crate) after: String,
    /// Only this scorer; may be given more than once
    #[arg(long = "scorer", value_name = "NAME")]
    pub(crate) scorers: Vec<String>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How the comparison is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write the scores of a run to a file, to be committed
    Save(SaveArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SaveArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The file; named after the task unless said
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct NoiseArgs {
    /// A run (its folder, its log, the beginning of its id, or `last`) or a baseline
    pub(crate) run: String,
    /// Only this scorer; may be given more than once
    #[arg(long = "scorer", value_name = "NAME")]
    pub(crate) scorers: Vec<String>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How it is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CalibrateArgs {
    /// The run whose verdicts are held against the labels: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: Option<String>,
    /// The labels of people, JSON Lines; may be given more than once
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) labels: Vec<PathBuf>,
    /// The judge's verdicts, JSON Lines, where they are not of a run; without either people are held against one another
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub(crate) verdicts: Vec<PathBuf>,
    /// The scorer that is held against the labels, where there are several
    #[arg(long, value_name = "NAME")]
    pub(crate) scorer: Option<String>,
    /// Only the labels of raters whose names match, such as `expert*`; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub(crate) raters: Vec<String>,
    /// Also by the values of this key of the lines, each by itself
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How it is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
