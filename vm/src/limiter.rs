//! One limiter per endpoint, model and credential: how many calls are in flight, until when the endpoint rests after "too
//! many requests", and how many requests are left of those that it counts.
//!
//! ```text
//! enter: gate (rest, probe, count) -> place -> gate again -> send -> went_well: a little more side by side
//!                                                                -> refused: half as many, and a rest for all
//! ```
//! While nothing is refused and plenty is left, a call waits for nothing but a place.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::rates::{Left, Rates};
use crate::stop::Stop;

/// The longest rest that is waited for; whoever asks for more is not asked again in this run.
pub(crate) const LONGEST_REST: Duration = Duration::from_mins(5);
/// Rests of an endpoint that does not say how long: the first, and the longest.
const FIRST_REST: Duration = Duration::from_millis(500);
const LONGEST_GUESS: Duration = Duration::from_secs(30);
/// After a rest one call goes ahead of all others. Refusals come at once: one that is not back after this is being answered.
const PROBE: Duration = Duration::from_secs(1);

/// A limiter.
pub(crate) struct Limiter {
    most: usize,
    places: Semaphore,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    /// How many calls may be side by side; it moves in fractions.
    allowed: f64,
    /// Places in being, those that are to be taken away left out.
    granted: usize,
    /// Places that are in use and vanish when they are given back.
    debt: usize,
    /// Requests sent so far.
    sent: u64,
    /// What was sent up to this number belongs to the time before the last cut, and cuts no second time.
    cut_at: u64,
    /// After an overload it goes up more slowly.
    slowly: bool,
    rests_until: Option<Instant>,
    probe: Probe,
    count: Option<Count>,
    /// Rests without an answer between them.
    in_a_row: u32,
}

#[derive(Clone, Copy)]
enum Probe {
    No,
    Wanted,
    Out(Instant),
}

/// What the endpoint said is left, by number of request.
#[derive(Clone, Copy)]
struct Count {
    /// The request with whose reply it was said.
    said_with: u64,
    /// The last request that may be sent before the count starts anew.
    last: u64,
    starts_anew: Instant,
}

/// A place among the calls in flight; it is given back when it is dropped.
pub(crate) struct Place<'l> {
    limiter: &'l Limiter,
    permit: Option<SemaphorePermit<'l>>,
    number: u64,
    probes: bool,
}

/// What came of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Rests in a row, this one included, without an answer between them.
    pub(crate) in_a_row: u32,
    /// How long the endpoint rests.
    pub(crate) lasts: Duration,
}

