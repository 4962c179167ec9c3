//! Ids that stand twice, and the hash of a dataset.

use std::collections::{BTreeMap, BTreeSet};

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

/// The ids seen so far, 16 bytes for each in one run of memory that is given back whole: a dataset can be larger than memory.
#[derive(Default)]
pub(super) struct Ids(Vec<[u8; 16]>);

impl Ids {
    pub(super) fn take(&mut self, raw: &Raw) {
        self.0.extend(raw.id.as_ref().map(|id| mark(&named(id, raw.epoch))));
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
        self.0.sort_unstable();
        let neighbours = self.0.iter().zip(self.0.iter().skip(1));
        let twice: BTreeSet<[u8; 16]> = neighbours.filter(|(a, b)| a == b).map(|(a, _)| *a).collect();
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

/// What stands for an id: FNV-1a with 128 bits. Ids that share one by chance are told apart when they are looked up.
fn mark(id: &str) -> [u8; 16] {
    let (basis, prime) =
        (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, 0x0000_0000_0100_0000_0000_0000_0000_013b_u128);
    id.bytes().fold(basis, |mark, byte| (mark ^ u128::from(byte)).wrapping_mul(prime)).to_le_bytes()
}
