//! Stage 3: types. Expressions and templates are read and checked against what the samples have and the steps bind.

mod gates;
mod models;
mod paths;
mod rename;
mod scorers;
mod states;
mod steps;
mod tools;
mod uses;

pub(crate) use scorers::{judges_of, roles_of};

use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostics, Row};
use aigo_ir::expr::Expr;
use aigo_ir::program::{self, Field};
use aigo_ir::span::{Origin, SourceMap, Span, Spanned};
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::typing::{self, Mistake, Names, TypeError};
use aigo_ir::value::Value;

use crate::ast::{self, Leaf};
use crate::catalog;
use crate::dataset::{Group, Profile};
use crate::define::{Parameter, Scope};
use crate::resolve::Resolved;
use crate::typed::{Solve, Task};

/// Types a task. Where not all samples could be read, names that are not known are no mistakes: they may be fields.
pub(crate) fn check(
    resolved: &Resolved,
    scope: &Scope,
    profile: &Profile,
    fields_known: bool,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Task {
    let task = &resolved.task;
    let all: Vec<Field> = fields_of(profile.joined());
    let state = task.state.as_ref().map(|state| state.value.clone());
    let mut checker = Checker {
        sources,
        found,
        group: profile.joined(),
        all: profile.joined(),
        fields_known,
        scope,
        names: Names::default(),
        bound: paths::Bound::default(),
        prefix: String::new(),
        of_check: false,
        language: task.language.as_ref(),
        paths: paths::Paths::default(),
        task: Some(task),
        lost: &task.lost,
    };
    checker.begin(&all, state.as_ref());
    let whole = checker.names.clone();
    let tools = task.tools.iter().map(|tool| checker.tool(tool)).collect();
    checker.names.clone_from(&whole);
    let mut solves = Vec::new();
    let rows = profile.group(crate::MAIN);
    let transcripts_only = profile.transcripts() != (false, false) && task.solvers.is_empty();
    if rows.is_some() || (task.scenarios.is_empty() && !transcripts_only) {
        let group = rows.unwrap_or(profile.joined());
        solves.push(checker.solve(crate::MAIN, group, task.solvers.iter(), task.span, &all, state.as_ref()));
    }
    for scenario in &task.scenarios {
        let name = format!("{}{}", crate::SCENARIO, scenario.id.value);
        let group = profile.group(&name).unwrap_or(&NO_FIELDS);
        let steps = steps_of(task, scenario);
        solves.push(checker.solve(&name, group, steps.into_iter(), scenario.id.span, &all, state.as_ref()));
    }
    checker.group = profile.joined();
    checker.names.clone_from(&whole);
    checker.bound = paths::Bound::default();
    checker.foresee([]);
    let scorers: Vec<_> = task.scorers.iter().filter_map(|scorer| checker.scorer(scorer)).collect();
    checker.void_names(task, &resolved.checkpoints, &scorers);
    checker.names.clone_from(&whole);
    checker.gates(&resolved.by);
    let checkpoints = resolved.checkpoints.iter().map(Checker::checkpoint).collect();
    let judges: Vec<&str> = task.scorers.iter().flat_map(scorers::judges_of).collect();
    let roles = checker.roles(task, &judges, &whole);
    checker.prices(task, &resolved.asked);
    let (setup, teardown) = checker.calls(task, &whole);
    Task {
        name: task.name.as_ref().map_or("", |name| name.value.as_str()).into(),
        seed: task.seed.unwrap_or(0),
        epochs: task.epochs.as_ref().map_or(1, |epochs| epochs.value),
        limits: task.limits.values.clone(),
        state,
        tools,
        fields: all,
        roles,
        setup,
        teardown,
        solves,
        expects: resolved.expects,
        personas: scope.personas.values().map(|persona| personas_of(persona)).collect(),
        checkpoints,
        scorers,
        gates: resolved.gates.clone(),
    }
}

fn fields_of(group: &Group) -> Vec<Field> {
    group.fields().iter().map(|field| Field { name: field.name.clone(), ty: field.ty.clone() }).collect()
}

fn personas_of(persona: &ast::Persona) -> program::Persona {
    program::Persona {
        name: persona.name.value.as_str().into(),
        must: persona.must.iter().map(|text| text.as_str().into()).collect(),
        probes: persona.probes.iter().map(|name| name.value.as_str().into()).collect(),
    }
}

/// The steps of a scenario: its own behind the task's leading instructions, unless it begins with its own; the task's where it
/// has none.
fn steps_of<'t>(task: &'t ast::Task, scenario: &'t ast::Scenario) -> Vec<&'t ast::Step> {
    let is_system = |step: &&ast::Step| matches!(step.verb, ast::Verb::System(_));
    let Some(own) = &scenario.solvers else { return task.solvers.iter().collect() };
    if own.iter().any(|step| is_system(&step)) {
        return own.iter().collect();
    }
    task.solvers.iter().take_while(is_system).chain(own).collect()
}

pub(crate) struct Checker<'c> {
    sources: &'c SourceMap,
    found: &'c mut Diagnostics,
    /// The samples that what is checked is for.
    group: &'c Group,
    /// All samples.
    all: &'c Group,
    /// Whether all samples could be read: otherwise a name may be a field of those that could not.
    fields_known: bool,
    /// What can be used by name.
    scope: &'c Scope,
    names: Names,
    bound: paths::Bound,
    /// What the slots of a definition begin with; empty in a task itself.
    prefix: String,
    /// Whether it is in the condition of a check, which has names of its own.
    of_check: bool,
    /// The task's `language`.
    language: Option<&'c Leaf>,
    /// On which paths names are bound.
    paths: paths::Paths,
    /// The task, for its tools and its state; none of a definition that others import, which may be of any task.
    task: Option<&'c ast::Task>,
    /// Names that steps bind which cannot be read.
    lost: &'c [String],
}

