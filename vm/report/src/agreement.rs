//! Agreement between those who judge the same things, from counts that add up over clusters: so a resample of clusters costs no
//! more than a sum.

use aigo_ir::reduce::sum;

/// How far apart two values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    /// Equal or not.
    Nominal,
    /// By how many values lie between them.
    Ordinal,
    /// By the square of their difference.
    Interval,
}

/// Counts of pairs of values, by category. In a table of a judge and people rows are the judge's; in one of coincidences both
/// sides are alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    size: usize,
    cells: Vec<f64>,
}

impl Table {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, weight: f64) {
        if let Some(cell) = self.cells.get_mut(row * self.size + column).filter(|_| column < self.size) {
            *cell += weight;
        }
    }

    /// Adds another of the same size, so many times.
    pub(crate) fn add_all(&mut self, other: &Self, times: f64) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(cell, more)| *cell += times * more);
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells.get(row * self.size + column).copied().unwrap_or(0.0)
    }

    /// The table without one category.
    pub(crate) fn without(&self, category: usize) -> Self {
        let kept: Vec<usize> = (0..self.size).filter(|at| *at != category).collect();
        let mut table = Self::new(kept.len());
        for (i, row) in kept.iter().enumerate() {
            kept.iter().enumerate().for_each(|(j, column)| table.add(i, j, self.at(*row, *column)));
        }
        table
    }

    /// The coincidences of pairs: each pair counts both ways.
    pub(crate) fn both_ways(&self) -> Self {
        let mut table = self.clone();
        for i in 0..self.size {
            (0..self.size).for_each(|j| table.add(i, j, self.at(j, i)));
        }
        table
    }

    /// How much greater the rows' numbers are than the columns', on average.
    pub(crate) fn mean_difference(&self, numbers: &[f64]) -> Option<f64> {
        self.mean_of(|i, j| numbers.get(i).copied().unwrap_or(0.0) - numbers.get(j).copied().unwrap_or(0.0))
    }

    /// The share of pairs whose numbers are at most so far apart.
    pub(crate) fn share_within(&self, numbers: &[f64], most: f64) -> Option<f64> {
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
        self.mean_of(|i, j| f64::from(u8::from((at(i) - at(j)).abs() <= most)))
    }

    fn mean_of(&self, of: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let n = self.total();
        let (seen, _) = self.distances(of);
        (n > 0.0).then(|| seen / n)
    }

    fn row(&self, row: usize) -> f64 {
        (0..self.size).map(|column| self.at(row, column)).sum()
    }

    fn column(&self, column: usize) -> f64 {
        (0..self.size).map(|row| self.at(row, column)).sum()
    }

    pub(crate) fn total(&self) -> f64 {
        self.cells.iter().sum()
    }

    fn same(&self) -> f64 {
        (0..self.size).map(|at| self.at(at, at)).sum()
    }

    /// The sum of a distance over all pairs that are there, and over those that the margins alone would give.
    fn distances(&self, distance: impl Fn(usize, usize) -> f64) -> (f64, f64) {
        let (rows, columns): (Vec<f64>, Vec<f64>) = (0..self.size).map(|at| (self.row(at), self.column(at))).unzip();
        let (mut seen, mut expected) = (Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                let distance = distance(i, j);
                seen.push(self.at(i, j) * distance);
                expected.push(row * column * distance);
            }
        }
        (sum(&seen), sum(&expected))
    }

    /// The share of pairs that agree.
    pub(crate) fn agreement(&self) -> Option<f64> {
        let n = self.total();
        (n > 0.0).then(|| self.same() / n)
    }

    /// Cohen's kappa (Educational and Psychological Measurement 20:37, 1960): 1 − seen/expected disagreement. None where only one
    /// value is given by both: then there is nothing to agree on.
    pub(crate) fn kappa(&self) -> Option<f64> {
        self.weighted(|i, j| f64::from(u8::from(i != j)))
    }

    /// Kappa with squared distances between the categories' numbers (Cohen, Psychological Bulletin 70:213, 1968).
    pub(crate) fn quadratic_kappa(&self, numbers: &[f64]) -> Option<f64> {
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
        self.weighted(|i, j| (at(i) - at(j)) * (at(i) - at(j)))
    }

    fn weighted(&self, distance: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let n = self.total();
        let (seen, expected) = self.distances(distance);
        (n > 0.0 && expected > 0.0).then(|| 1.0 - seen * n / expected)
    }

    /// Gwet's AC1 (British Journal of Mathematical and Statistical Psychology 61:29, 2008): chance agreement is
    /// `Σ π(1−π)/(K−1)`, with π the mean share of a category, so that it does not collapse where nearly all is of one kind. K is
    /// the number of categories that there are, used or not.
    pub(crate) fn ac1(&self) -> Option<f64> {
        let n = self.total();
        if n <= 0.0 || self.size < 2 {
            return None;
        }
        let shares = (0..self.size).map(|at| (self.row(at) + self.column(at)) / (2.0 * n));
        let chance = shares.map(|share| share * (1.0 - share)).sum::<f64>() / (self.size as f64 - 1.0);
        (chance < 1.0).then(|| (self.same() / n - chance) / (1.0 - chance))
    }

    /// Krippendorff's alpha of a table of coincidences ("Computing Krippendorff's Alpha-Reliability", 2011): 1 − seen/expected
    /// disagreement, values drawn without putting back. None where all values are equal.
    pub(crate) fn alpha(&self, metric: Metric, numbers: &[f64]) -> Option<f64> {
        let counts: Vec<f64> = (0..self.size).map(|at| self.row(at)).collect();
        let n = sum(&counts);
        let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
        let count = |place: usize| counts.get(place).copied().unwrap_or(0.0);
        let distance = |i: usize, j: usize| match metric {
            Metric::Nominal => f64::from(u8::from(i != j)),
            Metric::Interval => (at(i) - at(j)) * (at(i) - at(j)),
            Metric::Ordinal => {
                let between: f64 = counts.iter().take(i.max(j) + 1).skip(i.min(j)).sum();
                let distance = between - f64::midpoint(count(i), count(j));
                if i == j { 0.0 } else { distance * distance }
            }
        };
        let (seen, expected) = self.distances(distance);
        (n > 1.0 && expected > 0.0).then(|| 1.0 - (n - 1.0) * seen / expected)
    }

    /// Adds the coincidences of one unit's values: of each ordered pair of them 1/(m − 1).
    pub(crate) fn coincide(&mut self, values: &[usize]) {
        if values.len() < 2 {
            return;
        }
        let weight = 1.0 / (values.len() as f64 - 1.0);
        for (at, one) in values.iter().enumerate() {
            for (other_at, other) in values.iter().enumerate() {
                if at != other_at {
                    self.add(*one, *other, weight);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(rows: [[u32; N]; N]) -> Table {
        let mut table = Table::new(N);
        for (i, row) in rows.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, count)| table.add(i, j, f64::from(*count)));
        }
        table
    }

    fn near(seen: Option<f64>, wanted: f64) {
        let seen = seen.unwrap();
        assert!((seen - wanted).abs() < 1e-12, "{seen}, not {wanted}");
    }

    /// What `tests/bench/reference.py` prints: kappas of statsmodels, AC1 by its formula.
    #[test]
    fn kappas_are_those_of_statsmodels() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0];
        let check = |table: &Table, wanted: [f64; 4]| {
            near(table.agreement(), wanted[0]);
            near(table.kappa(), wanted[1]);
            near(table.quadratic_kappa(&numbers), wanted[2]);
            near(table.ac1(), wanted[3]);
        };
        check(&table([[20, 5], [10, 15]]), [0.7, 0.4, 0.4, 0.405_940_594_059_405_86]);
        let skewed = table([[118, 5], [2, 0]]);
        check(&skewed, [0.944, -0.023_391_812_865_496_08, -0.023_391_812_865_497_075, 0.940_776_337_608_717_7]);
        let three = table([[11, 3, 1], [4, 9, 2], [0, 5, 15]]);
        check(&three, [0.7, 0.548_192_771_084_337_3, 0.732_937_685_459_940_6, 0.551_166_965_888_689_3]);
        let five = [[5, 2, 0, 0, 0], [1, 8, 3, 0, 0], [0, 2, 9, 4, 1], [0, 0, 3, 12, 2], [0, 0, 1, 3, 20]];
        let wanted =
            [0.710_526_315_789_473_7, 0.625_028_033_191_298_5, 0.891_439_649_015_406_6, 0.641_326_790_550_505_5];
        check(&table(five), wanted);
    }

    /// The example of Krippendorff's paper, four observers and twelve units: 0.743, 0.815 and 0.849.
    #[test]
    fn alphas_are_those_of_krippendorff() {
        let observers: [[u8; 12]; 4] = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ];
        let mut table = Table::new(5);
        for unit in 0..12 {
            let seen = observers.iter().map(|row| row[unit]).filter(|value| *value > 0);
            let values: Vec<usize> = seen.map(|value| usize::from(value) - 1).collect();
            table.coincide(&values);
        }
        let of = |metric| table.alpha(metric, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let seen = [Metric::Nominal, Metric::Ordinal, Metric::Interval].map(|metric| format!("{:.3}", of(metric)));
        assert_eq!(seen, ["0.743", "0.815", "0.849"]);
    }

    #[test]
    fn where_there_is_nothing_to_agree_on_nothing_is_said() {
        let one = table([[9, 0], [0, 0]]);
        assert_eq!((one.kappa(), one.agreement(), one.ac1()), (None, Some(1.0), Some(1.0)));
        let none = Table::new(2);
        assert_eq!((none.kappa(), none.agreement(), none.ac1()), (None, None, None));
        assert_eq!((none.alpha(Metric::Nominal, &[]), one.alpha(Metric::Nominal, &[])), (None, None));
    }
}
