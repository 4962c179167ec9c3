//! Roles and who plays them; calls before and after a sample.

use aigo_ir::program::HttpMethod;

use super::forms::{CHOICES, at_least, list, map_of, words};
use super::{
    ADDRESS, Construct, DURATION, Form, Key, Keys, MODEL, Names, Narrow, Part, Required, Shared, URL, VARIABLE, key,
    verb,
};
use crate::families::EFFORTS;

/// Who plays a role: a map, or the name of a chat model alone.
pub static PLAYER: Shared =
    Shared { name: "the player of a role", form: Form::Either(&[Form::Map(&ROLE), Form::Like(&MODEL)]) };

/// A program and its arguments.
pub(super) const COMMAND: Form = Form::List(1, &Form::Scalar);
/// Headers.
const HEADERS: Form = Form::Named(Keys::Any, &Form::Either(&[Form::Template, Form::Map(&HEADER)]));
/// Environment variables of a program.
pub(super) const ENVIRONMENT: Form = Form::Named(Keys::Variables, &Form::Map(&SECRET));
/// A tree of JSON.
const BODY: Form = Form::Either(&[map_of(&Form::Any), Form::Any]);

const OF_MODELS: &[&str] = &["model"];
const OF_APPLICATIONS: &[&str] = &["http", "command"];
const OF_COMMANDS: &[&str] = &["command"];

/// A role.
pub static ROLE: Construct = Construct {
    name: "a role",
    keys: &[
        verb(
            "model",
            Form::Like(&MODEL),
            "A chat model: `openai/NAME`, `anthropic/NAME`, or `openai_compatible/NAME` with a `base_url`.",
        ),
        verb("http", Form::Map(&HTTP), "An application behind HTTP."),
        verb("command", COMMAND, "An application that is a program: it and its arguments, a list; no shell."),
        verb(
            "scripted",
            Form::List(1, &Form::Either(&[Form::Map(&RULE), Form::TextTemplate])),
            "Rules that answer without a network.",
        ),
        Key {
            required: Required::Where("model", "openai_compatible/"),
            ..key(
                "base_url",
                Form::Like(&ADDRESS),
                "With `model`: the address before `/chat/completions`, `/responses` or `/v1/messages`.",
            )
        }
        .beside(OF_MODELS),
        key(
            "api",
            Form::Word(&["chat", "responses"]),
            "With `model`: `chat` or `responses`, which OpenAI has both; `chat` unless given.",
        )
        .beside(OF_MODELS)
        .or("chat"),
        key(
            "endpoint",
            Form::Text,
            "With `model`: the endpoint's name in the identity of answers; the provider's unless given.",
        )
        .beside(OF_MODELS),
        key("api_key", Form::Map(&SECRET), "With `model`: `{env: NAME}`, the environment variable that holds the key.")
            .beside(OF_MODELS),
        key("temperature", Form::Number(0.0, 2.0), "How freely it draws; 0 for a judge that takes it unless given.")
            .beside(OF_MODELS),
        key("top_p", Form::Number(0.0, 1.0), "The share of likely tokens it draws from.").beside(OF_MODELS),
        key("max_tokens", at_least(1), "The longest answer, thinking included.").beside(OF_MODELS),
        key("seed", at_least(0), "The provider's seed.").beside(OF_MODELS),
        key("stop", list(&Form::Text), "Texts at which the answer ends.").beside(OF_MODELS),
        key(
            "reasoning_effort",
            Form::Word(&EFFORTS),
            "How long it thinks: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.",
        )
        .beside(OF_MODELS),
        key(
            "structured",
            Form::Word(&["schema", "bounded_schema", "tool", "prompt"]),
            "How it is asked for objects: `schema`, `bounded_schema`, `tool` or `prompt`; by its family unless given.",
        )
        .beside(OF_MODELS),
        key("stream", Form::Boolean, "With `model`: whether its answers are streamed; by the provider unless given.")
            .beside(OF_MODELS),
        key("extra", map_of(&Form::Any), "Other parameters of the provider, sent as they are.").beside(OF_MODELS),
        key("price", Form::Map(&PRICE), "USD per million tokens: `{input, output, cached_input}`.").beside(OF_MODELS),
        key("headers", HEADERS, "With `model`: more headers, each a text or `{env: NAME}`.").beside(OF_MODELS),
        key(
            "timeout",
            Form::Like(&DURATION),
            "The longest a call may take: `500ms`, `90s`, `5m`; ten minutes unless given.",
        )
        .beside(&["model", "http", "command"])
        .or("10m"),
        key("version", Form::Scalar, "With `http` and `command`: the application's version.").beside(OF_APPLICATIONS),
        key(
            "resumable",
            Form::Boolean,
            "With `http` and `command`: whether a conversation that was cut off goes on in the middle all the same.",
        )
        .beside(OF_APPLICATIONS)
        .or("false"),
        key("env", ENVIRONMENT, "With `command`: the variables that it is given, each `{env: NAME}`.")
            .beside(OF_COMMANDS),
    ],
};