/// A dataset of nothing: what definitions are checked against.
static NO_FIELDS: Group = Group::empty();

impl<'c> Checker<'c> {
    /// A checker of a definition: of the sample nothing is known there but its id.
    pub(crate) fn of_definition(
        sources: &'c SourceMap,
        found: &'c mut Diagnostics,
        scope: &'c Scope,
        prefix: String,
        params: &[Parameter],
        task: Option<&'c ast::Task>,
    ) -> Self {
        let mut names = Names::always();
        for param in params {
            names.insert(param.name.value.as_str(), param.ty.clone());
        }
        let (group, all, bound) = (&NO_FIELDS, &NO_FIELDS, paths::Bound::default());
        Self {
            sources,
            found,
            group,
            all,
            fields_known: true,
            scope,
            names,
            bound,
            prefix,
            of_check: false,
            language: None,
            paths: paths::Paths::default(),
            task,
            lost: &[],
        }
    }

    /// The names at the beginning of a graph.
    fn begin(&mut self, fields: &[Field], state: Option<&Value>) {
        self.names = Names::always();
        self.bound = paths::Bound::default();
        self.names.extend_new(fields.iter().map(|field| (field.name.clone(), field.ty.clone())));
        if let Some(state) = state {
            self.names.insert("state", Type::of(state));
        }
    }

