//! From what the machine says to what the log and the report take.

use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::program::Program;
use aigo_ir::value::Value;
use aigo_log::{Close, Got, Open, Score};
use aigo_machine::{Answer, Outcome, Sample, ToolCall, Usage};
use aigo_report::{Answered, Scored, Tokens, TrialReport};
use std::sync::Arc;

/// The record of a trial's end.
pub(crate) fn close(trial: u64, outcome: &Outcome, leaf: Key) -> Close {
    let scores = outcome.scores.iter().map(|row| Score {
        scorer: row.scorer.to_string(),
        turn: row.turn,
        outcome: row.verdict.outcome.word().to_owned(),
        value: row.verdict.value.clone(),
        pass: row.verdict.pass,
    });
    Close { trial, ending: outcome.ending.word().to_owned(), leaf, scores: scores.collect() }
}

/// The record of a trial's beginning.
pub(crate) fn open(trial: u64, sample: &Sample) -> Open {
    Open {
        trial,
        key: sample.key.to_string(),
        epoch: sample.epoch,
        graph: sample.graph.to_string(),
        row: Value::Map(Arc::clone(&sample.row)),
        messages: (!sample.conversation.messages().is_empty()).then(|| sample.conversation.record()),
        tags: sample.tags.iter().map(ToString::to_string).collect(),
        cluster: sample.cluster.as_ref().map(ToString::to_string),
    }
}

/// What the report takes of a trial's outcome.
pub fn report(program: &Program, outcome: &Outcome, leaf: Key) -> TrialReport {
    let place = |name: &str| program.scorers.iter().position(|scorer| &*scorer.name == name);
    let scores = outcome
        .scores
        .iter()
        .filter_map(|row| Some(Scored { scorer: place(&row.scorer)?, turn: row.turn, verdict: row.verdict.clone() }));
    TrialReport {
        key: Arc::clone(&outcome.sample.key),
        epoch: outcome.sample.epoch,
        ending: outcome.ending,
        fault: outcome.fault.clone(),
        conversation: Arc::<Conversation>::clone(&outcome.conversation),
        scores: scores.collect(),
        calls: outcome.calls.iter().map(of_call).collect(),
        row: Arc::clone(&outcome.sample.row),
        tags: Arc::clone(&outcome.sample.tags),
        cluster: Arc::clone(outcome.sample.cluster.as_ref().unwrap_or(&outcome.sample.key)),
        opened: open(0, &outcome.sample).hash(),
        leaf,
    }
}

fn of_call(call: &aigo_machine::Call) -> Answered {
    Answered {
        role: Arc::clone(&call.role),
        tokens: tokens(call.usage),
        ms: call.ms,
        is_reused: call.is_reused,
        is_fault: call.is_fault,
    }
}

/// An answer of a role, as the report counts it.
pub(crate) fn answered(role: &Arc<str>, answer: &Answer) -> Answered {
    Answered {
        role: Arc::clone(role),
        tokens: tokens(answer.usage),
        ms: answer.ms,
        is_reused: answer.is_reused,
        is_fault: answer.fault.is_some(),
    }
}

const fn tokens(usage: Usage) -> Tokens {
    let Usage { input, output, cached, reasoning } = usage;
    Tokens { input, output, cached, reasoning }
}

/// The key of what an application wants to see again: the id of its session.
const SESSION: &str = "session";

/// The record of an answer.
pub(crate) fn got(trial: u64, ask: u64, answer: &Answer, model: Option<String>, lossy: bool) -> Got {
    Got {
        trial,
        ask,
        text: answer.text.to_string(),
        calls: answer.calls.iter().map(ToolCall::to_value).collect(),
        stop: answer.stop.to_string(),
        usage: aigo_log::Usage {
            input: answer.usage.input,
            output: answer.usage.output,
            // Providers that count these say of most answers that there are none.
            cached: answer.usage.cached.filter(|n| *n > 0),
            reasoning: answer.usage.reasoning.filter(|n| *n > 0),
        },
        model,
        fault: answer.fault.as_ref().map(ToString::to_string),
        read: answer.context.iter().map(ToString::to_string).collect(),
        context: answer.session.clone().map(|session| Value::map([(SESSION, Value::Str(session))])),
        lossy,
        ms: answer.ms,
        from: None,
    }
}

/// The answer of a record.
pub(crate) fn answer(got: &Got) -> Answer {
    Answer {
        text: got.text.as_str().into(),
        calls: got.calls.iter().filter_map(ToolCall::from_value).collect(),
        stop: got.stop.as_str().into(),
        fault: got.fault.as_deref().map(Arc::from),
        usage: Usage {
            input: got.usage.input,
            output: got.usage.output,
            cached: got.usage.cached,
            reasoning: got.usage.reasoning,
        },
        ms: got.ms,
        is_reused: got.from.is_some(),
        context: got.read.iter().map(|chunk| chunk.as_str().into()).collect(),
        session: got.context.as_ref().and_then(|context| context.get(SESSION)?.as_str()).map(Into::into),
    }
}
