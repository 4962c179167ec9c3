//! What is written and never used: `unused_field`, `unused_role`, `unused_name`, `unused_definition`, `unused_solvers`.

use std::collections::BTreeSet;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::expr_parse;
use aigo_ir::span::{FileId, Span, Spanned};

use super::Linted;
use super::users::{Played, slips};
use crate::ast::{GraphStep, GraphVerb, Method, Samples, Step, Verb};
use crate::catalog;
use crate::resolve;

/// Fields that are for people: they are read, only not by the task.
const FOR_PEOPLE: [&str; 5] = ["note", "notes", "comment", "description", "title"];

/// `unused_field`: declared, or written beside others in the task, and read by nothing. What a data file has beside is not
/// the task's to change.
pub(super) fn fields(linted: &Linted<'_>, found: &mut Diagnostics) {
    let task = linted.task();
    let beside = read_beside(linted);
    let is_read = |name: &str| FOR_PEOPLE.contains(&name) || beside.contains(name) || linted.read.contains(name);
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut tell = |name: &str, span: Span, what: &str| {
        let help = "read it in a step or a scorer, group by it, `by=` of a gate, or remove it";
        found.push(catalog::UNUSED_FIELD.at(span, format!("nothing reads {what}`{name}`")).help(help));
    };
    for declared in &task.fields {
        let name = &*declared.name.value;
        if told.insert(name) && !is_read(name) && !linted.profile.absent.contains(&declared.name.value) {
            tell(name, declared.name.span, "the field ");
        }
    }
    for source in &task.dataset {
        match &source.samples {
            Samples::Matrix(columns) => {
                for name in columns.iter().map(|column| &column.name) {
                    if told.insert(&name.value) && !is_read(&name.value) {
                        tell(&name.value, name.span, "this field, so the matrix repeats equal samples: ");
                    }
                }
            }
            Samples::Scenarios(scenarios) => {
                for (name, _) in scenarios.iter().flat_map(|scenario| &scenario.fields) {
                    if told.insert(&name.value) && !is_read(&name.value) {
                        tell(&name.value, name.span, "the field ");
                    }
                }
            }
            Samples::Inline(rows) => {
                for ((name, _), place) in rows.iter().flat_map(|row| row.fields.iter().zip(&row.places)) {
                    if told.insert(name) && !["id", "tags"].contains(&&**name) && !is_read(name) {
                        tell(name, *place, "the field ");
                    }
                }
            }
            Samples::File(_) | Samples::Transcripts { .. } => {}
        }
    }
}

/// The fields that are read outside of the program: by which samples are chosen, grouped, and belong together.
fn read_beside(linted: &Linted<'_>) -> BTreeSet<String> {
    let root = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    let task = linted.task();
    let mut names: BTreeSet<String> = linted.resolved.by.iter().map(|by| root(&by.value)).collect();
    let stratified = task.suites.iter().filter_map(|suite| suite.subset.as_ref()).flat_map(|(_, fields)| fields);
    names.extend(stratified.map(|field| root(&field.value)));
    for source in &task.dataset {
        names.extend(source.cluster.as_ref().map(|cluster| root(&cluster.value)));
        let filter = source.filter.as_ref().and_then(|filter| expr_parse::parse(&filter.text).ok());
        names.extend(filter.iter().flat_map(|filter| filter.names()).map(str::to_owned));
    }
    names
}

/// `unused_role`: somebody who could talk and is never asked.
pub(super) fn roles(linted: &Linted<'_>, found: &mut Diagnostics) {
    for model in &linted.task().models {
        let name = &model.role.value;
        if linted.resolved.asked.contains(name) {
            continue;
        }
        let message = format!("nobody asks the role `{name}`");
        let help = match name.as_str() {
            "judge" => "let it judge, `judge: {rubric: …}` as a scorer, or remove it",
            "user" => "let it speak, `- simulate_user: {goal: …}`, or remove it",
            "assistant" => "ask it, `- generate`, or remove it",
            _ => "ask it, `- generate: {role: …}` or `judge: {model: …}`, or remove it",
        };
        found.push(catalog::UNUSED_ROLE.at(model.role.span, message).help(help));
    }
}

