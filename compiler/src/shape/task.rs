//! The top of a task.

use super::forms::{PARAMS, at_least, list, map_of, names_to};
use super::models::{COMMAND, ENVIRONMENT};
use super::{
    CALL, Construct, DATASET, DEFINED_SCORER, DURATION, FIELD_TYPE, Form, GATE, Keys, LAST_CALL, MONEY, Names, PLAYER,
    REQUEST, Required, SCORER, SECONDS, STEPS, TYPE, key,
};

const IMPORTS: Form = Form::Either(&[list(&Form::Text), Form::Text]);
const TAGS: Form = list(&Form::Mentions(Names::Tag, &Form::Text));

/// The top of a task.
pub static TASK: Construct = Construct {
    name: "a task",
    keys: &[
        key("aigo", Form::Whole(1, 1), "The version of the language: 1. Required.").required(),
        key("name", Form::Text, "What the task is called. Required.").required(),
        key("description", Form::Text, "What it is for."),
        key("models", Form::Named(Keys::Roles, &Form::Shared(&PLAYER)), "Who plays which role. Required.").required(),
        key(
            "fields",
            map_of(&Form::Shared(&FIELD_TYPE)),
            "The types of the samples' fields, where they are not to be inferred.",
        ),
        super::Key {
            required: Required::Unless("scenarios"),
            ..key(
                "dataset",
                Form::Either(&[Form::Map(&DATASET), list(&Form::Map(&DATASET))]),
                "Where the samples come from: one source, or a list of them.",
            )
        },
        key("solvers", Form::Shared(&STEPS), "How every sample of the dataset proceeds."),
        key("scorers", list(&Form::Map(&SCORER)), "How conversations are scored."),
        key("gates", list(&Form::Either(&[Form::Map(&GATE), CONDITION_TEXT])), "When a build fails."),
        key("suites", names_to(&Form::Map(&SUITE)), "Named selections of samples: `{NAME: {select, subset}}`."),
        key("epochs", Form::Whole(1, 1000), "How often each sample is run; 1 unless given.").or("1"),
        key("seed", at_least(0), "From which choices are drawn; 0 unless given.").or("0"),
        key("limits", Form::Map(&LIMITS), "What a run may use."),
        key("setup", list(&Form::Map(&CALL)), "Calls before each sample."),
        key("teardown", list(&Form::Part(&LAST_CALL)), "Calls after each sample, however it ended."),
        key("import", IMPORTS, "Files whose definitions this one may use."),
        key("define", Form::Map(&DEFINE), "Solvers, scorers and personas with names and parameters."),
        key("scenarios", list(&Form::Map(&SCENARIO)), "Samples that bring their own steps."),
        key("world", Form::Map(&WORLD), "The state that tools change: `{state: …}`."),
        key("tools", list(&Form::Map(&TOOL)), "What the assistant may call."),
        key("language", Form::Scalar, "The language that simulated users write; that of their goal unless given."),
        key("tags", TAGS, "Tags of every sample of the task."),
    ],
};

/// A gate that is its condition alone.
const CONDITION_TEXT: Form = Form::Mentions(Names::Scorer, &Form::Text);

/// The run's limits.
pub static LIMITS: Construct = Construct {
    name: "the limits",
    keys: &[
        key("calls", at_least(1), "The most calls of a run; at it the run stops and can be resumed."),
        key("time", Form::Like(&SECONDS), "The longest time of a run: `90s`, `60m`, `2h`."),
        key(
            "cost",
            Form::Like(&MONEY),
            "The most that a run may cost: `25 USD`. Every model that is asked needs its `price`.",
        ),
        key(
            "sample",
            Form::Map(&SAMPLE_LIMITS),
            "What each sample may use; at it the sample ends with `sample_limit`.",
        ),
    ],
};

/// The limits of a sample.
pub static SAMPLE_LIMITS: Construct = Construct {
    name: "the limits of a sample",
    keys: &[
        key("calls", at_least(1), "The most calls."),
        key("tokens", at_least(1), "The most tokens, of prompts and answers together."),
        key("turns", at_least(1), "The most turns."),
        key("time", Form::Like(&SECONDS), "The longest time: `90s`, `60m`, `2h`."),
        key("cost", Form::Like(&MONEY), "The most that it may cost: `0.5 USD`."),
    ],
};

/// A file of definitions.
pub static LIBRARY: Construct = Construct {
    name: "a file of definitions",
    keys: &[
        key("aigo", Form::Whole(1, 1), "The version of the language: 1. Required.").required(),
        key("description", Form::Text, "What it is for."),
        key("import", IMPORTS, "Files whose definitions this one may use."),
        key("define", Form::Map(&DEFINE), "Solvers, scorers and personas with names and parameters. Required.")
            .required(),
    ],
};

/// `define`.
pub static DEFINE: Construct = Construct {
    name: "`define`",
    keys: &[
        key(
            "solvers",
            names_to(&Form::Either(&[Form::Map(&DEFINED_SOLVERS), Form::Shared(&STEPS)])),
            "Lists of steps, by name.",
        ),
        key("scorers", names_to(&Form::Map(&DEFINED_SCORER)), "Scorers, by name."),
        key(
            "personas",
            names_to(&Form::Either(&[Form::Map(&PERSONA), Form::TextTemplate])),
            "How simulated users are, by name.",
        ),
    ],
};

