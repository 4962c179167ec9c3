//! The type checker of expressions and templates.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic;
use crate::expr::{Expr, Function, Kind, Operator};
use crate::template::Use;
use crate::ty::Type;

/// The names that an expression may read, with their types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(Vec<(Arc<str>, Type)>);

impl Names {
    /// Adds a name; a later one hides an earlier one of the same name.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, ty: Type) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = ty,
            None => self.0.push((name, ty)),
        }
    }

    /// Adds names that are not there yet, each once: many fields at a time.
    pub fn extend_new(&mut self, names: impl IntoIterator<Item = (Arc<str>, Type)>) {
        self.0.extend(names);
    }

    /// The type of a name.
    pub fn get(&self, name: &str) -> Option<&Type> {
        self.0.iter().find(|(known, _)| &**known == name).map(|(_, ty)| ty)
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Type)> + Clone {
        self.0.iter().map(|(name, ty)| (&**name, ty))
    }

    /// The names without the possibility that these are missing.
    #[must_use]
    pub fn given(&self, defined: &[Arc<str>]) -> Self {
        let mut names = self.clone();
        for name in defined {
            if let Some(Type::Maybe(inner)) = self.get(name) {
                names.insert(name.clone(), (**inner).clone());
            }
        }
        names
    }

    /// The names that are always in scope, with their types.
    pub fn always() -> Self {
        let mut names = Self::default();
        names.insert("turn", Type::Int);
        names.insert("last", Type::Message);
        names.insert("messages", Type::List(Box::new(Type::Message)));
        names.insert("sample", Type::Record(vec![("id".into(), Type::Str), ("epoch".into(), Type::Int)]));
        names
    }
}

/// What kind of mistake it is; the compiler gives each its own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A name or attribute that does not exist.
    Unknown,
    /// A name that some samples lack.
    MayBeMissing,
    /// Types that do not go together.
    Type,
}

/// A mistake in an expression or template.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeError {
    /// Its kind.
    pub mistake: Mistake,
    /// Where, in bytes of the text.
    pub range: Range<usize>,
    /// What was seen and expected.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The outermost name that it is about.
    pub name: Option<Arc<str>>,
}

/// The type of an expression; mistakes are added to `errors`, and a part that has one counts as `any` from then on.
pub fn check(expr: &Expr, names: &Names, errors: &mut Vec<TypeError>) -> Type {
    Checker { names: names.clone(), errors }.ty(expr)
}

/// Checks that an expression is a condition.
pub fn check_condition(expr: &Expr, names: &Names, errors: &mut Vec<TypeError>) {
    Checker { names: names.clone(), errors }.condition(expr);
}

/// Checks what a template reads.
pub fn check_uses(uses: &[Use], names: &Names, errors: &mut Vec<TypeError>) {
    for one in uses {
        let Some((first, rest)) = one.path.split_first() else { continue };
        let mut checker = Checker { names: names.clone(), errors: &mut *errors };
        let range = one.at.range();
        let Some(mut ty) = names.get(first).cloned() else {
            if !one.guarded {
                checker.unknown_name(first, range);
            }
            continue;
        };
        if let Type::Maybe(inner) = &ty {
            if !one.guarded {
                checker.missing(first, range);
                continue;
            }
            ty = (**inner).clone();
        }
        for name in rest {
            ty = checker.attribute(&ty, name, range.clone());
        }
        if let Type::Maybe(inner) = &ty
            && one.guarded
        {
            ty = (**inner).clone();
        }
        if one.printed && !ty.is_printable() {
            let text = one.path.join(".");
            let help = match ty {
                Type::List(_) => {
                    format!("join it: `{{{{ {text} | join(', ') }}}}`, or print it as JSON: `{{{{ {text} | json }}}}`")
                }
                _ => format!("print one of its parts, or all as JSON: `{{{{ {text} | json }}}}`"),
            };
            checker.error(
                Mistake::Type,
                range,
                format!("`{text}` is {}, which does not print", article(&ty)),
                Some(help),
            );
        }
    }
}

/// A type with its article, for sentences.
fn article(ty: &Type) -> String {
    let text = ty.to_string();
    if text.starts_with(['a', 'i', 'u']) { format!("an {text}") } else { format!("a {text}") }
}

