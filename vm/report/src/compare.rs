//! Two runs of the same scenarios side by side: what got worse, what got better, and whether chance alone brings as much.
//!
//! ```text
//! Sheet, Sheet -> compare -> Comparison -> text | json
//! ```

mod json;
mod text;

pub use json::json;
pub use text::text;

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::diagnostic::Row;
use aigo_ir::reduce::sum;

use crate::interval::Observed;
use crate::paired::{LEVEL, Paired, holm};
use crate::sheet::{Scenario, Sheet};
use crate::stats::mcnemar_mid_p;

/// How many transcripts are shown.
const SHOWN: usize = 3;

/// Two measurements by different rulers.
pub static NOT_COMPARABLE: Row = Row::error("R0231", "scores that were measured differently");

/// What a comparison says of a scorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Worse beyond chance.
    Worse,
    /// Better beyond chance.
    Better,
    /// No difference beyond chance.
    Unclear,
    /// Too few clusters are paired to tell, or values that are missing could decide it.
    Undecided,
}

impl Verdict {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Unclear => "no difference beyond chance",
            Self::Undecided => "undecided",
        }
    }
}

/// A scenario that is not what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sample's key.
    pub key: Arc<str>,
    /// The mean over its epochs before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// Whether the scenario itself is another now.
    pub edited: bool,
    /// The epochs that it has after.
    pub epochs: Vec<u32>,
}

/// A scorer in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its name.
    pub scorer: Arc<str>,
    /// Its place in the second run's program.
    pub place: usize,
    /// The mean over the paired scenarios before.
    pub before: Option<f64>,
    /// And after.
    pub after: Option<f64>,
    /// The statistics of the differences; none without a pair.
    pub paired: Option<Paired>,
    /// The chance by flips, made comparable over all scorers (Holm).
    pub p_adjusted: f64,
    /// Of one epoch each: scenarios that pass no more, those that pass now, and `McNemar`'s mid-p of both counts.
    pub flipped: Option<(u32, u32, f64)>,
    /// What got worse, most first.
    pub worse: Vec<Change>,
    /// What got better, most first.
    pub better: Vec<Change>,
    /// Scenarios to which it applies in one of both runs only.
    pub moved: Vec<Arc<str>>,
    /// How many values are missing before, and after.
    pub missing: (u64, u64),
    /// What it comes to.
    pub verdict: Verdict,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The task's name.
    pub task: String,
    /// The ids of both runs.
    pub runs: (String, String),
    /// The scorers that both have, in the order of the second.
    pub scorers: Vec<Compared>,
    /// Scorers that one of both has, with the run's id.
    pub alone: Vec<(Arc<str>, String)>,
    /// Scenarios that only the first has.
    pub only_before: Vec<Arc<str>>,
    /// Scenarios that only the second has.
    pub only_after: Vec<Arc<str>>,
    /// Scenarios that are in both, and are not the same.
    pub edited: Vec<Arc<str>>,
}

impl Comparison {
    /// What got worst of the scorers that are worse: whose transcripts are shown.
    pub fn worst(&self) -> Vec<&Change> {
        let worse = self.scorers.iter().filter(|one| one.verdict == Verdict::Worse);
        worse.flat_map(|one| one.worse.iter().take(SHOWN)).take(SHOWN).collect()
    }

    /// 5 where a scorer is worse beyond chance; else 4 where one is undecided, or none is in both; else 0.
    pub fn exit(&self) -> i32 {
        let has = |verdict| self.scorers.iter().any(|scorer| scorer.verdict == verdict);
        if has(Verdict::Worse) {
            5
        } else if has(Verdict::Undecided) || self.scorers.is_empty() {
            4
        } else {
            0
        }
    }
}

