//! Tool calls that were made, held against those that are expected.

use std::sync::Arc;

use super::CallMode;
use crate::text::{excerpt, number};
use crate::value::{Map, Value};

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The label of its message: `6t1`.
    pub label: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// Its arguments with the defaults of the tool filled in; none where they are no JSON object.
    pub args: Option<Arc<Map>>,
    /// The arguments as they were written.
    pub written: Arc<str>,
}

/// A call that is expected, its texts rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The tool.
    pub tool: Arc<str>,
    /// Its arguments, with the defaults of the tool filled in; none where any will do.
    pub args: Option<Arc<Map>>,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Whether the calls are as the mode wants them.
    pub holds: bool,
    /// What is missing and what was not expected, with precision, recall and F1 of the calls.
    pub reason: String,
    /// The first call that nobody expected, or that stands in the wrong place: its number.
    pub wrong: Option<usize>,
}

impl Expected {
    fn is(&self, made: &Made) -> bool {
        let args = match (&self.args, &made.args) {
            (None, _) => true,
            (Some(wanted), Some(args)) => Value::Map(Arc::clone(wanted)).same(&Value::Map(Arc::clone(args))),
            (Some(_), None) => false,
        };
        self.tool == made.tool && args
    }

    fn shown(&self) -> String {
        let args = self.args.as_ref().map_or_else(|| "…".to_owned(), |args| arguments(args));
        format!("{}({args})", self.tool)
    }
}

impl Made {
    /// As reasons show it.
    pub fn shown(&self) -> String {
        let args = self.args.as_ref().map_or_else(|| excerpt(&self.written, 80), |args| arguments(args));
        format!("{}({args})", self.tool)
    }
}

fn arguments(args: &Map) -> String {
    let pairs = args.iter().map(|(name, value)| format!("{name}: {}", excerpt(&value.to_json(), 60)));
    excerpt(&pairs.collect::<Vec<_>>().join(", "), 160)
}

/// Compares calls. Each one that was made counts for one that is expected: as many are matched as can be, so an expected call
/// without arguments takes none away from one with them. Precision is the share of the made calls that are matched, recall
/// that of the expected ones, F1 their harmonic mean; each is 1 where there is nothing to share.
pub fn compare(expected: &[Expected], made: &[Made], mode: CallMode) -> Compared {
    let matched = matching(expected, made);
    let missing: Vec<usize> = (0..expected.len()).filter(|at| !matched.contains(&Some(*at))).collect();
    let extra: Vec<usize> = (0..made.len()).filter(|at| matched.get(*at) == Some(&None)).collect();
    let in_order = || expected.iter().zip(made).position(|(expected, made)| !expected.is(made));
    let holds = match mode {
        CallMode::Strict => missing.is_empty() && extra.is_empty() && in_order().is_none(),
        CallMode::Unordered => missing.is_empty() && extra.is_empty(),
        CallMode::Subset => extra.is_empty(),
        CallMode::Superset => missing.is_empty(),
    };
    let list = |what: &str, shown: Vec<String>| match shown.len() {
        0 => None,
        _ => Some(format!("{what} {}", excerpt(&shown.join(", "), 300))),
    };
    let told_missing = if mode == CallMode::Subset { &[][..] } else { &missing };
    let told_extra = if mode == CallMode::Superset { &[][..] } else { &extra };
    let mut parts = Vec::new();
    parts.extend(list("missing", told_missing.iter().filter_map(|at| Some(expected.get(*at)?.shown())).collect()));
    parts.extend(list("not expected", told_extra.iter().filter_map(|at| Some(made.get(*at)?.shown())).collect()));
    if parts.is_empty() && !holds {
        parts.push("the calls come in another order".to_owned());
    }
    let hits = (made.len() - extra.len()) as f64;
    let share = |of: usize| if of == 0 { 1.0 } else { hits / of as f64 };
    let (precision, recall) = (share(made.len()), share(expected.len()));
    let f1 = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    parts.push(format!("precision {}, recall {}, F1 {}", number(precision), number(recall), number(f1)));
    let wrong = extra.first().copied().or_else(|| in_order().filter(|_| mode == CallMode::Strict));
    Compared { holds, reason: parts.join("; "), wrong }
}

/// With more calls than this the first fit is taken.
const MOST_AUGMENTED: usize = 500;

/// Of each made call the expected one that it is matched with: a largest matching, by augmenting paths.
fn matching(expected: &[Expected], made: &[Made]) -> Vec<Option<usize>> {
    let mut of_made: Vec<Option<usize>> = vec![None; made.len()];
    // A path is as long as there are calls, and each step is one of the stack.
    let few = expected.len().min(made.len()) <= MOST_AUGMENTED;
    for (at, wanted) in expected.iter().enumerate() {
        if few {
            let mut seen = vec![false; made.len()];
            augment(at, expected, made, &mut of_made, &mut seen);
        } else if let Some((_, place)) =
            made.iter().zip(&mut of_made).find(|(made, place)| place.is_none() && wanted.is(made))
        {
            *place = Some(at);
        }
    }
    of_made
}

