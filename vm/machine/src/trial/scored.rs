//! A conversation that is over: which scorers look at it, and the verdicts that no graph gives.

use std::sync::Arc;

use aigo_ir::message::ASSISTANT;
use aigo_ir::node::Ending;
use aigo_ir::program::{EXPECTATIONS, Scorer};
use aigo_ir::reduce::{self, Reducer};
use aigo_ir::value::Value;
use aigo_ir::verdict::{Outcome, Scale, Verdict};

use super::around::When;
use super::{Pending, Trial};
use crate::lane::{GraphRef, Lane};
use crate::outcome::ScoreRow;

impl Trial {
    /// The conversation is over: score it.
    pub(super) fn solved(&mut self, ending: Ending, fault: Option<String>, asks: &mut Vec<Pending>) {
        self.ending = Some(ending);
        self.fault = fault;
        let linked = Arc::clone(&self.linked);
        self.expectations();
        self.checkpoints();
        let answered = self.conversation.has_acted(ASSISTANT);
        for (at, scorer) in linked.program.scorers.iter().enumerate() {
            if scorer.graph.is_none() {
                continue;
            }
            if ending.is_void() {
                let reason = self.fault.clone().unwrap_or_else(|| ending.word().replace('_', " "));
                self.scores.push(whole(scorer, Verdict::without_value(Outcome::Void, reason)));
            } else if scorer.completion && matches!(ending, Ending::ApplicationFailure | Ending::Filtered) {
                // What was left undone is not complete, however well it went until then.
                let reason = format!("the conversation ended as {}", ending.word().replace('_', " "));
                self.scores.push(whole(scorer, Verdict::scored(scorer.scale.end(true), false, reason)));
            } else if !answered {
                // Dropping a conversation in which nothing was answered would reward an application that fails.
                self.scores.push(whole(
                    scorer,
                    Verdict::scored(scorer.scale.end(true), false, "the assistant answered nothing"),
                ));
            } else if let Some(verdict) = self.without_turns(at, scorer, ending) {
                self.scores.push(whole(scorer, verdict));
            } else if let Some(label) = scorer.at.as_ref().filter(|label| !self.marks.contains_key(*label)) {
                let reason = format!("the step `{label}` was not reached");
                self.scores.push(whole(scorer, Verdict::without_value(Outcome::NotApplicable, reason)));
            } else {
                self.begin(GraphRef::Score(at), asks);
            }
        }
        self.around(When::After, 0, asks);
    }

    /// The verdict of a scorer about turns in none of which the assistant said anything.
    fn without_turns(&self, at: usize, scorer: &Scorer, ending: Ending) -> Option<Verdict> {
        let range = scorer.turns?;
        let shown = self.mark_of(GraphRef::Score(at)).map_or(&self.conversation, |(conversation, _)| conversation);
        if shown.turns_of(ASSISTANT).into_iter().any(|turn| turn > 0 && range.holds(u64::from(turn))) {
            return None;
        }
        if matches!(ending, Ending::ApplicationFailure | Ending::Filtered) {
            let reason = format!("the conversation ended as {} before", ending.word().replace('_', " "));
            return Some(Verdict::scored(scorer.scale.end(true), false, reason));
        }
        Some(Verdict::without_value(Outcome::NotApplicable, "the assistant said nothing in these turns"))
    }

    /// Expectations that an early ending left: those that lie on every way to a regular end from the way that was not taken
    /// at the last fork, and were never evaluated.
    pub(super) fn unreached_expectations(&self, at: usize, lane: &Lane, ending: Ending) -> usize {
        if matches!(ending, Ending::Completed | Ending::Recorded) {
            return 0;
        }
        let Some((fork, taken)) = lane.last_fork else { return 0 };
        let left = self.linked.certain(at, fork, taken);
        left.into_iter().filter(|id| !lane.passed.contains(id)).count()
    }

    /// The conversation's value of `expectations`: all that were evaluated hold, and none was left unreached.
    fn expectations(&mut self) {
        let linked = Arc::clone(&self.linked);
        let Some(scorer) = linked.program.scorer(EXPECTATIONS) else { return };
        let evaluated: Vec<Verdict> =
            self.scores.iter().filter(|row| row.scorer == scorer.name).map(|row| row.verdict.clone()).collect();
        let verdict = if self.ending.is_some_and(Ending::is_void) {
            Verdict::without_value(Outcome::Void, self.fault.clone().unwrap_or_default())
        } else if evaluated.iter().all(|v| v.pass != Some(false)) && self.unreached > 0 {
            Verdict::scored(Value::Bool(false), false, format!("{} expectations were not reached", self.unreached))
        } else if evaluated.is_empty() {
            Verdict::without_value(Outcome::NotApplicable, "no step with an expectation was reached")
        } else {
            reduce::reduce(Reducer::All, &Scale::Boolean, 1.0, None, &evaluated)
        };
        self.scores.push(whole(scorer, verdict));
    }

    /// The conversation's value of each checkpoint: its verdicts joined like those of turns.
    fn checkpoints(&mut self) {
        let linked = Arc::clone(&self.linked);
        for scorer in linked.program.scorers.iter().filter(|s| s.graph.is_none() && &*s.name != EXPECTATIONS) {
            let given: Vec<Verdict> =
                self.scores.iter().filter(|row| row.scorer == scorer.name).map(|row| row.verdict.clone()).collect();
            let verdict = if self.ending.is_some_and(Ending::is_void) {
                Verdict::without_value(Outcome::Void, self.fault.clone().unwrap_or_default())
            } else if given.is_empty() {
                Verdict::without_value(Outcome::NotApplicable, "the checkpoint was not reached")
            } else {
                let over = scorer.over.unwrap_or_else(|| Reducer::default_of(&scorer.scale));
                reduce::reduce(over, &scorer.scale, scorer.pass, None, &given)
            };
            self.scores.push(whole(scorer, verdict));
        }
    }
}

/// A score of the conversation that no node gave.
pub(super) fn whole(scorer: &Scorer, verdict: Verdict) -> ScoreRow {
    ScoreRow { scorer: scorer.name.clone(), turn: None, part: "".into(), verdict }
}
