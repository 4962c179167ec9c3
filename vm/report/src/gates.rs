//! Gates over a run: as scored, and with every missing value at its worst and at its best.

use aigo_ir::expr::Comparison;
use aigo_ir::gate::{Aggregate, Gate, holds};
use aigo_ir::program::Scorer;
use aigo_ir::reduce::{Reducer, sum};

/// What became of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// It holds, whatever the missing values are.
    Pass,
    /// It does not hold, whatever the missing values are.
    Red,
    /// The missing values could decide it, or too few values are there.
    Undecided,
    /// It is held against a baseline, and there is none.
    Skipped,
}

impl GateResult {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Red => "red",
            Self::Undecided => "undecided",
            Self::Skipped => "skipped",
        }
    }
}

/// A gate's result and the numbers behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct GateValue {
    /// The gate as it is written.
    pub gate: String,
    /// Its aggregate over what was scored.
    pub value: Option<f64>,
    /// The aggregate with every missing value at its worst.
    pub low: Option<f64>,
    /// With every missing value at its best.
    pub high: Option<f64>,
    /// What became of it.
    pub result: GateResult,
    /// Why, where the numbers do not say it.
    pub note: String,
}

/// The conversation's numbers of one scorer, in sample-key order.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    numbers: Vec<f64>,
    /// How many of them pass.
    passed: u64,
    missing: u64,
    ends: (f64, f64),
}

impl Column {
    pub(crate) fn new(scorer: &Scorer) -> Self {
        let ends = if scorer.over.is_some_and(Reducer::is_share) { (0.0, 1.0) } else { scorer.scale.ends() };
        Self { numbers: Vec::new(), passed: 0, missing: 0, ends }
    }

    pub(crate) fn scored(&mut self, number: f64, pass: bool) {
        self.numbers.push(number);
        self.passed += u64::from(pass);
    }

