//! Replay: the program of a log over the answers of the log. No task, no dataset, no key, no network.

use std::fmt;
use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::read;
use aigo_log::Log;
use aigo_machine::{Linked, Outcome, Position, Trial};
use aigo_report::Report;

use crate::error::{BAD_PROGRAM, RunError};
use crate::outcome;
use crate::recorded::{Found, Recorded, recorded_trial};

/// A difference between a log and what this build makes of it. There is no other place that makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The sample's key.
    pub sample: String,
    /// From 1.
    pub epoch: u32,
    /// The call, where the difference is in one.
    pub position: Option<Position>,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sample {}, epoch {}", aigo_ir::text::printable(&self.sample), self.epoch)?;
        if let Some(position) = &self.position {
            write!(f, ", {} at {}", position.graph, position.node)?;
            if !position.index.is_empty() {
                let index: Vec<String> = position.index.iter().map(ToString::to_string).collect();
                write!(f, " [{}]", index.join(", "))?;
            }
        }
        write!(f, ": {}", self.what)
    }
}

/// A replayed log.
pub struct Replayed {
    /// The folded run.
    pub report: Report,
    /// Its digest, over the trials that ended.
    pub digest: Key,
    /// Trials that have no end in the log, those that never began with them.
    pub open: u64,
    /// The first difference of each trial that has one.
    pub divergences: Vec<Divergence>,
    /// Calls that were about to be made when a writer stopped, and have no answer: they may have been billed.
    pub unanswered: usize,
}

/// The program of a log, ready to run.
pub(crate) fn linked(log: &Log) -> Result<Arc<Linked>, RunError> {
    let header = log.header();
    let bad =
        |why: String| RunError::told(BAD_PROGRAM.nowhere(format!("the program in the log cannot be used: {why}")));
    let program = read::read(&header.program).map_err(|error| bad(error.to_string()))?;
    let linked = Linked::new(program)
        .map_err(|violations| bad(violations.first().map_or_else(String::new, ToString::to_string)))?;
    if linked.hash != header.hash {
        return Err(bad(format!("its hash is {}, and the log says {}", linked.hash.hex(6), header.hash.hex(6))));
    }
    Ok(Arc::new(linked))
}

/// Replays a log.
pub fn replay(log: &Log) -> Result<Replayed, RunError> {
    let linked = linked(log)?;
    let mut replayed = Replayed {
        report: Report::new(Arc::new(linked.program.clone())),
        digest: Key([0; 32]),
        open: 0,
        divergences: Vec::new(),
        unanswered: 0,
    };
    let mut ended: u64 = 0;
    for trial in log.trials() {
        let logged = trial?;
        let (sample, recorded) = recorded_trial(&logged);
        replayed.unanswered += recorded.unanswered;
        let diverged = |position: Option<Position>, what: String| Divergence {
            sample: logged.open.key.clone(),
            epoch: logged.open.epoch,
            position,
            what,
        };
        let open = |replayed: &mut Replayed| {
            replayed.open += 1;
            recorded.by_role().iter().for_each(|(role, n)| replayed.report.add_calls(role, *n));
        };
        match again(&linked, &sample, &recorded) {
            Ok(outcome) => {
                let leaf = outcome.leaf();
                // A trial that was cut off between its last answer and its end has ended all the same.
                if let Some(what) = logged.close.as_ref().and_then(|close| differs(&outcome, close, leaf)) {
                    replayed.divergences.push(diverged(None, what));
                }
                replayed.report.add(&outcome::report(&linked.program, &outcome, leaf));
                ended += 1;
            }
            Err(Missing::Answer(position)) => {
                if logged.close.is_some() {
                    replayed.divergences.push(diverged(Some(position), NO_ANSWER.to_owned()));
                }
                open(&mut replayed);
            }
            Err(Missing::Differs(position, what)) => {
                replayed.divergences.push(diverged(Some(position), what));
                open(&mut replayed);
            }
        }
    }
    // Trials that never began are in no record but the header's count.
    let begun = ended + replayed.open;
    replayed.open += log.header().trials.unwrap_or_default().saturating_sub(begun);
    replayed.report.add_open(replayed.open);
    let dataset = Key::from_hex(&log.header().dataset).unwrap_or(Key([0; 32]));
    replayed.digest = outcome::digest(&linked.hash, &dataset, &replayed.report);
    Ok(replayed)
}

/// An ended trial again, from its recorded answers alone. The error says how it differs from its recorded end.
pub(crate) fn closed(
    linked: &Arc<Linked>,
    sample: &Arc<aigo_machine::Sample>,
    recorded: &Recorded,
    close: &aigo_log::Close,
) -> Result<(Outcome, Key), String> {
    let outcome = again(linked, sample, recorded).map_err(|missing| match missing {
        Missing::Answer(position) => format!("{} at {}: {NO_ANSWER}", position.graph, position.node),
        Missing::Differs(position, what) => format!("{} at {}: {what}", position.graph, position.node),
    })?;
    let leaf = outcome.leaf();
    match differs(&outcome, close, leaf) {
        Some(what) => Err(what),
        None => Ok((outcome, leaf)),
    }
}

const NO_ANSWER: &str = "the log has no answer for this call, although the trial has ended";

/// Why a trial cannot be replayed to its end.
pub(crate) enum Missing {
    Answer(Position),
    Differs(Position, String),
}

pub(crate) fn again(
    linked: &Arc<Linked>,
    sample: &Arc<aigo_machine::Sample>,
    recorded: &Recorded,
) -> Result<Outcome, Missing> {
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::clone(sample));
    // The first ask without an answer is the one to tell of; the lanes beside it do not matter any more.
    while let Some(next) = pending.pop() {
        match recorded.find(&next.ask) {
            Found::Answer(answer) => pending.extend(trial.answer(next.lane, answer)),
            Found::Nothing => return Err(Missing::Answer(next.ask.position)),
            Found::Other { recorded, asked } => {
                let what = format!(
                    "something else is asked here than was recorded (content {asked}, recorded {recorded}): the log was changed, \
                     or this build renders or reads differently"
                );
                return Err(Missing::Differs(next.ask.position, what));
            }
        }
    }
    trial.outcome().ok_or_else(|| {
        let position = Position { graph: "".into(), node: "".into(), index: Vec::new() };
        Missing::Differs(position, "the trial does not end".to_owned())
    })
}

/// How an outcome differs from the recorded end, if it does. The scores beside the leaf are compared as well: people and tools
/// read those, and not the hash.
pub(crate) fn differs(outcome: &Outcome, close: &aigo_log::Close, leaf: Key) -> Option<String> {
    let recomputed = outcome::close(close.trial, outcome, leaf);
    if *close == recomputed {
        return None;
    }
    if recomputed.ending != close.ending {
        return Some(format!("it ends as `{}`, and was recorded as `{}`", recomputed.ending, close.ending));
    }
    let pairs = recomputed.scores.iter().zip(&close.scores);
    Some(match pairs.into_iter().find(|(a, b)| a != b) {
        Some((now, then)) => {
            let show = |score: &aigo_log::Score| {
                score.value.as_ref().map_or_else(|| score.outcome.clone(), ToString::to_string)
            };
            let turn = now.turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
            format!("the score of `{}`{turn} is {}, and was recorded as {}", now.scorer, show(now), show(then))
        }
        None => "its positions, contents, answers or reasons hash differently than was recorded".to_owned(),
    })
}