/// `unused_name`: what a step binds and nothing reads.
pub(super) fn names(linted: &Linted<'_>, found: &mut Diagnostics) {
    let task = linted.task();
    let mut bound: Vec<(&Spanned<String>, &str)> = Vec::new();
    of_steps(&task.solvers, &mut bound);
    task.scenarios.iter().filter_map(|one| one.solvers.as_ref()).for_each(|steps| of_steps(steps, &mut bound));
    for scorer in task.scorers.iter().filter(|scorer| scorer.used.is_none()) {
        if let Method::Graph(graph) = &scorer.method {
            of_graph(&graph.steps, &mut bound);
        }
    }
    if bound.is_empty() {
        return;
    }
    let at: Vec<&str> = task.scorers.iter().filter_map(|one| one.at.as_ref()).map(|at| at.value.as_str()).collect();
    for (name, help) in bound {
        if linted.read.contains(&*name.value) || at.contains(&name.value.as_str()) {
            continue;
        }
        let message = format!("nothing reads `{}`", name.value);
        found.push(catalog::UNUSED_NAME.at(name.span, message).help(help));
    }
}

fn of_steps<'s>(steps: &'s [Step], bound: &mut Vec<(&'s Spanned<String>, &'static str)>) {
    for step in steps {
        match &step.verb {
            Verb::Set(pairs) | Verb::Capture(pairs) => {
                bound.extend(pairs.iter().map(|(name, _)| (name, "read it in a step behind this one, or remove it")));
            }
            // A label also names what the step expects of its reply.
            Verb::Generate { .. } if step.expect.is_empty() => {
                let help = "read the reply, `NAME.text`, score at it, `at: NAME`, or remove the label";
                bound.extend(step.label.iter().map(|name| (name, help)));
            }
            Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => of_steps(steps, bound),
            Verb::If { then, otherwise, .. } => {
                of_steps(then, bound);
                of_steps(otherwise, bound);
            }
            _ => {}
        }
    }
}

fn of_graph<'s>(steps: &'s [GraphStep], bound: &mut Vec<(&'s Spanned<String>, &'static str)>) {
    for step in steps {
        match &step.verb {
            GraphVerb::Extract { .. } => {
                bound.extend(
                    step.label.iter().map(|name| (name, "go through it, `each: {in: NAME, …}`, or save the call")),
                );
            }
            GraphVerb::Each { steps, .. } => {
                bound.extend(step.label.iter().map(|name| (name, "score it, `score: NAME`, or save the calls")));
                of_graph(steps, bound);
            }
            GraphVerb::Set(pairs) => {
                bound.extend(pairs.iter().map(|(name, _)| (name, "read it in a step behind this one, or remove it")));
            }
            GraphVerb::If { then, otherwise, .. } => {
                of_graph(then, bound);
                of_graph(otherwise, bound);
            }
            // The verdict that was given last is the item's without being named.
            GraphVerb::Judge(_) | GraphVerb::Score(_) => {}
        }
    }
}

/// The names of the lists of steps, and of the scorers, that the task uses, also through its own definitions.
fn used<'l>(linted: &Linted<'l>) -> (BTreeSet<&'l str>, BTreeSet<&'l str>) {
    let task = linted.task();
    let mut names: Vec<&Spanned<String>> = Vec::new();
    resolve::uses_of_steps(&task.solvers, &mut names);
    for steps in task.scenarios.iter().filter_map(|one| one.solvers.as_ref()) {
        resolve::uses_of_steps(steps, &mut names);
    }
    let mut solvers = BTreeSet::new();
    while let Some(name) = names.pop() {
        if solvers.insert(name.value.as_str())
            && let Some(own) = task.define.solvers.iter().find(|defined| defined.name.value == name.value)
        {
            resolve::uses_of_steps(&own.body, &mut names);
        }
    }
    let mut names: Vec<&Spanned<String>> =
        task.scorers.iter().filter_map(|scorer| scorer.used.as_ref()).map(|used| &used.name).collect();
    let mut scorers = BTreeSet::new();
    while let Some(name) = names.pop() {
        if scorers.insert(name.value.as_str())
            && let Some(own) = task.define.scorers.iter().find(|defined| defined.name.value == name.value)
        {
            resolve::uses_of_scorer(own.body.as_ref(), &mut names);
        }
    }
    (solvers, scorers)
}

