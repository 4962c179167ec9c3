//! Checks, scorers and gates.
#![allow(clippy::cast_lossless, reason = "`From` is not const")]

use aigo_ir::check::{CallMode, Measure, Repeated};
use aigo_ir::gate::Decide;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::ItemKind;
use aigo_ir::verdict::EvidenceRule;

use super::forms::{PARAMS, at_least, list, map_of, names_to, words};
use super::{ANSWER_TIME, Construct, Form, Keys, Names, Narrow, Part, RANGE, SCALE, Shared, key, verb};

/// Texts of which one is said.
const ONE_OF: Form = Form::List(1, &Form::Template);
/// How many.
const COUNT: Form = Form::Either(&[Form::LikeOrWhole(&RANGE), Form::Map(&BETWEEN)]);
/// How alike to what was said before.
const AGAIN: Form = Form::Either(&[Form::True, Form::Map(&REPETITION)]);
/// Tool calls.
const CALLS: Form = Form::List(0, &Form::Map(&EXPECTED_CALL));
/// Which turns; or how many, where it is a map.
const TURNS: Form = Form::Either(&[
    Form::Word(&["every", "any", "first", "last"]),
    Form::List(1, &Form::LikeOrWhole(&RANGE)),
    Form::Map(&BETWEEN),
]);
/// A value of a scale.
const ON_SCALE: Form = Form::Either(&[Form::Number(f64::MIN, f64::MAX), Form::Boolean, Form::Text]);
/// A scale.
const SCALES: Form = Form::Either(&[Form::Like(&SCALE), Form::Map(&LABELS)]);

/// The checks of texts, beside which `turns` chooses some.
const OF_TEXTS: &[&str] = &[
    "contains",
    "not_contains",
    "matches",
    "not_matches",
    "equals",
    "not_equals",
    "starts_with",
    "not_starts_with",
    "one_of",
    "not_one_of",
    "json_schema",
    "not_json_schema",
    "words",
    "not_words",
    "within",
    "not_within",
    "no_reply",
    "not_no_reply",
    "no_repetition",
    "not_no_repetition",
    "similarity",
    "not_similarity",
    "expr",
    "not_expr",
];

/// A check.
pub static CHECK: Construct = Construct {
    name: "a check",
    keys: &[
        verb("contains", Form::Template, "The text has these words, letter by letter."),
        verb("not_contains", Form::Template, "It has not."),
        verb("matches", Form::Template, "The regular expression matches somewhere in the text."),
        verb("not_matches", Form::Template, "It does not."),
        verb("equals", Form::Template, "The text is these words, but for white space at its ends."),
        verb("not_equals", Form::Template, "It is not."),
        verb("starts_with", Form::Template, "The text begins with these words."),
        verb("not_starts_with", Form::Template, "It does not."),
        verb("one_of", ONE_OF, "The text is one of a list, but for white space at its ends."),
        verb("not_one_of", ONE_OF, "It is none of them."),
        verb("json_schema", Form::Any, "The text is JSON that the schema allows."),
        verb("not_json_schema", Form::Any, "It is not."),
        verb("words", COUNT, "How many words the text has: `3..20`, or `{min: 3, max: 20}`."),
        verb("not_words", COUNT, "It has another number of words."),
        verb("within", Form::Like(&ANSWER_TIME), "The answer came within this time: `3s`, `500ms`."),
        verb("not_within", Form::Like(&ANSWER_TIME), "It took longer."),
        verb("no_reply", Form::True, "`true`: the role says nothing in the turn."),
        verb("not_no_reply", Form::True, "`true`: it says something."),
        verb(
            "no_repetition",
            AGAIN,
            "Nothing in it is like what the role said in an earlier turn: `true`, or of what, and how alike.",
        ),
        verb("not_no_repetition", AGAIN, "It is like an earlier one."),
        verb("not_turns", COUNT, "The conversation has another number of turns: `{min: 2, max: 8}`."),
        verb("tool_calls", CALLS, "The tool calls that are made, each a `name` with its `args`."),
        verb("not_tool_calls", CALLS, "Others are made."),
        verb("state", map_of(&Form::Any), "The values at these paths of the state, at the end."),
        verb("not_state", map_of(&Form::Any), "They are not."),
        verb("state_after", CALLS, "The state at the end is what these calls make of the first one."),
        verb("not_state_after", CALLS, "It is not."),
        verb("similarity", Form::Map(&SIMILARITY), "The text is at least so like another."),
        verb("not_similarity", Form::Map(&SIMILARITY), "It is not."),
        verb(
            "expr",
            Form::Expression,
            "The condition holds; it reads the names in scope, `text` and `turn`, the number of its turn.",
        ),
        verb("not_expr", Form::Expression, "It does not."),
        key("who", Form::Name(Names::Role), "Whose text: the assistant's unless given.").or("assistant"),
        key(
            "turns",
            TURNS,
            "`every` (the default: a value per turn), `any`, `first`, `last`, or `[3..]`; a map `{min: 2, max: 8}` is a check itself: how many turns the conversation has.",
        )
        .part(Part::VerbAsMap)
        .beside(OF_TEXTS)
        .or("every"),
        key(
            "mode",
            words!(CallMode),
            "Of `tool_calls`: `strict` (the default), `unordered`, `subset` or `superset`.",
        )
        .beside(&["tool_calls", "not_tool_calls"])
        .or("strict"),
    ],
};

