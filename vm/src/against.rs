//! A task over the answers of a log: `aigo replay RUN --task T`. Each sample goes on until it asks for something else than was
//! recorded, and what that is is told part by part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_log::{Log, Trial as LoggedTrial};
use aigo_machine::{Ask, Linked, Outcome, Position, Sample, Trial};

use crate::difference::{Difference, Side, differences};
use crate::divergence::{Cause, Divergence, Found as Differs};
use crate::error::RunError;
use crate::outcome;
use crate::recorded::{Found, Recorded, recorded_trial};
use crate::replay::{OfTrial, Replayed, Schedule, differs, drawn, each, linked, pick};

/// What a log's own program asked in a trial, with this build.
pub(crate) struct Retraced {
    /// Every call up to the end, or to where it differs from what was recorded.
    pub(crate) asks: BTreeMap<Position, Ask>,
    /// The first place at which this build asks something else than the log has.
    pub(crate) differs: Option<Differs>,
}

/// Goes through a recorded trial with the program that it was recorded with.
pub(crate) fn retrace(linked: &Arc<Linked>, sample: &Arc<Sample>, recorded: &Recorded) -> Retraced {
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::clone(sample));
    let mut retraced = Retraced { asks: BTreeMap::new(), differs: None };
    while let Some(next) = pending.pop() {
        match recorded.find(&next.ask) {
            Found::Answer(answer) => pending.extend(trial.answer(next.lane, answer)),
            Found::Nothing => {}
            Found::Other { recorded, asked } => {
                let what = format!("the log's own program asks for {asked} here, and {recorded} was recorded");
                retraced.differs.get_or_insert(Differs::at(&next.ask.position, what));
            }
        }
        retraced.asks.insert(next.ask.position.clone(), next.ask);
    }
    retraced
}

/// A task that is run over the answers of a log.
pub struct Against<'a> {
    /// The task's program, ready to run.
    pub linked: &'a Arc<Linked>,
    /// The task's sample of this key and epoch; none where it has no such sample.
    pub sample: &'a (dyn Fn(&str, u32) -> Option<Arc<Sample>> + Sync),
    /// Samples of the task, by key and epoch, of which the log has nothing although it should.
    pub unrecorded: &'a [(Arc<str>, u32)],
}

/// Runs a task over the answers of a log.
pub fn replay_against(log: &Log, task: &Against<'_>, schedule: &Schedule) -> Result<Replayed, RunError> {
    let own = linked(log)?;
    let of_build = Cause::of_build(log.header());
    let mut replayed = each(log, task.linked, schedule, |number| {
        let logged = log.trial(number)?;
        let shuffle = schedule.shuffle.map(|seed| drawn(seed, number));
        Ok(one(&own, task, &logged, shuffle, of_build))
    })?;
    for (key, epoch) in task.unrecorded {
        let found = Differs::whole("the task has this sample, and the log has nothing of it");
        replayed.divergences.push(Divergence::new(key, *epoch, found, Cause::Task));
    }
    Ok(replayed)
}

fn one(own: &Arc<Linked>, task: &Against<'_>, logged: &LoggedTrial, shuffle: Option<u64>, of_build: Cause) -> OfTrial {
    let (before, recorded) = recorded_trial(logged);
    let diverged = |found, cause| Some(Divergence::new(&logged.open.key, logged.open.epoch, found, cause));
    let open = |divergence| OfTrial { report: Err(recorded.answered()), divergence, unanswered: recorded.unanswered };
    let Some(sample) = (task.sample)(&logged.open.key, logged.open.epoch) else {
        let found = Differs::whole("the log has this sample, and the task does not");
        return open(diverged(found, Cause::Task));
    };
    let is_open = logged.close.is_none();
    let again = Again { own, linked: task.linked, sample: &sample, before: &before, recorded: &recorded, is_open };
    match again.run(shuffle) {
        Ok(outcome) => {
            let leaf = outcome.leaf();
            let differs = logged.close.as_ref().and_then(|close| differs(&outcome, close, leaf));
            let cause = || if own.hash == task.linked.hash { of_build } else { Cause::Task };
            OfTrial {
                report: Ok(outcome::report(&task.linked.program, &outcome, leaf)),
                divergence: differs.map(Differs::whole).and_then(|found| diverged(found, cause())),
                unanswered: recorded.unanswered,
            }
        }
        // The run stopped here: there is nothing to compare with.
        Err(Ended::Unanswered) if is_open => open(None),
        Err(Ended::Unanswered) => {
            open(diverged(Differs::whole("the log has no answer for a call, although the trial has ended"), Cause::Log))
        }
        Err(Ended::Differs(found)) => {
            // Where the log's own program does not come to what the log says, the task is not to blame.
            let retraced = retrace(own, &before, &recorded);
            match retraced.differs {
                Some(own_difference) => open(diverged(own_difference, of_build)),
                None if own.hash == task.linked.hash && before.row == sample.row => open(diverged(found, of_build)),
                None => open(diverged(found, Cause::Task)),
            }
        }
    }
}

