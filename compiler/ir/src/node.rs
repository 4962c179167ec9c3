//! What nodes are: their operands, their ports, the slots they assign.

use std::sync::Arc;

use crate::check::Test;
use crate::expr::Expr;
use crate::reduce::Reducer;
use crate::schema::Schema;
use crate::template::Template;

/// The name of an out-edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// What follows.
    Next,
    /// The condition holds.
    Yes,
    /// It does not.
    No,
    /// It went well.
    Ok,
    /// It did not; the slot says why.
    Bad,
    /// Into the region.
    Body,
    /// Out of the region, when the passes or items are used up.
    Done,
}

impl Port {
    /// All ports.
    pub const ALL: [Self; 7] = [Self::Next, Self::Yes, Self::No, Self::Ok, Self::Bad, Self::Body, Self::Done];

    /// The word in the text form.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Yes => "yes",
            Self::No => "no",
            Self::Ok => "ok",
            Self::Bad => "bad",
            Self::Body => "body",
            Self::Done => "done",
        }
    }
}

/// How an edge moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Jump {
    /// Forward, within the region, or along `body` or `done`.
    On,
    /// To the header of the node's own region: the next pass; of a map, the end of the item.
    Again,
    /// To the `done` target of the header of the node's own region.
    Break,
}

/// What is appended.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A rendered template.
    Template(Template),
    /// One of several templates, drawn by position from the program's seed, each with its weight.
    AnyOf(Vec<(Template, u32)>),
    /// The text that an expression gives.
    Text(Expr),
    /// The messages that an expression gives, each with its own author and kind; the node's author says none of them.
    History(Expr),
    /// A reply slot: its text, then its tool calls.
    Reply(Arc<str>),
}

/// What a role is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// The conversation as the role sees it: its own messages as `assistant`, other speakers as `user`, system messages for
    /// it only, others' tool traffic left out. Never empty and never ending in its own message: then the opening is added.
    Chat {
        /// An instruction for this call only, before everything.
        system: Option<Template>,
        /// What is said to it where the view would be empty or end in its own message.
        opening: Option<Template>,
    },
    /// The conversation as one fenced text with numbered turns, and a question after it.
    Text {
        /// An instruction, before everything.
        system: Option<Template>,
        /// The question.
        question: Template,
        /// The last turn shown; all if none is named.
        up_to: Option<Expr>,
        /// How many turns before the last one are shown with it.
        window: Option<u32>,
        /// Whether the instructions of the roles are shown too.
        sees_system: bool,
        /// The one role whose messages are shown; all roles' unless one is named.
        only: Option<Arc<str>>,
    },
}

/// The most passes of a loop and items of a map.
pub const MOST_PASSES: u32 = 10_000;

/// How often a loop goes round.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// So many times at most.
    Times(u32),
    /// Once for each item of a list, at most `cap` times.
    Items {
        /// The list.
        list: Expr,
        /// Where the item of the pass is put.
        item: Arc<str>,
        /// The most passes.
        cap: u32,
    },
}

/// Which part of a sample a score is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Unit {
    /// The whole conversation.
    Conversation,
    /// The turn that the expression gives.
    Turn(Expr),
}

/// How a conversation ended: a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words say it; `spec/language.md` has a line for each")]
pub enum Ending {
    Completed,
    Recorded,
    Done,
    GaveUp,
    HandedOff,
    Condition,
    ExpectationFailed,
    TurnLimit,
    ToolRounds,
    SampleLimit,
    Filtered,
    ApplicationFailure,
    SimulatorFailure,
    ToolFailure,
    TaskError,
}

impl Ending {
    /// All endings.
    pub const ALL: [Self; 15] = [
        Self::Completed,
        Self::Recorded,
        Self::Done,
        Self::GaveUp,
        Self::HandedOff,
        Self::Condition,
        Self::ExpectationFailed,
        Self::TurnLimit,
        Self::ToolRounds,
        Self::SampleLimit,
        Self::Filtered,
        Self::ApplicationFailure,
        Self::SimulatorFailure,
        Self::ToolFailure,
        Self::TaskError,
    ];

