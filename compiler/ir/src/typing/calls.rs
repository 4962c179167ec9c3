//! Functions and filters: whether they take what they are given, and what they give.

use super::checker::Checker;
use super::words::describe;
use super::{Mistake, Type};
use crate::expr::{Expr, Function, Gives, Kind, Param};

impl Param {
    /// Whether a value of this type can stand in the place.
    pub(super) fn takes(self, ty: &Type) -> bool {
        let map = |ty: &Type| {
            matches!(ty, Type::Record(_) | Type::Message | Type::Reply | Type::Verdict | Type::UserTurn | Type::Any)
        };
        let items = |fits: fn(&Type) -> bool| match ty {
            Type::List(item) => fits(item),
            other => *other == Type::Any,
        };
        match self {
            Self::Any | Self::Optional => true,
            Self::Text | Self::Pattern => ty.fits(&Type::Str),
            Self::Number => ty.fits(&Type::Number),
            Self::Int => ty.fits(&Type::Int),
            Self::Printable => ty.is_printable(),
            Self::Sized => matches!(ty, Type::Str | Type::List(_)) || map(ty),
            Self::TextOrList => matches!(ty, Type::Str | Type::List(_) | Type::Any),
            Self::Map => map(ty),
            Self::List => matches!(ty, Type::List(_) | Type::Any),
            Self::Printables => items(Type::is_printable),
            Self::Numbers => items(|item| item.fits(&Type::Number)),
            Self::Ordered => items(|item| matches!(item, Type::Int | Type::Number | Type::Str | Type::Any)),
            Self::Booleans => items(|item| matches!(item, Type::Bool | Type::Any)),
        }
    }
}

