//! The driver: a task per trial performs what the machine asks for, records it, and feeds it back; one place owns the report.

use std::sync::Arc;
use std::time::Duration;

use aigo_ir::key::Key;
use aigo_log::{Close, Digest, End, Journal, Record};
use aigo_machine::{Answer, Ask, LaneId, Linked, Outcome, Pending, Sample, Trial};
use aigo_report::{Answered, Report};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::attempts::Calls;
use crate::error::{NO_CLIENT, RunError};
use crate::outcome;
use crate::progress::Progress;
use crate::provider::{Players, Talk};
use crate::recorded::{Found, Recorded};
use crate::replay;
use crate::reuse::Reusable;
use crate::stop::{Stop, StopReason};

/// What a run is told beside its program.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The run's id: sessions of applications are named by it.
    pub run: String,
    /// Calls in flight, and samples in flight.
    pub concurrency: usize,
    /// The digest of the run, of which nothing has ended.
    pub digest: Digest,
    /// All trials of the run: those that never begin are open.
    pub conversations: u64,
    /// The number of the next trial in the log.
    pub next_trial: u64,
    /// Calls that the run has made before: they count against `limits.calls`.
    pub calls_made: u64,
    /// What it has spent before, in 10^-12 USD: it counts against `limits.cost`.
    pub spent: u64,
}

/// A trial to run: new, or begun in the log.
pub struct Planned {
    /// The sample.
    pub sample: Arc<Sample>,
    /// Of a trial that the log holds already: its number and its answers.
    pub begun: Option<(u64, Recorded)>,
    /// Its end, where the log has it: then the trial asks nothing, and has to come to the same again.
    pub closed: Option<Close>,
    /// What an earlier run has of it.
    pub reusable: Option<Arc<Reusable>>,
    /// Of a trial that begins again: the number and the answers of what it leaves behind.
    pub left: Option<(u64, Recorded)>,
}

impl Planned {
    /// A new trial.
    pub const fn new(sample: Arc<Sample>) -> Self {
        Self { sample, begun: None, closed: None, reusable: None, left: None }
    }
}

/// What came of a run.
pub struct Finished {
    /// The folded trials.
    pub report: Report,
    /// The digest over the trials that ended.
    pub digest: Key,
    /// Why it stopped early, if it did.
    pub stopped: Option<StopReason>,
    /// Trials that did not end.
    pub open: u64,
    /// Of one trial that did not end: why.
    pub open_reason: Option<String>,
    /// How far this machine's clock is from an endpoint's, in seconds, where it is more than a minute; positive where it is
    /// ahead.
    pub skew_s: Option<i64>,
    /// Answers of this process that are new, and those of an earlier run that were used again.
    pub answers: (u64, u64),
}

struct Context {
    linked: Arc<Linked>,
    journal: Arc<Journal>,
    stop: Arc<Stop>,
    calls: Calls,
    /// The run's id.
    run: String,
}

/// Runs trials to their end, on a runtime of its own. The first Ctrl-C throws the stop switch and calls `interrupted` with
/// false, the second calls it with true. While it runs, `watch` is told every so often how far it is.
pub fn run(
    linked: Arc<Linked>,
    players: Players,
    journal: Arc<Journal>,
    planned: impl Iterator<Item = Result<Planned, RunError>>,
    settings: Settings,
    interrupted: impl Fn(&StopReason, bool) + Send + 'static,
    watch: (Duration, impl Fn(&Progress) + Send + 'static),
) -> Result<Finished, RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| RunError::told(NO_CLIENT.nowhere(format!("the runtime does not start: {error}"))))?;
    let stop = Arc::new(Stop::default());
    runtime.block_on(async {
        let (switch, mut signals) = (Arc::clone(&stop), Signals::new());
        tokio::spawn(async move {
            let first = signals.next().await;
            switch.stop(first.clone());
            interrupted(&first, false);
            let again = signals.again().await;
            interrupted(&again, true);
        });
        let calls = Calls::new(linked, players, Arc::clone(&journal), Arc::clone(&stop), &settings);
        let run = settings.run.clone();
        let context = Arc::new(Context { linked: Arc::clone(&calls.linked), journal, stop, calls, run });
        let watching = tokio::spawn(watched(Arc::clone(&context), watch));
        let finished = run_trials(context, planned, settings).await;
        watching.abort();
        finished
    })
}