/// A check of a reply: which reply is said by where it stands.
pub static EXPECTATION: Narrow = Narrow { name: "an expectation", of: &CHECK, without: &["turns", "who"] };

/// The ends of a count.
pub static BETWEEN: Construct = Construct {
    name: "a range",
    keys: &[
        key("min", Form::Whole(0, MOST), "At least; no lower end unless given."),
        key("max", Form::Whole(0, MOST), "At most; no upper end unless given."),
    ],
};

const MOST: i64 = u32::MAX as i64;

/// How alike a text must be to another.
pub static SIMILARITY: Construct = Construct {
    name: "a similarity",
    keys: &[
        key("to", Form::Template, "The other text. Required.").required(),
        key("measure", words!(Measure), "`exact`, `levenshtein`, `jaccard`, `trigrams` or `f1`. Required.").required(),
        key("least", Form::Share, "From here on the texts are alike, above 0 to 1. Required.").required(),
    ],
};

/// From where on a text is said again.
pub static REPETITION: Construct = Construct {
    name: "a repetition",
    keys: &[
        key(
            "of",
            words!(Repeated),
            "What is not said again: the whole `text`, or any of its `questions`; `text` unless given.",
        )
        .or("text"),
        key("similarity", Form::Share, "From here on a text is said again, above 0 to 1; 0.9 unless given.").or("0.9"),
        key("measure", words!(Measure), "How alike two texts are; `trigrams` unless given.").or("trigrams"),
    ],
};

/// A tool call that is expected.
pub static EXPECTED_CALL: Construct = Construct {
    name: "an expected call",
    keys: &[
        key("name", Form::Name(Names::Tool), "The tool. Required.").required(),
        key("args", map_of(&Form::Any), "Its arguments: values, of which texts are templates; any unless given."),
    ],
};

const JUDGED: &[&str] = &["judge", "graph", "use"];

/// The keys of a scorer, behind those that are given. `$needs` is what stands beside the verbs that bring no name.
macro_rules! scorer_keys {
    ($needs:expr; $($first:expr),*) => {
        &[
            $($first,)*
            verb("check", Form::Map(&CHECK), "A deterministic check, free of charge.").needs($needs),
            verb("judge", Form::Map(&JUDGE), "A model's verdict under a rubric.").needs($needs),
            verb(
                "graph",
                Form::Either(&[list(&Form::Map(&GRAPH_STEP)), Form::Map(&GRAPH)]),
                "Several calls of judges, wired together.",
            )
            .needs($needs),
            verb("use", Form::Name(Names::DefinedScorer), "A scorer that is defined elsewhere, by its name."),
            key("with", names_to(&Form::Any), "Of `use`: the parameters.").beside(&["use"]),
            key(
                "name",
                Form::Name(Names::New),
                "What gates and reports call it. Required, but for `use`, whose name it is unless given.",
            ),
            key(
                "pass",
                ON_SCALE,
                "The least value that passes, or its label; `true`, 4 on 1..5, 0.5 on 0..1 unless given.",
            ),
            key(
                "over",
                words!(Reducer),
                "How the values of turns become the conversation's: `all`, `any`, `min`, `max`, `mean`, `median`, `rate`, `first_fail`.",
            ),
            key(
                "at",
                Form::Name(Names::Label),
                "The label of the step at which it scores; the end of the conversation unless given.",
            ),
            key("runs", Form::Whole(2, MOST_RUNS as i64), "How often the judge is asked; its verdicts are joined. Once unless given.")
                .beside(JUDGED),
            key(
                "confirm",
                Form::Whole(1, MOST_RUNS as i64),
                "After a failing verdict the judge is asked again, so often in all; most decide. An odd number; 1 is never.",
            )
            .beside(JUDGED),
            key(
                "completion",
                Form::Boolean,
                "Whether it says that the conversation reached its end: where the application fails, it gives the worst value.",
            ),
            key(
                "when",
                Form::Expression,
                "Whether it applies to the sample; it reads fields, `sample` and the user's side.",
            ),
            key(
                "voids",
                Form::Expression,
                "Scorers whose verdicts are void where this one fails: `all`, or an expression that gives a list of names.",
            ),
            key("tags", Form::Either(&[list(&Form::Text), Form::Text]), "For choosing scorers."),
        ]
    };
}

