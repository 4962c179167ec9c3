//! What checks expect of the state, against the state that samples begin with and what tools set.

use std::sync::Arc;

use aigo_ir::diagnostic::suggest;
use aigo_ir::expr::{Expr, Kind};
use aigo_ir::path::{Path, PathStep};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::template;
use aigo_ir::ty::Type;
use aigo_ir::typing;
use aigo_ir::value::Value;

use super::Checker;
use crate::ast::{self, Leaf, Operand};
use crate::catalog;

impl Checker<'_> {
    /// Whether there is a state that a check can look at; that there is none is reported. The state of a task that a definition
    /// is not in is not known.
    pub(super) fn has_state(&mut self, check: &str, span: Span) -> Option<Type> {
        let task = self.task?;
        match &task.state {
            Some(state) => Some(Type::of(&state.value)),
            None if task.damaged => None,
            None => {
                let message = format!("`{check}` looks at the state, and the task has none");
                let help = "add it: `world: {state: {…}}`";
                self.found.push(catalog::UNKNOWN_NAME.at(span, message).help(help));
                None
            }
        }
    }

    /// The paths of `check: {state: …}` and the values at them.
    pub(super) fn expected_state(&mut self, pairs: &[(Spanned<String>, Operand)], span: Span) {
        let Some(state) = self.has_state("state", span) else { return };
        let set: Vec<Vec<Place>> = self.task.map_or(&[][..], |task| &task.tools).iter().flat_map(places_of).collect();
        for (path, value) in pairs {
            let ty = match Path::parse(&path.value) {
                Ok(place) => self.type_at(path, place.steps(), &state, &set),
                Err(error) => {
                    let message = format!("the path `{}` cannot be read: {}", path.value, error.message);
                    self.found.push(catalog::BAD_EXPRESSION.at(path.span, message).maybe_help(error.help));
                    None
                }
            };
            let Some(ty) = ty else { continue };
            if let Some(given) = self.unfit(value, &ty) {
                let message = format!("`{}` of the state is of type {ty}, and this is of type {given}", path.value);
                let help = "it can never be there: write a value of that type";
                self.found.push(catalog::WRONG_TYPE.at(value.span(), message).help(help));
            }
        }
    }

    /// The type of what stands at a path at the end. A path at which nothing can stand is reported.
    fn type_at(
        &mut self,
        path: &Spanned<String>,
        steps: &[PathStep],
        state: &Type,
        set: &[Vec<Place>],
    ) -> Option<Type> {
        let mut ty = state.clone();
        for (at, step) in steps.iter().enumerate() {
            let before = steps.get(..at).unwrap_or_default();
            // A tool that puts a whole map here may put more into it than there is at the start.
            let is_map = matches!(ty, Type::Record(_));
            if is_map && set.iter().any(|places| places.len() <= at && is_at(places, before)) {
                return Some(Type::Any);
            }
            let inner = match (&ty, step) {
                (Type::Any, _) => Some(Type::Any),
                (Type::List(item), PathStep::Index(_)) => Some((**item).clone()),
                (Type::Record(fields), PathStep::Key(key)) => {
                    let known = fields.iter().find(|(name, _)| name == key).map(|(_, ty)| ty.clone());
                    // Of a map whose entries are chosen by a call, an entry that is not there yet is like those that are.
                    let is_chosen =
                        |places: &Vec<Place>| matches!(places.get(at), Some(Place::Any)) && is_at(places, before);
                    let others = || fields.iter().map(|(_, ty)| ty.clone()).reduce(|a, b| a.join(&b));
                    known.or_else(|| set.iter().any(is_chosen).then(|| others().unwrap_or(Type::Any)))
                }
                _ => None,
            };
            let Some(inner) = inner else {
                self.found.push(nothing_there(path, step, &ty));
                return None;
            };
            ty = inner;
        }
        Some(ty)
    }

    /// The type of a value that is expected where this type stands, if it can never be there. Where a number or a boolean stands,
    /// a template is read as one.
    pub(super) fn unfit(&self, value: &Operand, wanted: &Type) -> Option<Type> {
        let ty = match value {
            Operand::Data(value) => Type::of(&value.value),
            Operand::Text(leaf) if template::is_literal(&leaf.text) => Type::Str,
            Operand::Text(leaf) => self.type_of_template(leaf)?,
        };
        let is_template = matches!(value, Operand::Text(leaf) if !template::is_literal(&leaf.text));
        let (given, stands) = (certain(&ty), certain(wanted));
        let fits = if is_template {
            match stands {
                // A text of digits is read as a number; that it has some is known only when it is there.
                Type::Bool | Type::Int | Type::Number => *given == Type::Str || given.fits(stands),
                Type::Str | Type::Any => true,
                _ => false,
            }
        } else {
            ty.fits(wanted)
        };
        (!fits).then_some(ty)
    }

    /// The type of what a template is that is one expression alone; none of others, and where it has mistakes, which are told of
    /// the template itself.
    fn type_of_template(&self, leaf: &Leaf) -> Option<Type> {
        let expr = template::as_expression(&leaf.text).ok().flatten()?;
        let mut errors = Vec::new();
        let ty = typing::check(&expr, &self.names, &mut errors);
        errors.is_empty().then_some(ty)
    }
}

