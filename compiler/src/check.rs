//! Stage 3: types. Expressions and templates are read and checked against what the samples have and the steps bind.

mod models;
mod scorers;
mod steps;

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::expr::Expr;
use aigo_ir::program::Field;
use aigo_ir::span::{Origin, SourceMap, Spanned};
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::typing::{self, Mistake, Names, TypeError};
use aigo_ir::{expr_parse, template};

use crate::ast::Leaf;
use crate::catalog;
use crate::dataset::{Group, Profile};
use crate::resolve::Resolved;
use crate::typed::Task;

/// Types a task. Where not all samples could be read, names that are not known are no mistakes: they may be fields.
pub(crate) fn check(
    resolved: &Resolved,
    profile: &Profile,
    fields_known: bool,
    sources: &SourceMap,
    found: &mut Diagnostics,
) -> Task {
    let task = &resolved.task;
    let names_of = |group: &Group| {
        let mut names = Names::always();
        names.extend_new(group.fields().iter().map(|field| (field.name.clone(), field.ty.clone())));
        names
    };
    // The task's steps are run by the rows of the dataset; what scores is for all samples.
    let group = profile.group(crate::MAIN).unwrap_or(profile.joined());
    let names = names_of(group);
    let mut checker = Checker { sources, found, group, fields_known, names, bound: Vec::new() };
    let steps = checker.steps(&task.solvers);
    checker.group = profile.joined();
    checker.names = names_of(checker.group);
    let scorers = task.scorers.iter().map(|scorer| checker.scorer(scorer)).collect();
    checker.names.insert("scorer", Type::Str);
    checker.names.insert("judged", Type::Int);
    let fields = profile.joined().fields().iter();
    let judges: Vec<&str> = task.scorers.iter().filter_map(scorers::judge_of).collect();
    let roles = task.models.iter().map(|model| checker.role(model, &judges)).collect();
    Task {
        name: task.name.as_ref().map_or("", |name| name.value.as_str()).into(),
        seed: task.seed.unwrap_or(0),
        epochs: task.epochs.unwrap_or(1),
        limits: task.limits.clone(),
        fields: fields.map(|field| Field { name: field.name.clone(), ty: field.ty.clone() }).collect(),
        roles,
        steps,
        expects: resolved.expects,
        scorers,
        gates: resolved.gates.clone(),
    }
}

struct Checker<'c> {
    sources: &'c SourceMap,
    found: &'c mut Diagnostics,
    /// The samples that what is checked is for.
    group: &'c Group,
    /// Whether all samples could be read: otherwise a name may be a field of those that could not.
    fields_known: bool,
    names: Names,
    /// What steps have bound so far, with the place of the first time.
    bound: Vec<Spanned<Arc<str>>>,
}

impl Checker<'_> {
    fn report(&mut self, leaf: &Leaf, errors: Vec<TypeError>) {
        for error in errors {
            if error.name.is_some() && !self.fields_known {
                continue;
            }
            let row = match error.mistake {
                Mistake::Unknown => &catalog::UNKNOWN_NAME,
                Mistake::MayBeMissing => &catalog::MAY_BE_MISSING,
                Mistake::Type => &catalog::WRONG_TYPE,
            };
            let lacking = error.name.as_ref().filter(|_| error.mistake == Mistake::MayBeMissing);
            let lacking = lacking.and_then(|name| Some((name, self.group.lacking(name)?)));
            let message = match &lacking {
                Some((name, lacking)) => format!("`{name}` is read here, and {}", lacking.text),
                None => error.message,
            };
            let mut diagnostic = row.at(leaf.locate(self.sources, error.range), message).maybe_help(error.help);
            if let Some((_, lacking)) = lacking {
                diagnostic = diagnostic.related(lacking.span, "the field is missing here");
            }
            self.found.push(diagnostic);
        }
    }

    /// Reads an expression; none where it cannot be read.
    fn parse(&mut self, leaf: &Leaf) -> Option<Expr> {
        match expr_parse::parse(&leaf.text) {
            Ok(expr) => Some(expr),
            Err(error) => {
                let at = leaf.locate(self.sources, error.range);
                let message = format!("the expression cannot be read: {}", error.message);
                self.found.push(catalog::BAD_EXPRESSION.at(at, message).maybe_help(error.help));
                None
            }
        }
    }

    fn expr(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let expr = self.parse(leaf)?;
        let mut errors = Vec::new();
        let ty = typing::check(&expr, &self.names, &mut errors);
        self.report(leaf, errors);
        Some((expr, ty))
    }

    fn condition(&mut self, leaf: &Leaf) -> Option<Expr> {
        let expr = self.parse(leaf)?;
        let mut errors = Vec::new();
        typing::check_condition(&expr, &self.names, &mut errors);
        self.report(leaf, errors);
        Some(expr)
    }

    /// Reads a template. One that cannot be read is reported and stands for nothing.
    fn template(&mut self, leaf: &Leaf) -> Template {
        match template::analyse(&leaf.text) {
            Ok(uses) => {
                let mut errors = Vec::new();
                typing::check_uses(&uses, &self.names, &mut errors);
                self.report(leaf, errors);
            }
            Err(error) => {
                let at = leaf.locate(self.sources, error.range);
                let message = format!("the template cannot be read: {}", error.message);
                self.found.push(catalog::BAD_TEMPLATE.at(at, message).maybe_help(error.help));
                return Template::new("");
            }
        }
        Template { source: leaf.text.as_str().into(), origin: Origin::at(leaf.span) }
    }

    /// Binds a name for the steps that follow.
    fn bind(&mut self, name: &Spanned<String>, ty: Type) -> Arc<str> {
        let text: Arc<str> = name.value.as_str().into();
        let first = self.bound.iter().find(|bound| bound.value == text).map(|bound| bound.span);
        if first.is_none() && self.names.get(&text).is_some() {
            let kind =
                if Names::always().get(&text).is_some() { "is always in scope" } else { "is a field of the samples" };
            let message = format!("`{text}` cannot be bound: it {kind}");
            self.found.push(catalog::NAME_TWICE.at(name.span, message).help("choose another name"));
            return text;
        }
        if let (Some(first), Some(known)) = (first, self.names.get(&text))
            && !ty.fits(known)
        {
            let message = format!("`{text}` is bound to {ty} here, and to {known} before");
            self.found.push(catalog::WRONG_TYPE.at(name.span, message).related(first, "bound first here"));
        } else if first.is_none() {
            self.names.insert(text.clone(), ty);
            self.bound.push(Spanned::new(text.clone(), name.span));
        }
        text
    }
}