/// The most draws of a judge.
pub const MOST_RUNS: u32 = 25;

/// A scorer.
pub static SCORER: Construct = Construct { name: "a scorer", keys: scorer_keys![&["name"];] };

/// A scorer with a name and parameters.
pub static DEFINED_SCORER: Construct = Construct {
    name: "a definition of a scorer",
    keys: scorer_keys![
        &[];
        key("params", PARAMS, "What it takes: names and their types."),
        key("description", Form::Text, "What it is for."),
        key("fails", Form::Text, "A conversation that fails, with the words that it fails for."),
        key("limits", Form::Text, "What it is known not to see."),
        key("version", Form::Whole(1, 10_000), "Its version, which `use: NAME@1` asks for; 1 unless given.").or("1")
    ],
};

/// A judge.
pub static JUDGE: Construct = Construct {
    name: "a judge",
    keys: &[
        key("rubric", Form::Template, "What is judged, in one dimension. Required.").required(),
        key("scale", SCALES, "`boolean`, `1..5`, `0..1`, or `{labels: {good: 1, bad: 0}}`; `1..5` unless given.")
            .or("1..5"),
        key("anchors", map_of(&Form::Text), "What each value of the scale means."),
        key("per", Form::Word(&["turn", "conversation"]), "`turn` or `conversation`; `conversation` unless given.")
            .or("conversation"),
        key(
            "window",
            Form::Whole(0, 10_000),
            "How many turns before the judged one are shown with it; all unless given.",
        ),
        key("model", Form::Name(Names::Role), "The role that judges; `judge` unless given.").or("judge"),
        key(
            "panel",
            Form::List(2, &Form::Name(Names::Role)),
            "The roles that judge in its place, two or more.",
        ),
        key("quorum", at_least(1), "How many of the panel must give a verdict; more than half unless given."),
        key(
            "over_panel",
            Form::Word(&[Reducer::Majority.word(), Reducer::Median.word(), Reducer::Mean.word()]),
            "How the panel's verdicts are joined: `majority`, `median` or `mean`; by the scale unless given.",
        ),
        key("examples", list(&Form::Map(&EXAMPLE)), "Verdicts on other conversations, shown to the judge."),
        key(
            "sees",
            list(&Form::Word(&["system", "tools", "context"])),
            "What it is shown beside the turns: `system`, the instructions. `tools` and `context` are always shown.",
        ),
        key(
            "evidence",
            words!(EvidenceRule),
            "What a failing verdict quotes: `commission` (the assistant), `pair` (the user and the assistant), `omission` (the user), `user` (the user, who is judged), `none`.",
        )
        .or("commission"),
        key("skip", Form::Text, "When there is nothing to judge in a turn or an item, which is then left out; never unless given."),
    ],
};

/// An example of a verdict.
pub static EXAMPLE: Construct = Construct {
    name: "an example",
    keys: &[
        key("conversation", list(&Form::Map(&EXAMPLE_MESSAGE)), "What was said, each a map such as `user: Hello`."),
        key("text", Form::Text, "What was said, as one text, in its place."),
        key("score", ON_SCALE, "The verdict, on the judge's scale. Required.").required(),
        key("reason", Form::Text, "Why, in a sentence."),
    ],
};

/// A message of an example.
pub static EXAMPLE_MESSAGE: Construct = Construct {
    name: "a message of an example",
    keys: &[verb("user", Form::Text, "What the user said."), verb("assistant", Form::Text, "What the assistant said.")],
};

/// Labels as a scale.
pub static LABELS: Construct = Construct {
    name: "a scale",
    keys: &[
        key("labels", map_of(&Form::Number(f64::MIN, f64::MAX)), "Words, each worth a number. Required.").required()
    ],
};