/// The type of a value that is there.
fn certain(ty: &Type) -> &Type {
    match ty {
        Type::Maybe(ty) => ty,
        ty => ty,
    }
}

fn nothing_there(path: &Spanned<String>, step: &PathStep, ty: &Type) -> aigo_ir::diagnostic::Diagnostic {
    let what = match step {
        PathStep::Key(key) => format!("`{key}`"),
        PathStep::Index(at) => format!("item {at}"),
    };
    let message = format!(
        "nothing can stand at `{}` of the state: there is no {what} at the start, and no tool puts one there",
        path.value
    );
    let found = catalog::UNKNOWN_NAME.at(path.span, message);
    match (ty, step) {
        (Type::Record(fields), PathStep::Key(key)) => {
            found.maybe_help(suggest(key, fields.iter().map(|(name, _)| &**name)))
        }
        _ => found.help(format!("what stands there is of type {ty}")),
    }
}

/// One step of a path that a tool sets.
#[derive(Clone, Debug)]
enum Place {
    Key(Arc<str>),
    Index(i64),
    /// Whatever the call says.
    Any,
}

/// Whether a path of a tool leads to, or through, these steps.
fn is_at(places: &[Place], steps: &[PathStep]) -> bool {
    places.iter().zip(steps).all(|(place, step)| match (place, step) {
        (Place::Any, _) => true,
        (Place::Key(a), PathStep::Key(b)) => a == b,
        (Place::Index(a), PathStep::Index(b)) => *a == i64::from(*b),
        _ => false,
    })
}

/// The paths that a tool sets.
fn places_of(tool: &ast::Tool) -> Vec<Vec<Place>> {
    let read = |leaf: &Leaf| aigo_ir::expr_parse::parse(&format!("state.{}", leaf.text)).ok();
    let paths = tool.set.iter().filter_map(|(path, _)| read(path));
    let places = paths.map(|expr| {
        let mut places = Vec::new();
        collect(&expr, &mut places);
        places
    });
    places.collect()
}

fn collect(expr: &Expr, places: &mut Vec<Place>) {
    match &expr.kind {
        Kind::Attribute(object, name) => {
            collect(object, places);
            places.push(Place::Key(name.clone()));
        }
        Kind::Item(object, item) => {
            collect(object, places);
            places.push(match &item.kind {
                Kind::Literal(Value::Str(name)) => Place::Key(name.clone()),
                Kind::Literal(Value::Int(n)) => Place::Index(*n),
                _ => Place::Any,
            });
        }
        _ => {}
    }
}
