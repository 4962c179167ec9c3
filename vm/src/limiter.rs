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

/// The longest rest that is believed; a longer one is taken as this.
const LONGEST_REST: Duration = Duration::from_mins(2);

impl Limiter {
    pub(crate) fn new(most: usize) -> Self {
        Self { in_flight: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)), rests_until: Mutex::new(None) }
    }

    /// Waits for the endpoint's rest to end and for a place.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        loop {
            let rest = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
            match rest.filter(|until| *until > Instant::now()) {
                Some(until) => tokio::time::sleep_until(until).await,
                // The semaphore is never closed, so there is always a permit in the end.
                None => return self.in_flight.acquire().await.ok(),
            }
        }
    }

    /// The endpoint rests for this long, for all its callers.
    pub(crate) fn rest(&self, for_how_long: Duration) {
        let until = Instant::now() + for_how_long.min(LONGEST_REST);
        let mut rests_until = self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        *rests_until = Some(rests_until.map_or(until, |known| known.max(until)));
    }
}