    /// How the samples of one kind proceed.
    fn solve<'s>(
        &mut self,
        name: &str,
        group: &'c Group,
        steps: impl Iterator<Item = &'s ast::Step>,
        origin: aigo_ir::span::Span,
        all: &[Field],
        state: Option<&Value>,
    ) -> Solve {
        self.group = group;
        let own = fields_of(group);
        self.begin(&own, state);
        let steps: Vec<&ast::Step> = steps.collect();
        self.foresee(steps.iter().copied());
        let steps = steps.into_iter().filter_map(|step| self.step(step)).collect();
        let differs = |field: &Field| !all.iter().any(|known| known.name == field.name && known.ty == field.ty);
        Solve { name: name.into(), fields: own.into_iter().filter(differs).collect(), steps, origin }
    }

    /// Reports the mistakes of a text; `unreadable` is the row of what cannot be read.
    fn report(&mut self, leaf: &Leaf, unreadable: &'static Row, errors: Vec<TypeError>) {
        for error in errors {
            if let Some(misplaced) = self.misplaced(leaf, &error) {
                self.found.push(misplaced);
                continue;
            }
            let lost = error.name.as_ref().is_some_and(|name| self.lost.iter().any(|lost| **lost == **name));
            if lost || (error.name.is_some() && !self.fields_known) {
                continue;
            }
            let row = match error.mistake {
                Mistake::Syntax => unreadable,
                Mistake::Unknown => &catalog::UNKNOWN_NAME,
                Mistake::MayBeMissing => &catalog::MAY_BE_MISSING,
                Mistake::Fails => &catalog::ALWAYS_FAILS,
                Mistake::Type | Mistake::Condition => &catalog::WRONG_TYPE,
            };
            let lacking = error.name.as_ref().filter(|_| error.mistake == Mistake::MayBeMissing);
            let lacking = lacking.and_then(|name| Some((name, self.group.lacking(name)?)));
            let message = match &lacking {
                Some((name, lacking)) => format!("`{name}` is read here, and {}", lacking.text),
                None => error.message,
            };
            let span = leaf.locate(self.sources, error.range.clone());
            let mut diagnostic = row.at(span, message).maybe_help(error.help);
            if let Some((_, lacking)) = lacking {
                diagnostic = diagnostic.related(lacking.span, "the field is missing here");
            }
            if let Some(text) = error.fix.filter(|text| self.is_plain(leaf, span, error.range, text)) {
                diagnostic = diagnostic.fix(format!("write `{text}`"), span, text);
            }
            self.found.push(diagnostic);
        }
    }

    /// Whether the text can be put into the file as it is: the place is exactly the words, and no style of YAML has to escape
    /// or quote anything of it.
    fn is_plain(&self, leaf: &Leaf, span: Span, range: std::ops::Range<usize>, text: &str) -> bool {
        let file = self.sources.get(span.file);
        let written = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
        written.is_some() && written == leaf.text.get(range) && !text.contains(['\'', '"', '\\', '\n', '#', ':'])
    }

    fn expr(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let checked = typing::check_expression(&leaf.text, &self.names);
        self.report(leaf, &catalog::BAD_EXPRESSION, checked.errors);
        Some((self.renamed(&checked.expr?), checked.ty))
    }

    fn condition(&mut self, leaf: &Leaf) -> Option<Expr> {
        let checked = typing::check_condition_text(&leaf.text, &self.names);
        self.report(leaf, &catalog::BAD_EXPRESSION, checked.errors);
        Some(self.renamed(&checked.expr?))
    }

    /// Reads a template. One that cannot be read is reported and stands for nothing.
    pub(crate) fn template(&mut self, leaf: &Leaf) -> Template {
        let checked = typing::check_template(&leaf.text, &self.names);
        let readable = checked.errors.iter().all(|error| error.mistake != Mistake::Syntax);
        self.report(leaf, &catalog::BAD_TEMPLATE, checked.errors);
        if !readable {
            return Template::new("");
        }
        Template { source: self.renamed_template(&leaf.text), origin: Origin::at(leaf.span) }
    }

    /// Binds a name for the steps that follow. Gives the slot.
    fn bind(&mut self, name: &Spanned<String>, ty: Type) -> Arc<str> {
        let text: Arc<str> = name.value.as_str().into();
        let slot: Arc<str> = format!("{}{text}", self.prefix).into();
        let first = self.bound.first(&text);
        let is_taken = || self.names.get(&text).is_some() || self.all.has(&text);
        if first.is_none() && is_taken() {
            let kind = if Names::always().get(&text).is_some() || &*text == "state" {
                "is always in scope"
            } else if self.prefix.is_empty() {
                "is a field of the samples"
            } else {
                "is a parameter"
            };
            let message = format!("`{text}` cannot be bound: it {kind}");
            self.found.push(catalog::NAME_TWICE.at(name.span, message).help("choose another name"));
            return slot;
        }
        let unsure = self.paths.unsure(&text);
        if let Some(first) = first
            && let Some(known) = unsure.as_ref().or_else(|| self.names.get(&text))
            && !ty.fits(known)
        {
            let message = format!("`{text}` is bound to {ty} here, and to {known} before");
            let help = "bind one type to a name, or choose another name";
            let diagnostic = catalog::WRONG_TYPE.at(name.span, message).related(first, "bound first here");
            self.found.push(diagnostic.help(help));
        } else if first.is_none() || unsure.is_some() {
            self.sure(&text);
            match (first, unsure) {
                (None, Some(_)) => self.names.insert(text.clone(), ty),
                // It is not taken, so it is not there yet.
                (None, None) => self.names.extend_new([(text.clone(), ty)]),
                (Some(_), _) => {}
            }
            self.bound.push(text, name.span);
        }
        slot
    }
}
