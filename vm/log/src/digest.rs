//! The digest: one hash over what a run computed, and over nothing that may differ between two runs of the same answers.

use aigo_ir::key::{Key, KeyWriter};

/// An ended trial's part of the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf<'k> {
    /// The sample's key.
    pub sample: &'k str,
    /// The epoch.
    pub epoch: u32,
    /// The hash of the trial's positions, contents, answers and scores.
    pub leaf: Key,
}

/// The digest of a run. The order in which trials ended does not matter: whoever calls this has sorted the leaves by sample
/// (by bytes) and epoch, and they are not gathered here, because a run can have more of them than memory should hold twice.
pub fn digest<'k>(program: &Key, dataset: &Key, leaves: impl ExactSizeIterator<Item = Leaf<'k>>) -> Key {
    let mut writer = KeyWriter::new("aigo.digest.1");
    writer.key(program).key(dataset).list(leaves.len());
    let mut before: Option<Leaf<'k>> = None;
    for leaf in leaves {
        debug_assert!(before.is_none_or(|before| before <= leaf), "the leaves are sorted");
        writer.str(leaf.sample).u64(u64::from(leaf.epoch)).key(&leaf.leaf);
        before = Some(leaf);
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_was_computed_matters() {
        let leaf = |sample: &'static str, epoch, byte| Leaf { sample, epoch, leaf: Key([byte; 32]) };
        let (program, dataset) = (Key([1; 32]), Key([2; 32]));
        let leaves = [leaf("a", 1, 5), leaf("a", 2, 4), leaf("b", 1, 3)];
        let one = digest(&program, &dataset, leaves.into_iter());
        assert_ne!(one, digest(&dataset, &program, leaves.into_iter()));
        assert_ne!(one, digest(&program, &dataset, leaves.into_iter().take(2)));
        assert_ne!(one, digest(&program, &dataset, [leaf("a", 1, 4), leaf("a", 2, 5), leaf("b", 1, 3)].into_iter()));
        assert_eq!(one.hex(32), "c23ea97b567dbf8090d61aa185799edc51e912520381d442b758023786be7d62");
    }
}
