//! Items to figures. Everything is computed from tables that add up over clusters, so an interval is the same computation on
//! other sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::items::{Item, consensus};
use super::{Answer, Figure, Flips, Kind, Part, Preference, Scale, Section};
use crate::agreement::{Metric, Table};
use crate::interval::{LEAST_CLUSTERS, Observed, of_share};
use crate::random::Random;

/// How often clusters are resampled.
const RESAMPLES: usize = 2_000;
/// The seed of the resamples: equal labels give equal intervals.
const SEED: u64 = 0xca11;

/// The counts of a cluster.
#[derive(Clone)]
struct Tables {
    /// The judge, and each label.
    each: Table,
    /// The judge, and what most people say.
    majority: Table,
    /// Each two labels of one item, once.
    between: Table,
    /// The coincidences of all labels of an item.
    people: Table,
}

impl Tables {
    fn new(size: usize) -> Self {
        let table = || Table::new(size);
        Self { each: table(), majority: table(), between: table(), people: table() }
    }

    fn add(&mut self, other: &Self, times: f64) {
        self.each.add_all(&other.each, times);
        self.majority.add_all(&other.majority, times);
        self.between.add_all(&other.between, times);
        self.people.add_all(&other.people, times);
    }

    fn take(&mut self, scale: &Scale, item: &Item) {
        if let Some(judge) = item.judge {
            item.people.iter().for_each(|label| self.each.add(judge, *label, 1.0));
            if let Some(most) = consensus(scale, &item.people) {
                self.majority.add(judge, most, 1.0);
            }
        }
        for (at, one) in item.people.iter().enumerate() {
            item.people.iter().skip(at + 1).for_each(|other| self.between.add(*one, *other, 1.0));
        }
        self.people.coincide(&item.people);
    }
}

/// What is computed of tables: the section, the figure's name, its counts, its value.
type Computed = (Of, &'static str, Option<(u64, u64)>, Option<f64>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Each,
    Majority,
    People,
}

impl Of {
    const ALL: [Self; 3] = [Self::Each, Self::Majority, Self::People];

    const fn title(self) -> &'static str {
        match self {
            Self::Each => "judge and each person",
            Self::Majority => "judge and most people",
            Self::People => "people and people",
        }
    }
}

/// All that is known of some items.
pub(super) fn part(scale: &Scale, group: Option<Arc<str>>, items: &[&Item], has_judge: bool) -> Part {
    let mut clusters: BTreeMap<&str, Tables> = BTreeMap::new();
    for item in items {
        let tables = clusters.entry(&item.cluster).or_insert_with(|| Tables::new(scale.answers.len()));
        tables.take(scale, item);
    }
    let clusters: Vec<Tables> = clusters.into_values().collect();
    let mut all = Tables::new(scale.answers.len());
    for cluster in &clusters {
        all.add(cluster, 1.0);
    }
    let seen = compute(scale, &all);
    let intervals = resampled(scale, &clusters, seen.len());
    let figures = seen.into_iter().zip(intervals);
    let mut sections: Vec<Section> = Vec::new();
    for of in Of::ALL {
        if of != Of::People && !has_judge {
            continue;
        }
        let own = figures.clone().filter(|((section, ..), _)| *section == of);
        let figures = own.map(|((_, name, counts, value), interval)| Figure {
            name,
            counts,
            value,
            interval: interval.filter(|_| value.is_some()),
        });
        let mut figures: Vec<Figure> = figures.collect();
        if of == Of::Majority && scale.kind == Kind::Boolean {
            figures.extend(rates(scale, items));
        }
        sections.push(Section { title: of.title(), items: counted(scale, items, of), figures });
    }
    let flips = items.iter().fold(Flips::default(), |sum, item| Flips {
        both: sum.both + item.flips.both,
        flipped: sum.flipped + item.flips.flipped,
    });
    let table = if scale.kind == Kind::Numbers { &all.each } else { &all.majority };
    let confusion = scale.answers.iter().enumerate().map(|(row, answer)| {
        let counts = (0..scale.answers.len()).map(|column| whole(table.at(row, column)));
        (shown(answer), counts.collect())
    });
    let is_split = |item: &&&Item| !item.people.is_empty() && consensus(scale, &item.people).is_none();
    let count = |is: &dyn Fn(&Item) -> bool| items.iter().filter(|item| is(item)).count() as u64;
    Part {
        group,
        clusters: u32::try_from(clusters.len()).unwrap_or(u32::MAX),
        sections,
        flips,
        confusion: if has_judge { confusion.collect() } else { Vec::new() },
        split: items.iter().filter(is_split).count() as u64,
        unmatched: (
            count(&|item| item.people.is_empty()),
            if has_judge { count(&|item| item.judge.is_none()) } else { 0 },
        ),
    }
}

/// How many items a section is of.
fn counted(scale: &Scale, items: &[&Item], of: Of) -> u64 {
    let is_counted = |item: &&&Item| match of {
        Of::Each => item.judge.is_some() && !item.people.is_empty(),
        Of::Majority => item.judge.is_some() && consensus(scale, &item.people).is_some(),
        Of::People => item.people.len() > 1,
    };
    items.iter().filter(is_counted).count() as u64
}

