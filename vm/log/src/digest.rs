//! The digest: one hash over what a run computed, and over nothing that may differ between two runs of the same answers.

use aigo_ir::key::{Key, KeyWriter};

/// A closed trial's part of the digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The sample's key.
    pub sample: String,
    /// The epoch.
    pub epoch: u32,
    /// The hash of the trial's positions, contents, answers and scores.
    pub leaf: Key,
}

/// The digest of a run. The order in which trials ended does not matter: the leaves are sorted by sample (by bytes), epoch
/// and hash.
pub fn digest(program: &Key, dataset: &Key, leaves: impl IntoIterator<Item = Leaf>) -> Key {
    let mut leaves: Vec<Leaf> = leaves.into_iter().collect();
    leaves.sort_unstable();
    let mut writer = KeyWriter::new("aigo.digest.1");
    writer.key(program).key(dataset).list(leaves.len());
    for Leaf { sample, epoch, leaf } in &leaves {
        writer.str(sample).u64(u64::from(*epoch)).key(leaf);
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_ending_does_not_matter_and_everything_else_does() {
        let leaf = |sample: &str, epoch, byte| Leaf { sample: sample.to_owned(), epoch, leaf: Key([byte; 32]) };
        let (program, dataset) = (Key([1; 32]), Key([2; 32]));
        let leaves = [leaf("b", 1, 3), leaf("a", 2, 4), leaf("a", 1, 5)];
        let one = digest(&program, &dataset, leaves.clone());
        assert_eq!(one, digest(&program, &dataset, leaves.iter().rev().cloned()));
        assert_ne!(one, digest(&dataset, &program, leaves.clone()));
        assert_ne!(one, digest(&program, &dataset, leaves.iter().take(2).cloned()));
        assert_ne!(one, digest(&program, &dataset, [leaf("b", 1, 3), leaf("a", 1, 4), leaf("a", 2, 5)]));
        assert_eq!(one.hex(32), "c23ea97b567dbf8090d61aa185799edc51e912520381d442b758023786be7d62");
    }
}
