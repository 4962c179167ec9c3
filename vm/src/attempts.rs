//! The attempts of one call: what is tried again, after which pause, and what is not.

use std::time::Duration;

use aigo_ir::key::KeyWriter;
use aigo_ir::program::Player;
use aigo_machine::{Answer, Ask, Linked};
use tokio::sync::SemaphorePermit;

use crate::fault::{Class, Fault};
use crate::provider::{Kind, PlayerOf, Players, Reply, scripted};
use crate::rates::Rates;

/// Attempts of one call: the first and its retries.
const MOST_ATTEMPTS: u32 = 6;
/// Rests on request do not count as attempts, and there is an end to them all the same.
const MOST_RESTS: u32 = 60;
const FIRST_PAUSE_MS: u64 = 500;
const LONGEST_PAUSE_MS: u64 = 30_000;

impl Players {
    /// Waits for a place at the endpoint of a role. Whoever has it may ask at once: what waits here was not sent.
    pub(crate) async fn enter(
        &self,
        linked: &Linked,
        ask: &Ask,
        stopped: &impl Fn() -> bool,
    ) -> Option<SemaphorePermit<'_>> {
        match self.of(linked, ask) {
            Some((PlayerOf { kind: Kind::Scripted, .. }, _)) | None => None,
            Some((PlayerOf { limiter, .. }, _)) => limiter.enter(stopped).await,
        }
    }

    fn of<'p, 'l>(&'p self, linked: &'l Linked, ask: &Ask) -> Option<(&'p PlayerOf, &'l Player)> {
        let at = linked.program.roles.iter().position(|role| role.name == ask.request.role)?;
        Some((self.0.get(at)?, &linked.program.roles.get(at)?.player))
    }

    /// Asks until there is an answer, or a fault that repetition does not mend. A fault of the request itself is an answer:
    /// it would come again. The first attempt is made with the permit of [`Players::enter`].
    pub(crate) async fn ask(
        &self,
        linked: &Linked,
        ask: &Ask,
        mut permit: Option<SemaphorePermit<'_>>,
        stopped: impl Fn() -> bool,
    ) -> Result<Reply, Fault> {
        let (limiter, client) = match self.of(linked, ask) {
            Some((PlayerOf { kind: Kind::Scripted, .. }, Player::Scripted(rules))) => {
                let answer = scripted::answer(linked, rules, ask);
                return Ok(Reply { answer, model: None, lossy: false, rates: Rates::default() });
            }
            Some((PlayerOf { kind, limiter }, _)) => (limiter, kind),
            None => return Err(Fault::new(Class::Config, format!("nobody plays the role `{}`", ask.request.role))),
        };
        let (mut attempt, mut rests) = (1, 0);
        loop {
            let place = match permit.take() {
                Some(place) => Some(place),
                None => limiter.enter(&stopped).await,
            };
            let outcome = client.ask(&ask.request).await;
            drop(place);
            let fault = match outcome {
                Ok(reply) => return Ok(reply),
                Err(fault) => fault,
            };
            match &fault.class {
                Class::Request(word) => {
                    // What the server said is kept: it is all that tells a wrong parameter from a bad application.
                    let text = fault.message.as_str().into();
                    let answer =
                        Answer { text, stop: "fault".into(), fault: Some((*word).into()), ..Answer::default() };
                    return Ok(Reply { answer, model: None, lossy: false, rates: Rates::default() });
                }
                Class::RateLimit if rests < MOST_RESTS => {
                    rests += 1;
                    limiter.rest(fault.rates.wait().unwrap_or_else(|| pause(ask, rests)));
                }
                Class::Transient | Class::Overloaded | Class::Unreachable | Class::Protocol
                    if attempt < MOST_ATTEMPTS =>
                {
                    attempt += 1;
                    tokio::time::sleep(pause(ask, attempt)).await;
                }
                _ => return Err(fault),
            }
            if stopped() {
                return Err(fault);
            }
        }
    }
}

/// Full jitter: anything from nothing to the doubled pause. Drawn from the call, so that callers who failed together do not
/// come back together, and no source of randomness is needed.
fn pause(ask: &Ask, attempt: u32) -> Duration {
    let most = FIRST_PAUSE_MS.saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE_MS);
    let drawn = KeyWriter::new("aigo.pause").key(&ask.content).u64(u64::from(attempt)).finish().number();
    Duration::from_millis(drawn % (most + 1))
}
