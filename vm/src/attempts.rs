//! The attempts of one call: what is tried again, after which pause, and what is not.
//!
//! ```text
//! place at the endpoint -> money -> log `ask` -> client -> answer: log `got`, durable
//!        ^                                              -> refused for now: everyone rests, again
//!        +---------------- pause <----------------------- broken: again, within the cap and the run's budget
//!                                                       -> refused for good: recorded as the answer's fault
//!                                                       -> key, money, address: the run stops
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use aigo_ir::key::KeyWriter;
use aigo_ir::program::Player;
use aigo_log::{Ask as AskRecord, At, Got, Journal, Record, Site};
use aigo_machine::{Answer, Ask, Linked};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::fault::{Class, Fault};
use crate::limiter::{LONGEST_REST, Place, Rest};
use crate::outcome;
use crate::progress::Meter;
use crate::provider::{Kind, PlayerOf, Players, Reply, Talk, scripted};
use crate::purse::{self, Purse};
use crate::rates::Rates;
use crate::recorded::{Found, Recorded, content};
use crate::reuse::Held;
use crate::stop::{Stop, StopReason};

/// Attempts of one call at what may go well next time: the first and its retries.
const MOST_ATTEMPTS: u32 = 6;
/// Attempts at what will most likely be the same next time.
const FEW_ATTEMPTS: u32 = 3;
/// Rests of an endpoint in a row, without an answer between them, where it says how long, and where it does not: who never
/// says when has mostly no money left to give.
const MOST_RESTS: u32 = 60;
const MOST_SILENT_RESTS: u32 = 8;
const FIRST_PAUSE_MS: u64 = 500;
const LONGEST_PAUSE_MS: u64 = 30_000;
/// Of the requests of a run, one in so many may be a repeat, beyond a start that every call in flight can use up once.
const ONE_REPEAT_IN: u64 = 5;

/// The most attempts that a run makes for so many calls, with so many in flight: each call is tried up to `MOST_ATTEMPTS` times,
/// within the run's budget of repeats. What a rate limit refuses is waited for, and not counted.
pub fn most_attempts(calls: u64, in_flight: u64) -> u64 {
    let repeats_of_each = u64::from(MOST_ATTEMPTS - 1);
    let free = in_flight.saturating_mul(repeats_of_each);
    // Repeats are at most `free` and one in so many of what was made, and a repeat is made, too.
    let budget = free.saturating_mul(ONE_REPEAT_IN).saturating_add(calls).div_ceil(ONE_REPEAT_IN - 1);
    calls.saturating_add(calls.saturating_mul(repeats_of_each).min(budget))
}

/// What the calls of a run share.
pub(crate) struct Calls {
    pub(crate) linked: Arc<Linked>,
    players: Players,
    journal: Arc<Journal>,
    stop: Arc<Stop>,
    pub(crate) purse: Purse,
    pub(crate) meter: Meter,
    /// Calls that were about to be made, those of earlier processes included.
    made: AtomicU64,
    /// Repeats, and how many there may be before one in [`ONE_REPEAT_IN`] counts.
    repeats: AtomicU64,
    free_repeats: u64,
    /// How far this machine's clock is from an endpoint's, in seconds, where it is far.
    skew_s: AtomicI64,
}

/// Why a trial stays open; none where it is the run's reason.
pub(crate) type Open = Option<String>;

/// A call on its way.
struct Call<'c> {
    trial: u64,
    ask: &'c Ask,
    /// None of a call around a sample, which no role makes.
    player: Option<&'c Player>,
    talk: &'c Talk,
    /// How often the player had answered when the call was first tried.
    answers: u64,
    attempt: u32,
    rests: u32,
    /// The line of the log that says that it is about to be made, as long as no attempt that may be billed belongs to it.
    asked: Option<u64>,
    /// An attempt was made whose answer never came.
    lost: bool,
}

/// What follows a fault.
enum Next {
    Again(Duration),
    Answer(Answer),
    Open(String),
}

impl Calls {
    pub(crate) fn new(
        linked: Arc<Linked>,
        players: Players,
        journal: Arc<Journal>,
        stop: Arc<Stop>,
        settings: &crate::driver::Settings,
    ) -> Self {
        let purse = Purse::new(linked.program.limits.cost_usd, settings.spent);
        Self {
            linked,
            players,
            journal,
            stop,
            purse,
            meter: Meter::default(),
            made: AtomicU64::new(settings.calls_made),
            repeats: AtomicU64::new(0),
            free_repeats: settings.concurrency as u64 * u64::from(MOST_ATTEMPTS - 1),
            skew_s: AtomicI64::new(0),
        }
    }

    /// How far this machine's clock is from an endpoint's, in seconds, where it is more than a minute.
    pub(crate) fn skew_s(&self) -> Option<i64> {
        Some(self.skew_s.load(Ordering::Relaxed)).filter(|skew| skew.abs() > 60)
    }

