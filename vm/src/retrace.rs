//! One trial of a log, gone through again for people to look at: the conversation, what each call was asked and answered, and
//! which calls a verdict comes from. Prompts are in no log; they are rendered anew.

use std::sync::Arc;

use aigo_ir::message::Conversation;
use aigo_log::Trial as LoggedTrial;
use aigo_machine::{Answer, Ask, Linked, Outcome, Sample, ScoreRow, Trial};
use aigo_report::Answered;

use crate::outcome;
use crate::recorded::{Found, recorded_trial};

/// A trial of a log.
pub struct Retraced {
    /// Its sample.
    pub sample: Arc<Sample>,
    /// The conversation; of a trial that has not ended, as far as it went.
    pub conversation: Arc<Conversation>,
    /// What it came to, if it has ended.
    pub outcome: Option<Outcome>,
    /// Its calls, in an order in which they could have been made.
    pub calls: Vec<Retold>,
    /// Of verdicts that came with an answer: the call, by its place in `calls`, and the verdict.
    given: Vec<(usize, ScoreRow)>,
    /// Why it could not be gone through to its end, where it could not.
    pub why: Option<String>,
}

/// A call and its answer.
pub struct Retold {
    /// What was asked, with the whole prompt.
    pub ask: Ask,
    /// What was answered, if the log has it.
    pub answer: Option<Answer>,
}

impl Retraced {
    /// The answers that the log has of it, as the report counts them.
    pub fn answered(&self) -> Vec<Answered> {
        let answered = |call: &Retold| Some(outcome::answered(&call.ask.request.role, call.answer.as_ref()?));
        self.calls.iter().filter_map(answered).collect()
    }

    /// The calls that a scorer's verdict comes from: of a turn those that were made for that turn, of the conversation all.
    pub fn calls_of(&self, scorer: &str, turn: Option<u32>) -> Vec<&Retold> {
        let graph = format!("score/{scorer}");
        let of_graph = self.calls.iter().filter(|call| *call.ask.position.graph == *graph);
        let Some(turn) = turn else { return of_graph.collect() };
        // The turns of a scorer are the items of its outermost map.
        let item = self.given.iter().find(|(_, row)| *row.scorer == *scorer && row.turn == Some(turn));
        let item = item.and_then(|(call, _)| self.calls.get(*call)).and_then(|call| call.ask.position.index.first());
        of_graph.filter(|call| item.is_some() && call.ask.position.index.first() == item).collect()
    }
}

/// Goes through a trial with its recorded answers.
pub fn retrace(linked: &Arc<Linked>, logged: &LoggedTrial) -> Retraced {
    let (sample, recorded) = recorded_trial(logged);
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::clone(&sample));
    let (mut calls, mut given, mut why) = (Vec::new(), Vec::new(), None);
    // Lanes are taken in the order in which they began, so that calls stand as a person would tell them.
    while !pending.is_empty() {
        let next = pending.remove(0);
        let answer = match recorded.find(&next.ask) {
            Found::Answer(answer) => answer,
            found => {
                let what = match found {
                    Found::Other { .. } => "something else is asked than was recorded",
                    _ => "the log has no answer",
                };
                let place = format!("{} at {}", next.ask.position.graph, next.ask.position.node);
                why.get_or_insert_with(|| format!("{place}: {what}"));
                calls.push(Retold { ask: next.ask, answer: None });
                continue;
            }
        };
        let known = trial.scored().len();
        calls.push(Retold { ask: next.ask, answer: Some(answer.clone()) });
        pending.splice(0..0, trial.answer(next.lane, answer));
        given.extend(trial.scored().iter().skip(known).map(|row| (calls.len() - 1, row.clone())));
    }
    let outcome = trial.outcome().filter(|_| why.is_none());
    Retraced { conversation: trial.so_far(), sample, outcome, calls, given, why }
}
