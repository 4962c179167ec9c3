//! Gates: the conditions on a whole run under which a build fails.

mod parse;
#[cfg(test)]
mod tests;

pub use parse::{GateError, Places, Selection, Written};

use std::fmt::Write as _;
use std::sync::Arc;

use crate::expr::Comparison;
use crate::reduce::Reducer;
use crate::span::Origin;

/// `rate(no_price) >= 0.98`: an aggregate over conversations, compared with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What is computed.
    pub aggregate: Aggregate,
    /// The scorer it is over.
    pub scorer: Arc<str>,
    /// Of `rate` and `count`: which values count; those that pass unless it is given.
    pub counted: Option<(Comparison, f64)>,
    /// Whether turns are counted in place of conversations.
    pub of_turns: bool,
    /// The field whose values make groups: the gate must hold in each.
    pub by: Option<Arc<str>>,
    /// The tags of the samples that count.
    pub tags: Option<Arc<str>>,
    /// What it is compared with; none of those that are conditions themselves.
    pub condition: Option<(Comparison, f64)>,
    /// Fewer applicable samples than this leave it undecided.
    pub min_n: u32,
    /// A larger share of missing samples than this leaves it undecided.
    pub max_missing: f64,
    /// How much the interval counts.
    pub decide: Decide,
    /// Where it was written.
    pub origin: Origin,
}

/// What gates compute of a scorer's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregate {
    /// The mean, the median, the least, the greatest, or the share that passes.
    Of(Reducer),
    /// How many pass.
    Count,
    /// The value below which this share lies, 0 to 1.
    Quantile(f64),
    /// The chance that of so many epochs some one passes.
    PassAt(u32),
    /// The chance that of so many epochs all pass.
    PassAll(u32),
    /// The low end of the mean's interval.
    CiLow,
    /// The change of an aggregate against the baseline.
    Delta(Reducer),
    /// Whether the whole interval of the change lies below 0.
    Regressed,
    /// Whether the whole interval of the change lies above less than this.
    NotInferior(f64),
}

/// When a gate is red or passes, the interval of its aggregate considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decide {
    /// By the value.
    #[default]
    Point,
    /// Red only where the whole interval is.
    Sure,
    /// A pass only where the whole interval is.
    Safe,
}

impl Decide {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Point, Self::Sure, Self::Safe];

    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Sure => "sure",
            Self::Safe => "safe",
        }
    }
}

/// What a gate needs unless the task says otherwise.
pub const MIN_N: u32 = 5;
/// The share of missing samples that a gate bears unless the task says otherwise.
pub const MAX_MISSING: f64 = 0.05;

/// How often a judge is asked in all before a failing verdict stands, where one verdict could turn a gate red and the task
/// says nothing else.
pub const CONFIRM: u32 = 3;

/// The aggregates of one scorer that gates may name.
pub const AGGREGATES: [Reducer; 5] = [Reducer::Mean, Reducer::Median, Reducer::Min, Reducer::Max, Reducer::Rate];

/// The words with which a gate may begin.
pub const WORDS: [&str; 14] = [
    "mean",
    "median",
    "min",
    "max",
    "rate",
    "count",
    "quantile",
    "pass_at",
    "pass_all",
    "ci_low",
    "every_scorer",
    "delta",
    "regressed",
    "not_inferior",
];

impl Aggregate {
    /// The word in tasks and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Of(reducer) => reducer.word(),
            Self::Count => "count",
            Self::Quantile(_) => "quantile",
            Self::PassAt(_) => "pass_at",
            Self::PassAll(_) => "pass_all",
            Self::CiLow => "ci_low",
            Self::Delta(_) => "delta",
            Self::Regressed => "regressed",
            Self::NotInferior(_) => "not_inferior",
        }
    }

    /// Whether it is held against a baseline.
    pub const fn is_against_baseline(self) -> bool {
        matches!(self, Self::Delta(_) | Self::Regressed | Self::NotInferior(_))
    }

    /// Whether it is a condition itself, and is compared with nothing.
    pub const fn is_condition(self) -> bool {
        matches!(self, Self::Regressed | Self::NotInferior(_))
    }

    /// Whether it is a share: 0 to 1, whatever the scale is.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Of(Reducer::Rate) | Self::PassAt(_) | Self::PassAll(_))
    }
}

fn number(x: f64) -> String {
    let text = crate::value::Value::Float(x).to_json();
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// Whether a value stands to a number as the sign says.
pub fn holds(value: f64, comparison: Comparison, threshold: f64) -> bool {
    match comparison {
        Comparison::Equal => value == threshold,
        Comparison::NotEqual => value != threshold,
        Comparison::Less => value < threshold,
        Comparison::LessOrEqual => value <= threshold,
        Comparison::Greater => value > threshold,
        Comparison::GreaterOrEqual => value >= threshold,
    }
}

impl Gate {
    /// Whether it holds only where no conversation fails, so that one wrong verdict turns it red.
    pub fn bears_none(&self) -> bool {
        let Some((comparison, number)) = self.condition else { return false };
        let at_least = matches!(comparison, Comparison::GreaterOrEqual | Comparison::Equal);
        match self.aggregate {
            Aggregate::Of(Reducer::Rate) => at_least && number >= 1.0,
            Aggregate::Of(Reducer::Min) => at_least || comparison == Comparison::Greater,
            Aggregate::Count => {
                // Of what is bad: `count(x < 3) == 0`.
                let is_bad = |(sign, _)| matches!(sign, Comparison::Less | Comparison::LessOrEqual);
                let none = (matches!(comparison, Comparison::Equal | Comparison::LessOrEqual) && number < 1.0)
                    || (comparison == Comparison::Less && number <= 1.0);
                self.counted.is_some_and(is_bad) && none
            }
            _ => false,
        }
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.of_turns {
            out.push_str("turns.");
        }
        out.push_str(self.aggregate.word());
        out.push('(');
        match self.aggregate {
            Aggregate::Delta(reducer) => {
                let _ = write!(out, "{}({})", reducer.word(), self.scorer);
            }
            _ => out.push_str(&self.scorer),
        }
        if let Some((comparison, number_of)) = self.counted {
            let _ = write!(out, " {} {}", comparison.sign(), number(number_of));
        }
        match self.aggregate {
            Aggregate::Quantile(q) => {
                let _ = write!(out, ", {}", number(q));
            }
            Aggregate::PassAt(k) | Aggregate::PassAll(k) => {
                let _ = write!(out, ", {k}");
            }
            Aggregate::NotInferior(margin) => {
                let _ = write!(out, ", margin={}", number(margin));
            }
            _ => {}
        }
        if let Some(by) = &self.by {
            let _ = write!(out, ", by={by}");
        }
        if let Some(tags) = &self.tags {
            let _ = write!(out, ", tags='{tags}'");
        }
        out.push(')');
        if let Some((comparison, threshold)) = self.condition {
            let _ = write!(out, " {} {}", comparison.sign(), number(threshold));
        }
        out
    }

    /// Whether an aggregate of this value passes; one that is a condition itself is compared with nothing.
    pub fn holds(&self, value: f64) -> bool {
        self.condition.is_none_or(|(comparison, threshold)| holds(value, comparison, threshold))
    }
}