    /// The answer to an ask, and whether it is new: the recorded one, or a new one, which is durable before it is given.
    pub(crate) async fn answer(
        &self,
        trial: u64,
        recorded: &Recorded,
        talk: &Talk,
        ask: &Ask,
    ) -> Result<(Answer, bool), Open> {
        match recorded.find(ask) {
            Found::Answer(answer) => {
                if let Some(session) = &answer.session {
                    talk.keep(&ask.request.role, session);
                }
                return Ok((answer, false));
            }
            Found::Nothing => {}
            Found::Other { .. } => {
                let place = format!("{} at {}", ask.position.graph, ask.position.node);
                return Err(Some(format!("{place}: something else is asked than the log has recorded")));
            }
        }
        if let Some(held) = recorded.held(ask) {
            return self.use_again(trial, ask, held);
        }
        if recorded.keeps(ask) {
            let place = format!("{} at {}", ask.position.graph, ask.position.node);
            return Err(Some(format!(
                "{place}: the parent has no answer for this call, and its conversations stay as they are"
            )));
        }
        if self.stop.is_stopped() {
            return Err(None);
        }
        let Some((at, player)) = self.of(ask) else {
            return Err(Some(format!("nobody plays the role `{}`", ask.request.role)));
        };
        let lost = recorded.was_asked(ask);
        let answers = at.answers();
        let mut call = Call { trial, ask, player, talk, answers, attempt: 1, rests: 0, asked: None, lost };
        if lost && self.linked.program.acts_once(&ask.request.role) {
            // It may have been done, and doing it twice is another thing than doing it once.
            let asked = self.intend(&call, None)?;
            let text = "it was called when a process ended, and may have been done: it is not `idempotent`";
            let fault = Fault::failed("interrupted", text, false);
            let reply = Reply { answer: failed("interrupted", &fault), ..Reply::default() };
            return self.got(trial, asked, reply).await;
        }
        match (&at.kind, player) {
            (Kind::Scripted, Some(Player::Scripted(rules))) => {
                let asked = self.intend(&call, None)?;
                let answer = scripted::answer(&self.linked, rules, ask);
                self.got(trial, asked, Reply { answer, ..Reply::default() }).await
            }
            _ => self.ask(at, &mut call).await,
        }
    }

    fn of(&self, ask: &Ask) -> Option<(&PlayerOf, Option<&Player>)> {
        let name = &*ask.request.role;
        Some((self.players.of(name)?, self.linked.program.role(name).map(|role| &role.player)))
    }