/// An application behind HTTP.
pub static HTTP: Construct = Construct {
    name: "an application",
    keys: &[
        key("url", Form::Rendered(&URL), "Where it is asked. Required.").required(),
        key("method", words!(HttpMethod), "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`; `POST` unless given.").or("POST"),
        key("headers", HEADERS, "Headers: each a template, or `{env: NAME, prefix: TEXT}`."),
        key("body", BODY, "What is sent as JSON: a tree whose texts are templates."),
        key(
            "allow_hosts",
            list(&Form::Text),
            "The hosts that it may go to, where `url` does not say: `host` or `host:port`.",
        ),
        key(
            "reply",
            Form::Either(&[Form::Map(&REPLY), Form::Text]),
            "Where its JSON reply has what; without it the whole reply is the text.",
        ),
        key("stream", Form::Boolean, "Whether the reply comes as server-sent events.").or("false"),
        key(
            "session",
            Form::Either(&[Form::Map(&SESSION), SESSIONS]),
            "`stateless`, `sticky`, or a map; `stateless` unless given.",
        )
        .or("stateless"),
        key("version", Form::Scalar, "As `version` beside `http`."),
        key("timeout", Form::Like(&DURATION), "As `timeout` beside `http`."),
    ],
};

/// Who remembers.
const SESSIONS: Form = Form::Word(&["stateless", "sticky"]);

/// Where an application's reply has what.
pub static REPLY: Construct = Construct {
    name: "a reply",
    keys: &[
        key("text", Form::Text, "The path of the text, such as `choices[0].text`. Required.").required(),
        key("calls", Form::Text, "The path of the tool calls that it made: a list of `{name, args}`."),
        key("context", Form::Text, "The path of the chunks that it has read: a list of texts."),
        key("done", Form::Text, "The path of a boolean: whether it has ended the conversation."),
    ],
};

/// Who remembers the conversation.
pub static SESSION: Construct = Construct {
    name: "a session",
    keys: &[
        key("kind", SESSIONS, "`stateless` or `sticky`. Required.").required(),
        key(
            "created_by",
            Form::Word(&["client", "server"]),
            "Of a sticky one, who makes its id: `client` or `server`; `client` unless given.",
        )
        .or("client"),
        key("id", Form::Text, "Of one that the server makes: the path of the id in its first reply."),
    ],
};

/// A secret.
pub static SECRET: Construct = Construct {
    name: "a secret",
    keys: &[key("env", Form::Like(&VARIABLE), "The environment variable that holds it. Required.").required()],
};

/// A header that holds a secret.
pub static HEADER: Construct = Construct {
    name: "a secret in a header",
    keys: &[
        key("env", Form::Like(&VARIABLE), "The environment variable that holds it. Required.").required(),
        key("prefix", Form::Text, "What stands before it, such as `Bearer` and a blank."),
    ],
};

/// A price.
pub static PRICE: Construct = Construct {
    name: "a price",
    keys: &[
        key("input", USD, "USD per million tokens of prompts. Required.").required(),
        key("output", USD, "USD per million tokens of answers. Required.").required(),
        key(
            "cached_input",
            USD,
            "USD per million tokens of prompts from the provider's cache; as `input` unless given.",
        ),
    ],
};

const USD: Form = Form::Number(0.0, f64::MAX);

const SAYING: &[&str] = &["say", "any_of"];

