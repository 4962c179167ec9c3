//! What is known of all rows: types, the fields that some lack, ids that stand twice.

mod diagonal;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::message::ASSISTANT;
use aigo_ir::span::{SourceMap, Span};
use aigo_ir::ty::Type;
use aigo_ir::typing::{self, Mistake, Names};
use aigo_ir::value::{Map, Value};

use super::declared::Fields;
use super::ids::{Ids, MultisetHash};
use super::keys::{self, Keys, short};
use super::prepare::{Order, Prepared};
use super::problem::{Findings, Place, Problem, thousands};
use super::raw::Raw;
use super::{Dataset, EACH_TURN, RECORDED};
use crate::catalog;
use crate::sources::Sources;

/// What is known of a field over the rows of a group.
#[derive(Clone, Debug)]
pub(crate) struct FieldProfile {
    pub(crate) name: Arc<str>,
    /// Declared, or the smallest type of all its values; with the possibility that it is missing where a row lacks it.
    pub(crate) ty: Type,
    /// In how many rows it is.
    present: usize,
    /// The last row that has it, counted from 1.
    seen: usize,
    /// The first row that lacks it.
    lacking: Option<Place>,
    /// Where that row stands.
    lacking_at: Option<Span>,
}

/// What is known of the samples that run one solve graph, or of all.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Which one; none of all.
    graph: Option<Arc<str>>,
    count: usize,
    first: Option<Place>,
    /// In the order in which they first occur.
    fields: Vec<FieldProfile>,
    index: BTreeMap<Arc<str>, usize>,
    /// The fields that no row lacks so far.
    complete: Vec<usize>,
}

/// Rows that lack a field.
pub(crate) struct Lacking {
    /// `3 of 5,000 samples lack it, first row 731 of data.jsonl (line 733)`
    pub(crate) text: String,
    /// The first of them.
    pub(crate) span: Span,
}

/// What is known of a dataset.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    groups: Vec<Group>,
    joined: Group,
    prepared: Vec<Prepared>,
    pub(crate) count: usize,
    /// None where nobody will ask for it.
    hash: Option<MultisetHash>,
    /// The declared fields that no row has.
    pub(crate) absent: Vec<Arc<str>>,
    /// The greatest epoch that recordings have; none where they have none.
    pub(crate) epochs: Option<u32>,
    /// Whether a row has no id of its own.
    without_id: bool,
    /// Whether the assistant says something or calls a tool in a recording that is scored as it is.
    pub(crate) is_spoken: bool,
    /// Who speaks in recordings in which it does not.
    pub(crate) others: BTreeSet<Arc<str>>,
    /// The tags that samples have: each list of them once.
    pub(crate) tags: BTreeSet<Vec<String>>,
}

/// Reads all rows once. Where the profile is to become a [`Dataset`], each is hashed.
pub(crate) fn profile(
    prepared: Vec<Prepared>,
    for_dataset: bool,
    world: &dyn Sources,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) -> Profile {
    let mut profile = Profile { hash: for_dataset.then(MultisetHash::default), ..Profile::default() };
    let mut ids = Ids::default();
    let declared = prepared.first().map(|source| source.declared.clone()).unwrap_or_default();
    let mut empty = Vec::new();
    // What nobody hashes need not be gone through row by row.
    let is_alone = prepared.len() == 1 && !for_dataset;
    for mut source in prepared {
        if is_alone && profile.diagonal(&source) {
            profile.prepared.push(source);
            continue;
        }
        let filter = source.filter.as_ref().map(|(_, leaf)| leaf.span);
        let before = found.len();
        let left_out_all = profile.source(&mut source, world, &mut ids, sources, found);
        empty.extend(filter.filter(|_| left_out_all && found.len() == before));
        profile.prepared.push(source);
    }
    ids.report(&profile.prepared, world, sources, found);
    if profile.count > 0 {
        for span in empty {
            let message = "the filter leaves no row of this source";
            found.push(catalog::NOTHING_LEFT.at(span, message).help("mend the filter, or remove the source"));
        }
    }
    profile.joined = joined(&profile.groups);
    profile.groups.iter_mut().for_each(|group| group.know(&profile.joined));
    let is_absent = |name: &&Arc<str>| !profile.joined.fields.iter().any(|field| field.name == **name);
    profile.absent = declared.all().iter().map(|(name, _)| name).filter(is_absent).cloned().collect();
    let mut places = BTreeMap::new();
    for group in profile.groups.iter_mut().chain([&mut profile.joined]) {
        group.finish(&declared, sources, &mut places);
    }
    profile
}

