//! The values of one scorer that a gate is over, and what can be computed of them.

use aigo_ir::gate::{Aggregate, Gate, holds};
use aigo_ir::program::Scorer;
use aigo_ir::reduce::{Reducer, sum};

use crate::interval::{self, Interval, Observed};

/// A value that counts: of a conversation, or of a turn of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) number: f64,
    pub(crate) pass: bool,
    pub(crate) from: From,
}

/// Where a value comes from, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct From {
    /// The number of its sample: epochs of one sample share it.
    pub(crate) sample: u32,
    /// The number of its cluster: values of one cluster are not independent.
    pub(crate) cluster: u32,
}

/// Values side by side: there can be one for each conversation of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    numbers: Vec<f64>,
    passes: Vec<bool>,
    /// Where they come from; nothing is kept of it while each is that of the sample and the cluster of its own number, as in a
    /// run of one epoch without clusters.
    from: Vec<From>,
}

impl Values {
    pub(crate) fn push(&mut self, value: Counted) {
        let at = self.numbers.len();
        if !self.from.is_empty() || value.from != own(at) {
            self.from.extend((self.from.len()..at).map(own));
            self.from.push(value.from);
        }
        self.numbers.push(value.number);
        self.passes.push(value.pass);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Counted> + Clone {
        self.numbers.iter().zip(&self.passes).enumerate().map(|(at, (number, pass))| {
            let from = self.from.get(at).copied().unwrap_or_else(|| own(at));
            Counted { number: *number, pass: *pass, from }
        })
    }

    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    pub(crate) const fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// Of the value with that number, where each stands for itself.
fn own(at: usize) -> From {
    let number = u32::try_from(at).unwrap_or(u32::MAX);
    From { sample: number, cluster: number }
}

impl FromIterator<Counted> for Values {
    fn from_iter<T: IntoIterator<Item = Counted>>(values: T) -> Self {
        let mut all = Self::default();
        values.into_iter().for_each(|value| all.push(value));
        all
    }
}

/// The values of one scorer, in the order of sample keys and epochs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) values: Values,
    /// Of the values that are missing: where they would come from.
    pub(crate) missing: Vec<From>,
    /// How many more are missing, of trials of which nothing is known.
    pub(crate) open: u64,
    /// The worst and the best number.
    pub(crate) ends: (f64, f64),
    /// How often each sample is run.
    pub(crate) epochs: u32,
}

/// Which end of the scale missing values are taken at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// They are left out.
    Out,
    /// All at the worst.
    Worst,
    /// All at the best.
    Best,
}

/// Beyond so many values of which nothing is known no interval is computed: a log can claim any number of them.
const MOST_OPEN: u64 = 100_000;

impl Column {
    pub(crate) fn new(scorer: &Scorer, epochs: u32) -> Self {
        let ends = if scorer.over.is_some_and(Reducer::is_share) { (0.0, 1.0) } else { scorer.scale.ends() };
        Self { ends, epochs, ..Self::default() }
    }

