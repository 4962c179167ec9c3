//! The type checker of expressions and templates.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use crate::expr::{Expr, Kind};
use crate::expr_parse;
use crate::template::SyntaxError;
use crate::ty::Type;

mod calls;
mod checker;
mod fails;
mod flow;
mod operators;
mod paths;
mod statements;
mod words;

use checker::Checker;
pub use statements::check_template;
pub use words::describe;

/// The names that an expression may read, with their types. A clone shares them until one of the two is changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(Arc<Vec<(Arc<str>, Type)>>);

impl Names {
    /// Adds a name; a later one hides an earlier one of the same name.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, ty: Type) {
        let name = name.into();
        let names = Arc::make_mut(&mut self.0);
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = ty,
            None => names.push((name, ty)),
        }
    }

    /// Adds names that are not there yet, each once: many fields at a time.
    pub fn extend_new(&mut self, names: impl IntoIterator<Item = (Arc<str>, Type)>) {
        Arc::make_mut(&mut self.0).extend(names);
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
        static ALWAYS: LazyLock<Names> = LazyLock::new(|| {
            let mut names = Names::default();
            names.insert("turn", Type::Int);
            names.insert("last", Type::Message);
            names.insert("messages", Type::List(Box::new(Type::Message)));
            names.insert("sample", Type::Record(vec![("id".into(), Type::Str), ("epoch".into(), Type::Int)]));
            names
        });
        ALWAYS.clone()
    }
}

/// What kind of mistake it is; the compiler gives each its own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It cannot be read, or uses what the language does not have.
    Syntax,
    /// A name or attribute that does not exist.
    Unknown,
    /// A value that some samples lack, or that is not set on every way.
    MayBeMissing,
    /// Types that do not go together.
    Type,
    /// What can only fail when it is computed: a division by 0, an item that a list does not have.
    Fails,
    /// A condition that is no boolean. Of the engine any value is a condition, so templates of recorded programs may have them.
    Condition,
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
    /// The text that surely mends it, in place of the range.
    pub fix: Option<String>,
    /// The outermost name that it is about, where that comes from outside of the text.
    pub name: Option<Arc<str>>,
}

impl From<SyntaxError> for TypeError {
    fn from(error: SyntaxError) -> Self {
        let SyntaxError { message, range, help, fix } = error;
        Self { mistake: Mistake::Syntax, range, message, help, fix, name: None }
    }
}

/// What is known of a template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Its mistakes, by place.
    pub errors: Vec<TypeError>,
    /// The names that it takes from outside, each once, in the order in which they appear; none where it cannot be read.
    pub names: Vec<Arc<str>>,
}

/// What is known of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedExpr {
    /// The expression; none where it cannot be read.
    pub expr: Option<Expr>,
    /// Its type; `any` where it has mistakes.
    pub ty: Type,
    /// Its mistakes, by place.
    pub errors: Vec<TypeError>,
}

/// The type of an expression; mistakes are added to `errors`, and a part that has one counts as `any` from then on.
pub fn check(expr: &Expr, names: &Names, errors: &mut Vec<TypeError>) -> Type {
    let mut checker = Checker::new(names, None, false);
    let ty = checker.ty(expr);
    errors.append(&mut checker.errors);
    ty
}

/// Checks that an expression is a condition.
pub fn check_condition(expr: &Expr, names: &Names, errors: &mut Vec<TypeError>) {
    let mut checker = Checker::new(names, None, false);
    checker.condition(expr);
    errors.append(&mut checker.errors);
}

/// Reads and types an expression; all its mistakes are found, not only the first.
pub fn check_expression(source: &str, names: &Names) -> CheckedExpr {
    checked(source, names, false)
}

/// Reads an expression and checks that it is a condition.
pub fn check_condition_text(source: &str, names: &Names) -> CheckedExpr {
    checked(source, names, true)
}

fn checked(source: &str, names: &Names, is_condition: bool) -> CheckedExpr {
    let (expr, refused) = match expr_parse::parse_all(source) {
        Ok(read) => read,
        Err(error) => return CheckedExpr { expr: None, ty: Type::Any, errors: vec![error.into()] },
    };
    let mut checker = Checker::new(names, Some(source), false);
    let ty = if is_condition {
        checker.condition(&expr);
        Type::Bool
    } else {
        checker.ty(&expr)
    };
    let readable = refused.is_empty();
    let errors = by_place(checker.errors, refused);
    CheckedExpr { expr: readable.then_some(expr), ty: if errors.is_empty() { ty } else { Type::Any }, errors }
}

/// The names that are surely defined where a condition holds, or where it does not.
pub fn defined_where(test: &Expr, holds: bool) -> Vec<Arc<str>> {
    let mut facts = Vec::new();
    flow::facts(test, holds, &mut facts);
    let names = facts.into_iter().filter_map(|fact| match fact.path.kind {
        Kind::Name(name) => Some(name),
        _ => None,
    });
    names.collect()
}

/// All mistakes in the order of their places.
fn by_place(mut errors: Vec<TypeError>, refused: Vec<SyntaxError>) -> Vec<TypeError> {
    errors.extend(refused.into_iter().map(TypeError::from));
    errors.sort_by_key(|error| (error.range.start, error.range.end));
    errors
}
