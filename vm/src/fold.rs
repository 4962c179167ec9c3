//! The report of a log: what its trials came to. Their ends are recorded with every score; why a score is what it is follows
//! from the answers, so a trial is replayed where that is asked for.

use std::sync::Arc;

use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::program::Program;
use aigo_ir::reduce::Reducer;
use aigo_ir::verdict::{Outcome as Came, Verdict};
use aigo_log::{Close, Digest, Log, Trial as Logged};
use aigo_machine::{Linked, Sample};
use aigo_report::{Answered, OpenTrial, Report, Scored, Told, TrialReport};

use crate::again::standing;
use crate::divergence::{Cause, Divergence, Found};
use crate::error::RunError;
use crate::outcome;
use crate::recorded::{Recorded, recorded_trial};
use crate::replay::{Missing, again, baseline, differs, linked};

/// Of which trials reasons and evidence are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Of those in which something fails or is missing: what reports for people show.
    Failing,
    /// Of all: every verdict has a row.
    All,
}

/// The fold over a log.
pub struct Folded {
    /// The folded run.
    pub report: Report,
    /// Its digest, over the trials that ended.
    pub digest: Key,
    /// Trials that have no end in the log, those that never began with them.
    pub open: u64,
    /// Where this build makes something else of recorded answers: such trials are reported as they were recorded.
    pub divergences: Vec<Divergence>,
}

/// How many trials are in memory at once.
const BATCH: usize = 512;
/// How many threads work at most.
const MOST_THREADS: usize = 8;

/// A trial as the report takes it.
struct Done {
    told: Result<TrialReport, OpenTrial>,
    /// Of an open one: its answers.
    answered: Vec<Answered>,
    divergence: Option<Divergence>,
}

