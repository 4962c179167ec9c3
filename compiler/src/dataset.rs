//! Datasets: rows from their sources, one at a time, and what is known of all of them.
//!
//! ```text
//! ast::Source -> prepare -> base rows -> filter -> shuffle -> limit -> Row
//!                (files)    (raw)        (filter)  (read)
//! ```
//! `profile` reads all rows once before the run: types, missing fields, ids, the dataset's hash. What it keeps of a row is at
//! most 16 bytes for its id or key and 16 for its place in a shuffled order; the rows themselves are never held.

mod declared;
mod ids;
mod keys;
mod prepare;
mod problem;
mod profile;
mod raw;
mod read;

pub(crate) use prepare::prepare;
pub(crate) use profile::{Group, Profile, profile};

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::span::Origin;
use aigo_ir::value::Map;

use crate::sources::Sources;
use ids::MultisetHash;
use keys::Keys;
use prepare::Prepared;
use problem::Problem;
use raw::Raw;

/// The name of the solve graph of transcripts that are scored as they are.
pub const RECORDED: &str = "recorded";
/// The name of the solve graph of transcripts that are answered anew, turn by turn.
pub const EACH_TURN: &str = "each_turn";

/// A sample as the run takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its key: its own id, or a hash of what its solve graph reads, with an ordinal among equals. Never a row number.
    pub key: Arc<str>,
    /// Which of its epochs this is, where a recording says so; otherwise the run gives it all of them.
    pub epoch: Option<u32>,
    /// The solve graph that it runs.
    pub graph: Arc<str>,
    /// Its fields.
    pub fields: Arc<Map>,
    /// The messages that it begins with: of a transcript, otherwise none.
    pub conversation: Arc<Conversation>,
    /// Its tags: its own, then its source's.
    pub tags: Vec<String>,
    /// Which samples it belongs together with, for the statistics. Samples with equal clusters are not independent.
    pub cluster: Arc<str>,
}

/// Where samples come from, and how their keys are made.
#[derive(Clone, Debug)]
pub struct Dataset {
    sources: Arc<Vec<Prepared>>,
    keys: Keys,
    /// How many samples there are.
    pub count: usize,
    /// A hash of all samples as a multiset: order, format, tags and clusters do not matter.
    pub hash: Key,
}

impl Dataset {
    /// Where the task says where its samples come from.
    pub(crate) fn origin(&self) -> Origin {
        self.sources.first().map_or_else(Origin::default, |source| Origin::at(source.span))
    }

    /// The samples in the order of their sources; every call reads the files anew. A row that cannot be read is an error and
    /// the next one follows.
    pub fn rows<'d>(&'d self, world: &'d dyn Sources) -> impl Iterator<Item = Result<Row, String>> + 'd {
        let mut seen: BTreeMap<[u8; 16], u32> = BTreeMap::new();
        self.raws(world).map(move |raw| raw.map(|raw| self.row(raw, &mut seen)).map_err(|problem| problem.message))
    }

    /// The same, held against the hash: where the rows are others than those that were read before, since a file has changed,
    /// an error is the last of them.
    pub fn rows_held<'d>(&'d self, world: &'d dyn Sources) -> impl Iterator<Item = Result<Row, String>> + 'd {
        const CHANGED: &str = "the data has changed since the run began: its rows are not those that were checked";
        let mut seen: BTreeMap<[u8; 16], u32> = BTreeMap::new();
        let (mut hash, mut count, mut is_over) = (MultisetHash::default(), 0, false);
        let mut raws = self.raws(world);
        std::iter::from_fn(move || {
            let next = if is_over { return None } else { raws.next() };
            if let Some(Ok(raw)) = &next {
                hash.add(&keys::whole(raw));
                count += 1;
            }
            is_over = next.is_none() || count > self.count;
            match next {
                // One more than there were is not begun.
                _ if is_over => (hash.finish(count) != self.hash).then(|| Err(CHANGED.to_owned())),
                Some(raw) => Some(raw.map(|raw| self.row(raw, &mut seen)).map_err(|problem| problem.message)),
                None => None,
            }
        })
    }

