//! Where the noise of a run comes from: other scenarios, other epochs of the same ones; and what is worth buying next.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::reduce::sum;
use aigo_ir::text::excerpt;
use aigo_ir::value::Value;

use crate::column::choose_share;
use crate::interval::{self, Interval, Observed};
use crate::sheet::{Scenario, Sheet};
use crate::text::short;
use crate::{FEW_CLUSTERS, LEAST_CLUSTERS};

/// The noise of a scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The scorer.
    pub scorer: Arc<str>,
    /// The mean over all values; none where there is none.
    pub mean: Option<f64>,
    /// How many values there are, how many scenarios they are of, and how many clusters these make.
    pub sizes: (u32, u32, u32),
    /// The standard error for other scenarios like these (the population); none below five clusters.
    pub population: Option<f64>,
    /// Its interval of 95%.
    pub interval: Option<Interval>,
    /// The standard error for these scenarios run again (the suite); none without a second epoch.
    pub suite: Option<f64>,
    /// How much scenarios differ, and how much epochs of one scenario do: variances.
    pub variances: Option<(f64, f64)>,
    /// How much a judge's draws on one conversation differ: their variance, and how many there are of each; none where it is
    /// asked once.
    pub judge: Option<(f64, f64)>,
    /// Of each k from 1 to the epochs: the chance that one of k passes, and that all do, each with its standard error.
    pub passes: Vec<Passes>,
    /// How many values are missing.
    pub missing: u64,
}

/// The chances over k epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passes {
    /// Of so many epochs.
    pub k: u32,
    /// The chance that one passes (pass@k).
    pub any: f64,
    /// Its standard error over scenarios.
    pub any_error: Option<f64>,
    /// The chance that all pass (pass^k).
    pub all: f64,
    /// Its standard error over scenarios.
    pub all_error: Option<f64>,
}

/// The noise of every scorer, or of the named ones. `draws` are the numbers that a judge gave one conversation when it was asked
/// several times, by the scorer's place.
pub fn noise(sheet: &Sheet, only: &[String], draws: &BTreeMap<usize, Vec<Vec<f64>>>) -> Vec<Noise> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|known| known == name);
    let places = sheet.measures.iter().enumerate().filter(|(_, measure)| wanted(&measure.name));
    places
        .map(|(place, measure)| {
            let scenarios = sheet.scenarios(place);
            Noise {
                scorer: Arc::clone(&measure.name),
                judge: draws.get(&place).and_then(|draws| judge(draws)),
                ..of(&scenarios, (measure.low, measure.high), sheet.epochs)
            }
        })
        .collect()
}

fn of(scenarios: &BTreeMap<Arc<str>, Scenario>, ends: (f64, f64), epochs: u32) -> Noise {
    let mut clusters: BTreeMap<&str, u32> = BTreeMap::new();
    let mut known: Vec<(&Scenario, u32)> = Vec::new();
    for scenario in scenarios.values().filter(|scenario| !scenario.side.numbers.is_empty()) {
        let next = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
        known.push((scenario, *clusters.entry(&scenario.cluster).or_insert(next)));
    }
    let values: Vec<Observed> = known
        .iter()
        .flat_map(|(scenario, cluster)| {
            scenario.side.numbers.iter().map(|number| Observed { number: *number, cluster: *cluster })
        })
        .collect();
    let numbers: Vec<f64> = values.iter().map(|seen| seen.number).collect();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let sides: Vec<&[f64]> = known.iter().map(|(scenario, _)| scenario.side.numbers.as_slice()).collect();
    Noise {
        scorer: "".into(),
        mean: (!numbers.is_empty()).then(|| sum(&numbers) / numbers.len() as f64),
        sizes: (count(numbers.len()), count(known.len()), count(clusters.len())),
        population: interval::standard_error(values.iter().copied()),
        interval: interval::of_mean(values.iter().copied(), ends),
        suite: suite_error(&sides),
        variances: variances(&sides),
        judge: None,
        passes: (1..=epochs).filter_map(|k| passes(&known, k)).collect(),
        missing: scenarios.values().map(|scenario| u64::from(scenario.side.missing)).sum(),
    }
}