/// The signals that ask for an end. They are listened to from the beginning on, so that none is lost between two.
struct Signals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    /// Of a terminal that is closed.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
        let hangup = hears_hangups().then(|| signal(SignalKind::hangup()).ok()).flatten();
        Self { interrupt, terminate, hangup }
    }

    #[cfg(not(unix))]
    const fn new() -> Self {
        Self {}
    }

    /// Waits for the next one.
    #[cfg(unix)]
    async fn next(&mut self) -> StopReason {
        async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = received(&mut self.interrupt) => StopReason::Interrupted,
            () = received(&mut self.terminate) => StopReason::Terminated,
            () = received(&mut self.hangup) => StopReason::Terminated,
        }
    }

    /// Waits for one that asks once more. The end of a terminal is told several times, and asks once.
    #[cfg(unix)]
    async fn again(&mut self) -> StopReason {
        // The signal stays caught: it is only not heard any more.
        self.hangup = None;
        self.next().await
    }

    #[cfg(not(unix))]
    async fn again(&mut self) -> StopReason {
        self.next().await
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> StopReason {
        let _ = tokio::signal::ctrl_c().await;
        StopReason::Interrupted
    }
}

/// Whether the end of its terminal ends this process. Under `nohup` it does not, and listening would undo that; where the system
/// does not say it (only Linux does), it is left as it is.
#[cfg(unix)]
fn hears_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
}

/// Tells how far the run is, every so often.
async fn watched(context: Arc<Context>, (every, watch): (Duration, impl Fn(&Progress) + Send)) {
    let begun = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(every).await;
        watch(&context.calls.meter.read(context.calls.purse.spent_usd(), begun.elapsed()));
    }
}

/// Runs trials. A planned trial that is an error stops the run before anything of it is recorded: calls in flight come home, as
/// with any other stop. The stop switch can be thrown from outside.
async fn run_trials(
    context: Arc<Context>,
    planned: impl Iterator<Item = Result<Planned, RunError>>,
    settings: Settings,
) -> Result<Finished, RunError> {
    let stop = Arc::clone(&context.stop);
    let in_flight = settings.concurrency.clamp(1, Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(in_flight));
    let deadline = time_limit(&context);
    let (sender, receiver) = mpsc::channel::<Ended>(in_flight.min(1024));
    let folding = tokio::spawn(fold(Arc::clone(&context), settings.digest, settings.conversations, receiver));
    let sender_of_faults = sender.clone();
    let mut tasks = JoinSet::new();
    let mut next_trial = settings.next_trial;
    for trial in planned {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => {
                stop.stop(StopReason::Samples(Arc::new(error)));
                break;
            }
        };
        let number = trial.begun.as_ref().map_or(next_trial, |(number, _)| *number);
        next_trial = next_trial.max(number + 1);
        // After a stop the rest of the samples is only counted. Those that the log holds are gone through all the same: one
        // whose answers are all there has ended, as replay will say.
        if stop.is_stopped() && trial.begun.is_none() {
            let _ = sender.send(Ended::Open(None, Vec::new())).await;
            continue;
        }
        let (context, sender) = (Arc::clone(&context), sender.clone());
        tasks.spawn(async move {
            let ended = perform(&context, number, trial).await;
            let _ = sender.send(ended).await;
            drop(place);
        });
        while let Some(joined) = tasks.try_join_next() {
            survived(joined, &stop, &sender_of_faults).await;
        }
    }
    drop(sender);
    while let Some(joined) = tasks.join_next().await {
        survived(joined, &stop, &sender_of_faults).await;
    }
    drop(sender_of_faults);
    let folded = folding.await.map_err(|error| RunError::told(crate::error::BAD_PROGRAM.nowhere(error.to_string())))?;
    if let Some(deadline) = deadline {
        deadline.abort();
    }
    Ok(Finished {
        report: folded.report,
        digest: folded.digest.finish(),
        stopped: stop.reason(),
        open: folded.open,
        open_reason: folded.open_reason,
        skew_s: context.calls.skew_s(),
        answers: context.calls.meter.answers(),
    })
}

