//! What an endpoint says about its limits in the headers of a reply. Every dialect is read: durations as `OpenAI` writes them
//! (`6m0s`, `12ms`), moments as Anthropic does (RFC 3339), seconds and milliseconds since 1970, seconds from now.

mod time;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a reply says. A value that says nothing sensible (negative, not a number, no date) is as if it were not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rates {
    /// Not before this time has passed is anything to be asked again.
    pub(crate) retry_after: Option<Duration>,
    /// Requests that are left.
    pub(crate) requests: Left,
    /// Tokens that are left; of several kinds the one that says the least.
    pub(crate) tokens: Left,
    /// How far this machine's clock is from the endpoint's, in seconds; positive where this one is ahead.
    pub(crate) skew_s: Option<i64>,
}

/// What is left of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// How much there is of it, when it is full.
    pub(crate) limit: Option<u64>,
    /// How much is left.
    pub(crate) remaining: Option<u64>,
    /// How long it takes until it is full again.
    pub(crate) resets: Option<Duration>,
}

/// A number of seconds that no endpoint means: about three years. What is greater is a moment, since 1970.
const LONGEST_DELTA_S: f64 = 1e8;
/// Moments above this are in milliseconds.
const LEAST_EPOCH_MS: f64 = 1e11;
/// Waits are never taken as longer than this: what asks for more asks for never.
const LONGEST_S: f64 = 10.0 * 365.0 * 86_400.0;

impl Rates {
    /// Reads headers: names in any case, values as bytes. `now` is this machine's time; where the reply has a `Date`, moments
    /// are counted from that, because a wrong clock here must not make waits wrong.
    pub(crate) fn read<'h>(headers: impl Iterator<Item = (&'h str, &'h [u8])>, now: SystemTime) -> Self {
        let mut rates = Self::default();
        let mut date = None;
        let mut known: Vec<(String, &str)> = Vec::new();
        for (name, value) in headers {
            // Nearly all headers of nearly all replies are of no interest here.
            let wanted = match name.as_bytes().first() {
                Some(b'r' | b'R' | b'x' | b'X' | b'a' | b'A') => is_one_of_ours(name),
                Some(b'd' | b'D') => name.eq_ignore_ascii_case("date"),
                _ => false,
            };
            let Some(value) = std::str::from_utf8(value).ok().filter(|_| wanted).map(str::trim) else { continue };
            if name.eq_ignore_ascii_case("date") {
                date = time::http_date(value);
            } else {
                known.push((name.to_ascii_lowercase(), value));
            }
        }
        let here = now.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let there = date.map_or(here, |date| date as f64);
        let whole = now.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
        rates.skew_s = date.zip(whole).map(|(date, here)| here - date);
        let mut seen_ms = false;
        for (name, value) in &known {
            match name.as_str() {
                "retry-after-ms" => {
                    if let Some(wait) = number(value).and_then(|ms| positive(ms / 1000.0)) {
                        rates.retry_after = Some(wait);
                        seen_ms = true;
                    }
                }
                // The finer one wins, wherever it stands.
                "retry-after" if !seen_ms => rates.retry_after = wait(value, there).or(rates.retry_after),
                "retry-after" => {}
                other => rates.quantity(other, value, there),
            }
        }
        rates
    }

    /// Reads `x-ratelimit-remaining-requests`, `anthropic-ratelimit-tokens-reset`, `ratelimit-limit`,
    /// `x-ratelimit-remaining-tokens-minute` and their like: by the words in the name, whatever their order.
    fn quantity(&mut self, name: &str, value: &str, there: f64) {
        let has = |word: &str| name.split('-').any(|part| part == word);
        // Policies have parameters behind the number: `100;w=60`.
        let plain = value.split([';', ',']).next().unwrap_or(value).trim();
        let mut read = Left::default();
        if has("remaining") {
            read.remaining = amount(plain);
        } else if has("limit") {
            read.limit = amount(plain);
        } else if has("reset") {
            read.resets = wait(plain, there);
        }
        let of = if has("tokens") || has("token") { &mut self.tokens } else { &mut self.requests };
        let fewer = |known: Option<u64>, new: Option<u64>| match (known, new) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        of.limit = fewer(of.limit, read.limit);
        of.remaining = fewer(of.remaining, read.remaining);
        of.resets = of.resets.max(read.resets);
    }

    /// How long the endpoint wants not to be asked, where this is a refusal: what it says outright, else when the quantity
    /// that has run out is there again. No time at all, or a moment that is past, says nothing beside a refusal.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let used_up = |left: &Left| left.resets.filter(|_| left.remaining == Some(0));
        let outright = self.retry_after.filter(|wait| !wait.is_zero());
        outright.or_else(|| used_up(&self.requests).max(used_up(&self.tokens)).filter(|wait| !wait.is_zero()))
    }
}

fn is_one_of_ours(name: &str) -> bool {
    let has = |part: &str| name.len() >= part.len() && name.to_ascii_lowercase().contains(part);
    has("ratelimit") || has("retry-after") || has("rate-limit")
}

fn number(text: &str) -> Option<f64> {
    let looks = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|n| looks && n.is_finite())
}

/// How much there is of something: parts of one do not count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; casts saturate")]
fn amount(text: &str) -> Option<u64> {
    number(text).filter(|n| *n >= 0.0).map(|n| n as u64)
}

/// A wait of so many seconds, where they are some.
fn positive(seconds: f64) -> Option<Duration> {
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST_S)))
}

