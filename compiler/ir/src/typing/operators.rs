//! Operators: arithmetic, comparisons, `in`, `~`, and the tests of kinds.

use super::checker::Checker;
use super::words::describe;
use super::{Mistake, Type};
use crate::expr::{Comparison, Expr, Kind, Operator, Test};
use crate::value::Value;

impl Checker<'_, '_> {
    pub(super) fn numeric(&mut self, expr: &Expr, sign: &str) -> Type {
        let ty = self.need(expr);
        self.as_number(expr, ty, sign)
    }

    fn as_number(&mut self, expr: &Expr, ty: Type, sign: &str) -> Type {
        if is_numeric(&ty) {
            return ty;
        }
        let message = format!("`{sign}` needs numbers, and {}", self.is(expr, &ty));
        let help = match (sign, &ty) {
            ("+", Type::Str) => "texts are joined with `~`",
            ("+", _) => "`+` adds numbers; texts are joined with `~`",
            (_, Type::Str) => "a text that holds a number stays a text: write the number without quotes",
            (_, Type::List(_)) => "take `length`, `sum`, `min` or `max` of a list",
            _ => "compute with numbers",
        };
        self.mismatch(expr, message, help)
    }

    pub(super) fn arithmetic(&mut self, op: Operator, a: &Expr, b: &Expr) -> Type {
        if op == Operator::Concat {
            self.joined(a);
            self.joined(b);
            return Type::Str;
        }
        self.divisor(op, a, b);
        let (left, right) = (self.need(a), self.need(b));
        // Two texts are one mistake.
        let (left, right) = if is_numeric(&left) {
            (left, self.as_number(b, right, op.sign()))
        } else {
            (self.as_number(a, left, op.sign()), Type::Any)
        };
        match op {
            Operator::Divide => Type::Number,
            _ => left.join(&right),
        }
    }

    /// One side of `~`. The engine's own `~` writes booleans as Python does, so templates make texts of them first.
    fn joined(&mut self, expr: &Expr) {
        let ty = self.printable(expr, "`~` joins what prints");
        if self.in_template && ty == Type::Bool {
            let text = self.text(expr);
            let message = format!("`~` joins texts and numbers in a template, and `{text}` is a boolean");
            let operand = if text.contains(' ') { format!("({text})") } else { text };
            self.mismatch(expr, message, format!("make it a text first: `{operand} | string`"));
        }
    }

    /// Texts, numbers and booleans print; for anything else the help names a filter.
    pub(super) fn printable(&mut self, expr: &Expr, who: &str) -> Type {
        let ty = self.need(expr);
        if ty.is_printable() {
            return ty;
        }
        let text = self.text(expr);
        let operand = if text.contains(' ') { format!("({text})") } else { text };
        let (join, json) = if self.in_template {
            (format!("`{operand} | join(', ')`"), format!("`{operand} | json`"))
        } else {
            (format!("`join({operand}, ', ')`"), format!("`json({operand})`"))
        };
        let help = match &ty {
            Type::List(item) if item.is_printable() => format!("join it: {join}, or print it as JSON: {json}"),
            Type::Message | Type::Reply => format!("print its text: `{operand}.text`, or all as JSON: {json}"),
            Type::UserTurn => format!("print its message: `{operand}.message`, or all as JSON: {json}"),
            Type::Verdict => format!("print its reason: `{operand}.reason`, or all as JSON: {json}"),
            Type::Null => "leave it out: nothing is printed for it".to_owned(),
            _ => format!("print one of its parts, or all as JSON: {json}"),
        };
        let message = format!("{who}, and {}, which does not", self.is(expr, &ty));
        self.mismatch(expr, message, help)
    }

    pub(super) fn compare(&mut self, expr: &Expr, op: Comparison, a: &Expr, b: &Expr) -> Type {
        if !op.is_order() && (self.is_asked_for(expr, op, a, b) || self.is_asked_for(expr, op, b, a)) {
            return Type::Bool;
        }
        let (left, right) =
            if op.is_order() { (self.need(a), self.need(b)) } else { (self.equated(a), self.equated(b)) };
        let text = |ty: &Type| matches!(ty, Type::Str | Type::Any);
        let comparable = if op.is_order() {
            (is_numeric(&left) && is_numeric(&right)) || (text(&left) && text(&right))
        } else {
            left == Type::Null || right == Type::Null || left.fits(&right) || right.fits(&left)
        };
        if !comparable {
            let message = format!("{} is compared with {}", describe(&left), describe(&right));
            let help = compare_help(op, (a, &left), (b, &right));
            self.mismatch(expr, message, help);
        }
        Type::Bool
    }

