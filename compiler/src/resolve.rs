//! Stage 2: names. Every role, scorer and gate is looked up; what is left refers to things that exist.

mod gates;
mod scorers;

use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::gate::Gate;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::{SourceMap, Span, Spanned};

use crate::ast::{self, Samples, Step, Task, Verb};
use crate::catalog;
use crate::define::{self, Scope};
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
    /// Its checkpoints, each name once.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// The roles that something asks; the same one may come more than once.
    pub(crate) asked: Vec<String>,
}

/// The judge's role unless the scorer names another.
pub(crate) const JUDGE: &str = "judge";

/// A role that a step asks.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The role.
    pub(crate) role: String,
    /// Where it is asked.
    pub(crate) span: Span,
    /// Who asks, as messages say it.
    pub(crate) asker: &'static str,
}

/// A judge's verdict as a step.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    /// What gates call it.
    pub(crate) name: Spanned<String>,
    /// The judge.
    pub(crate) judge: ast::Judge,
}

/// What steps ask, expect and score, those of the definitions that they use included.
pub(crate) struct Walk<'s> {
    scope: &'s Scope,
    pub(crate) asks: Vec<Asked>,
    pub(crate) expects: bool,
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// The labels of the steps that were looked at.
    labels: Vec<String>,
}

impl<'s> Walk<'s> {
    pub(crate) const fn new(scope: &'s Scope) -> Self {
        Self { scope, asks: Vec::new(), expects: false, checkpoints: Vec::new(), labels: Vec::new() }
    }

    fn ask(&mut self, role: &str, span: Span, asker: &'static str) {
        self.asks.push(Asked { role: role.to_owned(), span, asker });
    }

    pub(crate) fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.expects |= !step.expect.is_empty();
            self.labels.extend(step.label.as_ref().map(|label| label.value.clone()));
            match &step.verb {
                Verb::Generate { role: Some(role), .. } => self.ask(&role.value, role.span, "this step"),
                Verb::Generate { role: None, .. } => self.ask(ASSISTANT, step.span, "`generate`"),
                Verb::Script(_) => self.ask(ASSISTANT, step.span, "`script`"),
                Verb::SimulateUser(_) => self.ask(USER, step.span, "`simulate_user`"),
                Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => self.steps(steps),
                Verb::If { then, otherwise, .. } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                Verb::Judge(judge) => {
                    self.judge(judge, step.span);
                    if let Some(name) = &step.label {
                        self.checkpoints.push(Checkpoint { name: name.clone(), judge: (**judge).clone() });
                    }
                }
                Verb::Use(used) => {
                    let Some(defined) = self.scope.solvers.get(&used.name.value) else { continue };
                    // The step that asks may stand in another file; the task's own place is the one to change.
                    let asks = defined.asks.iter();
                    self.asks.extend(asks.map(|asked| Asked { span: used.name.span, ..asked.clone() }));
                    self.expects |= defined.expects;
                    self.checkpoints.extend(defined.checkpoints.iter().cloned());
                }
                _ => {}
            }
        }
    }
}

/// The names of the definitions that steps use.
pub(crate) fn uses_of_steps<'a>(steps: &'a Vec<Step>, names: &mut Vec<&'a Spanned<String>>) {
    for step in steps {
        match &step.verb {
            Verb::Use(used) => names.push(&used.name),
            Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => uses_of_steps(steps, names),
            Verb::If { then, otherwise, .. } => {
                uses_of_steps(then, names);
                uses_of_steps(otherwise, names);
            }
            _ => {}
        }
    }
}

/// The name of the definition that a scorer uses.
pub(crate) fn uses_of_scorer<'a>(scorer: &'a Option<ast::Scorer>, names: &mut Vec<&'a Spanned<String>>) {
    if let Some(ast::Scorer { method: ast::Method::Use(used), .. }) = scorer {
        names.push(&used.name);
    }
}

