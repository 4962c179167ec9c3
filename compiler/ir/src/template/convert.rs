//! A template without statements as an expression.

use minijinja::machinery::ast;

use super::{SyntaxError, guard, has_no_tags, tree};
use crate::expr::{Expr, Kind, Operator};
use crate::expr_parse::Lower;

/// The template as an expression: `{{ x }}` alone is `x`, of the type that `x` has; text with such places in it joins them with
/// `~`; plain text is a literal. `None` where statements stand in it.
pub fn as_expression(source: &str) -> Result<Option<Expr>, SyntaxError> {
    if has_no_tags(source) {
        let text = source.strip_suffix('\n').map_or(source, |text| text.strip_suffix('\r').unwrap_or(text));
        return Ok(Some(Expr::literal(text)));
    }
    let tree = tree(source)?;
    let ast::Stmt::Template(template) = &tree else { return Ok(None) };
    let mut lower = Lower::new(source, true);
    let mut parts: Vec<Expr> = Vec::new();
    let mut text = String::new();
    for stmt in &template.children {
        match stmt {
            // A comment or a raw block leaves texts side by side.
            ast::Stmt::EmitRaw(raw) => text.push_str(raw.raw),
            ast::Stmt::EmitExpr(emit) => {
                if !text.is_empty() {
                    parts.push(Expr::literal(std::mem::take(&mut text).as_str()));
                }
                parts.push(lower.expr(&emit.expr));
            }
            _ => return Ok(None),
        }
    }
    if let Some(error) = lower.errors.into_iter().min_by_key(|error| error.range.start) {
        return Err(error);
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(Expr::literal(text.as_str()));
    }
    if let [_] = parts.as_slice() {
        return Ok(parts.pop());
    }
    // More parts than an expression can have tokens would exhaust the stack of whoever walks them.
    let long = || SyntaxError::new(0..source.len(), source, "too many places to fill in for one expression");
    if parts.len() > 200 {
        return Err(long().help("split it into several steps"));
    }
    let join = |a, b| Expr::new(Kind::Arithmetic(Operator::Concat, Box::new(a), Box::new(b)));
    let mut joined = parts.into_iter();
    // Two numbers side by side are still a text: `~` makes one of whatever it joins.
    let first = joined.next().unwrap_or_else(|| Expr::literal(""));
    let whole = joined.fold(first, join);
    match guard(&whole.to_string(), true) {
        Ok(()) => Ok(Some(whole)),
        Err(_) => Err(long().help("split it into several steps")),
    }
}
