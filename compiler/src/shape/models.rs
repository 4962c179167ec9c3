//! Roles and who plays them; calls before and after a sample.

use super::{Construct, Kind, key};

/// A role.
pub static ROLE: Construct = Construct {
    name: "a role",
    keys: &[
        key(
            "model",
            Kind::Verb,
            "A chat model: `openai/NAME`, `anthropic/NAME`, or `openai_compatible/NAME` with a `base_url`.",
        ),
        key("http", Kind::Verb, "An application behind HTTP."),
        key("command", Kind::Verb, "An application that is a program: it and its arguments, a list; no shell."),
        key("scripted", Kind::Verb, "Rules that answer without a network."),
        key(
            "base_url",
            Kind::Name,
            "With `model`: the address before `/chat/completions`, `/responses` or `/v1/messages`.",
        ),
        key("api", Kind::Name, "With `model`: `chat` or `responses`, which OpenAI has both; `chat` unless given."),
        key(
            "endpoint",
            Kind::Name,
            "With `model`: the endpoint's name in the identity of answers; the provider's unless given.",
        ),
        key("api_key", Kind::Map, "With `model`: `{env: NAME}`, the environment variable that holds the key."),
        key("temperature", Kind::Number, "How freely it draws; 0 for a judge that takes it unless given."),
        key("top_p", Kind::Number, "The share of likely tokens it draws from."),
        key("max_tokens", Kind::Number, "The longest answer, thinking included."),
        key("seed", Kind::Number, "The provider's seed."),
        key("stop", Kind::List, "Texts at which the answer ends."),
        key(
            "reasoning_effort",
            Kind::Name,
            "How long it thinks: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.",
        ),
        key(
            "structured",
            Kind::Name,
            "How it is asked for objects: `schema`, `bounded_schema`, `tool` or `prompt`; by its family unless given.",
        ),
        key("stream", Kind::Boolean, "With `model`: whether its answers are streamed; by the provider unless given."),
        key("extra", Kind::Map, "Other parameters of the provider, sent as they are."),
        key("price", Kind::Map, "USD per million tokens: `{input, output, cached_input}`."),
        key("headers", Kind::Map, "With `model`: more headers, each a text or `{env: NAME}`."),
        key("timeout", Kind::Name, "The longest a call may take: `500ms`, `90s`, `5m`; ten minutes unless given."),
        key("version", Kind::Name, "With `http` and `command`: the application's version."),
        key("env", Kind::Map, "With `command`: the variables that it is given, each `{env: NAME}`."),
    ],
};

/// An application behind HTTP.
pub static HTTP: Construct = Construct {
    name: "an application",
    keys: &[
        key("url", Kind::Template, "Where it is asked. Required."),
        key("method", Kind::Name, "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`; `POST` unless given."),
        key("headers", Kind::Map, "Headers: each a template, or `{env: NAME, prefix: TEXT}`."),
        key("body", Kind::Map, "What is sent as JSON: a tree whose texts are templates."),
        key("reply", Kind::Map, "Where its JSON reply has what; without it the whole reply is the text."),
        key("stream", Kind::Boolean, "Whether the reply comes as server-sent events."),
        key("session", Kind::Map, "`stateless`, `sticky`, or a map; `stateless` unless given."),
        key("version", Kind::Name, "As `version` beside `http`."),
        key("timeout", Kind::Name, "As `timeout` beside `http`."),
    ],
};

/// Where an application's reply has what.
pub static REPLY: Construct = Construct {
    name: "a reply",
    keys: &[
        key("text", Kind::Name, "The path of the text, such as `choices[0].text`. Required."),
        key("calls", Kind::Name, "The path of the tool calls that it made: a list of `{name, args}`."),
        key("context", Kind::Name, "The path of the chunks that it has read: a list of texts."),
        key("done", Kind::Name, "The path of a boolean: whether it has ended the conversation."),
    ],
};

/// Who remembers the conversation.
pub static SESSION: Construct = Construct {
    name: "a session",
    keys: &[
        key("kind", Kind::Name, "`stateless` or `sticky`. Required."),
        key(
            "created_by",
            Kind::Name,
            "Of a sticky one, who makes its id: `client` or `server`; `client` unless given.",
        ),
        key("id", Kind::Name, "Of one that the server makes: the path of the id in its first reply."),
    ],
};

/// A secret.
pub static SECRET: Construct =
    Construct { name: "a secret", keys: &[key("env", Kind::Name, "The environment variable that holds it.")] };

/// A header that holds a secret.
pub static HEADER: Construct = Construct {
    name: "a secret in a header",
    keys: &[
        key("env", Kind::Name, "The environment variable that holds it. Required."),
        key("prefix", Kind::Name, "What stands before it, such as `Bearer` and a blank."),
    ],
};

/// A price.
pub static PRICE: Construct = Construct {
    name: "a price",
    keys: &[
        key("input", Kind::Number, "USD per million tokens of prompts. Required."),
        key("output", Kind::Number, "USD per million tokens of answers. Required."),
        key(
            "cached_input",
            Kind::Number,
            "USD per million tokens of prompts from the provider's cache; as `input` unless given.",
        ),
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
        key("fault", Kind::Verb, "A fault: an HTTP status, `timeout`, `empty` or `filtered`."),
        key("status", Kind::Name, "With `say` and `any_of`, of a simulated user: `going`, `done` or `gave_up`."),
        key("calls", Kind::List, "With `say` and `any_of`, or alone: tool calls that it makes."),
        key("context", Kind::List, "With `say` and `any_of`, or alone: chunks that it has read, templates."),
    ],
};

/// A tool call of a rule.
pub static SCRIPTED_CALL: Construct = Construct {
    name: "a scripted tool call",
    keys: &[
        key("name", Kind::Name, "The tool. Required."),
        key("args", Kind::Map, "Its arguments; texts are templates, and stay texts."),
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

/// A call before or after a sample.
pub static CALL: Construct = Construct {
    name: "a call of `setup` or `teardown`",
    keys: &[
        key("http", Kind::Verb, "Sends a request."),
        key("command", Kind::Verb, "Runs a program: it and its arguments, a list; no shell."),
        key("as", Kind::Name, "In `setup`: the name of its JSON reply, read as `setup.NAME`."),
        key("timeout", Kind::Name, "The longest it may take: `500ms`, `90s`, `5m`; one minute unless given."),
        key("env", Kind::Map, "With `command`: the variables that it is given, each `{env: NAME}`."),
    ],
};

/// A request of `setup` or `teardown`.
pub static REQUEST: Construct = Construct {
    name: "a request",
    keys: &[
        key("url", Kind::Template, "Where it goes. Required."),
        key("method", Kind::Name, "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`; `POST` unless given."),
        key("headers", Kind::Map, "Headers: each a template, or `{env: NAME, prefix: TEXT}`."),
        key("body", Kind::Map, "What is sent as JSON: a tree whose texts are templates."),
    ],
};