impl Profile {
    /// Reads one source. Says whether it has rows, and the filter leaves none of them.
    fn source(
        &mut self,
        source: &mut Prepared,
        world: &dyn Sources,
        ids: &mut Ids,
        sources: &mut SourceMap,
        found: &mut Diagnostics,
    ) -> bool {
        let mut findings = Findings::new(source.span);
        let mut sieve = Sieve::new(source);
        let (mut kept, mut bytes) = (0_u64, 0_usize);
        let mut order: Vec<(u64, u64)> = Vec::new();
        let cut_later = source.shuffle.is_some() && source.limit.is_some();
        for raw in source.base(world) {
            if !cut_later && source.limit.is_some_and(|limit| kept >= limit) {
                break;
            }
            let raw = match raw {
                Ok(raw) => raw,
                Err(problem) => {
                    findings.push(problem, sources, found);
                    continue;
                }
            };
            if !sieve.keeps(source, &raw) {
                continue;
            }
            if let Some(seed) = source.shuffle {
                order.push((rank(seed, &raw), kept));
                bytes += raw.bytes;
            }
            if !cut_later {
                ids.take(&raw);
                self.take(&raw);
            }
            kept += 1;
        }
        let read = sieve.read;
        sieve.finish(source, &mut findings, sources, found);
        let sound = !findings.any();
        findings.finish(found);
        if source.shuffle.is_some() {
            let mean_bytes = bytes / order.len().max(1);
            order.sort_unstable();
            order.truncate(source.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
            order.shrink_to_fit();
            source.order = Some(Order { rows: Arc::new(order), mean_bytes });
            if cut_later && sound {
                for raw in source.raws(world).filter_map(Result::ok) {
                    ids.take(&raw);
                    self.take(&raw);
                }
            }
        }
        read > 0 && kept == 0
    }

    fn take(&mut self, raw: &Raw) {
        if let Some(hash) = &mut self.hash {
            hash.add(&keys::whole(raw));
        }
        self.without_id |= raw.id.is_none();
        self.epochs = self.epochs.max(raw.epoch);
        if *raw.graph == *RECORDED && !self.is_spoken {
            self.is_spoken = raw.conversation.has_acted(ASSISTANT);
            self.others.extend(raw.conversation.messages().iter().map(|message| Arc::clone(&message.author)));
        }
        if !self.tags.contains(&raw.tags) {
            self.tags.insert(raw.tags.clone());
        }
        let last = self
            .groups
            .last()
            .is_some_and(|group| group.graph.as_ref() == Some(&raw.graph))
            .then(|| self.groups.len() - 1);
        let at = last.or_else(|| self.groups.iter().position(|group| group.graph.as_ref() == Some(&raw.graph)));
        let at = at.unwrap_or_else(|| {
            self.groups.push(Group { graph: Some(raw.graph.clone()), ..Group::default() });
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(at) {
            group.take(&raw.fields, &raw.place);
        }
        self.count += 1;
    }

    /// What is known of the samples that run a solve graph; none where no sample does.
    pub(crate) fn group(&self, graph: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.graph.as_deref() == Some(graph))
    }

    /// What is known of all samples.
    pub(crate) const fn joined(&self) -> &Group {
        &self.joined
    }

    /// Whether transcripts are scored as they are, and whether they are answered turn by turn.
    pub(crate) fn transcripts(&self) -> (bool, bool) {
        (self.group(RECORDED).is_some(), self.group(EACH_TURN).is_some())
    }

    /// The dataset of these rows, whose solve graph reads these fields; none where the rows were not hashed. Rows without ids
    /// are read once more, to find those that share a key.
    pub(crate) fn dataset(self, read: Vec<Arc<str>>, world: &dyn Sources) -> Dataset {
        // Where no hash was asked for, the dataset is for a look at its rows, and goes no further.
        let hash = self.hash.map_or(Key([0; 32]), |hash| hash.finish(self.count));
        let mut keys = Keys { read, shared: Vec::new() };
        if self.without_id {
            let raws = self.prepared.iter().flat_map(|source| source.raws(world)).filter_map(Result::ok);
            let mut all: Vec<[u8; 16]> =
                raws.filter(|raw| raw.id.is_none()).map(|raw| short(&keys.content(&raw))).collect();
            all.sort_unstable();
            let neighbours = all.iter().zip(all.iter().skip(1));
            keys.shared = neighbours.filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
            keys.shared.dedup();
        }
        Dataset { sources: Arc::new(self.prepared), keys, count: self.count, hash }
    }
}

/// A source's filter while its rows are read: it is typed by all of them, those included that it leaves out.
struct Sieve {
    before: Option<Group>,
    faults: Vec<Problem>,
    read: usize,
}

impl Sieve {
    fn new(source: &Prepared) -> Self {
        Self { before: source.filter.as_ref().map(|_| Group::default()), faults: Vec::new(), read: 0 }
    }

    fn keeps(&mut self, source: &Prepared, raw: &Raw) -> bool {
        self.read += 1;
        let Some(group) = &mut self.before else { return true };
        group.take(&raw.fields, &raw.place);
        source.keeps(raw).unwrap_or_else(|problem| {
            // More than are told are not kept.
            if self.faults.len() < 100 {
                self.faults.push(problem);
            }
            false
        })
    }

    /// What fails on a row because of its types is said once, of the expression.
    fn finish(self, source: &Prepared, findings: &mut Findings, sources: &mut SourceMap, found: &mut Diagnostics) {
        if let Some(mut group) = self.before
            && !check_filter(source, &mut group, sources, found)
        {
            self.faults.into_iter().for_each(|problem| findings.push(problem, sources, found));
        }
    }
}

/// The rank of a row in a shuffled order: from the seed and what the row is, so that a row more moves no other.
fn rank(seed: u64, raw: &Raw) -> u64 {
    let mut writer = KeyWriter::new("aigo.shuffle.1");
    writer.u64(seed);
    match &raw.id {
        Some(id) => writer.str(id),
        None => writer.key(&keys::whole(raw)),
    };
    writer.finish().number()
}

/// Types a filter as the condition that it is. Says whether something was wrong with it.
fn check_filter(source: &Prepared, group: &mut Group, sources: &mut SourceMap, found: &mut Diagnostics) -> bool {
    let Some((filter, leaf)) = &source.filter else { return false };
    group.finish(&source.declared, sources, &mut BTreeMap::new());
    let mut names = Names::default();
    names.extend_new(group.fields().iter().map(|field| (field.name.clone(), field.ty.clone())));
    let mut errors = Vec::new();
    typing::check_condition(filter, &names, &mut errors);
    let wrong = !errors.is_empty();
    for error in errors {
        let row = match error.mistake {
            Mistake::Unknown => &catalog::UNKNOWN_NAME,
            Mistake::MayBeMissing => &catalog::MAY_BE_MISSING,
            Mistake::Fails => &catalog::ALWAYS_FAILS,
            Mistake::Syntax => &catalog::BAD_EXPRESSION,
            Mistake::Type | Mistake::Condition => &catalog::WRONG_TYPE,
        };
        let lacking = error.name.as_ref().filter(|_| error.mistake == Mistake::MayBeMissing);
        let lacking = lacking.and_then(|name| Some((name, group.lacking(name)?)));
        let message = match &lacking {
            Some((name, lacking)) => format!("`{name}` is read here, and {}", lacking.text),
            None => error.message,
        };
        let mut diagnostic = row.at(leaf.locate(sources, error.range), message).maybe_help(error.help);
        if let Some((_, lacking)) = lacking {
            diagnostic = diagnostic.related(lacking.span, "the field is missing here");
        }
        found.push(diagnostic);
    }
    wrong
}

impl Group {
    /// Of no samples nothing is known.
    pub(crate) const fn empty() -> Self {
        Self { graph: None, count: 0, first: None, fields: Vec::new(), index: BTreeMap::new(), complete: Vec::new() }
    }

    fn take(&mut self, fields: &Map, place: &Place) {
        self.count += 1;
        let row = self.count;
        if self.first.is_none() {
            self.first = Some(place.clone());
        }
        for (nth, (name, value)) in fields.iter().enumerate() {
            // Rows mostly have the same fields in the same order.
            let is_nth = self.fields.get(nth).is_some_and(|field| field.name == *name);
            let at = match if is_nth { Some(&nth) } else { self.index.get(name) } {
                Some(at) => *at,
                None => {
                    let at = self.fields.len();
                    self.index.insert(name.clone(), at);
                    // A field that comes late was lacking in all rows before.
                    let lacking = self.first.clone().filter(|_| row > 1);
                    if lacking.is_none() {
                        self.complete.push(at);
                    }
                    let ty = Type::of(value);
                    let name = name.clone();
                    self.fields.push(FieldProfile { name, ty, present: 0, seen: 0, lacking, lacking_at: None });
                    at
                }
            };
            if let Some(field) = self.fields.get_mut(at) {
                field.present += 1;
                field.seen = row;
                if !has(&field.ty, value) {
                    field.ty = field.ty.join(&Type::of(value));
                }
            }
        }
        let fields = &mut self.fields;
        self.complete.retain(|&at| {
            let Some(field) = fields.get_mut(at).filter(|field| field.seen != row) else { return true };
            field.lacking = Some(place.clone());
            false
        });
    }

    /// Fields that only samples of other groups have are fields that all of this one lack: what several kinds of samples share,
    /// such as the task's `system` step, asks whether they are there.
    fn know(&mut self, joined: &Self) {
        for field in &joined.fields {
            if self.count > 0 && !self.index.contains_key(&field.name) {
                self.index.insert(field.name.clone(), self.fields.len());
                self.fields.push(FieldProfile { present: 0, seen: 0, lacking: self.first.clone(), ..field.clone() });
            }
        }
    }

    /// Declared types take the place of those that were found, missing fields may be missing, places become spans.
    fn finish(&mut self, declared: &Fields, sources: &mut SourceMap, places: &mut BTreeMap<(Arc<str>, usize), Span>) {
        for (name, ty) in declared.all() {
            if !self.index.contains_key(name) {
                self.index.insert(name.clone(), self.fields.len());
                let (name, ty, lacking) = (name.clone(), ty.clone(), self.first.clone());
                self.fields.push(FieldProfile { name, ty, present: 0, seen: 0, lacking, lacking_at: None });
            }
        }
        for field in &mut self.fields {
            if let Some(ty) = declared.get(&field.name) {
                field.ty = ty.clone();
            }
            let Some(place) = &field.lacking else { continue };
            if !matches!(field.ty, Type::Maybe(_) | Type::Any | Type::Null) {
                field.ty = Type::Maybe(Box::new(field.ty.clone()));
            }
            field.lacking_at = Some(match place.key() {
                None => place.locate(sources),
                Some(key) => *places.entry(key).or_insert_with(|| place.locate(sources)),
            });
        }
    }

    /// The fields, in the order in which they first occur.
    pub(crate) fn fields(&self) -> &[FieldProfile] {
        &self.fields
    }

    /// Whether a row has the field, or it is declared.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// What is to be said of a field that some rows lack.
    pub(crate) fn lacking(&self, name: &str) -> Option<Lacking> {
        let field = self.index.get(name).and_then(|at| self.fields.get(*at))?;
        let (place, span) = (field.lacking.as_ref()?, field.lacking_at?);
        let (lack, all) = (self.count - field.present, self.count);
        let who = if all == 1 {
            format!("the only sample, {}, lacks it", place.text())
        } else {
            let verb = if lack == 1 { "lacks" } else { "lack" };
            let first = if lack == 1 { "" } else { "first " };
            format!("{} of {} samples {verb} it: {first}{}", thousands(lack), thousands(all), place.text())
        };
        Some(Lacking { text: who, span })
    }
}

/// Whether a type surely stays as it is when it is joined with that of a value. It builds nothing, unlike the join.
fn has(ty: &Type, value: &Value) -> bool {
    match (ty, value) {
        (Type::Any, _)
        | (Type::Str, Value::Str(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Int | Type::Number, Value::Int(_))
        | (Type::Number, Value::Float(_)) => true,
        (Type::Record(known), Value::Map(map)) => {
            let mut pairs = known.iter().zip(map.iter());
            known.len() == map.len() && pairs.all(|((name, ty), (key, value))| name == key && has(ty, value))
        }
        _ => false,
    }
}

/// What is known of the samples of all groups.
fn joined(groups: &[Group]) -> Group {
    let mut all = Group { count: groups.iter().map(|group| group.count).sum(), ..Group::default() };
    all.first = groups.first().and_then(|group| group.first.clone());
    for field in groups.iter().flat_map(|group| &group.fields) {
        match all.index.get(&field.name).and_then(|at| all.fields.get_mut(*at)) {
            Some(known) => {
                known.ty = known.ty.join(&field.ty);
                known.present += field.present;
            }
            None => {
                all.index.insert(field.name.clone(), all.fields.len());
                all.fields.push(FieldProfile { lacking: None, ..field.clone() });
            }
        }
    }
    for field in all.fields.iter_mut().filter(|field| field.present < all.count) {
        field.lacking = groups.iter().find_map(|group| match group.index.get(&field.name) {
            Some(at) => group.fields.get(*at).and_then(|field| field.lacking.clone()),
            None => group.first.clone(),
        });
    }
    all
}
