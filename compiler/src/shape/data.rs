//! Sources of samples.

use aigo_source::Format;

use super::forms::{at_least, list, map_of};
use super::{Construct, Form, Grammar, Keys, Names, Shared, key, verb};

const FORMATS: [&str; Format::WORDS.len()] = {
    let mut words = [""; Format::WORDS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = Format::WORDS[at].0;
        at += 1;
    }
    words
};

/// A path, or a map of it and its format.
const FILE: Form = Form::Either(&[Form::Text, Form::Map(&DATA_FILE)]);

/// A source of samples.
pub static DATASET: Construct = Construct {
    name: "a source of samples",
    keys: &[
        verb("samples", list(&map_of(&Form::Any)), "Samples written here: a list of maps."),
        verb("file", FILE, "A file of samples: JSON Lines, JSON, CSV, TSV or YAML."),
        verb(
            "matrix",
            map_of(&Form::Either(&[list(&Form::Any), Form::Map(&COLUMN)])),
            "The cross product of fields: a map of lists.",
        ),
        verb(
            "transcripts",
            Form::Either(&[Form::Text, list(&Form::Text)]),
            "Recorded conversations: a path or a pattern, or a list of them.",
        ),
        key(
            "continue",
            Form::Word(&["each_turn"]),
            "`each_turn`: the assistant answers each turn of a transcript anew.",
        )
        .beside(&["transcripts"]),
        key("tags", list(&Form::Text), "Tags for all its samples, beside their own."),
        key("cluster", Form::Mentions(Names::Field, &Form::Text), "The field that says which samples belong together."),
        key("filter", Form::Expression, "Only rows for which this holds are samples."),
        key(
            "shuffle",
            Form::Either(&[at_least(0), Form::Boolean]),
            "A seed for the order of the rows; `true` for the task's.",
        ),
        key("limit", at_least(1), "The most samples, after `filter` and `shuffle`."),
    ],
};

/// A file of rows.
pub static DATA_FILE: Construct = Construct {
    name: "a data file",
    keys: &[
        key("path", Form::Text, "The path, relative to the task's folder. Required.").required(),
        key("format", Form::Word(&FORMATS), "`jsonl`, `json`, `csv`, `tsv` or `yaml`; by the extension unless given."),
    ],
};

/// The values of a field of a matrix that stand in a file.
pub static COLUMN: Construct = Construct {
    name: "the values of a field",
    keys: &[key("file", FILE, "A file with a list of values, or of maps with an `id`. Required.").required()],
};

/// The word for a type of a field.
static FIELD_WORD: Grammar = Grammar {
    name: "a type such as `string`, `integer?`, `list<string>`, or a map of names to types",
    pattern: "^\\s*[A-Za-z{]",
    examples: &["string", "integer", "number", "boolean", "any", "list<string>", "string?"],
};

/// A type of a field: a word, a list of one type, a map of names to types, or the long form.
pub static FIELD_TYPE: Shared = Shared {
    name: "a type of a field",
    form: Form::Either(&[
        Form::Like(&FIELD_WORD),
        Form::List(1, &Form::Shared(&FIELD_TYPE)),
        Form::Map(&FIELD),
        Form::Named(Keys::Any, &Form::Shared(&FIELD_TYPE)),
    ]),
};

/// A declared field, in its long form.
pub static FIELD: Construct = Construct {
    name: "a field",
    keys: &[
        key("type", Form::Shared(&FIELD_TYPE), "Its type. Required.").required(),
        key("doc", Form::Text, "What it is, for people."),
        key("optional", Form::Boolean, "Whether samples may lack it.").or("false"),
    ],
};
