//! What is known at one point of a template or expression: names that were set, and what conditions have found out.

use std::sync::Arc;

use super::Names;
use crate::expr::{Comparison, Expr, Kind, Test};
use crate::ty::Type;
use crate::value::Value;

/// On which ways a name was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// On every way here.
    Surely,
    /// On some ways only.
    OnOneBranch,
    /// On some ways only; on the others it is a name from outside.
    OrOuter,
}

/// A name that was set in the template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Local {
    pub(super) name: Arc<str>,
    pub(super) ty: Type,
    pub(super) bound: Bound,
}

/// What a condition has found out of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    pub(super) path: Expr,
    /// Its type; it is there in any case.
    pub(super) ty: Option<Type>,
}

/// What is known at one point.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) locals: Vec<Local>,
    /// Where the locals of the innermost loop's pass begin.
    frame: usize,
    pub(super) facts: Vec<Fact>,
    /// Whether no way leads here: behind `break` and `continue`.
    pub(super) dead: bool,
}

impl Flow {
    /// The innermost local of this name.
    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| &*local.name == name)
    }

    /// Sets a name in the innermost scope. What was known of it is no longer.
    pub(super) fn set(&mut self, name: Arc<str>, ty: Type) {
        self.facts.retain(|fact| fact.path.root().is_none_or(|root| *root != name));
        let local = Local { name, ty, bound: Bound::Surely };
        let own = self.locals.iter_mut().skip(self.frame).find(|known| known.name == local.name);
        match own {
            Some(known) => *known = local,
            None => self.locals.push(local),
        }
    }

    /// Opens the scope of a loop's pass.
    pub(super) fn enter(&mut self) {
        self.frame = self.locals.len();
    }

    /// Adds what follows from the condition's truth.
    pub(super) fn assume(&mut self, test: &Expr, holds: bool) {
        facts(test, holds, &mut self.facts);
    }

    /// What is known where two ways meet.
    pub(super) fn merge(self, other: Self, outer: &Names) -> Self {
        if self.dead {
            return other;
        }
        if other.dead {
            return self;
        }
        let mut merged = self;
        merged.facts.retain(|fact| other.facts.contains(fact));
        if merged.locals == other.locals {
            return merged;
        }
        let frame = merged.frame;
        let find = |locals: &[Local], name: &str| locals.iter().skip(frame).find(|l| &*l.name == name).cloned();
        let enclosing: Vec<Local> = merged.locals.iter().take(frame).cloned().collect();
        let one_sided = |local: &Local| {
            let beyond = enclosing.iter().rev().find(|l| l.name == local.name);
            match beyond {
                Some(beyond) => Local { ty: local.ty.join(&beyond.ty), ..beyond.clone() },
                None if outer.get(&local.name).is_some() => Local { bound: Bound::OrOuter, ..local.clone() },
                None => Local { bound: Bound::OnOneBranch, ..local.clone() },
            }
        };
        for local in merged.locals.iter_mut().skip(frame) {
            *local = match find(&other.locals, &local.name) {
                Some(twin) => {
                    let bound = if local.bound == Bound::Surely { twin.bound } else { local.bound };
                    Local { ty: local.ty.join(&twin.ty), bound, name: local.name.clone() }
                }
                None => one_sided(local),
            };
        }
        let only: Vec<Local> = other.locals.iter().skip(frame).map(one_sided).collect();
        for local in only {
            if find(&merged.locals, &local.name).is_none() {
                merged.locals.push(local);
            }
        }
        merged
    }
}

/// What follows from a condition: `x is defined`, `x is string`, `x != none`, alone, with `not`, `and`, `or`.
pub(super) fn facts(test: &Expr, holds: bool, found: &mut Vec<Fact>) {
    match (&test.kind, holds) {
        (Kind::Not(a), _) => facts(a, !holds, found),
        (Kind::And(a, b), true) | (Kind::Or(a, b), false) => {
            facts(a, holds, found);
            facts(b, holds, found);
        }
        (Kind::Defined(path), true) => there(path, None, found),
        (Kind::Is(test, path), true) => {
            let ty = match test {
                Test::Text => Some(Type::Str),
                Test::Number => Some(Type::Number),
                Test::Boolean => Some(Type::Bool),
                Test::Sequence => Some(Type::List(Box::new(Type::Any))),
                Test::Mapping => None,
                Test::Odd | Test::Even => Some(Type::Int),
            };
            there(path, ty, found);
        }
        (Kind::Compare(Comparison::NotEqual, a, b), true) | (Kind::Compare(Comparison::Equal, a, b), false) => {
            for (path, other) in [(a, b), (b, a)] {
                if matches!(other.kind, Kind::Literal(Value::Null)) {
                    there(path, None, found);
                }
            }
        }
        _ => {}
    }
}

/// The path is there, and so is everything that it goes through.
fn there(path: &Expr, ty: Option<Type>, found: &mut Vec<Fact>) {
    if path.root().is_none() {
        return;
    }
    // An item by a name is another one as soon as the name is set again.
    if !matches!(&path.kind, Kind::Item(_, index) if !matches!(index.kind, Kind::Literal(_))) {
        found.push(Fact { path: path.clone(), ty });
    }
    if let Kind::Attribute(object, _) | Kind::Item(object, _) = &path.kind {
        there(object, None, found);
    }
}
