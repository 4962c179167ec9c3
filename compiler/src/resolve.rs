//! Stage 2: names. Every role, scorer and gate is looked up; what is left refers to things that exist.

mod gates;
mod scorers;

use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::gate::Gate;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::{SourceMap, Span, Spanned};

use crate::ast::{self, Samples, Step, Task, Verb};
use crate::catalog;
use crate::define::{self, Scope};
use crate::library::standard;
use gates::Found;

/// A task whose names refer to something.
pub(crate) struct Resolved {
    /// The task.
    pub(crate) task: Task,
    /// Its gates, read.
    pub(crate) gates: Vec<Gate>,
    /// The fields by whose values gates group.
    pub(crate) by: Vec<Spanned<Arc<str>>>,
    /// The tags by which gates choose samples.
    pub(crate) tags: Vec<Spanned<String>>,
    /// Gates over more epochs than the task runs, each with its number: recordings may bring as many.
    pub(crate) epochs: Vec<(u32, Diagnostic)>,
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
    /// Whether the role's name stands at the place.
    pub(crate) is_named: bool,
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
    /// Whether a user is simulated.
    pub(crate) simulates: bool,
}

impl<'s> Walk<'s> {
    pub(crate) const fn new(scope: &'s Scope) -> Self {
        Self { scope, asks: Vec::new(), expects: false, checkpoints: Vec::new(), labels: Vec::new(), simulates: false }
    }

    fn ask(&mut self, role: &str, span: Span, asker: &'static str) {
        let is_named = matches!(asker, "this step" | "this judge" | "`who`");
        self.asks.push(Asked { role: role.to_owned(), span, asker, is_named });
    }

    pub(crate) fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.expects |= !step.expect.is_empty();
            self.labels.extend(step.label.as_ref().map(|label| label.value.clone()));
            match &step.verb {
                Verb::Generate { role: Some(role), .. } => self.ask(&role.value, role.span, "this step"),
                Verb::Generate { role: None, .. } => self.ask(ASSISTANT, step.span, "`generate`"),
                Verb::Script(_) => self.ask(ASSISTANT, step.span, "`script`"),
                Verb::SimulateUser(_) => {
                    self.simulates = true;
                    self.ask(USER, step.span, "`simulate_user`");
                }
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
                    self.asks.extend(asks.map(|asked| Asked {
                        span: used.name.span,
                        is_named: false,
                        ..asked.clone()
                    }));
                    self.expects |= defined.expects;
                    self.simulates |= defined.simulates;
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
pub(crate) fn uses_of_scorer<'a>(scorer: Option<&'a ast::Scorer>, names: &mut Vec<&'a Spanned<String>>) {
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
    if let Some(language) = task.language.as_ref().filter(|_| !walk.simulates && !task.damaged) {
        let message = "`language` is what simulated users write, and the task simulates none";
        let help = "remove it, or simulate the user: `- simulate_user: {goal: …}`";
        diagnostics.push(catalog::BAD_VALUE.at(language.span, message).help(help));
    }
    let Walk { asks, expects, mut checkpoints, labels, .. } = walk;
    checkpoints.dedup_by(|a, b| a.name.span == b.name.span);
    let mut resolver = Resolver { task: &task, diagnostics };
    for asked in &asks {
        resolver.role(asked);
    }
    let checkpoints = resolver.checkpoints(checkpoints);
    resolver.twice(&checkpoints);
    resolver.probes(scope, &checkpoints);
    scorers::labels(&task, &labels, resolver.diagnostics);
    let asked = asks.into_iter().map(|asked| asked.role).collect();
    let scores = expects || !checkpoints.is_empty() || !task.scorers.is_empty();
    if !scores && !task.damaged && !task.scorers_damaged && task.steps_mistaken == 0 {
        let message = "the task scores nothing: it has neither scorers nor expectations";
        let help = "add a scorer: `scorers: [{name: no_price, check: {not_matches: '\\$\\s?\\d'}}]`";
        diagnostics.push(catalog::NOTHING_TO_SCORE.at(task.span, message).help(help));
    }
    no_steps(&task, diagnostics);
    let Found { gates, by, tags, epochs } = gates::gates(&task, expects, &checkpoints, sources, diagnostics);
    Resolved { task, gates, by, tags, epochs, expects, checkpoints, asked }
}

/// Rows of `dataset`, and scenarios without steps of their own, run the task's `solvers`.
fn no_steps(task: &Task, diagnostics: &mut Diagnostics) {
    if task.solvers_span.is_some() || task.damaged {
        return;
    }
    let runs = |source: &ast::Source| !matches!(source.samples, Samples::Scenarios(_) | Samples::Transcripts { .. });
    let rows = task.dataset.iter().find(|source| runs(source)).map(|source| source.span);
    let scenario = task.scenarios.iter().find(|scenario| scenario.solvers.is_none()).map(|scenario| scenario.id.span);
    if let Some(span) = rows.or(scenario) {
        let message = "these samples have no steps: the task has no `solvers`, and so nobody says anything";
        let help = "add `solvers: [{user: Hello.}, generate]`, with what the user says";
        diagnostics.push(catalog::MISSING_KEY.at(span, message).help(help));
    }
}

/// With the nearest known name as help, and as a fix where the name itself stands at the place.
pub(crate) fn meant<'k>(
    found: aigo_ir::diagnostic::Diagnostic,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str> + Clone,
) -> aigo_ir::diagnostic::Diagnostic {
    match diagnostic::nearest(name, known.clone()) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), span, near),
        None => found.maybe_help(diagnostic::suggest(name, known)),
    }
}

