//! Stage 2: names. Every role, scorer and gate is looked up; what is left refers to things that exist.

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::gate::Gate;
use aigo_ir::message::{ASSISTANT, USER};
use aigo_ir::span::{Origin, SourceMap, Span, Spanned};

use crate::ast::{Method, Step, Task, Verb};
use crate::catalog;

/// A task whose names refer to something.
pub(crate) struct Resolved {
    /// The task.
    pub(crate) task: Task,
    /// Its gates, read.
    pub(crate) gates: Vec<Gate>,
    /// Whether a step has an expectation.
    pub(crate) expects: bool,
    /// The roles that something asks; the same one may come more than once.
    pub(crate) asked: Vec<String>,
}

/// The judge's role unless the scorer names another.
pub(crate) const JUDGE: &str = "judge";

/// Looks names up.
pub(crate) fn resolve(task: Task, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Resolved {
    let mut resolver = Resolver { task: &task, diagnostics, expects: false, asked: Vec::new() };
    resolver.twice();
    resolver.steps(&task.solvers);
    for scorer in &task.scorers {
        match &scorer.method {
            Method::Judge(judge) => match &judge.model {
                Some(model) => resolver.role(&model.value, model.span, "this judge"),
                None => resolver.role(JUDGE, scorer.span, "a judge"),
            },
            Method::Check(check) => {
                if let Some(who) = &check.who
                    && ![ASSISTANT, USER].contains(&who.value.as_str())
                {
                    resolver.role(&who.value, who.span, "`who`");
                }
            }
        }
    }
    let (expects, asked) = (resolver.expects, resolver.asked);
    if task.scorers.is_empty() && !expects && !task.damaged && !task.scorers_damaged {
        let message = "the task scores nothing: it has neither scorers nor expectations";
        let help = "add a scorer: `scorers: [{name: no_price, check: {not_matches: '\\$\\s?\\d'}}]`";
        diagnostics.push(catalog::NOTHING_TO_SCORE.at(task.span, message).help(help));
    }
    let gates = gates(&task, expects, sources, diagnostics);
    Resolved { task, gates, expects, asked }
}

struct Resolver<'r> {
    task: &'r Task,
    diagnostics: &'r mut Diagnostics,
    expects: bool,
    asked: Vec<String>,
}

impl Resolver<'_> {
    fn role(&mut self, name: &str, span: Span, asker: &str) {
        self.asked.push(name.to_owned());
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

fn gates(task: &Task, expects: bool, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Vec<Gate> {
    let mut known: Vec<&str> = task.scorers.iter().map(|scorer| scorer.name.value.as_str()).collect();
    if expects {
        known.push(aigo_ir::program::EXPECTATIONS);
    }
    let mut found: Vec<Gate> = Vec::new();
    for written in &task.gates {
        match Gate::parse(&written.text.text) {
            Err(error) => {
                let at = written.text.locate(sources, error.range);
                diagnostics.push(catalog::BAD_GATE.at(at, error.message).maybe_help(error.help));
            }
            Ok((gate, range)) => {
                if !known.contains(&&*gate.scorer) && !task.damaged && !task.scorers_damaged {
                    let message = format!("the gate is over `{}`, and no scorer is called that", gate.scorer);
                    let at = written.text.locate(sources, range);
                    let help = diagnostic::suggest(&gate.scorer, known.clone());
                    diagnostics.push(catalog::UNKNOWN_SCORER.at(at, message).maybe_help(help));
                }
                found.push(Gate {
                    min_n: written.min_n.unwrap_or(gate.min_n),
                    max_missing: written.max_missing.unwrap_or(gate.max_missing),
                    origin: Origin::at(written.text.span),
                    ..gate
                });
            }
        }
    }
    // Expectations are promises: unless the task says otherwise, all must hold, also of one sample alone.
    if expects
        && !found.iter().any(|gate| &*gate.scorer == aigo_ir::program::EXPECTATIONS)
        && let Ok((gate, _)) = Gate::parse("rate(expectations) == 1")
    {
        found.push(Gate { min_n: 1, ..gate });
    }
    found
}
