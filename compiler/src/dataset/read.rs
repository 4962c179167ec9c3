//! The rows of one source: read, filtered, shuffled, cut.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use aigo_ir::eval::{self, Scope};
use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::value::{Map, Value};
use aigo_source::Take;
use aigo_source::transcript::{Transcript, conversations};

use super::keys::of_messages;
use super::prepare::{File, From, Order, Prepared, combination, unreadable};
use super::problem::{Place, Problem, What};
use super::raw::{Raw, value_id};
use super::{EACH_TURN, RECORDED};
use crate::catalog;
use crate::sources::Sources;

/// How much of a shuffled source is held at a time, about.
const BATCH_BYTES: usize = 16 << 20;
/// The field of a turn that is answered anew: what the assistant said when it was recorded.
const REPLY: &str = "recorded_reply";

/// The most epochs of a sample.
const MOST_EPOCHS: u32 = 1000;

pub(super) type Raws<'s> = Box<dyn Iterator<Item = Result<Raw, Problem>> + 's>;

impl Prepared {
    /// The samples of the source.
    pub(super) fn raws<'s>(&'s self, world: &'s dyn Sources) -> Raws<'s> {
        match &self.order {
            Some(order) => Box::new(Shuffled { source: self, world, order, next: 0, batch: VecDeque::new() }),
            None => {
                let most = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
                let mut left = most;
                let rows = self.filtered(world).take_while(move |raw| {
                    let more = left > 0;
                    left -= usize::from(more && raw.is_ok());
                    more
                });
                Box::new(rows)
            }
        }
    }

    fn filtered<'s>(&'s self, world: &'s dyn Sources) -> Raws<'s> {
        let rows = self.base(world).filter_map(|raw| match raw {
            Ok(raw) => match self.keeps(&raw) {
                Ok(true) => Some(Ok(raw)),
                Ok(false) => None,
                Err(problem) => Some(Err(problem)),
            },
            Err(problem) => Some(Err(problem)),
        });
        Box::new(rows)
    }

    /// Whether the filter leaves the row.
    pub(super) fn keeps(&self, raw: &Raw) -> Result<bool, Problem> {
        let Some((filter, leaf)) = &self.filter else { return Ok(true) };
        let empty = Conversation::default();
        eval::truth(filter, &Fields { fields: &raw.fields, conversation: &empty }).map_err(|fault| {
            let message = format!("the filter cannot be computed for {}: {}", raw.place.text(), fault.message);
            let mut problem = raw.place.problem(&catalog::FILTER_FAILS, None, message);
            if problem.there.is_some() {
                problem.span = leaf.span;
                problem.label = "the filter";
            }
            problem
                .help("ask first whether the field is there, and of which kind it is; or declare its type in `fields`")
        })
    }

