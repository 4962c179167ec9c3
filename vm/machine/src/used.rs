//! What a sample has used: counted from recorded usage and recorded durations alone, so that a replay comes to the same end.

use aigo_ir::program::{Player, Price, Role, SampleLimits};

use crate::ask::{Answer, Usage};

/// 10^-12 USD: at a price per million tokens, one of them a token is a millionth of a USD.
const PER_USD_AND_MILLION: f64 = 1e6;
const PER_USD: f64 = 1e12;

/// What the conversation of a sample has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    calls: u64,
    tokens: u64,
    ms: u64,
    cost: u64,
}

impl Used {
    /// Counts an answer of a role. What the provider did not count is nothing.
    pub(crate) fn count(&mut self, role: &Role, answer: &Answer) {
        let usage = &answer.usage;
        self.calls += 1;
        self.tokens = self.tokens.saturating_add(usage.input.unwrap_or(0)).saturating_add(usage.output.unwrap_or(0));
        self.ms = self.ms.saturating_add(answer.ms.unwrap_or(0));
        if let Player::Chat(model) = &role.player
            && let Some(price) = &model.price
        {
            self.cost = self.cost.saturating_add(cost(price, usage));
        }
    }

    /// Counts what another lane has used beyond what it began with.
    pub(crate) fn join(&mut self, given: &Self) {
        self.calls += given.calls;
        self.tokens = self.tokens.saturating_add(given.tokens);
        self.ms = self.ms.saturating_add(given.ms);
        self.cost = self.cost.saturating_add(given.cost);
    }

    /// Whether a limit leaves nothing for another call.
    pub(crate) fn reaches(&self, limits: &SampleLimits) -> bool {
        let at = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        at(self.calls, limits.calls)
            || at(self.tokens, limits.tokens)
            || limits.time_s.is_some_and(|seconds| self.ms >= seconds.saturating_mul(1000))
            || limits.cost_usd.is_some_and(|usd| self.cost as f64 >= usd * PER_USD)
    }
}

/// What a call costs, in 10^-12 USD. Tokens from the provider's cache have their own price, where there is one. Part of a
/// unit counts as a whole one.
pub fn cost(price: &Price, usage: &Usage) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; casts saturate")]
    let each = |usd_per_million: f64| (usd_per_million * PER_USD_AND_MILLION).ceil() as u64;
    let input = usage.input.unwrap_or(0);
    let cached = usage.cached.unwrap_or(0).min(input);
    let parts = [
        (input - cached).saturating_mul(each(price.input)),
        cached.saturating_mul(each(price.cached_input.unwrap_or(price.input))),
        usage.output.unwrap_or(0).saturating_mul(each(price.output)),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_price() {
        let price = Price { input: 3.0, output: 15.0, cached_input: Some(0.3) };
        let usage = Usage { input: Some(1000), output: Some(10), cached: Some(600), reasoning: None };
        assert_eq!(cost(&price, &usage), 400 * 3_000_000 + 600 * 300_000 + 10 * 15_000_000);
        assert_eq!(cost(&Price { cached_input: None, ..price }, &usage), 1000 * 3_000_000 + 10 * 15_000_000);
        assert_eq!(cost(&price, &Usage { cached: Some(9), ..Usage::default() }), 0);
    }
}
