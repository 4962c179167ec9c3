//! The compiler: a task's text to a [`Program`], and every mistake in it at its place.
//!
//! ```text
//! text -> aigo_source::parse -> parse -> resolve -> dataset::profile -> check -> answers -> lower -> verify -> lint, lock
//!         (YAML tree)           (ast)    (names)    (rows, types)       (typed)  (who asks)  (Program)          (warnings)
//! ```
//! Each stage is one function from one type to the next. Errors accumulate beside a partial value; there is a program only
//! where there is no error. The one door to the world is [`Sources`].

mod answers;
mod ast;
pub mod catalog;
mod check;
mod dataset;
mod define;
mod epochs;
pub mod expand;
pub mod families;
pub mod glob;
mod keys;
mod known;
mod library;
mod lint;
pub mod lock;
mod lower;
mod parse;
mod plan;
mod resolve;
pub mod schema;
pub mod select;
pub mod shape;
mod sources;
mod suites;
mod typed;

pub use dataset::{Dataset, EACH_TURN, RECORDED, Row};
pub use known::Known;
pub use library::{Session, standard};
pub use plan::bounds;
pub use sources::{NoSources, Sources};

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, Diagnostics, Severity};
use aigo_ir::program::{Call, Program};
use aigo_ir::span::{FileId, Origin, SourceMap, Span, Spanned};
use aigo_ir::verify::{self, Reads, Violation};
use aigo_source::Tree;

use crate::define::Scope;
use crate::library::Loader;
use crate::lint::allow::Allowances;
use crate::lock::Beside;
use crate::lower::{Aside, Lowered};

/// The name of the solve graph of a dataset's samples.
pub const MAIN: &str = "main";
/// What the names of the solve graphs of scenarios begin with; the scenario's id follows.
pub const SCENARIO: &str = "scenario/";

/// What became of a task.
pub struct Compiled {
    /// The program and its samples; none where there is an error, or where nobody wants to run it.
    pub program: Option<(Program, Dataset)>,
    /// The named parts of the samples.
    pub suites: Vec<Suite>,
    /// Every finding, in the order of the text, each once.
    pub diagnostics: Vec<Diagnostic>,
    /// How many findings there were beyond those, which are the first [`aigo_ir::diagnostic::MOST_FINDINGS`].
    pub omitted: usize,
    /// The texts that the findings point into.
    pub sources: SourceMap,
    /// Whether it is a file of definitions, without errors: no task, and nothing to run.
    pub is_library: bool,
}

/// A named part of the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// The tags that are selected, as they were written; all samples where none are.
    pub select: Option<String>,
    /// How many samples, and the fields over whose values they are spread.
    pub subset: Option<(u32, Vec<String>)>,
}

/// Compiles a task. `name` is what the user calls the file.
pub fn compile(name: &str, bytes: &[u8], world: &dyn Sources) -> Compiled {
    compile_in(&Session::default(), name, bytes, world)
}

/// Compiles one of several tasks: what they import is read once per session.
pub fn compile_in(session: &Session, name: &str, bytes: &[u8], world: &dyn Sources) -> Compiled {
    compiled(session, Wanted::Program, name, bytes, world)
}

/// Finds what [`compile_in`] finds, and gives no program where nothing needs it: no row is hashed.
pub fn check_in(session: &Session, name: &str, bytes: &[u8], world: &dyn Sources) -> Compiled {
    compiled(session, Wanted::Findings, name, bytes, world)
}

/// What a task is compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Findings,
    Program,
}