    /// All rows, before the filter.
    pub(super) fn base<'s>(&'s self, world: &'s dyn Sources) -> Raws<'s> {
        let main: Arc<str> = crate::MAIN.into();
        let rows: Raws<'s> = match &self.from {
            From::Inline(rows) => Box::new(rows.iter().enumerate().map(move |(at, row)| {
                let places =
                    row.fields.iter().zip(&row.places).map(|((name, _), span)| (name.clone(), *span)).collect();
                let place = Place { span: row.span, what: What::Inline(at + 1, places) };
                Raw::new(row.fields.clone(), &main, place, &self.declared)
            })),
            From::Files(files) => Box::new(files.iter().flat_map(move |file| self.file(file, world))),
            From::Matrix(columns) => {
                Box::new(aigo_source::matrix(columns).map(move |fields| self.combined(fields, &main)))
            }
            From::Transcripts { files, each_turn } => {
                Box::new(files.iter().flat_map(move |file| self.transcripts(file, *each_turn, world)))
            }
            From::Scenarios(scenarios) => Box::new(scenarios.iter().map(|scenario| {
                let id = scenario.id.value.as_str();
                let fields: Map =
                    scenario.fields.iter().map(|(name, value)| (name.value.as_str(), value.clone())).collect();
                let graph = format!("scenario/{id}").into();
                let place = Place { span: scenario.span, what: What::Scenario(id.into(), scenario.id.span) };
                let mut raw = Raw::new(fields, &graph, place, &self.declared)?;
                raw.id = Some(id.to_owned());
                raw.tags.clone_from(&scenario.tags);
                raw.cluster.clone_from(&scenario.cluster);
                Ok(raw)
            })),
        };
        Box::new(rows.map(|raw| raw.and_then(|raw| self.marked(raw))))
    }

    /// A combination of a matrix.
    pub(super) fn combined(&self, fields: Map, main: &Arc<str>) -> Result<Raw, Problem> {
        let id = combination(&fields);
        let place = Place { span: self.span, what: What::Combination(id.as_str().into()) };
        let cluster = fields.iter().next().map(|(_, value)| value_id(value).into_owned());
        let mut raw = Raw::new(fields, main, place, &self.declared)?;
        raw.id = Some(id);
        raw.cluster = cluster;
        Ok(raw)
    }

    /// The row with what its source says of all its rows.
    pub(super) fn marked(&self, mut raw: Raw) -> Result<Raw, Problem> {
        let more: Vec<String> = self.tags.iter().filter(|tag| !raw.tags.contains(tag)).cloned().collect();
        raw.tags.extend(more);
        let Some(cluster) = &self.cluster else { return Ok(raw) };
        let mut parts = cluster.value.split('.');
        let first = parts.next().and_then(|name| raw.fields.get(name));
        let value = parts.try_fold(first, |value, part| value.map(|value| value.get(part))).flatten();
        match value {
            Some(Value::Null | Value::List(_)) | None => {
                let seen = value.map_or("no such field".to_owned(), |value| format!("{} there", value.kind()));
                let message = format!(
                    "`cluster: {}` reads a field of every sample, and {} has {seen}",
                    cluster.value,
                    raw.place.text()
                );
                let known: Vec<&str> = raw.fields.iter().map(|(name, _)| &**name).collect();
                let help = aigo_ir::diagnostic::suggest(&cluster.value, known);
                let problem = Problem::of_source(&catalog::BAD_CLUSTER, cluster.span, message);
                Err(Problem { fatal: false, help, ..problem })
            }
            Some(value) => {
                raw.cluster = Some(value_id(value).into_owned());
                Ok(raw)
            }
        }
    }

    fn file<'s>(&'s self, file: &'s File, world: &'s dyn Sources) -> Raws<'s> {
        let reader = match world.open(&file.path) {
            Ok(reader) => reader,
            Err(error) => return Box::new(std::iter::once(Err(unreadable(file, &error)))),
        };
        let graph: Arc<str> = crate::MAIN.into();
        let rows = aigo_source::rows(file.format, reader, self.declared.all(), Take::Rows);
        Box::new(rows.enumerate().map(move |(at, row)| {
            let row = row.map_err(|error| bad_row(file, error))?;
            let place = place_of(file, at, &row);
            let mut raw = Raw::new(map_of(row.value), &graph, place, &self.declared)?;
            raw.bytes = row.bytes;
            Ok(raw)
        }))
    }

    fn transcripts<'s>(&'s self, file: &'s File, each_turn: bool, world: &'s dyn Sources) -> Raws<'s> {
        let reader = match world.open(&file.path) {
            Ok(reader) => reader,
            Err(error) => return Box::new(std::iter::once(Err(unreadable(file, &error)))),
        };
        let rows = aigo_source::rows(file.format, reader, self.declared.all(), Take::Records);
        // What the reader itself finds is told as of any file; what the messages are about is told as such.
        let rows = rows.map(move |row| row.map_err(|error| bad_row(file, error)));
        let explain = move |error| Problem::of_file(&catalog::BAD_TRANSCRIPT, &file.path, file.span, error);
        Box::new(conversations(rows, explain).enumerate().flat_map(move |(at, found)| {
            match found.and_then(|transcript| self.transcript(file, at, transcript)) {
                Ok(raw) if each_turn => turns(&raw),
                other => vec![other],
            }
        }))
    }

    fn transcript(&self, file: &File, at: usize, transcript: Transcript) -> Result<Raw, Problem> {
        let Transcript { row, conversation } = transcript;
        let place = place_of(file, at, &row);
        let mut raw = Raw::new(map_of(row.value), &RECORDED.into(), place, &self.declared)?;
        raw.bytes = row.bytes;
        raw.conversation = Arc::new(conversation);
        if let Some((scenario, epoch)) = repeat(&raw)? {
            (raw.id, raw.epoch) = (Some(scenario), Some(epoch));
        }
        let user = ["user_id", "user"].iter().find_map(|key| raw.fields.get(key));
        let user = user.filter(|user| !matches!(user, Value::Null | Value::List(_)));
        raw.cluster = user.map(|user| value_id(user).into_owned());
        Ok(raw)
    }
}

