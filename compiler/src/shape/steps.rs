//! Steps.

use super::{Construct, Kind, key, planned};

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