    /// `note == none` of a path that may be missing: there is a test for that, and it is the only way to ask.
    fn is_asked_for(&mut self, expr: &Expr, op: Comparison, path: &Expr, other: &Expr) -> bool {
        if !matches!(other.kind, Kind::Literal(Value::Null)) || path.root().is_none() {
            return false;
        }
        if !matches!(*self.place(path, false), Type::Maybe(_)) {
            // A name that is always there is never null; asking is harmless.
            return true;
        }
        let text = self.text(path);
        let instead = if op == Comparison::Equal { "is not defined" } else { "is defined" };
        let message = format!("`{text}` may be missing, and what is missing is not compared with `none`");
        let help = format!("write `{text} {instead}`");
        self.error(Mistake::MayBeMissing, expr.at.range(), message, help);
        if let Some(error) = self.errors.last_mut() {
            error.fix = Some(format!("{text} {instead}"));
        }
        true
    }

    /// The type of one side of `==`: null equals nothing else, so what may be null can be compared. What may be missing cannot,
    /// but for the parts of replies and verdicts, which are always there.
    fn equated(&mut self, expr: &Expr) -> Type {
        // Only of a name: whatever is looked at twice here must have no parts that could be looked at twice in turn.
        if let Kind::Attribute(object, _) = &expr.kind
            && !self.in_template
            && matches!(object.kind, Kind::Name(_))
            && let Type::Reply | Type::Verdict | Type::Message = *self.place(object, false)
        {
            let ty = self.place(expr, false).into_owned();
            return if let Type::Maybe(inner) = ty { *inner } else { ty };
        }
        match self.ty(expr) {
            Type::Maybe(inner) => *inner,
            ty => ty,
        }
    }

    pub(super) fn contains(&mut self, expr: &Expr, haystack: &Expr, needle: &Expr) -> Type {
        let (h, n) = (self.need(haystack), self.need(needle));
        let (sensible, help) = match &h {
            Type::Any => (true, ""),
            Type::Str => (n.fits(&Type::Str), "in a string only strings are found: `x | string` makes one"),
            Type::List(item) => (n.fits(item) || item.fits(&n), "a list holds items of one type; compare with that"),
            Type::Record(_) => (n.fits(&Type::Str), "the keys of a map are strings"),
            _ => (false, "`in` asks a string, a list or a map"),
        };
        if !sensible {
            let message = format!("{} cannot be in {}", describe(&n), describe(&h));
            self.mismatch(expr, message, help);
        }
        Type::Bool
    }

    pub(super) fn test(&mut self, test: Test, operand: &Expr) -> Type {
        let ty = self.need(operand);
        if test.is_of_integers() && !ty.fits(&Type::Int) {
            let message = format!("`is {}` asks an integer, and {}", test.name(), self.is(operand, &ty));
            self.mismatch(operand, message, "compute with `%`, or compare");
        }
        Type::Bool
    }
}

/// What to write instead of a comparison across types.
fn compare_help(op: Comparison, a: (&Expr, &Type), b: (&Expr, &Type)) -> String {
    for ((constant, _), (_, other)) in [(a, b), (b, a)] {
        match (&constant.kind, other) {
            (Kind::Literal(Value::Str(text)), Type::Int | Type::Number)
                if text.parse::<f64>().is_ok_and(f64::is_finite) =>
            {
                return format!("write the number without quotes: `{text}`");
            }
            (Kind::Literal(Value::Str(text)), Type::Bool) if matches!(&**text, "true" | "false") => {
                return format!("write the boolean without quotes: `{text}`");
            }
            (Kind::Literal(value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))), Type::Str) => {
                let quoted = format!("'{}'", value.to_json());
                return if op.is_order() {
                    "texts have the order of their letters: write the number without quotes in the samples".to_owned()
                } else {
                    format!("compare with a text: `{quoted}`")
                };
            }
            _ => {}
        }
    }
    let help = match (a.1, b.1) {
        _ if op.is_order() => "order is defined between numbers and between texts",
        (Type::List(_), _) | (_, Type::List(_)) => "ask whether it is in the list: `x in list`, or compare `length`",
        (Type::Str, other) | (other, Type::Str) if other.is_printable() => {
            "compare values of one type: `x | string` makes a text"
        }
        (a, b) if a.is_printable() && b.is_printable() => "compare values of one type",
        _ => "compare one of its parts: `x.name`",
    };
    help.to_owned()
}

const fn is_numeric(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Number | Type::Any)
}
