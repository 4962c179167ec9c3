//! Sources of samples.

use super::{Construct, Kind, key, planned};

/// A source of samples.
pub static DATASET: Construct = Construct {
    name: "a source of samples",
    keys: &[
        key("samples", Kind::Verb, "Samples written here: a list of maps."),
        key("file", Kind::Verb, "A file of samples: JSON Lines."),
        key("matrix", Kind::Verb, "The cross product of fields: a map of lists."),
        planned("transcripts"),
        planned("cluster"),
        planned("tags"),
        planned("filter"),
        planned("shuffle"),
        planned("limit"),
    ],
};
