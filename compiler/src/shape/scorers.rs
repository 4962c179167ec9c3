//! Checks, scorers and gates.

use super::{Construct, Kind, key};

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
        key("one_of", Kind::Verb, "The text is one of a list, but for white space at its ends."),
        key("not_one_of", Kind::Verb, "It is none of them."),
        key("json_schema", Kind::Verb, "The text is JSON that the schema allows."),
        key("not_json_schema", Kind::Verb, "It is not."),
        key("words", Kind::Verb, "How many words the text has: `3..20`, or `{min: 3, max: 20}`."),
        key("not_words", Kind::Verb, "It has another number of words."),
        key("within", Kind::Verb, "The answer came within this time: `3s`, `500ms`."),
        key("not_within", Kind::Verb, "It took longer."),
        key("no_reply", Kind::Verb, "`true`: the role says nothing in the turn."),
        key("not_no_reply", Kind::Verb, "`true`: it says something."),
        key(
            "no_repetition",
            Kind::Verb,
            "The text is like none that the role said in an earlier turn: `true`, or how alike.",
        ),
        key("not_no_repetition", Kind::Verb, "It is like an earlier one."),
        key("not_turns", Kind::Verb, "The conversation has another number of turns: `{min: 2, max: 8}`."),
        key("tool_calls", Kind::Verb, "The tool calls that are made, each a `name` with its `args`."),
        key("not_tool_calls", Kind::Verb, "Others are made."),
        key("state", Kind::Verb, "The values at these paths of the state, at the end."),
        key("not_state", Kind::Verb, "They are not."),
        key("state_after", Kind::Verb, "The state at the end is what these calls make of the first one."),
        key("not_state_after", Kind::Verb, "It is not."),
        key("similarity", Kind::Verb, "The text is at least so like another."),
        key("not_similarity", Kind::Verb, "It is not."),
        key(
            "expr",
            Kind::Verb,
            "The condition holds; it reads the names in scope, `text` and `turn`, the number of its turn.",
        ),
        key("not_expr", Kind::Verb, "It does not."),
        key("who", Kind::Name, "Whose text: the assistant's unless given."),
        key(
            "turns",
            Kind::Name,
            "`every` (the default: a value per turn), `any`, `first`, `last`, or `[3..]`; a map `{min: 2, max: 8}` is a check itself: how many turns the conversation has.",
        ),
        key("mode", Kind::Name, "Of `tool_calls`: `strict` (the default), `unordered`, `subset` or `superset`."),
    ],
};

/// The ends of a count.
pub static BETWEEN: Construct = Construct {
    name: "a range",
    keys: &[
        key("min", Kind::Number, "At least; no lower end unless given."),
        key("max", Kind::Number, "At most; no upper end unless given."),
    ],
};

/// How alike a text must be to another.
pub static SIMILARITY: Construct = Construct {
    name: "a similarity",
    keys: &[
        key("to", Kind::Template, "The other text. Required."),
        key("measure", Kind::Name, "`exact`, `levenshtein`, `jaccard` or `trigrams`. Required."),
        key("least", Kind::Number, "From here on the texts are alike, above 0 to 1. Required."),
    ],
};

/// From where on a text is said again.
pub static REPETITION: Construct = Construct {
    name: "a repetition",
    keys: &[
        key("similarity", Kind::Number, "From here on a text is said again, above 0 to 1; 0.9 unless given."),
        key("measure", Kind::Name, "How alike two texts are; `trigrams` unless given."),
    ],
};

/// A tool call that is expected.
pub static EXPECTED_CALL: Construct = Construct {
    name: "an expected call",
    keys: &[
        key("name", Kind::Name, "The tool. Required."),
        key("args", Kind::Map, "Its arguments: values, of which texts are templates; any unless given."),
    ],
};

/// The keys of a scorer, behind those that are given.
macro_rules! scorer_keys {
    ($($first:expr),*) => {
        &[
            $($first,)*
            key("check", Kind::Verb, "A deterministic check, free of charge."),
            key("judge", Kind::Verb, "A model's verdict under a rubric."),
            key("graph", Kind::Verb, "Several calls of judges, wired together."),
            key("use", Kind::Verb, "A scorer that is defined elsewhere, by its name."),
            key("with", Kind::Map, "Of `use`: the parameters."),
            key(
                "name",
                Kind::Name,
                "What gates and reports call it. Required, but for `use`, whose name it is unless given.",
            ),
            key(
                "pass",
                Kind::Number,
                "The least value that passes, or its label; `true`, 4 on 1..5, 0.5 on 0..1 unless given.",
            ),
            key(
                "over",
                Kind::Name,
                "How the values of turns become the conversation's: `all`, `any`, `min`, `max`, `mean`, `median`, `rate`, `first_fail`.",
            ),
            key("at", Kind::Name, "The label of the step at which it scores; the end of the conversation unless given."),
            key("runs", Kind::Number, "How often the judge is asked; its verdicts are joined. Once unless given."),
            key(
                "confirm",
                Kind::Number,
                "After a failing verdict the judge is asked again, so often in all; most decide. An odd number.",
            ),
            key(
                "when",
                Kind::Expression,
                "Whether it applies to the sample; it reads fields, `sample` and the user's side.",
            ),
            key("tags", Kind::List, "For choosing scorers."),
        ]
    };
}