fn whole(x: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let count = libm::round(x) as u64;
    count
}

fn share(table: &Table) -> (Option<(u64, u64)>, Option<f64>) {
    let (value, n) = (table.agreement(), table.total());
    (Some((whole(value.unwrap_or(0.0) * n), whole(n))), value)
}

/// Every figure of some tables, in a fixed order.
fn compute(scale: &Scale, tables: &Tables) -> Vec<Computed> {
    let mut figures: Vec<Computed> = Vec::new();
    for (of, table) in [(Of::Each, &tables.each), (Of::Majority, &tables.majority), (Of::People, &tables.between)] {
        let (counts, value) = share(table);
        figures.push((of, "agreement", counts, value));
        if let Some(tie) = scale.tie() {
            let (counts, value) = share(&table.without(tie));
            figures.push((of, "agreement without ties", counts, value));
        }
        if of != Of::People {
            figures.push((of, "kappa", None, table.kappa()));
            if let Some(tie) = scale.tie() {
                figures.push((of, "kappa without ties", None, table.without(tie).kappa()));
            }
            if scale.kind == Kind::Numbers {
                figures.push((of, "quadratic kappa", None, table.quadratic_kappa(&scale.numbers)));
                figures.push((of, "mean difference", None, table.mean_difference(&scale.numbers)));
                figures.push((of, "share within 1", None, table.share_within(&scale.numbers, 1.0)));
            }
            figures.push((of, "AC1", None, table.ac1()));
        }
        let both = if of == Of::People { tables.people.clone() } else { table.both_ways() };
        figures.extend(scale.metrics().iter().map(|metric| {
            let name = match metric {
                Metric::Nominal => "alpha, nominal",
                Metric::Ordinal => "alpha, ordinal",
                Metric::Interval => "alpha, interval",
            };
            (of, name, None, both.alpha(*metric, &scale.numbers))
        }));
    }
    figures
}

/// The interval of each figure: the middle 95% of what resamples of whole clusters give (Davison and Hinkley, Bootstrap Methods,
/// 1997, section 3.8). None below five clusters.
fn resampled(scale: &Scale, clusters: &[Tables], figures: usize) -> Vec<Option<(f64, f64)>> {
    if clusters.len() < LEAST_CLUSTERS as usize {
        return vec![None; figures];
    }
    let mut random = Random::seeded(SEED);
    let mut seen: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); figures];
    let mut times = vec![0_u32; clusters.len()];
    for _ in 0..RESAMPLES {
        times.fill(0);
        for _ in 0..clusters.len() {
            if let Some(count) = times.get_mut(random.below(clusters.len())) {
                *count += 1;
            }
        }
        let mut sum = Tables::new(scale.answers.len());
        let drawn = clusters.iter().zip(&times).filter(|(_, times)| **times > 0);
        drawn.for_each(|(cluster, times)| sum.add(cluster, f64::from(*times)));
        for (values, (_, _, _, value)) in seen.iter_mut().zip(compute(scale, &sum)) {
            values.extend(value);
        }
    }
    seen.into_iter().map(|values| middle(values, 0.95)).collect()
}

/// The ends of the middle part of some values; none where a tenth of the resamples or more gave none.
fn middle(mut values: Vec<f64>, part: f64) -> Option<(f64, f64)> {
    if values.len() * 10 <= RESAMPLES * 9 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = libm::round(share * (values.len() as f64 - 1.0)) as usize;
        values.get(rank).copied()
    };
    at((1.0 - part) / 2.0).zip(at(f64::midpoint(1.0, part)))
}

/// How many of the fails that people see the judge sees (TPR), and how many of the passes (TNR), with Wilson's interval on the
/// number that the clusters are worth.
fn rates(scale: &Scale, items: &[&Item]) -> Vec<Figure> {
    let pass = scale.place(&Answer::Bool(true));
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut observed = [const { Vec::new() }; 2];
    for item in items {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let cluster = *numbers.entry(&item.cluster).or_insert(next);
        let Some((judge, most)) = item.judge.zip(consensus(scale, &item.people)) else { continue };
        let seen = Observed { number: f64::from(u8::from(judge == most)), cluster };
        if let Some(side) = observed.get_mut(usize::from(most == pass)) {
            side.push(seen);
        }
    }
    let names = ["TPR: fails that it sees", "TNR: passes that it sees"];
    let figure = |(name, seen): (&'static str, Vec<Observed>)| {
        let same = seen.iter().filter(|one| one.number > 0.5).count() as u64;
        let n = seen.len() as u64;
        Figure {
            name,
            counts: Some((same, n)),
            value: (n > 0).then(|| same as f64 / n as f64),
            interval: of_share(seen.iter().copied()).map(|interval| (interval.low, interval.high)),
        }
    };
    names.into_iter().zip(observed).map(figure).collect()
}

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Bool(pass) => pass.to_string(),
        Answer::Number(x) => aigo_ir::text::number(*x),
        Answer::Word(word) => aigo_ir::text::excerpt(word, 40),
        Answer::Prefers(Preference::First) => "first".to_owned(),
        Answer::Prefers(Preference::Second) => "second".to_owned(),
        Answer::Prefers(Preference::Tie) => "tie".to_owned(),
    }
}