struct Checker<'e> {
    names: Names,
    errors: &'e mut Vec<TypeError>,
}

impl Checker<'_> {
    fn error(&mut self, mistake: Mistake, range: Range<usize>, message: String, help: Option<String>) -> Type {
        self.errors.push(TypeError { mistake, range, message, help, name: None });
        Type::Any
    }

    fn unknown_name(&mut self, name: &Arc<str>, range: Range<usize>) -> Type {
        let known: Vec<&str> = self.names.iter().map(|(name, _)| name).collect();
        let help = diagnostic::suggest(name, known);
        self.error(Mistake::Unknown, range, format!("`{name}` is not defined"), help);
        self.blame(name)
    }

    fn missing(&mut self, name: &Arc<str>, range: Range<usize>) -> Type {
        let help = format!(
            "ask first: `{{% if {name} is defined %}}`, `{name} is defined and …`, or give every sample the field"
        );
        self.error(Mistake::MayBeMissing, range, format!("`{name}` is missing in some samples"), Some(help));
        self.blame(name)
    }

    fn blame(&mut self, name: &Arc<str>) -> Type {
        if let Some(error) = self.errors.last_mut() {
            error.name = Some(name.clone());
        }
        Type::Any
    }

    fn attribute(&mut self, object: &Type, name: &str, range: Range<usize>) -> Type {
        if let Some(ty) = object.attribute(name) {
            return ty;
        }
        let known = object.attributes();
        let help = diagnostic::suggest(name, known.iter().map(String::as_str).collect::<Vec<_>>());
        self.error(Mistake::Unknown, range, format!("{} has no `{name}`", article(object)), help)
    }

    fn condition(&mut self, expr: &Expr) {
        let ty = self.ty(expr);
        if !matches!(ty, Type::Bool | Type::Any) {
            let help = Some(
                "a condition is a comparison, a test, or a boolean: `x == 'yes'`, `x is defined`, `length(x) > 0`"
                    .to_owned(),
            );
            self.error(
                Mistake::Type,
                expr.at.range(),
                format!("a condition must be a boolean, and this is {}", article(&ty)),
                help,
            );
        }
    }

    /// Runs `f` while the names that `test` found to be defined count as never missing.
    fn given<T>(&mut self, test: &Expr, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.names.clone();
        for name in defined_names(test) {
            if let Some(Type::Maybe(inner)) = self.names.get(&name) {
                let inner = (**inner).clone();
                self.names.insert(name, inner);
            }
        }
        let result = f(self);
        self.names = before;
        result
    }

    fn ty(&mut self, expr: &Expr) -> Type {
        let range = expr.at.range();
        match &expr.kind {
            Kind::Literal(value) => Type::of(value),
            Kind::Name(name) => match self.names.get(name).cloned() {
                None => self.unknown_name(name, range),
                Some(Type::Maybe(_)) => self.missing(name, range),
                Some(ty) => ty,
            },
            Kind::Attribute(object, name) => {
                let object = self.ty(object);
                self.attribute(&object, name, range)
            }
            Kind::Item(object, index) => self.item(expr, object, index),
            Kind::Not(a) => {
                self.condition(a);
                Type::Bool
            }
            Kind::And(a, b) => {
                self.condition(a);
                self.given(a, |checker| checker.condition(b));
                Type::Bool
            }
            Kind::Or(a, b) => {
                self.condition(a);
                self.condition(b);
                Type::Bool
            }
            Kind::Minus(a) => self.numeric(a, "-"),
            Kind::Compare(op, a, b) => self.compare(expr, op.is_order(), a, b),
            Kind::In(a, b) => self.contains(expr, b, a),
            Kind::Arithmetic(op, a, b) => self.arithmetic(*op, a, b),
            Kind::Defined(a) => {
                self.defined(a);
                Type::Bool
            }
            Kind::If(test, yes, no) => {
                self.condition(test);
                let yes = self.given(test, |checker| checker.ty(yes));
                yes.join(&self.ty(no))
            }
            Kind::Call(function, arguments) => self.call(expr, *function, arguments),
            Kind::List(items) => {
                let types: Vec<Type> = items.iter().map(|item| self.ty(item)).collect();
                Type::List(Box::new(types.into_iter().reduce(|a, b| a.join(&b)).unwrap_or(Type::Any)))
            }
            Kind::Map(pairs) => Type::Record(pairs.iter().map(|(key, value)| (key.clone(), self.ty(value))).collect()),
        }
    }

    fn defined(&mut self, expr: &Expr) {
        match &expr.kind {
            Kind::Name(name) if self.names.get(name).is_none() => {
                self.unknown_name(name, expr.at.range());
            }
            Kind::Name(_) => {}
            Kind::Attribute(object, _) => self.defined(object),
            _ => {
                self.ty(expr);
            }
        }
    }

    fn item(&mut self, expr: &Expr, object: &Expr, index: &Expr) -> Type {
        let (object, by) = (self.ty(object), self.ty(index));
        match (&object, &by) {
            (Type::List(item), Type::Int | Type::Any) => (**item).clone(),
            (Type::Record(_), Type::Str) => match index.constant() {
                Some(key) => self.attribute(&object, key.as_str().unwrap_or_default(), expr.at.range()),
                None => Type::Any,
            },
            (Type::Any, _) => Type::Any,
            _ => {
                let message = format!("{} cannot be indexed by {}", article(&object), article(&by));
                self.error(Mistake::Type, expr.at.range(), message, None)
            }
        }
    }

    fn numeric(&mut self, expr: &Expr, what: &str) -> Type {
        match self.ty(expr) {
            ty @ (Type::Int | Type::Number | Type::Any) => ty,
            other => {
                let message = format!("`{what}` needs numbers, and this is {}", article(&other));
                self.error(Mistake::Type, expr.at.range(), message, None)
            }
        }
    }

    fn arithmetic(&mut self, op: Operator, a: &Expr, b: &Expr) -> Type {
        if op == Operator::Concat {
            for part in [a, b] {
                let ty = self.ty(part);
                if !ty.is_printable() {
                    self.error(
                        Mistake::Type,
                        part.at.range(),
                        format!("`~` needs printable values, and this is {}", article(&ty)),
                        None,
                    );
                }
            }
            return Type::Str;
        }
        let before = self.errors.len();
        let (a, b) = (self.numeric(a, op.sign()), self.numeric(b, op.sign()));
        if op == Operator::Add && self.errors.len() > before {
            let help = Some("texts are joined with `~`".to_owned());
            self.errors.iter_mut().skip(before).filter(|e| e.help.is_none()).for_each(|e| e.help.clone_from(&help));
        }
        match op {
            Operator::Divide => Type::Number,
            _ => a.join(&b),
        }
    }

    fn compare(&mut self, expr: &Expr, order: bool, a: &Expr, b: &Expr) -> Type {
        let (a, b) = (self.ty(a), self.ty(b));
        let number = |ty: &Type| matches!(ty, Type::Int | Type::Number | Type::Any);
        let text = |ty: &Type| matches!(ty, Type::Str | Type::Any);
        let comparable = if order {
            (number(&a) && number(&b)) || (text(&a) && text(&b))
        } else {
            a == Type::Null || b == Type::Null || a.fits(&b) || b.fits(&a)
        };
        if !comparable {
            let message = format!("{} is compared with {}", article(&a), article(&b));
            let help = order.then(|| "order is defined between numbers and between texts".to_owned());
            self.error(Mistake::Type, expr.at.range(), message, help);
        }
        Type::Bool
    }

    fn contains(&mut self, expr: &Expr, haystack: &Expr, needle: &Expr) -> Type {
        let (h, n) = (self.ty(haystack), self.ty(needle));
        let sensible = match &h {
            Type::Any | Type::Record(_) => true,
            Type::Str => n.fits(&Type::Str),
            Type::List(item) => n.fits(item) || item.fits(&n),
            _ => false,
        };
        if !sensible {
            self.error(Mistake::Type, expr.at.range(), format!("{} cannot be in {}", article(&n), article(&h)), None);
        }
        Type::Bool
    }

    fn call(&mut self, expr: &Expr, function: Function, arguments: &[Expr]) -> Type {
        if let (Function::Default, [value, otherwise]) = (function, arguments) {
            let value_ty = match &value.kind {
                Kind::Name(name) if self.names.get(name).is_some() => {
                    self.names.get(name).cloned().unwrap_or(Type::Any)
                }
                _ => self.ty(value),
            };
            let value_ty = if let Type::Maybe(inner) = value_ty { *inner } else { value_ty };
            return value_ty.join(&self.ty(otherwise));
        }
        let types: Vec<Type> = arguments.iter().map(|argument| self.ty(argument)).collect();
        let list = |ty: &Type| matches!(ty, Type::List(_) | Type::Any);
        let text = |ty: &Type| ty.fits(&Type::Str);
        let number = |ty: &Type| ty.fits(&Type::Number);
        let item = |ty: &Type| if let Type::List(item) = ty { (**item).clone() } else { Type::Any };
        let (fits, gives) = match (function, types.as_slice()) {
            (Function::Length, [a]) => (list(a) || text(a) || matches!(a, Type::Record(_)), Type::Int),
            (Function::Lower | Function::Upper | Function::Trim, [a]) => (text(a), Type::Str),
            (Function::Contains, [a, b]) => ((text(a) && text(b)) || list(a), Type::Bool),
            (Function::StartsWith | Function::EndsWith, [a, b]) => (text(a) && text(b), Type::Bool),
            (Function::Matches, [a, b]) => {
                self.pattern(arguments.get(1));
                (text(a) && text(b), Type::Bool)
            }
            (Function::Capture, [a, b]) => {
                self.pattern(arguments.get(1));
                (text(a) && text(b), Type::Maybe(Box::new(Type::Str)))
            }
            (Function::First | Function::Last, [a]) => (list(a), item(a)),
            (Function::Min | Function::Max | Function::Sum, [a]) => (list(a) && number(&item(a)), item(a)),
            (Function::Join, [a, b]) => (list(a) && item(a).is_printable() && text(b), Type::Str),
            (Function::Abs, [a]) => (number(a), a.clone()),
            (Function::Round, [a, ..]) => (types.iter().all(number), a.clone()),
            (Function::Text, [a]) => (a.is_printable(), Type::Str),
            (Function::JudgedTurns | Function::Turns, _) => (true, Type::List(Box::new(Type::Int))),
            (Function::SaidIn, [a, rest @ ..]) => (a.fits(&Type::Int) && rest.iter().all(text), Type::Str),
            _ => (false, Type::Any),
        };
        if !fits {
            let kinds: Vec<String> = types.iter().map(article).collect();
            let message = format!("`{}` cannot take {}", function.name(), kinds.join(" and "));
            return self.error(Mistake::Type, expr.at.range(), message, Some(function.doc().to_owned()));
        }
        gives
    }

    fn pattern(&mut self, pattern: Option<&Expr>) {
        let Some(pattern) = pattern else { return };
        if let Some(text) = pattern.constant()
            && let Some(text) = text.as_str()
            && let Err(why) = crate::eval::regex(text)
        {
            self.error(Mistake::Type, pattern.at.range(), format!("`{text}` is no regular expression: {why}"), None);
        }
    }
}

/// The names that are surely defined where `test` holds.
/// The names that are surely defined where a condition holds, or where it does not.
pub fn defined_where(test: &Expr, holds: bool) -> Vec<Arc<str>> {
    match &test.kind {
        Kind::Not(inner) => defined_where(inner, !holds),
        Kind::And(a, b) if holds => [defined_where(a, true), defined_where(b, true)].concat(),
        Kind::Or(a, b) if !holds => [defined_where(a, false), defined_where(b, false)].concat(),
        _ if holds => defined_names(test),
        _ => Vec::new(),
    }
}

fn defined_names(test: &Expr) -> Vec<Arc<str>> {
    match &test.kind {
        Kind::Defined(inner) => match &inner.kind {
            Kind::Name(name) => vec![name.clone()],
            _ => Vec::new(),
        },
        Kind::And(a, b) => [defined_names(a), defined_names(b)].concat(),
        _ => Vec::new(),
    }
}