fn compiled(session: &Session, wanted: Wanted, name: &str, bytes: &[u8], world: &dyn Sources) -> Compiled {
    let mut sources = SourceMap::default();
    let mut found = Diagnostics::default();
    let mut suites = Vec::new();
    let loader = Loader { session, world };
    let mut is_library = false;
    let tree = read(name, bytes, &mut sources, &mut found);
    let program = tree.as_ref().and_then(|tree| {
        if is_of_definitions(tree) {
            is_library = true;
            library(&loader, tree, &mut sources, &mut found);
            return None;
        }
        let root = tree.root();
        let place = (name, root.get("name").unwrap_or(root).site());
        // What is wrong with the lock keeps no stage from looking at the task.
        let mut of_lock = Diagnostics::default();
        let beside = Beside::find(place, session.locking, world, &mut sources, &mut of_lock);
        // What is locked is a program and its samples.
        let wanted = if beside.is_locked() { Wanted::Program } else { wanted };
        let program = stages(&loader, wanted, &beside, tree, &mut sources, &mut suites, &mut found);
        beside.require(&mut of_lock);
        found.extend(of_lock.finish());
        program
    });
    let is_sound = !found.has_errors();
    is_library &= is_sound;
    let program = program.filter(|_| is_sound);
    let omitted = found.omitted();
    let mut diagnostics = found.finish();
    if let Some(tree) = &tree {
        Allowances::of(tree).apply(&mut diagnostics, is_sound);
    }
    // Imported files have numbers in the order in which threads came to them; people read in the order of the imports.
    diagnostics.sort_by_key(|one| one.span.map(|span| (sources.rank(span.file), span)));
    without_echoes(&mut diagnostics);
    Compiled { program, suites, diagnostics, omitted, sources, is_library }
}

/// The names of a task or of a file of definitions, also of one with mistakes; none where it is no text.
pub fn known(name: &str, bytes: &[u8], world: &dyn Sources) -> Option<Known> {
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let tree = read(name, bytes, &mut sources, &mut found)?;
    let loader = Loader { session: &Session::default(), world };
    let is_library = is_of_definitions(&tree);
    let task = if is_library {
        let read = parse::parse_definitions(&tree, &mut found);
        ast::Task { imports: read.imports, define: read.define, ..ast::Task::default() }
    } else {
        parse::parse(&tree, &mut found)
    };
    let (scope, _) = definitions(&loader, &task, &mut sources, &mut found);
    let prepared = (!is_library).then(|| dataset::prepare(&task, world, &mut sources, &mut found));
    let profile = prepared.map(|prepared| dataset::profile(prepared, false, world, &mut sources, &mut found));
    Some(Known::of(&task, &scope, profile.as_ref()))
}

/// A warning of how YAML reads a value says nothing new where the value is an error. What it would help with is kept.
fn without_echoes(diagnostics: &mut Vec<Diagnostic>) {
    let of_yaml = |one: &Diagnostic| match one.row.code {
        "W0101" => one.related.first().map(|(span, _)| *span),
        "W0102" => one.span,
        _ => None,
    };
    let echoes: Vec<Diagnostic> = diagnostics.iter().filter(|one| of_yaml(one).is_some()).cloned().collect();
    for echo in echoes {
        let error = |one: &&mut Diagnostic| one.span == of_yaml(&echo) && one.row.severity == Severity::Error;
        if let Some(error) = diagnostics.iter_mut().find(error) {
            if echo.row.code == "W0101" {
                let cut = echo.message.trim_start_matches("the value is empty: ");
                error.message = format!("{}: {cut}", error.message);
                error.help.clone_from(&echo.help);
            }
            diagnostics.retain(|one| *one != echo);
        }
    }
}

/// Stage 0: bytes to a tree.
fn read(name: &str, bytes: &[u8], sources: &mut SourceMap, found: &mut Diagnostics) -> Option<Tree> {
    // The file's text as far as it is text, so that a finding about its bytes has lines to point to.
    let text: Arc<str> = match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(bytes).into(),
    };
    let file = sources.add(name, text.clone());
    if let Err(diagnostic) = aigo_source::decode(bytes, file) {
        found.push(*diagnostic);
        return None;
    }
    let parsed = aigo_source::parse_shared(&text, file);
    found.extend(parsed.diagnostics);
    Some(parsed.tree)
}

/// Whether a file only defines: it says nothing of what a task needs.
fn is_of_definitions(tree: &Tree) -> bool {
    let has = |key: &str| tree.root().get(key).is_some();
    has("define") && !["name", "models", "dataset", "scenarios", "solvers", "scorers"].into_iter().any(has)
}