/// A rule of a scripted role.
pub static RULE: Construct = Construct {
    name: "a rule of a scripted role",
    keys: &[
        key("when", Form::Expression, "When it answers; always unless given."),
        verb("say", Form::Template, "The answer."),
        verb("any_of", CHOICES, "Several answers, one of which is drawn by position from the seed."),
        verb(
            "verdict",
            Form::Map(&VERDICT),
            "A judge's verdict: `{score, reason, evidence: [{turn, quote}]}`; texts are templates.",
        ),
        verb(
            "fault",
            Form::Either(&[Form::Word(&["timeout", "empty", "filtered"]), Form::Whole(400, 599)]),
            "A fault: an HTTP status, `timeout`, `empty` or `filtered`.",
        ),
        key(
            "status",
            Form::Word(&["going", "done", "gave_up"]),
            "With `say` and `any_of`, of a simulated user: `going`, `done` or `gave_up`.",
        )
        .beside(SAYING),
        key("calls", list(&Form::Map(&SCRIPTED_CALL)), "With `say` and `any_of`, or alone: tool calls that it makes.")
            .beside(SAYING)
            .part(Part::Alone),
        key("context", list(&Form::Template), "With `say` and `any_of`, or alone: chunks that it has read, templates.")
            .beside(SAYING)
            .part(Part::Alone),
    ],
};

/// What a judge that is scripted says.
pub static VERDICT: Construct = Construct {
    name: "a verdict",
    keys: &[
        key(
            "score",
            Form::Any,
            "The value, on the scorer's scale; a judge that breaks its contract is played with `say`. Required.",
        )
        .required(),
        key("reason", Form::Template, "Why, in a sentence."),
        key("evidence", list(&Form::Map(&EVIDENCE)), "What the verdict rests on."),
    ],
};

/// A piece of evidence of a verdict.
pub static EVIDENCE: Construct = Construct {
    name: "a piece of evidence",
    keys: &[
        key("turn", Form::Template, "The label of the message: `3u`, `3a`."),
        key("quote", Form::Template, "Words of it, letter by letter."),
    ],
};

/// A tool call of a rule.
pub static SCRIPTED_CALL: Construct = Construct {
    name: "a scripted tool call",
    keys: &[
        key("name", Form::Mentions(Names::Tool, &Form::Text), "The tool. Required.").required(),
        key("args", map_of(&Form::Any), "Its arguments; texts are templates, and stay texts."),
    ],
};

/// One of several answers.
pub static CHOICE: Construct = Construct {
    name: "a choice",
    keys: &[
        key("say", Form::Template, "The answer. Required.").required(),
        key("weight", Form::Whole(1, 1_000_000), "How often it is drawn beside the others; 1 unless given.").or("1"),
    ],
};

/// A call before or after a sample.
pub static CALL: Construct = Construct {
    name: "a call of `setup` or `teardown`",
    keys: &[
        verb("http", Form::Map(&REQUEST), "Sends a request."),
        verb("command", COMMAND, "Runs a program: it and its arguments, a list; no shell."),
        key("as", Form::Name(Names::New), "In `setup`: the name of its JSON reply, read as `setup.NAME`."),
        key(
            "timeout",
            Form::Like(&DURATION),
            "The longest it may take: `500ms`, `90s`, `5m`; one minute unless given.",
        )
        .or("1m"),
        key("env", ENVIRONMENT, "With `command`: the variables that it is given, each `{env: NAME}`.")
            .beside(OF_COMMANDS),
    ],
};

/// A call of `teardown`: nothing comes after it that could read its reply.
pub static LAST_CALL: Narrow = Narrow { name: "a call of `teardown`", of: &CALL, without: &["as"] };

/// A request of `setup` or `teardown`.
pub static REQUEST: Construct = Construct {
    name: "a request",
    keys: &[
        key("url", Form::Rendered(&URL), "Where it goes. Required.").required(),
        key("method", words!(HttpMethod), "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`; `POST` unless given.").or("POST"),
        key("headers", HEADERS, "Headers: each a template, or `{env: NAME, prefix: TEXT}`."),
        key("body", BODY, "What is sent as JSON: a tree whose texts are templates."),
        key(
            "allow_hosts",
            list(&Form::Text),
            "The hosts that it may go to, where `url` does not say: `host` or `host:port`.",
        ),
    ],
};
