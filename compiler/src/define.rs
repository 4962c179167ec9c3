//! Definitions: checked once where they are written, with the types that their parameters declare. A definition reads its
//! parameters, what its own steps bind and the names that are always there; so what is wrong with it does not depend on who
//! uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::span::{SourceMap, Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

use crate::ast::{self, Define, Definition, Param};
use crate::catalog;
use crate::check::Checker;
use crate::library::standard;
use crate::resolve::{self, Asked, Checkpoint};
use crate::typed;

/// What can be used by name.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) solvers: BTreeMap<String, Arc<Solvers>>,
    pub(crate) scorers: BTreeMap<String, Arc<DefinedScorer>>,
    pub(crate) personas: BTreeMap<String, Arc<ast::Persona>>,
    /// Whether something that was defined could not be read: then a name that is not here may be right.
    pub(crate) damaged: bool,
}

/// A defined list of steps.
pub(crate) struct Solvers {
    pub(crate) name: Spanned<String>,
    pub(crate) params: Vec<Parameter>,
    pub(crate) steps: Arc<[typed::Step]>,
    /// The roles that its steps ask.
    pub(crate) asks: Vec<Asked>,
    pub(crate) expects: bool,
    pub(crate) simulates: bool,
    pub(crate) checkpoints: Vec<Checkpoint>,
}

/// A defined scorer.
pub(crate) struct DefinedScorer {
    pub(crate) name: Spanned<String>,
    pub(crate) params: Vec<Parameter>,
    /// Its version.
    pub(crate) version: u32,
    /// As it was written, for what is asked of it before types.
    pub(crate) written: ast::Scorer,
    /// Read and typed.
    pub(crate) scorer: typed::Scorer,
}

/// A parameter and the slot that it is bound to.
#[derive(Clone)]
pub(crate) struct Parameter {
    pub(crate) name: Spanned<String>,
    pub(crate) slot: Arc<str>,
    pub(crate) ty: Type,
    pub(crate) default: Option<Value>,
}

impl Scope {
    /// What several files define, together.
    pub(crate) fn of<'s>(scopes: impl Iterator<Item = &'s Self>) -> Self {
        let mut all = Self::default();
        scopes.for_each(|scope| all.add(scope));
        all
    }

    /// Adds what another file defines. A name that is known stays what it is.
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, one) in &other.solvers {
            self.solvers.entry(name.clone()).or_insert_with(|| Arc::clone(one));
        }
        for (name, one) in &other.scorers {
            self.scorers.entry(name.clone()).or_insert_with(|| Arc::clone(one));
        }
        for (name, one) in &other.personas {
            self.personas.entry(name.clone()).or_insert_with(|| Arc::clone(one));
        }
        self.damaged |= other.damaged;
    }

    /// The names that another scope has too: of what kind, the name, its place there and here.
    pub(crate) fn clashes(&self, other: &Self) -> Vec<(&'static str, String, Span, Span)> {
        let mut found = Vec::new();
        for (name, one) in &other.solvers {
            let known = self.solvers.get(name).filter(|known| known.name.span != one.name.span);
            found.extend(known.map(|known| ("the solver", name.clone(), one.name.span, known.name.span)));
        }
        for (name, one) in other.scorers.iter().filter(|(name, _)| !name.contains('@')) {
            let known = self.scorers.get(name).filter(|known| known.name.span != one.name.span);
            found.extend(known.map(|known| ("the scorer", name.clone(), one.name.span, known.name.span)));
        }
        for (name, one) in &other.personas {
            let known = self.personas.get(name).filter(|known| known.name.span != one.name.span);
            found.extend(known.map(|known| ("the persona", name.clone(), one.name.span, known.name.span)));
        }
        found
    }
}

