//! Datasets: rows from their sources, one at a time, and what is known of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::span::Span;
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};

use crate::ast::Source;
use crate::catalog;
use crate::sources::Sources;

/// A sample as the run takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its key: its own id, or a hash of what its solve graph reads, with an ordinal among equals. Never a row number.
    pub key: Arc<str>,
    /// The solve graph that it runs.
    pub graph: Arc<str>,
    /// Its fields.
    pub fields: Arc<Map>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// Where samples come from, and how their keys are made.
#[derive(Clone, Debug)]
pub struct Dataset {
    sources: Vec<Source>,
    /// The fields that the solve graph reads, in its order.
    read: Vec<Arc<str>>,
    /// The keys, as hashes, of several rows without ids that are equal in what the solve graph reads.
    shared: BTreeSet<[u8; 16]>,
    /// How many samples there are.
    pub count: usize,
    /// A hash of all rows as a multiset: order and format do not matter.
    pub hash: Key,
}

/// A row as a source gives it.
struct Raw {
    id: Option<String>,
    fields: Map,
    tags: Vec<String>,
    place: Place,
}

/// Where a row stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// As messages say it.
    pub(crate) text: String,
    /// The place in the task, or of the source in it.
    pub(crate) span: Span,
}

/// Why a row cannot be taken.
struct Problem {
    message: String,
    span: Span,
    /// The source itself cannot be read on.
    fatal: bool,
}

/// What is known of a field over all rows.
#[derive(Clone, Debug)]
pub(crate) struct FieldProfile {
    pub(crate) name: Arc<str>,
    pub(crate) ty: Type,
    pub(crate) lacking: Option<Place>,
}

/// What is known of a dataset.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) fields: Vec<FieldProfile>,
    pub(crate) count: usize,
    hash: MultisetHash,
    /// Whether a row has no id of its own.
    without_id: bool,
}

/// The sum of the rows' hashes, four lanes of 64 bits: no order, and equal rows count as often as they occur.
#[derive(Clone, Copy, Debug, Default)]
struct MultisetHash([u64; 4]);

impl MultisetHash {
    fn add(&mut self, key: &Key) {
        for (lane, bytes) in self.0.iter_mut().zip(key.0.chunks_exact(8)) {
            let number = bytes.iter().rev().fold(0_u64, |n, &byte| n << 8 | u64::from(byte));
            *lane = lane.wrapping_add(number);
        }
    }

    fn finish(&self, count: usize) -> Key {
        let mut writer = KeyWriter::new("aigo.dataset.1");
        writer.u64(count as u64);
        self.0.iter().for_each(|&lane| {
            writer.u64(lane);
        });
        writer.finish()
    }
}

/// Reads all rows once: their types, the fields that some lack, ids that stand twice.
pub(crate) fn profile(sources: &[Source], world: &dyn Sources, diagnostics: &mut Diagnostics) -> Profile {
    let mut profile = Profile::default();
    let mut ids = Ids::default();
    for source in sources {
        for raw in open(source, world) {
            match raw {
                Err(problem) => {
                    let row = if problem.fatal { &catalog::UNREADABLE_FILE } else { &catalog::BAD_ROW };
                    diagnostics.push(row.at(problem.span, problem.message));
                }
                Ok(raw) => {
                    ids.take(&raw);
                    profile.take(&raw);
                }
            }
        }
    }
    ids.report(sources, world, diagnostics);
    profile
}

/// The ids seen so far, as hashes in one run of memory that is given back whole: a dataset can be larger than memory.
#[derive(Default)]
struct Ids(Vec<[u8; 16]>);

impl Ids {
    fn take(&mut self, raw: &Raw) {
        self.0.extend(raw.id.as_ref().map(|id| hash_of_id(id)));
    }

    /// Tells of ids that stand twice. Which they are and where they stand is looked up only if there are any, by reading once
    /// more.
    fn report(mut self, sources: &[Source], world: &dyn Sources, diagnostics: &mut Diagnostics) {
        self.0.sort_unstable();
        let neighbours = self.0.iter().zip(self.0.iter().skip(1));
        let twice: BTreeSet<[u8; 16]> = neighbours.filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
        if twice.is_empty() {
            return;
        }
        let mut first: BTreeMap<String, Place> = BTreeMap::new();
        for raw in sources.iter().flat_map(|source| open(source, world)).filter_map(Result::ok) {
            let Some(id) = raw.id.filter(|id| twice.contains(&hash_of_id(id))) else { continue };
            match first.get(&id) {
                None => {
                    first.insert(id, raw.place);
                }
                Some(earlier) => {
                    let message = format!("{} has the id `{id}`, which {} has too", raw.place.text, earlier.text);
                    let diagnostic = catalog::ID_TWICE.at(raw.place.span, message).related(earlier.span, "the first");
                    diagnostics.push(diagnostic.help("ids name samples for ever: give each its own"));
                }
            }
        }
    }
}

