//! The language's table of keys: construct, key, what its value is, whether it must be there, what it means. The parser and
//! its suggestions read it; editors and the reference will.

/// A construct of the language and its keys.
#[derive(Debug)]
pub struct Construct {
    /// As messages name it, with its article.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of a construct.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What it means.
    pub doc: &'static str,
}

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the verbs of a step, scorer, check or rule: exactly one of them stands in the map.
    Verb,
    /// Text that is rendered.
    Template,
    /// An expression.
    Expression,
    /// A name.
    Name,
    /// A number.
    Number,
    /// A map of its own construct.
    Map,
    /// A list.
    List,
    /// True or false.
    Boolean,
    /// The language has it, and this version does not yet.
    Planned,
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, doc }
}

const fn planned(name: &'static str) -> Key {
    Key { name, kind: Kind::Planned, doc: "Not in this version." }
}

impl Construct {
    /// A key by name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names that a person may write, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().filter(|key| key.kind != Kind::Planned).map(|key| key.name)
    }

    /// The verbs.
    pub fn verbs(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().filter(|key| key.kind == Kind::Verb).map(|key| key.name)
    }
}

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
        planned("import"),
        planned("fields"),
        planned("scenarios"),
        planned("define"),
        planned("world"),
        planned("tools"),
        planned("setup"),
        planned("teardown"),
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
        planned("cost"),
        planned("sample"),
    ],
};

/// A role.
pub static ROLE: Construct = Construct {
    name: "a role",
    keys: &[
        key("model", Kind::Verb, "A chat model: `openai_compatible/NAME`."),
        key("scripted", Kind::Verb, "Rules that answer without a network."),
        key("base_url", Kind::Name, "The address before `/chat/completions`."),
        key(
            "endpoint",
            Kind::Name,
            "The endpoint's name in the identity of answers; `openai_compatible` unless given.",
        ),
        key("api_key", Kind::Map, "`{env: NAME}`: the environment variable that holds the key."),
        key("temperature", Kind::Number, "How freely it draws; 0 for a judge unless given."),
        key("top_p", Kind::Number, "The share of likely tokens it draws from."),
        key("max_tokens", Kind::Number, "The longest answer."),
        key("seed", Kind::Number, "The provider's seed."),
        key("stop", Kind::List, "Texts at which the answer ends."),
        key("price", Kind::Map, "USD per million tokens: `{input, output}`."),
        planned("http"),
        planned("command"),
        planned("version"),
        planned("reasoning_effort"),
    ],
};

/// A secret.
pub static SECRET: Construct =
    Construct { name: "a secret", keys: &[key("env", Kind::Name, "The environment variable that holds it.")] };

/// A price.
pub static PRICE: Construct = Construct {
    name: "a price",
    keys: &[
        key("input", Kind::Number, "USD per million tokens of prompts."),
        key("output", Kind::Number, "USD per million tokens of answers."),
    ],
};

/// A rule of a scripted role.
pub static RULE: Construct = Construct {
    name: "a rule of a scripted role",
    keys: &[
        key("when", Kind::Expression, "When it answers; always unless given."),
        key("say", Kind::Verb, "The answer."),
        key("any_of", Kind::Verb, "Several answers, one of which is drawn by position from the seed."),
        key(
            "verdict",
            Kind::Verb,
            "A judge's verdict: `{score, reason, evidence: [{turn, quote}]}`; texts are templates.",
        ),
        key("fault", Kind::Verb, "A fault, as an HTTP status."),
        key("status", Kind::Name, "With `say`, of a simulated user: `going`, `done` or `gave_up`."),
        planned("calls"),
        planned("context"),
    ],
};

/// One of several answers.
pub static CHOICE: Construct = Construct {
    name: "a choice",
    keys: &[
        key("say", Kind::Template, "The answer."),
        key("weight", Kind::Number, "How often it is drawn beside the others; 1 unless given."),
    ],
};

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

/// A step.
pub static STEP: Construct = Construct {
    name: "a step",
    keys: &[
        key("system", Kind::Verb, "Instructs the assistant."),
        key("user", Kind::Verb, "Says something as the user."),
        key("assistant", Kind::Verb, "Says something as the assistant, without asking it."),
        key("generate", Kind::Verb, "Asks the assistant with the whole history, and appends its reply."),
        key("simulate_user", Kind::Verb, "Asks the user's role for what the user says next."),
        key("script", Kind::Verb, "For each line: says it as the user, asks the assistant."),
        key("loop", Kind::Verb, "Repeats steps."),
        key("if", Kind::Verb, "Does one of two lists of steps."),
        key("stop", Kind::Verb, "Ends the conversation, or the innermost loop."),
        key("set", Kind::Verb, "Binds names to values of expressions."),
        key("as", Kind::Name, "A label: the step's name in positions, and of a `generate` the name of its reply."),
        key("when", Kind::Expression, "The step is done only when this holds."),
        key("expect", Kind::List, "Checks of the reply; together they are the scorer `expectations`."),
        key("on_fail", Kind::Name, "`continue` or `stop` when an expectation fails; `continue` unless given."),
        planned("history"),
        planned("for_each"),
        planned("judge"),
        planned("capture"),
        planned("use"),
        planned("timeout"),
    ],
};

/// `generate` with arguments.
pub static GENERATE: Construct = Construct {
    name: "`generate`",
    keys: &[
        key("role", Kind::Name, "Who is asked; the assistant unless given."),
        // Siblings written one level too deep are the commonest slip, so `generate:` takes them too.
        key("as", Kind::Name, "A label: the step's name in positions, and the name of the reply."),
        key("expect", Kind::List, "Checks of the reply."),
        key("on_fail", Kind::Name, "`continue` or `stop` when an expectation fails."),
        planned("max_tool_rounds"),
    ],
};

/// `simulate_user`.
pub static SIMULATE_USER: Construct = Construct {
    name: "`simulate_user`",
    keys: &[
        key("goal", Kind::Template, "What the user wants. Required."),
        key("persona", Kind::Template, "How the user is."),
        key("knows", Kind::Template, "What the user can tell when asked."),
        key("opening", Kind::Template, "What the user says first; then nothing is asked for the first message."),
        key("min_turns", Kind::Number, "The user goes on until that many turns; 1 unless given."),
        planned("withholds"),
        planned("language"),
        planned("stop"),
    ],
};

/// `loop`.
pub static LOOP: Construct = Construct {
    name: "`loop`",
    keys: &[
        key("max_turns", Kind::Number, "The most passes. Required: a loop has a bound."),
        key("until", Kind::Expression, "Ends the loop when it holds; asked before every pass, the first included."),
        key("solvers", Kind::List, "The steps. Required."),
    ],
};

/// `if`.
pub static IF: Construct = Construct {
    name: "`if`",
    keys: &[
        key("when", Kind::Expression, "The condition. Required."),
        key("then", Kind::List, "The steps when it holds. Required."),
        key("else", Kind::List, "The steps when it does not."),
    ],
};

/// `stop`.
pub static STOP: Construct = Construct {
    name: "`stop`",
    keys: &[
        key("when", Kind::Expression, "The condition; always unless given."),
        key("reason", Kind::Name, "Why, for readers."),
        key("loop", Kind::Boolean, "Ends the innermost loop instead of the conversation."),
    ],
};

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
