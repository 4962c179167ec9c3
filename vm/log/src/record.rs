//! What a log holds. The names of the fields in a file are short (`spec/log.md` has the tables); here they are words.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::value::Value;
use serde::de::{Deserialize, Deserializer, Error as _};

use crate::parse::{AskLine, GotLine};

/// The version of the format that this crate writes, and the only one it reads.
pub const FORMAT: u32 = 1;

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// What the run is: the first line, and only the first.
    Run(Run),
    /// A trial begins.
    Open(Open),
    /// A call is about to be made.
    Ask(Ask),
    /// Its answer.
    Got(Got),
    /// A trial has ended.
    Close(Close),
    /// All lines up to one are on the disk. Written by the journal alone.
    Durable(Durable),
    /// Another process goes on from here. Written by the journal alone.
    Resumed(Resumed),
    /// The run has ended.
    End(End),
}

/// What the run is: enough to replay it without the task, the dataset or the network.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct Run {
    /// The version of the format: [`FORMAT`].
    pub format: u32,
    /// Numbers of the changes of behaviour that this run has made its own.
    pub flags: Vec<u32>,
    /// The run's name, that of its folder.
    pub id: String,
    /// The version of aigo that began the run.
    pub aigo: String,
    /// The engines whose behaviour shows in results, by name, with their versions.
    pub engines: BTreeMap<String, String>,
    /// The program as IR text.
    pub program: String,
    /// The program's hash.
    #[serde(deserialize_with = "key")]
    pub hash: Key,
    /// The dataset's hash.
    pub dataset: String,
    /// The seed of all seeded choices.
    pub seed: u64,
    /// How many trials the run has: samples times epochs. Those that never began are open.
    #[serde(default)]
    pub trials: Option<u64>,
    /// The places at which the program asks, rising: asks name their place by its number in this list, from 0. A place that
    /// is not in it is named in full.
    #[serde(default)]
    pub sites: Vec<Site>,
    /// The task's path, as it was given.
    #[serde(default)]
    pub task: Option<String>,
    /// The task's folder.
    #[serde(default)]
    pub root: Option<String>,
    /// The run whose answers this one uses again.
    #[serde(default)]
    pub parent: Option<Parent>,
    /// Which samples were chosen, a map; all of them unless it is there.
    #[serde(default, deserialize_with = "present")]
    pub selection: Option<Value>,
    /// The baseline that gates hold the run against: its file's text.
    #[serde(default)]
    pub baseline: Option<String>,
}

/// The run that another one was begun from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Parent {
    /// Its name.
    pub run: String,
    /// Whether its conversations are scored as they are: the run asks nothing but what scorers ask.
    #[serde(default)]
    pub scores: bool,
    /// Whether answers of models whose name stands for several versions are used again.
    #[serde(default)]
    pub floating: bool,
}

/// A trial begins: one sample in one epoch. It holds everything that replay needs of the dataset.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct Open {
    /// The trial's number in this log; other lines name the trial by it.
    #[serde(rename = "s")]
    pub trial: u64,
    /// The sample's key.
    pub key: String,
    /// The epoch, from 1, which is not written.
    #[serde(default = "first")]
    pub epoch: u32,
    /// The name of the solve graph; `main` is not written.
    #[serde(default = "main")]
    pub graph: String,
    /// The sample's row, a map.
    pub row: Value,
    /// The messages that the sample begins with, as a list of maps: of a transcript; `spec/transcript.md` says what each is.
    #[serde(default, deserialize_with = "present")]
    pub messages: Option<Value>,
    /// The sample's tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Which samples it belongs together with, for the statistics; its own epochs alone unless given.
    #[serde(default)]
    pub cluster: Option<String>,
}

/// A place of the program at which somebody is asked. In a file it is a list of these three.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub struct Site {
    /// The graph's name.
    pub graph: Arc<str>,
    /// The path of the node in its graph.
    pub node: Arc<str>,
    /// The role that is asked.
    pub role: Arc<str>,
}

/// Where an [`Ask`] stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// Its place in the header's list.
    Row(u32),
    /// A place that is named in full. The journal writes its number where the header has one.
    Site(Site),
}

impl At {
    /// The place; none where the header has no such number.
    pub(crate) fn site(&self, sites: &[Site]) -> Option<Site> {
        match self {
            Self::Row(row) => sites.get(usize::try_from(*row).ok()?).cloned(),
            Self::Site(site) => Some(site.clone()),
        }
    }
}

/// A call is about to be made. The line is in the file before the first byte goes to the network.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "AskLine")]
pub struct Ask {
    /// The trial.
    pub trial: u64,
    /// The place in the program.
    pub at: At,
    /// One number for each enclosing loop or map, outermost first.
    pub index: Vec<u32>,
    /// The content key: the first nine bytes in base64; in older logs the first twelve in hexadecimal.
    pub content: String,
    /// Whether the call was asked before and its answer never came.
    pub retry: bool,
    /// The most that the call can cost, in 10^-12 USD; only where the run has a limit of cost.
    pub most: Option<u64>,
}

