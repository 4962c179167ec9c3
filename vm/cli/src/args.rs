//! What was typed. Each flag is defined once.

mod log;
mod measure;
mod number;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use log::{
    ExportArgs, ExportFormat, LogArgs, LogCommand, LogShowArgs, Rows, RunsArgs, SealArgs, VerifyArgs,
};
pub(crate) use measure::{BaselineArgs, BaselineCommand, CalibrateArgs, CompareArgs, NoiseArgs};

/// Evaluate conversations with language models: tasks in YAML, checked before a call is paid, replayable after.
#[derive(Debug, Parser)]
#[command(name = "aigo", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the mistakes in tasks, without making a call
    Check(CheckArgs),
    /// Lay out tasks and files of definitions; what they say stays the same
    Fmt(FmtArgs),
    /// Say what a code of a finding means, with an example
    Explain(ExplainArgs),
    /// Pin what makes scores comparable, in the file `aigo.lock` beside each task
    Lock(LockArgs),
    /// Print the program that a task is compiled to
    Compile(CompileArgs),
    /// Run a task and report its scores
    Run(RunArgs),
    /// Go on with an interrupted run, in the same log; nothing recorded is bought again
    Resume(ResumeArgs),
    /// Run a log's program over its recorded answers, offline, and compare
    Replay(ReplayArgs),
    /// Put the task's scorers on the conversations of a run: a new run, in which only scorers ask
    Score(ScoreArgs),
    /// Report a run, ended or not: for people, for CI, or one row for each verdict
    Report(ReportArgs),
    /// Compare two runs of the same scenarios, or a run with a baseline
    Compare(CompareArgs),
    /// Keep the scores of a run as a small file, for gates and comparisons
    Baseline(BaselineArgs),
    /// Hold a judge's verdicts against the labels of people
    Calibrate(CalibrateArgs),
    /// Say how sure the scores of a run are, and where their noise comes from
    Noise(NoiseArgs),
    /// Show that a run is what it says: checksums, replay, digest
    Verify(VerifyArgs),
    /// List the runs
    Runs(RunsArgs),
    /// Look into a run's log, hand it on, seal it
    Log(LogArgs),
    /// Write a task to start from
    Init(InitArgs),
    /// Print the JSON schema from which editors complete and check tasks
    Schema(SchemaArgs),
    /// List the standard library: scorers, personas and checks, with a line each
    List(ListArgs),
    /// Show a scorer, persona or check: what it measures, what it costs, and its source
    Show(ShowArgs),
    /// Print what a shell needs to complete commands and flags
    Completions(CompletionsArgs),
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct CheckArgs {
    /// Files, folders (all tasks below them) and patterns such as `tasks/**/*.yaml`; the current folder unless said
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Check the text on standard input, as if it stood at `--path`: for editors
    #[arg(long, requires = "path", conflicts_with_all = ["paths", "select"])]
    pub(crate) stdin: bool,
    /// Where the text of `--stdin` would stand; there need not be such a file
    #[arg(long, value_name = "PATH", requires = "stdin")]
    pub(crate) path: Option<PathBuf>,
    /// Apply the fixes that are certain, then show what remains; with `--stdin` the text is printed
    #[arg(long)]
    pub(crate) fix: bool,
    /// With `--fix`: print what would change, and write nothing
    #[arg(long, requires = "fix")]
    pub(crate) diff: bool,
    /// Only the tasks whose tags, name or file match: `p0 and not slow`
    #[arg(short = 'k', value_name = "EXPR")]
    pub(crate) select: Option<String>,
    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Findings::Text)]
    pub(crate) format: Findings,
    /// Also ask each endpoint whether it accepts key and model: one cheap call for each
    #[arg(long, conflicts_with = "stdin")]
    pub(crate) keys: bool,
    /// Exit with 3 also for warnings: `--deny warnings`
    #[arg(long, value_name = "WHAT")]
    pub(crate) deny: Option<Deny>,
    /// Exit with 3 where something moved since the task was locked, and where it is not locked
    #[arg(long)]
    pub(crate) locked: bool,
    /// Whether findings are coloured; `auto` looks at the terminal, `NO_COLOR` and `CLICOLOR_FORCE`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// How many threads check; as many as there are cores unless said
    #[arg(short = 'j', long = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Findings {
    /// For people: with the text around them
    #[value(alias = "full")]
    Text,
    /// `path:line:column: error[E0301]: message`
    Concise,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Commands of GitHub's workflows
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    Warnings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct FmtArgs {
    /// Files, folders (all tasks and files of definitions below them) and patterns; the current folder unless said
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print the text on standard input as it would be, as if it stood at `--path`: for editors
    #[arg(long, requires = "path", conflicts_with = "paths")]
    pub(crate) stdin: bool,
    /// Where the text of `--stdin` would stand; there need not be such a file
    #[arg(long, value_name = "PATH", requires = "stdin")]
    pub(crate) path: Option<PathBuf>,
    /// Write nothing; name the files that would change, and exit with 3 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; print what would change, and exit with 3 if something would
    #[arg(long)]
    pub(crate) diff: bool,
    /// Write short forms out: `- generate` as `- generate: {}`
    #[arg(long)]
    pub(crate) expand: bool,
    /// How many threads work; as many as there are cores unless said
    #[arg(short = 'j', long = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// What is listed; all of it unless said
    #[arg(value_enum, value_name = "KIND")]
    pub(crate) kind: Option<ListKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListKind {
    /// Scorers that `use` names
    Scorers,
    /// Personas of simulated users
    Personas,
    /// Checks, which are free of charge
    Checks,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// Names, such as `knowledge_retention`, or `knowledge_retention@1`
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Print the definition alone, to be copied under `define: {scorers}` or `define: {personas}`
    #[arg(long)]
    pub(crate) source: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Codes, such as E0302; all are listed unless one is named
    #[arg(value_name = "CODE")]
    pub(crate) codes: Vec<String>,
    /// How pages are shown
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(crate) format: PageFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// Markdown, as it was written
    Md,
    /// For terminals
    Text,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LockArgs {
    /// Tasks: files, folders (all tasks below them) and patterns; the current folder unless said
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<PathBuf>,
    /// Write nothing: the same as `aigo check --locked`
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompileArgs {
    /// A task: a file, or a folder with a `task.yaml`
    pub(crate) task: PathBuf,
    /// What is made of the program
    #[arg(long, value_enum, default_value_t = Emit::Ir)]
    pub(crate) emit: Emit,
    /// How bounds are shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Write to this file, and print nothing
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// The program as text
    Ir,
    /// The program as JSON
    Json,
    /// Its graphs for Graphviz
    Dot,
    /// Its graphs as a picture
    Svg,
    /// What a run can come to at most: calls, tokens, money
    Bounds,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The folder that it is written to; made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// What is to be evaluated
    #[arg(long = "for", value_enum, value_name = "WHAT", default_value_t = Template::Support)]
    pub(crate) template: Template,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// A support assistant: keeps what it is told in mind, and to the company's rules
    Support,
    /// An assistant that answers from documents
    Rag,
    /// A tutor, who helps and does not give the answer away
    Tutor,
    /// An assistant that acts through tools
    Agent,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaArgs {
    /// A task, whose own names the schema then knows: a file, or a folder with a `task.yaml`
    pub(crate) task: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object on one line
    Json,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunArgs {
    /// A task: a file, or a folder with a `task.yaml`
    pub(crate) task: PathBuf,
    /// Print what the run would do and cost at most, and ask nobody
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Use the answers of this run again where nothing of what is asked has changed; say what is bought, and why
    #[arg(long, value_name = "RUN")]
    pub(crate) from: Option<String>,
    /// With `--from`: also answers of models whose name stands for several versions
    #[arg(long, requires = "from")]
    pub(crate) reuse_floating: bool,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    /// How often each sample is run, in place of what the task says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) epochs: Option<u32>,
    /// Afterwards, tell which steps of the task no conversation came to, and which ways it never took
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Begin conversations in an order that is drawn from this number: nothing of the result depends on it
    #[arg(long, value_name = "SEED", hide = true)]
    pub(crate) shuffle: Option<u64>,
    /// What `delta`, `regressed` and `not_inferior` are held against: a file of `aigo baseline save`
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Tell the application something in a first turn, ask for it in a second, and say whether it remembers; no run is made
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) driving: Driving,
}

/// Which samples are taken: all of what is said has to hold.
#[derive(Debug, ClapArgs)]
pub(crate) struct Choosing {
    /// Only samples whose tags or key match: `p0 and not slow`
    #[arg(short = 'k', value_name = "EXPR")]
    pub(crate) select: Option<String>,
    /// Only the samples of this suite of the task
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only the sample with this key; may be given several times
    #[arg(long = "sample", value_name = "KEY")]
    pub(crate) samples: Vec<String>,
    /// At most so many samples, the first ones
    #[arg(long, value_name = "N", value_parser = number::from_one)]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ScoreArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The task whose scorers are put on; the one that the run was begun with unless given
    pub(crate) task: Option<PathBuf>,
    /// Print what would be asked, why, and what it would cost at most, and ask nobody
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Use verdicts again also of models whose name stands for several versions
    #[arg(long)]
    pub(crate) reuse_floating: bool,
    #[command(flatten)]
    pub(crate) choosing: Choosing,
    #[command(flatten)]
    pub(crate) driving: Driving,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ResumeArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The task, where it is not at the path that the run was begun with
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<PathBuf>,
    /// The run whose answers this one uses again, where it does not lie beside it
    #[arg(long, value_name = "RUN")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) driving: Driving,
}

/// What `run` and `resume` share.
#[derive(Debug, ClapArgs)]
pub(crate) struct Driving {
    /// How many calls may be in flight
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) jobs: u32,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How the report is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Also write a report, such as `junit=report.xml`; without a file it is printed behind the other. May be given again
    #[arg(long = "report", value_name = "FORMAT[=FILE]", value_parser = wanted)]
    pub(crate) reports: Vec<Wanted>,
    /// Exit with 4 also where something is missing that no gate turns on
    #[arg(long)]
    pub(crate) strict: bool,
    /// Run the commands of the task: its `command` roles, tools and calls. It is remembered for its folder and these commands
    #[arg(long)]
    pub(crate) allow_commands: bool,
    /// What a recorded answer survives: a loss of power (`batch`), or the end of the process (`process`)
    #[arg(long, value_enum, default_value_t = Durability::Batch)]
    pub(crate) durability: Durability,
    /// Whether the log is sealed when the run has ended: packed, and no longer plain text; `auto` seals what has more than 8 MiB
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Seal::Auto)]
    pub(crate) seal: Seal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Seal {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    Batch,
    Process,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// The form
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Write to this file, and print nothing
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Of `markdown`: with the judges' reasons and the words that they quote
    #[arg(long)]
    pub(crate) with_text: bool,
    /// Whether text is coloured; `auto` looks at the terminal, `NO_COLOR` and `CLICOLOR_FORCE`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people: failing conversations, tables, and the verdict last
    Text,
    /// One JSON object on one line
    Json,
    /// `JUnit`'s XML, for the test reports of CI
    Junit,
    /// For comments on changes; no text of conversations unless asked for
    Markdown,
    /// Annotations of GitHub's workflows, and the summary of the step
    Github,
    /// A JSON object a line, one for each verdict
    Jsonl,
    /// Comma-separated values, a row for each verdict
    Csv,
}

/// A report that is wanted beside the one that is printed.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) format: ReportFormat,
    /// Where it goes; standard output unless given.
    pub(crate) file: Option<PathBuf>,
}

/// `junit=report.xml`, or `github`.
fn wanted(text: &str) -> Result<Wanted, String> {
    let (format, file) = text.split_once('=').map_or((text, None), |(format, file)| (format, Some(file)));
    if file == Some("") {
        return Err(format!("the file is missing: write `{format}=FILE`"));
    }
    let format = ReportFormat::from_str(format, false).map_err(|_| {
        let known = ReportFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        format!("there is no format `{format}`; there are {}", known.join(", "))
    })?;
    Ok(Wanted { format, file: file.map(PathBuf::from) })
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// A run: its folder, its log, the beginning of its id, or `last`
    pub(crate) run: String,
    /// Run this task over the recorded answers, and tell where each sample first differs, in what, and through whose doing
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<PathBuf>,
    /// How many conversations are gone through side by side; as many as there are cores unless said
    #[arg(short = 'j', long = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Go through conversations and answers in an order that is drawn from this number: nothing of the result depends on it
    #[arg(long, value_name = "SEED", hide = true)]
    pub(crate) shuffle: Option<u64>,
    /// The folder of runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How the report is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
