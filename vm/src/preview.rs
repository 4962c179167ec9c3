//! A look ahead: how far a trial comes with the answers that an earlier run has, before anybody is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::program::Player;
use aigo_machine::{Ask, Linked, Sample, Trial};

use crate::provider::scripted;
use crate::reuse::{Bar, Reusable};

/// A call that somebody has to be asked for.
pub struct Miss {
    /// The call.
    pub ask: Ask,
    /// Why no recorded answer will do.
    pub bar: Bar,
}

/// How far a trial comes.
pub struct Preview {
    /// The answers that are used again, by graph and role.
    pub reused: BTreeMap<(Arc<str>, Arc<str>), u64>,
    /// The first call of each lane that has to be made. What follows it nobody knows.
    pub misses: Vec<Miss>,
    /// Whether the conversation comes to its end without a new call.
    pub is_solved: bool,
}

/// Runs a trial over recorded answers and the task's own rules, and asks nobody.
pub(crate) fn preview(linked: &Arc<Linked>, sample: &Arc<Sample>, reusable: &Reusable) -> Preview {
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::clone(sample));
    let mut seen = Preview { reused: BTreeMap::new(), misses: Vec::new(), is_solved: false };
    while let Some(next) = pending.pop() {
        let ask = next.ask;
        let rules = match linked.role(&ask.request.role).map(|(role, _)| &role.player) {
            Some(Player::Scripted(rules)) if reusable.computes(&ask) => Some(rules),
            _ => None,
        };
        if let Some(rules) = rules {
            pending.extend(trial.answer(next.lane, scripted::answer(linked, rules, &ask)));
            continue;
        }
        match reusable.find(&ask) {
            Ok(held) => {
                let of = (Arc::clone(&ask.position.graph), Arc::clone(&ask.request.role));
                *seen.reused.entry(of).or_default() += 1;
                pending.extend(trial.answer(next.lane, held.answer.clone()));
            }
            Err(bar) => {
                pending.extend(
                    reusable.around(&ask).into_iter().flat_map(|held| trial.answer(next.lane, held.answer.clone())),
                );
                seen.misses.push(Miss { ask, bar });
            }
        }
    }
    seen.is_solved = trial.ending().is_some();
    seen
}
