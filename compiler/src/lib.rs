//! The compiler: a task's text to a [`Program`], and every mistake in it at its place.
//!
//! ```text
//! text -> aigo_source::parse -> parse -> resolve -> dataset::profile -> check -> answers -> lower -> verify
//!         (YAML tree)           (ast)    (names)    (rows, types)       (typed)  (who asks)  (Program)
//! ```
//! Each stage is one function from one type to the next. Errors accumulate beside a partial value; there is a program only
//! where there is no error. The one door to the world is [`Sources`].

mod answers;
mod ast;
pub mod catalog;
mod check;
mod dataset;
mod lower;
mod parse;
mod resolve;
pub mod shape;
mod sources;
mod typed;

pub use dataset::{Dataset, Row};
pub use sources::{NoSources, Sources};

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, Diagnostics};
use aigo_ir::program::{Player, Program};
use aigo_ir::span::{Origin, SourceMap};
use aigo_ir::verify::{self, Reads};

/// The name of the solve graph of a dataset's samples.
pub const MAIN: &str = "main";

/// What became of a task.
pub struct Compiled {
    /// The program and its samples; none where there is an error.
    pub program: Option<(Program, Dataset)>,
    /// Every finding, in the order of the text, each once.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the findings point into.
    pub sources: SourceMap,
}

/// Compiles a task. `name` is what the user calls the file.
pub fn compile(name: &str, bytes: &[u8], world: &dyn Sources) -> Compiled {
    let mut sources = SourceMap::default();
    let mut found = Diagnostics::default();
    let program = stages(name, bytes, world, &mut sources, &mut found);
    let program = program.filter(|_| !found.has_errors());
    Compiled { program, diagnostics: found.finish(), sources }
}

fn stages(
    name: &str,
    bytes: &[u8],
    world: &dyn Sources,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) -> Option<(Program, Dataset)> {
    // The file's text as far as it is text, so that a finding about its bytes has lines to point to.
    let file = sources.add(name, String::from_utf8_lossy(bytes).into_owned());
    let text = match aigo_source::decode(bytes, file) {
        Ok(text) => text,
        Err(diagnostic) => {
            found.push(*diagnostic);
            return None;
        }
    };
    let parsed = aigo_source::parse(text, file);
    found.extend(parsed.diagnostics);
    let task = parse::parse(&parsed.tree, found);
    let resolved = resolve::resolve(task, sources, found);
    let before = found.len();
    let profile = dataset::profile(&resolved.task.dataset, world, found);
    let fields_known = found.len() == before && !resolved.task.dataset_damaged && !resolved.task.damaged;
    if profile.count == 0 && !found.has_errors() {
        let span = resolved.task.dataset_span.unwrap_or(resolved.task.span);
        found.push(catalog::NO_SAMPLES.at(span, "the task has no sample").help("give `dataset` at least one row"));
    }
    let typed = check::check(&resolved, &profile, fields_known, sources, found);
    // Lowering a task with mistakes would only repeat them in other words.
    if found.has_errors() {
        return None;
    }
    answers::check(&typed.steps, resolved.task.span, found);
    let origin_of_steps = resolved.task.solvers.first().map_or(resolved.task.span, |step| step.span);
    let (mut program, never) = lower::lower(typed);
    for origin in never {
        let span = origin.0.unwrap_or(origin_of_steps);
        let help = "what stands before it always ends the conversation or the loop";
        found.push(catalog::NEVER_RUNS.at(span, "this step can never run").help(help));
    }
    let reads = Reads::of(&program);
    sound(&program, &reads, found, resolved.task.span);
    if found.has_errors() {
        return None;
    }
    let (read, by_rules) = (reads.all(), rules_read(&program));
    program.fields.retain(|field| read.contains(&field.name) || by_rules.contains(&field.name));
    let by_solve = reads.graph(0);
    let solve_reads = program.fields.iter().map(|field| &field.name).filter(|name| by_solve.contains(name)).cloned();
    let solve_reads = solve_reads.collect();
    let dataset = profile.dataset(resolved.task.dataset, solve_reads, world);
    Some((program, dataset))
}

/// What the verifier finds in a program that was lowered from a task without mistakes.
fn sound(program: &Program, reads: &Reads, found: &mut Diagnostics, whole: aigo_ir::span::Span) {
    // Its texts have been typed already. That the lowering keeps their types is looked at in builds for tests.
    let violations = if cfg!(debug_assertions) { verify::verify(program) } else { verify::sound(program, reads) };
    for violation in violations {
        let Origin(span) = violation.origin;
        let diagnostic = if violation.invariant == "assigned_before_read" {
            let help = "bind it before the step that may be skipped, or move the reading into it";
            catalog::NOT_ASSIGNED.at(span.unwrap_or(whole), violation.message).help(help)
        } else {
            let help = "this is a fault of aigo, not of the task: please report it";
            catalog::UNSOUND.at(span.unwrap_or(whole), violation.to_string()).help(help)
        };
        found.push(diagnostic);
    }
}

/// The names that the rules of scripted roles read.
fn rules_read(program: &Program) -> BTreeSet<Arc<str>> {
    let mut names = BTreeSet::new();
    for role in &program.roles {
        let Player::Scripted(rules) = &role.player else { continue };
        for rule in rules {
            names.extend(rule.when.iter().flat_map(aigo_ir::expr::Expr::names).map(Arc::from));
            names.extend(rule.answer.texts().iter().flat_map(aigo_ir::template::Template::names));
        }
    }
    names
}
