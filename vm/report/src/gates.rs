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
    passes: Vec<f64>,
    missing: u64,
    ends: (f64, f64),
}

impl Column {
    pub(crate) fn new(scorer: &Scorer) -> Self {
        Self { numbers: Vec::new(), passes: Vec::new(), missing: 0, ends: scorer.scale.ends() }
    }

    pub(crate) fn scored(&mut self, number: f64, pass: bool) {
        self.numbers.push(number);
        self.passes.push(f64::from(u8::from(pass)));
    }

    pub(crate) const fn missing(&mut self, count: u64) {
        self.missing = count;
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.numbers.is_empty()).then(|| sum(&self.numbers) / self.numbers.len() as f64)
    }

    /// The aggregate with the missing values at `end` of the scale, or left out.
    fn aggregate(&self, reducer: Reducer, end: Option<bool>) -> Option<f64> {
        let (numbers, (worst, best)) = match reducer {
            Reducer::Rate => (&self.passes, (0.0, 1.0)),
            _ => (&self.numbers, self.ends),
        };
        let mut all = numbers.clone();
        if let Some(high) = end {
            all.extend((0..self.missing).map(|_| if high { best } else { worst }));
        }
        reducer.of(&all)
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