    fn raws<'d>(&'d self, world: &'d dyn Sources) -> impl Iterator<Item = Result<Raw, Problem>> + 'd {
        self.sources.iter().flat_map(move |source| source.raws(world))
    }

    fn row(&self, raw: Raw, seen: &mut BTreeMap<[u8; 16], u32>) -> Row {
        let key = self.keys.key(&raw, seen);
        let cluster = raw.cluster.map_or_else(|| key.clone(), Arc::from);
        Row {
            key,
            epoch: raw.epoch,
            graph: raw.graph,
            fields: raw.fields,
            conversation: raw.conversation,
            tags: raw.tags,
            cluster,
        }
    }
}

#[cfg(test)]
mod tests {
    use aigo_ir::diagnostic::Diagnostics;
    use aigo_ir::span::{SourceMap, Span, Spanned};
    use aigo_ir::value::Value;

    use super::*;
    use crate::ast::{InlineRow, Samples, ScenarioSample, Source, Task};
    use crate::sources::NoSources;

    fn row(pairs: &[(&str, &str)]) -> InlineRow {
        let fields: Map = pairs.iter().map(|(name, value)| (*name, Value::from(*value))).collect();
        InlineRow { places: vec![Span::default(); fields.len()], fields, span: Span::default() }
    }

    fn scenario(id: &str, field: &str) -> ScenarioSample {
        let spanned = |text: &str| Spanned::new(text.to_owned(), Span::default());
        let fields = vec![(spanned(field), Value::from("x"))];
        ScenarioSample { id: spanned(id), tags: vec!["p0".into()], cluster: None, fields, span: Span::default() }
    }

    fn profiled(scenarios: Vec<ScenarioSample>) -> (Profile, Vec<String>) {
        let rows = vec![row(&[("id", "one"), ("plan", "Pro")]), row(&[("id", "two"), ("plan", "Team")])];
        let samples = [Samples::Inline(rows), Samples::Scenarios(scenarios)];
        let dataset = samples.into_iter().map(|samples| Source::new(samples, Span::default())).collect();
        let task = Task { dataset, ..Task::default() };
        let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
        let prepared = prepare(&task, &NoSources, &mut sources, &mut found);
        let profile = profile(prepared, true, &NoSources, &mut sources, &mut found);
        (profile, found.finish().iter().map(|found| found.concise(&sources)).collect())
    }

    #[test]
    fn scenarios_are_samples_of_graphs_of_their_own() {
        let (profile, found) = profiled(vec![scenario("a", "seats"), scenario("b", "plan")]);
        assert!(found.is_empty(), "{found:?}");
        let types = |group: Option<&Group>| -> Vec<String> {
            let fields = group.into_iter().flat_map(Group::fields);
            fields.map(|field| format!("{}: {}", field.name, field.ty)).collect()
        };
        // What only other samples have, these lack: a step that they share asks whether it is there.
        assert_eq!(types(profile.group(crate::MAIN)), ["plan: string", "seats: string?"]);
        assert_eq!(types(profile.group("scenario/a")), ["seats: string", "plan: string?"]);
        assert_eq!(types(Some(profile.joined())), ["plan: string?", "seats: string?"]);
        let lacking = profile.joined().lacking("seats").map(|lacking| lacking.text);
        assert_eq!(lacking.as_deref(), Some("3 of 4 samples lack it: first sample 1"));
        let dataset = profile.dataset(Vec::new(), &NoSources);
        let rows: Vec<Row> = dataset.rows(&NoSources).filter_map(Result::ok).collect();
        let shown: Vec<_> = rows.iter().map(|row| (&*row.key, &*row.graph, &*row.cluster, row.tags.len())).collect();
        let expected = [
            ("one", "main", "one", 0),
            ("two", "main", "two", 0),
            ("a", "scenario/a", "a", 1),
            ("b", "scenario/b", "b", 1),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_scenario_has_no_id_of_a_row() {
        let (_, found) = profiled(vec![scenario("two", "plan")]);
        assert_eq!(found, ["error[E0504]: the scenario `two` has the id `two`, which sample 2 has too"]);
    }
}