enum Ended {
    /// A call that was asked before, too, and has no answer.
    Unanswered,
    Differs(Differs),
}

/// A recorded trial, to be gone through with another program.
struct Again<'a> {
    own: &'a Arc<Linked>,
    linked: &'a Arc<Linked>,
    sample: &'a Arc<Sample>,
    /// The sample as it was recorded.
    before: &'a Arc<Sample>,
    recorded: &'a Recorded,
    /// Whether the log has no end of it, so that calls may be missing.
    is_open: bool,
}

impl Again<'_> {
    fn run(&self, shuffle: Option<u64>) -> Result<Outcome, Ended> {
        let (mut trial, mut pending) = Trial::start(Arc::clone(self.linked), Arc::clone(self.sample));
        let (mut step, mut used) = (0, BTreeSet::new());
        let mut found: Option<(Position, Differs)> = None;
        let mut unanswered = false;
        // All lanes go as far as they can, so that which difference is told does not depend on their order.
        while let Some(next) = pick(&mut pending, shuffle, step) {
            step += 1;
            let ask = next.ask;
            let differs = match self.recorded.find(&ask) {
                Found::Answer(answer) => {
                    used.insert(ask.position);
                    pending.extend(trial.answer(next.lane, answer));
                    continue;
                }
                Found::Nothing if self.is_open || self.recorded.was_asked(&ask) => {
                    unanswered = true;
                    continue;
                }
                Found::Nothing => Differs::at(&ask.position, "this call was not made when the run was recorded"),
                Found::Other { .. } => self.other(&ask),
            };
            if found.as_ref().is_none_or(|(known, _)| ask.position < *known) {
                found = Some((ask.position, differs));
            }
        }
        if let Some((_, differs)) = found {
            return Err(Ended::Differs(differs));
        }
        if unanswered {
            return Err(Ended::Unanswered);
        }
        if let Some(position) = self.recorded.positions().find(|position| !used.contains(*position)) {
            let what = "this call was made when the run was recorded, and is not made now";
            return Err(Ended::Differs(Differs::at(position, what)));
        }
        trial.outcome().ok_or_else(|| Ended::Differs(Differs::whole("the trial does not end")))
    }

    /// Something else is asked at a place: what was asked there is known to the log's own program.
    fn other(&self, ask: &Ask) -> Differs {
        let asks = retrace(self.own, self.before, self.recorded).asks;
        let mut differs = Differs::at(&ask.position, "something else is asked here than was recorded");
        if let Some(then) = asks.get(&ask.position) {
            differs.differences = compared(self.own, then, self.linked, ask);
        }
        differs
    }
}

/// Two calls part by part, each with who is asked.
pub(crate) fn compared(own: &Linked, then: &Ask, linked: &Linked, now: &Ask) -> Vec<Difference> {
    fn side<'s>(linked: &'s Linked, ask: &'s Ask) -> Side<'s> {
        let role = linked.role(&ask.request.role).map(|(role, _)| role);
        Side { ask, role, seed: linked.program.seed }
    }
    differences(side(own, then), side(linked, now))
}
