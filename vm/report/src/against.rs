//! Gates that hold a run against a baseline: `delta`, `regressed`, `not_inferior`. Scenarios are paired by their keys; those that
//! only one side has take no part, and are told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::gate::{Aggregate, Decide, Gate};
use aigo_ir::reduce::{Reducer, sum};
use aigo_ir::text::number;

use crate::column::Column;
use crate::gates::{GateResult, GateValue, between, nothing};
use crate::interval::{Interval, LEAST_CLUSTERS, Observed};
use crate::paired::Paired;
use crate::sheet::{Scenario, Sheet, Side};

/// Which ends missing values are taken at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// They are left out.
    Out,
    /// Those of the run at the worst, those of the baseline at the best.
    Worst,
    /// The other way round.
    Best,
}

/// The scenarios that the run and the baseline share.
struct Pairs<'s> {
    both: Vec<(Side, u32, &'s Scenario)>,
    /// How many scenarios of the run are not in the baseline, or do not apply there.
    new: usize,
    /// The worst and the best number.
    ends: (f64, f64),
    by_share: bool,
}

/// A gate of a group of trials.
pub(crate) fn of_group(gate: &Gate, column: &Column, keys: &[&str], sheet: &Sheet) -> GateValue {
    let undecided = |note: String| GateValue { note, ..nothing(gate) };
    if gate.of_turns {
        return undecided("a baseline has no scores of turns".to_owned());
    }
    let Some((place, measure)) = sheet.measure(&gate.scorer) else {
        return undecided(format!("the baseline has no `{}`", gate.scorer));
    };
    if (measure.low, measure.high) != column.ends {
        let (low, high) = (number(measure.low), number(measure.high));
        return undecided(format!("the baseline has `{}` on the scale {low} to {high}", gate.scorer));
    }
    let before = sheet.scenarios(place);
    let pairs = Pairs::of(gate, column, keys, &before);
    let mut value = pairs.decide(gate, column.open);
    if pairs.new > 0 {
        let colon = if value.note.is_empty() { "" } else { "; " };
        let _ = write!(value.note, "{colon}{} scenarios are not in the baseline", pairs.new);
    }
    value
}

impl<'s> Pairs<'s> {
    fn of(gate: &Gate, column: &Column, keys: &[&str], before: &'s BTreeMap<Arc<str>, Scenario>) -> Self {
        let mut sides: BTreeMap<u32, (Side, u32)> = BTreeMap::new();
        for value in column.values.iter() {
            let (side, cluster) = sides.entry(value.from.sample).or_default();
            side.numbers.push(value.number);
            side.passes.push(value.pass);
            *cluster = value.from.cluster;
        }
        for from in &column.missing {
            let (side, cluster) = sides.entry(from.sample).or_default();
            side.missing += 1;
            *cluster = from.cluster;
        }
        let mut pairs = Self {
            both: Vec::new(),
            new: 0,
            ends: column.ends,
            by_share: gate.aggregate == Aggregate::Delta(Reducer::Rate),
        };
        for (sample, (side, cluster)) in sides {
            let old = keys.get(sample as usize).and_then(|key| before.get(*key));
            match old.filter(|old| old.side.is_applicable()) {
                Some(old) => pairs.both.push((side, cluster, old)),
                None => pairs.new += 1,
            }
        }
        pairs
    }

    /// The mean of a side at an end.
    fn mean(&self, side: &Side, at_best: Option<bool>) -> Option<f64> {
        if self.by_share {
            side.rate(at_best)
        } else {
            side.mean(at_best.map(|best| if best { self.ends.1 } else { self.ends.0 }))
        }
    }

    /// The means of both sides of each scenario, with its cluster.
    fn means(&self, end: End) -> Vec<(f64, f64, u32)> {
        let (now, then) = match end {
            End::Out => (None, None),
            End::Worst => (Some(false), Some(true)),
            End::Best => (Some(true), Some(false)),
        };
        let both = self
            .both
            .iter()
            .filter_map(|(side, cluster, old)| Some((self.mean(side, now)?, self.mean(&old.side, then)?, *cluster)));
        both.collect()
    }

    fn paired(&self, end: End) -> Option<Paired> {
        let means = self.means(end);
        let differences: Vec<Observed> =
            means.iter().map(|(now, then, cluster)| Observed { number: now - then, cluster: *cluster }).collect();
        let (low, high) = if self.by_share { (0.0, 1.0) } else { self.ends };
        Paired::of(&differences, (low - high, high - low))
    }

    /// The change of the aggregate.
    fn change(&self, reducer: Reducer, end: End) -> Option<f64> {
        let means = self.means(end);
        let (now, then): (Vec<f64>, Vec<f64>) = means.iter().map(|(now, then, _)| (*now, *then)).unzip();
        match reducer {
            Reducer::Mean | Reducer::Rate => {
                let differences: Vec<f64> = means.iter().map(|(now, then, _)| now - then).collect();
                (!differences.is_empty()).then(|| sum(&differences) / differences.len() as f64)
            }
            other => Some(other.of(&now)? - other.of(&then)?),
        }
    }