    /// How many values are missing.
    pub(crate) fn missing(&self) -> u64 {
        (self.missing.len() as u64).saturating_add(self.open)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| sum(self.values.numbers()) / self.values.len() as f64)
    }

    /// Of a rate or a count: how many values count, and of how many.
    pub(crate) fn passed(&self, gate: &Gate) -> Option<(u64, u64)> {
        let is_counted = matches!(gate.aggregate, Aggregate::Of(Reducer::Rate) | Aggregate::Count);
        let seen = self.values.iter().filter(|value| counts(gate, value)).count() as u64;
        is_counted.then_some((seen, self.values.len() as u64))
    }

    /// What a gate computes.
    pub(crate) fn value(&self, gate: &Gate, end: End) -> Option<f64> {
        let missing = if end == End::Out { 0 } else { self.missing() };
        match gate.aggregate {
            Aggregate::Of(Reducer::Rate) => {
                let of = self.values.len() as f64 + missing as f64;
                (of > 0.0).then(|| self.count(gate, end) / of)
            }
            Aggregate::Count => (!self.values.is_empty() || missing > 0).then(|| self.count(gate, end)),
            Aggregate::Quantile(q) => self.quantile(q, end),
            Aggregate::Of(reducer) => self.aggregate(reducer, end),
            Aggregate::PassAt(_) | Aggregate::PassAll(_) => {
                let samples = self.of_samples(gate.aggregate, end);
                let total = sum(samples.iter().map(|seen| seen.number));
                (!samples.is_empty()).then(|| total / samples.len() as f64)
            }
            Aggregate::CiLow => self.interval(gate, end).map(|interval| interval.low),
            // What is held against a baseline is skipped where there is none.
            Aggregate::Delta(_) | Aggregate::Regressed | Aggregate::NotInferior(_) => None,
        }
    }

    /// The interval of what a gate computes, where it has one: of means, of shares, and of chances over epochs.
    pub(crate) fn interval(&self, gate: &Gate, end: End) -> Option<Interval> {
        match gate.aggregate {
            Aggregate::Of(Reducer::Mean) | Aggregate::CiLow => {
                interval::of_mean(self.observed(end, self.at(end), |value| value.number)?, self.ends)
            }
            Aggregate::Of(Reducer::Rate) => {
                let share = |value: &Counted| f64::from(u8::from(counts(gate, value)));
                // A missing value counts as the end of the scale at which it is taken does.
                let from = From { sample: 0, cluster: 0 };
                let missing = share(&Counted { number: self.at(end), pass: end == End::Best, from });
                interval::of_share(self.observed(end, missing, share)?)
            }
            Aggregate::PassAt(_) | Aggregate::PassAll(_) => {
                interval::of_mean(self.of_samples(gate.aggregate, end).iter().copied(), (0.0, 1.0))
            }
            _ => None,
        }
    }

    fn at(&self, end: End) -> f64 {
        if end == End::Best { self.ends.1 } else { self.ends.0 }
    }

    /// The values with their clusters, the missing ones as `number` unless they are left out. Those of which nothing is known
    /// stand for themselves.
    fn observed(
        &self,
        end: End,
        number: f64,
        of: impl Fn(&Counted) -> f64 + Copy,
    ) -> Option<impl Iterator<Item = Observed> + Clone> {
        let (missing, open) = match end {
            End::Out => (&[][..], 0),
            End::Worst | End::Best if self.open > MOST_OPEN => return None,
            End::Worst | End::Best => (&*self.missing, u32::try_from(self.open).ok()?),
        };
        let values = self.values.iter().map(move |value| Observed { number: of(&value), cluster: value.from.cluster });
        let missing = missing.iter().map(|from| from.cluster).chain((0..open).map(|at| u32::MAX - at));
        Some(values.chain(missing.map(move |cluster| Observed { number, cluster })))
    }

    /// How many values count.
    fn count(&self, gate: &Gate, end: End) -> f64 {
        let seen = self.values.iter().filter(|value| counts(gate, value)).count() as f64;
        // A missing value counts where it would at that end; which end that is depends on the comparison.
        let at = |x: f64| gate.counted.is_some_and(|(comparison, number)| holds(x, comparison, number));
        let ends = [at(self.ends.0), at(self.ends.1)];
        let adds = match (end, gate.counted) {
            (End::Out, _) | (End::Worst, None) => false,
            (End::Best, None) => true,
            (End::Best, Some(_)) => ends.contains(&true),
            (End::Worst, Some(_)) => ends == [true, true],
        };
        seen + if adds { self.missing() as f64 } else { 0.0 }
    }

    fn quantile(&self, q: f64, end: End) -> Option<f64> {
        let count = if end == End::Out { 0 } else { self.missing() };
        let ranks = Ranks::new(self.values.numbers(), self.at(end), count);
        let place = q * ranks.total.checked_sub(1)? as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank below the number of values"
        )]
        let (below, share) = (place as u64, place.fract());
        let (low, high) = (ranks.at(below), ranks.at(below + u64::from(share > 0.0)));
        Some(low + share * (high - low))
    }

    /// The aggregate with the missing values at an end of the scale, or left out. The missing ones are counted and not
    /// written down: a log can claim any number of them.
    pub(crate) fn aggregate(&self, reducer: Reducer, end: End) -> Option<f64> {
        let numbers = self.values.numbers();
        let (n, missing) = (numbers.len() as f64, self.missing());
        if end == End::Out || missing == 0 {
            return reducer.of(numbers);
        }
        let at = self.at(end);
        match reducer {
            Reducer::Mean => Some((sum(numbers) + missing as f64 * at) / (n + missing as f64)),
            Reducer::Median => median_with(numbers, at, missing),
            // One value at the end decides a least and a greatest as much as many do.
            _ => match reducer.of(numbers) {
                Some(seen) => reducer.of(&[seen, at]),
                None => Some(at),
            },
        }
    }

    /// Of each sample the chance that of k of its epochs one passes, 1 − C(n−c, k)/C(n, k) (Chen et al. 2021), or that all
    /// do, C(c, k)/C(n, k) (Yao et al. 2024), with c of n passing. Without their missing epochs samples of fewer than k are
    /// left out; at an end they have the chance of that end.
    fn of_samples(&self, aggregate: Aggregate, end: End) -> Vec<Observed> {
        let (k, all) = match aggregate {
            Aggregate::PassAll(k) => (k, true),
            Aggregate::PassAt(k) => (k, false),
            _ => return Vec::new(),
        };
        let passed = self.values.iter().map(|value| (value.from, u32::from(value.pass), 1));
        let high = u32::from(end == End::Best);
        let missing = self.missing.iter().filter(|_| end != End::Out).map(|from| (*from, high, 1));
        let mut samples: std::collections::BTreeMap<From, (u32, u32)> = std::collections::BTreeMap::new();
        for (from, c, n) in passed.chain(missing) {
            let sample = samples.entry(from).or_default();
            *sample = (sample.0 + c, sample.1 + n);
        }
        let chance = |c: u32, n: u32| match end {
            _ if n >= k && all => choose_share(c, n, k),
            _ if n >= k => 1.0 - choose_share(n - c, n, k),
            End::Best => 1.0,
            _ => 0.0,
        };
        let known = samples.iter().filter(|(_, (_, n))| *n >= k || end != End::Out);
        let mut observed: Vec<Observed> =
            known.map(|(from, (c, n))| Observed { number: chance(*c, *n), cluster: from.cluster }).collect();
        if end != End::Out {
            let open = self.open.min(MOST_OPEN).div_ceil(u64::from(self.epochs.max(1)));
            let number = f64::from(high);
            observed
                .extend((0..u32::try_from(open).unwrap_or(0)).map(|at| Observed { number, cluster: u32::MAX - at }));
        }
        observed
    }
}

