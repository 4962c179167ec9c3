//! Two measurements of the same scenarios: how far apart they are, and whether chance alone puts them there.

use aigo_ir::reduce::sum;

use crate::interval::{self, Interval, LEAST_CLUSTERS, Observed};
use crate::random::Random;
use crate::stats::{t_quantile, t_two_sided};

/// So many clusters that changed have all their signs flipped; of more a sample is drawn.
const MOST_EXACT: usize = 16;
/// How many flips are drawn.
const DRAWS: u32 = 100_000;
/// The seed of the flips: equal data give equal chances.
const SEED: u64 = 0x5161;
/// A chance up to this is taken for no chance.
pub(crate) const LEVEL: f64 = 0.05;
/// How often a drop of the size that is told as detectable is found.
const POWER: f64 = 0.8;

/// What differences between paired scenarios come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// How many scenarios are paired.
    pub scenarios: u32,
    /// How many clusters they make.
    pub clusters: u32,
    /// The mean of the differences, after less before.
    pub difference: f64,
    /// Its clustered standard error (CR1); none below five clusters.
    pub error: Option<f64>,
    /// Its interval of 95%, Student's t; none below five clusters.
    pub interval: Option<Interval>,
    /// The two-sided chance of such a t where nothing has changed.
    pub p_t: Option<f64>,
    /// The two-sided chance of such a mean where every cluster's difference might as well have had the other sign.
    pub p_flip: f64,
    /// The least chance that so many changed clusters can have: where all of them changed the one way. 1 where none did.
    pub p_least: f64,
    /// Whether all flips were counted, and not a sample of them.
    pub is_exact: bool,
    /// The least true change that four of five such comparisons would find.
    pub detectable: Option<f64>,
}

impl Paired {
    /// Of the differences of scenarios, each with its cluster; `ends` are the least and the greatest difference that there can
    /// be. None without a scenario.
    pub(crate) fn of(differences: &[Observed], ends: (f64, f64)) -> Option<Self> {
        let scenarios = u32::try_from(differences.len()).ok().filter(|n| *n > 0)?;
        let totals: Vec<f64> = interval::totals(differences.iter().copied(), 0.0).collect();
        let clusters = u32::try_from(totals.len()).unwrap_or(u32::MAX);
        let difference = sum(differences.iter().map(|seen| seen.number)) / f64::from(scenarios);
        let error = interval::standard_error(differences.iter().copied());
        let df = f64::from(clusters) - 1.0;
        let p_t = error.filter(|error| *error > 0.0).map(|error| t_two_sided(difference / error, df));
        // (t_.975 + t_.8) · SE: Miller, "Adding Error Bars to Evals", arXiv 2411.00640, 2024, with t for z.
        let detectable = error
            .filter(|error| *error > 0.0)
            .map(|error| (t_quantile(1.0 - LEVEL / 2.0, df) + t_quantile(POWER, df)) * error);
        let (p_flip, p_least, is_exact) = flips(&totals);
        Some(Self {
            scenarios,
            clusters,
            difference,
            error,
            interval: interval::of_mean(differences.iter().copied(), ends),
            p_t,
            p_flip,
            p_least,
            is_exact,
            detectable,
        })
    }

    /// Whether it is worse beyond chance: the whole interval lies below 0, and few flips of signs come as far. The interval alone
    /// takes four of four changed verdicts for worse, which chance brings once in eight times.
    pub fn is_worse(&self) -> bool {
        self.interval.is_some_and(|interval| interval.high < 0.0) && self.p_flip <= LEVEL
    }

    /// Whether it is better beyond chance, by the same measure.
    pub fn is_better(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0) && self.p_flip <= LEVEL
    }

    /// Whether the whole interval lies below 0, and yet so few clusters changed that no chance could be as small as this level.
    pub(crate) fn is_cramped(&self, level: f64) -> bool {
        self.interval.is_some_and(|interval| interval.high < 0.0) && self.p_least > level
    }

    /// Whether there are clusters enough to tell.
    pub const fn can_tell(&self) -> bool {
        self.clusters >= LEAST_CLUSTERS
    }
}

/// How many flips of the signs of totals give a sum as far from 0 as they do, as a share: the permutation test of paired
/// differences (Fisher, The Design of Experiments, 1935, section 21). All 2^m are counted to m = 16, without those that are 0,
/// whose flips change nothing; of more, (b + 1)/(B + 1) of drawn ones (Davison and Hinkley, Bootstrap Methods, 1997, 4.2).
fn flips(totals: &[f64]) -> (f64, f64, bool) {
    let moved: Vec<f64> = totals.iter().copied().filter(|total| *total != 0.0).collect();
    let seen = sum(&moved).abs();
    let sizes: Vec<f64> = moved.iter().map(|total| total.abs()).collect();
    // Sums of the same numbers in another order may differ in their last bits.
    let as_far = seen - 1e-9 * sum(&sizes);
    if moved.len() <= MOST_EXACT {
        let all = 1_u32 << moved.len();
        let far = (0..all).filter(|signs| signed(&sizes, &mut |at| signs >> at & 1 == 1).abs() >= as_far).count();
        let least = if moved.is_empty() { 1.0 } else { 2.0 / f64::from(all) };
        return (far as f64 / f64::from(all), least, true);
    }
    let mut random = Random::seeded(SEED);
    let mut far = 0_u32;
    for _ in 0..DRAWS {
        let mut bits = 0;
        let mut sign = |at: usize| {
            if at.is_multiple_of(64) {
                bits = random.bits();
            }
            bits >> (at % 64) & 1 == 1
        };
        far += u32::from(signed(&sizes, &mut sign).abs() >= as_far);
    }
    (f64::from(far + 1) / f64::from(DRAWS + 1), 1.0 / f64::from(DRAWS + 1), false)
}