/// `unused_definition`, of what the task defines.
pub(super) fn definitions(linted: &Linted<'_>, found: &mut Diagnostics) {
    let define = &linted.task().define;
    if define.solvers.is_empty() && define.scorers.is_empty() && define.personas.is_empty() {
        return;
    }
    let (solvers, scorers) = used(linted);
    let played = Played::of(linted);
    let of_solvers = define.solvers.iter().map(|one| &one.name).filter(|name| !solvers.contains(name.value.as_str()));
    let of_scorers = define.scorers.iter().map(|one| &one.name).filter(|name| !scorers.contains(name.value.as_str()));
    // A slip in its name is told there, and would be what nothing uses here.
    let meant: BTreeSet<&str> = slips(linted).into_iter().map(|(_, near)| near).collect();
    let is_unused = |name: &&Spanned<String>| !played.has(&name.value) && !meant.contains(name.value.as_str());
    let of_personas = define.personas.iter().map(|one| &one.name).filter(is_unused);
    let all = [
        ("steps", "use it, `- use: NAME`, or remove it", of_solvers.collect::<Vec<_>>()),
        ("scorer", "use it, `- use: NAME` under `scorers`, or remove it", of_scorers.collect()),
        ("persona", "let a user be it, `persona: NAME`, or remove it", of_personas.collect()),
    ];
    for (what, help, names) in all {
        for name in names {
            let message = format!("nothing uses the {what} `{}`", name.value);
            found.push(catalog::UNUSED_DEFINITION.at(name.span, message).help(help));
        }
    }
}

/// `unused_definition`, of a file that is imported for nothing.
pub(super) fn imports(linted: &Linted<'_>, found: &mut Diagnostics) {
    if linted.imports.is_empty() {
        return;
    }
    let (solvers, scorers) = used(linted);
    let played = Played::of(linted);
    let scope = linted.scope;
    let of_solvers = solvers.into_iter().filter_map(|name| scope.solvers.get(name)).map(|one| one.name.span.file);
    let of_scorers = scorers.into_iter().filter_map(|name| scope.scorers.get(name)).map(|one| one.name.span.file);
    let of_personas = scope.personas.values().map(|one| &one.name).filter(|name| played.has(&name.value));
    let files: BTreeSet<FileId> = of_solvers.chain(of_scorers).chain(of_personas.map(|name| name.span.file)).collect();
    for import in linted.imports.iter().filter(|import| !files.contains(&import.value)) {
        let message = "nothing of this file is used";
        let help = "use one of its definitions, or remove the import";
        found.push(catalog::UNUSED_DEFINITION.at(import.span, message).help(help));
    }
}

/// `unused_solvers`: every sample is a recorded conversation, which runs no steps.
pub(super) fn solvers(linted: &Linted<'_>, found: &mut Diagnostics) {
    let task = linted.task();
    let Some(span) = task.solvers_span else { return };
    if !task.scenarios.is_empty() || linted.profile.group(crate::MAIN).is_some() {
        return;
    }
    let message = "no sample runs these steps: recorded conversations are scored as they are";
    let help = "remove `solvers`, or give `dataset` samples of its own beside the transcripts";
    found.push(catalog::UNUSED_SOLVERS.at(span, message).help(help));
}