/// The scenario and the epoch of a recording that says both: the recordings of one scenario are one sample's epochs.
fn repeat(raw: &Raw) -> Result<Option<(String, u32)>, Problem> {
    let (Some(scenario), Some(epoch)) = (raw.fields.get("scenario"), raw.fields.get("epoch")) else { return Ok(None) };
    let scenario = match scenario {
        Value::Str(text) if !text.is_empty() && text.len() <= 200 => text.to_string(),
        Value::Int(n) => n.to_string(),
        _ => return Ok(None),
    };
    match epoch.as_int().and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=MOST_EPOCHS).contains(n)) {
        Some(epoch) => Ok(Some((scenario, epoch))),
        None => {
            let message = format!(
                "{}: `epoch` is {}: beside `scenario` it says which repeat of the scenario this is, 1 to {MOST_EPOCHS}",
                raw.place.text(),
                epoch.to_json()
            );
            let help = "count the repeats of each scenario from 1, or give the field another name";
            Err(raw.place.problem(&catalog::BAD_EPOCH, Some("epoch"), message).help(help))
        }
    }
}

fn bad_row(file: &File, error: aigo_source::RowError) -> Problem {
    Problem::of_file(&catalog::BAD_ROW, &file.path, file.span, error)
}

fn place_of(file: &File, at: usize, row: &aigo_source::Row) -> Place {
    let what = What::File { file: file.path.clone(), number: at + 1, start: row.start.clone() };
    Place { span: file.span, what }
}

/// A sample per turn of a transcript: the messages up to and with what the user said, for the assistant to answer.
fn turns(raw: &Raw) -> Vec<Result<Raw, Problem>> {
    let cluster = raw.cluster.clone().or_else(|| raw.id.clone());
    let cluster = cluster.unwrap_or_else(|| of_messages(&raw.conversation).hex(8));
    let messages = raw.conversation.messages();
    let asked = messages.iter().enumerate().filter(|(_, m)| &*m.author == USER && m.kind == MessageKind::Say);
    let turns = asked.map(|(at, asked)| {
        let mut before = Conversation::default();
        for message in messages.iter().take(at + 1) {
            before.push(message.author.clone(), message.kind.clone(), message.text.clone());
        }
        let mut fields = Map::clone(&raw.fields);
        if fields.get(REPLY).is_none() {
            fields.set(REPLY, Value::str(raw.conversation.said_in(asked.turn, ASSISTANT)));
        }
        Ok(Raw {
            id: raw.id.as_ref().map(|id| format!("{id}/{}", asked.turn)),
            epoch: raw.epoch,
            fields: Arc::new(fields),
            tags: raw.tags.clone(),
            cluster: Some(cluster.clone()),
            conversation: Arc::new(before),
            graph: EACH_TURN.into(),
            place: raw.place.clone(),
            bytes: raw.bytes,
        })
    });
    turns.collect()
}

/// The pairs of a row.
fn map_of(row: Value) -> Map {
    match row {
        Value::Map(map) => Arc::unwrap_or_clone(map),
        _ => Map::default(),
    }
}

/// What a filter reads.
struct Fields<'r> {
    fields: &'r Map,
    conversation: &'r Conversation,
}

impl Scope for Fields<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        self.fields.get(name).cloned()
    }

    fn conversation(&self) -> &Conversation {
        self.conversation
    }
}

/// The rows of a shuffled source. The file cannot be read at will, so each batch of rows that follow one another in the order
/// is one reading of the whole file; a batch holds about 16 MiB.
struct Shuffled<'s> {
    source: &'s Prepared,
    world: &'s dyn Sources,
    order: &'s Order,
    next: usize,
    batch: VecDeque<Result<Raw, Problem>>,
}

impl Shuffled<'_> {
    fn fill(&mut self) {
        // A row takes several times its length in memory.
        let size = (BATCH_BYTES / (4 * self.order.mean_bytes).max(64)).max(1);
        let wanted = self.order.rows.iter().skip(self.next).take(size);
        let wanted: BTreeMap<u64, usize> = wanted.enumerate().map(|(rank, (_, number))| (*number, rank)).collect();
        self.next += wanted.len();
        let mut rows: Vec<(usize, Result<Raw, Problem>)> = Vec::with_capacity(wanted.len());
        let mut number = 0_u64;
        for raw in self.source.filtered(self.world) {
            if rows.len() == wanted.len() {
                break;
            }
            match raw {
                Ok(raw) => {
                    if let Some(rank) = wanted.get(&number) {
                        rows.push((*rank, Ok(raw)));
                    }
                    number += 1;
                }
                Err(problem) if problem.fatal => rows.push((usize::MAX, Err(problem))),
                Err(_) => {}
            }
        }
        rows.sort_by_key(|(rank, _)| *rank);
        self.batch.extend(rows.into_iter().map(|(_, row)| row));
    }
}

impl Iterator for Shuffled<'_> {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.batch.is_empty() && self.next < self.order.rows.len() {
            self.fill();
        }
        self.batch.pop_front()
    }
}
