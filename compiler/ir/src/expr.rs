//! Expressions: a closed, typed subset of Jinja's, with our own evaluator. Templates are made of the same ones.
//!
//! [`parse`](crate::expr_parse::parse) makes them from text, [`check`](crate::typing::check) types them,
//! [`eval`](crate::eval::eval) computes them, `Display` writes them so that they read back the same.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::value::Value;

mod function;
mod show;

pub use function::{Function, Gives, Param, Test};

/// Bytes of the expression's own text. Takes no part in equality, like [`Origin`](crate::span::Origin).
#[derive(Clone, Copy, Default)]
pub struct At(pub u32, pub u32);

impl At {
    /// As a range of bytes.
    pub const fn range(self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0, self.1)
    }
}

/// An expression with the place of each of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands in its text.
    pub at: At,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(Value),
    /// A field, a slot or a name that is always there (`turn`, `last`, …).
    Name(Arc<str>),
    /// `x.name`
    Attribute(Box<Expr>, Arc<str>),
    /// `x[i]`: an item of a list by number (negative from the end), of a map by key.
    Item(Box<Expr>, Box<Expr>),
    /// `not x`
    Not(Box<Expr>),
    /// `-x`
    Minus(Box<Expr>),
    /// `a and b`; `b` is not looked at where `a` is false.
    And(Box<Expr>, Box<Expr>),
    /// `a or b`; `b` is not looked at where `a` is true.
    Or(Box<Expr>, Box<Expr>),
    /// `a < b` and its kin.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// `a in b`: an item of a list, a part of a string, a key of a map.
    In(Box<Expr>, Box<Expr>),
    /// `a + b` and its kin.
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    /// `x is defined`: the name or attribute exists, and is not null.
    Defined(Box<Expr>),
    /// `x is string` and its kin.
    Is(Test, Box<Expr>),
    /// `a if c else b`, in the order c, a, b.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function of the closed list; a filter is the same with its operand first.
    Call(Function, Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{"k": a}`, keys literal.
    Map(Vec<(Arc<str>, Expr)>),
}

/// Comparisons. Both sides are of one kind; order is defined on numbers and on strings (by code point).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// As it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Whether it asks for an order.
    pub const fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// Arithmetic on numbers; `~` joins printable values as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: always a fraction.
    Divide,
    /// `//`: rounded down.
    FloorDivide,
    /// `%`: the sign of the divisor.
    Remainder,
    /// `~`
    Concat,
}

impl Operator {
    /// As it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Concat => "~",
        }
    }
}

impl Expr {
    /// An expression that nobody wrote.
    pub const fn new(kind: Kind) -> Self {
        Self { kind, at: At(0, 0) }
    }

    /// A constant.
    pub fn literal(value: impl Into<Value>) -> Self {
        Self::new(Kind::Literal(value.into()))
    }

    /// A name.
    pub fn name(name: &str) -> Self {
        Self::new(Kind::Name(name.into()))
    }

    /// An attribute of a name.
    pub fn path(name: &str, attribute: &str) -> Self {
        Self::new(Kind::Attribute(Box::new(Self::name(name)), attribute.into()))
    }

    /// A comparison.
    pub fn compare(op: Comparison, a: Self, b: Self) -> Self {
        Self::new(Kind::Compare(op, Box::new(a), Box::new(b)))
    }

    /// The negation.
    pub fn negate(a: Self) -> Self {
        Self::new(Kind::Not(Box::new(a)))
    }

    /// The number with the other sign; a constant stays a constant, so that `-1` has one form.
    pub fn minus(a: Self) -> Self {
        match a.kind {
            Kind::Literal(Value::Int(n)) if n != i64::MIN => Self { kind: Kind::Literal(Value::Int(-n)), at: a.at },
            Kind::Literal(Value::Float(x)) => {
                Self { kind: Kind::Literal(Value::float(-x).unwrap_or_default()), at: a.at }
            }
            _ => Self { at: a.at, kind: Kind::Minus(Box::new(a)) },
        }
    }

    /// A list; of constants, a constant.
    pub fn list(items: Vec<Self>) -> Self {
        match items.iter().map(Self::constant).collect::<Option<Vec<_>>>() {
            Some(values) => Self::new(Kind::Literal(Value::list(values))),
            None => Self::new(Kind::List(items)),
        }
    }