fn augment(at: usize, expected: &[Expected], made: &[Made], of_made: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    let Some(wanted) = expected.get(at) else { return false };
    for call in (0..made.len()).filter(|call| made.get(*call).is_some_and(|made| wanted.is(made))) {
        if seen.get(call) != Some(&false) {
            continue;
        }
        if let Some(mark) = seen.get_mut(call) {
            *mark = true;
        }
        let holder = of_made.get(call).copied().flatten();
        if holder.is_none_or(|holder| augment(holder, expected, made, of_made, seen)) {
            if let Some(place) = of_made.get_mut(call) {
                *place = Some(at);
            }
            return true;
        }
    }
    false
}

/// The first place where two states differ: its path, and what stands in each. None where they are the same.
pub fn difference(path: &str, a: &Value, b: &Value) -> Option<(String, Option<Value>, Option<Value>)> {
    if a.same(b) {
        return None;
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            let of_a = a.iter().find_map(|(key, value)| match b.get(key) {
                Some(other) => difference(&below(key), value, other),
                None => Some((below(key), Some(value.clone()), None)),
            });
            of_a.or_else(|| {
                let added = b.iter().find(|(key, _)| a.get(key).is_none());
                added.map(|(key, value)| (below(key), None, Some(value.clone())))
            })
        }
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            a.iter().zip(b.iter()).enumerate().find_map(|(at, (a, b))| difference(&format!("{path}[{at}]"), a, b))
        }
        (a, b) => Some((path.to_owned(), Some(a.clone()), Some(b.clone()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Option<Arc<Map>> {
        match serde_json::from_str(text) {
            Ok(Value::Map(map)) => Some(map),
            _ => None,
        }
    }

    fn made(calls: &[(&str, &str)]) -> Vec<Made> {
        let call = |(at, (tool, written)): (usize, &(&str, &str))| Made {
            label: format!("1t{}", at + 1).into(),
            tool: (*tool).into(),
            args: args(written),
            written: (*written).into(),
        };
        calls.iter().enumerate().map(call).collect()
    }

    fn expected(calls: &[(&str, Option<&str>)]) -> Vec<Expected> {
        let call = |(tool, text): &(&str, Option<&str>)| Expected { tool: (*tool).into(), args: text.and_then(args) };
        calls.iter().map(call).collect()
    }

    type Calls<'c> = &'c [(&'c str, &'c str)];

    #[test]
    fn modes_say_what_may_be_missing_more_or_elsewhere() {
        use CallMode::{Strict, Subset, Superset, Unordered};
        let wanted = expected(&[("a", Some(r#"{"n":1}"#)), ("b", None)]);
        let cases: [(Calls<'_>, [bool; 4]); 7] = [
            (&[("a", r#"{"n":1.0}"#), ("b", "{}")], [true, true, true, true]),
            (&[("b", "{}"), ("a", r#"{"n":1}"#)], [false, true, true, true]),
            (&[("a", r#"{"n":1}"#)], [false, false, true, false]),
            (&[("a", r#"{"n":1}"#), ("b", "{}"), ("b", "{}")], [false, false, false, true]),
            (&[("a", r#"{"n":2}"#), ("b", "{}")], [false, false, false, false]),
            (&[], [false, false, true, false]),
            (&[("a", "no JSON"), ("b", "{}")], [false, false, false, false]),
        ];
        for (calls, holds) in cases {
            let seen = [Strict, Unordered, Subset, Superset].map(|mode| compare(&wanted, &made(calls), mode).holds);
            assert_eq!(seen, holds, "{calls:?}");
        }
    }

    #[test]
    fn as_many_calls_are_matched_as_can_be() {
        // The one that takes anything must leave the first call to the one that needs it.
        let wanted = expected(&[("a", None), ("a", Some(r#"{"n":1}"#))]);
        let calls = made(&[("a", r#"{"n":1}"#), ("a", r#"{"n":2}"#)]);
        assert!(compare(&wanted, &calls, CallMode::Unordered).holds);
        let strict = compare(&wanted, &calls, CallMode::Strict);
        assert_eq!((strict.holds, strict.wrong), (false, Some(1)));
        assert_eq!(strict.reason, "the calls come in another order; precision 1, recall 1, F1 1");
    }

    #[test]
    fn the_reason_names_the_calls_and_the_shares() {
        let wanted = expected(&[("a", Some(r#"{"n":1}"#)), ("b", None)]);
        let seen = compare(&wanted, &made(&[("a", r#"{"n":1}"#), ("c", "{}"), ("d", "oops")]), CallMode::Strict);
        assert_eq!(seen.reason, "missing b(…); not expected c(), d(oops); precision 0.333333, recall 0.5, F1 0.4");
        assert_eq!(seen.wrong, Some(1));
        assert_eq!(compare(&[], &[], CallMode::Strict).reason, "precision 1, recall 1, F1 1");
    }

    #[test]
    fn the_first_difference_has_a_path() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let (a, b) = (value(r#"{"x":{"y":[1,2]},"z":1}"#), value(r#"{"z":1.0,"x":{"y":[1,3]}}"#));
        let (path, a_has, b_has) = difference("", &a, &b).unwrap();
        assert_eq!((path.as_str(), a_has, b_has), ("x.y[1]", Some(Value::Int(2)), Some(Value::Int(3))));
        assert_eq!(difference("", &value(r#"{"a":1}"#), &value(r#"{"a":1,"b":2}"#)).unwrap().0, "b");
        assert_eq!(difference("", &a, &a), None);
    }
}