/// Compares two sheets, which were measured alike: whoever calls has made sure of it. Only the named scorers, unless none is.
pub fn compare(before: &Sheet, after: &Sheet, only: &[String]) -> Comparison {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|known| known == name);
    let mut scorers: Vec<Compared> = Vec::new();
    let mut alone = Vec::new();
    for (place, measure) in after.measures.iter().enumerate().filter(|(_, measure)| wanted(&measure.name)) {
        match before.measure(&measure.name) {
            None => alone.push((Arc::clone(&measure.name), after.run.clone())),
            Some((old, _)) => {
                let (old, new) = (before.scenarios(old), after.scenarios(place));
                let pairs = Pairs::of(&old, &new, (measure.low, measure.high));
                scorers.push(Compared { place, ..pairs.compared(&measure.name) });
            }
        }
    }
    for measure in before.measures.iter().filter(|measure| wanted(&measure.name)) {
        if after.measure(&measure.name).is_none() {
            alone.push((Arc::clone(&measure.name), before.run.clone()));
        }
    }
    adjust(&mut scorers);
    let (old, new) = (contents(before), contents(after));
    let without = |these: &BTreeMap<Arc<str>, Arc<str>>, those: &BTreeMap<Arc<str>, Arc<str>>| {
        these.keys().filter(|key| !those.contains_key(*key)).cloned().collect::<Vec<_>>()
    };
    let edited = old.iter().filter(|(key, content)| new.get(*key).is_some_and(|other| other != *content));
    Comparison {
        task: after.task.clone(),
        runs: (before.run.clone(), after.run.clone()),
        scorers,
        alone,
        only_before: without(&old, &new),
        only_after: without(&new, &old),
        edited: edited.map(|(key, _)| Arc::clone(key)).collect(),
    }
}

/// Adjusts the chances for there being several scorers. One that changed too little to be told from chance whatever it did
/// cannot bring a false alarm, and counts as none of the several (Tarone, Biometrics 46, 1990, 515-522).
fn adjust(scorers: &mut [Compared]) {
    let can = |one: &Compared| one.paired.is_some_and(|paired| paired.p_least <= LEVEL);
    let chances: Vec<f64> = scorers.iter().filter(|one| can(one)).filter_map(|one| Some(one.paired?.p_flip)).collect();
    let several = chances.len().max(1) as f64;
    let mut adjusted = holm(&chances).into_iter();
    for scorer in scorers {
        let Some(paired) = scorer.paired else { continue };
        scorer.p_adjusted = if can(scorer) { adjusted.next().unwrap_or(1.0) } else { paired.p_flip };
        let is_told = matches!(scorer.verdict, Verdict::Worse | Verdict::Better);
        if scorer.p_adjusted > LEVEL && scorer.verdict != Verdict::Undecided {
            // "No difference" would be a claim, where so few could not have shown one.
            let cramped = paired.is_cramped(LEVEL) || (is_told && paired.is_cramped(LEVEL / several));
            scorer.verdict = if cramped { Verdict::Undecided } else { Verdict::Unclear };
        }
    }
}

/// What the scenarios of a sheet are, by key.
fn contents(sheet: &Sheet) -> BTreeMap<Arc<str>, Arc<str>> {
    sheet.trials.iter().map(|trial| (Arc::clone(&trial.key), Arc::clone(&trial.content))).collect()
}

/// The scenarios of both sides, by key.
struct Pairs<'s> {
    both: Vec<(&'s str, &'s Scenario, &'s Scenario)>,
    moved: Vec<Arc<str>>,
    missing: (u64, u64),
    ends: (f64, f64),
}

impl<'s> Pairs<'s> {
    fn of(before: &'s BTreeMap<Arc<str>, Scenario>, after: &'s BTreeMap<Arc<str>, Scenario>, ends: (f64, f64)) -> Self {
        let mut pairs = Self { both: Vec::new(), moved: Vec::new(), missing: (0, 0), ends };
        for (key, new) in after {
            let Some(old) = before.get(key) else { continue };
            match (old.side.is_applicable(), new.side.is_applicable()) {
                (true, true) => {
                    pairs.missing.0 += u64::from(old.side.missing);
                    pairs.missing.1 += u64::from(new.side.missing);
                    pairs.both.push((key, old, new));
                }
                (false, false) => {}
                _ => pairs.moved.push(Arc::clone(key)),
            }
        }
        pairs
    }