    /// The word in programs, logs and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Recorded => "recorded",
            Self::Done => "done",
            Self::GaveUp => "gave_up",
            Self::HandedOff => "handed_off",
            Self::Condition => "condition",
            Self::ExpectationFailed => "expectation_failed",
            Self::TurnLimit => "turn_limit",
            Self::ToolRounds => "tool_rounds",
            Self::SampleLimit => "sample_limit",
            Self::Filtered => "filtered",
            Self::ApplicationFailure => "application_failure",
            Self::SimulatorFailure => "simulator_failure",
            Self::ToolFailure => "tool_failure",
            Self::TaskError => "task_error",
        }
    }

    /// Whether the sample has no conversation that could be scored: not the assistant's doing.
    pub const fn is_void(self) -> bool {
        matches!(self, Self::SimulatorFailure | Self::ToolFailure | Self::TaskError)
    }
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Appends a message. Port: next.
    Append {
        /// Whose message it is.
        author: Arc<str>,
        /// The role that a system message is for; none for something said.
        audience: Option<Arc<str>>,
        /// What it says.
        said: Said,
    },
    /// Asks a role. Ports: ok, and bad where the reply has a fault.
    Generate {
        /// Who is asked.
        role: Arc<str>,
        /// What it is shown.
        view: View,
        /// What the answer must look like.
        schema: Option<Schema>,
        /// Whether the program's tools are offered.
        tools: bool,
        /// The longest time that the answer may take, in seconds.
        timeout_s: Option<u64>,
        /// The slot of the reply.
        into: Arc<str>,
    },
    /// Ports: yes and no.
    Branch {
        /// The condition.
        when: Expr,
    },
    /// The header of a loop. Ports: body and done.
    Loop {
        /// How often.
        bound: Bound,
        /// The slot of the number of the pass, from 1.
        counter: Arc<str>,
    },
    /// The header of a map, whose items are lanes of their own. Ports: body and done.
    Map {
        /// The list.
        list: Expr,
        /// Where the item is put.
        item: Arc<str>,
        /// The most items.
        cap: u32,
        /// The slot inside whose value is the item's result.
        give: Arc<str>,
        /// The slot of the list of results, in item order.
        into: Arc<str>,
    },
    /// Binds a slot. Port: next.
    Let {
        /// The slot.
        into: Arc<str>,
        /// Its value.
        value: Expr,
    },
    /// Reads a reply. Ports: ok, and bad where it does not fit (the slot then holds the complaint).
    Parse {
        /// The slot of the reply.
        from: Arc<str>,
        /// What it should look like.
        schema: Schema,
        /// The slot of what was read.
        into: Arc<str>,
    },
    /// Checks a text. Port: next.
    Check {
        /// What is asked.
        test: Test,
        /// Whether it must not be so.
        negated: bool,
        /// The text.
        text: Expr,
        /// The role that said it, for evidence.
        author: Arc<str>,
        /// The turn that the text is from, for evidence.
        turn: Expr,
        /// The slot of the verdict.
        into: Arc<str>,
    },
    /// Answers one tool call, appends the result. Port: next.
    Tool {
        /// The slot of the call.
        call: Arc<str>,
        /// The slot of the result.
        into: Arc<str>,
    },
    /// One verdict of a list. Port: next.
    Reduce {
        /// The slot of the list.
        from: Arc<str>,
        /// How.
        reducer: Reducer,
        /// How many of them must be scored; then the missing ones do not count. None where each counts.
        quorum: Option<u32>,
        /// The slot of the verdict.
        into: Arc<str>,
    },
    /// Gives a verdict to the report. Port: next.
    Score {
        /// Whose verdict.
        scorer: Arc<str>,
        /// Of what.
        unit: Unit,
        /// The slot of the verdict.
        from: Arc<str>,
    },
    /// The end. No ports.
    Exit {
        /// How it ended.
        ending: Ending,
    },
}

impl Node {
    /// The ports that the node has: exactly these.
    pub const fn ports(&self) -> &'static [Port] {
        match self {
            Self::Append { .. }
            | Self::Let { .. }
            | Self::Check { .. }
            | Self::Tool { .. }
            | Self::Reduce { .. }
            | Self::Score { .. } => &[Port::Next],
            Self::Generate { .. } | Self::Parse { .. } => &[Port::Ok, Port::Bad],
            Self::Branch { .. } => &[Port::Yes, Port::No],
            Self::Loop { .. } | Self::Map { .. } => &[Port::Body, Port::Done],
            Self::Exit { .. } => &[],
        }
    }

    /// The word in the text form.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Append { .. } => "append",
            Self::Generate { .. } => "generate",
            Self::Branch { .. } => "branch",
            Self::Loop { .. } => "loop",
            Self::Map { .. } => "map",
            Self::Let { .. } => "let",
            Self::Parse { .. } => "parse",
            Self::Check { .. } => "check",
            Self::Tool { .. } => "tool",
            Self::Reduce { .. } => "reduce",
            Self::Score { .. } => "score",
            Self::Exit { .. } => "exit",
        }
    }

    /// Whether it heads a region.
    pub const fn is_header(&self) -> bool {
        matches!(self, Self::Loop { .. } | Self::Map { .. })
    }

    /// The slots that it assigns for what follows: in the region for `Body`, behind it for `Done`.
    pub fn assigns(&self, port: Port) -> impl Iterator<Item = &Arc<str>> {
        let slots = match self {
            Self::Loop { bound: Bound::Items { item, .. }, counter } if port == Port::Body => {
                [Some(counter), Some(item)]
            }
            Self::Loop { counter, .. } if port == Port::Body => [Some(counter), None],
            Self::Map { item, .. } if port == Port::Body => [Some(item), None],
            Self::Generate { into, .. }
            | Self::Let { into, .. }
            | Self::Parse { into, .. }
            | Self::Check { into, .. }
            | Self::Tool { into, .. }
            | Self::Reduce { into, .. }
            | Self::Map { into, .. } => [Some(into), None],
            _ => [None, None],
        };
        slots.into_iter().flatten()
    }
}
