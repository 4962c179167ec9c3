//! The names of one task, for a schema that knows it.

use crate::ast::{Step, Task, Verb};
use crate::dataset::Profile;
use crate::define::Scope;
use crate::library::standard;
use crate::shape::Names;

/// What a task calls its things. Each list is without doubles.
#[derive(Clone, Debug, Default)]
pub struct Known {
    roles: Vec<String>,
    labels: Vec<String>,
    scorers: Vec<String>,
    defined_scorers: Vec<String>,
    defined_solvers: Vec<String>,
    personas: Vec<String>,
    tools: Vec<String>,
    fields: Vec<String>,
    tags: Vec<String>,
}

impl Known {
    /// The names of a task that was read, also of one with mistakes.
    pub(crate) fn of(task: &Task, scope: &Scope, profile: Option<&Profile>) -> Self {
        let mut known = Self { roles: task.roles.clone(), ..Self::default() };
        // What these two say can be read in a transcript that nobody plays.
        known.roles.extend(["assistant", "user"].map(str::to_owned));
        let definitions = task.define.solvers.iter().map(|one| &one.body);
        let scenarios = task.scenarios.iter().filter_map(|scenario| scenario.solvers.as_ref());
        for steps in std::iter::once(&task.solvers).chain(scenarios).chain(definitions) {
            known.steps(steps);
        }
        known.scorers.extend(task.scorers.iter().map(|scorer| scorer.name.value.clone()));
        known.defined_scorers = scope.scorers.keys().filter(|name| !name.contains('@')).cloned().collect();
        known.defined_scorers.extend(standard::scorers().map(str::to_owned));
        known.defined_scorers.extend(task.define.scorers.iter().map(|one| one.name.value.clone()));
        known.defined_solvers = scope.solvers.keys().cloned().collect();
        known.defined_solvers.extend(task.define.solvers.iter().map(|one| one.name.value.clone()));
        known.personas = scope.personas.keys().cloned().collect();
        known.personas.extend(standard::personas().map(str::to_owned));
        known.personas.extend(task.define.personas.iter().map(|one| one.name.value.clone()));
        known.tools = task.tools.iter().map(|tool| tool.name.value.clone()).collect();
        if let Some(profile) = profile {
            known.fields = profile.joined().fields().iter().map(|field| field.name.to_string()).collect();
            known.tags = profile.tags.iter().flatten().cloned().collect();
        }
        known.fields.extend(task.fields.iter().map(|field| field.name.value.to_string()));
        known.without_doubles()
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            let label = step.label.iter().map(|label| label.value.clone());
            match &step.verb {
                Verb::Judge(_) => self.scorers.extend(label),
                _ => self.labels.extend(label),
            }
            if !step.expect.is_empty() {
                self.scorers.push("expectations".to_owned());
            }
            match &step.verb {
                Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => self.steps(steps),
                Verb::If { then, otherwise, .. } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                _ => {}
            }
        }
    }

    fn without_doubles(mut self) -> Self {
        let lists = [
            &mut self.roles,
            &mut self.labels,
            &mut self.scorers,
            &mut self.defined_scorers,
            &mut self.defined_solvers,
            &mut self.personas,
            &mut self.tools,
            &mut self.fields,
            &mut self.tags,
        ];
        for list in lists {
            list.sort();
            list.dedup();
        }
        self
    }

    /// The names of a sort.
    pub(crate) fn names(&self, of: Names) -> &[String] {
        match of {
            Names::New => &[],
            Names::Role => &self.roles,
            Names::Label => &self.labels,
            Names::Scorer => &self.scorers,
            Names::DefinedScorer => &self.defined_scorers,
            Names::DefinedSolvers => &self.defined_solvers,
            Names::Persona => &self.personas,
            Names::Tool => &self.tools,
            Names::Field => &self.fields,
            Names::Tag => &self.tags,
        }
    }
}
