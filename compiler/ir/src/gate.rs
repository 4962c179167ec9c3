//! Gates: the conditions on a whole run under which a build fails.

use std::ops::Range;
use std::sync::Arc;

use crate::expr::Comparison;
use crate::reduce::Reducer;
use crate::span::Origin;

/// `rate(no_price) >= 0.98`: an aggregate over conversations, compared with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The aggregate: `mean`, `median`, `min`, `max` or `rate`.
    pub aggregate: Reducer,
    /// The scorer it is over.
    pub scorer: Arc<str>,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub threshold: f64,
    /// Fewer applicable samples than this leave it undecided.
    pub min_n: u32,
    /// A larger share of missing samples than this leaves it undecided.
    pub max_missing: f64,
    /// Where it was written.
    pub origin: Origin,
}

/// What a gate needs unless the task says otherwise.
pub const MIN_N: u32 = 5;
/// The share of missing samples that a gate bears unless the task says otherwise.
pub const MAX_MISSING: f64 = 0.05;

/// The aggregates that gates may name.
pub const AGGREGATES: [Reducer; 5] = [Reducer::Mean, Reducer::Median, Reducer::Min, Reducer::Max, Reducer::Rate];

/// The comparisons of gates, the longer signs first.
const COMPARISONS: [Comparison; 6] = [
    Comparison::GreaterOrEqual,
    Comparison::LessOrEqual,
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Greater,
    Comparison::Less,
];

/// Why a gate cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateError {
    /// What was seen.
    pub message: String,
    /// Where in the gate's text.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Gate {
    /// As it is written.
    pub fn text(&self) -> String {
        let threshold = crate::value::Value::Float(self.threshold).to_json();
        let threshold = threshold.strip_suffix(".0").unwrap_or(&threshold);
        format!("{}({}) {} {threshold}", self.aggregate.word(), self.scorer, self.comparison.sign())
    }

    /// Whether an aggregate of this value passes.
    pub fn holds(&self, value: f64) -> bool {
        match self.comparison {
            Comparison::Equal => value == self.threshold,
            Comparison::NotEqual => value != self.threshold,
            Comparison::Less => value < self.threshold,
            Comparison::LessOrEqual => value <= self.threshold,
            Comparison::Greater => value > self.threshold,
            Comparison::GreaterOrEqual => value >= self.threshold,
        }
    }

    /// Reads `AGGREGATE(SCORER) COMPARISON NUMBER`. The scorer's place in the text comes with it.
    pub fn parse(text: &str) -> Result<(Self, Range<usize>), GateError> {
        let shape = "a gate is written `mean(scorer) >= 4` or `rate(scorer) >= 0.95`";
        let fail = |message: &str, range: Range<usize>| {
            Err(GateError { message: message.to_owned(), range, help: Some(shape.to_owned()) })
        };
        let all = 0..text.len();
        let Some((head, rest)) = text.split_once('(') else {
            return fail("a gate begins with an aggregate and `(`", all);
        };
        let word = head.trim();
        let Some(aggregate) = AGGREGATES.into_iter().find(|known| known.word() == word) else {
            let help = crate::diagnostic::suggest(word, AGGREGATES.map(Reducer::word));
            return Err(GateError {
                message: format!("unknown aggregate `{word}`"),
                range: 0..head.len().max(1),
                help,
            });
        };
        let Some((scorer, rest)) = rest.split_once(')') else { return fail("`(` without `)`", head.len()..text.len()) };
        let name = scorer.trim();
        let start = head.len() + 1 + (scorer.len() - scorer.trim_start().len());
        let scorer_range = start..start + name.len();
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
            return fail(
                "between the parentheses stands the name of one scorer",
                head.len()..head.len() + scorer.len() + 2,
            );
        }
        let rest_start = text.len() - rest.len();
        let trimmed = rest.trim_start();
        let Some(comparison) = COMPARISONS.into_iter().find(|known| trimmed.starts_with(known.sign())) else {
            return fail("a comparison is missing", rest_start..text.len());
        };
        let sign = comparison.sign();
        let number = trimmed.get(sign.len()..).unwrap_or_default().trim();
        match number.parse::<f64>() {
            Ok(threshold) if threshold.is_finite() => {
                let threshold = if threshold == 0.0 { 0.0 } else { threshold };
                let gate = Self {
                    aggregate,
                    scorer: name.into(),
                    comparison,
                    threshold,
                    min_n: MIN_N,
                    max_missing: MAX_MISSING,
                    origin: Origin::default(),
                };
                Ok((gate, scorer_range))
            }
            _ => fail(&format!("`{number}` is no number"), text.len() - number.len().min(text.len())..text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_read_what_they_write() {
        for text in
            ["mean(task_completion) >= 4", "rate(a-b) >= 0.98", "min(x) > -1", "median(x) != 2.5", "rate(x) == 1"]
        {
            let (gate, range) = Gate::parse(text).unwrap();
            assert_eq!((gate.text(), &text[range]), (text.to_owned(), &*gate.scorer));
        }
        for bad in [
            "",
            "mean",
            "mean(x)",
            "mean() > 1",
            "meen(x) > 1",
            "mean(x) > y",
            "mean(x) => 1",
            "mean(x) > nan",
            "mean(x y) > 1",
        ] {
            let error = Gate::parse(bad).unwrap_err();
            assert!(error.range.end <= bad.len().max(1), "{bad}: {error:?}");
        }
    }
}
