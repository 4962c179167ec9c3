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