    /// The differences, missing values left out, or at the ends of the scale: those before at the first, those after at the
    /// second.
    fn differences(&self, ends: Option<(f64, f64)>) -> Vec<Observed> {
        let mut clusters: BTreeMap<&str, u32> = BTreeMap::new();
        let mut differences = Vec::new();
        for (_, old, new) in &self.both {
            let next = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
            let cluster = *clusters.entry(&new.cluster).or_insert(next);
            let means = old.side.mean(ends.map(|(old, _)| old)).zip(new.side.mean(ends.map(|(_, new)| new)));
            differences.extend(means.map(|(old, new)| Observed { number: new - old, cluster }));
        }
        differences
    }

    fn compared(self, name: &Arc<str>) -> Compared {
        let (low, high) = self.ends;
        let span = (low - high, high - low);
        let paired = Paired::of(&self.differences(None), span);
        let verdict = match paired {
            None => Verdict::Undecided,
            Some(paired) if self.missing == (0, 0) => of(&paired),
            Some(paired) => {
                let at = |ends| Paired::of(&self.differences(Some(ends)), span).map(|paired| of(&paired));
                let seen = of(&paired);
                let stands = at((high, low)) == Some(seen) && at((low, high)) == Some(seen);
                if stands { seen } else { Verdict::Undecided }
            }
        };
        let known = |(_, old, new): &&(&str, &Scenario, &Scenario)| {
            old.side.mean(None).is_some() && new.side.mean(None).is_some()
        };
        let known: Vec<_> = self.both.iter().filter(known).collect();
        let mean = |numbers: Vec<f64>| (!numbers.is_empty()).then(|| sum(&numbers) / numbers.len() as f64);
        let changes = self.changes();
        let side = |is_worse: bool| {
            let mut some: Vec<Change> =
                changes.iter().filter(|one| (one.after < one.before) == is_worse).cloned().collect();
            let size = |one: &Change| (one.after - one.before).abs();
            some.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.key.cmp(&b.key)));
            some
        };
        Compared {
            scorer: Arc::clone(name),
            place: 0,
            before: mean(known.iter().filter_map(|(_, old, _)| old.side.mean(None)).collect()),
            after: mean(known.iter().filter_map(|(_, _, new)| new.side.mean(None)).collect()),
            paired,
            p_adjusted: 1.0,
            flipped: self.flipped(),
            worse: side(true),
            better: side(false),
            moved: self.moved,
            missing: self.missing,
            verdict,
        }
    }

    /// The scenarios whose mean is another.
    fn changes(&self) -> Vec<Change> {
        let change = |(key, old, new): &(&str, &Scenario, &Scenario)| {
            let (before, after) = old.side.mean(None).zip(new.side.mean(None))?;
            (before != after).then(|| Change {
                key: Arc::from(*key),
                before,
                after,
                edited: old.content != new.content,
                epochs: new.epochs.clone(),
            })
        };
        self.both.iter().filter_map(change).collect()
    }

    /// Where every scenario has one epoch on both sides: how many pass no more, how many pass now.
    fn flipped(&self) -> Option<(u32, u32, f64)> {
        let (mut worse, mut better) = (0, 0);
        for (_, old, new) in &self.both {
            match (old.side.passes.as_slice(), new.side.passes.as_slice()) {
                ([old], [new]) => {
                    worse += u32::from(*old && !new);
                    better += u32::from(!old && *new);
                }
                (old, new) if old.len() <= 1 && new.len() <= 1 => {}
                _ => return None,
            }
        }
        (!self.both.is_empty()).then(|| (worse, better, mcnemar_mid_p(worse, better)))
    }
}

fn of(paired: &Paired) -> Verdict {
    match (paired.can_tell(), paired.is_worse(), paired.is_better()) {
        (false, ..) => Verdict::Undecided,
        (_, true, _) => Verdict::Worse,
        (_, _, true) => Verdict::Better,
        _ => Verdict::Unclear,
    }
}
