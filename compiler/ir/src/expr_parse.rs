//! Text to [`Expr`], through minijinja's parser. What the subset does not have is refused by name.

use std::sync::Arc;

use minijinja::machinery::{self, Token, ast};

use crate::expr::{At, Comparison, Expr, Kind, Operator, Test};
use crate::template::{self, SyntaxError};
use crate::value::Value;

mod calls;
mod places;

pub(crate) use places::at_of;

/// Reads an expression. The error is its first mistake; [`crate::typing::check_expression`] finds all.
pub fn parse(source: &str) -> Result<Expr, SyntaxError> {
    let (expr, lower) = lowered(source)?;
    lower.errors.into_iter().min_by_key(|error| error.range.start).map_or(Ok(expr), Err)
}

/// Reads an expression as far as it can be read, with everything in it that the subset does not have, and with the slips of
/// those who write it. A program that was compiled has none, whatever its texts say.
pub(crate) fn parse_all(source: &str) -> Result<(Expr, Vec<SyntaxError>), SyntaxError> {
    let (expr, mut lower) = lowered(source)?;
    let mut templates = Vec::new();
    expr.visit(&mut |part| match &part.kind {
        Kind::Literal(Value::Str(text)) if template_in(text) => templates.push(part.at),
        _ => {}
    });
    for at in templates {
        let help = "write the name without quotes and `{{ }}`";
        lower.refuse(at, "a template inside a text of an expression", help);
    }
    Ok((expr, lower.errors))
}

/// Whether a text has a place to fill in.
fn template_in(text: &str) -> bool {
    text.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"))
}

fn lowered(source: &str) -> Result<(Expr, Lower<'_>), SyntaxError> {
    template::guard(source, true)?;
    let tree = machinery::parse_expr(source).map_err(|error| slip(source, template::syntax_error(&error, source)))?;
    if let Some(error) = behind_text(source) {
        return Err(error);
    }
    let mut lower = Lower::new(source, false);
    let expr = lower.expr(&tree);
    Ok((expr, lower))
}

/// What stands wrongly behind a text. minijinja's parser joins texts that stand side by side, and where it looks for the next
/// one it takes what is no token for the end of the expression.
fn behind_text(source: &str) -> Option<SyntaxError> {
    if !source.contains(['\'', '"']) {
        return None;
    }
    if let Some(error) = texts_side_by_side(source, true) {
        return Some(error);
    }
    let mut end = 0;
    for token in machinery::tokenize(source, true, minijinja::syntax::SyntaxConfig::default()) {
        let Ok((_, span)) = token else {
            let start = end + source.get(end..).map_or(0, |rest| rest.len() - rest.trim_start().len());
            let length = source.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            return Some(slip(source, SyntaxError::new(start..start + length, source, "unexpected character")));
        };
        end = at_of(span).range().end;
    }
    None
}

/// The first text that stands behind another in an expression, or in a place of a template. Jinja joins the two, which is hardly
/// ever what was meant.
pub(crate) fn texts_side_by_side(source: &str, is_expression: bool) -> Option<SyntaxError> {
    source.matches(['\'', '"']).nth(3)?;
    let mut is_behind = false;
    let tokens = machinery::tokenize(source, is_expression, minijinja::syntax::SyntaxConfig::default());
    for (token, span) in tokens.map_while(Result::ok) {
        let is_text = matches!(token, Token::Str(_) | Token::String(_));
        if is_text && is_behind {
            let error = SyntaxError::new(at_of(span).range(), source, "a text follows a text");
            return Some(error.help("join them with `~`, or put an operator between them"));
        }
        is_behind = is_text;
    }
    None
}