impl Checker<'_, '_> {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expr]) -> Type {
        if let (Function::Default, [value, otherwise]) = (function, arguments) {
            return self.default(value, otherwise);
        }
        if function == Function::Range && self.in_template {
            self.range_is_free(arguments);
        }
        if function == Function::Range {
            self.range_in_reach(arguments);
        }
        let mut types = Vec::with_capacity(arguments.len());
        for (param, argument) in function.params().iter().zip(arguments) {
            types.extend(self.argument(function, *param, argument));
        }
        // Of what it cannot take it gives nothing that could be a second mistake.
        if types.len() < arguments.len() {
            return Type::Any;
        }
        if let (Function::Contains, [haystack, needle], [h, n]) = (function, arguments, types.as_slice()) {
            self.holds(haystack, h, needle, n);
        }
        gives(function, &types)
    }

    /// The type of an argument, if it fits.
    fn argument(&mut self, function: Function, param: Param, argument: &Expr) -> Option<Type> {
        let ty = if param == Param::Any { self.ty(argument) } else { self.need(argument) };
        if !param.takes(&ty) {
            let message = format!("`{}` takes {}, and {}", function.name(), param.words(), self.is(argument, &ty));
            let help = self.conversion(param, argument, &ty);
            self.mismatch(argument, message, help);
            return None;
        }
        if param == Param::Pattern {
            self.pattern(argument);
        }
        Some(ty)
    }

    /// How to make of the value what is wanted.
    fn conversion(&self, param: Param, argument: &Expr, ty: &Type) -> String {
        let text = self.text(argument);
        let operand = if text.contains(' ') { format!("({text})") } else { text };
        match (param, ty) {
            (Param::Text | Param::Pattern, Type::List(item)) if item.is_printable() => {
                format!("join the list first: `{operand} | join(', ')`")
            }
            (Param::Text | Param::Pattern, Type::Message | Type::Reply) => format!("take its text: `{operand}.text`"),
            (Param::Text | Param::Pattern, ty) if ty.is_printable() => {
                format!("make it a text first: `{operand} | string`")
            }
            (Param::Number | Param::Int, Type::Str) => {
                "a text that holds a number stays a text: write the number without quotes".to_owned()
            }
            (Param::Int, Type::Number) => "write a whole number".to_owned(),
            (Param::Number, Type::List(_)) => format!("take one number of it: `{operand} | first`, `{operand} | sum`"),
            (Param::Printable, _) => format!("print it as JSON: `{operand} | json`"),
            (
                Param::List | Param::Printables | Param::Ordered | Param::Numbers | Param::Booleans | Param::TextOrList,
                Type::Str,
            ) => format!("make it a list first: `{operand} | split(',')`"),
            (Param::Printables, Type::List(_)) => {
                format!("print it as JSON: `{operand} | json`, or go through it with `for`")
            }
            (Param::List | Param::Printables | Param::TextOrList, ty) if Param::Map.takes(ty) => {
                format!("make it a list first: `{operand} | items`, or `{operand} | list` for its keys")
            }
            (Param::List | Param::Printables, _) => format!("write a list: `[{operand}]`"),
            _ => format!("give it {}", param.words()),
        }
    }

    /// The first, where it is there; a path may be missing here.
    fn default(&mut self, value: &Expr, otherwise: &Expr) -> Type {
        let ty =
            if value.root().is_some() { self.place(value, !self.in_template).into_owned() } else { self.ty(value) };
        let there = match ty {
            Type::Maybe(inner) => *inner,
            // Nothing but nothing was given, so the second it is.
            Type::Null => return self.ty(otherwise),
            ty => ty,
        };
        let second = self.ty(otherwise);
        self.one_of((value, &there), (otherwise, &second))
    }

    /// In a template a value hides a function of its name.
    fn range_is_free(&mut self, arguments: &[Expr]) {
        if self.flow.local("range").is_some() || self.outer.get("range").is_some() {
            let at = arguments.first().map_or(0..0, |first| first.at.range());
            let message = "`range` is a value here, which hides the function".to_owned();
            self.error(Mistake::Type, at, message, "choose another name for the value");
        }
    }

    fn holds(&mut self, haystack: &Expr, h: &Type, needle: &Expr, n: &Type) {
        let (sensible, help) = match h {
            Type::Str => (n.fits(&Type::Str), "in a string only strings are found"),
            Type::List(item) => (n.fits(item) || item.fits(n), "a list holds items of one type; ask for one of these"),
            _ => (true, ""),
        };
        if !sensible {
            let message = format!("{}, and cannot contain {}", self.is(haystack, h), describe(n));
            self.mismatch(needle, message, help);
        }
    }

    fn pattern(&mut self, pattern: &Expr) {
        if let Kind::Literal(value) = &pattern.kind
            && let Some(text) = value.as_str()
            && let Err(why) = crate::eval::regex(text)
        {
            let message = format!("`{}` is no regular expression: {why}", crate::text::excerpt(text, 60));
            self.mismatch(pattern, message, "the syntax is that of Rust's `regex`");
        }
    }
}

/// What a function gives for arguments of these types.
fn gives(function: Function, types: &[Type]) -> Type {
    let first = || types.first().cloned().unwrap_or(Type::Any);
    let list = |item: Type| Type::List(Box::new(item));
    match function.gives() {
        Gives::Text => Type::Str,
        Gives::MaybeText => Type::Maybe(Box::new(Type::Str)),
        Gives::Bool => Type::Bool,
        Gives::Int => Type::Int,
        Gives::Ints => list(Type::Int),
        Gives::Texts => list(Type::Str),
        Gives::Pairs => list(list(Type::Any)),
        Gives::Same | Gives::Either => first(),
        Gives::Item => match first() {
            Type::List(item) => *item,
            _ => Type::Any,
        },
        Gives::Listed => match first() {
            Type::List(item) => list(*item),
            Type::Any => list(Type::Any),
            _ => list(Type::Str),
        },
    }
}

/// The type of a map's values that are there.
pub(super) fn values_of(map: &Type) -> Type {
    let there = |ty: Type| if let Type::Maybe(inner) = ty { *inner } else { ty };
    let types = map.attributes().into_iter().filter_map(|name| map.attribute(&name)).map(there);
    types.filter(|ty| *ty != Type::Null).reduce(|a, b| a.join(&b)).unwrap_or(Type::Any)
}
