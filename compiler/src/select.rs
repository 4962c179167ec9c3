//! Which samples of a task a run takes: by tags, by a suite, by their keys, and at most so many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::diagnostic;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::selection::Selection;
use aigo_ir::value::{Map, Value};

use crate::Suite;

/// What was asked for. All of it has to hold; where nothing is said, every sample is taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selecting {
    /// A selection of tags: `p0 and not slow`. A sample's key counts as one of its tags.
    pub select: Option<String>,
    /// A suite of the task.
    pub suite: Option<Suite>,
    /// The keys of samples.
    pub samples: Vec<String>,
    /// At most so many samples, the first ones.
    pub limit: Option<u64>,
    /// How often each sample is run, in place of what the task says.
    pub epochs: Option<u32>,
}

/// The samples that are taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Their keys; none where every sample is.
    keys: Option<BTreeSet<Arc<str>>>,
}

impl Chosen {
    /// Whether a sample is taken.
    pub fn has(&self, key: &str) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.contains(key))
    }

    /// How many are taken; none where every sample is.
    pub fn count(&self) -> Option<usize> {
        self.keys.as_ref().map(BTreeSet::len)
    }
}

/// What a choice sees of a sample.
pub struct Seen {
    /// Its key.
    pub key: Arc<str>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its fields.
    pub fields: Arc<Map>,
}

/// Of the samples that may be taken, what a subset needs: the values of the fields that it is spread over, and its rank.
struct Candidate {
    key: Arc<str>,
    stratum: Vec<String>,
}

impl Selecting {
    /// Whether nothing is left out, and nothing is said of epochs.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing is left out.
    fn takes_all(&self) -> bool {
        self.select.is_none() && self.suite.is_none() && self.samples.is_empty() && self.limit.is_none()
    }

