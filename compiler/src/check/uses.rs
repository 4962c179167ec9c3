//! What definitions are given.

use std::sync::Arc;

use aigo_ir::diagnostic;
use aigo_ir::expr::{Expr, Function, Kind};
use aigo_ir::span::{Origin, Spanned};
use aigo_ir::template;
use aigo_ir::ty::Type;
use aigo_ir::typing;
use aigo_ir::value::Value;

use super::Checker;
use crate::ast::{self, Argument, Leaf, Tree};
use crate::catalog;
use crate::define::{self, Parameter};
use crate::typed::{Binding, Scorer};

impl Checker<'_> {
    /// What each parameter is bound to.
    pub(super) fn arguments(
        &mut self,
        name: &Spanned<String>,
        params: &[Parameter],
        with: &[Argument],
    ) -> Vec<Binding> {
        for argument in with {
            if !params.iter().any(|param| param.name.value == argument.name.value) {
                let message = format!("`{}` takes no `{}`", name.value, argument.name.value);
                let known: Vec<&str> = params.iter().map(|param| param.name.value.as_str()).collect();
                let mut found = catalog::BAD_ARGUMENT.at(argument.name.span, message);
                found = match diagnostic::nearest(&argument.name.value, known.iter().copied()) {
                    Some(near) => found.help(format!("did you mean `{near}`?")).fix(
                        format!("write `{near}`"),
                        argument.name.span,
                        near,
                    ),
                    None if known.is_empty() => found.help("it takes nothing: remove it"),
                    None => found.maybe_help(diagnostic::suggest(&argument.name.value, known)),
                };
                self.found.push(found);
            }
        }
        params.iter().filter_map(|param| self.bound_to(name, param, with)).collect()
    }

    fn bound_to(&mut self, name: &Spanned<String>, param: &Parameter, with: &[Argument]) -> Option<Binding> {
        let given = with.iter().find(|argument| argument.name.value == param.name.value);
        let Some(argument) = given else {
            let Some(default) = &param.default else {
                // A misspelt argument was surely meant for one that is missing.
                let misspelt = with
                    .iter()
                    .any(|argument| diagnostic::nearest(&argument.name.value, [param.name.value.as_str()]).is_some());
                if !misspelt {
                    let message = format!("`{}` needs `{}` of type {}", name.value, param.name.value, param.ty);
                    let help = format!("add it: `with: {{{}: …}}`", param.name.value);
                    let found = catalog::BAD_ARGUMENT.at(name.span, message);
                    self.found.push(found.related(param.name.span, "the parameter").help(help));
                }
                return None;
            };
            return Some((param.slot.clone(), param.ty.clone(), Expr::literal(default.clone())));
        };
        let (expr, ty) = match (&param.ty, &argument.value) {
            (ty, Tree::Text(leaf)) if *ty == Type::persona() => self.persona_named(leaf)?,
            (Type::Maybe(_), Tree::Text(leaf)) if !template::is_literal(&leaf.text) => self.maybe(leaf)?,
            _ => self.tree(&argument.value)?,
        };
        if !ty.fits(&param.ty) {
            let message =
                format!("`{}` of `{}` is of type {}, and this is of type {ty}", param.name.value, name.value, param.ty);
            let found = catalog::WRONG_TYPE.at(argument.value.span(), message);
            self.found.push(found.related(param.name.span, "the parameter").help("give it a value of that type"));
            return None;
        }
        Some((param.slot.clone(), param.ty.clone(), expr))
    }

    /// A value whose texts may be templates, as an expression.
    pub(super) fn tree(&mut self, tree: &Tree) -> Option<(Expr, Type)> {
        Some(match tree {
            Tree::Text(leaf) => self.filled(leaf)?,
            Tree::Plain(value, _) => (Expr::literal(value.clone()), Type::of(value)),
            Tree::List(items, _) => {
                let items: Vec<(Expr, Type)> = items.iter().map(|item| self.tree(item)).collect::<Option<_>>()?;
                let (items, types): (Vec<Expr>, Vec<Type>) = items.into_iter().unzip();
                let item = types.into_iter().reduce(|a, b| a.join(&b)).unwrap_or(Type::Any);
                (Expr::list(items), Type::List(Box::new(item)))
            }
            Tree::Map(pairs, _) => {
                let mut exprs = Vec::new();
                let mut types = Vec::new();
                for (key, value) in pairs {
                    let (expr, ty) = self.tree(value)?;
                    exprs.push((key.as_str().into(), expr));
                    types.push((key.as_str().into(), ty));
                }
                (Expr::map(exprs), Type::Record(types))
            }
        })
    }

    /// A text that may be a template, as an expression: `{{ x }}` alone is the value itself.
    fn filled(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        if template::is_literal(&leaf.text) {
            return Some((Expr::literal(leaf.text.as_str()), Type::Str));
        }
        self.template_as_expression(leaf)
    }

    /// What some samples lack, for a parameter that may be missing: there it is null.
    fn maybe(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let Ok(Some(expr)) = template::as_expression(&leaf.text) else { return self.template_as_expression(leaf) };
        let expr = Expr::call(Function::Default, vec![expr, Expr::literal(Value::Null)]);
        let mut errors = Vec::new();
        let ty = typing::check(&expr, &self.names, &mut errors);
        self.report(leaf, &catalog::BAD_TEMPLATE, errors);
        Some((self.renamed(&expr), ty))
    }

    fn template_as_expression(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let unreadable = match template::as_expression(&leaf.text) {
            Ok(Some(expr)) => {
                let mut errors = Vec::new();
                let ty = typing::check(&expr, &self.names, &mut errors);
                self.report(leaf, &catalog::BAD_TEMPLATE, errors);
                return Some((self.renamed(&expr), ty));
            }
            Ok(None) => {
                let message = "statements cannot stand in what a definition is given: only text and `{{ … }}`";
                let help = "compute it before: `- set: {name: …}`, and give `{{ name }}`";
                catalog::BAD_TEMPLATE.at(leaf.span, message).help(help)
            }
            Err(error) => {
                let at = leaf.locate(self.sources, error.range);
                let message = format!("the template cannot be read: {}", error.message);
                catalog::BAD_TEMPLATE.at(at, message).maybe_help(error.help)
            }
        };
        self.found.push(unreadable);
        None
    }

    /// A persona that a parameter is given by its name, with what its definition says. Any other text is one that has to do
    /// nothing and probes nothing.
    fn persona_named(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        let (name, ty) = self.filled(leaf)?;
        if !ty.fits(&Type::Str) {
            return Some((name, ty));
        }
        self.slip(leaf);
        let texts = |texts: &mut dyn Iterator<Item = &str>| Value::list(texts.map(Value::str).collect());
        let known = self.scope.personas.iter().map(|(name, persona)| {
            let said = Value::map([
                ("name", Value::str(name.as_str())),
                ("text", Value::str(persona.text.text.trim_end())),
                ("must", texts(&mut persona.must.iter().map(String::as_str))),
                ("probes", texts(&mut persona.probes.iter().map(|probe| probe.value.as_str()))),
            ]);
            (name.as_str().into(), Expr::literal(said))
        });
        let known: Vec<(Arc<str>, Expr)> = known.collect();
        let none = || Expr::literal(Value::list(Vec::new()));
        let other = Expr::map(vec![
            ("name".into(), name.clone()),
            ("text".into(), name.clone()),
            ("must".into(), none()),
            ("probes".into(), none()),
        ]);
        let literal = name.constant();
        let chosen = match literal.as_ref().and_then(Value::as_str) {
            Some(text) => known.into_iter().find(|(name, _)| **name == *text).map_or(other, |(_, said)| said),
            None if known.is_empty() => other,
            None => {
                let found = Expr::new(Kind::Item(Box::new(Expr::map(known)), Box::new(name)));
                Expr::call(Function::Default, vec![found, other])
            }
        };
        Some((chosen, Type::persona()))
    }

    /// Reports a word that is no persona's name, and nearly one.
    fn slip(&mut self, leaf: &Leaf) {
        let (personas, name) = (&self.scope.personas, leaf.text.trim());
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || personas.contains_key(name) {
            return;
        }
        let Some(near) = diagnostic::nearest(name, personas.keys().map(String::as_str)) else { return };
        let found = catalog::UNKNOWN_DEFINITION.at(leaf.span, format!("there is no persona `{name}`"));
        let found = found.help(format!("did you mean `{near}`?"));
        self.found.push(found.fix(format!("write `{near}`"), leaf.span, near));
    }

    /// The text of a persona: a name of one that is defined stands for its text.
    pub(super) fn persona(&mut self, leaf: &Leaf) -> crate::typed::Persona {
        use crate::typed::Persona;
        let personas = &self.scope.personas;
        if personas.is_empty() {
            return Persona::Text(self.template(leaf));
        }
        if template::is_literal(&leaf.text) {
            if let Some(persona) = personas.get(leaf.text.trim()) {
                let text = persona.text.clone();
                return Persona::Text(self.template(&text));
            }
            self.slip(leaf);
            return Persona::Text(self.template(leaf));
        }
        match self.template_as_expression(leaf) {
            Some((expr, Type::Str | Type::Any)) => {
                let texts = personas.iter().map(|(name, persona)| {
                    (name.as_str().into(), Expr::literal(Value::str(persona.text.text.as_str())))
                });
                let found = Expr::new(Kind::Item(Box::new(Expr::map(texts.collect())), Box::new(expr.clone())));
                Persona::Named(Expr::call(Function::Default, vec![found, expr]))
            }
            _ => Persona::Text(self.template(leaf)),
        }
    }

    /// A `use` as a step.
    pub(super) fn used(&mut self, used: &ast::Use) -> Option<crate::typed::Verb> {
        let scope = self.scope;
        let Some(defined) = scope.solvers.get(&used.name.value) else {
            let known = scope.solvers.keys().map(String::as_str);
            self.found.extend(define::unknown(&used.name, "list of steps", known, scope));
            return None;
        };
        let arguments = self.arguments(&used.name, &defined.params, &used.with);
        Some(crate::typed::Verb::Use { arguments, steps: std::sync::Arc::clone(&defined.steps) })
    }

    /// A scorer that a definition is: typed where it is written, with what is given here.
    pub(super) fn used_scorer(&mut self, scorer: &ast::Scorer, used: &ast::Use) -> Option<Scorer> {
        let defined = self.scope.scorers.get(&used.key())?;
        let mut given = self.arguments(&used.name, &defined.params, &used.with);
        let when = scorer.when.as_ref().and_then(|leaf| self.applies(leaf));
        let typed = defined.scorer.clone();
        given.extend(typed.given);
        self.repeats(scorer, &typed.method);
        Some(Scorer {
            name: scorer.name.value.as_str().into(),
            pass: self.pass(scorer, typed.method.scale()),
            over: scorer.over.as_ref().map(|over| over.value),
            at: scorer.at.as_ref().map(|at| at.value.as_str().into()),
            runs: scorer.runs.as_ref().map(|runs| runs.value),
            confirm: scorer.confirm.as_ref().map(|confirm| confirm.value),
            completion: scorer.completion == Some(true),
            when: when.or(typed.when),
            voids: typed.voids,
            tags: scorer.tags.iter().map(|tag| tag.value.as_str().into()).collect(),
            given,
            library: typed.library,
            origin: Origin::at(scorer.span),
            method: typed.method,
        })
    }
}
