//! The driver: a task per trial performs what the machine asks for, records it, and feeds it back; one place owns the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aigo_ir::key::Key;
use aigo_ir::value::Value;
use aigo_log::{Ask as AskRecord, Close, End, Journal, Open, Record};
use aigo_machine::{Answer, Ask, LaneId, Linked, Outcome, Pending, Sample, Trial};
use aigo_report::Report;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::error::{NO_CLIENT, RunError};
use crate::fault::{Class, Fault};
use crate::outcome;
use crate::provider::Players;
use crate::recorded::{Found, Recorded, content};
use crate::replay;
use crate::stop::{Stop, StopReason};

/// What a run is told beside its program.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Calls in flight, and samples in flight.
    pub concurrency: usize,
    /// The dataset's hash: part of the digest.
    pub dataset: Key,
    /// The number of the next trial in the log.
    pub next_trial: u64,
    /// Calls that the run has made before: they count against `limits.calls`.
    pub calls_made: u64,
}

/// A trial to run: new, or begun in the log.
pub struct Planned {
    /// The sample.
    pub sample: Arc<Sample>,
    /// Of a trial that the log holds already: its number and its answers.
    pub begun: Option<(u64, Recorded)>,
    /// Its end, where the log has it: then the trial asks nothing, and has to come to the same again.
    pub closed: Option<Close>,
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
}

struct Context {
    linked: Arc<Linked>,
    players: Players,
    journal: Arc<Journal>,
    stop: Arc<Stop>,
    calls: AtomicU64,
}

/// Runs trials to their end, on a runtime of its own. The first Ctrl-C throws the stop switch and calls `interrupted` with
/// false, the second calls it with true.
pub fn run(
    linked: Arc<Linked>,
    players: Players,
    journal: Arc<Journal>,
    planned: impl Iterator<Item = Result<Planned, RunError>>,
    settings: Settings,
    interrupted: impl Fn(bool) + Send + 'static,
) -> Result<Finished, RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| RunError::told(NO_CLIENT.nowhere(format!("the runtime does not start: {error}"))))?;
    let stop = Arc::new(Stop::default());
    runtime.block_on(async {
        let switch = Arc::clone(&stop);
        tokio::spawn(async move {
            switch.stop(signal().await);
            interrupted(false);
            signal().await;
            interrupted(true);
        });
        run_trials(linked, players, journal, planned, settings, stop).await
    })
}

/// Waits for the next signal to stop.
async fn signal() -> StopReason {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        return tokio::select! {
            _ = tokio::signal::ctrl_c() => StopReason::Interrupted,
            _ = terminate.recv() => StopReason::Terminated,
        };
    }
    let _ = tokio::signal::ctrl_c().await;
    StopReason::Interrupted
}

