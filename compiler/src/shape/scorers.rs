//! Checks, scorers and gates.

use super::{Construct, Kind, key, planned};

/// A check.
pub static CHECK: Construct = Construct {
    name: "a check",
    keys: &[
        key("contains", Kind::Verb, "The text has these words, letter by letter."),
        key("not_contains", Kind::Verb, "It has not."),
        key("matches", Kind::Verb, "The regular expression matches somewhere in the text."),
        key("not_matches", Kind::Verb, "It does not."),
        key("equals", Kind::Verb, "The text is these words, but for white space at its ends."),
        key("not_equals", Kind::Verb, "It is not."),
        key("starts_with", Kind::Verb, "The text begins with these words."),
        key("not_starts_with", Kind::Verb, "It does not."),
        key("who", Kind::Name, "Whose text: the assistant's unless given."),
        key("turns", Kind::Name, "`every` (the default: a value per turn), `any`, `first` or `last`."),
        planned("one_of"),
        planned("json_schema"),
        planned("words"),
        planned("within"),
        planned("no_reply"),
        planned("no_repetition"),
        planned("tool_calls"),
        planned("state"),
        planned("similarity"),
        planned("expr"),
    ],
};

/// A scorer.
pub static SCORER: Construct = Construct {
    name: "a scorer",
    keys: &[
        key("check", Kind::Verb, "A deterministic check, free of charge."),
        key("judge", Kind::Verb, "A model's verdict under a rubric."),
        key("name", Kind::Name, "What gates and reports call it. Required."),
        key("pass", Kind::Number, "The least value that passes; `true`, 4 on 1..5, 0.5 on 0..1 unless given."),
        key(
            "over",
            Kind::Name,
            "How the values of turns become the conversation's: `all`, `any`, `min`, `max`, `mean`, `median`, `rate`.",
        ),
        planned("use"),
        planned("graph"),
        planned("with"),
        planned("at"),
        planned("runs"),
        planned("confirm"),
        planned("when"),
        planned("tags"),
    ],
};

/// A scorer with a name and parameters.
pub static DEFINED_SCORER: Construct = Construct {
    name: "a definition of a scorer",
    keys: &[
        key("params", Kind::Map, "What it takes: names and their types."),
        key("description", Kind::Name, "What it is for."),
        key("check", Kind::Verb, "A deterministic check, free of charge."),
        key("judge", Kind::Verb, "A model's verdict under a rubric."),
        key("pass", Kind::Number, "The least value that passes."),
        key("over", Kind::Name, "How the values of turns become the conversation's."),
    ],
};

/// A judge.
pub static JUDGE: Construct = Construct {
    name: "a judge",
    keys: &[
        key("rubric", Kind::Template, "What is judged, in one dimension. Required."),
        key("scale", Kind::Name, "`boolean`, `1..5`, `0..1`, or `{labels: {good: 1, bad: 0}}`; `1..5` unless given."),
        key("anchors", Kind::Map, "What each value of the scale means."),
        key("per", Kind::Name, "`turn` or `conversation`; `conversation` unless given."),
        key("window", Kind::Number, "How many turns before the judged one are shown with it; all unless given."),
        key("model", Kind::Name, "The role that judges; `judge` unless given."),
        key(
            "evidence",
            Kind::Name,
            "What a failing verdict quotes: `commission` (the assistant), `pair` (the user and the assistant), `omission` (the user), `none`.",
        ),
        planned("panel"),
        planned("examples"),
        planned("sees"),
    ],
};

/// Labels as a scale.
pub static LABELS: Construct =
    Construct { name: "a scale", keys: &[key("labels", Kind::Map, "Words, each worth a number.")] };

/// A gate with its own needs.
pub static GATE: Construct = Construct {
    name: "a gate",
    keys: &[
        key("gate", Kind::Name, "The condition. Required."),
        key("min_n", Kind::Number, "Fewer applicable samples leave it undecided; 5 unless given."),
        key("max_missing", Kind::Number, "A larger share of missing samples leaves it undecided; 0.05 unless given."),
        planned("decide"),
    ],
};
