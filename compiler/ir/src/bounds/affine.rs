//! Affine maps with natural coefficients that saturate: [`MANY`] stands for what has no bound.

/// More than can be counted, or without a bound.
pub(super) const MANY: u64 = u64::MAX;

/// The number of the variable that is always 1.
pub(super) const ONE: u16 = 0;

/// A sum of variables, each with its coefficient, by the variable's number; none of them is zero.
pub(super) type Sum = Vec<(u16, u64)>;

/// What becomes of all variables: of each a sum of those before; of one that is not named, itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Affine(Vec<(u16, Sum)>);

fn times(a: u64, b: u64) -> u64 {
    a.saturating_mul(b)
}

/// Adds a term to a sum.
fn put(sum: &mut Sum, variable: u16, coefficient: u64) {
    if coefficient == 0 {
        return;
    }
    match sum.binary_search_by_key(&variable, |term| term.0) {
        Ok(at) => {
            if let Some(term) = sum.get_mut(at) {
                term.1 = term.1.saturating_add(coefficient);
            }
        }
        Err(at) => sum.insert(at, (variable, coefficient)),
    }
}

/// The greater coefficient of each variable.
fn greater(a: &Sum, b: &Sum) -> Sum {
    let mut out = a.clone();
    for &(variable, coefficient) in b {
        match out.binary_search_by_key(&variable, |term| term.0) {
            Ok(at) => {
                if let Some(term) = out.get_mut(at) {
                    term.1 = term.1.max(coefficient);
                }
            }
            Err(at) => out.insert(at, (variable, coefficient)),
        }
    }
    out
}

/// The coefficient of a variable.
pub(super) fn of(sum: &Sum, variable: u16) -> u64 {
    sum.binary_search_by_key(&variable, |term| term.0).ok().and_then(|at| sum.get(at)).map_or(0, |term| term.1)
}

impl Affine {
    /// The sum that a variable becomes.
    pub(super) fn row(&self, variable: u16) -> Sum {
        match self.0.binary_search_by_key(&variable, |row| row.0) {
            Ok(at) => self.0.get(at).map_or_else(Sum::new, |row| row.1.clone()),
            Err(_) => vec![(variable, 1)],
        }
    }

    /// The variables that do not stay as they are.
    pub(super) fn changed(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().map(|row| row.0)
    }

    /// Sets what a variable becomes.
    pub(super) fn set(&mut self, variable: u16, sum: Sum) {
        match self.0.binary_search_by_key(&variable, |row| row.0) {
            Ok(at) => {
                if let Some(row) = self.0.get_mut(at) {
                    row.1 = sum;
                }
            }
            Err(at) => self.0.insert(at, (variable, sum)),
        }
    }

    /// Adds to what a variable becomes, in terms of the variables before.
    pub(super) fn add(&mut self, variable: u16, term: u16, coefficient: u64) {
        let mut sum = self.row(variable);
        put(&mut sum, term, coefficient);
        self.set(variable, sum);
    }

    /// This, then the next: the product of the matrices.
    #[must_use]
    pub(super) fn then(mut self, next: &Self) -> Self {
        let mut rows = Vec::with_capacity(next.0.len());
        for (variable, sum) in &next.0 {
            let mut new = Sum::with_capacity(sum.len() + 1);
            for &(from, factor) in sum {
                match self.0.binary_search_by_key(&from, |row| row.0) {
                    Ok(at) => {
                        for &(term, coefficient) in self.0.get(at).map(|row| &row.1).into_iter().flatten() {
                            put(&mut new, term, times(factor, coefficient));
                        }
                    }
                    Err(_) => put(&mut new, from, factor),
                }
            }
            rows.push((*variable, new));
        }
        for (variable, sum) in rows {
            self.set(variable, sum);
        }
        self
    }

    /// The greater coefficient in each place: not below either map, of variables that are not negative.
    #[must_use]
    pub(super) fn either(&self, other: &Self) -> Self {
        let mut out = self.clone();
        for &(variable, ref sum) in &other.0 {
            let merged = greater(&self.row(variable), sum);
            out.set(variable, merged);
        }
        for &(variable, ref sum) in &self.0 {
            if other.0.binary_search_by_key(&variable, |row| row.0).is_err() {
                out.set(variable, greater(sum, &vec![(variable, 1)]));
            }
        }
        out
    }

    /// What the variables become, from what they are.
    pub(super) fn apply(&self, before: &[u64]) -> Vec<u64> {
        let value = |variable: u16| before.get(usize::from(variable)).copied().unwrap_or(0);
        let mut after = before.to_vec();
        for (variable, sum) in &self.0 {
            let total =
                sum.iter().fold(0_u64, |total, &(from, factor)| total.saturating_add(times(factor, value(from))));
            if let Some(place) = after.get_mut(usize::from(*variable)) {
                *place = total;
            }
        }
        after
    }
}