/// A trial whose task has panicked is open, and the run is over: aigo is at fault.
async fn survived(joined: Result<(), tokio::task::JoinError>, stop: &Stop, sender: &mpsc::Sender<Ended>) {
    if let Err(error) = joined {
        stop.stop(StopReason::Fault(error.to_string()));
        let _ = sender.send(Ended::Open(None, Vec::new())).await;
    }
}

impl Finished {
    /// Writes the run's end, with the exit code that the command will give, and closes the log.
    pub fn seal(&self, journal: &Journal, exit: i32) -> Result<(), RunError> {
        journal.append(&Record::End(End { digest: self.digest, exit }))?;
        journal.finish()?;
        Ok(())
    }
}

fn time_limit(context: &Arc<Context>) -> Option<tokio::task::JoinHandle<()>> {
    let seconds = context.linked.program.limits.time_s?;
    let stop = Arc::clone(&context.stop);
    Some(tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        stop.stop(StopReason::Limit(format!("`limits.time` of {seconds} s")));
    }))
}

/// How a trial's task ended.
enum Ended {
    Outcome(Box<Outcome>, Key),
    /// Why, where it is not the run's reason, and the answers that the log holds.
    Open(Option<String>, Vec<Answered>),
}

struct Folded {
    report: Report,
    digest: Digest,
    open: u64,
    open_reason: Option<String>,
}

async fn fold(
    context: Arc<Context>,
    digest: Digest,
    conversations: u64,
    mut receiver: mpsc::Receiver<Ended>,
) -> Folded {
    let program = Arc::new(context.linked.program.clone());
    let report = Report::new(Arc::clone(&program));
    let mut folded = Folded { report, digest, open: 0, open_reason: None };
    while let Some(ended) = receiver.recv().await {
        match ended {
            Ended::Outcome(outcome, leaf) => {
                context.calls.meter.ended();
                let trial = outcome::report(&program, &outcome, leaf);
                folded.digest.add(&trial.key, trial.epoch, &trial.opened, &trial.leaf);
                folded.report.add(&trial);
            }
            Ended::Open(reason, answered) => {
                context.calls.meter.stays_open();
                folded.open += 1;
                for one in &answered {
                    folded.report.add_call(one);
                }
                folded.open_reason = folded.open_reason.or(reason);
            }
        }
    }
    // Those that were never planned.
    folded.open += conversations.saturating_sub(folded.digest.ended() + folded.open);
    folded.report.add_open(folded.open);
    folded
}

/// Runs one trial to its end, or to where it stays open.
async fn perform(context: &Arc<Context>, number: u64, planned: Planned) -> Ended {
    let Planned { sample, begun, closed, reusable, left } = planned;
    if let Some((left, recorded)) = left {
        let answered = recorded.answered();
        if let Err(reason) = take_down(context, left, &sample, recorded).await {
            return Ended::Open(reason, answered);
        }
    }
    let is_new = begun.is_none();
    let mut recorded = begun.map(|(_, recorded)| recorded).unwrap_or_default();
    recorded.reusable = reusable;
    if let Some(close) = closed {
        return match replay::closed(&context.linked, &sample, &recorded, &close) {
            Ok((outcome, leaf)) => Ended::Outcome(Box::new(outcome), leaf),
            Err(what) => {
                let message = format!("sample {}, epoch {}: {what}", sample.key, sample.epoch);
                context.stop.stop(StopReason::Diverged(message));
                Ended::Open(None, Vec::new())
            }
        };
    }
    if is_new && let Err(error) = context.journal.append(&Record::Open(outcome::open(number, &sample))) {
        context.stop.stop(StopReason::Log(error));
        return Ended::Open(None, Vec::new());
    }
    let (mut trial, pending) = Trial::start(Arc::clone(&context.linked), sample);
    let mut answered = recorded.answered();
    let talk = Arc::new(Talk::new(&context.run, number));
    let known = Known { recorded: Arc::new(recorded), talk: Arc::clone(&talk) };
    let conversed = converse(context, number, &mut trial, pending, &known, &mut answered).await;
    talk.end().await;
    if let Err(reason) = conversed {
        return Ended::Open(reason, answered);
    }
    let Some(outcome) = trial.outcome() else {
        return Ended::Open(Some("the trial does not end".to_owned()), answered);
    };
    let leaf = outcome.leaf();
    if let Err(error) = context.journal.append(&Record::Close(outcome::close(number, &outcome, leaf))) {
        context.stop.stop(StopReason::Log(error));
    }
    Ended::Outcome(Box::new(outcome), leaf)
}

