//! Reducers: many verdicts of one scale to one, within a sample; the same functions aggregate over samples.

use std::borrow::Borrow;

use crate::value::Value;
use crate::verdict::{Outcome, Scale, Verdict};

/// The closed list of reducers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// Every one passes: the worst boolean.
    All,
    /// Some one passes: the best boolean.
    Any,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The arithmetic mean.
    Mean,
    /// The middle one; of two middle ones, the mean.
    Median,
    /// The share that passes.
    Rate,
    /// The share of items before the first that fails: 1 where none does.
    FirstFail,
    /// The most frequent value; of several the worst.
    Majority,
    /// How early those stand that pass: the mean, over those, of the share that passes up to each; 0 where none does. Average
    /// precision of a ranked list (Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, 8.4).
    AveragePrecision,
}

/// The reason of a verdict of which every item was left out.
pub const NOTHING_AT_STAKE: &str = "nothing at stake";

impl Reducer {
    /// All reducers.
    pub const ALL: [Self; 10] = [
        Self::All,
        Self::Any,
        Self::Min,
        Self::Max,
        Self::Mean,
        Self::Median,
        Self::Rate,
        Self::FirstFail,
        Self::Majority,
        Self::AveragePrecision,
    ];

    /// The word in tasks, gates and programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Rate => "rate",
            Self::FirstFail => "first_fail",
            Self::Majority => "majority",
            Self::AveragePrecision => "average_precision",
        }
    }

    /// The reducer of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reducer| reducer.word() == word)
    }

    /// The reducer of a scale's turns unless the task says otherwise.
    pub const fn default_of(scale: &Scale) -> Self {
        match scale {
            Scale::Boolean => Self::All,
            Scale::Range(..) | Scale::Labels(_) => Self::Min,
            Scale::Unit => Self::Mean,
        }
    }

    /// The reducer of several verdicts on the same thing: the majority of booleans and labels, the median of steps, the mean
    /// of numbers.
    pub const fn of_draws(scale: &Scale) -> Self {
        match scale {
            Scale::Boolean | Scale::Labels(_) => Self::Majority,
            Scale::Range(..) => Self::Median,
            Scale::Unit => Self::Mean,
        }
    }

    /// Whether what it gives is a share of what passes, whatever the scale is.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Rate | Self::FirstFail)
    }

    /// Whether it counts what passes, and not the values.
    pub const fn counts_passes(self) -> bool {
        self.is_share() || matches!(self, Self::AveragePrecision)
    }

    /// The number of some numbers, which must not be empty. Of a share they are 1 for what passes and 0 for what does not.
    pub fn of(self, numbers: &[f64]) -> Option<f64> {
        let first = *numbers.first()?;
        Some(match self {
            Self::All | Self::Min => numbers.iter().copied().fold(first, f64::min),
            Self::Any | Self::Max => numbers.iter().copied().fold(first, f64::max),
            Self::Mean | Self::Rate => sum(numbers) / numbers.len() as f64,
            Self::FirstFail => {
                let before = numbers.iter().position(|x| *x < 1.0).unwrap_or(numbers.len());
                before as f64 / numbers.len() as f64
            }
            Self::AveragePrecision => {
                let (mut hits, mut shares) = (0_u32, Vec::new());
                for (rank, number) in numbers.iter().enumerate() {
                    if *number >= 1.0 {
                        hits += 1;
                        shares.push(f64::from(hits) / (rank + 1) as f64);
                    }
                }
                if shares.is_empty() { 0.0 } else { sum(&shares) / shares.len() as f64 }
            }
            Self::Majority => {
                let count = |x: f64| numbers.iter().filter(|other| **other == x).count();
                // Of equally frequent ones the least is kept: the fold goes on only where another is more frequent, or less.
                let better = |best: f64, x: f64| {
                    if (count(x), -x) > (count(best), -best) { x } else { best }
                };
                numbers.iter().copied().fold(first, better)
            }
            Self::Median => {
                let mut sorted = numbers.to_vec();
                sorted.sort_by(f64::total_cmp);
                let middle = sorted.len() / 2;
                let upper = *sorted.get(middle)?;
                if sorted.len() % 2 == 1 { upper } else { f64::midpoint(*sorted.get(middle - 1)?, upper) }
            }
        })
    }
}

/// The sum of numbers in their order, by Neumaier's variant of Kahan's compensated summation (A. Neumaier, ZAMM 54, 1974):
/// the one sum of the project, so that equal data give equal bytes.
pub fn sum(numbers: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    let (sum, lost) = numbers.into_iter().fold((0.0_f64, 0.0_f64), |(sum, lost), x| {
        let x = *x.borrow();
        let next = sum + x;
        (next, lost + if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum })
    });
    sum + lost
}