impl Limiter {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let state = State {
            allowed: most as f64,
            granted: most,
            debt: 0,
            sent: 0,
            cut_at: 0,
            slowly: false,
            rests_until: None,
            probe: Probe::No,
            count: None,
            in_a_row: 0,
        };
        Self { most, places: Semaphore::new(most), state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a call may be sent; none once the run has stopped. Who had a place in hand when the gate closed gives it
    /// back: it would only run into another refusal.
    pub(crate) async fn enter(&self, stop: &Stop) -> Option<Place<'_>> {
        loop {
            if stop.is_stopped() {
                return None;
            }
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let closed = self.state().closed_until();
            if let Some(until) = closed {
                tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = changed => {}
                    () = stop.stopped() => return None,
                }
                continue;
            }
            let permit = match self.places.try_acquire() {
                Ok(permit) => permit,
                // The semaphore is never closed, so there is always a permit in the end.
                Err(_) => tokio::select! {
                    permit = self.places.acquire() => permit.ok()?,
                    () = stop.stopped() => return None,
                },
            };
            let mut state = self.state();
            if state.closed_until().is_none() {
                state.sent += 1;
                let probes = matches!(state.probe, Probe::Wanted);
                if probes {
                    state.probe = Probe::Out(Instant::now());
                }
                let number = state.sent;
                return Some(Place { limiter: self, permit: Some(permit), number, probes });
            }
        }
    }

    /// A call was answered.
    pub(crate) fn went_well(&self, place: &mut Place<'_>, rates: &Rates) {
        let mut state = self.state();
        state.in_a_row = 0;
        if place.probes {
            place.probes = false;
            state.probe = Probe::No;
            self.changed.notify_waiters();
        }
        if state.granted < self.most && place.number > state.cut_at {
            // Once every call in flight has been answered: one more, or a sixteenth.
            let step = (state.allowed / 16.0).max(1.0) * if state.slowly { 0.5 } else { 1.0 };
            state.allowed = (state.allowed + step / state.allowed).min(self.most as f64);
            while state.granted < state.whole() {
                state.granted += 1;
                if state.debt > 0 {
                    state.debt -= 1;
                } else {
                    self.places.add_permits(1);
                }
            }
        }
        self.note(&mut state, place.number, rates);
    }

    /// A call was refused because there were too many: all rest, as long as the endpoint says or else longer each time, and
    /// half as many go on. Refusals of calls that were in flight at the last cut are the same refusal.
    pub(crate) fn refused(&self, place: &mut Place<'_>, rates: &Rates, draw: u64) -> Rest {
        let mut state = self.state();
        let new = place.number > state.cut_at;
        if new {
            state.in_a_row += 1;
            self.cut(&mut state, 0.5, false);
        }
        let lasts = rates.wait().unwrap_or_else(|| {
            let most = FIRST_REST.saturating_mul(1 << state.in_a_row.saturating_sub(1).min(10)).min(LONGEST_GUESS);
            // A quarter of chance, so that several runs do not come back together.
            most + Duration::from_millis(draw % (u64::try_from(most.as_millis()).unwrap_or(0) / 4 + 1))
        });
        if new || rates.wait().is_some() {
            let until = Instant::now() + lasts.min(LONGEST_REST);
            state.rests_until = Some(state.rests_until.map_or(until, |known| known.max(until)));
            state.probe = Probe::Wanted;
        }
        place.probes = false;
        self.note(&mut state, place.number, rates);
        Rest { in_a_row: state.in_a_row, lasts }
    }

    /// The endpoint has too much to do: a quarter less side by side, and up again slowly.
    pub(crate) fn overloaded(&self, place: &Place<'_>) {
        let mut state = self.state();
        if place.number > state.cut_at {
            self.cut(&mut state, 0.75, true);
        }
    }

    fn cut(&self, state: &mut State, to: f64, slowly: bool) {
        state.cut_at = state.sent;
        state.slowly = slowly;
        state.allowed = (state.allowed * to).max(1.0);
        let surplus = state.granted.saturating_sub(state.whole());
        state.debt += surplus - self.places.forget_permits(surplus);
        state.granted -= surplus;
    }

    /// Keeps what the endpoint says is left, where that is little: later requests wait until there is more, and provoke no
    /// refusal. Requests that were sent after the one whose reply this is are counted as not yet seen by it.
    fn note(&self, state: &mut State, number: u64, rates: &Rates) {
        let near = self.most as u64 * 2;
        // How long a token's count lasts depends on the prompts to come: only none left says something.
        let counts = [(rates.requests, near), (rates.tokens, 1)];
        let little = counts.iter().filter_map(|(left, near)| match left {
            Left { remaining: Some(left), resets: Some(resets), .. } if left < near && *resets <= LONGEST_REST => {
                Some((*left, *resets))
            }
            _ => None,
        });
        let Some((left, resets)) = little.max_by_key(|(left, resets)| (u64::MAX - left, *resets)) else {
            if rates.requests.remaining.is_some() && state.count.is_some_and(|count| count.said_with < number) {
                state.count = None;
                self.changed.notify_waiters();
            }
            return;
        };
        if state.count.is_none_or(|count| count.said_with < number) {
            let starts_anew = Instant::now() + resets;
            state.count = Some(Count { said_with: number, last: number + left, starts_anew });
            self.changed.notify_waiters();
        }
    }
}

impl State {
    /// How many may be side by side: at least one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from one to what was typed")]
    fn whole(&self) -> usize {
        (self.allowed as usize).max(1)
    }