    /// Chooses among samples, which come in their order. `seed` is the task's, from which the subset of a suite is drawn. The
    /// error, for people, is a selection that cannot be read, that matches nothing, or that names a sample which is not there.
    pub fn choose(&self, seed: u64, samples: impl Iterator<Item = Result<Seen, String>>) -> Result<Chosen, String> {
        if self.takes_all() {
            return Ok(Chosen::default());
        }
        let of_suite = self.suite.as_ref().and_then(|suite| suite.select.as_deref());
        let read = |text: &str| Selection::parse(text).map_err(|error| error.to_string());
        let wanted =
            self.select.as_deref().into_iter().chain(of_suite).map(read).collect::<Result<Vec<_>, String>>()?;
        let subset = self.suite.as_ref().and_then(|suite| suite.subset.as_ref());
        let (mut candidates, mut known) = (Vec::new(), BTreeSet::new());
        for seen in samples {
            let Seen { key, mut tags, fields } = seen?;
            let is_named = self.samples.is_empty() || self.samples.iter().any(|name| **name == *key);
            tags.push(key.to_string());
            if is_named && wanted.iter().all(|selection| selection.matches(&tags)) {
                let value = |name: &String| fields.get(name).unwrap_or(&Value::Null).to_json();
                let stratum = subset.map(|(_, stratify)| stratify.iter().map(value).collect()).unwrap_or_default();
                candidates.push(Candidate { key: Arc::clone(&key), stratum });
            }
            known.insert(key);
        }
        if let Some(unknown) = self.samples.iter().find(|name| !known.contains(&***name)) {
            let near = diagnostic::nearest(unknown, known.iter().map(|key| &**key));
            let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("there is no sample `{unknown}` among {}{help}", known.len()));
        }
        if candidates.is_empty() {
            return Err(format!("nothing is selected: none of {} samples fits", known.len()));
        }
        let taken = subset.map(|(n, _)| spread(seed, &candidates, *n as usize));
        let of_subset = |key: &Arc<str>| taken.as_ref().is_none_or(|taken| taken.contains(key));
        let most = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let keys = candidates.into_iter().map(|candidate| candidate.key).filter(of_subset).take(most).collect();
        Ok(Chosen { keys: Some(keys) })
    }

    /// As a log keeps it; a suite with what it said, so that a later edit of the task changes nothing of the run.
    pub fn to_value(&self) -> Value {
        let mut pairs: Vec<(&str, Value)> = Vec::new();
        pairs.extend(self.select.as_deref().map(|select| ("select", Value::str(select))));
        if let Some(suite) = &self.suite {
            let mut said = vec![("name", Value::str(suite.name.as_str()))];
            said.extend(suite.select.as_deref().map(|select| ("select", Value::str(select))));
            if let Some((n, stratify)) = &suite.subset {
                said.push(("n", Value::Int(i64::from(*n))));
                said.push(("stratify", Value::list(stratify.iter().map(|name| Value::str(name.as_str())).collect())));
            }
            pairs.push(("suite", Value::map(said)));
        }
        if !self.samples.is_empty() {
            let samples = self.samples.iter().map(|key| Value::str(key.as_str())).collect();
            pairs.push(("samples", Value::list(samples)));
        }
        let whole = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        pairs.extend(self.limit.map(|limit| ("limit", whole(limit))));
        pairs.extend(self.epochs.map(|epochs| ("epochs", Value::Int(i64::from(epochs)))));
        Value::map(pairs)
    }

    /// The other way. What a log cannot have written is as if it were not there.
    pub fn of_value(value: &Value) -> Self {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let texts = |value: Option<&Value>| -> Vec<String> {
            let items = value.and_then(Value::as_list).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
        };
        let whole = |value: &Value, key: &str| match value.get(key) {
            Some(Value::Int(n)) => u64::try_from(*n).ok(),
            _ => None,
        };
        let small = |value: &Value, key: &str| whole(value, key).and_then(|n| u32::try_from(n).ok());
        let suite = value.get("suite").map(|suite| Suite {
            name: text(suite, "name").unwrap_or_default(),
            select: text(suite, "select"),
            subset: small(suite, "n").map(|n| (n, texts(suite.get("stratify")))),
        });
        Self {
            select: text(value, "select"),
            suite,
            samples: texts(value.get("samples")),
            limit: whole(value, "limit"),
            epochs: small(value, "epochs"),
        }
    }
}