/// Takes down what the `setup` of a trial made that begins again, under the number that it had. What it had not made stays so.
async fn take_down(
    context: &Arc<Context>,
    number: u64,
    sample: &Arc<Sample>,
    recorded: Recorded,
) -> Result<(), Option<String>> {
    let known = |ask: &Ask| match recorded.find(ask) {
        Found::Answer(answer) => Some(answer),
        Found::Nothing | Found::Other { .. } => None,
    };
    let (mut trial, mut pending) = Trial::left(Arc::clone(&context.linked), Arc::clone(sample), known);
    let talk = Talk::new(&context.run, number);
    while let Some(Pending { lane, ask }) = pending.pop() {
        // What was made is not made again, though a conversation that went on might ask it in other words.
        let answer = match recorded.at(&ask) {
            Some(answer) => answer.clone(),
            None => context.calls.answer(number, &recorded, &talk, &ask).await?.0,
        };
        pending = trial.answer(lane, answer);
    }
    talk.end().await;
    Ok(())
}

/// What became of an ask: the lane, the role, the answer and whether it is new, or why there is none.
type Came = (LaneId, Arc<str>, Result<(Answer, bool), Option<String>>);

/// What a trial has beside its program: its recorded answers, and what it keeps of its applications.
#[derive(Clone)]
struct Known {
    recorded: Arc<Recorded>,
    talk: Arc<Talk>,
}

/// Answers what a trial asks until it asks nothing more. One ask alone is answered here; several, each in a task of its own.
/// New answers are counted.
async fn converse(
    context: &Arc<Context>,
    number: u64,
    trial: &mut Trial,
    mut pending: Vec<Pending>,
    known: &Known,
    answered: &mut Vec<Answered>,
) -> Result<(), Option<String>> {
    let mut count = |role: &Arc<str>, answer: &Answer, new: bool| {
        if new {
            answered.push(outcome::answered(role, answer));
        }
    };
    let mut side_by_side: JoinSet<Came> = JoinSet::new();
    let mut failed: Option<Option<String>> = None;
    loop {
        if side_by_side.is_empty() && pending.len() == 1 && failed.is_none() {
            let Some(Pending { lane, ask }) = pending.pop() else { continue };
            let (answer, new) = context.calls.answer(number, &known.recorded, &known.talk, &ask).await?;
            count(&ask.request.role, &answer, new);
            pending = trial.answer(lane, answer);
            continue;
        }
        // Calls in flight come home even where one has failed: their answers are recorded and not bought again.
        for Pending { lane, ask } in pending.drain(..).take_while(|_| failed.is_none()) {
            let (context, known) = (Arc::clone(context), known.clone());
            side_by_side.spawn(async move {
                let answer = context.calls.answer(number, &known.recorded, &known.talk, &ask).await;
                (lane, ask.request.role, answer)
            });
        }
        match side_by_side.join_next().await {
            None => return failed.map_or(Ok(()), Err),
            Some(Ok((lane, role, Ok((answer, new))))) => {
                count(&role, &answer, new);
                pending = trial.answer(lane, answer);
            }
            Some(Ok((_, _, Err(reason)))) => failed = failed.or(Some(reason)),
            Some(Err(error)) => failed = failed.or(Some(Some(error.to_string()))),
        }
    }
}