/// Checks the definitions of a file, whose path names their slots. `scope` is what its imports bring, `task` the task that they
/// stand in; of those that stand in a file of their own the tools and the state are not known. Of the file it is said whether
/// it is damaged, and whether it is the library's.
pub(crate) fn check(
    define: &Define,
    path: &str,
    scope: &Scope,
    (damaged, standard): (bool, bool),
    task: Option<&ast::Task>,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Scope {
    let own = Scope { damaged, ..Scope::default() };
    let mut work = Work { path, standard, task, sources, found, all: scope.clone(), own };
    work.all.damaged |= damaged;
    for persona in &define.personas {
        work.persona(persona);
    }
    for definition in order(&define.solvers, |body, names| resolve::uses_of_steps(body, names), work.found) {
        work.solvers(definition);
    }
    for definition in order(&define.scorers, |body, names| resolve::uses_of_scorer(body.as_ref(), names), work.found) {
        work.scorer(definition);
    }
    let mut own = work.own;
    // Those that could not be put in order have been reported, and what uses them is not.
    own.damaged |= own.solvers.len() < define.solvers.len() || own.scorers.len() < define.scorers.len();
    crate::library::clashes(scope, &own, found);
    own
}

/// Puts a definition in the place of a scorer that uses one; what the scorer says itself goes before. A name that is not
/// there is reported, and the scorer is left out.
pub(crate) fn in_place(scorer: ast::Scorer, scope: &Scope, found: &mut Diagnostics) -> Option<ast::Scorer> {
    let ast::Method::Use(used) = &scorer.method else { return Some(scorer) };
    let Some(defined) = scope.scorers.get(&used.key()) else {
        found.extend(unknown_scorer(used, scope));
        return None;
    };
    let written = &defined.written;
    Some(ast::Scorer {
        method: written.method.clone(),
        pass: scorer.pass.or_else(|| written.pass.clone()),
        over: scorer.over.or_else(|| written.over.clone()),
        at: scorer.at.or_else(|| written.at.clone()),
        runs: scorer.runs.or_else(|| written.runs.clone()),
        confirm: scorer.confirm.or_else(|| written.confirm.clone()),
        completion: scorer.completion.or(written.completion),
        when: scorer.when,
        voids: scorer.voids.or_else(|| written.voids.clone()),
        tags: if scorer.tags.is_empty() { written.tags.clone() } else { scorer.tags },
        used: Some(used.clone()),
        name: scorer.name,
        span: scorer.span,
    })
}

/// A scorer that no definition is, or not in that version.
fn unknown_scorer(used: &ast::Use, scope: &Scope) -> Option<Diagnostic> {
    let name = &used.name;
    if let Some(version) = used.version {
        let known = match scope.scorers.get(&name.value) {
            Some(defined) => vec![defined.version],
            None => standard::versions(&name.value),
        };
        if !known.is_empty() {
            let message = format!("there is no version {version} of `{}`", name.value);
            let known: Vec<String> = known.iter().map(|known| format!("`{}@{known}`", name.value)).collect();
            return Some(
                catalog::UNKNOWN_VERSION.at(name.span, message).help(format!("there is {}", known.join(", "))),
            );
        }
    }
    let plain = scope.scorers.keys().map(String::as_str).filter(|name| !name.contains('@'));
    let known = plain.chain(standard::scorers());
    unknown(name, "scorer", known, scope)
}

/// A name that no definition has; nothing where it may be one that could not be read.
pub(crate) fn unknown<'n>(
    name: &Spanned<String>,
    kind: &str,
    known: impl Iterator<Item = &'n str>,
    scope: &Scope,
) -> Option<Diagnostic> {
    if scope.damaged {
        return None;
    }
    let known: Vec<&str> = known.collect();
    let message = format!("there is no {kind} `{}`: no definition has that name", name.value);
    let found = catalog::UNKNOWN_DEFINITION.at(name.span, message);
    Some(match diagnostic::nearest(&name.value, known.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), name.span, near),
        None if known.is_empty() => found.help("define it under `define`, or import the file that does"),
        None => found.maybe_help(diagnostic::suggest(&name.value, known)),
    })
}

/// The definitions so that each stands behind those that it uses. Those that use themselves are reported and left out.
fn order<'d, T>(
    definitions: &'d [Definition<T>],
    uses: impl Fn(&'d T, &mut Vec<&'d Spanned<String>>),
    found: &mut Diagnostics,
) -> Vec<&'d Definition<T>> {
    let used: Vec<Vec<&Spanned<String>>> = definitions
        .iter()
        .map(|definition| {
            let mut names = Vec::new();
            uses(&definition.body, &mut names);
            names
        })
        .collect();
    let at = |name: &str| definitions.iter().position(|definition| definition.name.value == name);
    let (mut done, mut order): (BTreeSet<usize>, Vec<&Definition<T>>) = (BTreeSet::new(), Vec::new());
    loop {
        let ready = |n: &usize| {
            let others = used.get(*n).into_iter().flatten().filter_map(|name| at(&name.value));
            !done.contains(n) && others.into_iter().all(|other| done.contains(&other))
        };
        let next: Vec<usize> = (0..definitions.len()).filter(ready).collect();
        if next.is_empty() {
            break;
        }
        order.extend(next.iter().filter_map(|n| definitions.get(*n)));
        done.extend(next);
    }
    circles(definitions, &used, &done, found);
    order
}