    /// Until when nothing may be sent, if so.
    fn closed_until(&mut self) -> Option<Instant> {
        if self.rests_until.is_none() && self.count.is_none() && matches!(self.probe, Probe::No) {
            return None;
        }
        let now = Instant::now();
        if let Some(until) = self.rests_until {
            if now < until {
                return Some(until);
            }
            self.rests_until = None;
        }
        if let Probe::Out(since) = self.probe {
            if now < since + PROBE {
                return Some(since + PROBE);
            }
            self.probe = Probe::No;
        }
        let count = self.count?;
        if now >= count.starts_anew {
            self.count = None;
            return None;
        }
        (self.sent >= count.last).then_some(count.starts_anew)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        if self.probes && matches!(state.probe, Probe::Out(_)) {
            // It said nothing of the kind that was to be found out: the next one tries.
            state.probe = Probe::Wanted;
            self.limiter.changed.notify_waiters();
        }
        if state.debt > 0
            && let Some(permit) = self.permit.take()
        {
            state.debt -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn left(remaining: u64, resets: Duration) -> Rates {
        let requests = Left { limit: None, remaining: Some(remaining), resets: Some(resets) };
        Rates { requests, ..Rates::default() }
    }

    fn after(wait: Duration) -> Rates {
        Rates { retry_after: Some(wait), ..Rates::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_is_everybodys_and_one_goes_ahead_after_it() {
        let (limiter, stop) = (Limiter::new(8), Stop::default());
        let began = Instant::now();
        let mut first = limiter.enter(&stop).await.unwrap();
        let mut second = limiter.enter(&stop).await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO, "in health nothing waits");
        let rest = limiter.refused(&mut first, &after(Duration::from_secs(2)), 0);
        assert_eq!((rest.in_a_row, rest.lasts), (1, Duration::from_secs(2)));
        // The one that was in flight with it is the same refusal: it cuts no second time.
        assert_eq!(limiter.refused(&mut second, &after(Duration::from_secs(2)), 0).in_a_row, 1);
        assert_eq!(limiter.state().granted, 4);
        drop((first, second));
        let mut probe = limiter.enter(&stop).await.unwrap();
        assert_eq!(began.elapsed().as_millis(), 2000);
        let other = tokio::time::timeout(Duration::from_millis(900), limiter.enter(&stop)).await;
        assert!(other.is_err(), "the others wait for the first");
        limiter.went_well(&mut probe, &Rates::default());
        assert!(tokio::time::timeout(Duration::from_millis(1), limiter.enter(&stop)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_takes_its_time_is_being_answered() {
        let (limiter, stop) = (Limiter::new(8), Stop::default());
        let mut first = limiter.enter(&stop).await.unwrap();
        limiter.refused(&mut first, &after(Duration::ZERO), 0);
        let _probe = limiter.enter(&stop).await.unwrap();
        let began = Instant::now();
        let _next = limiter.enter(&stop).await.unwrap();
        assert_eq!(began.elapsed(), PROBE);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_is_not_overdrawn() {
        let (limiter, stop) = (Limiter::new(8), Stop::default());
        let began = Instant::now();
        let mut first = limiter.enter(&stop).await.unwrap();
        limiter.went_well(&mut first, &left(2, Duration::from_secs(6)));
        drop(first);
        let _two = (limiter.enter(&stop).await.unwrap(), limiter.enter(&stop).await.unwrap());
        assert_eq!(began.elapsed(), Duration::ZERO);
        let _third = limiter.enter(&stop).await.unwrap();
        assert_eq!(began.elapsed().as_millis(), 6000);
    }

    #[tokio::test(start_paused = true)]
    async fn concurrency_falls_and_rises_again() {
        let (limiter, stop) = (Limiter::new(64), Stop::default());
        let mut places = Vec::new();
        for _ in 0..64 {
            places.push(limiter.enter(&stop).await.unwrap());
        }
        limiter.refused(&mut places[0], &after(Duration::ZERO), 0);
        for place in &mut places[1..] {
            limiter.refused(place, &after(Duration::ZERO), 0);
        }
        // One look: a second one within the same statement would wait for the first for ever.
        let counts = |state: MutexGuard<'_, State>| (state.granted, state.debt);
        assert_eq!(counts(limiter.state()), (32, 32));
        drop(places);
        assert_eq!((limiter.places.available_permits(), limiter.state().debt), (32, 0));
        let mut answered = 0;
        while limiter.state().granted < 64 {
            let mut place = limiter.enter(&stop).await.unwrap();
            limiter.went_well(&mut place, &Rates::default());
            answered += 1;
        }
        assert_eq!(limiter.places.available_permits(), 64);
        assert!((200..1000).contains(&answered), "{answered} answers until all are side by side again");
        let place = limiter.enter(&stop).await.unwrap();
        limiter.overloaded(&place);
        assert_eq!(limiter.state().granted, 48);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_wakes_who_waits() {
        let (limiter, stop) = (Arc::new(Limiter::new(1)), Arc::new(Stop::default()));
        let mut place = limiter.enter(&stop).await.unwrap();
        limiter.refused(&mut place, &after(Duration::from_mins(4)), 0);
        let waiting = {
            let (limiter, stop) = (Arc::clone(&limiter), Arc::clone(&stop));
            tokio::spawn(async move { limiter.enter(&stop).await.is_none() })
        };
        tokio::task::yield_now().await;
        let began = Instant::now();
        stop.stop(crate::stop::StopReason::Interrupted);
        assert!(waiting.await.unwrap());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
