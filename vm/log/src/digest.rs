//! The digest: one hash over what a run computed, and over nothing that may differ between two runs of the same answers.

use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::value::Value;

use crate::record::{Open, Run};

/// The number in [`Run::flags`] of runs whose digest is of a sum. In older ones it is of the sorted list of trials.
pub const SUMMED: u32 = 1;

/// All flags that this version knows.
pub(crate) const KNOWN_FLAGS: [u32; 1] = [SUMMED];

/// How many numbers the sum has.
const LANES: usize = 1024;

/// The digest of a run, gathered trial by trial, in whatever order they end.
#[derive(Clone, Debug)]
pub struct Digest {
    program: Key,
    dataset: Key,
    /// What the header says.
    trials: Option<u64>,
    ended: u64,
    gathered: Gathered,
}

#[derive(Clone, Debug)]
enum Gathered {
    /// The lane-wise sum of the trials' hashes, each of 2,048 bytes: `LtHash` with 1,024 lanes of 16 bits, against whose
    /// collisions it has over 200 bits of security (Bellare and Micciancio, Eurocrypt 1997; Lewi, Kim, Maykov and Weis,
    /// ePrint 2019/227). A sum of short hashes would be as fast and could be forged. It is of one size for any number of trials.
    Sum(Box<[u16; LANES]>),
    /// The trials, to be sorted.
    List(Vec<(Box<str>, u32, Key)>),
}

impl Digest {
    /// Of a run of which nothing has ended: under its own program, or where its answers go through another one, under that.
    pub fn of(header: &Run, program: Key) -> Self {
        // A log whose dataset has no hash was written by nobody; it is read, and its digest is another one than it says.
        let dataset = Key::from_hex(&header.dataset).unwrap_or(Key([0; 32]));
        Self { trials: header.trials, ..Self::new(&header.flags, program, dataset) }
    }

    /// The same of the hashes of a program and a dataset, as runs with these flags gather it.
    pub fn new(flags: &[u32], program: Key, dataset: Key) -> Self {
        let gathered =
            if flags.contains(&SUMMED) { Gathered::Sum(Box::new([0; LANES])) } else { Gathered::List(Vec::new()) };
        Self { program, dataset, trials: None, ended: 0, gathered }
    }

    /// Takes in a trial that has ended: its sample's key, its epoch, the hash of what it began with, [`Open::hash`], and that of
    /// its positions, contents, answers and scores.
    pub fn add(&mut self, sample: &str, epoch: u32, opened: &Key, leaf: &Key) {
        self.ended += 1;
        match &mut self.gathered {
            Gathered::List(list) => list.push((sample.into(), epoch, *leaf)),
            Gathered::Sum(lanes) => {
                let mut bytes = [0; 2 * LANES];
                let mut writer = KeyWriter::new("aigo.ended.1");
                writer.str(sample).u64(u64::from(epoch)).key(opened).key(leaf).fill(&mut bytes);
                for (lane, pair) in lanes.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *lane = lane.wrapping_add(u16::from_le_bytes(*pair));
                }
            }
        }
    }

    /// How many trials were taken in.
    pub const fn ended(&self) -> u64 {
        self.ended
    }

    /// The digest of what was taken in.
    pub fn finish(&self) -> Key {
        match &self.gathered {
            Gathered::Sum(lanes) => {
                let mut writer = KeyWriter::new("aigo.digest.2");
                let trials = self.trials.unwrap_or(self.ended);
                writer.key(&self.program).key(&self.dataset).u64(trials).u64(self.ended).list(lanes.len());
                for lane in lanes.iter() {
                    writer.u64(u64::from(*lane));
                }
                writer.finish()
            }
            Gathered::List(list) => {
                let mut sorted: Vec<_> = list.iter().collect();
                sorted.sort_unstable();
                let mut writer = KeyWriter::new("aigo.digest.1");
                writer.key(&self.program).key(&self.dataset).list(sorted.len());
                for (sample, epoch, leaf) in sorted {
                    writer.str(sample).u64(u64::from(*epoch)).key(leaf);
                }
                writer.finish()
            }
        }
    }
}

impl Open {
    /// The hash of what the trial begins with, but for the sample's key, the epoch and the trial's number.
    pub fn hash(&self) -> Key {
        let mut writer = KeyWriter::new("aigo.opened.1");
        writer.str(&self.graph).value(&self.row).value(self.messages.as_ref().unwrap_or(&Value::Null));
        writer.list(self.tags.len());
        for tag in &self.tags {
            writer.str(tag);
        }
        writer.maybe_str(self.cluster.as_deref()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, epoch, the hash of what it began with, that of what it came to.
    type Ended = (&'static str, u32, u8, u8);

    fn digest(flags: &[u32], (program, dataset): (u8, u8), ended: &[Ended]) -> String {
        let mut digest = Digest::new(flags, Key([program; 32]), Key([dataset; 32]));
        for (sample, epoch, opened, leaf) in ended {
            digest.add(sample, *epoch, &Key([*opened; 32]), &Key([*leaf; 32]));
        }
        assert_eq!(digest.ended(), ended.len() as u64);
        digest.finish().to_string()
    }

    #[test]
    fn everything_that_was_computed_matters_and_the_order_does_not() {
        let ended = [("a", 1, 0, 5), ("a", 2, 0, 4), ("b", 1, 0, 3)];
        // The second is what versions before flag 1 gave.
        for (flags, known) in [
            (&[SUMMED][..], "5b62db074a4a640cde131305d1192c77cff3c06d8d474ff230e70b3e44b77df0"),
            (&[], "c23ea97b567dbf8090d61aa185799edc51e912520381d442b758023786be7d62"),
        ] {
            let one = digest(flags, (1, 2), &ended);
            assert_eq!(one, known);
            assert_eq!(one, digest(flags, (1, 2), &[ended[2], ended[0], ended[1]]));
            let others: [&[Ended]; 5] = [
                &ended[..2],
                &[("a", 1, 0, 4), ("a", 2, 0, 5), ("b", 1, 0, 3)],
                &[("a", 1, 0, 5), ("a", 2, 0, 4), ("c", 1, 0, 3)],
                &[("a", 1, 0, 5), ("a", 3, 0, 4), ("b", 1, 0, 3)],
                &[("a", 1, 0, 5), ("a", 2, 0, 4), ("b", 1, 0, 3), ("b", 1, 0, 3)],
            ];
            for other in others {
                assert_ne!(one, digest(flags, (1, 2), other));
            }
            assert_ne!(one, digest(flags, (2, 1), &ended));
        }
        let edited = [("a", 1, 1, 5), ended[1], ended[2]];
        assert_ne!(digest(&[SUMMED], (1, 2), &ended), digest(&[SUMMED], (1, 2), &edited));
    }
}
