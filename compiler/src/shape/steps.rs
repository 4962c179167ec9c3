//! Steps.

use super::{Construct, Kind, key};

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
        key("history", Kind::Verb, "Appends recorded messages: an expression that gives a list of them."),
        key("for_each", Kind::Verb, "Repeats steps for each item of a list."),
        key("judge", Kind::Verb, "A checkpoint: a judge's verdict of the conversation so far, a scorer by its label."),
        key("capture", Kind::Verb, "Binds names to what patterns find in the last message."),
        key("use", Kind::Verb, "Does the steps of a definition."),
        key("with", Kind::Map, "What the definition takes."),
        key("timeout", Kind::Name, "The longest time that an answer may take: `20s`."),
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
        key("max_tool_rounds", Kind::Number, "How often it may call tools before it must answer; 8 unless given."),
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
        key(
            "withholds",
            Kind::Template,
            "What the user knows and does not tell unless the assistant asks for exactly that.",
        ),
        key("language", Kind::Template, "The language that the user writes; the task's `language` unless given."),
        key("stop", Kind::Template, "When the user is done, beside having what it wants."),
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

/// `for_each`.
pub static FOR_EACH: Construct = Construct {
    name: "`for_each`",
    keys: &[
        key("in", Kind::Expression, "The list. Required."),
        key("as", Kind::Name, "The name of the item. Required."),
        key("solvers", Kind::List, "The steps. Required."),
    ],
};

/// One of several texts, one of which is said.
pub static SAID: Construct = Construct {
    name: "what is said",
    keys: &[key("any_of", Kind::List, "Several texts, one of which is drawn by position from the seed. Required.")],
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
