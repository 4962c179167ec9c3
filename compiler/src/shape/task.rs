//! The top of a task.

use super::{Construct, Kind, key};

/// The top of a task.
pub static TASK: Construct = Construct {
    name: "a task",
    keys: &[
        key("aigo", Kind::Number, "The version of the language: 1. Required."),
        key("name", Kind::Name, "What the task is called. Required."),
        key("description", Kind::Name, "What it is for."),
        key("models", Kind::Map, "Who plays which role. Required."),
        key("fields", Kind::Map, "The types of the samples' fields, where they are not to be inferred."),
        key("dataset", Kind::Map, "Where the samples come from: one source, or a list of them."),
        key("solvers", Kind::List, "How every sample of the dataset proceeds."),
        key("scorers", Kind::List, "How conversations are scored."),
        key("gates", Kind::List, "When a build fails."),
        key("suites", Kind::Map, "Named selections of samples: `{NAME: {select, subset}}`."),
        key("epochs", Kind::Number, "How often each sample is run; 1 unless given."),
        key("seed", Kind::Number, "From which choices are drawn; 0 unless given."),
        key("limits", Kind::Map, "What a run may use."),
        key("setup", Kind::List, "Calls before each sample."),
        key("teardown", Kind::List, "Calls after each sample, however it ended."),
        key("import", Kind::List, "Files whose definitions this one may use."),
        key("define", Kind::Map, "Solvers, scorers and personas with names and parameters."),
        key("scenarios", Kind::List, "Samples that bring their own steps."),
        key("world", Kind::Map, "The state that tools change: `{state: …}`."),
        key("tools", Kind::List, "What the assistant may call."),
        key("language", Kind::Name, "The language that simulated users write; that of their goal unless given."),
        key("tags", Kind::List, "Tags of every sample of the task."),
    ],
};

/// The run's limits.
pub static LIMITS: Construct = Construct {
    name: "the limits",
    keys: &[
        key("calls", Kind::Number, "The most calls of a run; at it the run stops and can be resumed."),
        key("time", Kind::Name, "The longest time of a run: `90s`, `60m`, `2h`."),
        key("cost", Kind::Name, "The most that a run may cost: `25 USD`. Every model that is asked needs its `price`."),
        key("sample", Kind::Map, "What each sample may use; at it the sample ends with `sample_limit`."),
    ],
};

/// The limits of a sample.
pub static SAMPLE_LIMITS: Construct = Construct {
    name: "the limits of a sample",
    keys: &[
        key("calls", Kind::Number, "The most calls."),
        key("tokens", Kind::Number, "The most tokens, of prompts and answers together."),
        key("turns", Kind::Number, "The most turns."),
        key("time", Kind::Name, "The longest time: `90s`, `60m`, `2h`."),
        key("cost", Kind::Name, "The most that it may cost: `0.5 USD`."),
    ],
};

/// A file of definitions.
pub static LIBRARY: Construct = Construct {
    name: "a file of definitions",
    keys: &[
        key("aigo", Kind::Number, "The version of the language: 1. Required."),
        key("description", Kind::Name, "What it is for."),
        key("import", Kind::List, "Files whose definitions this one may use."),
        key("define", Kind::Map, "Solvers, scorers and personas with names and parameters. Required."),
    ],
};

/// `define`.
pub static DEFINE: Construct = Construct {
    name: "`define`",
    keys: &[
        key("solvers", Kind::Map, "Lists of steps, by name."),
        key("scorers", Kind::Map, "Scorers, by name."),
        key("personas", Kind::Map, "How simulated users are, by name."),
    ],
};

/// A defined list of steps.
pub static DEFINED_SOLVERS: Construct = Construct {
    name: "a definition of solvers",
    keys: &[
        key("params", Kind::Map, "What it takes: names and their types."),
        key("solvers", Kind::List, "The steps. Required."),
        key("description", Kind::Name, "What it is for."),
    ],
};

/// A parameter of a definition or a tool.
pub static PARAM: Construct = Construct {
    name: "a parameter",
    keys: &[
        key("type", Kind::Name, "Its type: `string`, `integer`, `number`, `boolean`, `list<string>`. Required."),
        key("default", Kind::Any, "Its value where none is given; without one it must be given."),
        key("description", Kind::Name, "What it means."),
    ],
};

/// A persona.
pub static PERSONA: Construct = Construct {
    name: "a persona",
    keys: &[
        key("text", Kind::Template, "How the user is. Required."),
        key("must", Kind::List, "What the user must have done by the end, for the persona to have been played."),
        key("probes", Kind::List, "The scorers that it is meant to try."),
    ],
};

/// A scenario.
pub static SCENARIO: Construct = Construct {
    name: "a scenario",
    keys: &[
        key("id", Kind::Name, "Its key, unique among all samples. Required."),
        key("with", Kind::Map, "Its fields."),
        key("tags", Kind::List, "Its tags."),
        key("cluster", Kind::Name, "What it is counted with in statistics; itself unless given."),
        key("solvers", Kind::List, "Its steps; the task's unless given."),
    ],
};

/// `world`.
pub static WORLD: Construct = Construct {
    name: "the world",
    keys: &[key("state", Kind::Map, "What every sample begins with in each epoch. Required.")],
};

/// A tool.
pub static TOOL: Construct = Construct {
    name: "a tool",
    keys: &[
        key("name", Kind::Name, "As the assistant calls it. Required."),
        key("description", Kind::Name, "What the assistant is told of it."),
        key("params", Kind::Map, "What it takes: names and their types."),
        key("require", Kind::Expression, "What must hold; otherwise the call is answered with an error."),
        key("set", Kind::Map, "What becomes of the state: paths to expressions, computed before any is set."),
        key("returns", Kind::Any, "The result: an expression, or a map of expressions."),
        key("fail", Kind::Map, "A fault on order: `{on_call, error}`."),
        key("ends", Kind::Name, "The call ends the conversation: `handed_off`."),
    ],
};

/// A fault of a tool.
pub static TOOL_FAULT: Construct = Construct {
    name: "a fault of a tool",
    keys: &[
        key("on_call", Kind::Number, "Which call of the tool fails, from 1. Required."),
        key("error", Kind::Name, "What the assistant is told. Required."),
    ],
};

/// A suite.
pub static SUITE: Construct = Construct {
    name: "a suite",
    keys: &[
        key("select", Kind::Name, "Which samples: tags with `and`, `or`, `not`; all unless given."),
        key("subset", Kind::Map, "How many of them: `{n, stratify}`."),
    ],
};

/// A part of the samples.
pub static SUBSET: Construct = Construct {
    name: "a subset",
    keys: &[
        key("n", Kind::Number, "How many samples. Required."),
        key("stratify", Kind::List, "Fields whose values are to be met as evenly as possible."),
    ],
};
