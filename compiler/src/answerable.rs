//! Whether there is something to answer: a role is asked with what others have said since its last message, and a model that
//! is shown nothing, or its own words last, has no turn. Only what is certain before the run is told.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::Span;

use crate::catalog::NOBODY_TO_ANSWER;
use crate::typed::{Step, Verb};

/// Who spoke last, as far as it is certain.
#[derive(Clone, PartialEq)]
enum Last {
    Nobody,
    Role(String),
    /// It depends on the way that the conversation takes.
    Someone,
}

impl Last {
    fn or(&self, other: &Self) -> Self {
        if self == other { self.clone() } else { Self::Someone }
    }
}

/// Tells the steps that have nothing to answer. `whole` is their place where they have none.
pub(crate) fn check(steps: &[Step], whole: Span, found: &mut Diagnostics) {
    Walk { whole, found }.steps(steps, Last::Nobody);
}

struct Walk<'f> {
    whole: Span,
    found: &'f mut Diagnostics,
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[Step], before: Last) -> Last {
        steps.iter().fold(before, |last, step| {
            let after = self.step(step, &last);
            if step.when.is_some() { last.or(&after) } else { after }
        })
    }

    fn step(&mut self, step: &Step, last: &Last) -> Last {
        match &step.verb {
            Verb::System(_) | Verb::Stop { .. } | Verb::Set(_) => last.clone(),
            Verb::Say { author, .. } => Last::Role((*author).to_owned()),
            Verb::Generate { role } => {
                self.asked(step, role, last);
                Last::Role(role.to_string())
            }
            Verb::SimulateUser(_) => Last::Role(USER.to_owned()),
            Verb::Script(lines) if lines.is_empty() => last.clone(),
            Verb::Script(_) => Last::Role(ASSISTANT.to_owned()),
            // The first pass begins with what was before; later ones may begin with anything that the body leaves.
            Verb::Loop { until, steps, .. } => {
                let after = self.steps(steps, last.clone());
                if until.is_some() { last.or(&after) } else { after }
            }
            Verb::If { then, otherwise, .. } => {
                let yes = self.steps(then, last.clone());
                yes.or(&self.steps(otherwise, last.clone()))
            }
        }
    }

    fn asked(&mut self, step: &Step, role: &str, last: &Last) {
        let message = match last {
            Last::Nobody => format!("the role `{role}` has nothing to answer: nobody has spoken before this step"),
            Last::Role(name) if name == role => {
                format!("the role `{role}` has nothing to answer: nobody else has spoken since its last message")
            }
            _ => return,
        };
        let help = "put a `user` step before it, or a `simulate_user`";
        self.found.push(NOBODY_TO_ANSWER.at(step.origin.0.unwrap_or(self.whole), message).help(help));
    }
}