/// One verdict of many. Items that do not apply are left out; where all are, the result stands at the top of the scale with
/// the note `nothing at stake`. Where some are missing, the result is missing too, unless no value of theirs could change it.
/// With a quorum missing items are left out as well, and fewer scored ones than that make the result invalid.
pub fn reduce(reducer: Reducer, scale: &Scale, pass: f64, quorum: Option<u32>, items: &[Verdict]) -> Verdict {
    let scored: Vec<&Verdict> = items.iter().filter(|item| item.outcome == Outcome::Scored).collect();
    if let Some(quorum) = quorum
        && scored.len() < quorum as usize
    {
        let why = items.iter().find(|item| item.outcome.is_missing()).map_or("", |item| &*item.reason);
        let seen = format!("{} of {} judges gave a verdict, and {quorum} are needed: {why}", scored.len(), items.len());
        return Verdict::without_value(Outcome::Invalid, seen.trim_end_matches(": ").to_owned());
    }
    let missing: Vec<&Verdict> = items.iter().filter(|item| item.outcome.is_missing() && quorum.is_none()).collect();
    // A share counts what passes; every other reducer the values. A conversation passes by it where all its items do.
    let counts = reducer.counts_passes();
    let number_of = |v: &&Verdict| match (&v.value, counts) {
        (Some(value), false) => scale.number_of_reduced(value),
        (_, true) => v.pass.map(|pass| f64::from(u8::from(pass))),
        (None, false) => None,
    };
    let (worst, best) = if counts { (0.0, 1.0) } else { scale.ends() };
    let pass = if reducer.is_share() { 1.0 } else { pass };
    let number = if missing.is_empty() {
        let numbers: Vec<f64> = scored.iter().filter_map(number_of).collect();
        if numbers.is_empty() {
            return Verdict::scored(scale.end(false), true, NOTHING_AT_STAKE);
        }
        reducer.of(&numbers)
    } else {
        // Each in its place: where the first failure stands depends on it.
        let at = |end: f64| {
            let number = |item: &Verdict| match item.outcome {
                Outcome::Scored => number_of(&item),
                outcome => outcome.is_missing().then_some(end),
            };
            reducer.of(&items.iter().filter_map(number).collect::<Vec<f64>>())
        };
        // A missing value cannot change a worst value that has been seen already.
        if at(worst) == at(best) { at(worst) } else { None }
    };
    let Some(number) = number else {
        let void = missing.iter().find(|item| item.outcome == Outcome::Void);
        let blamed = void.or(missing.first());
        let outcome = blamed.map_or(Outcome::Void, |item| item.outcome);
        return Verdict::without_value(outcome, blamed.map_or_else(|| "".into(), |item| item.reason.clone()));
    };
    // The reason and the evidence are those of the first item that fails, else of the first item. Where the draws of one
    // judge are joined, of the first that says what the result says.
    let passes = number >= pass;
    let side = if matches!(reducer, Reducer::Majority | Reducer::Median) { passes } else { false };
    let shown = scored.iter().find(|item| item.pass == Some(side)).or(scored.first());
    let mut verdict = Verdict::scored(value_of(reducer, scale, number), passes, "");
    if let Some(shown) = shown {
        verdict.reason = shown.reason.clone();
        verdict.evidence.clone_from(&shown.evidence);
    }
    verdict
}