/// So many of the candidates, spread over the values of their strata as evenly as can be: each next one is of the stratum whose
/// values were taken the least so far, and in it the one with the least hash. Neither depends on the order of the rows.
fn spread(seed: u64, candidates: &[Candidate], n: usize) -> BTreeSet<Arc<str>> {
    let rank = |key: &str| KeyWriter::new("aigo.subset.1").u64(seed).str(key).finish();
    let mut strata: BTreeMap<&[String], Vec<(Key, &Arc<str>)>> = BTreeMap::new();
    for candidate in candidates {
        strata.entry(&candidate.stratum).or_default().push((rank(&candidate.key), &candidate.key));
    }
    for members in strata.values_mut() {
        // The last is taken first.
        members.sort_by(|a, b| b.cmp(a));
    }
    let mut counts: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    let mut of_stratum: BTreeMap<&[String], u64> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    while taken.len() < n.min(candidates.len()) {
        let cost = |stratum: &[String]| -> u64 {
            let of = stratum.iter().enumerate().map(|(at, value)| counts.get(&(at, &**value)).copied().unwrap_or(0));
            of.sum()
        };
        let next = strata.iter().filter_map(|(stratum, members)| {
            let (hash, _) = members.last()?;
            Some((cost(stratum), of_stratum.get(stratum).copied().unwrap_or(0), *hash, *stratum))
        });
        let Some((.., stratum)) = next.min() else { break };
        let Some((_, key)) = strata.get_mut(stratum).and_then(Vec::pop) else { break };
        taken.insert(Arc::clone(key));
        *of_stratum.entry(stratum).or_default() += 1;
        for (at, value) in stratum.iter().enumerate() {
            *counts.entry((at, value)).or_default() += 1;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve samples: four personas by three plans, the first persona tagged.
    fn rows() -> Vec<Result<Seen, String>> {
        let mut rows = Vec::new();
        for persona in ["terse", "confused", "angry", "chatty"] {
            for plan in ["Free", "Pro", "Team"] {
                let fields = Map::from_iter([("persona", Value::from(persona)), ("plan", Value::from(plan))]);
                let tags = if persona == "terse" { vec!["p0".to_owned()] } else { Vec::new() };
                rows.push(Ok(Seen { key: format!("{persona}/{plan}").into(), tags, fields: Arc::new(fields) }));
            }
        }
        rows
    }

    fn chosen(selecting: &Selecting, rows: Vec<Result<Seen, String>>) -> Vec<String> {
        let chosen = selecting.choose(7, rows.into_iter()).unwrap();
        chosen.keys.unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tags_keys_and_a_limit_all_hold() {
        let of = |select: &str| Selecting { select: Some(select.to_owned()), ..Selecting::default() };
        assert_eq!(chosen(&of("p0"), rows()), ["terse/Free", "terse/Pro", "terse/Team"]);
        assert_eq!(chosen(&of("p0 and not terse/Pro"), rows()), ["terse/Free", "terse/Team"]);
        let two = Selecting { limit: Some(2), ..of("not p0") };
        assert_eq!(chosen(&two, rows()), ["confused/Free", "confused/Pro"], "the first in the order of the rows");
        let named = Selecting { samples: vec!["angry/Pro".to_owned()], ..Selecting::default() };
        assert_eq!(chosen(&named, rows()), ["angry/Pro"]);
    }

    #[test]
    fn what_matches_nothing_says_so() {
        let of = |selecting: Selecting| selecting.choose(7, rows().into_iter()).unwrap_err();
        let nothing = of(Selecting { select: Some("slow".to_owned()), ..Selecting::default() });
        assert_eq!(nothing, "nothing is selected: none of 12 samples fits");
        let unknown = of(Selecting { samples: vec!["angry/pro".to_owned()], ..Selecting::default() });
        assert_eq!(unknown, "there is no sample `angry/pro` among 12; did you mean `angry/Pro`?");
        assert!(of(Selecting { select: Some("p0 and".to_owned()), ..Selecting::default() }).contains("cannot be read"));
    }

    #[test]
    fn a_subset_meets_all_values_evenly_whatever_the_order_of_the_rows() {
        let subset = Some((6, vec!["persona".to_owned(), "plan".to_owned()]));
        let suite = Suite { name: "pr".to_owned(), select: None, subset };
        let selecting = Selecting { suite: Some(suite), ..Selecting::default() };
        let six = chosen(&selecting, rows());
        let of = |at: usize| {
            let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
            for key in &six {
                *counts.entry(key.split('/').nth(at).unwrap()).or_default() += 1;
            }
            counts.into_values().collect::<Vec<_>>()
        };
        assert_eq!(of(1), [2, 2, 2]);
        let mut personas = of(0);
        personas.sort_unstable();
        assert_eq!(personas, [1, 1, 2, 2]);
        let turned: Vec<_> = rows().into_iter().rev().collect();
        assert_eq!(chosen(&selecting, turned), six);
        let other = selecting.choose(8, rows().into_iter()).unwrap();
        assert!(six.iter().any(|key| !other.has(key)), "another seed draws others");
    }

    #[test]
    fn a_log_keeps_a_selection() {
        let subset = Some((24, vec!["persona".to_owned()]));
        let suite = Suite { name: "pr".to_owned(), select: Some("p0".to_owned()), subset };
        let all = Selecting {
            select: Some("a or b".to_owned()),
            suite: Some(suite),
            samples: vec!["x".to_owned()],
            limit: Some(3),
            epochs: Some(2),
        };
        for selecting in [all, Selecting::default()] {
            assert_eq!(Selecting::of_value(&selecting.to_value()), selecting);
        }
    }
}
