//! Whether the scores of two runs were measured alike: by the same judges, with the same simulators.

use super::{Kind, Lock, Pin, moved};

/// What differs between two measurements, each a clause that stands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlike {
    /// Of judges: their models, rubrics, scales, what they are told.
    pub judges: Vec<String>,
    /// Of all else that conversations depend on beside the assistant: simulated users, personas, tools, limits.
    pub simulators: Vec<String>,
}

impl Unlike {
    /// Whether nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.judges.is_empty() && self.simulators.is_empty()
    }
}

/// The part of aigo's library that is no judge's.
const SIMULATED_USER: &str = "std/simulated_user";

/// What differs. The samples and what steps say as the user are not asked: scenarios are paired one by one, and those that were
/// edited are marked. What only one side has matters where every conversation depends on it: a new judged scorer or a new
/// persona changes no other score. `judges` are the roles that scorers ask; `is_compared` says whether a scorer is compared.
pub fn unlike(before: &Lock, after: &Lock, judges: &[String], is_compared: impl Fn(&str) -> bool) -> Unlike {
    let is_judges = |pin: &Pin| match pin.kind {
        Kind::Rubric | Kind::Scale | Kind::Anchors | Kind::Examples | Kind::Prompt | Kind::Scoring => true,
        Kind::Model => judges.iter().any(|role| **role == *pin.name),
        Kind::Library => *pin.name != *SIMULATED_USER,
        _ => false,
    };
    let of_scorer = |pin: &Pin| {
        matches!(pin.kind, Kind::Rubric | Kind::Scale | Kind::Anchors | Kind::Examples | Kind::Prompt | Kind::Scoring)
    };
    let has = |lock: &Lock, pin: &Pin| lock.pins.iter().any(|known| (known.kind, &known.name) == (pin.kind, &pin.name));
    let kept = |lock: &Lock, other: &Lock, of_judges: bool| {
        let keeps = |pin: &&Pin| {
            let is_whole = matches!(pin.kind, Kind::Simulator | Kind::Limits | Kind::World | Kind::Tool);
            !matches!(pin.kind, Kind::Dataset | Kind::Script)
                && is_judges(pin) == of_judges
                && (!of_scorer(pin) || is_compared(&pin.name))
                && (is_whole || has(other, pin))
        };
        Lock { pins: lock.pins.iter().filter(keeps).cloned().collect() }
    };
    let differs = |of_judges| {
        let moves = moved(&kept(before, after, of_judges), &kept(after, before, of_judges));
        moves.into_iter().map(|one| one.what).collect()
    };
    Unlike { judges: differs(true), simulators: differs(false) }
}
