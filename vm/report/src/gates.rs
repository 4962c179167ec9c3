//! Gates over a run: as scored, and with every missing value at its worst and at its best.

use aigo_ir::expr::Comparison;
use aigo_ir::gate::Gate;
use aigo_ir::program::{Program, Scorer};
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
}

impl GateResult {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Red => "red",
            Self::Undecided => "undecided",
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
#[derive(Debug)]
pub(crate) struct Column {
    numbers: Vec<f64>,
    /// How many of them pass.
    passed: u64,
    missing: u64,
    ends: (f64, f64),
}

impl Column {
    pub(crate) fn new(scorer: &Scorer) -> Self {
        let ends = if scorer.over == Some(Reducer::Rate) { (0.0, 1.0) } else { scorer.scale.ends() };
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

    /// The aggregate with the missing values at `end` of the scale, or left out. The missing ones are counted and not written
    /// down: a log can claim any number of them.
    fn aggregate(&self, reducer: Reducer, end: Option<bool>) -> Option<f64> {
        let (n, missing) = (self.numbers.len() as f64, end.map_or(0.0, |_| self.missing as f64));
        if reducer == Reducer::Rate {
            let added = if end == Some(true) { missing } else { 0.0 };
            return (n + missing > 0.0).then(|| (self.passed as f64 + added) / (n + missing));
        }
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

/// The median of some numbers and `count` times `end`, which is below or above all of them.
fn median_with(numbers: &[f64], end: f64, count: u64) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = if sorted.first().is_none_or(|least| end <= *least) { count } else { 0 };
    let at = |rank: u64| match rank.checked_sub(below) {
        None => end,
        Some(rank) => usize::try_from(rank).ok().and_then(|rank| sorted.get(rank)).copied().unwrap_or(end),
    };
    let total = count.saturating_add(sorted.len() as u64);
    let middle = total / 2;
    match total {
        0 => None,
        _ if total % 2 == 1 => Some(at(middle)),
        _ => Some(f64::midpoint(at(middle - 1), at(middle))),
    }
}

/// Evaluates a gate.
pub(crate) fn evaluate(gate: &Gate, program: &Program, columns: &[Column]) -> GateValue {
    let at = program.scorers.iter().position(|scorer| scorer.name == gate.scorer);
    let column = at.and_then(|at| columns.get(at));
    let aggregate = |end| column.and_then(|column| column.aggregate(gate.aggregate, end));
    let (value, low, high) = (aggregate(None), aggregate(Some(false)), aggregate(Some(true)));
    let missing = column.map_or(0, |column| column.missing);
    let applicable = column.map_or(0, |column| column.numbers.len() as u64) + missing;
    let (result, note) = match low.zip(high) {
        None => (GateResult::Undecided, "nothing was scored".to_owned()),
        Some((low, high)) => {
            // Equality can hold between two ends at which it does not.
            let between = low < gate.threshold && gate.threshold < high;
            let is_equality = matches!(gate.comparison, Comparison::Equal | Comparison::NotEqual);
            match (gate.holds(low), gate.holds(high)) {
                _ if applicable < u64::from(gate.min_n) => {
                    (GateResult::Undecided, format!("{applicable} applicable, the gate needs {}", gate.min_n))
                }
                (false, false) if !(is_equality && between) => (GateResult::Red, cannot(missing)),
                (true, true) if !(is_equality && between) => {
                    let share = missing as f64 / applicable as f64;
                    if share > gate.max_missing {
                        let most = aigo_ir::text::number(gate.max_missing * 100.0);
                        (GateResult::Undecided, format!("{missing} of {applicable} missing, more than {most}%"))
                    } else {
                        (GateResult::Pass, cannot(missing))
                    }
                }
                _ => (GateResult::Undecided, format!("{missing} missing could decide it")),
            }
        }
    };
    GateValue { gate: gate.text(), value, low, high, result, note }
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
}