/// The answer to an [`Ask`]. The line is on the disk before the machine sees the answer.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(from = "GotLine")]
pub struct Got {
    /// The trial.
    pub trial: u64,
    /// The number of the line that asked.
    pub ask: u64,
    /// The text; empty where there is none.
    pub text: String,
    /// The tool calls.
    pub calls: Vec<Value>,
    /// Why the answer ended: `stop`, which is not written, `length`, `tool_calls`, `filter`, `refusal`, …
    pub stop: String,
    /// The tokens.
    pub usage: Usage,
    /// The model that served the call, if the provider said so and it is another than was asked.
    pub model: Option<String>,
    /// The class of a fault that would come again, if there is no answer.
    pub fault: Option<String>,
    /// The chunks that an application has read for it.
    pub read: Vec<String>,
    /// What the provider wants to see again with the next call.
    pub context: Option<Value>,
    /// Whether bytes that are not text were replaced.
    pub lossy: bool,
    /// How long the answer took from when it was asked for, in milliseconds; absent where nobody outside was asked.
    pub ms: Option<u64>,
    /// Of an answer that was not asked for again: the number of the line that asked for it in the parent's log.
    pub from: Option<u64>,
}

/// Tokens as the provider counted them; absent where it did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached ones among them.
    #[serde(rename = "in", default)]
    pub input: Option<u64>,
    /// Tokens of the answer.
    #[serde(rename = "out", default)]
    pub output: Option<u64>,
    /// Tokens of the request that came from the provider's cache.
    #[serde(default)]
    pub cached: Option<u64>,
    /// Tokens of the answer that were spent on thinking; they are among `output`.
    #[serde(rename = "think", default)]
    pub reasoning: Option<u64>,
}

/// A trial has ended.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct Close {
    /// The trial.
    #[serde(rename = "s")]
    pub trial: u64,
    /// How it ended; `completed` is not written.
    #[serde(default = "completed")]
    pub ending: String,
    /// The hash of its positions, contents, answers and scores: the trial's part of the digest.
    #[serde(deserialize_with = "leaf")]
    pub leaf: Key,
    /// Its scores.
    #[serde(default)]
    pub scores: Vec<Score>,
}

/// One score of a trial.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct Score {
    /// The scorer's name.
    pub scorer: String,
    /// The turn, for a scorer that scores each.
    #[serde(default)]
    pub turn: Option<u32>,
    /// What became of it: `scored`, which is not written, `not_applicable`, `invalid`, …
    #[serde(default = "scored")]
    pub outcome: String,
    /// The value.
    #[serde(default, deserialize_with = "present")]
    pub value: Option<Value>,
    /// Whether the value passes, if the scorer has a threshold.
    #[serde(default)]
    pub pass: Option<bool>,
}

/// All lines up to `upto` are on the disk: they were synced before this line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Durable {
    /// The number of the last such line.
    pub upto: u64,
}

/// Another process goes on from here.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Resumed {
    /// Its version of aigo.
    pub aigo: String,
}

/// The run has ended; a run that was ended early and resumed has one for each time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct End {
    /// The digest of the run.
    #[serde(deserialize_with = "key")]
    pub digest: Key,
    /// The exit code of the command.
    pub exit: i32,
}

impl Record {
    /// The name of the record's kind in the file.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Open(_) => "open",
            Self::Ask(_) => "ask",
            Self::Got(_) => "got",
            Self::Close(_) => "close",
            Self::Durable(_) => "durable",
            Self::Resumed(_) => "resumed",
            Self::End(_) => "end",
        }
    }

    /// The trial that it is of, if it is of one.
    pub const fn trial(&self) -> Option<u64> {
        match self {
            Self::Open(Open { trial, .. })
            | Self::Ask(Ask { trial, .. })
            | Self::Got(Got { trial, .. })
            | Self::Close(Close { trial, .. }) => Some(*trial),
            Self::Run(_) | Self::Durable(_) | Self::Resumed(_) | Self::End(_) => None,
        }
    }
}

/// The epoch of most trials, and the graph of most programs.
pub(crate) const FIRST: u32 = 1;
pub(crate) const MAIN: &str = "main";
/// Why most answers end, and how most conversations do.
pub(crate) const STOP: &str = "stop";
pub(crate) const COMPLETED: &str = "completed";
/// What becomes of most scores.
pub(crate) const SCORED: &str = "scored";

const fn first() -> u32 {
    FIRST
}

fn main() -> String {
    MAIN.to_owned()
}

pub(crate) fn stop() -> String {
    STOP.to_owned()
}

fn completed() -> String {
    COMPLETED.to_owned()
}

fn scored() -> String {
    SCORED.to_owned()
}

/// A field that is there, even as `null`, is `Some`: a score of null is not the absence of a score.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A hash as 64 lower-case hexadecimal digits.
fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    Key::from_hex(&text).ok_or_else(|| D::Error::custom("a hash is 64 lower-case hexadecimal digits"))
}

/// A leaf, in base64; in older logs, in hexadecimal.
fn leaf<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    let found = Key::from_base64(&text).or_else(|| Key::from_hex(&text));
    found.ok_or_else(|| D::Error::custom("a leaf is 43 characters of base64"))
}

/// The value of a lower-case hexadecimal digit.
pub(crate) const fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
