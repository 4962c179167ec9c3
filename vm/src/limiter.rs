//! One limiter per endpoint, model and credential: how many calls are in flight, and until when it rests after "too many
//! requests".

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// A limiter.
pub(crate) struct Limiter {
    in_flight: Semaphore,
    rests_until: Mutex<Option<Instant>>,
}

/// How long is slept at once.
const STEP: Duration = Duration::from_millis(200);

/// The longest rest that is believed; a longer one is taken as this.
const LONGEST_REST: Duration = Duration::from_mins(2);

impl Limiter {
    pub(crate) fn new(most: usize) -> Self {
        Self { in_flight: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)), rests_until: Mutex::new(None) }
    }

    /// Waits for a place and for the endpoint's rest to end; none once the run has stopped. Who had a place in hand when the
    /// rest began gives it back: it would only fire into another refusal.
    pub(crate) async fn enter(&self, stopped: &impl Fn() -> bool) -> Option<SemaphorePermit<'_>> {
        loop {
            while let Some(left) = self.resting() {
                if stopped() {
                    return None;
                }
                // In short steps, so that a stop is not slept through.
                tokio::time::sleep(left.min(STEP)).await;
            }
            // The semaphore is never closed, so there is always a permit in the end.
            let permit = self.in_flight.acquire().await.ok()?;
            if self.resting().is_none() {
                return Some(permit);
            }
        }
    }

    /// How long the endpoint still rests.
    fn resting(&self) -> Option<Duration> {
        let until = (*self.rests_until.lock().unwrap_or_else(PoisonError::into_inner))?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// The endpoint rests for this long, for all its callers.
    pub(crate) fn rest(&self, for_how_long: Duration) {
        let until = Instant::now() + for_how_long.min(LONGEST_REST);
        let mut rests_until = self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        *rests_until = Some(rests_until.map_or(until, |known| known.max(until)));
    }
}