/// Runs trials. A planned trial that is an error ends the run before anything of it is recorded; those begun before it come
/// to their end. The stop switch can be thrown from outside.
async fn run_trials(
    linked: Arc<Linked>,
    players: Players,
    journal: Arc<Journal>,
    planned: impl Iterator<Item = Result<Planned, RunError>>,
    settings: Settings,
    stop: Arc<Stop>,
) -> Result<Finished, RunError> {
    let program = Arc::new(linked.program.clone());
    let in_flight = settings.concurrency.clamp(1, Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(in_flight));
    let context = Arc::new(Context {
        linked,
        players,
        journal,
        stop: Arc::clone(&stop),
        calls: AtomicU64::new(settings.calls_made),
    });
    let deadline = time_limit(&context);
    let (sender, receiver) = mpsc::channel::<Ended>(in_flight.min(1024));
    let folding = tokio::spawn(fold(Arc::clone(&program), receiver));
    let sender_of_faults = sender.clone();
    let mut tasks = JoinSet::new();
    let mut next_trial = settings.next_trial;
    let mut failed = None;
    for trial in planned {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => {
                failed = Some(error);
                break;
            }
        };
        let number = trial.begun.as_ref().map_or(next_trial, |(number, _)| *number);
        next_trial = next_trial.max(number + 1);
        // After a stop the rest of the samples is only counted. Those that the log holds are gone through all the same: one
        // whose answers are all there has ended, as replay will say.
        if stop.is_stopped() && trial.begun.is_none() {
            let _ = sender.send(Ended::Open(None)).await;
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
    if let Some(error) = failed {
        return Err(error);
    }
    let digest = outcome::digest(&context.linked.hash, &settings.dataset, &folded.report);
    Ok(Finished {
        report: folded.report,
        digest,
        stopped: stop.reason(),
        open: folded.open,
        open_reason: folded.open_reason,
    })
}

/// A trial whose task has panicked is open, and the run is over: aigo is at fault.
async fn survived(joined: Result<(), tokio::task::JoinError>, stop: &Stop, sender: &mpsc::Sender<Ended>) {
    if let Err(error) = joined {
        stop.stop(StopReason::Fault(error.to_string()));
        let _ = sender.send(Ended::Open(None)).await;
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
    Open(Option<String>),
}

struct Folded {
    report: Report,
    open: u64,
    open_reason: Option<String>,
}

async fn fold(program: Arc<aigo_ir::program::Program>, mut receiver: mpsc::Receiver<Ended>) -> Folded {
    let report = Report::new(Arc::clone(&program));
    let mut folded = Folded { report, open: 0, open_reason: None };
    while let Some(ended) = receiver.recv().await {
        match ended {
            Ended::Outcome(outcome, leaf) => {
                folded.report.add(outcome::report(&program, &outcome, leaf));
            }
            Ended::Open(reason) => {
                folded.open += 1;
                folded.open_reason = folded.open_reason.or(reason);
            }
        }
    }
    folded.report.add_open(folded.open);
    folded
}

/// Runs one trial to its end, or to where it stays open.
async fn perform(context: &Arc<Context>, number: u64, planned: Planned) -> Ended {
    let Planned { sample, begun, closed } = planned;
    let is_new = begun.is_none();
    let recorded = begun.map(|(_, recorded)| recorded).unwrap_or_default();
    if let Some(close) = closed {
        return match replay::closed(&context.linked, &sample, &recorded, &close) {
            Ok((outcome, leaf)) => Ended::Outcome(Box::new(outcome), leaf),
            Err(what) => {
                let message = format!("sample {}, epoch {}: {what}", sample.key, sample.epoch);
                context.stop.stop(StopReason::Diverged(message));
                Ended::Open(None)
            }
        };
    }
    if is_new {
        let open = Open {
            trial: number,
            key: sample.key.to_string(),
            epoch: sample.epoch,
            graph: sample.graph.to_string(),
            row: Value::Map(Arc::clone(&sample.row)),
            messages: (!sample.conversation.messages().is_empty()).then(|| sample.conversation.record()),
            tags: sample.tags.iter().map(ToString::to_string).collect(),
            cluster: sample.cluster.as_ref().map(ToString::to_string),
        };
        if let Err(error) = context.journal.append(&Record::Open(open)) {
            context.stop.stop(StopReason::Log(error));
            return Ended::Open(None);
        }
    }
    let (mut trial, pending) = Trial::start(Arc::clone(&context.linked), sample);
    if let Err(reason) = converse(context, number, &mut trial, pending, recorded).await {
        return Ended::Open(reason);
    }
    let Some(outcome) = trial.outcome() else { return Ended::Open(Some("the trial does not end".to_owned())) };
    let leaf = outcome.leaf();
    if let Err(error) = context.journal.append(&Record::Close(outcome::close(number, &outcome, leaf))) {
        context.stop.stop(StopReason::Log(error));
    }
    Ended::Outcome(Box::new(outcome), leaf)
}

/// Answers what a trial asks until it asks nothing more. One ask alone is answered here; several, each in a task of its own.
async fn converse(
    context: &Arc<Context>,
    number: u64,
    trial: &mut Trial,
    mut pending: Vec<Pending>,
    recorded: Recorded,
) -> Result<(), Option<String>> {
    let recorded = Arc::new(recorded);
    let mut side_by_side: JoinSet<(LaneId, Result<Answer, Option<String>>)> = JoinSet::new();
    let mut failed: Option<Option<String>> = None;
    loop {
        if side_by_side.is_empty() && pending.len() == 1 && failed.is_none() {
            let Some(Pending { lane, ask }) = pending.pop() else { continue };
            let answer = answer(context, number, &recorded, ask).await?;
            pending = trial.answer(lane, answer);
            continue;
        }
        // Calls in flight come home even where one has failed: their answers are recorded and not bought again.
        for Pending { lane, ask } in pending.drain(..).take_while(|_| failed.is_none()) {
            let (context, recorded) = (Arc::clone(context), Arc::clone(&recorded));
            side_by_side.spawn(async move { (lane, answer(&context, number, &recorded, ask).await) });
        }
        match side_by_side.join_next().await {
            None => return failed.map_or(Ok(()), Err),
            Some(Ok((lane, Ok(answer)))) => pending = trial.answer(lane, answer),
            Some(Ok((_, Err(reason)))) => failed = failed.or(Some(reason)),
            Some(Err(error)) => failed = failed.or(Some(Some(error.to_string()))),
        }
    }
}

/// The answer to an ask: the recorded one, or a new one, which is durable before it is given. The error is why the trial
/// stays open, where it is not the run's reason.
async fn answer(context: &Context, number: u64, recorded: &Recorded, ask: Ask) -> Result<Answer, Option<String>> {
    match recorded.find(&ask) {
        Found::Answer(answer) => return Ok(answer),
        Found::Nothing => {}
        Found::Other { .. } => {
            let place = format!("{} at {}", ask.position.graph, ask.position.node);
            return Err(Some(format!("{place}: something else is asked than the log has recorded")));
        }
    }
    let permit = context.players.enter(&context.linked, &ask, &|| context.stop.is_stopped()).await;
    if context.stop.is_stopped() {
        return Err(None);
    }
    let asked = intend(context, number, &ask, recorded.was_asked(&ask))?;
    let reply = match context.players.ask(&context.linked, &ask, permit, || context.stop.is_stopped()).await {
        Ok(reply) => reply,
        Err(fault) => return Err(Some(open(context, &ask, &fault))),
    };
    let got = outcome::got(number, asked, &reply.answer, reply.model, reply.lossy);
    let (wake, durable) = oneshot::channel();
    let then = move |result| {
        let _ = wake.send(result);
    };
    context.journal.commit(&Record::Got(got), then).map_err(|error| logged(context, error))?;
    match durable.await {
        Ok(Ok(())) => Ok(reply.answer),
        Ok(Err(error)) => Err(logged(context, error)),
        // The journal is gone: the run is over.
        Err(_) => Err(None),
    }
}

/// Records that a call is about to be made: this has returned from the system before a byte is sent. The run's limit of
/// calls is kept here. A call that an earlier process was about to make is made again, which is said with it.
fn intend(context: &Context, number: u64, ask: &Ask, retry: bool) -> Result<u64, Option<String>> {
    let made = context.calls.fetch_add(1, Ordering::Relaxed);
    if let Some(most) = context.linked.program.limits.calls
        && made >= most
    {
        context.stop.stop(StopReason::Limit(format!("`limits.calls` of {most}")));
        return Err(None);
    }
    let record = AskRecord {
        trial: number,
        graph: ask.position.graph.to_string(),
        node: ask.position.node.to_string(),
        index: ask.position.index.clone(),
        content: content(ask),
        role: ask.request.role.to_string(),
        retry,
    };
    context.journal.write(&Record::Ask(record)).map_err(|error| logged(context, error))
}

/// The log cannot be written: nothing more can be done.
fn logged(context: &Context, error: aigo_log::LogError) -> Option<String> {
    context.stop.stop(StopReason::Log(error));
    None
}

/// A fault that no repetition has mended. One that holds for the whole endpoint stops the run.
fn open(context: &Context, ask: &Ask, fault: &Fault) -> String {
    let message = format!("the role `{}`: {}", ask.request.role, fault.message);
    if matches!(fault.class, Class::Auth | Class::Quota | Class::Config) {
        context.stop.stop(StopReason::Endpoint(message.clone()));
    }
    message
}