fn mean(numbers: &[f64]) -> f64 {
    sum(numbers) / numbers.len().max(1) as f64
}

/// The sum of squared distances from the mean.
fn squares(numbers: &[f64]) -> f64 {
    let middle = mean(numbers);
    let squares: Vec<f64> = numbers.iter().map(|x| (x - middle) * (x - middle)).collect();
    sum(&squares)
}

/// The standard error of the mean over these scenarios, run again: √(Σ s²/E)/S, with s² the variance of a scenario's epochs and E
/// their number (Miller, "Adding Error Bars to Evals", arXiv 2411.00640, 2024, section 3). A scenario with one epoch has the
/// variance of the others; none where all have one.
fn suite_error(scenarios: &[&[f64]]) -> Option<f64> {
    let (_, within) = pooled(scenarios)?;
    let parts: Vec<f64> = scenarios
        .iter()
        .map(|numbers| {
            let own = if numbers.len() > 1 { squares(numbers) / (numbers.len() as f64 - 1.0) } else { within };
            own / numbers.len() as f64
        })
        .collect();
    Some(libm::sqrt(sum(&parts)) / scenarios.len() as f64)
}

/// The degrees of freedom within scenarios, and the pooled variance of their epochs.
fn pooled(scenarios: &[&[f64]]) -> Option<(f64, f64)> {
    let freedom: usize = scenarios.iter().map(|numbers| numbers.len().saturating_sub(1)).sum();
    let parts: Vec<f64> = scenarios.iter().map(|numbers| squares(numbers)).collect();
    (freedom > 0).then(|| (freedom as f64, sum(&parts) / freedom as f64))
}

/// The pooled variance of a judge's draws on one conversation, and how many there are of each on average.
fn judge(draws: &[Vec<f64>]) -> Option<(f64, f64)> {
    let sides: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let (freedom, variance) = pooled(&sides)?;
    Some((variance, freedom / sides.len() as f64 + 1.0))
}

/// The variances of scenarios and of epochs within them, by a nested analysis of variance with unequal numbers of epochs (Searle,
/// Casella and `McCulloch`, Variance Components, 1992, section 3.6): that of epochs is the mean square within, that of scenarios
/// the mean square between less it, divided by n₀, and not below 0.
fn variances(scenarios: &[&[f64]]) -> Option<(f64, f64)> {
    let (_, within) = pooled(scenarios)?;
    if scenarios.len() < 2 {
        return None;
    }
    let all: Vec<f64> = scenarios.iter().flat_map(|numbers| numbers.iter().copied()).collect();
    let (n, s, middle) = (all.len() as f64, scenarios.len() as f64, mean(&all));
    let parts: Vec<f64> = scenarios
        .iter()
        .map(|numbers| {
            let apart = mean(numbers) - middle;
            numbers.len() as f64 * apart * apart
        })
        .collect();
    let between = sum(&parts) / (s - 1.0);
    let sizes: Vec<f64> = scenarios.iter().map(|numbers| (numbers.len() * numbers.len()) as f64).collect();
    let size = (n - sum(&sizes) / n) / (s - 1.0);
    Some((((between - within) / size).max(0.0), within))
}

/// Of scenarios with k epochs or more: pass@k (Chen et al. 2021) and pass^k (Yao et al. 2024), with errors over clusters.
fn passes(known: &[(&Scenario, u32)], k: u32) -> Option<Passes> {
    let mut chances: [Vec<Observed>; 2] = [Vec::new(), Vec::new()];
    for (scenario, cluster) in known {
        let n = u32::try_from(scenario.side.passes.len()).unwrap_or(u32::MAX);
        let c = u32::try_from(scenario.side.passes.iter().filter(|pass| **pass).count()).unwrap_or(n);
        if n < k {
            continue;
        }
        let [any, all] = &mut chances;
        any.push(Observed { number: 1.0 - choose_share(n - c, n, k), cluster: *cluster });
        all.push(Observed { number: choose_share(c, n, k), cluster: *cluster });
    }
    let [any, all] = &chances;
    let value = |seen: &[Observed]| sum(seen.iter().map(|one| one.number)) / seen.len() as f64;
    (!any.is_empty()).then(|| Passes {
        k,
        any: value(any),
        any_error: interval::standard_error(any.iter().copied()),
        all: value(all),
        all_error: interval::standard_error(all.iter().copied()),
    })
}