/// Folds a log, whether its run has ended or not. `each` is told of every trial that began, in the log's order.
pub fn fold(log: &Log, depth: Depth, mut each: impl FnMut(&Program, Told<'_>)) -> Result<Folded, RunError> {
    let linked = linked(log)?;
    let cause = Cause::of_build(log.header());
    let program = Arc::new(linked.program.clone());
    let mut report = Report::new(Arc::clone(&program)).against(baseline(log)?);
    let (mut digest, mut open, mut divergences) = (Digest::of(log.header(), linked.hash), 0_u64, Vec::new());
    let numbers = standing(&program, log)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    for batch in numbers.chunks(BATCH) {
        for done in in_parallel(log, &linked, batch, (depth, cause), threads) {
            let Done { told, answered, divergence } = done?;
            divergences.extend(divergence);
            match told {
                Ok(trial) => {
                    each(&program, Told::Ended(&trial));
                    digest.add(&trial.key, trial.epoch, &trial.opened, &trial.leaf);
                    report.add(&trial);
                }
                Err(trial) => {
                    each(&program, Told::Open(&trial));
                    for one in &answered {
                        report.add_call(one);
                    }
                    open += 1;
                }
            }
        }
    }
    // Trials that never began are in no record but the header's count.
    open += log.header().trials.unwrap_or_default().saturating_sub(digest.ended() + open);
    report.add_open(open);
    Ok(Folded { report, digest: digest.finish(), open, divergences })
}

/// Reads a batch of trials by several threads; what they made is in the batch's order.
fn in_parallel(
    log: &Log,
    linked: &Arc<Linked>,
    batch: &[u64],
    how: (Depth, Cause),
    threads: usize,
) -> Vec<Result<Done, RunError>> {
    let read = |numbers: &[u64]| -> Vec<Result<Done, RunError>> {
        numbers.iter().map(|number| Ok(done(linked, &log.trial(*number)?, how))).collect()
    };
    if threads == 1 || batch.len() < 2 * threads {
        return read(batch);
    }
    std::thread::scope(|scope| {
        let parts = batch.chunks(batch.len().div_ceil(threads));
        let workers: Vec<_> = parts.map(|part| (part, scope.spawn(move || read(part)))).collect();
        // A thread that is gone has left its part undone.
        workers.into_iter().flat_map(|(part, worker)| worker.join().unwrap_or_else(|_| read(part))).collect()
    })
}

fn done(linked: &Arc<Linked>, logged: &Logged, (depth, cause): (Depth, Cause)) -> Done {
    let (sample, recorded) = recorded_trial(logged);
    if let Some(close) =
        logged.close.as_ref().filter(|close| depth == Depth::Failing && is_plain(&linked.program, close))
        && let Some(trial) = as_recorded(&linked.program, &sample, &recorded, close)
    {
        return Done { told: Ok(trial), answered: Vec::new(), divergence: None };
    }
    let diverged = |found: Found| Divergence::new(&sample.key, sample.epoch, found, cause);
    let (replayed, divergence) = match again(linked, &sample, &recorded, None) {
        Ok(outcome) => {
            let leaf = outcome.leaf();
            let differs = logged.close.as_ref().and_then(|close| differs(&outcome, close, leaf));
            let trial = differs.is_none().then(|| outcome::report(&linked.program, &outcome, leaf));
            (trial, differs.map(|what| diverged(Found::whole(what))))
        }
        Err(Missing::Answer(_)) if logged.close.is_none() => (None, None),
        Err(Missing::Answer(found) | Missing::Differs(found)) => (None, Some(diverged(found))),
    };
    let close = logged.close.as_ref();
    let told = replayed.or_else(|| as_recorded(&linked.program, &sample, &recorded, close?));
    let open = || OpenTrial {
        key: Arc::clone(&sample.key),
        epoch: sample.epoch,
        tags: Arc::clone(&sample.tags),
        cluster: Arc::clone(sample.cluster.as_ref().unwrap_or(&sample.key)),
    };
    let answered = if told.is_some() { Vec::new() } else { recorded.answered() };
    Done { told: told.ok_or_else(open), answered, divergence }
}

/// Whether nothing of it fails or is missing, and each value is one that passes: then nobody asks why.
fn is_plain(program: &Program, close: &Close) -> bool {
    let plain = |score: &aigo_log::Score| match score.pass {
        Some(true) => program.scorer(&score.scorer).zip(score.value.as_ref()).is_some_and(|(scorer, value)| {
            // A share passes where all that it is of do.
            let is_share = score.turn.is_none() && scorer.over.is_some_and(Reducer::is_share);
            is_share || scorer.scale.number_of_reduced(value).is_some_and(|number| number >= scorer.pass)
        }),
        Some(false) => false,
        None => score.outcome == Came::NotApplicable.word(),
    };
    close.scores.iter().all(plain) && ending(close).is_some_and(|ending| !ends_badly(ending))
}

const fn ends_badly(ending: Ending) -> bool {
    ending.is_void() || matches!(ending, Ending::ApplicationFailure | Ending::Filtered)
}

fn ending(close: &Close) -> Option<Ending> {
    Ending::ALL.into_iter().find(|ending| ending.word() == close.ending)
}

/// What a trial came to by its record alone: every score, without reasons and evidence.
fn as_recorded(program: &Program, sample: &Sample, recorded: &Recorded, close: &Close) -> Option<TrialReport> {
    let scores = close.scores.iter().filter_map(|score| {
        let outcome = Came::ALL.into_iter().find(|outcome| outcome.word() == score.outcome)?;
        let verdict =
            Verdict { outcome, value: score.value.clone(), pass: score.pass, reason: "".into(), evidence: Vec::new() };
        let scorer = program.scorers.iter().position(|scorer| *scorer.name == *score.scorer)?;
        Some(Scored { scorer, turn: score.turn, verdict })
    });
    Some(TrialReport {
        key: Arc::clone(&sample.key),
        epoch: sample.epoch,
        ending: ending(close)?,
        fault: None,
        conversation: Arc::new(Conversation::default()),
        scores: scores.collect(),
        calls: recorded.answered(),
        row: Arc::clone(&sample.row),
        tags: Arc::clone(&sample.tags),
        cluster: Arc::clone(sample.cluster.as_ref().unwrap_or(&sample.key)),
        opened: outcome::open(0, sample).hash(),
        leaf: close.leaf,
    })
}
