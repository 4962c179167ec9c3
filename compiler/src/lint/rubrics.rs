//! Rubrics: `several_dimensions`, `unanchored_scale`, `vague_rubric`. What they say of a judge does not depend on who uses it.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::{SourceMap, Span};
use aigo_ir::template;
use aigo_ir::verdict::Scale;

use super::{Linted, words};
use crate::ast::{self, GraphVerb, Judge, Method, Step, Verb};
use crate::catalog;

/// The judges of a task that are not a definition's.
pub(super) fn of_task(linted: &Linted<'_>, found: &mut Diagnostics) {
    let task = linted.task();
    let mut reader = Reader { sources: linted.sources, found };
    for scorer in task.scorers.iter().filter(|scorer| scorer.used.is_none()) {
        reader.scorer(scorer);
    }
    reader.steps(&task.solvers);
    for steps in task.scenarios.iter().filter_map(|scenario| scenario.solvers.as_ref()) {
        reader.steps(steps);
    }
}

/// The judges of definitions.
pub(super) fn of_definitions(define: &ast::Define, sources: &SourceMap, found: &mut Diagnostics) {
    let mut reader = Reader { sources, found };
    define.scorers.iter().filter_map(|defined| defined.body.as_ref()).for_each(|scorer| reader.scorer(scorer));
    define.solvers.iter().for_each(|defined| reader.steps(&defined.body));
}

struct Reader<'r> {
    sources: &'r SourceMap,
    found: &'r mut Diagnostics,
}

impl Reader<'_> {
    fn scorer(&mut self, scorer: &ast::Scorer) {
        match &scorer.method {
            Method::Judge(judge) => self.judge(judge, scorer.span),
            Method::Graph(graph) => self.graph(&graph.steps),
            Method::Check(_) | Method::Use(_) => {}
        }
    }

    fn graph(&mut self, steps: &[ast::GraphStep]) {
        for step in steps {
            match &step.verb {
                GraphVerb::Judge(judge) => self.judge(judge, step.span),
                GraphVerb::Each { steps, .. } => self.graph(steps),
                GraphVerb::If { then, otherwise, .. } => {
                    self.graph(then);
                    self.graph(otherwise);
                }
                GraphVerb::Extract { .. } | GraphVerb::Set(_) | GraphVerb::Score(_) => {}
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.verb {
                Verb::Judge(judge) => self.judge(judge, step.span),
                Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => self.steps(steps),
                Verb::If { then, otherwise, .. } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                _ => {}
            }
        }
    }

    /// `verb` is where `judge` stands.
    fn judge(&mut self, judge: &Judge, verb: Span) {
        self.anchors(judge, verb);
        let rubric = &judge.rubric;
        if let Some((names, range)) = words::dimensions(&rubric.text) {
            let list = join(&names);
            let message = format!("this judge is asked for {list} at once, and gives one number for all of them");
            let help = format!("write a judge for each, so that a red gate says which: {list}");
            let at = rubric.locate(self.sources, range);
            self.found.push(catalog::SEVERAL_DIMENSIONS.at(at, message).help(help));
        } else if template::is_literal(rubric.text.trim_end())
            && let Some(praise) = words::only_praise(&rubric.text)
        {
            let said = praise.iter().filter_map(|range| rubric.text.get(range.clone())).map(|word| format!("`{word}`"));
            let said: Vec<String> = said.collect();
            let message = match said.as_slice() {
                [] => "the rubric names nothing that a judge could look for".to_owned(),
                [one] => format!("the rubric does not say what {one} means: every judge fills it in anew"),
                many => {
                    format!("the rubric does not say what {} mean: every judge fills them in anew", many.join(" and "))
                }
            };
            let at = praise.first().map_or(rubric.span, |range| rubric.locate(self.sources, range.clone()));
            let help = "say what one sees in the conversation when it holds: `The assistant names the plan that the user is on.`";
            self.found.push(catalog::VAGUE_RUBRIC.at(at, message).help(help));
        }
    }

    fn anchors(&mut self, judge: &Judge, verb: Span) {
        let Scale::Range(low, high) = judge.scale else { return };
        // Two verdicts on other conversations fix the scale as anchors do.
        if !judge.anchors.is_empty() || judge.examples.len() > 1 {
            return;
        }
        let message =
            format!("nothing says what {low} and {high} mean on this scale, so each judge has a scale of its own");
        let help = format!(
            "add `anchors: {{{low}: …, {high}: …}}` beside the rubric, or ask a question of yes or no: `scale: boolean`"
        );
        self.found.push(catalog::UNANCHORED_SCALE.at(verb, message).help(help));
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn join(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
