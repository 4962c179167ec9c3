//! Replay: the program of a log over the answers of the log. No task, no dataset, no key, no network.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::read;
use aigo_log::{Digest, Log, LogError};
use aigo_machine::{Linked, Outcome, Pending, Sample, Trial};
use aigo_report::{Answered, Report, Sheet, TrialReport};

use crate::again::standing;
use crate::divergence::{Cause, Divergence, Found as Differs};
use crate::error::{BAD_PROGRAM, RunError};
use crate::outcome;
use crate::recorded::{Found, Recorded, recorded_trial};

/// A replayed log.
pub struct Replayed {
    /// The folded run.
    pub report: Report,
    /// Its digest, over the trials that ended.
    pub digest: Key,
    /// Trials that ended.
    pub ended: u64,
    /// Trials that have no end in the log, those that never began with them.
    pub open: u64,
    /// The first difference of each trial that has one.
    pub divergences: Vec<Divergence>,
    /// Calls that were about to be made when a writer stopped, and have no answer: they may have been billed.
    pub unanswered: usize,
}

/// In which order trials are gone through. It cannot be seen in what comes of them, and this is how that is tried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedule {
    /// How many trials are gone through side by side; as many as the machine has cores unless given.
    pub jobs: Option<NonZeroUsize>,
    /// From which the order of trials, and of the answers within each, is drawn; the log's order unless given.
    pub shuffle: Option<u64>,
}

/// More threads than these are of no use to anybody.
const MOST_THREADS: usize = 256;

impl Schedule {
    /// The trials in the order in which they begin.
    pub(crate) fn order(&self, mut numbers: Vec<u64>) -> Vec<u64> {
        if let Some(seed) = self.shuffle {
            numbers.sort_by_cached_key(|number| drawn(seed, *number));
        }
        numbers
    }

    fn threads(&self, trials: usize) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs.map_or_else(cores, NonZeroUsize::get).min(MOST_THREADS).min(trials).max(1)
    }
}

/// A number that depends on nothing but these two.
pub(crate) fn drawn(seed: u64, n: u64) -> u64 {
    KeyWriter::new("aigo.order").u64(seed).u64(n).finish().number()
}