fn hash_of_id(id: &str) -> [u8; 16] {
    short(&KeyWriter::new("aigo.id").str(id).finish())
}

impl Profile {
    /// What is known of nothing.
    pub(crate) const fn empty() -> Self {
        Self { fields: Vec::new(), count: 0, hash: MultisetHash([0; 4]), without_id: false }
    }

    /// The fields of the samples of one solve graph.
    pub(crate) fn group(&self, _graph: &str) -> impl Iterator<Item = (&Arc<str>, Type)> {
        self.types()
    }

    fn take(&mut self, raw: &Raw) {
        let mut writer = KeyWriter::new("aigo.row.1");
        writer.maybe_str(raw.id.as_deref()).value(&Value::Map(Arc::new(raw.fields.clone())));
        self.hash.add(&writer.finish());
        self.without_id |= raw.id.is_none();
        for (name, value) in raw.fields.iter() {
            let ty = Type::of(value);
            match self.fields.iter_mut().find(|field| field.name == *name) {
                Some(field) => field.ty = field.ty.join(&ty),
                None => {
                    // A field that comes late was lacking in all rows before.
                    let lacking =
                        (self.count > 0).then(|| Place { text: "the first sample".to_owned(), span: raw.place.span });
                    self.fields.push(FieldProfile { name: name.clone(), ty, lacking });
                }
            }
        }
        for field in &mut self.fields {
            if field.lacking.is_none() && raw.fields.get(&field.name).is_none() {
                field.lacking = Some(raw.place.clone());
            }
        }
        self.count += 1;
    }

    /// The type of a field, with the possibility that it is missing.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&Arc<str>, Type)> {
        self.fields.iter().map(|field| {
            let ty = match (&field.lacking, &field.ty) {
                (Some(_), Type::Maybe(_) | Type::Any | Type::Null) | (None, _) => field.ty.clone(),
                (Some(_), ty) => Type::Maybe(Box::new(ty.clone())),
            };
            (&field.name, ty)
        })
    }

    /// The dataset of these rows, whose solve graph reads these fields. Rows without ids are read once more, to find those that
    /// share a key.
    pub(crate) fn dataset(&self, sources: Vec<Source>, read: Vec<Arc<str>>, world: &dyn Sources) -> Dataset {
        let hash = self.hash.finish(self.count);
        let mut dataset = Dataset { sources, read, shared: BTreeSet::new(), count: self.count, hash };
        if self.without_id {
            let mut seen = BTreeSet::new();
            let raws = dataset.sources.iter().flat_map(|source| open(source, world)).filter_map(Result::ok);
            let keys = raws.filter(|raw| raw.id.is_none()).map(|raw| short(&dataset.content_key(&raw.fields)));
            dataset.shared = keys.filter(|key| !seen.insert(*key)).collect();
        }
        dataset
    }
}

/// The first 16 bytes: enough to tell rows apart.
fn short(key: &Key) -> [u8; 16] {
    let mut short = [0; 16];
    short.iter_mut().zip(key.0).for_each(|(to, from)| *to = from);
    short
}

impl Dataset {
    /// The samples in the order of their sources. A row that cannot be read is an error and the next one follows.
    pub fn rows<'d>(&'d self, world: &'d dyn Sources) -> impl Iterator<Item = Result<Row, String>> + 'd {
        let mut seen: BTreeMap<[u8; 16], u32> = BTreeMap::new();
        self.sources.iter().flat_map(move |source| open(source, world)).map(move |raw| {
            let raw = raw.map_err(|problem| problem.message)?;
            let key = match raw.id {
                Some(id) => id.into(),
                None => self.key(&raw.fields, &mut seen),
            };
            Ok(Row { key, graph: crate::MAIN.into(), fields: Arc::new(raw.fields), tags: raw.tags })
        })
    }

    /// The key of a row without an id: a hash of what the solve graph reads. Where several rows share it, a hash of the whole
    /// row goes with it, and where whole rows are equal, an ordinal: so no key depends on the order of the rows.
    fn key(&self, fields: &Map, seen: &mut BTreeMap<[u8; 16], u32>) -> Arc<str> {
        let key = self.content_key(fields);
        if !self.shared.contains(&short(&key)) {
            return key.hex(8).into();
        }
        let whole = KeyWriter::new("aigo.row.1").maybe_str(None).value(&Value::Map(Arc::new(fields.clone()))).finish();
        let ordinal = seen.entry(short(&whole)).or_default();
        *ordinal += 1;
        let ordinal = if *ordinal > 1 { format!("-{ordinal}") } else { String::new() };
        format!("{}-{}{ordinal}", key.hex(8), whole.hex(4)).into()
    }

