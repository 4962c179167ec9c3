//! Expressions: what each part is, and whether the parts go together.

use std::ops::Range;

use super::flow::{Flow, facts};
use super::words::describe;
use super::{Mistake, Names, TypeError};
use crate::expr::{Expr, Kind};
use crate::ty::Type;

pub(super) struct Checker<'n, 's> {
    /// The names from outside.
    pub(super) outer: &'n Names,
    /// The text that the expressions are of, for messages.
    source: Option<&'s str>,
    pub(super) in_template: bool,
    pub(super) flow: Flow,
    pub(super) errors: Vec<TypeError>,
}

impl<'n, 's> Checker<'n, 's> {
    pub(super) fn new(outer: &'n Names, source: Option<&'s str>, in_template: bool) -> Self {
        Self { outer, source, in_template, flow: Flow::default(), errors: Vec::new() }
    }

    /// Adds a mistake; the part that has it is of any type from then on.
    pub(super) fn error(
        &mut self,
        mistake: Mistake,
        range: Range<usize>,
        message: String,
        help: impl Into<String>,
    ) -> Type {
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.errors.push(TypeError { mistake, range, message, help, fix: None, name: None });
        Type::Any
    }

    /// Types that do not go together.
    pub(super) fn mismatch(&mut self, part: &Expr, message: String, help: impl Into<String>) -> Type {
        self.error(Mistake::Type, part.at.range(), message, help)
    }

    /// A part in the words of its text, short enough for a sentence.
    pub(super) fn text(&self, part: &Expr) -> String {
        let written = self.source.and_then(|source| source.get(part.at.range()));
        let text = written.map_or_else(|| part.to_string(), str::to_owned);
        crate::text::excerpt(&text, 60)
    }

    /// `` `plan` is a string ``.
    pub(super) fn is(&self, part: &Expr, ty: &Type) -> String {
        format!("`{}` is {}", self.text(part), describe(ty))
    }

    /// Runs `f` where the condition holds, or where it does not.
    pub(super) fn given<T>(&mut self, test: &Expr, holds: bool, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.flow.facts.len();
        facts(test, holds, &mut self.flow.facts);
        let result = f(self);
        self.flow.facts.truncate(before);
        result
    }

    /// Checks that it is a condition.
    pub(super) fn condition(&mut self, expr: &Expr) {
        let ty = self.need(expr);
        if matches!(ty, Type::Bool | Type::Any) {
            return;
        }
        let text = self.text(expr);
        let operand = if text.contains(' ') { format!("({text})") } else { text.clone() };
        let help = match ty {
            Type::Str if self.in_template => format!("write `{operand} != ''`"),
            Type::Str => format!("write `{operand} != ''`, or compare it with something: `{operand} == 'yes'`"),
            Type::Int | Type::Number => format!("write `{operand} != 0`"),
            Type::List(_) | Type::Record(_) => format!("write `{operand} | length > 0`"),
            _ => format!("a condition is a comparison, a test or a boolean: `{operand} is defined`"),
        };
        let message = format!("a condition must be a boolean, and `{text}` is {}", describe(&ty));
        self.error(Mistake::Condition, expr.at.range(), message, help);
    }

    /// The type of a value that has to be there.
    pub(super) fn need(&mut self, expr: &Expr) -> Type {
        match self.ty(expr) {
            Type::Maybe(inner) => {
                let text = self.text(expr);
                let message = format!("`{text}` may be null: it is {} or nothing", describe(&inner));
                let default = if matches!(*inner, Type::Str) { "''" } else { "…" };
                let help = if self.in_template {
                    format!("give a default: `({text}) | default({default})`")
                } else {
                    format!("give a default: `default({text}, {default})`")
                };
                self.error(Mistake::MayBeMissing, expr.at.range(), message, help)
            }
            ty => ty,
        }
    }

    /// The type of a value, which may be null but has to be defined.
    pub(super) fn ty(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            Kind::Literal(value) => Type::of(value),
            Kind::Name(_) | Kind::Attribute(..) | Kind::Item(..) => self.read(expr),
            Kind::Not(a) => self.negation(a),
            Kind::And(a, b) => self.two_conditions(a, b, true),
            Kind::Or(a, b) => self.two_conditions(a, b, false),
            Kind::Minus(a) => self.numeric(a, "-"),
            Kind::Compare(op, a, b) => self.compare(expr, *op, a, b),
            Kind::In(a, b) => self.contains(expr, b, a),
            Kind::Arithmetic(op, a, b) => self.arithmetic(*op, a, b),
            Kind::Defined(a) => self.defined(a),
            Kind::Is(test, a) => self.test(*test, a),
            Kind::If(test, yes, no) => self.choice(test, yes, no),
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::List(items) => {
                let types = items.iter().map(|item| self.ty(item)).reduce(|a, b| a.join(&b));
                Type::List(Box::new(types.unwrap_or(Type::Any)))
            }
            Kind::Map(pairs) => Type::Record(pairs.iter().map(|(key, value)| (key.clone(), self.ty(value))).collect()),
        }
    }

    fn negation(&mut self, part: &Expr) -> Type {
        self.condition(part);
        Type::Bool
    }

    /// The second is only looked at where the first is true, of `and`, or false, of `or`.
    fn two_conditions(&mut self, a: &Expr, b: &Expr, first_is: bool) -> Type {
        self.condition(a);
        self.given(a, first_is, |checker| checker.condition(b));
        Type::Bool
    }

    fn choice(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> Type {
        self.condition(test);
        let a = self.given(test, true, |checker| checker.ty(yes));
        let b = self.given(test, false, |checker| checker.ty(no));
        self.one_of((yes, &a), (no, &b))
    }

    /// The type of one of two values. Texts beside numbers still print; a list or a map beside something else is good for
    /// nothing.
    pub(super) fn one_of(&mut self, (yes, a): (&Expr, &Type), (no, b): (&Expr, &Type)) -> Type {
        let joined = a.join(b);
        let differ = joined == Type::Any && *a != Type::Any && *b != Type::Any;
        if differ && !(a.is_printable() && b.is_printable()) {
            let message = format!("one of two values is taken, of which {}, and {}", self.is(yes, a), self.is(no, b));
            return self.mismatch(no, message, "give both the same type");
        }
        joined
    }
}