    /// A map; of constants, a constant.
    pub fn map(pairs: Vec<(Arc<str>, Self)>) -> Self {
        match pairs.iter().map(|(key, item)| Some((key.clone(), item.constant()?))).collect::<Option<Vec<_>>>() {
            Some(values) => Self::new(Kind::Literal(Value::map(values))),
            None => Self::new(Kind::Map(pairs)),
        }
    }

    /// The value of a constant.
    pub fn constant(&self) -> Option<Value> {
        match &self.kind {
            Kind::Literal(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// Either.
    pub fn either(a: Self, b: Self) -> Self {
        Self::new(Kind::Or(Box::new(a), Box::new(b)))
    }

    /// A call.
    pub fn call(function: Function, arguments: Vec<Self>) -> Self {
        Self::new(Kind::Call(function, arguments))
    }

    /// Calls `f` on the expression and on every part of it, from the outside in.
    pub fn visit<'e>(&'e self, f: &mut impl FnMut(&'e Self)) {
        f(self);
        match &self.kind {
            Kind::Literal(_) | Kind::Name(_) => {}
            Kind::Attribute(a, _) | Kind::Not(a) | Kind::Minus(a) | Kind::Defined(a) | Kind::Is(_, a) => a.visit(f),
            Kind::Item(a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b)
            | Kind::Compare(_, a, b)
            | Kind::In(a, b)
            | Kind::Arithmetic(_, a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Kind::If(a, b, c) => {
                a.visit(f);
                b.visit(f);
                c.visit(f);
            }
            Kind::Call(_, items) | Kind::List(items) => items.iter().for_each(|item| item.visit(f)),
            Kind::Map(pairs) => pairs.iter().for_each(|(_, value)| value.visit(f)),
        }
    }

    /// The names that it reads, each once, in order of appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        self.visit(&mut |part| {
            if let Kind::Name(name) = &part.kind
                && !names.contains(&&**name)
            {
                names.push(name);
            }
        });
        names
    }

    /// The same expression with its names replaced where `f` gives another.
    #[must_use]
    pub fn renamed(&self, f: &dyn Fn(&str) -> Option<String>) -> Self {
        let one = |part: &Self| Box::new(part.renamed(f));
        let all = |parts: &[Self]| parts.iter().map(|part| part.renamed(f)).collect::<Vec<_>>();
        let kind = match &self.kind {
            Kind::Literal(value) => Kind::Literal(value.clone()),
            Kind::Name(name) => Kind::Name(f(name).map_or_else(|| name.clone(), Arc::from)),
            Kind::Attribute(a, name) => Kind::Attribute(one(a), name.clone()),
            Kind::Item(a, b) => Kind::Item(one(a), one(b)),
            Kind::Not(a) => Kind::Not(one(a)),
            Kind::Minus(a) => Kind::Minus(one(a)),
            Kind::And(a, b) => Kind::And(one(a), one(b)),
            Kind::Or(a, b) => Kind::Or(one(a), one(b)),
            Kind::Compare(op, a, b) => Kind::Compare(*op, one(a), one(b)),
            Kind::In(a, b) => Kind::In(one(a), one(b)),
            Kind::Arithmetic(op, a, b) => Kind::Arithmetic(*op, one(a), one(b)),
            Kind::Defined(a) => Kind::Defined(one(a)),
            Kind::Is(test, a) => Kind::Is(*test, one(a)),
            Kind::If(a, b, c) => Kind::If(one(a), one(b), one(c)),
            Kind::Call(function, parts) => Kind::Call(*function, all(parts)),
            Kind::List(parts) => Kind::List(all(parts)),
            Kind::Map(pairs) => Kind::Map(pairs.iter().map(|(key, part)| (key.clone(), part.renamed(f))).collect()),
        };
        Self { kind, at: self.at }
    }

    /// Stands for a part that could not be read; it is of any type, and never in an expression that was read.
    pub(crate) fn hole(at: At) -> Self {
        Self { kind: Kind::Name("".into()), at }
    }

    /// Whether it stands for a part that could not be read.
    pub(crate) fn is_hole(&self) -> bool {
        matches!(&self.kind, Kind::Name(name) if name.is_empty())
    }

    /// The name that a path begins with: `goal` of `goal.text` and of `goal['text']`; none of what is no path.
    pub(crate) fn root(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            Kind::Attribute(a, _) | Kind::Item(a, _) => a.root(),
            _ => None,
        }
    }
}
