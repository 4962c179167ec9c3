//! Whether everyone who is asked has something to answer. A role is shown its own words as its own, so it can only be asked
//! when somebody else has spoken last; where that is surely not so, the step is reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::Span;

use crate::catalog;
use crate::typed::{Lines, Step, Verb};

/// Who may have spoken last: none stands for nobody yet. Empty where no way leads.
type Last = BTreeSet<Option<Arc<str>>>;

/// Reports the steps that ask a role that has nothing to answer. `whole` is where a step stands that has no place.
pub(crate) fn check(steps: &[Step], whole: Span, found: &mut Diagnostics) {
    let mut walk = Walk { found: Some(found), whole, breaks: Vec::new() };
    walk.steps(steps, Last::from([None]));
}

struct Walk<'f> {
    /// None while a loop is gone through again: its first pass has been reported.
    found: Option<&'f mut Diagnostics>,
    whole: Span,
    /// Per open loop: who may have spoken last where it is left from inside.
    breaks: Vec<Last>,
}

fn spoke(role: &str) -> Last {
    Last::from([Some(role.into())])
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[Step], last: Last) -> Last {
        steps.iter().fold(last, |last, step| self.step(step, last))
    }

    fn step(&mut self, step: &Step, last: Last) -> Last {
        let skipped = if step.when.is_some() { last.clone() } else { Last::new() };
        let mut after = self.verb(step, last);
        after.extend(skipped);
        after
    }

    fn verb(&mut self, step: &Step, last: Last) -> Last {
        match &step.verb {
            Verb::System(_) | Verb::Set(_) | Verb::Capture(_) | Verb::Judge { .. } => last,
            // What is appended may end with anyone.
            Verb::History(_) => Last::from([Some(USER.into()), Some(ASSISTANT.into())]),
            Verb::Use { steps, .. } => self.steps(steps, last),
            Verb::Say { author, .. } => spoke(author),
            Verb::Generate { role, .. } => {
                self.asked(step, role, &last);
                spoke(role)
            }
            Verb::Script(Lines::Texts(lines)) if lines.is_empty() => last,
            Verb::Script(Lines::Texts(_)) => spoke(ASSISTANT),
            Verb::Script(Lines::Expression(_)) => {
                let mut after = spoke(ASSISTANT);
                after.extend(last);
                after
            }
            Verb::SimulateUser(_) => {
                // A user that leaves may have said something, or nothing.
                if let Some(breaks) = self.breaks.last_mut() {
                    breaks.extend(last);
                    breaks.extend(spoke(USER));
                }
                spoke(USER)
            }
            Verb::If { then, otherwise, .. } => {
                let mut after = self.steps(then, last.clone());
                after.extend(self.steps(otherwise, last));
                after
            }
            Verb::Stop { when, only_loop } => {
                if let (true, Some(breaks)) = (*only_loop, self.breaks.last_mut()) {
                    breaks.extend(last.clone());
                }
                if when.is_some() { last } else { Last::new() }
            }
            Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => self.passes(steps, last),
        }
    }

    fn passes(&mut self, steps: &[Step], entry: Last) -> Last {
        self.breaks.push(Last::new());
        let mut head = entry;
        let mut after = self.steps(steps, head.clone());
        let found = self.found.take();
        // There are only as many speakers as roles, so this ends.
        while !after.is_subset(&head) {
            head.extend(after);
            after = self.steps(steps, head.clone());
        }
        self.found = found;
        head.extend(self.breaks.pop().unwrap_or_default());
        head
    }

    fn asked(&mut self, step: &Step, role: &Arc<str>, last: &Last) {
        let nothing = !last.is_empty() && last.iter().all(|spoke| spoke.as_ref().is_none_or(|spoke| spoke == role));
        if let (true, Some(found)) = (nothing, &mut self.found) {
            let message = if last.contains(&None) {
                format!("`{role}` is asked here, and nobody has said anything that it could answer")
            } else {
                format!("`{role}` is asked here, and nobody else has spoken since its last message")
            };
            let help = "say something as the user first: `- user: …`, or `- simulate_user: {goal: …}`";
            found.push(catalog::NOBODY_TO_ANSWER.at(step.origin.0.unwrap_or(self.whole), message).help(help));
        }
    }
}