/// The program of a log, ready to run.
pub fn linked(log: &Log) -> Result<Arc<Linked>, RunError> {
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

/// The baseline of a log, where its run has one.
pub fn baseline(log: &Log) -> Result<Option<Arc<Sheet>>, RunError> {
    let Some(text) = &log.header().baseline else { return Ok(None) };
    let read = aigo_report::baseline::read("the baseline in the log", text);
    read.map(|sheet| Some(Arc::new(sheet))).map_err(RunError::Told)
}

/// Replays a log.
pub fn replay(log: &Log) -> Result<Replayed, RunError> {
    replay_in(log, &Schedule::default())
}

/// Replays a log in an order of one's own.
pub fn replay_in(log: &Log, schedule: &Schedule) -> Result<Replayed, RunError> {
    let linked = linked(log)?;
    let cause = Cause::of_build(log.header());
    each(log, &linked, schedule, |number| one(log, &linked, number, schedule.shuffle, cause))
}

/// What became of one trial of a log.
pub(crate) struct OfTrial {
    /// What it came to; where it is open, the answers that the log holds.
    pub(crate) report: Result<TrialReport, Vec<Answered>>,
    pub(crate) divergence: Option<Divergence>,
    pub(crate) unanswered: usize,
}

/// Goes through all trials of a log, and folds what became of them under a program.
pub(crate) fn each(
    log: &Log,
    linked: &Arc<Linked>,
    schedule: &Schedule,
    of_trial: impl Fn(u64) -> Result<OfTrial, LogError> + Sync,
) -> Result<Replayed, RunError> {
    let numbers = schedule.order(standing(&linked.program, log)?);
    let mut replayed = Replayed {
        report: Report::new(Arc::new(linked.program.clone())).against(baseline(log)?),
        digest: Key([0; 32]),
        ended: 0,
        open: 0,
        divergences: Vec::new(),
        unanswered: 0,
    };
    let mut digest = Digest::of(log.header(), linked.hash);
    let mut diverged: Vec<(u64, Divergence)> = Vec::new();
    let mut fold = |number: u64, of: OfTrial| {
        replayed.unanswered += of.unanswered;
        diverged.extend(of.divergence.map(|divergence| (number, divergence)));
        match of.report {
            Ok(report) => {
                digest.add(&report.key, report.epoch, &report.opened, &report.leaf);
                replayed.report.add(&report);
            }
            Err(answered) => {
                replayed.open += 1;
                for one in &answered {
                    replayed.report.add_call(one);
                }
            }
        }
    };
    side_by_side(&numbers, schedule.threads(numbers.len()), of_trial, &mut fold)?;
    diverged.sort_by_key(|(number, _)| *number);
    replayed.divergences = diverged.into_iter().map(|(_, divergence)| divergence).collect();
    // Trials that never began are in no record but the header's count.
    replayed.open += log.header().trials.unwrap_or_default().saturating_sub(numbers.len() as u64);
    replayed.report.add_open(replayed.open);
    (replayed.digest, replayed.ended) = (digest.finish(), digest.ended());
    Ok(replayed)
}

/// Calls a function for each number, on so many threads, and hands on what comes of it as it comes.
fn side_by_side<T: Send>(
    numbers: &[u64],
    threads: usize,
    of: impl Fn(u64) -> Result<T, LogError> + Sync,
    fold: &mut impl FnMut(u64, T),
) -> Result<(), LogError> {
    if threads == 1 {
        return numbers.iter().try_for_each(|number| {
            fold(*number, of(*number)?);
            Ok(())
        });
    }
    let (next, of) = (AtomicUsize::new(0), &of);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((*number, of(*number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.iter().try_for_each(|(number, found)| {
            fold(number, found?);
            Ok(())
        })
    })
}

fn one(log: &Log, linked: &Arc<Linked>, number: u64, shuffle: Option<u64>, cause: Cause) -> Result<OfTrial, LogError> {
    let logged = log.trial(number)?;
    let (sample, recorded) = recorded_trial(&logged);
    let diverged = |found| Some(Divergence::new(&logged.open.key, logged.open.epoch, found, cause));
    let open = |divergence| OfTrial { report: Err(recorded.answered()), divergence, unanswered: recorded.unanswered };
    Ok(match again(linked, &sample, &recorded, shuffle.map(|seed| drawn(seed, number))) {
        Ok(outcome) => {
            let leaf = outcome.leaf();
            // A trial that was cut off between its last answer and its end has ended all the same.
            let differs = logged.close.as_ref().and_then(|close| differs(&outcome, close, leaf));
            OfTrial {
                report: Ok(outcome::report(&linked.program, &outcome, leaf)),
                divergence: differs.map(Differs::whole).and_then(diverged),
                unanswered: recorded.unanswered,
            }
        }
        Err(Missing::Answer(found)) => open(if logged.close.is_some() { diverged(found) } else { None }),
        Err(Missing::Differs(found)) => open(diverged(found)),
    })
}

/// An ended trial again, from its recorded answers alone. The error says how it differs from its recorded end.
pub(crate) fn closed(
    linked: &Arc<Linked>,
    sample: &Arc<Sample>,
    recorded: &Recorded,
    close: &aigo_log::Close,
) -> Result<(Outcome, Key), Differs> {
    let outcome =
        again(linked, sample, recorded, None).map_err(|(Missing::Answer(found) | Missing::Differs(found))| found)?;
    let leaf = outcome.leaf();
    match differs(&outcome, close, leaf) {
        Some(what) => Err(Differs::whole(what)),
        None => Ok((outcome, leaf)),
    }
}

const NO_ANSWER: &str = "the log has no answer for this call, although the trial has ended";

/// Why a trial cannot be replayed to its end.
pub(crate) enum Missing {
    Answer(Differs),
    Differs(Differs),
}

/// The next ask to answer: any of them, since lanes do not see one another.
pub(crate) fn pick(pending: &mut Vec<Pending>, shuffle: Option<u64>, step: u64) -> Option<Pending> {
    let (Some(seed), Ok(most)) = (shuffle, u64::try_from(pending.len())) else { return pending.pop() };
    let at = drawn(seed, step).checked_rem(most)?;
    Some(pending.swap_remove(usize::try_from(at).unwrap_or(0)))
}

pub(crate) fn again(
    linked: &Arc<Linked>,
    sample: &Arc<Sample>,
    recorded: &Recorded,
    shuffle: Option<u64>,
) -> Result<Outcome, Missing> {
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::clone(sample));
    let mut step = 0;
    // The first ask without an answer is the one to tell of; the lanes beside it do not matter any more.
    while let Some(next) = pick(&mut pending, shuffle, step) {
        step += 1;
        match recorded.find(&next.ask) {
            Found::Answer(answer) => pending.extend(trial.answer(next.lane, answer)),
            Found::Nothing => return Err(Missing::Answer(Differs::at(&next.ask.position, NO_ANSWER))),
            Found::Other { recorded, asked } => {
                let what =
                    format!("something else is asked here than was recorded (content {asked}, recorded {recorded})");
                return Err(Missing::Differs(Differs::at(&next.ask.position, what)));
            }
        }
    }
    trial.outcome().ok_or_else(|| Missing::Differs(Differs::whole("the trial does not end")))
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
        Some((now, then)) if (&now.scorer, now.turn) == (&then.scorer, then.turn) => {
            let turn = now.turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
            let (mut is, mut was) = (shown(now), shown(then));
            if is == was {
                let word =
                    |score: &aigo_log::Score| if score.pass == Some(true) { " that passes" } else { " that fails" };
                is.push_str(word(now));
                was.push_str(word(then));
            }
            format!("the score of `{}`{turn} is {is}, and was recorded as {was}", now.scorer)
        }
        Some((now, then)) => format!("it has a score of `{}` where one of `{}` was recorded", now.scorer, then.scorer),
        None if recomputed.scores.len() != close.scores.len() => {
            format!("it has {} scores, and {} were recorded", recomputed.scores.len(), close.scores.len())
        }
        None => "its positions, contents, answers or reasons hash differently than was recorded".to_owned(),
    })
}

fn shown(score: &aigo_log::Score) -> String {
    score.value.as_ref().map_or_else(|| score.outcome.clone(), ToString::to_string)
}
