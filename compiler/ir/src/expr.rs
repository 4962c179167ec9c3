//! Expressions: a closed, typed subset of Jinja's, with our own evaluator.
//!
//! [`parse`](crate::expr_parse::parse) makes them from text, [`check`](crate::typing::check) types them,
//! [`eval`](crate::eval::eval) computes them, `Display` writes them so that they read back the same.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::value::Value;

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
    /// `x is defined`: the name or attribute exists.
    Defined(Box<Expr>),
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

/// The functions, one row each: name, fewest and most arguments.
macro_rules! functions {
    ($($variant:ident $name:literal $least:literal..=$most:literal $doc:literal;)*) => {
        /// The closed list of functions. All are pure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function { $(#[doc = $doc] $variant,)* }

        impl Function {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How many arguments it takes.
            pub const fn arity(self) -> std::ops::RangeInclusive<usize> {
                match self { $(Self::$variant => $least..=$most,)* }
            }

            /// What it gives.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

functions! {
    Length "length" 1..=1 "The number of characters, items or keys.";
    Lower "lower" 1..=1 "The text in lower case.";
    Upper "upper" 1..=1 "The text in upper case.";
    Trim "trim" 1..=1 "The text without white space at its ends.";
    Contains "contains" 2..=2 "Whether the text has the second text in it, or the list the item.";
    StartsWith "starts_with" 2..=2 "Whether the text begins with the second.";
    EndsWith "ends_with" 2..=2 "Whether the text ends with the second.";
    Matches "matches" 2..=2 "Whether the regular expression (Rust's syntax) matches somewhere in the text.";
    Capture "capture" 2..=2 "What the regular expression finds in the text: its first group, or all that matches; null where it does not match.";
    First "first" 1..=1 "The first item; an empty list is a fault.";
    Last "last" 1..=1 "The last item; an empty list is a fault.";
    Join "join" 2..=2 "The printable items with the second text between them.";
    Abs "abs" 1..=1 "The number without its sign.";
    Round "round" 1..=2 "The number rounded half away from zero, to so many decimals.";
    Min "min" 1..=1 "The least number of a list.";
    Max "max" 1..=1 "The greatest number of a list.";
    Sum "sum" 1..=1 "The sum of a list of numbers; 0 of none.";
    Text "string" 1..=1 "The value as a template would print it.";
    Default "default" 2..=2 "The first, or the second where the first is null or not there.";
    JudgedTurns "judged_turns" 0..=0 "The numbers of the turns in which the assistant said something.";
    Turns "turns" 0..=0 "The numbers of all turns.";
    SaidIn "said_in" 1..=2 "What the assistant (or the role named second) said in the turn, joined by newlines.";
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
            Kind::Attribute(a, _) | Kind::Not(a) | Kind::Minus(a) | Kind::Defined(a) => a.visit(f),
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
}

/// How tightly an expression holds together; a part that holds less tightly than its place needs parentheses.
const fn strength(kind: &Kind) -> u8 {
    match kind {
        Kind::If(..) => 0,
        Kind::Or(..) => 1,
        Kind::And(..) => 2,
        // Jinja takes a word after `is defined` for an argument of the test, so it stands in parentheses like `not`.
        Kind::Not(_) | Kind::Defined(_) => 3,
        Kind::Compare(..) | Kind::In(..) => 4,
        Kind::Arithmetic(Operator::Add | Operator::Subtract, ..) => 5,
        Kind::Arithmetic(Operator::Concat, ..) => 6,
        Kind::Arithmetic(..) => 7,
        Kind::Minus(_) => 8,
        Kind::Literal(Value::Int(i64::MIN..=-1) | Value::Float(_)) => 9,
        _ => 10,
    }
}

fn write_at(f: &mut fmt::Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    if strength(&expr.kind) < least { write!(f, "({expr})") } else { write!(f, "{expr}") }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
    }
    Ok(())
}

/// A string in the quotes of expressions: single ones where nothing has to be escaped.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let plain = |c: char| !crate::text::is_dangerous(c) && c != '\'' && c != '\\';
    if text.chars().all(plain) {
        return write!(f, "'{text}'");
    }
    let mut quoted = String::new();
    crate::text::json_string(text, &mut quoted);
    f.write_str(&quoted)
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Null => f.write_str("none"),
        Value::Str(text) => write_text(f, text),
        Value::List(items) => {
            f.write_str("[")?;
            for (at, item) in items.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                write_value(f, item)?;
            }
            f.write_str("]")
        }
        Value::Map(map) => {
            f.write_str("{")?;
            for (at, (key, item)) in map.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                write_text(f, key)?;
                f.write_str(": ")?;
                write_value(f, item)?;
            }
            f.write_str("}")
        }
        other => f.write_str(&other.to_json()),
    }
}

/// As it is written in a task and in the text form; reading it back gives the same expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = strength(&self.kind);
        match &self.kind {
            Kind::Literal(value) => write_value(f, value),
            Kind::Name(name) => f.write_str(name),
            Kind::Attribute(a, name) => {
                write_at(f, a, 10)?;
                write!(f, ".{name}")
            }
            Kind::Item(a, i) => {
                write_at(f, a, 10)?;
                write!(f, "[{i}]")
            }
            Kind::Not(a) => {
                f.write_str("not ")?;
                write_at(f, a, own)
            }
            Kind::Minus(a) => {
                f.write_str("-")?;
                write_at(f, a, 10)
            }
            Kind::And(a, b) => write_pair(f, own, a, " and ", b),
            Kind::Or(a, b) => write_pair(f, own, a, " or ", b),
            Kind::Compare(op, a, b) => {
                write_at(f, a, own + 1)?;
                write!(f, " {} ", op.sign())?;
                write_at(f, b, own + 1)
            }
            Kind::In(a, b) => {
                write_at(f, a, own + 1)?;
                f.write_str(" in ")?;
                write_at(f, b, own + 1)
            }
            Kind::Arithmetic(op, a, b) => write_pair(f, own, a, &format!(" {} ", op.sign()), b),
            Kind::Defined(a) => {
                write_at(f, a, 10)?;
                f.write_str(" is defined")
            }
            Kind::If(c, a, b) => {
                write_at(f, a, 4)?;
                f.write_str(" if ")?;
                write_at(f, c, 4)?;
                f.write_str(" else ")?;
                write_at(f, b, 4)
            }
            Kind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                write_list(f, arguments)?;
                f.write_str(")")
            }
            Kind::List(items) => {
                f.write_str("[")?;
                write_list(f, items)?;
                f.write_str("]")
            }
            Kind::Map(pairs) => {
                f.write_str("{")?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    write_text(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Binary operators group to the left.
fn write_pair(f: &mut fmt::Formatter<'_>, own: u8, a: &Expr, sign: &str, b: &Expr) -> fmt::Result {
    write_at(f, a, own)?;
    f.write_str(sign)?;
    write_at(f, b, own + 1)
}