/// Reports each circle of definitions once, at the first use that leads back to its own definition.
fn circles<T>(
    definitions: &[Definition<T>],
    used: &[Vec<&Spanned<String>>],
    done: &BTreeSet<usize>,
    found: &mut Diagnostics,
) {
    let at = |name: &str| definitions.iter().position(|definition| definition.name.value == name);
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for (n, definition) in definitions.iter().enumerate().filter(|(n, _)| !done.contains(n)) {
        if told.contains(&n) {
            continue;
        }
        for name in used.get(n).into_iter().flatten() {
            let Some(way) = at(&name.value).and_then(|first| way_back(first, n, used, &at)) else { continue };
            let mut words: Vec<&str> = vec![&definition.name.value];
            words.extend(way.iter().filter_map(|n| definitions.get(*n)).map(|one| one.name.value.as_str()));
            told.extend(way);
            let way = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" → ");
            let message = format!("`{}` uses itself, and would never end: {way}", definition.name.value);
            let help = "repeat steps with `loop` or `for_each`";
            let diagnostic = catalog::RECURSION.at(name.span, message).related(definition.name.span, "defined here");
            found.push(diagnostic.help(help));
            break;
        }
    }
}

/// The way from one definition to another by what they use, both ends included; none where no way leads.
fn way_back(
    from: usize,
    target: usize,
    used: &[Vec<&Spanned<String>>],
    at: &impl Fn(&str) -> Option<usize>,
) -> Option<Vec<usize>> {
    let mut seen = BTreeSet::from([from]);
    let mut ways = vec![vec![from]];
    while let Some(way) = ways.pop() {
        let last = way.last().copied()?;
        if last == target {
            return Some(way);
        }
        for next in used.get(last).into_iter().flatten().filter_map(|name| at(&name.value)) {
            if seen.insert(next) {
                ways.push(way.iter().copied().chain([next]).collect());
            }
        }
    }
    None
}

struct Work<'w> {
    path: &'w str,
    /// Whether the file is of the standard library.
    standard: bool,
    task: Option<&'w ast::Task>,
    sources: &'w SourceMap,
    found: &'w mut Diagnostics,
    /// What can be used so far.
    all: Scope,
    own: Scope,
}

impl Work<'_> {
    /// What slots of a definition begin with: no name of a task begins so, and no other definition's slots.
    fn prefix(&self, name: &str) -> String {
        let path: String = self.path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        format!("_{path}{}{name}_", if path.is_empty() { "" } else { "_" })
    }

    fn persona(&mut self, persona: &ast::Persona) {
        let mut checker = Checker::of_definition(self.sources, self.found, &self.all, String::new(), &[], self.task);
        checker.template(&persona.text);
        let persona = Arc::new(persona.clone());
        self.all.personas.insert(persona.name.value.clone(), Arc::clone(&persona));
        self.own.personas.insert(persona.name.value.clone(), persona);
    }

    fn solvers(&mut self, definition: &Definition<Vec<ast::Step>>) {
        let prefix = self.prefix(&definition.name.value);
        let params = parameters(&definition.params, &prefix);
        let mut checker = Checker::of_definition(self.sources, self.found, &self.all, prefix, &params, self.task);
        checker.foresee(&definition.body);
        let steps = checker.steps(&definition.body).into();
        let mut walk = resolve::Walk::new(&self.all);
        walk.steps(&definition.body);
        let solvers = Arc::new(Solvers {
            name: definition.name.clone(),
            params,
            steps,
            asks: walk.asks,
            expects: walk.expects,
            simulates: walk.simulates,
            checkpoints: walk.checkpoints,
        });
        self.all.solvers.insert(solvers.name.value.clone(), Arc::clone(&solvers));
        self.own.solvers.insert(solvers.name.value.clone(), solvers);
    }

    fn scorer(&mut self, definition: &Definition<Option<ast::Scorer>>) {
        let written = definition.body.clone().and_then(|body| in_place(body, &self.all, self.found));
        let Some(written) = written else {
            self.own.damaged = true;
            return;
        };
        let prefix = self.prefix(&definition.name.value);
        let params = parameters(&definition.params, &prefix);
        let mut checker = Checker::of_definition(self.sources, self.found, &self.all, prefix, &params, self.task);
        let Some(scorer) = checker.scorer(&written) else {
            self.own.damaged = true;
            return;
        };
        let name = definition.name.clone();
        let library = self.standard.then(|| (format!("std/{}", name.value).into(), definition.version));
        let scorer = typed::Scorer { library, ..scorer };
        let defined = Arc::new(DefinedScorer { name, params, version: definition.version, written, scorer });
        let versioned = format!("{}@{}", defined.name.value, defined.version);
        self.all.scorers.insert(versioned.clone(), Arc::clone(&defined));
        self.own.scorers.insert(versioned, Arc::clone(&defined));
        self.all.scorers.insert(defined.name.value.clone(), Arc::clone(&defined));
        self.own.scorers.insert(defined.name.value.clone(), defined);
    }
}

fn parameters(params: &[Param], prefix: &str) -> Vec<Parameter> {
    let one = |param: &Param| Parameter {
        name: param.name.clone(),
        slot: format!("{prefix}{}", param.name.value).into(),
        ty: param.ty.clone(),
        default: param.default.as_ref().map(|default| default.value.clone()),
    };
    params.iter().map(one).collect()
}
