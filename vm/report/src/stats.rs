//! Quantiles that intervals need, from `libm`'s functions alone, so that every platform gives the same bytes.

/// The quantile of Student's t with `df` degrees of freedom, above one half: the least t below which the share `p` lies.
///
/// Inverts the distribution by halving: its function is monotone, and sixty halvings leave no bit that a report shows.
pub(crate) fn t_quantile(p: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while t_below(high, df) < p && high < 1e12 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if t_below(middle, df) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// How likely a t as far from 0 as this is by chance, on either side: I(df/(df+t²); df/2, 1/2).
pub(crate) fn t_two_sided(t: f64, df: f64) -> f64 {
    incomplete_beta(df / (df + t * t), df / 2.0, 0.5)
}

/// `McNemar`'s mid-p: of so many pairs that changed, how likely is a split as uneven as this where both directions are equally
/// likely, `2·P(X < k) + P(X = k)` with k the smaller of both counts (Fagerland, Lydersen and Laake, BMC Medical Research
/// Methodology 13:91, 2013). 1 where nothing changed.
pub(crate) fn mcnemar_mid_p(one: u32, other: u32) -> f64 {
    let (n, least) = (one + other, one.min(other));
    // C(n, k) / 2^n by logarithms, so that no count of pairs overflows.
    let log_chance = |k: u32| {
        let [n, k] = [n, k].map(f64::from);
        libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0) - n * std::f64::consts::LN_2
    };
    let below: Vec<f64> = (0..least).map(|k| libm::exp(log_chance(k))).collect();
    (2.0 * aigo_ir::reduce::sum(&below) + libm::exp(log_chance(least))).min(1.0)
}

/// The share of Student's t that lies below t >= 0: 1 − I(df/(df+t²); df/2, 1/2)/2 (Abramowitz & Stegun 26.7.1).
fn t_below(t: f64, df: f64) -> f64 {
    1.0 - incomplete_beta(df / (df + t * t), df / 2.0, 0.5) / 2.0
}

/// The regularised incomplete beta function I(x; a, b), by its continued fraction (Abramowitz & Stegun 26.5.8), evaluated by
/// Lentz's method on the side where it converges fast.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        libm::exp(libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

#[expect(clippy::many_single_char_names, reason = "the names of the formula")]
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |y: f64| if y.abs() < TINY { TINY } else { y };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..=500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let step = d * c;
        value *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.t.ppf(0.975, df)` and `scipy.special.betainc(a, b, x)`, `SciPy` 1.17.1.
    #[test]
    fn quantiles_and_beta_are_those_of_scipy() {
        for (df, wanted) in TS {
            let seen = t_quantile(0.975, df);
            assert!((seen - wanted).abs() < 1e-9 * wanted, "{df}: {seen} {wanted}");
        }
        for (a, b, x, wanted) in BETAS {
            let seen = incomplete_beta(x, a, b);
            assert!((seen - wanted).abs() < 1e-12, "{a} {b} {x}: {seen} {wanted}");
        }
    }

    /// `2 * scipy.stats.t.sf(t, df)` and `2 * binom.cdf(k, n, 0.5) - binom.pmf(k, n, 0.5)`: `tests/bench/reference.py` prints them.
    #[test]
    fn chances_are_those_of_scipy() {
        for (t, df, wanted) in CHANCES {
            let seen = t_two_sided(t, df);
            assert!((seen - wanted).abs() < 1e-12, "{t} {df}: {seen} {wanted}");
        }
        for (one, other, wanted) in MID_PS {
            let seen = mcnemar_mid_p(one, other);
            assert!((seen - wanted).abs() < 1e-11, "{one} {other}: {seen} {wanted}");
            assert_eq!(seen, mcnemar_mid_p(other, one));
        }
    }

    const CHANCES: [(f64, f64, f64); 5] = [
        (0.5, 3.0, 0.651_447_964_848_151),
        (2.1, 9.0, 0.065_118_282_412_151_96),
        (-3.3, 19.0, 0.003_765_350_876_512_252_7),
        (6.0, 49.0, 2.340_430_390_621_061_9e-7),
        (1.0, 1.0, 0.5),
    ];

    const MID_PS: [(u32, u32, f64); 7] = [
        (6, 0, 0.015_625),
        (5, 0, 0.031_25),
        (9, 3, 0.092_285_156_25),
        (4, 4, 1.0),
        (0, 0, 1.0),
        (40, 22, 0.022_574_972_673_257_195),
        (700, 610, 0.012_901_516_180_195_773),
    ];

    const TS: [(f64, f64); 6] = [
        (1.0, 12.706_204_736_174_694),
        (4.0, 2.776_445_105_197_793_4),
        (9.0, 2.262_157_162_798_205),
        (19.0, 2.093_024_054_408_308_7),
        (99.0, 1.984_216_951_586_417_4),
        (9_999.0, 1.960_201_263_621_357),
    ];

    const BETAS: [(f64, f64, f64, f64); 5] = [
        (0.5, 0.5, 0.3, 0.369_010_119_565_545_36),
        (2.0, 0.5, 0.9, 0.541_469_739_275_585_1),
        (30.0, 0.5, 0.99, 0.439_334_368_905_250_74),
        (4.5, 7.0, 0.2, 0.078_937_329_712_739_8),
        (120.0, 3.0, 0.97, 0.287_911_709_983_407_3),
    ];
}