/// A number back on the scale. Means leave whole numbers and booleans; then the value is the number itself.
fn value_of(reducer: Reducer, scale: &Scale, number: f64) -> Value {
    let plain = || Value::float(number).unwrap_or_default();
    match (scale, reducer) {
        (_, Reducer::Mean | Reducer::Rate | Reducer::FirstFail | Reducer::Median | Reducer::AveragePrecision)
        | (Scale::Unit, _) => plain(),
        (Scale::Boolean, _) => Value::Bool(number >= 1.0),
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of a scale of at most 101 steps")]
        (Scale::Range(..), _) => Value::Int(number as i64),
        (Scale::Labels(labels), _) => {
            labels.iter().find(|(_, x)| *x == number).map_or_else(plain, |(label, _)| Value::Str(label.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yes(pass: bool) -> Verdict {
        Verdict::scored(Value::Bool(pass), pass, if pass { "good" } else { "bad" })
    }

    #[test]
    fn a_missing_item_hides_the_result_unless_it_cannot_change_it() {
        let invalid = Verdict::without_value(Outcome::Invalid, "no JSON");
        let all = |items: &[Verdict]| reduce(Reducer::All, &Scale::Boolean, 1.0, None, items);
        assert_eq!(all(&[yes(true), invalid.clone()]).outcome, Outcome::Invalid);
        let failed = all(&[yes(true), yes(false), invalid]);
        assert_eq!((failed.value, failed.pass, &*failed.reason), (Some(Value::Bool(false)), Some(false), "bad"));
        let skipped = Verdict::without_value(Outcome::NotApplicable, "");
        assert_eq!(&*all(&[skipped]).reason, "nothing at stake");
    }

    #[test]
    fn what_a_reducer_makes_still_counts_as_what_it_is() {
        let labels = Scale::Labels(vec![("bad".into(), 0.0), ("fine".into(), 2.0), ("good".into(), 4.0)]);
        let label = |word: &str, pass| Verdict::scored(Value::str(word), pass, "");
        for (reducer, scale, items, number) in [
            (Reducer::Mean, &Scale::Boolean, vec![yes(true), yes(false), yes(false)], 1.0 / 3.0),
            (Reducer::Rate, &Scale::Boolean, vec![yes(true), yes(true), yes(false), yes(false)], 0.5),
            (Reducer::Mean, &labels, vec![label("bad", false), label("good", true)], 2.0),
            (Reducer::Median, &labels, vec![label("fine", false), label("good", true)], 3.0),
            (Reducer::Min, &labels, vec![label("fine", false), label("good", true)], 2.0),
            (
                Reducer::Rate,
                &Scale::Range(1, 5),
                vec![Verdict::scored(Value::Int(5), true, ""), Verdict::scored(Value::Int(1), false, "")],
                0.5,
            ),
        ] {
            let verdict = reduce(reducer, scale, 2.0, None, &items);
            assert_eq!(scale.number_of_reduced(verdict.value.as_ref().unwrap()), Some(number), "{reducer:?} {scale}");
        }
    }

    #[test]
    fn draws_are_joined_by_what_most_say_and_a_tie_is_the_worst() {
        let majority = |items: &[Verdict]| reduce(Reducer::Majority, &Scale::Boolean, 1.0, None, items);
        let passes = |items: &[Verdict]| majority(items).pass;
        assert_eq!(passes(&[yes(true), yes(false), yes(true)]), Some(true));
        assert_eq!(passes(&[yes(true), yes(false)]), Some(false));
        let invalid = Verdict::without_value(Outcome::Invalid, "no JSON");
        assert_eq!(passes(&[yes(true), yes(true), invalid.clone()]), Some(true));
        assert_eq!(majority(&[yes(true), invalid.clone()]).outcome, Outcome::Invalid);
        // The reason is one of those who say what the result says.
        assert_eq!(&*majority(&[yes(false), yes(true), yes(true)]).reason, "good");
        let quorum = |n, items: &[Verdict]| reduce(Reducer::Majority, &Scale::Boolean, 1.0, Some(n), items);
        assert_eq!(quorum(1, &[yes(true), invalid.clone()]).pass, Some(true));
        let lost = quorum(2, &[yes(true), invalid]);
        assert_eq!((lost.outcome, lost.reason.contains("1 of 2 judges")), (Outcome::Invalid, true));
    }

    #[test]
    fn the_first_failure_counts_what_stands_before_it() {
        let first = |items: &[Verdict]| reduce(Reducer::FirstFail, &Scale::Range(1, 5), 4.0, None, items);
        let at = |pass: bool| Verdict::scored(Value::Int(if pass { 5 } else { 1 }), pass, "");
        assert_eq!(first(&[at(true), at(false), at(true), at(true)]).value, Some(Value::Float(0.25)));
        let whole = first(&[at(true), at(true)]);
        assert_eq!((whole.value, whole.pass), (Some(Value::Float(1.0)), Some(true)));
        let missing = Verdict::without_value(Outcome::Void, "gone");
        assert_eq!(first(&[at(false), missing.clone()]).value, Some(Value::Float(0.0)));
        assert_eq!(first(&[missing, at(false)]).outcome, Outcome::Void);
    }

    #[test]
    fn what_stands_first_counts_most() {
        let precision = |items: &[bool]| {
            let items: Vec<Verdict> = items.iter().map(|holds| yes(*holds)).collect();
            reduce(Reducer::AveragePrecision, &Scale::Unit, 0.5, None, &items)
        };
        assert_eq!(precision(&[false, true]).value, Some(Value::Float(0.5)));
        assert_eq!(precision(&[true, false, true]).value, Some(Value::Float(f64::midpoint(1.0, 2.0 / 3.0))));
        let none = precision(&[false, false]);
        assert_eq!((none.value, none.pass), (Some(Value::Float(0.0)), Some(false)));
    }

    #[test]
    fn sums_do_not_drift() {
        assert_eq!(sum([0.6; 1000]), 600.0);
        assert_eq!(sum([1e16, 1.0, -1e16]), 1.0);
        assert_eq!(Reducer::Median.of(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