    /// How many values are missing on both sides, and how many there should be.
    fn missing(&self) -> (u64, u64) {
        let sides = self.both.iter().flat_map(|(side, _, old)| [side, &old.side]);
        sides.fold((0, 0), |(missing, all), side| {
            (missing + u64::from(side.missing), all + u64::from(side.missing) + side.numbers.len() as u64)
        })
    }

    fn decide(&self, gate: &Gate, open: u64) -> GateValue {
        let paired = u32::try_from(self.both.len()).unwrap_or(u32::MAX);
        let (missing, all) = self.missing();
        let (missing, all) = (missing.saturating_add(open), all.saturating_add(open));
        let reducer = match gate.aggregate {
            Aggregate::Delta(reducer) => reducer,
            _ => Reducer::Mean,
        };
        let at = |end| self.change(reducer, end);
        let Some((low, high)) = at(End::Worst).zip(at(End::Best)) else {
            return GateValue { note: "no scenario is in the baseline".to_owned(), ..nothing(gate) };
        };
        let has_interval = matches!(reducer, Reducer::Mean | Reducer::Rate);
        let [worst, best] = [End::Worst, End::Best].map(|end| self.paired(end).filter(|_| has_interval));
        let interval = worst
            .and_then(|one| one.interval)
            .zip(best.and_then(|one| one.interval))
            .map(|(a, b)| Interval { low: a.low.min(b.low), high: a.high.max(b.high), clusters: a.clusters });
        let share = missing as f64 / all.max(1) as f64;
        let (result, note) = if paired < gate.min_n {
            (GateResult::Undecided, format!("{paired} scenarios paired, the gate needs {}", gate.min_n))
        } else if open > 0 {
            (GateResult::Undecided, format!("{open} conversations are open"))
        } else {
            let found = match gate.aggregate {
                Aggregate::Regressed => regressed(worst.as_ref(), best.as_ref()),
                Aggregate::NotInferior(margin) => not_inferior(interval, margin),
                _ => delta(gate, (low, high), interval),
            };
            match found {
                (GateResult::Pass, _) if share > gate.max_missing => {
                    let most = number(gate.max_missing * 100.0);
                    (GateResult::Undecided, format!("{missing} of {all} missing, more than {most}%"))
                }
                (GateResult::Undecided, note) if note.is_empty() => {
                    (GateResult::Undecided, format!("{missing} missing could decide it"))
                }
                other => other,
            }
        };
        GateValue {
            value: at(End::Out),
            low: Some(low.min(high)),
            high: Some(low.max(high)),
            interval,
            result,
            note,
            ..nothing(gate)
        }
    }
}

fn few() -> String {
    format!("too few clusters for an interval: it needs {LEAST_CLUSTERS}")
}

/// Red where it is worse beyond chance, whatever the missing values are.
fn regressed(worst: Option<&Paired>, best: Option<&Paired>) -> (GateResult, String) {
    let Some((worst, best)) = worst.zip(best).filter(|(worst, _)| worst.can_tell()) else {
        return (GateResult::Undecided, few());
    };
    match (worst.is_worse(), best.is_worse()) {
        (true, true) => (GateResult::Red, "worse beyond chance".to_owned()),
        (false, false) => {
            let found = worst.detectable.map_or_else(String::new, |change| {
                format!("four of five such runs would find a drop of {}", crate::text::short(change, 3))
            });
            (GateResult::Pass, found)
        }
        _ => (GateResult::Undecided, String::new()),
    }
}

/// A pass only where the whole interval lies above less than the margin; red only where it lies below.
fn not_inferior(interval: Option<Interval>, margin: f64) -> (GateResult, String) {
    match interval {
        None => (GateResult::Undecided, few()),
        Some(interval) if interval.low > -margin => (GateResult::Pass, String::new()),
        Some(interval) if interval.high < -margin => {
            (GateResult::Red, "the whole interval lies below the margin".to_owned())
        }
        Some(_) => (GateResult::Undecided, "the margin lies in the interval: more scenarios would tell".to_owned()),
    }
}