/// A file of definitions that is checked by itself.
fn library(loader: &Loader<'_>, tree: &Tree, sources: &mut SourceMap, found: &mut Diagnostics) {
    let read = parse::parse_definitions(tree, found);
    let imports = loader.imports("", &read.imports, found);
    for import in &imports {
        import.tell(sources, found);
    }
    let mut scope = Scope::of(imports.iter().map(|import| &import.own));
    let task = ast::Task { define: read.define, ..ast::Task::default() };
    of_standard(loader, &task, &mut scope, sources, found);
    define::check(&task.define, "", &scope, (read.damaged, false), None, sources, found);
    if !found.has_errors() {
        lint::definitions(&task.define, sources, found);
        lint::text(tree, found);
    }
}

fn stages(
    loader: &Loader<'_>,
    wanted: Wanted,
    beside: &Beside<'_>,
    tree: &Tree,
    sources: &mut SourceMap,
    suites: &mut Vec<Suite>,
    found: &mut Diagnostics,
) -> Option<(Program, Dataset)> {
    let world = loader.world;
    let task = parse::parse(tree, found);
    let (scope, imports) = definitions(loader, &task, sources, found);
    let mut resolved = resolve::resolve(task, &scope, sources, found);
    keys::check(&resolved.task, world, found);
    beside.advise(&resolved, found);
    let before = found.len();
    let prepared = dataset::prepare(&resolved.task, world, sources, found);
    let profile = dataset::profile(prepared, wanted == Wanted::Program, world, sources, found);
    let fields_known = found.len() == before && !resolved.task.dataset_damaged && !resolved.task.damaged;
    if profile.count == 0 && !found.has_errors() {
        let span = resolved.task.dataset_span.unwrap_or(resolved.task.span);
        found.push(catalog::NO_SAMPLES.at(span, "the task has no sample").help("give `dataset` at least one row"));
    }
    epochs::check(&mut resolved, &profile, fields_known, found);
    // Of no samples nothing is known, and that there are none has been told.
    let fields_known = fields_known && profile.count > 0;
    if fields_known {
        absent(&resolved.task, &profile, found);
    }
    *suites = suites::check(&resolved, &profile, fields_known, sources, found);
    let typed = check::check(&resolved, &scope, &profile, fields_known, sources, found);
    // Lowering a task with mistakes would only repeat them in other words.
    if found.has_errors() {
        return None;
    }
    for solve in &typed.solves {
        answers::check(&solve.steps, solve.origin, found);
    }
    let tools = !typed.tools.is_empty();
    let solves = lint::Solves::of(&typed.solves);
    let Lowered { mut program, never, aside } = lower::lower(typed, wanted == Wanted::Findings);
    program.solves.extend(lower::of_transcripts(profile.transcripts(), tools));
    never_run(never, found);
    let reads = Reads::of(&program);
    unsound(violations(wanted, &program, &aside, &reads), found, resolved.task.span);
    if found.has_errors() {
        return None;
    }
    let (by_scorers, by_others) = (aside.names(), read_by_others(&program));
    let all_read = lint::read(&program, &reads).chain(&by_scorers).chain(&by_others).map(|name| &**name).collect();
    let linted = lint::Linted {
        resolved: &resolved,
        scope: &scope,
        profile: &profile,
        solves: &solves,
        program: &program,
        read: &all_read,
        imports: &imports,
        sources,
    };
    lint::check(&linted, found);
    lint::definitions(&resolved.task.define, sources, found);
    lint::text(tree, found);
    let begun = profile.transcripts() != (false, false);
    if wanted == Wanted::Findings && !plan::may_pass(&program, &aside, profile.count, begun) {
        return None;
    }
    aside.lower(&mut program);
    let read: BTreeSet<&Arc<str>> = reads.all().into_iter().chain(&by_scorers).collect();
    let is_read = |name: &Arc<str>| read.contains(name) || by_others.contains(name);
    program.fields.retain(|field| is_read(&field.name));
    let solve_reads = keep_read_fields(&mut program, &reads);
    let dataset = profile.dataset(solve_reads, world);
    plan::check(&program, &dataset, begun, world, found);
    if wanted == Wanted::Findings {
        return None;
    }
    beside.hold(&program, &dataset, found);
    Some((program, dataset))
}

