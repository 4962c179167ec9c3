//! What a sample has used: counted from recorded usage and recorded durations alone, so that a replay comes to the same end.

use aigo_ir::program::{PER_USD, Player, Price, Role, SampleLimits};

use crate::ask::{Answer, Usage};

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

/// What a call costs, in 10^-12 USD.
pub fn cost(price: &Price, usage: &Usage) -> u64 {
    price.of(usage.input.unwrap_or(0), usage.cached.unwrap_or(0), usage.output.unwrap_or(0))
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
