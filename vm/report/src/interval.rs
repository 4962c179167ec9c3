//! Intervals of 95% over clusters: what other scenarios like these would give.

use aigo_ir::reduce::sum;

use crate::stats::t_quantile;

/// A value and the cluster that it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Observed {
    pub(crate) number: f64,
    pub(crate) cluster: u32,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its low end.
    pub low: f64,
    /// Its high end.
    pub high: f64,
    /// Over how many clusters.
    pub clusters: u32,
}

/// Fewer clusters than this have no interval.
pub const LEAST_CLUSTERS: u32 = 5;
/// Fewer than this make it approximate.
pub const FEW_CLUSTERS: u32 = 20;
/// The chance that an interval leaves out at each end.
const TAIL: f64 = 0.025;

/// What clusters say of the mean of all values.
struct Clustered {
    mean: f64,
    n: f64,
    clusters: u32,
    /// The square of the standard error.
    variance: f64,
}

/// The mean and its clustered standard error: SE² = m/(m−1) · `Σ_c` (Σ_{i∈c} (`x_i` − x̄))² / n² (CR1; Cameron and Miller 2015).
fn clustered(observed: impl Iterator<Item = Observed> + Clone) -> Option<Clustered> {
    let n = observed.clone().count() as f64;
    let mean = sum(observed.clone().map(|seen| seen.number)) / n;
    let mut clusters = 0_u32;
    let squares = sum(totals(observed, mean).map(|total| {
        clusters = clusters.saturating_add(1);
        total * total
    }));
    let m = f64::from(Some(clusters).filter(|m| *m >= LEAST_CLUSTERS)?);
    Some(Clustered { mean, n, clusters, variance: m / (m - 1.0) * squares / (n * n) })
}

/// Of each cluster the sum of its values' distances from a number, in the order of the clusters' numbers. Values that stand in
/// that order, as those of a run without clusters of its own do, are gone through where they are.
pub(crate) fn totals(observed: impl Iterator<Item = Observed> + Clone, from: f64) -> impl Iterator<Item = f64> {
    let is_sorted = observed.clone().is_sorted_by_key(|seen| seen.cluster);
    let (stay, mut sorted) = if is_sorted { (Some(observed), Vec::new()) } else { (None, observed.collect()) };
    sorted.sort_by_key(|seen: &Observed| seen.cluster);
    let mut rest = stay.into_iter().flatten().chain(sorted).peekable();
    std::iter::from_fn(move || {
        let cluster = rest.peek()?.cluster;
        let own = std::iter::from_fn(|| rest.next_if(|seen| seen.cluster == cluster));
        Some(sum(own.map(|seen| seen.number - from)))
    })
}

/// The clustered standard error of the mean; none below five clusters.
pub(crate) fn standard_error(observed: impl Iterator<Item = Observed> + Clone) -> Option<f64> {
    clustered(observed).map(|seen| libm::sqrt(seen.variance))
}

fn t_of(clusters: u32) -> f64 {
    t_quantile(1.0 - TAIL, f64::from(clusters) - 1.0)
}

/// The interval of a mean: t with one degree of freedom less than there are clusters, cut to the ends of the scale. Where all
/// values are equal their spread says nothing; then the share of clusters that could differ, 1 − 0.05^(1/m) (the rule of
/// three), is taken at each end of the scale. None below five clusters.
pub(crate) fn of_mean(observed: impl Iterator<Item = Observed> + Clone, ends: (f64, f64)) -> Option<Interval> {
    let seen = clustered(observed)?;
    if seen.variance <= 0.0 {
        let share = unseen(seen.clusters);
        let towards = |end: f64| seen.mean + (end - seen.mean) * share;
        return Some(Interval { low: towards(ends.0), high: towards(ends.1), clusters: seen.clusters });
    }
    let half = t_of(seen.clusters) * libm::sqrt(seen.variance);
    let (low, high) = ((seen.mean - half).max(ends.0), (seen.mean + half).min(ends.1));
    Some(Interval { low, high, clusters: seen.clusters })
}

/// The share of clusters that could be otherwise where none of so many was, at 95%: 1 − 0.05^(1/m).
pub(crate) fn unseen(clusters: u32) -> f64 {
    1.0 - libm::pow(0.05, 1.0 / f64::from(clusters.max(1)))
}