fn signed(sizes: &[f64], is_negative: &mut impl FnMut(usize) -> bool) -> f64 {
    sizes.iter().enumerate().fold(0.0, |sum, (at, size)| if is_negative(at) { sum - size } else { sum + size })
}

/// The chances of several tests, made comparable with one level: the chance that any of the true ones comes as far is bounded
/// (Holm, Scandinavian Journal of Statistics 6:65, 1979).
pub(crate) fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    let at = |place: usize| chances.get(place).copied().unwrap_or(1.0);
    order.sort_by(|a, b| at(*a).total_cmp(&at(*b)));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least = 0.0_f64;
    for (rank, place) in order.iter().enumerate() {
        least = least.max(at(*place) * (chances.len() - rank) as f64).min(1.0);
        if let Some(slot) = adjusted.get_mut(*place) {
            *slot = least;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(differences: &[f64]) -> Vec<Observed> {
        let observed = |(at, number): (usize, &f64)| Observed { number: *number, cluster: u32::try_from(at).unwrap() };
        differences.iter().enumerate().map(observed).collect()
    }

    /// Each is what `tests/bench/reference.py` prints: `scipy.stats.ttest_1samp` and `permutation_test` with all flips.
    #[test]
    fn tests_of_pairs_are_those_of_scipy() {
        for (differences, difference, error, p_t, p_flip) in PAIRED {
            let seen = Paired::of(&each(differences), (-4.0, 4.0)).unwrap();
            let near =
                |seen: f64, wanted: f64| assert!((seen - wanted).abs() < 1e-11, "{seen} {wanted} {differences:?}");
            near(seen.difference, difference);
            near(seen.error.unwrap(), error);
            near(seen.p_t.unwrap(), p_t);
            near(seen.p_flip, p_flip);
            assert!(seen.is_exact);
        }
    }

    const PAIRED: [(&[f64], f64, f64, f64, f64); 3] = [
        (
            &[-1.0, -0.5, 0.0, 0.5, -2.0, -1.0, 0.25],
            -0.535_714_285_714_285_7,
            0.329_269_444_903_317_4,
            0.154_866_042_588_463,
            0.187_5,
        ),
        (
            &[0.5, 0.25, 1.0, -0.75, 0.0, 2.0, 1.5, -0.25, 0.5, 1.0],
            0.575,
            0.261_007_662_722_763_7,
            0.055_070_435_384_559_89,
            0.070_312_5,
        ),
        (
            &[0.0, 0.0, -1.0, -1.0, 1.0, -1.0, -1.0, 0.0, -1.0, 0.0, 0.0, -1.0],
            -0.416_666_666_666_666_7,
            0.192_996_048_528_136_32,
            0.053_803_582_040_277_94,
            0.125,
        ),
    ];

    #[test]
    fn drawn_flips_come_near_to_all_of_them() {
        let differences: Vec<f64> = (0..17).map(|k| f64::from(k * 7 % 5) - 1.5).collect();
        let (drawn, _, is_exact) = flips(&differences);
        assert!(!is_exact);
        let all = (0..1_u32 << 17)
            .filter(|signs| {
                signed(&differences, &mut |at| signs >> at & 1 == 1).abs() >= sum(&differences).abs() - 1e-9
            })
            .count();
        let exact = all as f64 / f64::from(1_u32 << 17);
        assert!((drawn - exact).abs() < 0.005, "{drawn} {exact}");
        assert_eq!(flips(&differences), flips(&differences));
    }

    /// Six changes one way are beyond chance; five are not, whatever t says of them.
    #[test]
    fn a_few_equal_changes_are_not_beyond_chance() {
        let of = |changed: usize| {
            let differences: Vec<f64> = (0..40).map(|at| if at < changed { -1.0 } else { 0.0 }).collect();
            Paired::of(&each(&differences), (-1.0, 1.0)).unwrap()
        };
        assert_eq!((of(6).p_flip, of(5).p_flip), (0.031_25, 0.062_5));
        assert!(of(6).is_worse() && !of(5).is_worse() && of(5).p_t.unwrap() < 0.05);
        assert!(!of(0).is_worse() && of(0).p_flip == 1.0 && of(0).p_t.is_none());
        let few = Paired::of(&each(&[-1.0; 4]), (-1.0, 1.0)).unwrap();
        assert!(!few.can_tell() && few.interval.is_none() && few.detectable.is_none());
    }

    #[test]
    fn clusters_flip_whole() {
        let differences: Vec<Observed> = (0..12).map(|at| Observed { number: -1.0, cluster: at / 2 }).collect();
        let seen = Paired::of(&differences, (-1.0, 1.0)).unwrap();
        assert_eq!((seen.scenarios, seen.clusters, seen.p_flip), (12, 6, 0.031_25));
    }

    #[test]
    fn holm_bounds_the_chance_of_any() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }
}
