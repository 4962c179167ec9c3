//! Sources of samples.

use super::{Construct, Kind, key};

/// A source of samples.
pub static DATASET: Construct = Construct {
    name: "a source of samples",
    keys: &[
        key("samples", Kind::Verb, "Samples written here: a list of maps."),
        key("file", Kind::Verb, "A file of samples: JSON Lines, JSON, CSV, TSV or YAML."),
        key("matrix", Kind::Verb, "The cross product of fields: a map of lists."),
        key("transcripts", Kind::Verb, "Recorded conversations: a path or a pattern, or a list of them."),
        key("continue", Kind::Name, "`each_turn`: the assistant answers each turn of a transcript anew."),
        key("tags", Kind::List, "Tags for all its samples, beside their own."),
        key("cluster", Kind::Name, "The field that says which samples belong together."),
        key("filter", Kind::Expression, "Only rows for which this holds are samples."),
        key("shuffle", Kind::Number, "A seed for the order of the rows; `true` for the task's."),
        key("limit", Kind::Number, "The most samples, after `filter` and `shuffle`."),
    ],
};

/// A file of rows.
pub static DATA_FILE: Construct = Construct {
    name: "a data file",
    keys: &[
        key("path", Kind::Name, "The path, relative to the task's folder. Required."),
        key("format", Kind::Name, "`jsonl`, `json`, `csv`, `tsv` or `yaml`; by the extension unless given."),
    ],
};

/// The values of a field of a matrix that stand in a file.
pub static COLUMN: Construct = Construct {
    name: "the values of a field",
    keys: &[key("file", Kind::Name, "A file with a list of values, or of maps with an `id`.")],
};

/// A declared field, in its long form.
pub static FIELD: Construct = Construct {
    name: "a field",
    keys: &[
        key("type", Kind::Name, "Its type. Required."),
        key("doc", Kind::Name, "What it is, for people."),
        key("optional", Kind::Boolean, "Whether samples may lack it."),
    ],
};
