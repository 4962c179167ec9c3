//! A judge held against people: how often they agree, and how often that would be chance.
//!
//! ```text
//! lines, sheets -> Votes -> items -> tables by cluster -> figures, with intervals that resample clusters -> text | json
//! ```

mod figures;
mod items;
mod json;
mod read;
mod text;

pub use json::json;
pub use read::{BAD_LABELS, Line, lines};
pub use text::text;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agreement::Metric;
use items::{Item, items};

/// What somebody says of an item.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Answer {
    /// Whether it passes.
    Bool(bool),
    /// A step or a number of a scale.
    Number(f64),
    /// A label.
    Word(Arc<str>),
    /// Which of two is better.
    Prefers(Preference),
}

/// Which of two is better; the first is the one whose name comes first in the alphabet, whatever the order they were shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preference {
    /// The first.
    First,
    /// The second.
    Second,
    /// Neither.
    Tie,
}

/// One verdict or label.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// What it is of; of a preference both names are part of it.
    pub item: Arc<str>,
    /// Whose it is.
    pub rater: Arc<str>,
    /// What it says.
    pub answer: Answer,
    /// Which items belong together.
    pub cluster: Arc<str>,
    /// The part of the labels that it is counted in beside all.
    pub group: Option<Arc<str>>,
    /// Of a preference: whether the second of both names was shown first.
    pub is_swapped: bool,
}

/// How the judge answers when the same two are shown in both orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flips {
    /// Items that it was asked about in both orders.
    pub both: u64,
    /// Those of them where its answers differ: they count as ties.
    pub flipped: u64,
}

/// A number with its interval of 95%, and what it was counted from.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// How many agree, of how many, where it is such a share.
    pub counts: Option<(u64, u64)>,
    /// The number; none where there is nothing to tell.
    pub value: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// Figures of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What they are of.
    pub title: &'static str,
    /// How many items.
    pub items: u64,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A part of the labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name; none of all.
    pub group: Option<Arc<str>>,
    /// How many clusters its items make.
    pub clusters: u32,
    /// What is known of it.
    pub sections: Vec<Section>,
    /// How often the judge flips, where it was asked in both orders.
    pub flips: Flips,
    /// The answers that there are, and how often the judge (first) and the people (second) give each pair of them.
    pub confusion: Vec<(String, Vec<u64>)>,
    /// Items on which as many people say one thing as another.
    pub split: u64,
    /// Items of the judge that no label is of, and labelled items without its verdict.
    pub unmatched: (u64, u64),
}

/// All that a calibration says: of all labels, and of each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Of all, then of the groups in order.
    pub parts: Vec<Part>,
}

/// What kind the answers are of.
#[derive(Clone, Debug, PartialEq)]
struct Scale {
    /// The answers, in order.
    answers: Vec<Answer>,
    /// The numbers that stand for them.
    numbers: Vec<f64>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Words,
    Numbers,
    Preferences,
}

/// The most different answers that are counted as categories.
const MOST_ANSWERS: usize = 64;

impl Scale {
    fn of<'v>(votes: impl Iterator<Item = &'v Vote>) -> Result<Self, String> {
        let mut answers: Vec<Answer> = Vec::new();
        for vote in votes {
            if let Err(at) = answers.binary_search_by(|known| order(known, &vote.answer)) {
                answers.insert(at, vote.answer.clone());
            }
            if answers.len() > MOST_ANSWERS {
                return Err(format!(
                    "there are more than {MOST_ANSWERS} different values: label on a scale with fewer"
                ));
            }
        }
        let kind_of = |answer: &Answer| match answer {
            Answer::Bool(_) => Kind::Boolean,
            Answer::Number(_) => Kind::Numbers,
            Answer::Word(_) => Kind::Words,
            Answer::Prefers(_) => Kind::Preferences,
        };
        let Some(kind) = answers.first().map(kind_of) else { return Err("there is no label".to_owned()) };
        if answers.iter().any(|answer| kind_of(answer) != kind) {
            return Err(
                "the values are of several kinds: true and false, numbers, words and preferences do not mix".into()
            );
        }
        // What can be said counts, whether it was or not.
        match kind {
            Kind::Boolean => answers = [false, true].map(Answer::Bool).to_vec(),
            Kind::Preferences => {
                answers = [Preference::First, Preference::Second, Preference::Tie].map(Answer::Prefers).to_vec();
            }
            Kind::Words | Kind::Numbers => {}
        }
        let numbers = answers.iter().enumerate().map(|(at, answer)| match answer {
            Answer::Number(x) => *x,
            _ => at as f64,
        });
        Ok(Self { numbers: numbers.collect(), answers, kind })
    }

    fn place(&self, answer: &Answer) -> usize {
        self.answers.binary_search_by(|known| order(known, answer)).unwrap_or(0)
    }

    /// The metrics of alpha that mean something.
    const fn metrics(&self) -> &'static [Metric] {
        match self.kind {
            Kind::Numbers => &[Metric::Nominal, Metric::Ordinal, Metric::Interval],
            _ => &[Metric::Nominal],
        }
    }

    /// The place of a tie.
    fn tie(&self) -> Option<usize> {
        (self.kind == Kind::Preferences).then(|| self.place(&Answer::Prefers(Preference::Tie)))
    }
}

fn order(a: &Answer, b: &Answer) -> std::cmp::Ordering {
    a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
}

/// Holds the judge's votes against the people's. Without the judge's, people are held against one another.
pub fn calibrate(judge: &[Vote], people: &[Vote]) -> Result<Calibration, String> {
    let scale = Scale::of(judge.iter().chain(people))?;
    let items = items(&scale, judge, people);
    let mut groups: BTreeMap<Option<Arc<str>>, Vec<&Item>> = BTreeMap::new();
    for item in items.values() {
        groups.entry(None).or_default().push(item);
        if let Some(group) = &item.group {
            groups.entry(Some(Arc::clone(group))).or_default().push(item);
        }
    }
    let has_judge = !judge.is_empty();
    let part = |(group, items): (Option<Arc<str>>, Vec<&Item>)| figures::part(&scale, group, &items, has_judge);
    Ok(Calibration { parts: groups.into_iter().map(part).collect() })
}