    /// Asks an endpoint until there is an answer, or a fault that repetition does not mend. A fault of the request itself is
    /// an answer: it would come again.
    async fn ask(&self, at: &PlayerOf, call: &mut Call<'_>) -> Result<(Answer, bool), Open> {
        let most = if self.purse.is_limited() {
            Some(call.player.map_or(0, |player| purse::most(player, &call.ask.request)))
        } else {
            None
        };
        let mut last: Open = None;
        loop {
            // Money is reserved with a place in hand, and never the other way round: who has money waits for nothing.
            let Some(mut place) = at.limiter.enter(&self.stop).await else { return Err(last) };
            let Some(reserved) = self.purse.reserve(most.unwrap_or(0), &self.stop).await else {
                if let Some(usd) = self.linked.program.limits.cost_usd.filter(|_| !self.stop.is_stopped()) {
                    self.stop.stop(StopReason::Limit(format!("`limits.cost` of {usd} USD")));
                }
                return Err(last);
            };
            if self.stop.is_stopped() {
                return Err(last);
            }
            let asked = match call.asked.take() {
                Some(asked) => asked,
                None => self.intend(call, most)?,
            };
            let sent = Instant::now();
            match self.attempt(&at.kind, call).await {
                Ok(mut reply) => {
                    at.has_answered();
                    at.limiter.went_well(&mut place, &reply.rates);
                    drop(place);
                    self.look_at_clock(&reply.rates);
                    reserved.spend(call.player.map_or(Some(0), |player| purse::spent(player, &reply.answer.usage)));
                    reply.answer.ms = u64::try_from(sent.elapsed().as_millis()).ok();
                    // The program in the log says which model was asked for.
                    reply.model = reply.model.filter(|served| call.player.and_then(model) != Some(served));
                    return self.got(call.trial, asked, reply).await;
                }
                Err(fault) => {
                    let rest = tell(at, &mut place, &fault, call);
                    drop(place);
                    self.look_at_clock(&fault.rates);
                    if fault.billed {
                        reserved.spend(None);
                        call.lost = true;
                    } else {
                        drop(reserved);
                        call.asked = Some(asked);
                    }
                    match self.next(call, &fault, rest, at.answers()) {
                        Next::Answer(mut answer) => {
                            answer.ms = u64::try_from(sent.elapsed().as_millis()).ok();
                            let reply = Reply { answer, ..Reply::default() };
                            return self.got(call.trial, asked, reply).await;
                        }
                        Next::Open(message) => return Err(Some(message)),
                        Next::Again(pause) => {
                            self.meter.asks_again();
                            last = Some(told(call.ask, &fault));
                            if !pause.is_zero() {
                                tokio::select! {
                                    () = tokio::time::sleep(pause) => {}
                                    () = self.stop.stopped() => return Err(last),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What follows a fault, by its class.
    fn next(&self, call: &mut Call<'_>, fault: &Fault, rest: Option<Rest>, answers: u64) -> Next {
        let message = told(call.ask, fault);
        let stops = |message: String| {
            self.stop.stop(StopReason::Endpoint(message.clone()));
            Next::Open(message)
        };
        let most = match &fault.class {
            Class::Request(word) => {
                // What the server said is kept: it is all that tells a wrong parameter from a bad application.
                return Next::Answer(failed(word, fault));
            }
            Class::Failed { word, again } => {
                if !again || call.attempt >= FEW_ATTEMPTS || !self.may_repeat() {
                    return Next::Answer(failed(word, fault));
                }
                return Self::again(call, fault);
            }
            // Others got through meanwhile: then it is a failure of this call, and otherwise nobody is there.
            Class::NoConnection if call.attempt >= FEW_ATTEMPTS && answers > call.answers => {
                return Next::Answer(failed("no_connection", fault));
            }
            Class::NoConnection if call.attempt >= FEW_ATTEMPTS => {
                return stops(format!("{message} ({FEW_ATTEMPTS} attempts): the application cannot be reached"));
            }
            Class::Auth | Class::Quota | Class::Config => return stops(message),
            Class::RateLimit => {
                let Some(Rest { in_a_row, lasts }) = rest else { return Next::Again(Duration::ZERO) };
                call.rests += 1;
                let silent = fault.rates.wait().is_none();
                return match in_a_row {
                    _ if lasts > LONGEST_REST => {
                        let (asks, most) = (lasts.as_secs(), LONGEST_REST.as_secs());
                        stops(format!("{message} (it wants a rest of {asks} s, and aigo waits for at most {most} s)"))
                    }
                    n if silent && n >= MOST_SILENT_RESTS => {
                        stops(format!("{message} ({n} refusals in a row, none of which says until when)"))
                    }
                    n if n >= MOST_RESTS => stops(format!("{message} ({n} refusals in a row)")),
                    // Others are answered in between: it is this call that has no luck.
                    _ if call.rests >= MOST_RESTS => Next::Open(format!("{message} ({MOST_RESTS} refusals)")),
                    _ => Next::Again(Duration::ZERO),
                };
            }
            Class::Transient | Class::Overloaded => MOST_ATTEMPTS,
            Class::Protocol | Class::Unreachable | Class::NoConnection => FEW_ATTEMPTS,
        };
        if call.attempt >= most {
            let message = format!("{message} ({most} attempts)");
            return if fault.class == Class::Unreachable { stops(message) } else { Next::Open(message) };
        }
        if !self.may_repeat() {
            let (repeats, made) = (self.repeats.load(Ordering::Relaxed), self.made.load(Ordering::Relaxed));
            return stops(format!("{message} ({repeats} repeats of {made} calls: too many of them fail)"));
        }
        Self::again(call, fault)
    }

    /// Whether the run's budget has a repeat left; then it is taken.
    fn may_repeat(&self) -> bool {
        let (repeats, made) = (self.repeats.fetch_add(1, Ordering::Relaxed), self.made.load(Ordering::Relaxed));
        repeats < self.free_repeats + made / ONE_REPEAT_IN
    }

    fn again(call: &mut Call<'_>, fault: &Fault) -> Next {
        call.attempt += 1;
        // An endpoint may say when also where it has broken down.
        let least = fault.rates.retry_after.unwrap_or_default().min(Duration::from_millis(LONGEST_PAUSE_MS));
        Next::Again(pause(call.ask, call.attempt).max(least))
    }

    /// One attempt, within the time that its step gives it. An answer that takes longer is none, and would take longer again.
    /// Nothing behind this has seen a secret of the run.
    async fn attempt(&self, client: &Kind, call: &Call<'_>) -> Result<Reply, Fault> {
        let asking = client.ask(&self.linked, call.ask, call.talk);
        let mut outcome = match call.ask.timeout_s {
            None => asking.await,
            Some(seconds) => {
                let within = tokio::time::timeout(Duration::from_secs(seconds), asking).await;
                within.unwrap_or_else(|_| {
                    let fault =
                        Fault::new(Class::Request("timeout"), format!("no answer within the step's {seconds} s"));
                    Err(Fault { billed: true, ..fault })
                })
            }
        };
        self.players.clean(&mut outcome);
        outcome
    }

    /// Records that a call is about to be made: this has returned from the system before a byte is sent. The run's limit of
    /// calls is kept here. A call of which an attempt may have been billed without an answer is made again, which is said
    /// with it.
    fn intend(&self, call: &Call<'_>, most: Option<u64>) -> Result<u64, Open> {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        if let Some(limit) = self.linked.program.limits.calls
            && made >= limit
        {
            self.stop.stop(StopReason::Limit(format!("`limits.calls` of {limit}")));
            return Err(None);
        }
        let record = AskRecord { retry: call.lost, most, ..record(call.trial, call.ask) };
        self.journal.write(&Record::Ask(record)).map_err(|error| self.logged(error))
    }

    /// Takes the answer of an earlier run. Nobody waits for it to be durable: what is lost of it is found there again.
    fn use_again(&self, trial: u64, ask: &Ask, held: &Held) -> Result<(Answer, bool), Open> {
        let asked = self.journal.append(&Record::Ask(record(trial, ask))).map_err(|error| self.logged(error))?;
        let got = outcome::got(trial, asked, &held.answer, held.model.clone(), held.lossy);
        let got = Got { from: Some(held.line), context: held.context.clone(), ..got };
        self.journal.append(&Record::Got(got)).map_err(|error| self.logged(error))?;
        self.meter.used_again();
        Ok((held.answer.clone(), true))
    }

    /// Records an answer, and gives it when it is durable.
    async fn got(&self, trial: u64, asked: u64, reply: Reply) -> Result<(Answer, bool), Open> {
        let got = outcome::got(trial, asked, &reply.answer, reply.model, reply.lossy);
        let (wake, durable) = oneshot::channel();
        let then = move |result| {
            let _ = wake.send(result);
        };
        self.journal.commit(&Record::Got(got), then).map_err(|error| self.logged(error))?;
        match durable.await {
            Ok(Ok(())) => {
                self.meter.answered(&reply.answer.usage);
                Ok((reply.answer, true))
            }
            Ok(Err(error)) => Err(self.logged(error)),
            // The journal is gone: the run is over.
            Err(_) => Err(None),
        }
    }

    /// The log cannot be written: nothing more can be done.
    fn logged(&self, error: aigo_log::LogError) -> Open {
        self.stop.stop(StopReason::Log(error));
        None
    }

    fn look_at_clock(&self, rates: &Rates) {
        if let Some(skew) = rates.skew_s.filter(|skew| skew.abs() > 60) {
            self.skew_s.store(skew, Ordering::Relaxed);
        }
    }
}

/// The model that a chat model's calls ask for.
fn model(player: &Player) -> Option<&str> {
    match player {
        Player::Chat(model) => Some(&model.model),
        _ => None,
    }
}

/// The record of a call that is made for the first time.
fn record(trial: u64, ask: &Ask) -> AskRecord {
    AskRecord {
        trial,
        at: At::Site(Site {
            graph: Arc::clone(&ask.position.graph),
            node: Arc::clone(&ask.position.node),
            role: Arc::clone(&ask.request.role),
        }),
        index: ask.position.index.clone(),
        content: content(ask),
        retry: false,
        most: None,
    }
}

/// The answer that a fault is which would come again.
fn failed(word: &str, fault: &Fault) -> Answer {
    Answer { text: fault.message.as_str().into(), stop: "fault".into(), fault: Some(word.into()), ..Answer::default() }
}

/// Tells the limiter of a fault.
fn tell(at: &PlayerOf, place: &mut Place<'_>, fault: &Fault, call: &Call<'_>) -> Option<Rest> {
    match fault.class {
        Class::RateLimit => Some(at.limiter.refused(place, &fault.rates, draw(call.ask, call.rests))),
        Class::Overloaded => {
            at.limiter.overloaded(place);
            None
        }
        _ => None,
    }
}

/// A fault as people are told of it.
fn told(ask: &Ask, fault: &Fault) -> String {
    format!("the role `{}`: {}", ask.request.role, fault.message)
}

/// Full jitter: anything from nothing to the doubled pause.
fn pause(ask: &Ask, attempt: u32) -> Duration {
    let most = FIRST_PAUSE_MS.saturating_mul(1 << attempt.saturating_sub(1).min(10)).min(LONGEST_PAUSE_MS);
    Duration::from_millis(draw(ask, attempt) % (most + 1))
}

/// A number drawn from the call, so that callers who failed together do not come back together, and no source of randomness
/// is needed.
fn draw(ask: &Ask, attempt: u32) -> u64 {
    KeyWriter::new("aigo.pause").key(&ask.content).u64(u64::from(attempt)).finish().number()
}