/// A defined list of steps.
pub static DEFINED_SOLVERS: Construct = Construct {
    name: "a definition of solvers",
    keys: &[
        key("params", PARAMS, "What it takes: names and their types."),
        key("solvers", Form::Shared(&STEPS), "The steps. Required.").required(),
        key("description", Form::Text, "What it is for."),
    ],
};

/// A parameter of a definition or a tool.
pub static PARAM: Construct = Construct {
    name: "a parameter",
    keys: &[
        key(
            "type",
            Form::Like(&TYPE),
            "Its type: `string`, `integer`, `number`, `boolean`, `list<string>`, `persona`. Required.",
        )
        .required(),
        key("default", Form::Any, "Its value where none is given; without one it must be given."),
        key("description", Form::Text, "What it means."),
    ],
};

/// A persona.
pub static PERSONA: Construct = Construct {
    name: "a persona",
    keys: &[
        key("text", Form::Template, "How the user is. Required.").required(),
        key("must", list(&Form::Text), "What the user must have done by the end, for the persona to have been played."),
        key(
            "probes",
            Form::Either(&[list(&Form::Name(Names::Scorer)), Form::Name(Names::Scorer)]),
            "The scorers that it is meant to try.",
        ),
        key("description", Form::Text, "What it is for."),
        key("version", Form::Whole(1, 10_000), "Its version; 1 unless given.").or("1"),
    ],
};

/// A scenario.
pub static SCENARIO: Construct = Construct {
    name: "a scenario",
    keys: &[
        key(
            "id",
            Form::Either(&[Form::Text, Form::Whole(i64::MIN, i64::MAX)]),
            "Its key, unique among all samples. Required.",
        )
        .required(),
        key("with", map_of(&Form::Any), "Its fields."),
        key("tags", TAGS, "Its tags."),
        key("cluster", Form::Text, "What it is counted with in statistics; itself unless given."),
        key("solvers", Form::Shared(&STEPS), "Its steps; the task's unless given."),
    ],
};

/// `world`.
pub static WORLD: Construct = Construct {
    name: "the world",
    keys: &[key("state", map_of(&Form::Any), "What every sample begins with in each epoch. Required.").required()],
};

/// A tool.
pub static TOOL: Construct = Construct {
    name: "a tool",
    keys: &[
        key("name", Form::Name(Names::New), "As the assistant calls it. Required.").required(),
        key("description", Form::Text, "What the assistant is told of it."),
        key("params", PARAMS, "What it takes: names and their types."),
        key("require", Form::Expression, "What must hold; otherwise the call is answered with an error."),
        key(
            "set",
            map_of(&Form::Expression),
            "What becomes of the state: paths to expressions, computed before any is set.",
        ),
        key("returns", Form::Any, "The result: an expression, or a map of expressions."),
        key("fail", Form::Map(&TOOL_FAULT), "A fault on order: `{on_call, error}`."),
        key("ends", Form::Word(&["handed_off"]), "The call ends the conversation: `handed_off`."),
        key("http", Form::Map(&REQUEST), "A request answers its calls, in the place of rules."),
        key("command", COMMAND, "A program answers its calls: it and its arguments, a list; no shell."),
        key("reply", Form::Text, "With `http`: the path of the result in the JSON reply; all of it unless given.")
            .needs(&["http"]),
        key("env", ENVIRONMENT, "With `command`: the variables that it is given, each `{env: NAME}`.")
            .needs(&["command"]),
        key(
            "timeout",
            Form::Like(&DURATION),
            "With `http` and `command`: the longest a call may take; ten minutes unless given.",
        ),
        key("version", Form::Scalar, "With `http` and `command`: the version of what answers."),
        key(
            "idempotent",
            Form::Boolean,
            "With `http` and `command`: whether a second call does no harm, so that one that was cut off is made again.",
        )
        .or("false"),
    ],
};

/// A fault of a tool.
pub static TOOL_FAULT: Construct = Construct {
    name: "a fault of a tool",
    keys: &[
        key("on_call", Form::Whole(1, 10_000), "Which call of the tool fails, from 1. Required.").required(),
        key("error", Form::Text, "What the assistant is told. Required.").required(),
    ],
};

/// A suite.
pub static SUITE: Construct = Construct {
    name: "a suite",
    keys: &[
        key(
            "select",
            Form::Mentions(Names::Tag, &Form::Scalar),
            "Which samples: tags with `and`, `or`, `not`; all unless given.",
        ),
        key("subset", Form::Map(&SUBSET), "How many of them: `{n, stratify}`."),
    ],
};

/// A part of the samples.
pub static SUBSET: Construct = Construct {
    name: "a subset",
    keys: &[
        key("n", Form::Whole(1, 1_000_000), "How many samples. Required.").required(),
        key(
            "stratify",
            Form::Either(&[list(&Form::Name(Names::Field)), Form::Name(Names::Field)]),
            "Fields whose values are to be met as evenly as possible.",
        ),
    ],
};