/// The parser's error in our words, with help for what people write who know other languages.
fn slip(source: &str, error: SyntaxError) -> SyntaxError {
    let bytes = source.as_bytes();
    let single = |at: usize| {
        let near = |offset: Option<usize>| offset.and_then(|at| bytes.get(at)).copied();
        bytes.get(at) == Some(&b'=')
            && near(at.checked_sub(1)).is_none_or(|b| !b"=!<>".contains(&b))
            && near(Some(at + 1)) != Some(b'=')
    };
    if error.message.contains("end of string") {
        let open = source.rfind(['\'', '"']).unwrap_or(0);
        return SyntaxError::new(open..open + 1, source, "a string that is not closed")
            .help("write the quote where it ends");
    }
    let mut error = error;
    if error.message == "unexpected character" && error.range.is_empty() {
        // The tokenizer counts bytes, and the character has several.
        let length = source.get(error.range.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        error.range.end += length;
    }
    let seen = source.get(error.range.clone()).unwrap_or_default();
    let message = match error.message.as_str() {
        "unexpected character" => format!("`{}` has no meaning in an expression", crate::text::printable(seen)),
        _ if source.trim().is_empty() => "an expression is missing".to_owned(),
        "unexpected end of input, expected expression" => "the expression ends where a value is missing".to_owned(),
        "unexpected input after expression" => format!("`{}` follows a whole expression", crate::text::printable(seen)),
        other => format!("the expression cannot be read: {other}"),
    };
    let help = if source.contains("{{") {
        "an expression stands without `{{ }}`"
    } else if seen == "=" {
        "equality is written `==`"
    } else if source.contains("&&") || source.contains("||") {
        "write `and`, `or`"
    } else if seen == "!" {
        "write `not`"
    } else if (0..bytes.len()).any(single) {
        "equality is written `==`"
    } else if error.message.contains("end of input") {
        "something is missing at the end: a value, a bracket, `else`"
    } else if message.contains("maximum recursion") {
        return SyntaxError { message: "an expression that nests too deep".to_owned(), ..error }
            .help("split it into several steps");
    } else {
        "put an operator between two values, such as `and`, `==`, `in`; text stands in quotes"
    };
    SyntaxError { message, ..error }.help(help)
}

/// Lowers minijinja's syntax trees. A part that is refused becomes a [hole](Expr::hole), so that the rest is still checked.
pub(crate) struct Lower<'s> {
    source: &'s str,
    /// Templates have filters where expressions have functions too.
    in_template: bool,
    /// What was refused so far.
    pub(crate) errors: Vec<SyntaxError>,
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

impl<'s> Lower<'s> {
    pub(crate) fn new(source: &'s str, in_template: bool) -> Self {
        Self { source, in_template, errors: Vec::new() }
    }

    /// Notes a refusal; the part becomes a hole.
    pub(crate) fn refuse(&mut self, at: At, what: impl Into<String>, help: impl Into<String>) -> Expr {
        self.errors.push(SyntaxError::new(at.range(), self.source, what).help(help));
        Expr::hole(at)
    }

    pub(crate) fn expr(&mut self, tree: &ast::Expr<'_>) -> Expr {
        let at = at_of(tree.span());
        match tree {
            ast::Expr::Var(var) => Expr { kind: Kind::Name(var.id.into()), at },
            ast::Expr::Const(constant) => self.constant(at, &constant.value),
            ast::Expr::UnaryOp(op) => self.unary(at, op),
            ast::Expr::BinOp(op) => self.binary(at, op),
            ast::Expr::GetAttr(get) => {
                let object = self.expr(&get.expr);
                let at = self.spanning(at, &object);
                Expr { kind: Kind::Attribute(boxed(object), get.name.into()), at }
            }
            ast::Expr::GetItem(get) => {
                let object = self.expr(&get.expr);
                let at = self.spanning(at, &object);
                Expr { kind: Kind::Item(boxed(object), boxed(self.expr(&get.subscript_expr))), at }
            }
            ast::Expr::IfExpr(choice) => self.choice(at, choice),
            ast::Expr::Filter(filter) => self.filter(at, filter),
            ast::Expr::Test(test) => self.test(at, test),
            ast::Expr::Call(call) => self.call(at, call),
            ast::Expr::List(list) => {
                let items = list.items.iter().map(|item| self.expr(item)).collect();
                Expr { at, ..Expr::list(items) }
            }
            ast::Expr::Map(map) => self.map(at, map),
            ast::Expr::Compare(chain) => {
                let first = self.expr(&chain.expr);
                chain.ops.iter().for_each(|op| drop(self.expr(&op.expr)));
                let at = self.spanning(At(first.at.0, at.1), &first);
                self.refuse(at, "a chain of comparisons", "write `a < b and b < c`")
            }
            ast::Expr::Slice(slice) => {
                let object = self.expr(&slice.expr);
                let at = self.spanning(at, &object);
                self.refuse(at, "a slice", "take one item: `x[0]`, `x[-1]`")
            }
            ast::Expr::Tuple(_) => self.refuse(at, "a tuple", "write a list: `[a, b]`"),
        }
    }

    fn choice(&mut self, at: At, choice: &ast::IfExpr<'_>) -> Expr {
        let (yes, test) = (self.expr(&choice.true_expr), self.expr(&choice.test_expr));
        // The parser's span begins with the token before.
        let at = self.spanning(At(yes.at.0, at.1), &yes);
        let Some(otherwise) = &choice.false_expr else {
            return self.refuse(at, "`if` in an expression without `else`", "write `a if condition else b`");
        };
        let no = self.expr(otherwise);
        Expr { kind: Kind::If(boxed(test), boxed(yes), boxed(no)), at }
    }

    fn constant(&mut self, at: At, value: &minijinja::Value) -> Expr {
        use minijinja::value::ValueKind;
        let read = match value.kind() {
            ValueKind::None => Some(Value::Null),
            ValueKind::Bool => Some(Value::Bool(value.is_true())),
            ValueKind::Number if value.is_integer() => i64::try_from(value.clone()).ok().map(Value::Int),
            ValueKind::Number => f64::try_from(value.clone()).ok().and_then(Value::float),
            _ => value.as_str().map(Value::str),
        };
        match read {
            Some(value) => Expr { kind: Kind::Literal(value), at },
            None => self.refuse(at, "a number outside the range of 64 bits", "write a smaller number"),
        }
    }

    fn unary(&mut self, at: At, op: &ast::UnaryOp<'_>) -> Expr {
        if let (ast::UnaryOpKind::Neg, ast::Expr::Const(constant)) = (&op.op, &op.expr)
            && i128::try_from(constant.value.clone()).ok() == Some(-i128::from(i64::MIN))
        {
            return Expr { kind: Kind::Literal(Value::Int(i64::MIN)), at };
        }
        let operand = self.expr(&op.expr);
        match op.op {
            ast::UnaryOpKind::Neg => Expr { at, ..Expr::minus(operand) },
            ast::UnaryOpKind::Not => {
                // Of `a not in b` and `a is not defined` the operand is the whole, and begins before the parser's span.
                let at = self.spanning(at, &operand);
                Expr { kind: Kind::Not(boxed(operand)), at }
            }
        }
    }

    fn binary(&mut self, mut at: At, op: &ast::BinOp<'_>) -> Expr {
        let (a, b) = (boxed(self.expr(&op.left)), boxed(self.expr(&op.right)));
        if places::begins_early(op.op) {
            at = self.spanning(At(a.at.0, at.1), &a);
        }
        let kind = match op.op {
            ast::BinOpKind::Eq => Kind::Compare(Comparison::Equal, a, b),
            ast::BinOpKind::Ne => Kind::Compare(Comparison::NotEqual, a, b),
            ast::BinOpKind::Lt => Kind::Compare(Comparison::Less, a, b),
            ast::BinOpKind::Lte => Kind::Compare(Comparison::LessOrEqual, a, b),
            ast::BinOpKind::Gt => Kind::Compare(Comparison::Greater, a, b),
            ast::BinOpKind::Gte => Kind::Compare(Comparison::GreaterOrEqual, a, b),
            ast::BinOpKind::ScAnd => Kind::And(a, b),
            ast::BinOpKind::ScOr => Kind::Or(a, b),
            ast::BinOpKind::In => Kind::In(a, b),
            ast::BinOpKind::Add => Kind::Arithmetic(Operator::Add, a, b),
            ast::BinOpKind::Sub => Kind::Arithmetic(Operator::Subtract, a, b),
            ast::BinOpKind::Mul => Kind::Arithmetic(Operator::Multiply, a, b),
            ast::BinOpKind::Div => Kind::Arithmetic(Operator::Divide, a, b),
            ast::BinOpKind::FloorDiv => Kind::Arithmetic(Operator::FloorDivide, a, b),
            ast::BinOpKind::Rem => Kind::Arithmetic(Operator::Remainder, a, b),
            ast::BinOpKind::Concat => Kind::Arithmetic(Operator::Concat, a, b),
            ast::BinOpKind::Pow => {
                return self.refuse(at, "a power", "multiply: its result differs between platforms");
            }
        };
        Expr { kind, at }
    }

    fn test(&mut self, at: At, test: &ast::Test<'_>) -> Expr {
        let operand = self.expr(&test.expr);
        let named = At(at.0, at.0 + places::length(test.name));
        let at = self.spanning(at, &operand);
        if !test.args.is_empty() {
            return self.unknown_test(named, test.name);
        }
        let defined = |operand| Expr { at, kind: Kind::Defined(boxed(operand)) };
        match test.name {
            "defined" => defined(operand),
            // Null counts as not there, so the two ask the same.
            "undefined" | "none" => Expr { at, kind: Kind::Not(boxed(defined(operand))) },
            name => match Test::ALL.iter().find(|test| test.name() == name) {
                Some(test) => Expr { at, kind: Kind::Is(*test, boxed(operand)) },
                None => self.unknown_test(named, name),
            },
        }
    }

    fn map(&mut self, at: At, map: &ast::Map<'_>) -> Expr {
        let mut pairs: Vec<(Arc<str>, Expr)> = Vec::with_capacity(map.keys.len());
        for (key, value) in map.keys.iter().zip(&map.values) {
            let key_at = at_of(key.span());
            let name = match key {
                ast::Expr::Const(constant) => constant.value.as_str(),
                _ => None,
            };
            let Some(name) = name else {
                return self.refuse(key_at, "a key that is not a string", "write `{'key': value}`");
            };
            if pairs.iter().any(|(known, _)| &**known == name) {
                return self.refuse(key_at, format!("the key `{name}` twice"), "remove one of them");
            }
            pairs.push((name.into(), self.expr(value)));
        }
        Expr { at, ..Expr::map(pairs) }
    }
}