/// Whether a value counts for a rate or a count: it passes, or the gate's own comparison holds.
fn counts(gate: &Gate, value: &Counted) -> bool {
    gate.counted.map_or(value.pass, |(comparison, number)| holds(value.number, comparison, number))
}

/// C(c, k) / C(n, k), for k <= n: the chance that k drawn of n are all among c.
pub(crate) fn choose_share(c: u32, n: u32, k: u32) -> f64 {
    if c < k {
        return 0.0;
    }
    (0..k).map(|i| f64::from(c - i) / f64::from(n - i)).product()
}

/// Some numbers and so many times `end`, which is below or above all of them, by rank.
struct Ranks {
    sorted: Vec<f64>,
    end: f64,
    below: u64,
    total: u64,
}

impl Ranks {
    fn new(numbers: &[f64], end: f64, count: u64) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let below = if sorted.first().is_none_or(|least| end <= *least) { count } else { 0 };
        let total = count.saturating_add(sorted.len() as u64);
        Self { sorted, end, below, total }
    }

    fn at(&self, rank: u64) -> f64 {
        match rank.checked_sub(self.below) {
            None => self.end,
            Some(rank) => {
                usize::try_from(rank).ok().and_then(|rank| self.sorted.get(rank)).copied().unwrap_or(self.end)
            }
        }
    }
}