/// By the value, and by the interval where the task asks for it.
fn delta(gate: &Gate, (low, high): (f64, f64), interval: Option<Interval>) -> (GateResult, String) {
    let sure = interval.map(|interval| between(gate, interval.low, interval.high));
    match (between(gate, low.min(high), low.max(high)), gate.decide) {
        (None, _) => (GateResult::Undecided, String::new()),
        (Some(false), Decide::Sure) => match sure {
            Some(Some(false)) => (GateResult::Red, String::new()),
            Some(_) => (GateResult::Pass, "below, but within noise: the interval is not".to_owned()),
            None => (GateResult::Undecided, few()),
        },
        (Some(true), Decide::Safe) => match sure {
            Some(Some(true)) => (GateResult::Pass, String::new()),
            Some(_) => (GateResult::Undecided, "holds, but within noise: the interval does not".to_owned()),
            None => (GateResult::Undecided, few()),
        },
        (Some(true), _) => (GateResult::Pass, String::new()),
        (Some(false), _) => (GateResult::Red, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Counted, From};
    use crate::sheet::{Mark, Measure, SheetTrial};
    use aigo_ir::verdict::Outcome;

    /// A run and a baseline of one measure on 1..5, one epoch each; no number is a verdict that is missing.
    fn value(text: &str, before: &[Option<f64>], after: &[Option<f64>]) -> GateValue {
        let measure =
            Measure { name: "x".into(), low: 1.0, high: 5.0, pass: 4.0, is_boolean: false, judges: Vec::new() };
        let keys: Vec<String> = (0..after.len()).map(|at| format!("s{at:02}")).collect();
        let trial = |(at, number): (usize, &Option<f64>)| SheetTrial {
            key: format!("s{at:02}").into(),
            epoch: 1,
            content: "".into(),
            cluster: "".into(),
            ending: "done".into(),
            marks: vec![match number {
                Some(x) => Mark { outcome: Some(Outcome::Scored), number: Some(*x), pass: *x >= 4.0 },
                None => Mark { outcome: Some(Outcome::Void), number: None, pass: false },
            }],
        };
        let sheet = Sheet {
            measures: vec![measure],
            trials: before.iter().enumerate().map(trial).collect(),
            ..Sheet::default()
        };
        let mut column = Column { ends: (1.0, 5.0), epochs: 1, ..Column::default() };
        for (at, number) in after.iter().enumerate() {
            let at = u32::try_from(at).unwrap();
            let from = From { sample: at, cluster: at };
            match number {
                Some(x) => column.values.push(Counted { number: *x, pass: *x >= 4.0, from }),
                None => column.missing.push(from),
            }
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let gate = Gate { max_missing: 0.2, ..Gate::parse(text).unwrap().gate };
        of_group(&gate, &column, &keys, &sheet)
    }

    fn all(number: f64, n: usize) -> Vec<Option<f64>> {
        vec![Some(number); n]
    }

    #[test]
    fn changes_are_between_paired_scenarios() {
        use GateResult::{Pass, Red, Undecided};
        let before = all(4.0, 12);
        let mut after = all(4.0, 12);
        after.iter_mut().take(6).for_each(|x| *x = Some(2.0));
        let result = |text: &str, after: &[Option<f64>]| value(text, &before, after).result;
        assert_eq!(value("delta(mean(x)) >= -1", &before, &after).value, Some(-1.0));
        assert_eq!((result("delta(mean(x)) >= -1", &after), result("delta(mean(x)) >= -0.5", &after)), (Pass, Red));
        assert_eq!(value("delta(rate(x)) >= -0.5", &before, &after).value, Some(-0.5));
        assert_eq!(value("delta(min(x)) >= -3", &before, &after).value, Some(-2.0));
        // Six of twelve, all the one way, are beyond chance; five are not.
        assert_eq!(result("regressed(x)", &after), Red);
        after[0] = Some(4.0);
        assert_eq!(result("regressed(x)", &after), Pass);
        assert_eq!(result("regressed(x)", &all(4.0, 4)), Undecided);
        assert_eq!(result("not_inferior(x, margin=1)", &all(4.0, 12)), Pass);
        assert_eq!(result("not_inferior(x, margin=0.5)", &after), Undecided);
        assert_eq!(result("not_inferior(x, margin=0.5)", &all(1.0, 12)), Red);
    }

    #[test]
    fn what_the_baseline_lacks_is_told_and_what_is_missing_can_decide() {
        let (before, mut after) = (all(4.0, 10), all(4.0, 12));
        let value_of = |text: &str, after: &[Option<f64>]| value(text, &before, after);
        let seen = value_of("delta(mean(x)) >= -0.1", &after);
        assert_eq!((seen.result, &*seen.note), (GateResult::Pass, "2 scenarios are not in the baseline"));
        after[3] = None;
        // At the worst it is 1 where it was 4: a tenth of it is 0.3.
        let seen = value_of("delta(mean(x)) >= -0.1", &after);
        assert!(seen.result == GateResult::Undecided && seen.note.starts_with("1 missing could decide it"), "{seen:?}");
        assert_eq!(value_of("delta(mean(x)) >= -0.4", &after).result, GateResult::Pass);
        assert_eq!((value_of("delta(mean(x)) >= -0.4", &after).low), Some(-0.3));
        let nothing = value("delta(mean(x)) >= -0.4", &[], &after);
        assert!(nothing.result == GateResult::Undecided && nothing.note.contains("no scenario"), "{nothing:?}");
        let unknown = value("delta(mean(y)) >= -0.4", &before, &after);
        assert!(unknown.result == GateResult::Undecided && unknown.note.contains("has no `y`"), "{unknown:?}");
    }
}
