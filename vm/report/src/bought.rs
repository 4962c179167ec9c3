//! What the answers of a role came to: tokens, money and time, as the log has them, so that a replay tells the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::bounds::{dollars, grouped, plural};
use aigo_ir::program::{PER_USD, Player, Program};
use aigo_ir::value::Value;

/// An answered call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Who answered.
    pub role: Arc<str>,
    /// Tokens, as the provider counted them.
    pub tokens: Tokens,
    /// How long it took, in milliseconds; none where nobody outside was asked.
    pub ms: Option<u64>,
    /// Whether an earlier run has paid for it.
    pub is_reused: bool,
    /// Whether it is a fault that would come again, and no answer.
    pub is_fault: bool,
}

/// Tokens of a call; absent where the provider did not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Of the request, cached ones among them.
    pub input: Option<u64>,
    /// Of the answer, those of thinking among them.
    pub output: Option<u64>,
    /// Of the request, from the provider's cache.
    pub cached: Option<u64>,
    /// Of the answer, spent on thinking.
    pub reasoning: Option<u64>,
}

/// What the answers of a role came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bought {
    /// All of them, faults among them.
    pub answers: u64,
    /// Those that are faults: what would come again is recorded like an answer.
    pub faults: u64,
    /// Those that an earlier run has paid for: nothing else here counts them.
    pub reused: u64,
    /// Those whose tokens the provider counted.
    pub counted: u64,
    /// Tokens of requests, cached ones among them.
    pub input: u64,
    /// Tokens of answers, those of thinking among them.
    pub output: u64,
    /// Tokens of requests that came from the provider's cache.
    pub cached: u64,
    /// Tokens of answers that were spent on thinking.
    pub reasoning: u64,
    /// At the task's prices, in 10^-12 USD; none where the role has no price.
    pub cost: Option<u64>,
    /// Answers of a role that has a price, of which nobody counted what they would cost by.
    pub unpriced: u64,
    /// How many answers took so long, by [`step`].
    took: BTreeMap<u64, u64>,
}

/// Of a time so many binary digits are kept behind the first: sixteen steps to each doubling.
const STEPS: u32 = 4;

/// The least time of the step that a time falls into, in milliseconds.
const fn step(ms: u64) -> u64 {
    let digits = u64::BITS - ms.leading_zeros();
    let dropped = digits.saturating_sub(STEPS + 1);
    ms >> dropped << dropped
}

impl Bought {
    pub(crate) fn add(&mut self, program: &Program, answered: &Answered) {
        self.answers += 1;
        self.faults += u64::from(answered.is_fault);
        if answered.is_reused {
            self.reused += 1;
            return;
        }
        let tokens = &answered.tokens;
        self.counted += u64::from(tokens.input.is_some() || tokens.output.is_some());
        let parts = [
            (&mut self.input, tokens.input),
            (&mut self.output, tokens.output),
            (&mut self.cached, tokens.cached),
            (&mut self.reasoning, tokens.reasoning),
        ];
        for (sum, part) in parts {
            *sum = sum.saturating_add(part.unwrap_or(0));
        }
        if let Some(Player::Chat(model)) = program.role(&answered.role).map(|role| &role.player)
            && let Some(price) = &model.price
        {
            // Half a count is no price.
            match (tokens.input, tokens.output) {
                (Some(input), Some(output)) => {
                    let cost = price.of(input, tokens.cached.unwrap_or(0), output);
                    self.cost = Some(self.cost.unwrap_or(0).saturating_add(cost));
                }
                _ => self.unpriced += u64::from(!answered.is_fault),
            }
        }
        if let Some(ms) = answered.ms.filter(|_| !answered.is_fault) {
            *self.took.entry(step(ms)).or_default() += 1;
        }
    }