/// Looks names up.
pub(crate) fn resolve(mut task: Task, scope: &Scope, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Resolved {
    let written = task.scorers.len();
    let scorers = std::mem::take(&mut task.scorers).into_iter();
    task.scorers = scorers.filter_map(|scorer| define::in_place(scorer, scope, diagnostics)).collect();
    task.scorers_damaged |= task.scorers.len() < written;
    let mut walk = Walk::new(scope);
    walk.steps(&task.solvers);
    for scenario in &task.scenarios {
        walk.steps(scenario.solvers.as_deref().unwrap_or_default());
    }
    task.scorers.iter().for_each(|scorer| walk.scorer(scorer));
    for source in &task.dataset {
        if matches!(source.samples, Samples::Transcripts { each_turn: true, .. }) {
            walk.ask(ASSISTANT, source.span, "`continue: each_turn`");
        }
    }
    let Walk { asks, expects, mut checkpoints, labels, .. } = walk;
    checkpoints.dedup_by(|a, b| a.name.span == b.name.span);
    let mut resolver = Resolver { task: &task, diagnostics };
    asks.iter().for_each(|asked| resolver.role(asked));
    let checkpoints = resolver.checkpoints(checkpoints);
    resolver.twice(&checkpoints);
    resolver.probes(scope, &checkpoints);
    scorers::labels(&task, &labels, resolver.diagnostics);
    let asked = asks.into_iter().map(|asked| asked.role).collect();
    let scores = expects || !checkpoints.is_empty() || !task.scorers.is_empty();
    if !scores && !task.damaged && !task.scorers_damaged {
        let message = "the task scores nothing: it has neither scorers nor expectations";
        let help = "add a scorer: `scorers: [{name: no_price, check: {not_matches: '\\$\\s?\\d'}}]`";
        diagnostics.push(catalog::NOTHING_TO_SCORE.at(task.span, message).help(help));
    }
    let Found { gates, by } = gates::gates(&task, expects, &checkpoints, sources, diagnostics);
    Resolved { task, gates, by, expects, checkpoints, asked }
}

struct Resolver<'r> {
    task: &'r Task,
    diagnostics: &'r mut Diagnostics,
}

impl Resolver<'_> {
    fn role(&mut self, asked: &Asked) {
        let name = asked.role.as_str();
        if self.task.damaged || self.task.roles.iter().any(|role| role == name) {
            return;
        }
        let known: Vec<&str> = self.task.roles.iter().map(String::as_str).collect();
        let near = diagnostic::nearest(name, known);
        let help = near
            .map_or_else(|| format!("add it: `models: {{{name}: {{…}}}}`"), |near| format!("did you mean `{near}`?"));
        let message = format!("{} needs the role `{name}`, which `models` does not have", asked.asker);
        self.diagnostics.push(catalog::UNKNOWN_ROLE.at(asked.span, message).help(help));
    }

    /// Each checkpoint once: several steps may give verdicts of one name, if they are on one scale.
    fn checkpoints(&mut self, all: Vec<Checkpoint>) -> Vec<Checkpoint> {
        let mut found: Vec<Checkpoint> = Vec::new();
        for one in all {
            match found.iter().find(|known| known.name.value == one.name.value) {
                None => found.push(one),
                Some(first) if first.judge.scale == one.judge.scale && first.judge.evidence == one.judge.evidence => {}
                Some(first) => {
                    let message = format!("another checkpoint `{}` is on another scale", one.name.value);
                    let diagnostic = catalog::NAME_TWICE.at(one.name.span, message);
                    self.diagnostics
                        .push(diagnostic.related(first.name.span, "the first").help("give it another name"));
                }
            }
        }
        found
    }

    /// What personas probe are scorers of the task, or scorers that it could use.
    fn probes(&mut self, scope: &Scope, checkpoints: &[Checkpoint]) {
        let mut known: Vec<&str> = self.task.scorers.iter().map(|scorer| scorer.name.value.as_str()).collect();
        known.extend(checkpoints.iter().map(|checkpoint| checkpoint.name.value.as_str()));
        known.extend(scope.scorers.keys().map(String::as_str));
        let damaged = self.task.damaged || self.task.scorers_damaged || scope.damaged;
        let probes = self.task.define.personas.iter().flat_map(|persona| &persona.probes);
        for probe in probes.filter(|probe| !damaged && !known.contains(&probe.value.as_str())) {
            let message = format!("the persona probes `{}`, and no scorer is called that", probe.value);
            let help = diagnostic::suggest(&probe.value, known.iter().copied());
            self.diagnostics.push(catalog::UNKNOWN_SCORER.at(probe.span, message).maybe_help(help));
        }
    }

    fn twice(&mut self, checkpoints: &[Checkpoint]) {
        let mut seen: Vec<&Spanned<String>> = checkpoints.iter().map(|checkpoint| &checkpoint.name).collect();
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
}