struct Resolver<'r> {
    task: &'r Task,
    diagnostics: &'r mut Diagnostics,
}

impl Resolver<'_> {
    fn role(&mut self, asked: &Asked) {
        let name = asked.role.as_str();
        if self.task.damaged || self.task.models_damaged || self.task.roles.iter().any(|role| role == name) {
            return;
        }
        let message = format!("{} needs the role `{name}`, which `models` does not have", asked.asker);
        let found = catalog::UNKNOWN_ROLE.at(asked.span, message);
        self.diagnostics.push(self.nearest_role(found, asked));
    }

    /// Which role was meant: the one that is asked is misspelt, or the one that `models` has.
    fn nearest_role(&self, found: aigo_ir::diagnostic::Diagnostic, asked: &Asked) -> aigo_ir::diagnostic::Diagnostic {
        let name = asked.role.as_str();
        let known: Vec<&str> = self.task.roles.iter().map(String::as_str).collect();
        let Some(near) = diagnostic::nearest(name, known) else {
            return found.help(format!("add it: `models: {{{name}: {{…}}}}`"));
        };
        let is_usual = |role: &str| [ASSISTANT, USER, JUDGE].contains(&role);
        let role = self.task.models.iter().map(|model| &model.role).find(|role| role.value == near);
        match role.filter(|_| is_usual(name) && !is_usual(near)) {
            Some(role) => found
                .related(role.span, "the role that was probably meant")
                .help(format!("call the role `{name}` in `models`"))
                .fix(format!("write `{name}`"), role.span, name),
            None if asked.is_named => {
                found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), asked.span, near)
            }
            None => found.help(format!("did you mean `{near}`?")),
        }
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
        known.extend(standard::scorers());
        let damaged = self.task.damaged || self.task.scorers_damaged || scope.damaged;
        let probes = self.task.define.personas.iter().flat_map(|persona| &persona.probes);
        for probe in probes.filter(|probe| !damaged && !known.contains(&probe.value.as_str())) {
            let message = format!("the persona probes `{}`, and no scorer is called that", probe.value);
            let found = catalog::UNKNOWN_SCORER.at(probe.span, message);
            self.diagnostics.push(meant(found, &probe.value, probe.span, known.iter().copied()));
        }
    }

    fn twice(&mut self, checkpoints: &[Checkpoint]) {
        let mut seen: Vec<&Spanned<String>> = checkpoints.iter().map(|checkpoint| &checkpoint.name).collect();
        for scorer in &self.task.scorers {
            if let Some(first) = seen.iter().find(|known| known.value == scorer.name.value) {
                let message = format!("a second scorer is called `{}`", scorer.name.value);
                self.diagnostics.push(
                    catalog::NAME_TWICE
                        .at(scorer.name.span, message)
                        .related(first.span, "the first")
                        .help("give it another name"),
                );
            } else if scorer.name.value == aigo_ir::program::EXPECTATIONS {
                let message = "`expectations` is the name of what steps expect";
                self.diagnostics
                    .push(catalog::NAME_TWICE.at(scorer.name.span, message).help("give the scorer another name"));
            }
            seen.push(&scorer.name);
        }
    }
}