impl Noise {
    /// The share of the noise of one conversation that scenarios have: their intraclass correlation.
    pub fn correlation(&self) -> Option<f64> {
        let (scenarios, epochs) = self.variances?;
        (scenarios + epochs > 0.0).then(|| scenarios / (scenarios + epochs))
    }

    /// The standard error for other scenarios that so many scenarios and epochs would have: √(`σ²_s`/S + `σ²_e`/(S·E)).
    pub fn would_have(&self, scenarios: f64, epochs: f64) -> Option<f64> {
        let (between, within) = self.variances?;
        Some(libm::sqrt(between / scenarios + within / (scenarios * epochs)))
    }
}

fn number(x: Option<f64>) -> Value {
    x.and_then(Value::float).unwrap_or_default()
}

/// `{run, task, epochs, scorers: {NAME: …}}` on one line. Numbers are exact.
pub fn noise_json(sheet: &Sheet, noise: &[Noise]) -> String {
    let int = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let passes = |one: &Passes| {
        Value::map([
            ("k", int(one.k.into())),
            ("pass_at", number(Some(one.any))),
            ("pass_at_error", number(one.any_error)),
            ("pass_all", number(Some(one.all))),
            ("pass_all_error", number(one.all_error)),
        ])
    };
    let scorer = |one: &Noise| {
        Value::map([
            ("mean", number(one.mean)),
            ("values", int(one.sizes.0.into())),
            ("scenarios", int(one.sizes.1.into())),
            ("clusters", int(one.sizes.2.into())),
            ("missing", int(one.missing)),
            ("population_error", number(one.population)),
            (
                "population_interval",
                one.interval.map_or(Value::Null, |interval| {
                    Value::list(vec![number(Some(interval.low)), number(Some(interval.high))])
                }),
            ),
            ("suite_error", number(one.suite)),
            ("scenario_variance", number(one.variances.map(|(scenarios, _)| scenarios))),
            ("epoch_variance", number(one.variances.map(|(_, epochs)| epochs))),
            ("judge_variance", number(one.judge.map(|(variance, _)| variance))),
            ("judge_draws", number(one.judge.map(|(_, draws)| draws))),
            ("correlation", number(one.correlation())),
            ("passes", Value::list(one.passes.iter().map(passes).collect())),
        ])
    };
    Value::map([
        ("run", Value::str(sheet.run.as_str())),
        ("task", Value::str(sheet.task.as_str())),
        ("epochs", int(sheet.epochs.into())),
        ("scorers", Value::map(noise.iter().map(|one| (Arc::clone(&one.scorer), scorer(one))))),
    ])
    .to_json()
}

/// The noise for people.
pub fn noise_text(noise: &[Noise]) -> String {
    let mut out = String::new();
    for one in noise {
        let (values, scenarios, clusters) = one.sizes;
        let mean = one.mean.map_or_else(|| "–".to_owned(), |mean| short(mean, 4));
        let missing = if one.missing > 0 { format!(", {} missing", one.missing) } else { String::new() };
        let _ = writeln!(
            out,
            "{}   mean {mean}   {values} values of {scenarios} scenarios in {clusters} clusters{missing}",
            excerpt(&one.scorer, 60)
        );
        let population = match (one.population, one.interval) {
            (Some(error), Some(interval)) => {
                let about = if clusters < FEW_CLUSTERS { "about " } else { "" };
                format!("± {}, 95% {about}{} to {}", short(error, 3), short(interval.low, 3), short(interval.high, 3))
            }
            _ => format!("too few clusters to tell: it needs {LEAST_CLUSTERS}"),
        };
        let _ = writeln!(out, "  population (other scenarios like these)   {population}");
        let suite = one.suite.map_or_else(
            || {
                let why = if values == 0 { "there is no value" } else { "there is one epoch of each scenario" };
                format!("rerun noise unknown: {why}")
            },
            |error| format!("± {}", short(error, 3)),
        );
        let _ = writeln!(out, "  suite (these scenarios again)             {suite}");
        split(one, &mut out);
        of_judge(one, &mut out);
        for passes in one.passes.iter().filter(|_| one.passes.len() > 1) {
            let error = |error: Option<f64>| error.map_or_else(String::new, |error| format!(" ± {}", short(error, 2)));
            let _ = writeln!(
                out,
                "  of {} epochs   one passes {}{}   all pass {}{}",
                passes.k,
                short(passes.any, 4),
                error(passes.any_error),
                short(passes.all, 4),
                error(passes.all_error)
            );
        }
        out.push('\n');
    }
    out
}