/// The interval of a share: Wilson's on the effective number of values (Korn and Graubard 1998), with t for z. The design
/// effect, SE² / (p(1−p)/n), is held between 1 and the mean size of a cluster; where all values are equal, the effective
/// number is that of the clusters. None below five clusters.
pub(crate) fn of_share(observed: impl Iterator<Item = Observed> + Clone) -> Option<Interval> {
    let seen = clustered(observed)?;
    let (p, m) = (seen.mean, f64::from(seen.clusters));
    let simple = p * (1.0 - p) / seen.n;
    let effective = if simple > 0.0 {
        let effect = (seen.variance / simple).clamp(1.0, (seen.n / m).max(1.0));
        seen.n / effect
    } else {
        m
    };
    let z2 = t_of(seen.clusters) * t_of(seen.clusters);
    let middle = (p + z2 / (2.0 * effective)) / (1.0 + z2 / effective);
    let half =
        libm::sqrt(z2 * (p * (1.0 - p) / effective + z2 / (4.0 * effective * effective))) / (1.0 + z2 / effective);
    // At the ends of the scale both are equal, but for the last bits.
    let low = if p <= 0.0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if p >= 1.0 { 1.0 } else { (middle + half).min(1.0) };
    Some(Interval { low, high, clusters: seen.clusters })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(pairs: &[(f64, u32)]) -> impl Iterator<Item = Observed> + Clone {
        pairs.iter().map(|&(number, cluster)| Observed { number, cluster })
    }

    fn near(seen: Option<Interval>, low: f64, high: f64) {
        let seen = seen.expect("an interval");
        assert!((seen.low - low).abs() < 1e-9 && (seen.high - high).abs() < 1e-9, "{seen:?}, not {low} to {high}");
    }

    /// Each is what `tests/bench/intervals.py` prints: statsmodels' OLS on a constant with `cov_type="cluster"` and its small
    /// sample correction, and scipy's quantiles.
    #[test]
    fn intervals_are_those_of_statsmodels_and_scipy() {
        let few = [(4.0, 0), (5.0, 0), (3.0, 1), (2.0, 2), (5.0, 3), (4.0, 4), (4.0, 4), (1.0, 5)];
        near(of_mean(observed(&few), (1.0, 5.0)), 2.092_034_342_708_953, 4.907_965_657_291_045_5);
        let many: Vec<(f64, u32)> = (0..60).map(|k| (f64::from(k % 5 + 1), k / 3)).collect();
        near(of_mean(observed(&many), (1.0, 5.0)), 2.679_884_900_366_120_3, 3.320_115_099_633_883);
        let few = [(1.0, 0), (1.0, 0), (0.0, 1), (1.0, 2), (1.0, 3), (0.0, 4), (1.0, 4), (1.0, 5)];
        near(of_share(observed(&few)), 0.324_494_954_834_463_5, 0.949_329_651_825_092_2);
        let many: Vec<(f64, u32)> = (0..80).map(|k| (f64::from(u8::from(k % 7 != 0)), k / 4)).collect();
        near(of_share(observed(&many)), 0.748_465_428_423_199_5, 0.915_193_050_604_144_8);
        let all: Vec<(f64, u32)> = (0..40).map(|k| (1.0, k / 2)).collect();
        near(of_share(observed(&all)), 0.820_319_319_643_004_5, 1.0);
        for clusters in 5..60 {
            let share = |number: f64| of_share((0..clusters).map(move |cluster| Observed { number, cluster })).unwrap();
            assert_eq!((share(0.0).low, share(1.0).high), (0.0, 1.0), "{clusters}");
        }
    }

    #[test]
    fn few_clusters_have_no_interval_and_equal_values_have_no_zero_width() {
        let few = observed(&[(1.0, 1), (2.0, 2), (3.0, 3), (4.0, 4), (1.0, 4)]);
        assert_eq!((of_mean(few.clone(), (1.0, 5.0)), of_share(few.take(0))), (None, None));
        let same = (0..20).map(|cluster| Observed { number: 5.0, cluster });
        // 1 − 0.05^(1/20) = 0.139108…, four points of the scale below.
        near(of_mean(same, (1.0, 5.0)), 5.0 - 4.0 * 0.139_108_340_668_265_3, 5.0);
    }
}