    fn content_key(&self, fields: &Map) -> Key {
        let mut writer = KeyWriter::new("aigo.sample.1");
        for name in &self.read {
            writer.str(name).value(fields.get(name).unwrap_or(&Value::Null));
        }
        writer.finish()
    }
}

type Raws<'s> = Box<dyn Iterator<Item = Result<Raw, Problem>> + 's>;

fn open<'s>(source: &'s Source, world: &'s dyn Sources) -> Raws<'s> {
    match source {
        Source::Samples(rows) => Box::new(rows.iter().enumerate().map(|(at, row)| {
            let place = Place { text: format!("sample {}", at + 1), span: row.span };
            raw(row.value.as_map().unwrap_or(&Map::default()), place)
        })),
        Source::File(path) => {
            let span = path.span;
            let fatal = move |message: String| -> Raws<'s> {
                Box::new(std::iter::once(Err(Problem { message, span, fatal: true })))
            };
            let extension = Path::new(&path.value).extension().and_then(|extension| extension.to_str());
            if !extension.is_some_and(|e| e.eq_ignore_ascii_case("jsonl") || e.eq_ignore_ascii_case("ndjson")) {
                return fatal(format!("`{}` is not a `.jsonl` file; this version reads JSON Lines", path.value));
            }
            match world.open(&path.value) {
                Err(error) => fatal(format!("`{}` cannot be read: {error}", path.value)),
                Ok(reader) => Box::new(aigo_source::jsonl(reader).map(move |row| match row {
                    Ok(row) => {
                        let place = Place { text: format!("{}, line {}", path.value, row.line), span };
                        raw(row.value.as_map().unwrap_or(&Map::default()), place)
                    }
                    Err(error) => Err(Problem { message: format!("{}, {error}", path.value), span, fatal: false }),
                })),
            }
        }
        Source::Matrix(columns, span) => {
            let span = *span;
            Box::new(aigo_source::matrix(columns).map(move |fields| {
                let id = fields.iter().map(|(_, value)| value_id(value)).collect::<Vec<_>>().join("/");
                let place = Place { text: format!("the combination `{id}`"), span };
                Ok(Raw { id: Some(id), fields, tags: Vec::new(), place })
            }))
        }
    }
}

/// The id of a matrix value: its own `id`, a short text or a number as it is, otherwise a hash.
fn value_id(value: &Value) -> String {
    match value.get("id").unwrap_or(value) {
        Value::Str(text) if text.chars().count() <= 40 && !text.contains(['/', '\n']) => text.to_string(),
        plain @ (Value::Int(_) | Value::Float(_) | Value::Bool(_)) => plain.to_json(),
        other => KeyWriter::new("aigo.value.1").value(other).finish().hex(8),
    }
}

/// How deep the lists and maps of a field may nest: a log must be able to hold the row.
const MOST_DEPTH: usize = 64;

/// Takes `id` and `tags` out of a row; the rest are its fields.
fn raw(row: &Map, place: Place) -> Result<Raw, Problem> {
    let problem = |message: String| Problem { message, span: place.span, fatal: false };
    let mut id = None;
    let mut tags = Vec::new();
    let mut fields = Map::default();
    for (name, value) in row.iter() {
        match (&**name, value) {
            ("id", Value::Str(text)) if !text.is_empty() && text.len() <= 200 => id = Some(text.to_string()),
            ("id", Value::Int(n)) => id = Some(n.to_string()),
            ("id", other) => {
                return Err(problem(format!(
                    "{}: `id` must be a text of 1 to 200 bytes or a whole number, and is {other}",
                    place.text
                )));
            }
            ("tags", Value::List(items)) => {
                tags = items.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
                if tags.len() != items.len() {
                    return Err(problem(format!("{}: `tags` must be a list of texts", place.text)));
                }
            }
            ("tags", _) => return Err(problem(format!("{}: `tags` must be a list of texts", place.text))),
            ("turn" | "last" | "messages" | "sample", _) => {
                return Err(problem(format!(
                    "{}: a field cannot be called `{name}`, which is always in scope",
                    place.text
                )));
            }
            (_, value) if !value.is_shallow(MOST_DEPTH) => {
                return Err(problem(format!("{}: `{name}` is nested more than {MOST_DEPTH} deep", place.text)));
            }
            _ => fields.set(name.clone(), value.clone()),
        }
    }
    Ok(Raw { id, fields, tags, place })
}
