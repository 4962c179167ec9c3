//! Roles and who plays them.

use super::{Construct, Kind, key, planned};

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
