//! Stage 2: names. Every role, scorer and gate is looked up; what is left refers to things that exist.

mod gates;
mod scorers;

use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::gate::Gate;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::{SourceMap, Span, Spanned};

use crate::ast::{Step, Task, Verb};
use crate::catalog;
use gates::Found;

/// A task whose names refer to something.
pub(crate) struct Resolved {
    /// The task.
    pub(crate) task: Task,
    /// Its gates, read.
    pub(crate) gates: Vec<Gate>,
    /// The fields by whose values gates group.
    pub(crate) by: Vec<Spanned<Arc<str>>>,
    /// Whether a step has an expectation.
    pub(crate) expects: bool,
}

/// The judge's role unless the scorer names another.
pub(crate) const JUDGE: &str = "judge";

/// Looks names up.
pub(crate) fn resolve(task: Task, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Resolved {
    let mut resolver = Resolver { task: &task, diagnostics, expects: false, labels: Vec::new() };
    resolver.twice();
    resolver.steps(&task.solvers);
    for scorer in &task.scorers {
        resolver.scorer(scorer);
    }
    let (expects, labels) = (resolver.expects, resolver.labels);
    scorers::labels(&task, &labels, diagnostics);
    if task.scorers.is_empty() && !expects && !task.damaged && !task.scorers_damaged {
        let message = "the task scores nothing: it has neither scorers nor expectations";
        let help = "add a scorer: `scorers: [{name: no_price, check: {not_matches: '\\$\\s?\\d'}}]`";
        diagnostics.push(catalog::NOTHING_TO_SCORE.at(task.span, message).help(help));
    }
    let Found { gates, by } = gates::gates(&task, expects, sources, diagnostics);
    Resolved { task, gates, by, expects }
}

struct Resolver<'r> {
    task: &'r Task,
    diagnostics: &'r mut Diagnostics,
    expects: bool,
    /// The labels of the steps that were looked at.
    labels: Vec<String>,
}

impl Resolver<'_> {
    fn role(&mut self, name: &str, span: Span, asker: &str) {
        if self.task.damaged || self.task.roles.iter().any(|role| role == name) {
            return;
        }
        let known: Vec<&str> = self.task.roles.iter().map(String::as_str).collect();
        let help = diagnostic::nearest(name, known)
            .map_or_else(|| format!("add it: `models: {{{name}: {{…}}}}`"), |near| format!("did you mean `{near}`?"));
        let message = format!("{asker} needs the role `{name}`, which `models` does not have");
        self.diagnostics.push(catalog::UNKNOWN_ROLE.at(span, message).help(help));
    }

    fn twice(&mut self) {
        let mut seen: Vec<&Spanned<String>> = Vec::new();
        for scorer in &self.task.scorers {
            if let Some(first) = seen.iter().find(|known| known.value == scorer.name.value) {
                let message = format!("a second scorer is called `{}`", scorer.name.value);
                self.diagnostics
                    .push(catalog::NAME_TWICE.at(scorer.name.span, message).related(first.span, "the first"));
            } else if scorer.name.value == aigo_ir::program::EXPECTATIONS {
                let message = "`expectations` is the name of what steps expect";
                self.diagnostics
                    .push(catalog::NAME_TWICE.at(scorer.name.span, message).help("give the scorer another name"));
            }
            seen.push(&scorer.name);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.expects |= !step.expect.is_empty();
            self.labels.extend(step.label.as_ref().map(|label| label.value.clone()));
            match &step.verb {
                Verb::Generate(Some(role)) => self.role(&role.value, role.span, "this step"),
                Verb::Generate(None) => self.role(ASSISTANT, step.span, "`generate`"),
                Verb::Script(_) => self.role(ASSISTANT, step.span, "`script`"),
                Verb::SimulateUser(_) => self.role(USER, step.span, "`simulate_user`"),
                Verb::Loop { steps, .. } => self.steps(steps),
                Verb::If { then, otherwise, .. } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                _ => {}
            }
        }
    }
}