    /// Adds what another role's answers came to.
    pub(crate) fn join(&mut self, other: &Self) {
        let parts = [
            (&mut self.answers, other.answers),
            (&mut self.faults, other.faults),
            (&mut self.reused, other.reused),
            (&mut self.counted, other.counted),
            (&mut self.unpriced, other.unpriced),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cached, other.cached),
            (&mut self.reasoning, other.reasoning),
        ];
        for (sum, part) in parts {
            *sum = sum.saturating_add(part);
        }
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or(0).saturating_add(cost));
        }
        for (ms, n) in &other.took {
            *self.took.entry(*ms).or_default() += n;
        }
    }

    /// What they cost at the task's prices, in USD; none where the role has no price.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost.map(|cost| cost as f64 / PER_USD)
    }

    /// The time in which so many hundredths of the answers came, in milliseconds, to a sixteenth part below; none where no
    /// time is known. It is the nearest rank's.
    pub fn within_ms(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.took.values().sum();
        let rank = (all.saturating_mul(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        self.took.iter().find_map(|(ms, n)| {
            seen += n;
            (seen >= rank).then_some(*ms)
        })
    }

    /// As JSON: `null` is what nobody has counted.
    pub(crate) fn to_value(&self) -> Value {
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let told = |n: u64| if self.counted > 0 { count(n) } else { Value::Null };
        Value::map([
            ("faults", count(self.faults)),
            ("reused", count(self.reused)),
            ("unpriced", count(self.unpriced)),
            ("input", told(self.input)),
            ("output", told(self.output)),
            ("cached", told(self.cached)),
            ("reasoning", told(self.reasoning)),
            ("cost_usd", self.cost_usd().and_then(Value::float).unwrap_or_default()),
            ("ms_50", self.within_ms(50).map_or(Value::Null, count)),
            ("ms_95", self.within_ms(95).map_or(Value::Null, count)),
        ])
    }
}

/// What all roles cost; none where none has a price.
pub(crate) fn cost_usd(calls: &[(Arc<str>, Bought)]) -> Option<f64> {
    let costs: Vec<u64> = calls.iter().filter_map(|(_, bought)| bought.cost).collect();
    (!costs.is_empty()).then(|| costs.into_iter().fold(0, u64::saturating_add) as f64 / PER_USD)
}

/// The lines of reports for people: what stands before the colon, and the roles' parts behind it.
pub(crate) fn lines(calls: &[(Arc<str>, Bought)]) -> Vec<(&'static str, Vec<String>)> {
    let of = |part: &dyn Fn(&Bought) -> Option<String>| -> Vec<String> {
        calls.iter().filter_map(|(role, bought)| Some(format!("{role} {}", part(bought)?))).collect()
    };
    let answers = of(&|bought| {
        let parts = [(bought.faults, "failed"), (bought.reused, "used again")];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        Some(if parts.is_empty() { bought.answers.to_string() } else { format!("{} ({parts})", bought.answers) })
    });
    let tokens = of(&|bought| {
        let cached = if bought.cached > 0 { format!(" ({} cached)", grouped(bought.cached)) } else { String::new() };
        (bought.counted > 0).then(|| format!("{} in{cached}, {} out", grouped(bought.input), grouped(bought.output)))
    });
    let mut costs = of(&|bought| match (bought.cost_usd().map(dollars), bought.unpriced) {
        (cost, 0) => cost,
        (Some(cost), n) => Some(format!("{cost} without {} that nobody counted", plural(n, "answer"))),
        (None, _) => Some("unknown, since nobody counted".to_owned()),
    });
    if costs.len() > 1 {
        let least = if calls.iter().any(|(_, bought)| bought.unpriced > 0) { "at least " } else { "" };
        costs.extend(cost_usd(calls).map(|all| format!("in all {least}{}", dollars(all))));
    }
    let times =
        of(&|bought| Some(format!("{}, 95% within {}", time(bought.within_ms(50)?), time(bought.within_ms(95)?))));
    let none = if answers.is_empty() { vec!["none".to_owned()] } else { answers };
    let mut lines =
        vec![("calls answered", none), ("tokens", tokens), ("cost", costs), ("half answered within", times)];
    lines.retain(|(_, parts)| !parts.is_empty());
    lines
}

fn time(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{}.{} s", ms / 1000, ms % 1000 / 100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_steps_of_a_sixteenth() {
        for ms in [0, 1, 31, 32, 33, 1000, 1001, 123_456, u64::MAX] {
            let least = step(ms);
            assert!(least <= ms && ms - least <= ms / 16, "{ms} falls into {least}");
        }
        let mut bought = Bought::default();
        for ms in 1..=20 {
            bought.took.insert(step(ms), 1);
        }
        assert_eq!((bought.within_ms(50), bought.within_ms(95), bought.within_ms(100)), (Some(10), Some(19), Some(20)));
        assert_eq!(Bought::default().within_ms(50), None);
    }
}
