//! Scorers: the roles that they ask, and the labels at which they score.

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::{Span, Spanned};

use super::{JUDGE, Walk};
use crate::ast::{GraphStep, GraphVerb, Judge, Method, Scorer, Task};
use crate::catalog;

impl Walk<'_> {
    pub(crate) fn scorer(&mut self, scorer: &Scorer) {
        let before = self.asks.len();
        self.method(scorer);
        // The judge may stand in another file; the task's own place is the one to change.
        if let Some(used) = &scorer.used {
            for asked in self.asks.iter_mut().skip(before) {
                (asked.span, asked.is_named) = (used.name.span, false);
            }
        }
    }

    fn method(&mut self, scorer: &Scorer) {
        match &scorer.method {
            Method::Judge(judge) => self.judge(judge, scorer.span),
            Method::Check(check) => {
                if let Some(who) = &check.who
                    && ![ASSISTANT, USER].contains(&who.value.as_str())
                {
                    self.ask(&who.value, who.span, "`who`");
                }
            }
            Method::Graph(graph) => self.graph(&graph.steps),
            Method::Use(_) => {}
        }
    }

    pub(super) fn judge(&mut self, judge: &Judge, span: Span) {
        for role in &judge.panel {
            self.ask(&role.value, role.span, "this panel");
        }
        match &judge.model {
            Some(model) => self.ask(&model.value, model.span, "this judge"),
            None if judge.panel.is_empty() => self.ask(JUDGE, span, "a judge"),
            None => {}
        }
    }

    fn graph(&mut self, steps: &[GraphStep]) {
        for step in steps {
            match &step.verb {
                GraphVerb::Judge(judge) => self.judge(judge, step.span),
                GraphVerb::Extract { model, who, .. } => {
                    match model {
                        Some(model) => self.ask(&model.value, model.span, "`extract`"),
                        None => self.ask(JUDGE, step.span, "`extract`"),
                    }
                    if let Some(who) = who.as_ref().filter(|who| ![ASSISTANT, USER].contains(&who.value.as_str())) {
                        self.ask(&who.value, who.span, "`who`");
                    }
                }
                GraphVerb::Each { steps, .. } => self.graph(steps),
                GraphVerb::If { then, otherwise, .. } => {
                    self.graph(then);
                    self.graph(otherwise);
                }
                GraphVerb::Set(_) | GraphVerb::Score(_) => {}
            }
        }
    }
}

/// Reports the scorers that score at a label that no step has. `known` are the labels of all steps.
pub(crate) fn labels(task: &Task, known: &[String], diagnostics: &mut Diagnostics) {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    for at in task.scorers.iter().filter_map(|scorer| scorer.at.as_ref()) {
        if !known.contains(&at.value.as_str()) {
            diagnostics.push(unknown_label(at, &known));
        }
    }
}

fn unknown_label(at: &Spanned<String>, known: &[&str]) -> diagnostic::Diagnostic {
    let message = format!("the scorer scores at `{}`, and no step has that label", at.value);
    let found = catalog::UNKNOWN_LABEL.at(at.span, message);
    match diagnostic::nearest(&at.value, known.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), at.span, near),
        None if known.is_empty() => found.help(format!("name a step: `- generate: {{as: {}}}`", at.value)),
        None => found.maybe_help(diagnostic::suggest(&at.value, known.to_vec())),
    }
}
