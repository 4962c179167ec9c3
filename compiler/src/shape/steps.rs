//! Steps.

use aigo_ir::node::MOST_PASSES;

use super::forms::{CHOICES, names_to};
use super::{Construct, EXPECTATION, Form, JUDGE, Names, SECONDS, Shared, key, verb};

/// A step: a map, or the name of a verb that needs nothing.
pub static SOLVER: Shared =
    Shared { name: "a solver", form: Form::Either(&[Form::Map(&STEP), Form::Word(&["generate", "stop"])]) };

/// Steps, at least one.
pub static BODY: Shared = Shared { name: "the steps of a loop", form: Form::List(1, &Form::Shared(&SOLVER)) };
/// Steps.
pub static STEPS: Shared = Shared { name: "solvers", form: Form::List(0, &Form::Shared(&SOLVER)) };
/// What is said: a text, or one of several.
const SAYING: Form = Form::Either(&[Form::Template, Form::Map(&SAID)]);
/// One check, or several.
const EXPECTED: Form = Form::Either(&[Form::List(0, &Form::Part(&EXPECTATION)), Form::Part(&EXPECTATION)]);
/// What follows.
const ON_FAIL: Form = Form::Word(&["continue", "stop"]);

const ASKING: &[&str] = &["generate", "simulate_user", "script", "judge"];

/// A step.
pub static STEP: Construct = Construct {
    name: "a step",
    keys: &[
        verb("system", SAYING, "Instructs the assistant."),
        verb("user", SAYING, "Says something as the user."),
        verb("assistant", SAYING, "Says something as the assistant, without asking it."),
        verb(
            "generate",
            Form::Either(&[Form::Map(&GENERATE), Form::Nothing]),
            "Asks the assistant with the whole history, and appends its reply.",
        ),
        verb("simulate_user", Form::Map(&SIMULATE_USER), "Asks the user's role for what the user says next."),
        verb(
            "script",
            Form::Either(&[Form::List(1, &Form::Template), Form::Expression]),
            "For each line: says it as the user, asks the assistant.",
        ),
        verb("loop", Form::Map(&LOOP), "Repeats steps."),
        verb("if", Form::Map(&IF), "Does one of two lists of steps."),
        verb("stop", Form::Map(&STOP), "Ends the conversation, or the innermost loop."),
        verb("set", names_to(&Form::Expression), "Binds names to values of expressions."),
        key(
            "as",
            Form::Name(Names::New),
            "A label: the step's name in positions, and of a `generate` the name of its reply.",
        ),
        key("when", Form::Expression, "The step is done only when this holds."),
        key("expect", EXPECTED, "Checks of the reply; together they are the scorer `expectations`.")
            .beside(&["generate", "script"]),
        key("on_fail", ON_FAIL, "`continue` or `stop` when an expectation fails; `continue` unless given.")
            .beside(&["generate", "script", "judge"])
            .or("continue"),
        verb("history", Form::Expression, "Appends recorded messages: an expression that gives a list of them."),
        verb("for_each", Form::Map(&FOR_EACH), "Repeats steps for each item of a list."),
        verb(
            "judge",
            Form::Map(&JUDGE),
            "A checkpoint: a judge's verdict of the conversation so far, a scorer by its label.",
        )
        .needs(&["as"]),
        verb("capture", names_to(&Form::Scalar), "Binds names to what patterns find in the last message."),
        verb("use", Form::Name(Names::DefinedSolvers), "Does the steps of a definition."),
        key("with", names_to(&Form::Any), "What the definition takes.").beside(&["use"]),
        key("timeout", Form::Like(&SECONDS), "The longest time that an answer may take: `20s`.").beside(ASKING),
    ],
};

/// `generate` with arguments.
pub static GENERATE: Construct = Construct {
    name: "`generate`",
    keys: &[
        key("role", Form::Name(Names::Role), "Who is asked; the assistant unless given.").or("assistant"),
        // Siblings written one level too deep are the commonest slip, so `generate:` takes them too.
        key("as", Form::Name(Names::New), "A label: the step's name in positions, and the name of the reply."),
        key("expect", EXPECTED, "Checks of the reply."),
        key("on_fail", ON_FAIL, "`continue` or `stop` when an expectation fails.").or("continue"),
        key(
            "max_tool_rounds",
            Form::Whole(1, 100),
            "How often it may call tools before it must answer; 8 unless given.",
        )
        .or("8"),
    ],
};

/// `simulate_user`.
pub static SIMULATE_USER: Construct = Construct {
    name: "`simulate_user`",
    keys: &[
        key("goal", Form::Template, "What the user wants. Required.").required(),
        key("persona", Form::Mentions(Names::Persona, &Form::Template), "How the user is."),
        key("knows", Form::Template, "What the user can tell when asked."),
        key("opening", Form::Template, "What the user says first; then nothing is asked for the first message."),
        key("min_turns", PASSES, "The user goes on until that many turns; 1 unless given.").or("1"),
        key(
            "withholds",
            Form::Template,
            "What the user knows and does not tell unless the assistant asks for exactly that.",
        ),
        key("language", Form::Template, "The language that the user writes; the task's `language` unless given."),
        key("stop", Form::Template, "When the user is done, beside having what it wants."),
    ],
};

const PASSES: Form = Form::Whole(1, MOST_PASSES as i64);

/// `loop`.
pub static LOOP: Construct = Construct {
    name: "`loop`",
    keys: &[
        key("max_turns", PASSES, "The most passes. Required: a loop has a bound.").required(),
        key("until", Form::Expression, "Ends the loop when it holds; asked before every pass, the first included."),
        key("solvers", Form::Shared(&BODY), "The steps. Required.").required(),
    ],
};

/// `if`.
pub static IF: Construct = Construct {
    name: "`if`",
    keys: &[
        key("when", Form::Expression, "The condition. Required.").required(),
        key("then", Form::Shared(&STEPS), "The steps when it holds. Required.").required(),
        key("else", Form::Shared(&STEPS), "The steps when it does not."),
    ],
};

/// `for_each`.
pub static FOR_EACH: Construct = Construct {
    name: "`for_each`",
    keys: &[
        key("in", Form::Expression, "The list. Required.").required(),
        key("as", Form::Name(Names::New), "The name of the item. Required.").required(),
        key("solvers", Form::Shared(&BODY), "The steps. Required.").required(),
    ],
};

/// One of several texts, one of which is said.
pub static SAID: Construct = Construct {
    name: "what is said",
    keys: &[
        key("any_of", CHOICES, "Several texts, one of which is drawn by position from the seed. Required.").required()
    ],
};

/// `stop`.
pub static STOP: Construct = Construct {
    name: "`stop`",
    keys: &[
        key("when", Form::Expression, "The condition; always unless given."),
        key("reason", Form::Text, "Why, for readers."),
        key("loop", Form::Boolean, "Ends the innermost loop instead of the conversation.").or("false"),
    ],
};