    pub(crate) const fn missing(&mut self, count: u64) {
        self.missing = count;
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.numbers.is_empty()).then(|| sum(&self.numbers) / self.numbers.len() as f64)
    }

    /// What a gate computes, with the missing values at `end` of the scale, or left out.
    fn value(&self, gate: &Gate, end: Option<bool>) -> Option<f64> {
        let counted = || {
            let of = |x: &&f64| gate.counted.is_none_or(|(comparison, number)| holds(**x, comparison, number));
            let seen = if gate.counted.is_some() { self.numbers.iter().filter(of).count() as u64 } else { self.passed };
            // A missing value counts where it would at that end; which end that is depends on the comparison.
            let at = |x: f64| gate.counted.is_some_and(|(comparison, number)| holds(x, comparison, number));
            let ends = [at(self.ends.0), at(self.ends.1)];
            let adds = match (end, gate.counted) {
                (None, _) => false,
                (Some(high), None) => high,
                (Some(high), Some(_)) => {
                    if high {
                        ends.contains(&true)
                    } else {
                        ends == [true, true]
                    }
                }
            };
            (seen as f64, if adds { self.missing as f64 } else { 0.0 })
        };
        match gate.aggregate {
            Aggregate::Of(Reducer::Rate) => {
                let (seen, added) = counted();
                let of = self.numbers.len() as f64 + end.map_or(0.0, |_| self.missing as f64);
                (of > 0.0).then(|| (seen + added) / of)
            }
            Aggregate::Count => {
                let (seen, added) = counted();
                let any = !self.numbers.is_empty() || (end.is_some() && self.missing > 0);
                any.then_some(seen + added)
            }
            Aggregate::Quantile(q) => self.quantile(q, end),
            Aggregate::Of(reducer) => self.aggregate(reducer, end),
            // What this build does not compute is refused before a run, or held against a baseline that is not there.
            _ => None,
        }
    }

    fn quantile(&self, q: f64, end: Option<bool>) -> Option<f64> {
        let count = if end.is_some() { self.missing } else { 0 };
        let end = if end == Some(true) { self.ends.1 } else { self.ends.0 };
        let ranks = Ranks::new(&self.numbers, end, count);
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

    /// The aggregate with the missing values at `end` of the scale, or left out. The missing ones are counted and not written
    /// down: a log can claim any number of them.
    fn aggregate(&self, reducer: Reducer, end: Option<bool>) -> Option<f64> {
        let (n, missing) = (self.numbers.len() as f64, end.map_or(0.0, |_| self.missing as f64));
        let Some(high) = end.filter(|_| self.missing > 0) else { return reducer.of(&self.numbers) };
        let end = if high { self.ends.1 } else { self.ends.0 };
        match reducer {
            Reducer::Mean => Some((sum(&self.numbers) + missing * end) / (n + missing)),
            Reducer::Median => median_with(&self.numbers, end, self.missing),
            // One value at the end decides a least and a greatest as much as many do.
            _ => match reducer.of(&self.numbers) {
                Some(seen) => reducer.of(&[seen, end]),
                None => Some(end),
            },
        }
    }
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

/// The values of one scorer in the groups of a gate: of all conversations, or of those with one value of a field.
pub(crate) struct Group {
    /// The field's value, as it prints; none where there is one group.
    pub(crate) name: Option<String>,
    pub(crate) column: Column,
}

/// Evaluates a gate: it must hold in every group.
pub(crate) fn evaluate(gate: &Gate, groups: &[Group]) -> GateValue {
    if gate.aggregate.is_against_baseline() {
        return GateValue { result: GateResult::Skipped, note: "no baseline".to_owned(), ..nothing(gate) };
    }
    let rank = |result: GateResult| match result {
        GateResult::Red => 0,
        GateResult::Undecided => 1,
        GateResult::Pass | GateResult::Skipped => 2,
    };
    let evaluated = groups.iter().map(|group| {
        let mut value = of_group(gate, &group.column);
        if let (Some(by), Some(name)) = (&gate.by, &group.name) {
            let colon = if value.note.is_empty() { "" } else { ": " };
            value.note = format!("{by}={name}{colon}{}", value.note);
        }
        value
    });
    // The group that decides: the first red one, else the first undecided one, else the first.
    evaluated.reduce(|a, b| if rank(b.result) < rank(a.result) { b } else { a }).unwrap_or_else(|| nothing(gate))
}

fn nothing(gate: &Gate) -> GateValue {
    let note = "nothing was scored".to_owned();
    GateValue { gate: gate.text(), value: None, low: None, high: None, result: GateResult::Undecided, note }
}

fn of_group(gate: &Gate, column: &Column) -> GateValue {
    let (value, low, high) =
        (column.value(gate, None), column.value(gate, Some(false)), column.value(gate, Some(true)));
    let missing = column.missing;
    let applicable = column.numbers.len() as u64 + missing;
    let Some((low, high)) = low.zip(high) else { return nothing(gate) };
    // Equality can hold between two ends at which it does not.
    let is_between = |(comparison, threshold): (Comparison, f64)| {
        matches!(comparison, Comparison::Equal | Comparison::NotEqual) && low < threshold && threshold < high
    };
    let unsure = gate.condition.is_some_and(is_between);
    let (result, note) = match (gate.holds(low), gate.holds(high)) {
        _ if applicable < u64::from(gate.min_n) => {
            (GateResult::Undecided, format!("{applicable} applicable, the gate needs {}", gate.min_n))
        }
        (false, false) if !unsure => (GateResult::Red, cannot(missing)),
        (true, true) if !unsure => {
            let share = missing as f64 / applicable as f64;
            if share > gate.max_missing {
                let most = aigo_ir::text::number(gate.max_missing * 100.0);
                (GateResult::Undecided, format!("{missing} of {applicable} missing, more than {most}%"))
            } else {
                (GateResult::Pass, cannot(missing))
            }
        }
        _ => (GateResult::Undecided, format!("{missing} missing could decide it")),
    };
    GateValue { gate: gate.text(), value, low: Some(low), high: Some(high), result, note }
}

fn cannot(missing: u64) -> String {
    if missing == 0 { String::new() } else { format!("{missing} missing cannot change it") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_at_an_end_are_what_writing_them_down_would_give() {
        for (numbers, missing) in
            [(vec![], 3_u64), (vec![2.0], 1), (vec![5.0, 1.0, 3.0], 2), (vec![4.0, 4.0, 1.0, 2.0], 5)]
        {
            let column = Column { passed: 0, numbers: numbers.clone(), missing, ends: (1.0, 5.0) };
            for reducer in [Reducer::Mean, Reducer::Median, Reducer::Min, Reducer::Max] {
                for high in [false, true] {
                    let end = if high { 5.0 } else { 1.0 };
                    let written = [numbers.clone(), vec![end; usize::try_from(missing).unwrap()]].concat();
                    assert_eq!(
                        column.aggregate(reducer, Some(high)),
                        reducer.of(&written),
                        "{reducer:?} {numbers:?} {high}"
                    );
                }
            }
        }
    }

    #[test]
    fn counts_and_quantiles_take_missing_values_at_both_ends() {
        let column = Column { passed: 2, numbers: vec![1.0, 2.0, 4.0, 5.0], missing: 1, ends: (1.0, 5.0) };
        let ends = |text: &str| {
            let gate = Gate::parse(text).unwrap().gate;
            [None, Some(false), Some(true)].map(|end| column.value(&gate, end).unwrap())
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
}
