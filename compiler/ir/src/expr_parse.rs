//! Text to [`Expr`], through minijinja's parser. What the subset does not have is refused by name.

use std::sync::Arc;

use minijinja::machinery::{self, ast};

use crate::diagnostic;
use crate::expr::{At, Comparison, Expr, Function, Kind, Operator};
use crate::template::{self, SyntaxError};
use crate::value::Value;

type Parsed<T> = Result<T, SyntaxError>;

/// Reads an expression.
pub fn parse(source: &str) -> Parsed<Expr> {
    template::guard_expression(source)?;
    let tree = machinery::parse_expr(source).map_err(|error| slip(source, template::syntax_error(&error, source)))?;
    Lower { source }.expr(&tree)
}

/// Help for what people write who know other languages.
fn slip(source: &str, error: SyntaxError) -> SyntaxError {
    let bytes = source.as_bytes();
    let single = |at: usize| {
        let near = |offset: Option<usize>| offset.and_then(|at| bytes.get(at)).copied();
        bytes.get(at) == Some(&b'=')
            && near(at.checked_sub(1)).is_none_or(|b| !b"=!<>".contains(&b))
            && near(Some(at + 1)) != Some(b'=')
    };
    let help = if source.contains("{{") {
        "an expression stands without `{{ }}`"
    } else if source.contains("&&") || source.contains("||") {
        "write `and`, `or`"
    } else if source.trim_start().starts_with('!') {
        "write `not`"
    } else if (0..bytes.len()).any(single) {
        "equality is written `==`"
    } else {
        return error;
    };
    error.help(help)
}

struct Lower<'s> {
    source: &'s str,
}