/// The median of some numbers and `count` times `end`, which is below or above all of them.
fn median_with(numbers: &[f64], end: f64, count: u64) -> Option<f64> {
    let ranks = Ranks::new(numbers, end, count);
    let middle = ranks.total / 2;
    match ranks.total {
        0 => None,
        total if total % 2 == 1 => Some(ranks.at(middle)),
        _ => Some(f64::midpoint(ranks.at(middle - 1), ranks.at(middle))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of one epoch each, those from 4 on passing, and so many missing ones.
    fn column(numbers: &[f64], missing: u32) -> Column {
        let from = |at: usize| From { sample: u32::try_from(at).unwrap(), cluster: u32::try_from(at).unwrap() };
        let value = |(at, number): (usize, &f64)| Counted { number: *number, pass: *number >= 4.0, from: from(at) };
        Column {
            values: numbers.iter().enumerate().map(value).collect(),
            missing: (0..missing).map(|at| from(numbers.len() + at as usize)).collect(),
            open: 0,
            ends: (1.0, 5.0),
            epochs: 1,
        }
    }

    #[test]
    fn missing_values_at_an_end_are_what_writing_them_down_would_give() {
        for (numbers, missing) in
            [(vec![], 3_u32), (vec![2.0], 1), (vec![5.0, 1.0, 3.0], 2), (vec![4.0, 4.0, 1.0, 2.0], 5)]
        {
            let column = column(&numbers, missing);
            for reducer in [Reducer::Mean, Reducer::Median, Reducer::Min, Reducer::Max] {
                for (end, number) in [(End::Worst, 1.0), (End::Best, 5.0)] {
                    let written = [numbers.clone(), vec![number; missing as usize]].concat();
                    assert_eq!(column.aggregate(reducer, end), reducer.of(&written), "{reducer:?} {numbers:?}");
                }
            }
        }
    }

    #[test]
    fn counts_and_quantiles_take_missing_values_at_both_ends() {
        let column = column(&[1.0, 2.0, 4.0, 5.0], 1);
        let ends = |text: &str| {
            let gate = Gate::parse(text).unwrap().gate;
            [End::Out, End::Worst, End::Best].map(|end| column.value(&gate, end).unwrap())
        };
        assert_eq!(ends("count(x) == 0"), [2.0, 2.0, 3.0]);
        assert_eq!(ends("count(x < 3) == 0"), [2.0, 2.0, 3.0]);
        assert_eq!(ends("count(x >= 1) == 0"), [4.0, 5.0, 5.0]);
        assert_eq!(ends("count(x > 9) == 0"), [0.0, 0.0, 0.0]);
        assert_eq!(ends("rate(x) == 0"), [0.5, 0.4, 0.6]);
        assert_eq!(ends("rate(x >= 4) == 0"), [0.5, 0.4, 0.6]);
        // Between the two ranks around it, in proportion.
        assert_eq!(ends("quantile(x, 0.5) > 0"), [3.0, 2.0, 4.0]);
        assert_eq!(ends("quantile(x, 0) > 0"), [1.0, 1.0, 1.0]);
        assert_eq!(ends("quantile(x, 1) > 0"), [5.0, 5.0, 5.0]);
        assert_eq!(ends("quantile(x, 0.25) > 0"), [1.75, 1.0, 2.0]);
    }

    /// Two samples of four epochs, with 2 and 4 passing, and one of which an epoch is missing.
    #[test]
    fn chances_over_epochs_are_drawn_without_replacement() {
        let mut column = Column { ends: (0.0, 1.0), epochs: 4, ..Column::default() };
        for (sample, passes) in [(0, [true, true, false, false]), (1, [true; 4])] {
            let from = From { sample, cluster: sample };
            for pass in passes {
                column.values.push(Counted { number: f64::from(u8::from(pass)), pass, from });
            }
        }
        let of = |column: &Column, text: &str| {
            let gate = Gate::parse(text).unwrap().gate;
            [End::Out, End::Worst, End::Best].map(|end| column.value(&gate, end).unwrap())
        };
        // 1 − C(2,2)/C(4,2) = 5/6, and C(2,2)/C(4,2) = 1/6.
        let seen = of(&column, "pass_at(x, 2) > 0");
        assert!((seen[0] - f64::midpoint(5.0 / 6.0, 1.0)).abs() < 1e-12, "{seen:?}");
        let seen = of(&column, "pass_all(x, 2) > 0");
        assert!((seen[0] - f64::midpoint(1.0 / 6.0, 1.0)).abs() < 1e-12, "{seen:?}");
        assert_eq!(of(&column, "pass_all(x, 4) > 0"), [0.5, 0.5, 0.5]);
        let from = From { sample: 2, cluster: 2 };
        (0..3).for_each(|_| column.values.push(Counted { number: 1.0, pass: true, from }));
        column.missing.push(from);
        // Without its fourth epoch the third sample says nothing of four.
        assert_eq!(of(&column, "pass_all(x, 4) > 0"), [0.5, 1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(of(&column, "pass_at(x, 4) > 0"), [1.0, 1.0, 1.0]);
        column.open = 1;
        assert_eq!(of(&column, "pass_at(x, 4) > 0"), [1.0, 0.75, 1.0]);
    }
}