/// How much of the noise is the judge's.
fn of_judge(one: &Noise, out: &mut String) {
    let Some((variance, draws)) = one.judge else { return };
    let _ = writeln!(
        out,
        "  the judge's draws on one conversation differ with variance {}, of {} draws joined {}",
        short(variance, 3),
        short(draws, 3),
        short(variance / draws, 3)
    );
    if let Some((_, epochs)) = one.variances.filter(|(_, epochs)| *epochs > 0.0) {
        let share = (variance / draws / epochs).min(1.0);
        let advice = if share > 0.5 { "more draws would help" } else { "more draws would help little" };
        let _ = writeln!(out, "  that is {}% of the epochs' variance: {advice}", short(share * 100.0, 2));
    }
}

/// Where the noise lives, and what more of either would bring.
fn split(one: &Noise, out: &mut String) {
    let (Some((between, within)), Some(correlation)) = (one.variances, one.correlation()) else { return };
    let (values, scenarios, _) = one.sizes;
    let (s, e) = (f64::from(scenarios), f64::from(values) / f64::from(scenarios));
    let _ = writeln!(
        out,
        "  variance: scenarios {}, epochs {}; {}% of the noise of a conversation is its scenario's",
        short(between, 3),
        short(within, 3),
        short(correlation * 100.0, 2)
    );
    let (Some(more_scenarios), Some(more_epochs)) = (one.would_have(2.0 * s, e), one.would_have(s, 2.0 * e)) else {
        return;
    };
    let best = if more_scenarios < 0.9 * more_epochs { "scenarios" } else { "epochs, which need no writing" };
    let _ = writeln!(
        out,
        "  twice the scenarios would make the population's error {}, twice the epochs {}: buy {best}",
        short(more_scenarios, 3),
        short(more_epochs, 3)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `tests/bench/reference.py` prints of a balanced nested analysis of variance.
    #[test]
    fn variances_are_those_of_a_nested_analysis() {
        let (a, b, c) = ([4.0, 5.0, 3.0], [1.0, 2.0, 2.0], [5.0, 5.0, 4.0]);
        let (between, within) = variances(&[&a, &b, &c]).unwrap();
        assert!((between - 2.296_296_296_296_296_3).abs() < 1e-12 && (within - 0.555_555_555_555_555_6).abs() < 1e-12);
        // √(1/3 + (1/3)/3 + (1/3)/3)/3, by hand.
        let suite = suite_error(&[&a, &b, &c]).unwrap();
        assert!((suite - libm::sqrt(1.0 / 3.0 + 2.0 / 9.0) / 3.0).abs() < 1e-12, "{suite}");
    }

    #[test]
    fn draws_of_a_judge_are_pooled_within_conversations() {
        assert_eq!(judge(&[vec![1.0, 3.0], vec![5.0, 5.0]]), Some((1.0, 2.0)));
        assert_eq!((judge(&[]), judge(&[vec![4.0]])), (None, None));
    }

    #[test]
    fn with_one_epoch_the_noise_of_a_rerun_is_not_known() {
        assert_eq!((suite_error(&[&[1.0], &[2.0]]), variances(&[&[1.0], &[2.0]])), (None, None));
        // Equal scenarios whose epochs differ have no variance below 0.
        assert_eq!(variances(&[&[1.0, 2.0], &[2.0, 1.0]]), Some((0.0, 0.5)));
        // A scenario with one epoch is as noisy as the others.
        assert!(suite_error(&[&[1.0, 3.0], &[2.0]]).unwrap() > 0.8);
    }
}