pub(crate) fn at_of(span: machinery::Span) -> At {
    At(span.start_offset, span.end_offset)
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

impl Lower<'_> {
    fn refuse<T>(&self, at: At, what: impl Into<String>, help: impl Into<String>) -> Parsed<T> {
        Err(SyntaxError::new(at.range(), self.source, what).help(help))
    }

    fn expr(&self, tree: &ast::Expr<'_>) -> Parsed<Expr> {
        let mut at = at_of(tree.span());
        let kind = match tree {
            ast::Expr::Var(var) => Kind::Name(var.id.into()),
            ast::Expr::Const(constant) => Kind::Literal(self.constant(at, &constant.value)?),
            ast::Expr::UnaryOp(op) => self.unary(op)?,
            ast::Expr::BinOp(op) => self.binary(at, op)?,
            ast::Expr::GetAttr(get) => {
                let object = self.expr(&get.expr)?;
                // The parser's span of an attribute can begin after its object.
                at.0 = at.0.min(object.at.0);
                Kind::Attribute(boxed(object), get.name.into())
            }
            ast::Expr::GetItem(get) => {
                let object = self.expr(&get.expr)?;
                at.0 = at.0.min(object.at.0);
                Kind::Item(boxed(object), boxed(self.expr(&get.subscript_expr)?))
            }
            ast::Expr::IfExpr(choice) => {
                let Some(otherwise) = &choice.false_expr else {
                    return self.refuse(at, "`if` in an expression without `else`", "write `a if condition else b`");
                };
                let (test, yes) = (self.expr(&choice.test_expr)?, self.expr(&choice.true_expr)?);
                Kind::If(boxed(test), boxed(yes), boxed(self.expr(otherwise)?))
            }
            ast::Expr::Filter(filter) => self.filter(at, filter)?,
            ast::Expr::Test(test) => self.test(at, test)?,
            ast::Expr::Call(call) => self.call(at, call)?,
            ast::Expr::List(list) => {
                let items = list.items.iter().map(|item| self.expr(item)).collect::<Parsed<Vec<_>>>()?;
                Expr::list(items).kind
            }
            ast::Expr::Map(map) => self.map(at, map)?,
            ast::Expr::Compare(_) => {
                return self.refuse(at, "a chain of comparisons", "write `a < b and b < c`");
            }
            ast::Expr::Slice(_) => return self.refuse(at, "a slice", "take one item: `x[0]`, `x[-1]`"),
            ast::Expr::Tuple(_) => return self.refuse(at, "a tuple", "write a list: `[a, b]`"),
        };
        Ok(Expr { kind, at })
    }

    fn constant(&self, at: At, value: &minijinja::Value) -> Parsed<Value> {
        use minijinja::value::ValueKind;
        let out_of_range = || SyntaxError::new(at.range(), self.source, "a number outside the range of 64 bits");
        match value.kind() {
            ValueKind::None => Ok(Value::Null),
            ValueKind::Bool => Ok(Value::Bool(value.is_true())),
            ValueKind::Number if value.is_integer() => {
                i64::try_from(value.clone()).map(Value::Int).map_err(|_| out_of_range())
            }
            ValueKind::Number => f64::try_from(value.clone()).ok().and_then(Value::float).ok_or_else(out_of_range),
            ValueKind::String => Ok(Value::str(value.as_str().unwrap_or_default())),
            _ => self.refuse(at, "a constant that is neither number, text, boolean nor none", "write one of these"),
        }
    }

    fn unary(&self, op: &ast::UnaryOp<'_>) -> Parsed<Kind> {
        if let (ast::UnaryOpKind::Neg, ast::Expr::Const(constant)) = (&op.op, &op.expr)
            && i128::try_from(constant.value.clone()).ok() == Some(-i128::from(i64::MIN))
        {
            return Ok(Kind::Literal(Value::Int(i64::MIN)));
        }
        let operand = self.expr(&op.expr)?;
        Ok(match op.op {
            ast::UnaryOpKind::Not => Kind::Not(boxed(operand)),
            ast::UnaryOpKind::Neg => Expr::minus(operand).kind,
        })
    }

    fn binary(&self, at: At, op: &ast::BinOp<'_>) -> Parsed<Kind> {
        let (a, b) = (boxed(self.expr(&op.left)?), boxed(self.expr(&op.right)?));
        Ok(match op.op {
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
            ast::BinOpKind::Pow => return self.refuse(at, "a power", "multiply: its result differs between platforms"),
        })
    }

    fn function(&self, at: At, name: &str) -> Parsed<Function> {
        let known = Function::ALL.iter().copied();
        match known.clone().find(|f| f.name() == name) {
            Some(function) => Ok(function),
            None => {
                let help = diagnostic::suggest(name, known.map(Function::name).collect::<Vec<_>>());
                self.refuse(at, format!("unknown function or filter `{name}`"), help.unwrap_or_default())
            }
        }
    }

    fn arguments(&self, at: At, function: Function, first: Option<Expr>, rest: &[ast::CallArg<'_>]) -> Parsed<Kind> {
        let mut arguments: Vec<Expr> = first.into_iter().collect();
        for argument in rest {
            let ast::CallArg::Pos(argument) = argument else {
                return self.refuse(at, "an argument by name", "functions take their arguments in order");
            };
            arguments.push(self.expr(argument)?);
        }
        let arity = function.arity();
        if !arity.contains(&arguments.len()) {
            let what = format!("`{}` with {} arguments", function.name(), arguments.len());
            return self.refuse(at, what, format!("it takes {} to {}", arity.start(), arity.end()));
        }
        Ok(Kind::Call(function, arguments))
    }

    fn filter(&self, at: At, filter: &ast::Filter<'_>) -> Parsed<Kind> {
        let function = self.function(at, filter.name)?;
        let Some(operand) = &filter.expr else {
            return self.refuse(at, "a filter without a value", "write `x | lower`");
        };
        let operand = self.expr(operand)?;
        self.arguments(at, function, Some(operand), &filter.args)
    }

    fn call(&self, at: At, call: &ast::Call<'_>) -> Parsed<Kind> {
        match &call.expr {
            ast::Expr::Var(name) => {
                let function = self.function(at_of(name.span()), name.id)?;
                self.arguments(at, function, None, &call.args)
            }
            ast::Expr::GetAttr(get) => {
                let what = format!("a call of the method `{}`", get.name);
                self.refuse(at, what, format!("values have no methods; a function is written `{}(x)`", get.name))
            }
            _ => self.refuse(at, "a call of something that is no function", "write `name(x)`"),
        }
    }

    fn test(&self, at: At, test: &ast::Test<'_>) -> Parsed<Kind> {
        let operand = self.expr(&test.expr)?;
        match (test.name, test.args.is_empty()) {
            ("defined", true) => Ok(Kind::Defined(boxed(operand))),
            ("undefined", true) => Ok(Kind::Not(boxed(Expr { at, kind: Kind::Defined(boxed(operand)) }))),
            (name, _) => {
                let help = "the tests are `is defined` and `is undefined`; compare with `==`, `in`, `matches(x, '…')`";
                self.refuse(at, format!("unknown test `is {name}`"), help)
            }
        }
    }

    fn map(&self, at: At, map: &ast::Map<'_>) -> Parsed<Kind> {
        let mut pairs: Vec<(Arc<str>, Expr)> = Vec::with_capacity(map.keys.len());
        for (key, value) in map.keys.iter().zip(&map.values) {
            let name = match key {
                ast::Expr::Const(constant) => constant.value.as_str(),
                _ => None,
            };
            let Some(name) = name else {
                return self.refuse(at, "a key that is not a string", "write `{'key': value}`");
            };
            if pairs.iter().any(|(known, _)| &**known == name) {
                return self.refuse(at, format!("the key `{name}` twice"), "remove one of them");
            }
            pairs.push((name.into(), self.expr(value)?));
        }
        Ok(Expr::map(pairs).kind)
    }
}