/// A scorer.
pub static SCORER: Construct = Construct { name: "a scorer", keys: scorer_keys![] };

/// A scorer with a name and parameters.
pub static DEFINED_SCORER: Construct = Construct {
    name: "a definition of a scorer",
    keys: scorer_keys![
        key("params", Kind::Map, "What it takes: names and their types."),
        key("description", Kind::Name, "What it is for.")
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
        key("panel", Kind::List, "The roles that judge in its place, two or more."),
        key("quorum", Kind::Number, "How many of the panel must give a verdict; more than half unless given."),
        key(
            "over_panel",
            Kind::Name,
            "How the panel's verdicts are joined: `majority`, `median` or `mean`; by the scale unless given.",
        ),
        key("examples", Kind::List, "Verdicts on other conversations, shown to the judge."),
        key(
            "sees",
            Kind::List,
            "What it is shown beside the turns: `system`, the instructions. `tools` and `context` are always shown.",
        ),
        key(
            "evidence",
            Kind::Name,
            "What a failing verdict quotes: `commission` (the assistant), `pair` (the user and the assistant), `omission` (the user), `none`.",
        ),
    ],
};

/// An example of a verdict.
pub static EXAMPLE: Construct = Construct {
    name: "an example",
    keys: &[
        key("conversation", Kind::List, "What was said, each a map such as `user: Hello`."),
        key("text", Kind::Name, "What was said, as one text, in its place."),
        key("score", Kind::Number, "The verdict, on the judge's scale. Required."),
        key("reason", Kind::Name, "Why, in a sentence."),
    ],
};

/// Labels as a scale.
pub static LABELS: Construct =
    Construct { name: "a scale", keys: &[key("labels", Kind::Map, "Words, each worth a number.")] };

/// A graph with its scale.
pub static GRAPH: Construct = Construct {
    name: "a graph",
    keys: &[
        key("steps", Kind::List, "Its steps. Required; a graph without other keys is written as the list alone."),
        key("scale", Kind::Name, "The scale of what it scores; `1..5` unless given."),
    ],
};

/// A step of a graph.
pub static GRAPH_STEP: Construct = Construct {
    name: "a step of a graph",
    keys: &[
        key("extract", Kind::Verb, "A list of things that a judge finds in the conversation: one call."),
        key("each", Kind::Verb, "Steps for each item of a list, side by side; their results are a list."),
        key("judge", Kind::Verb, "A judge's verdict."),
        key("set", Kind::Verb, "Names for values: a map of names to expressions."),
        key("if", Kind::Verb, "A fork."),
        key("score", Kind::Verb, "The value of the graph, within `each` of the item: an expression."),
        key("as", Kind::Name, "The name of what `extract`, `each` or `judge` gives."),
    ],
};

/// `extract`
pub static EXTRACT: Construct = Construct {
    name: "extract",
    keys: &[
        key("prompt", Kind::Template, "What is to be found. Required."),
        key(
            "items",
            Kind::Map,
            "The parts of an item, each `string`, `integer`, `number`, `boolean`, `turn` (the label of a message) or `quote` (words of it). Required.",
        ),
        key("max_items", Kind::Number, "The most items; 20 unless given."),
        key("as", Kind::Name, "The name of the list, where it does not stand beside `extract`."),
        key("model", Kind::Name, "The role that is asked; `judge` unless given."),
    ],
};

/// `each`
pub static EACH: Construct = Construct {
    name: "each",
    keys: &[
        key("in", Kind::Expression, "The list. Required."),
        key("as", Kind::Name, "The name of the item. Required."),
        key("steps", Kind::List, "What is done for it. Required."),
        key("batch", Kind::Boolean, "Whether the judge is asked once for all items; once for each unless given."),
    ],
};

/// `if` in a graph.
pub static GRAPH_IF: Construct = Construct {
    name: "a fork of a graph",
    keys: &[
        key("when", Kind::Expression, "The condition. Required."),
        key("then", Kind::List, "The steps where it holds. Required."),
        key("else", Kind::List, "The steps where it does not."),
    ],
};

/// A gate with its own needs.
pub static GATE: Construct = Construct {
    name: "a gate",
    keys: &[
        key("gate", Kind::Name, "The condition. Required."),
        key("min_n", Kind::Number, "Fewer applicable samples leave it undecided; 5 unless given."),
        key("max_missing", Kind::Number, "A larger share of missing samples leaves it undecided; 0.05 unless given."),
        key(
            "decide",
            Kind::Name,
            "`point` (the default: by the value), `sure` (red only where the interval is), `safe` (a pass only where it is).",
        ),
    ],
};