/// A graph with its scale.
pub static GRAPH: Construct = Construct {
    name: "a graph",
    keys: &[
        key(
            "steps",
            Form::Shared(&GRAPH_STEPS),
            "Its steps. Required; a graph without other keys is written as the list alone.",
        )
        .required(),
        key("scale", SCALES, "The scale of what it scores; `1..5` unless given.").or("1..5"),
        key(
            "per",
            Form::Word(&["turn", "conversation"]),
            "`turn` goes through its steps for each turn, of which nothing later is shown; `conversation` unless given.",
        )
        .or("conversation"),
        key("join", words!(Reducer), "How a list of verdicts that is scored becomes one; as `over` says unless given."),
    ],
};

/// The steps of a graph.
pub static GRAPH_STEPS: Shared = Shared { name: "the steps of a graph", form: Form::List(0, &Form::Map(&GRAPH_STEP)) };

/// A step of a graph.
pub static GRAPH_STEP: Construct = Construct {
    name: "a step of a graph",
    keys: &[
        verb("extract", Form::Map(&EXTRACT), "A list of things that a judge finds in the conversation: one call."),
        verb("each", Form::Map(&EACH), "Steps for each item of a list, side by side; their results are a list.")
            .needs(&["as"]),
        verb("judge", Form::Map(&JUDGE), "A judge's verdict."),
        verb("set", names_to(&Form::Expression), "Names for values: a map of names to expressions."),
        verb("if", Form::Map(&GRAPH_IF), "A fork."),
        verb("score", Form::Expression, "The value of the graph, within `each` of the item: an expression."),
        key("as", Form::Name(Names::New), "The name of what `extract`, `each` or `judge` gives.")
            .beside(&["extract", "each", "judge"]),
    ],
};

/// `extract`
pub static EXTRACT: Construct = Construct {
    name: "extract",
    keys: &[
        key("prompt", Form::Template, "What is to be found. Required.").required(),
        key(
            "items",
            Form::Named(Keys::Names, &words!(ItemKind)),
            "The parts of an item, each `string`, `integer`, `number`, `boolean`, `turn` (the label of a message) or `quote` (words of it). Required.",
        )
        .required(),
        key("max_items", Form::Whole(1, 1000), "The most items; 20 unless given.").or("20"),
        key("as", Form::Name(Names::New), "The name of the list, where it does not stand beside `extract`."),
        key("model", Form::Name(Names::Role), "The role that is asked; `judge` unless given.").or("judge"),
        key("who", Form::Name(Names::Role), "The one role whose messages it is shown; those of all unless given."),
        key("needed", Form::Boolean, "Whether the scorer does not apply where nothing is found; it does unless given.")
            .or("false"),
    ],
};

/// `each`
pub static EACH: Construct = Construct {
    name: "each",
    keys: &[
        key("in", Form::Expression, "The list. Required.").required(),
        key("as", Form::Name(Names::New), "The name of the item. Required.").required(),
        key("steps", Form::Shared(&GRAPH_STEPS), "What is done for it. Required.").required(),
        key("batch", Form::Boolean, "Whether the judge is asked once for all items; once for each unless given.")
            .or("false"),
        key("about", Form::Template, "With `batch`: what is said once, before the items."),
        key(
            "per",
            Form::Word(&["turn", "item"]),
            "`turn`: its items are numbers of turns, and its verdicts their values; `item` unless given.",
        )
        .or("item"),
    ],
};

/// `if` in a graph.
pub static GRAPH_IF: Construct = Construct {
    name: "a fork of a graph",
    keys: &[
        key("when", Form::Expression, "The condition. Required.").required(),
        key("then", Form::Shared(&GRAPH_STEPS), "The steps where it holds. Required.").required(),
        key("else", Form::Shared(&GRAPH_STEPS), "The steps where it does not."),
    ],
};

/// A gate with its own needs.
pub static GATE: Construct = Construct {
    name: "a gate",
    keys: &[
        key("gate", Form::Mentions(Names::Scorer, &Form::Scalar), "The condition. Required.").required(),
        key("min_n", Form::Whole(1, MOST), "Fewer applicable samples leave it undecided; 5 unless given.").or("5"),
        key(
            "max_missing",
            Form::Number(0.0, 1.0),
            "A larger share of missing samples leaves it undecided; 0.05 unless given.",
        )
        .or("0.05"),
        key(
            "decide",
            words!(Decide),
            "`point` (the default: by the value), `sure` (red only where the interval is), `safe` (a pass only where it is).",
        )
        .or("point"),
    ],
};
