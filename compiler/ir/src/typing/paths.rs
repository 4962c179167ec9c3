//! Names, attributes and items: whether they exist, whether they are there, and what they are.

use std::borrow::Cow;
use std::sync::Arc;

use super::checker::Checker;
use super::flow::{Bound, Fact};
use super::words::{describe, suggestion};
use super::{Mistake, Type};
use crate::expr::{At, Expr, Function, Kind};

/// Behind so many mistakes of one text no more names are suggested.
const MOST_SUGGESTED: usize = 100;

impl<'n> Checker<'n, '_> {
    /// The type of a path that has to be there.
    pub(super) fn read(&mut self, path: &Expr) -> Type {
        match self.place(path, false) {
            Cow::Owned(Type::Maybe(_)) | Cow::Borrowed(Type::Maybe(_)) => self.missing(path),
            ty => ty.into_owned(),
        }
    }

    /// The type of a path, or of any other expression. What may be missing stays so; what it goes through has to be there,
    /// unless `asked`: then the question is about all of it.
    pub(super) fn place(&mut self, expr: &Expr, asked: bool) -> Cow<'n, Type> {
        let ty = match &expr.kind {
            Kind::Name(name) => self.name(expr, name),
            Kind::Attribute(object, name) => {
                let owner = self.owner(object, asked);
                self.attribute(object, &owner, name, expr.at)
            }
            Kind::Item(object, index) => {
                let owner = self.owner(object, asked);
                self.item(expr, object, owner, index)
            }
            _ => return Cow::Owned(self.ty(expr)),
        };
        if self.flow.facts.is_empty() || !matches!(*ty, Type::Maybe(_) | Type::Any) {
            return ty;
        }
        self.narrowed(expr, ty)
    }

    /// What conditions have found out of the path.
    fn narrowed(&self, expr: &Expr, ty: Cow<'n, Type>) -> Cow<'n, Type> {
        let mut facts = self.flow.facts.iter().filter(|Fact { path, .. }| path == expr).peekable();
        if facts.peek().is_none() {
            return ty;
        }
        let there = match ty {
            Cow::Owned(Type::Maybe(inner)) => Cow::Owned(*inner),
            Cow::Borrowed(Type::Maybe(inner)) => Cow::Borrowed(&**inner),
            ty => ty,
        };
        match facts.find_map(|fact| fact.ty.clone()) {
            Some(known) if *there == Type::Any => Cow::Owned(known),
            _ => there,
        }
    }

    fn name(&mut self, expr: &Expr, name: &Arc<str>) -> Cow<'n, Type> {
        if expr.is_hole() {
            return Cow::Owned(Type::Any);
        }
        if let Some(local) = self.flow.local(name) {
            let ty = local.ty.clone();
            return Cow::Owned(match local.bound {
                Bound::Surely => ty,
                Bound::OnOneBranch => match ty {
                    ty @ (Type::Maybe(_) | Type::Null) => ty,
                    ty => Type::Maybe(Box::new(ty)),
                },
                Bound::OrOuter => self.mismatch(
                    expr,
                    format!("`{name}` is set on one branch only, and is another value on the others"),
                    "choose another name for what is set, or set it on every branch",
                ),
            });
        }
        match self.outer.get(name) {
            Some(ty) => Cow::Borrowed(ty),
            None => Cow::Owned(self.unknown_name(expr, name)),
        }
    }

    fn unknown_name(&mut self, expr: &Expr, name: &Arc<str>) -> Type {
        let outer = self.outer;
        let locals: Vec<Arc<str>> = self.flow.locals.iter().map(|local| local.name.clone()).collect();
        let known = locals.iter().map(|name| &**name).chain(outer.iter().map(|(name, _)| name));
        let (help, fix) = match &**name {
            "loop" => (Some("`loop` is there in the body of a `for`".to_owned()), None),
            // Nearness costs a look at every name, and a text can have thousands of mistakes.
            _ if self.errors.len() > MOST_SUGGESTED => (Some("see the help of the mistakes before".to_owned()), None),
            _ => suggestion(name, known),
        };
        let help = help.unwrap_or_else(|| "nothing can be read here".to_owned());
        self.error(Mistake::Unknown, expr.at.range(), format!("`{name}` is not defined"), help);
        if let Some(error) = self.errors.last_mut() {
            error.fix = fix;
            error.name = Some(name.clone());
        }
        Type::Any
    }

    /// The type of what an attribute or item is taken from.
    fn owner(&mut self, object: &Expr, asked: bool) -> Cow<'n, Type> {
        match self.place(object, asked) {
            Cow::Owned(Type::Maybe(inner)) if asked => Cow::Owned(*inner),
            Cow::Borrowed(Type::Maybe(inner)) if asked => Cow::Borrowed(inner),
            Cow::Owned(Type::Maybe(_)) | Cow::Borrowed(Type::Maybe(_)) => Cow::Owned(self.missing(object)),
            ty => ty,
        }
    }

    fn attribute(&mut self, object: &Expr, owner: &Cow<'n, Type>, name: &str, at: At) -> Cow<'n, Type> {
        if let Cow::Borrowed(Type::Record(fields)) = *owner
            && let Some((_, ty)) = fields.iter().find(|(known, _)| &**known == name)
        {
            return Cow::Borrowed(ty);
        }
        if let Some(ty) = owner.attribute(name) {
            return Cow::Owned(ty);
        }
        let text = self.text(object);
        let known = owner.attributes();
        let (mut help, mut fix) = suggestion(name, known.iter().map(String::as_str));
        if known.is_empty()
            && let Some(function) = Function::named(name).or_else(|| Function::meant_by(name))
        {
            let name = function.name();
            help = Some(if self.in_template {
                format!("write `{text} | {name}`")
            } else {
                format!("write `{name}({text})`")
            });
            fix = None;
        }
        let help = help.unwrap_or_else(|| format!("{} has no attributes", describe(owner)));
        let message = format!("`{text}` is {}, which has no `{name}`", describe(owner));
        // The name is what stands last in the path.
        let length = u32::try_from(name.len()).unwrap_or(0);
        let named = At(at.1.saturating_sub(length).max(at.0), at.1);
        self.error(Mistake::Unknown, named.range(), message, help);
        if let Some(error) = self.errors.last_mut() {
            error.fix = fix;
        }
        Cow::Owned(Type::Any)
    }

    fn item(&mut self, expr: &Expr, object: &Expr, owner: Cow<'n, Type>, index: &Expr) -> Cow<'n, Type> {
        let by = self.need(index);
        let key = index.constant();
        self.index_in_reach(object, index, key.as_ref());
        let key = key.as_ref().and_then(|key| key.as_str());
        match (owner, &by) {
            (Cow::Borrowed(Type::List(item)), Type::Int | Type::Any) => Cow::Borrowed(item),
            (Cow::Owned(Type::List(item)), Type::Int | Type::Any) => Cow::Owned(*item),
            (owner, Type::Str) if !matches!(*owner, Type::List(_) | Type::Str | Type::Any) && key.is_some() => {
                // The place of the key, without the bracket behind it.
                let found = owner.attribute(key.unwrap_or_default());
                match found {
                    Some(ty) => Cow::Owned(ty),
                    None => {
                        let known = owner.attributes();
                        let (help, _) = suggestion(key.unwrap_or_default(), known.iter().map(String::as_str));
                        let text = self.text(object);
                        let message =
                            format!("`{text}` is {}, which has no `{}`", describe(&owner), key.unwrap_or_default());
                        let help = help.unwrap_or_else(|| format!("{} has no keys", describe(&owner)));
                        Cow::Owned(self.error(Mistake::Unknown, index.at.range(), message, help))
                    }
                }
            }
            (owner, Type::Str | Type::Any) if matches!(*owner, Type::Record(_)) => Cow::Owned(any_entry(&owner)),
            (owner, _) if *owner == Type::Any => Cow::Owned(Type::Any),
            (owner, _) => {
                let message = format!("{}, and is not indexed by {}", self.is(object, &owner), describe(&by));
                let help = match *owner {
                    Type::List(_) => "items of a list are taken by an integer: `x[0]`, `x[-1]`",
                    Type::Str => "texts have no items: take a part with `split`, `capture` or `words`",
                    Type::Record(_) => "values of a map are taken by a string: `x.key`, `x['key']`",
                    _ => "only lists and maps have items",
                };
                Cow::Owned(self.mismatch(expr, message, help))
            }
        }
    }

    /// A path is read that may be missing, where nobody asked.
    fn missing(&mut self, path: &Expr) -> Type {
        let text = self.text(path);
        let local = path.root().and_then(|root| self.flow.local(root));
        let (message, from_outside) = match (&path.kind, local) {
            (Kind::Name(_), Some(local)) if local.bound == Bound::OnOneBranch => {
                (format!("`{text}` is not set on every branch before"), false)
            }
            (Kind::Name(_), Some(_)) => (format!("`{text}` may be null"), false),
            (Kind::Name(_), None) => (format!("`{text}` is missing in some samples"), true),
            _ => (format!("`{text}` may be missing"), false),
        };
        let help = if self.in_template {
            format!("ask first: `{{% if {text} is defined %}}`, or give a default: `{text} | default(…)`")
        } else {
            format!("ask first: `{text} is defined and …`, or give a default: `default({text}, …)`")
        };
        self.error(Mistake::MayBeMissing, path.at.range(), message, help);
        if from_outside && let (Kind::Name(name), Some(error)) = (&path.kind, self.errors.last_mut()) {
            error.name = Some(name.clone());
        }
        Type::Any
    }

    /// `x is defined`: the path may be missing, but it has to be possible.
    pub(super) fn defined(&mut self, expr: &Expr) -> Type {
        // To the engine of templates an attribute of what is missing is a fault, so there each step is asked for.
        let asked = !self.in_template;
        self.place(expr, asked);
        Type::Bool
    }
}

/// The type of the entries of a map, whichever is taken.
fn any_entry(map: &Type) -> Type {
    let Type::Record(entries) = map else { return Type::Any };
    entries.iter().map(|(_, ty)| ty.clone()).reduce(|a, b| a.join(&b)).unwrap_or(Type::Any)
}
