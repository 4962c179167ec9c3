//! The top of a task.

use super::{Construct, Kind, key, planned};

/// The top of a task.
pub static TASK: Construct = Construct {
    name: "a task",
    keys: &[
        key("aigo", Kind::Number, "The version of the language: 1. Required."),
        key("name", Kind::Name, "What the task is called. Required."),
        key("description", Kind::Name, "What it is for."),
        key("models", Kind::Map, "Who plays which role. Required."),
        key("dataset", Kind::Map, "Where the samples come from: one source, or a list of them. Required."),
        key("solvers", Kind::List, "How every sample of the dataset proceeds."),
        key("scorers", Kind::List, "How conversations are scored."),
        key("gates", Kind::List, "When a build fails."),
        key("epochs", Kind::Number, "How often each sample is run; 1 unless given."),
        key("seed", Kind::Number, "From which choices are drawn; 0 unless given."),
        key("limits", Kind::Map, "What a run may use."),
        key("setup", Kind::List, "Calls before each sample."),
        key("teardown", Kind::List, "Calls after each sample, however it ended."),
        planned("import"),
        planned("fields"),
        planned("scenarios"),
        planned("define"),
        planned("world"),
        planned("tools"),
        planned("suites"),
        planned("language"),
        planned("tags"),
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
