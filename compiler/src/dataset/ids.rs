//! Ids that stand twice, and the hash of a dataset.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::span::SourceMap;

use super::prepare::Prepared;
use super::problem::Place;
use super::raw::Raw;
use crate::catalog;
use crate::sources::Sources;

/// How many ids that stand twice are told.
const MOST_REPORTED: usize = 20;

/// The sum of the rows' hashes, four lanes of 64 bits: no order, and equal rows count as often as they occur.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MultisetHash([u64; 4]);

impl MultisetHash {
    pub(super) fn add(&mut self, key: &Key) {
        for (lane, bytes) in self.0.iter_mut().zip(key.0.chunks_exact(8)) {
            let number = bytes.iter().rev().fold(0_u64, |n, &byte| n << 8 | u64::from(byte));
            *lane = lane.wrapping_add(number);
        }
    }

    pub(super) fn finish(&self, count: usize) -> Key {
        let mut writer = KeyWriter::new("aigo.dataset.1");
        writer.u64(count as u64);
        self.0.iter().for_each(|&lane| {
            writer.u64(lane);
        });
        writer.finish()
    }
}

/// The ids seen so far, eight bytes for each: a dataset can be larger than memory. They stand in lists of [`LIST`], of which
/// none is copied when more are seen.
#[derive(Default)]
pub(super) struct Ids(Vec<Vec<u64>>);

/// So many ids are in a list.
const LIST: usize = 8192;

impl Ids {
    pub(super) fn take(&mut self, raw: &Raw) {
        let Some(id) = &raw.id else { return };
        let mark = mark(&named(id, raw.epoch));
        match self.0.last_mut().filter(|list| list.len() < LIST) {
            Some(list) => list.push(mark),
            None => {
                let mut list = Vec::with_capacity(if self.0.is_empty() { 1 } else { LIST });
                list.push(mark);
                self.0.push(list);
            }
        }
    }

    /// Those that stand twice, by merging the sorted lists.
    fn twice(&mut self) -> BTreeSet<u64> {
        self.0.iter_mut().for_each(|list| list.sort_unstable());
        let mut rests: Vec<_> = self.0.iter().map(|list| list.iter().copied()).collect();
        let firsts = rests.iter_mut().enumerate();
        let mut next: BinaryHeap<_> = firsts.filter_map(|(at, rest)| Some(Reverse((rest.next()?, at)))).collect();
        let (mut twice, mut before) = (BTreeSet::new(), None);
        while let Some(Reverse((mark, at))) = next.pop() {
            if before.replace(mark) == Some(mark) {
                twice.insert(mark);
            }
            next.extend(rests.get_mut(at).and_then(|rest| Some(Reverse((rest.next()?, at)))));
        }
        twice
    }

    /// Tells of ids that stand twice. Which they are and where they stand is looked up only if there are any, by reading once
    /// more.
    pub(super) fn report(
        mut self,
        prepared: &[Prepared],
        world: &dyn Sources,
        sources: &mut SourceMap,
        found: &mut Diagnostics,
    ) {
        let twice = self.twice();
        if twice.is_empty() {
            return;
        }
        let mut first: BTreeMap<String, Place> = BTreeMap::new();
        let mut told = 0;
        for raw in prepared.iter().flat_map(|source| source.raws(world)).filter_map(Result::ok) {
            let named = raw.id.as_ref().map(|id| named(id, raw.epoch));
            let Some(id) = named.filter(|id| twice.contains(&mark(id))) else { continue };
            match first.get(&id) {
                None => {
                    first.insert(id, raw.place);
                }
                Some(earlier) => {
                    told += 1;
                    if told > MOST_REPORTED {
                        break;
                    }
                    let message = format!("{} has the id `{id}`, which {} has too", raw.place.text(), earlier.text());
                    let problem = raw.place.problem(&catalog::ID_TWICE, Some("id"), message);
                    let earlier = earlier.locate(sources);
                    let diagnostic = problem.diagnostic(sources).related(earlier, "the first");
                    found.push(diagnostic.help("ids name samples for ever: give each its own"));
                }
            }
        }
    }
}

/// What a sample must have alone: its id, or its id and its epoch where a recording says which one it is.
fn named(id: &str, epoch: Option<u32>) -> String {
    epoch.map_or_else(|| id.to_owned(), |epoch| format!("{id}`, epoch `{epoch}"))
}

/// What stands for an id: FNV-1a with 64 bits. Ids that share one by chance are told apart when they are looked up.
fn mark(id: &str) -> u64 {
    let (basis, prime) = (0xcbf2_9ce4_8422_2325_u64, 0x0000_0100_0000_01b3_u64);
    id.bytes().fold(basis, |mark, byte| (mark ^ u64::from(byte)).wrapping_mul(prime))
}
