//! Names that steps bind, and on which paths: what only some paths bind, and what is bound further down, cannot be read here.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::typing::{Mistake, TypeError};

use super::Checker;
use crate::ast::{self, Leaf};
use crate::catalog;
use crate::typed::{Step, Verb};

/// What steps have bound so far, in their order.
#[derive(Default)]
pub(super) struct Bound {
    all: Vec<Spanned<Arc<str>>>,
    /// Of each name, where it was bound first.
    first: BTreeMap<Arc<str>, Span>,
}

impl Bound {
    pub(super) fn push(&mut self, name: Arc<str>, span: Span) {
        self.first.entry(name.clone()).or_insert(span);
        self.all.push(Spanned::new(name, span));
    }

    pub(super) fn first(&self, name: &str) -> Option<Span> {
        self.first.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// What is known of the names that the steps of one graph bind.
#[derive(Default)]
pub(super) struct Paths {
    /// Those that are bound on some paths to here: the type where they are, and the place.
    unsure: BTreeMap<Arc<str>, (Type, Span)>,
    /// All that are bound somewhere, with the place of the first time.
    foreseen: Vec<Spanned<String>>,
    /// Whether the `until` of a loop is looked at.
    pub(super) in_until: bool,
}

impl Paths {
    /// The type of a name on the paths that bind it, where not all do.
    pub(super) fn unsure(&self, name: &str) -> Option<Type> {
        self.unsure.get(name).map(|(ty, _)| ty.clone())
    }
}

impl Checker<'_> {
    /// Begins a graph with these steps.
    pub(crate) fn foresee<'s>(&mut self, steps: impl IntoIterator<Item = &'s ast::Step>) {
        self.paths = Paths::default();
        for step in steps {
            foresee(step, &mut self.paths.foreseen);
        }
    }

    /// A name is bound on every path to here.
    pub(super) fn sure(&mut self, name: &Arc<str>) {
        if let Some((ty, _)) = self.paths.unsure.remove(name) {
            self.names.insert(name.clone(), ty);
        }
    }

    /// What was bound since there were so many names may not be: the steps that did it may be skipped. Gives these names.
    pub(super) fn unsure_since(&mut self, count: usize) -> Vec<Arc<str>> {
        let bound: Vec<Spanned<Arc<str>>> = self.bound.all.iter().skip(count).cloned().collect();
        for name in &bound {
            let Some(ty) = self.names.get(&name.value).cloned() else { continue };
            if !self.paths.unsure.contains_key(&name.value) {
                self.paths.unsure.insert(name.value.clone(), (ty.clone(), name.span));
                let maybe = if matches!(ty, Type::Maybe(_)) { ty } else { Type::Maybe(Box::new(ty)) };
                self.names.insert(name.value.clone(), maybe);
            }
        }
        bound.into_iter().map(|name| name.value).collect()
    }

    /// Behind two branches, what both bind is bound; of a branch that ends the conversation or the loop no path comes here.
    pub(super) fn join(&mut self, then: &[Arc<str>], then_ends: bool, otherwise: &[Arc<str>], otherwise_ends: bool) {
        for name in then.iter().filter(|name| otherwise_ends || otherwise.contains(name)) {
            self.sure(name);
        }
        for name in otherwise.iter().filter(|_| then_ends) {
            self.sure(name);
        }
    }

    /// A mistake whose cause is where the name is bound.
    pub(super) fn misplaced(&self, leaf: &Leaf, error: &TypeError) -> Option<Diagnostic> {
        let name = error.name.as_ref()?;
        let at = leaf.locate(self.sources, error.range.clone());
        match error.mistake {
            Mistake::MayBeMissing if !self.paths.unsure.contains_key(name) => {
                let bound = self.bound.first(name)?;
                let message = format!("`{name}` is read here, and what it is bound to may be missing");
                let help = format!(
                    "a pattern may not match, and a field may be lacking: say what stands for it, `default({name}, '…')`, or ask \
                     `{name} is defined` before"
                );
                Some(catalog::MAY_BE_MISSING.at(at, message).related(bound, "it is bound here").help(help))
            }
            Mistake::MayBeMissing => {
                let (_, span) = self.paths.unsure.get(name)?;
                let message = format!("`{name}` is read here, and not bound on every path to here");
                let help = "bind it before the steps that may be skipped, or read it where it is bound";
                Some(catalog::NOT_ASSIGNED.at(at, message).related(*span, "it is bound here").help(help))
            }
            Mistake::Unknown => {
                let later = self.paths.foreseen.iter().find(|later| *later.value == **name)?;
                let message = format!("`{name}` is read here, before it is bound");
                let help = if self.paths.in_until {
                    "bind it before the loop: `until` is asked before every pass, also before the first"
                } else {
                    "bind it before it is read"
                };
                Some(catalog::UNKNOWN_NAME.at(at, message).related(later.span, "it is bound here").help(help))
            }
            _ => None,
        }
    }
}

fn foresee_all(steps: &[ast::Step], found: &mut Vec<Spanned<String>>) {
    for step in steps {
        foresee(step, found);
    }
}

fn foresee(step: &ast::Step, found: &mut Vec<Spanned<String>>) {
    if matches!(step.verb, ast::Verb::Generate { .. } | ast::Verb::Judge(_)) {
        found.extend(step.label.clone());
    }
    match &step.verb {
        ast::Verb::Set(pairs) | ast::Verb::Capture(pairs) => found.extend(pairs.iter().map(|(name, _)| name.clone())),
        ast::Verb::Loop { steps, .. } => foresee_all(steps, found),
        ast::Verb::ForEach { item, steps, .. } => {
            found.push(item.clone());
            foresee_all(steps, found);
        }
        ast::Verb::If { then, otherwise, .. } => {
            foresee_all(then, found);
            foresee_all(otherwise, found);
        }
        _ => {}
    }
}

/// Whether no path leads through the steps.
pub(super) fn ends(steps: &[Step]) -> bool {
    steps.iter().filter(|step| step.when.is_none()).any(|step| match &step.verb {
        Verb::Stop { when, .. } => when.is_none(),
        Verb::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        Verb::Use { steps, .. } => ends(steps),
        _ => false,
    })
}