/// A wait in any of the ways in which it is written. What lies in the past is no wait; an empty wait is one.
fn wait(text: &str, there: f64) -> Option<Duration> {
    if let Some(n) = number(text) {
        return match n {
            _ if n < 0.0 => None,
            _ if n < LONGEST_DELTA_S => positive(n),
            _ if n < LEAST_EPOCH_MS => positive((n - there).max(0.0)),
            // Beyond the year 5000 it is no moment any more.
            _ if n < 1e14 => positive((n / 1000.0 - there).max(0.0)),
            _ => positive(n),
        };
    }
    if let Some(moment) = time::rfc_3339(text).or_else(|| time::http_date(text).map(|seconds| seconds as f64)) {
        return positive((moment - there).max(0.0));
    }
    time::duration(text).and_then(positive)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 12:00:00 UTC.
    const NOW: u64 = 1_796_040_000;

    fn read(headers: &[(&str, &str)]) -> Rates {
        let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        Rates::read(headers, UNIX_EPOCH + Duration::from_secs(NOW))
    }

    fn ms(rates: Option<Duration>) -> Option<u128> {
        rates.map(|wait| wait.as_millis())
    }

    #[test]
    fn retry_after_is_read_as_it_is_written() {
        let after = |value: &str| ms(read(&[("Retry-After", value)]).retry_after);
        assert_eq!(after("2"), Some(2000));
        assert_eq!(after(" 0.25 "), Some(250));
        assert_eq!(after("0"), Some(0));
        assert_eq!(after("Mon, 30 Nov 2026 12:00:03 GMT"), Some(3000));
        assert_eq!(after("Monday, 30-Nov-26 12:00:03 GMT"), Some(3000));
        assert_eq!(after("Mon Nov 30 12:00:03 2026"), Some(3000));
        assert_eq!(after("Mon, 30 Nov 2026 11:59:00 GMT"), Some(0), "a moment that is past is no longer waited for");
        assert_eq!(after("3600"), Some(3_600_000));
        assert_eq!(after("1796040003"), Some(3000));
        assert_eq!(after("99999999999999999999"), Some(315_360_000_000));
        for garbage in
            ["-5", "abc", "1e309", "NaN", "inf", "", "Mon, 99 Foo 2026 12:00:03 GMT", "--1", "0x10", "\u{663}"]
        {
            assert_eq!(after(garbage), None, "{garbage}");
        }
        assert_eq!(ms(read(&[("retry-after", "1"), ("retry-after-ms", "1500")]).retry_after), Some(1500));
        assert_eq!(ms(read(&[("retry-after-ms", "1500"), ("retry-after", "1")]).retry_after), Some(1500));
        assert_eq!(ms(read(&[("retry-after-ms", "soon"), ("retry-after", "1")]).retry_after), Some(1000));
    }

    #[test]
    fn the_clock_of_the_endpoint_counts() {
        let skewed = [("date", "Mon, 30 Nov 2026 12:10:00 GMT"), ("retry-after", "Mon, 30 Nov 2026 12:10:03 GMT")];
        let rates = read(&skewed);
        assert_eq!((ms(rates.retry_after), rates.skew_s), (Some(3000), Some(-600)));
    }

    #[test]
    fn dialects_of_limits() {
        let openai = read(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        assert_eq!(
            (openai.requests.limit, openai.requests.remaining, ms(openai.requests.resets)),
            (Some(500), Some(0), Some(120))
        );
        assert_eq!((openai.tokens.remaining, ms(openai.tokens.resets)), (Some(149_984), Some(360_000)));
        assert_eq!(ms(openai.wait()), Some(120));
        let anthropic = read(&[
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-11-30T12:00:01Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "1000"),
            ("anthropic-ratelimit-output-tokens-remaining", "0"),
            ("anthropic-ratelimit-output-tokens-reset", "2026-11-30T14:00:07.5+02:00"),
        ]);
        assert_eq!((anthropic.requests.remaining, ms(anthropic.requests.resets)), (Some(49), Some(1000)));
        assert_eq!((anthropic.tokens.remaining, ms(anthropic.wait())), (Some(0), Some(7500)));
        let reset = |value: &str| {
            let rates = read(&[("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", value)]);
            ms(rates.wait())
        };
        assert_eq!(reset("1796040002"), Some(2000));
        assert_eq!(reset("1796040002500"), Some(2500));
        assert_eq!(reset("60"), Some(60_000));
        assert_eq!((reset("1796030000"), reset("0")), (None, None));
        assert_eq!(read(&[("retry-after", "0")]).wait(), None);
        assert_eq!(reset("1d2h3m4.5s"), Some(93_784_500));
        assert_eq!((reset("1m-5s"), reset("soon"), reset("5parsecs")), (None, None, None));
        let draft = read(&[("ratelimit-limit", "100;w=60"), ("ratelimit-remaining", "7"), ("ratelimit-reset", "30")]);
        assert_eq!(
            (draft.requests.limit, draft.requests.remaining, ms(draft.requests.resets)),
            (Some(100), Some(7), Some(30_000))
        );
        let mistral = read(&[("x-ratelimit-remaining-tokens-minute", "0"), ("x-ratelimit-remaining-req-minute", "3")]);
        assert_eq!((mistral.tokens.remaining, mistral.requests.remaining), (Some(0), Some(3)));
        assert_eq!(read(&[("content-type", "x"), ("x-request-id", "retry"), ("age", "5")]), Rates::default());
    }
}
