//! Which names a template takes from outside, by the scopes of minijinja: `set` binds in the innermost loop, or in the whole
//! template; a loop's names and what is set in its body live for one pass; `if` opens no scope.

use std::sync::Arc;

use minijinja::machinery::ast;

use super::{SyntaxError, tree};
use crate::expr::At;
use crate::expr_parse::at_of;

/// The names that are read and were not set before, each once.
pub(crate) fn outer_names(tree: &ast::Stmt<'_>) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    scan(tree, &mut |name, _, _| {
        if !names.iter().any(|known| **known == *name) {
            names.push(name.into());
        }
    });
    names
}

/// The template's text with the names that it takes from outside replaced where `f` gives another. What is bound inside
/// stays; where a new name would be caught by one that is bound inside, that is the error.
pub fn renamed(source: &str, f: &dyn Fn(&str) -> Option<String>) -> Result<String, SyntaxError> {
    if super::has_no_tags(source) {
        return Ok(source.to_owned());
    }
    let mut edits: Vec<(At, String)> = Vec::new();
    let mut caught = None;
    scan(&tree(source)?, &mut |name, at, bound| {
        let Some(new) = f(name) else { return };
        if bound.contains(&new.as_str()) {
            let error =
                SyntaxError::new(at.range(), source, format!("`{new}` means another thing inside of the template"));
            caught.get_or_insert(error.help(format!("choose another name for what the template calls `{new}`")));
        }
        edits.push((at, new));
    });
    if let Some(error) = caught {
        return Err(error);
    }
    edits.sort_by_key(|(at, _)| at.0);
    let (mut out, mut done) = (String::with_capacity(source.len()), 0);
    for (at, new) in &edits {
        out.push_str(source.get(done..at.0 as usize).unwrap_or_default());
        out.push_str(new);
        done = at.1 as usize;
    }
    out.push_str(source.get(done..).unwrap_or_default());
    Ok(out)
}

/// Calls `f` with each name that is read from outside, its place, and the names that are bound there.
fn scan<'a>(tree: &ast::Stmt<'a>, f: &mut dyn FnMut(&'a str, At, &[&'a str])) {
    Scan { bound: Vec::new(), f }.stmt(tree);
}

struct Scan<'a, 'f> {
    bound: Vec<&'a str>,
    f: &'f mut dyn FnMut(&'a str, At, &[&'a str]),
}

impl<'a> Scan<'a, '_> {
    fn body(&mut self, body: &[ast::Stmt<'a>]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'a>) {
        match stmt {
            ast::Stmt::Template(template) => self.body(&template.children),
            ast::Stmt::EmitExpr(emit) => self.expr(&emit.expr),
            ast::Stmt::IfCond(cond) => self.branches(cond),
            ast::Stmt::ForLoop(each) => self.each(each),
            ast::Stmt::Set(set) => {
                self.expr(&set.expr);
                self.bind(&set.target);
            }
            // The rest has no names, or is refused.
            _ => {}
        }
    }

    /// What one branch sets is not set in the other, and may be set behind both. A chain of `elif` is walked in a loop.
    fn branches(&mut self, first: &ast::IfCond<'a>) {
        let (start, mut cond) = (self.bound.len(), first);
        let mut set: Vec<&'a str> = Vec::new();
        loop {
            self.expr(&cond.expr);
            self.body(&cond.true_body);
            set.extend(self.bound.drain(start..));
            match cond.false_body.as_slice() {
                [ast::Stmt::IfCond(next)] => cond = next,
                otherwise => {
                    self.body(otherwise);
                    break;
                }
            }
        }
        self.bound.extend(set);
    }

    fn each(&mut self, each: &ast::ForLoop<'a>) {
        self.expr(&each.iter);
        let start = self.bound.len();
        self.bind(&each.target);
        if let Some(filter) = &each.filter_expr {
            self.expr(filter);
        }
        self.bound.push("loop");
        self.body(&each.body);
        self.bound.truncate(start);
        self.body(&each.else_body);
    }

    fn bind(&mut self, target: &ast::Expr<'a>) {
        match target {
            ast::Expr::Var(var) => self.bound.push(var.id),
            ast::Expr::List(list) => list.items.iter().for_each(|item| self.bind(item)),
            other => self.expr(other),
        }
    }

    fn expr(&mut self, expr: &ast::Expr<'a>) {
        match expr {
            ast::Expr::Var(var) => {
                if !self.bound.contains(&var.id) {
                    (self.f)(var.id, at_of(var.span()), &self.bound);
                }
            }
            ast::Expr::Const(_) => {}
            ast::Expr::Slice(slice) => {
                self.expr(&slice.expr);
                [&slice.start, &slice.stop, &slice.step].into_iter().flatten().for_each(|part| self.expr(part));
            }
            ast::Expr::UnaryOp(op) => self.expr(&op.expr),
            ast::Expr::BinOp(op) => {
                self.expr(&op.left);
                self.expr(&op.right);
            }
            ast::Expr::Compare(chain) => {
                self.expr(&chain.expr);
                chain.ops.iter().for_each(|op| self.expr(&op.expr));
            }
            ast::Expr::IfExpr(choice) => {
                self.expr(&choice.true_expr);
                self.expr(&choice.test_expr);
                choice.false_expr.iter().for_each(|otherwise| self.expr(otherwise));
            }
            ast::Expr::Filter(filter) => {
                filter.expr.iter().for_each(|operand| self.expr(operand));
                self.arguments(&filter.args);
            }
            ast::Expr::Test(test) => {
                self.expr(&test.expr);
                self.arguments(&test.args);
            }
            ast::Expr::GetAttr(get) => self.expr(&get.expr),
            ast::Expr::GetItem(get) => {
                self.expr(&get.expr);
                self.expr(&get.subscript_expr);
            }
            ast::Expr::Call(call) => {
                // The name of a function is no value.
                if !matches!(call.expr, ast::Expr::Var(_)) {
                    self.expr(&call.expr);
                }
                self.arguments(&call.args);
            }
            ast::Expr::List(list) => list.items.iter().for_each(|item| self.expr(item)),
            ast::Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.expr(item)),
            ast::Expr::Map(map) => map.keys.iter().chain(&map.values).for_each(|part| self.expr(part)),
        }
    }

    fn arguments(&mut self, arguments: &[ast::CallArg<'a>]) {
        for argument in arguments {
            match argument {
                ast::CallArg::Pos(value)
                | ast::CallArg::Kwarg(_, value)
                | ast::CallArg::PosSplat(value)
                | ast::CallArg::KwargSplat(value) => self.expr(value),
            }
        }
    }
}