/// Leaves to each solve graph the fields that it reads; those of the program that the first one reads, in order.
fn keep_read_fields(program: &mut Program, reads: &Reads) -> Vec<Arc<str>> {
    for (at, graph) in program.solves.iter_mut().enumerate() {
        let own = reads.graph(at);
        graph.fields.retain(|field| own.contains(&field.name));
    }
    let by_solve = reads.graph(0);
    program.fields.iter().map(|field| &field.name).filter(|name| by_solve.contains(*name)).cloned().collect()
}

/// Declared fields that no sample has: a name that was misspelt, or a field that is gone.
fn absent(task: &ast::Task, profile: &dataset::Profile, found: &mut Diagnostics) {
    let known: Vec<&str> = profile.joined().fields().iter().map(|field| &*field.name).collect();
    for declared in task.fields.iter().filter(|declared| profile.absent.contains(&declared.name.value)) {
        let name = &declared.name;
        let message = format!("the field `{}` is declared, and no sample has it", name.value);
        let near =
            aigo_ir::diagnostic::nearest(&name.value, known.iter().copied().filter(|known| *known != &*name.value));
        let warning = catalog::ABSENT_FIELD.at(name.span, message);
        found.push(match near {
            Some(near) => {
                warning.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), name.span, near)
            }
            None => warning.help("remove the declaration, or give a sample the field"),
        });
    }
}

/// What the task may use by name: what it imports, and what it defines itself.
fn definitions(
    loader: &Loader<'_>,
    task: &ast::Task,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) -> (Scope, Vec<Spanned<FileId>>) {
    let imports = loader.imports("", &task.imports, found);
    for import in &imports {
        import.tell(sources, found);
    }
    let mut scope = Scope::of(imports.iter().map(|import| &import.own));
    let damaged = task.damaged || imports.len() < task.imports.len() || imports.iter().any(|one| one.is_damaged());
    of_standard(loader, task, &mut scope, sources, found);
    let own = define::check(&task.define, "", &scope, (damaged, false), Some(task), sources, found);
    scope.add(&own);
    scope.damaged |= damaged;
    let files = task.imports.iter().zip(&imports).map(|(import, file)| Spanned::new(file.file, import.span));
    (scope, files.collect())
}

/// Adds to a scope what a task uses of the standard library.
fn of_standard(
    loader: &Loader<'_>,
    task: &ast::Task,
    scope: &mut Scope,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) {
    let (standard, files) = loader.standard_of_task(task, scope);
    scope.add(&standard);
    for file in files {
        file.tell(sources, found);
    }
}

/// What the verifier says of a program that was lowered from a task without mistakes. Its texts have been typed already; that
/// the lowering keeps their types is looked at in builds for tests, and that it makes sound graphs, where they are to run.
fn violations(wanted: Wanted, program: &Program, aside: &Aside, reads: &Reads) -> Vec<Violation> {
    match wanted {
        _ if cfg!(debug_assertions) => verify::verify(&aside.whole(program)),
        Wanted::Program => verify::sound(program, reads),
        Wanted::Findings => verify::unassigned(program, reads),
    }
}

/// Steps that lowering came upon and nothing leads to.
fn never_run(never: Vec<Span>, found: &mut Diagnostics) {
    for span in never {
        let help = "what stands before it always ends the conversation or the loop";
        found.push(catalog::NEVER_RUNS.at(span, "this step can never run").help(help));
    }
}

/// What the verifier finds in what was lowered from a task without mistakes.
fn unsound(violations: impl IntoIterator<Item = Violation>, found: &mut Diagnostics, whole: Span) {
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

/// The names that roles, `setup`, `teardown` and tools read.
fn read_by_others(program: &Program) -> BTreeSet<Arc<str>> {
    let mut names: BTreeSet<Arc<str>> = program.roles.iter().flat_map(|role| role.player.names()).collect();
    let calls = program.setup.iter().chain(&program.teardown).flat_map(Call::texts);
    names.extend(calls.flat_map(|text| text.names()));
    for tool in &program.tools {
        names.extend(tool.expressions().into_iter().flat_map(|expr| expr.names()).map(Arc::from));
    }
    names
}
