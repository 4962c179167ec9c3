//! Scorers whose failure says that others looked at the wrong thing: a user that did not play its part says nothing of the
//! assistant, so the verdicts of those scorers are void, and neither good nor bad.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::program::{VOIDS, VOIDS_ALL};
use aigo_ir::value::Value;
use aigo_ir::verdict::{Outcome, Verdict};

use super::Trial;
use super::scored::whole;
use crate::lane::{GraphRef, Lane};
use crate::outcome::ScoreRow;

impl Trial {
    /// Keeps what a scorer that is through would void.
    pub(super) fn keep_voids(&mut self, at: usize, lane: &Lane) {
        let Some(shape) = self.linked.graph(GraphRef::Score(at)) else { return };
        let names = lane.slot(shape, VOIDS).and_then(Value::as_list).unwrap_or_default();
        let names: Vec<Arc<str>> = names.iter().filter_map(Value::as_str).map(Arc::from).collect();
        if !names.is_empty() {
            self.voids.insert(at, names);
        }
    }

    /// Puts `void` in the place of verdicts that a failed scorer takes the ground from. What does not apply stays so, and what
    /// a scorer voids depends on its own verdict alone, so two may void each other.
    pub(super) fn void_by_others(&self, scores: &mut Vec<ScoreRow>) {
        let of_all = |scores: &[ScoreRow], name: &str| {
            scores.iter().find(|row| row.turn.is_none() && &*row.scorer == name).map(|row| row.verdict.clone())
        };
        let mut reasons: BTreeMap<usize, String> = BTreeMap::new();
        for (&by, names) in &self.voids {
            let Some(failed) = self.scorer(by) else { continue };
            let Some(verdict) = of_all(scores, &failed.name).filter(|verdict| verdict.pass == Some(false)) else {
                continue;
            };
            for (at, scorer) in self.linked.program.scorers.iter().enumerate().filter(|(at, _)| *at != by) {
                let named = names.iter().any(|name| **name == *VOIDS_ALL || *name == scorer.name);
                let scored = of_all(scores, &scorer.name).is_some_and(|row| row.outcome != Outcome::NotApplicable);
                if named && scored {
                    reasons.entry(at).or_insert_with(|| format!("`{}` failed: {}", failed.name, verdict.reason));
                }
            }
        }
        for (at, reason) in reasons {
            let Some(scorer) = self.scorer(at) else { continue };
            scores.retain(|row| row.scorer != scorer.name);
            scores.push(whole(scorer, Verdict::without_value(Outcome::Void, reason)));
        }
    }
}
