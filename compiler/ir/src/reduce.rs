//! Reducers: many verdicts of one scale to one, within a sample; the same functions aggregate over samples.

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
}

impl Reducer {
    /// All reducers.
    pub const ALL: [Self; 7] = [Self::All, Self::Any, Self::Min, Self::Max, Self::Mean, Self::Median, Self::Rate];

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

    /// The number of some numbers, which must not be empty.
    pub fn of(self, numbers: &[f64]) -> Option<f64> {
        let first = *numbers.first()?;
        Some(match self {
            Self::All | Self::Min => numbers.iter().copied().fold(first, f64::min),
            Self::Any | Self::Max => numbers.iter().copied().fold(first, f64::max),
            Self::Mean | Self::Rate => sum(numbers) / numbers.len() as f64,
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
pub fn sum(numbers: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for &x in numbers {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// One verdict of many. Items that do not apply are left out; where all are, the result stands at the top of the scale with
/// the note `nothing at stake`. Where some are missing, the result is missing too, unless no value of theirs could change it.
pub fn reduce(reducer: Reducer, scale: &Scale, pass: f64, items: &[Verdict]) -> Verdict {
    let scored: Vec<&Verdict> = items.iter().filter(|item| item.outcome == Outcome::Scored).collect();
    let missing: Vec<&Verdict> = items.iter().filter(|item| item.outcome.is_missing()).collect();
    // The rate counts what passes; every other reducer the values. A conversation passes by rate where all its items do.
    let is_rate = reducer == Reducer::Rate;
    let number_of = |v: &&Verdict| match (&v.value, is_rate) {
        (Some(value), false) => scale.number_of_reduced(value),
        (_, true) => v.pass.map(|pass| f64::from(u8::from(pass))),
        (None, false) => None,
    };
    let numbers: Vec<f64> = scored.iter().filter_map(number_of).collect();
    let ((worst, best), pass) = if is_rate { ((0.0, 1.0), 1.0) } else { (scale.ends(), pass) };
    let number = if missing.is_empty() {
        if numbers.is_empty() {
            return Verdict::scored(scale.end(false), true, "nothing at stake");
        }
        reducer.of(&numbers)
    } else {
        let at = |end: f64| {
            let mut all = numbers.clone();
            all.extend(missing.iter().map(|_| end));
            reducer.of(&all)
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
    // The reason and the evidence are those of the first item that fails, else of the first item.
    let shown = scored.iter().find(|item| item.pass == Some(false)).or(scored.first());
    let mut verdict = Verdict::scored(value_of(reducer, scale, number), number >= pass, "");
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
        (_, Reducer::Mean | Reducer::Rate | Reducer::Median) | (Scale::Unit, _) => plain(),
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
        let all = |items: &[Verdict]| reduce(Reducer::All, &Scale::Boolean, 1.0, items);
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
            let verdict = reduce(reducer, scale, 2.0, &items);
            assert_eq!(scale.number_of_reduced(verdict.value.as_ref().unwrap()), Some(number), "{reducer:?} {scale}");
        }
    }

    #[test]
    fn sums_do_not_drift() {
        assert_eq!(sum(&[0.6; 1000]), 600.0);
        assert_eq!(sum(&[1e16, 1.0, -1e16]), 1.0);
        assert_eq!(Reducer::Median.of(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
