//! Templates: what their statements print, ask, go through and set, by the scopes of minijinja. `set` binds in the innermost
//! loop's pass, or in the whole template; `if` opens no scope, so a name that one branch sets may be missing behind it.

use std::sync::{Arc, LazyLock};

use minijinja::machinery::ast;

use super::calls::values_of;
use super::checker::Checker;
use super::words::describe;
use super::{Checked, Mistake, Names, Type, TypeError, by_place};
use crate::expr::{At, Expr, Function, Kind};
use crate::expr_parse::{Lower, at_of, texts_side_by_side};
use crate::template::{SyntaxError, has_no_tags, outer_names, tree};

/// What `loop` is in the body of a `for`.
static LOOP: LazyLock<Type> = LazyLock::new(|| {
    let count = ["index", "index0", "revindex", "revindex0", "length", "depth", "depth0"].map(|name| (name, Type::Int));
    let ends = ["first", "last"].map(|name| (name, Type::Bool));
    Type::Record(count.into_iter().chain(ends).map(|(name, ty)| (Arc::from(name), ty)).collect())
});

/// Checks a template: all its mistakes, and the names that it takes from outside.
pub fn check_template(source: &str, names: &Names) -> Checked {
    if has_no_tags(source) {
        return Checked::default();
    }
    let tree = match tree(source) {
        Ok(tree) => tree,
        Err(error) => return Checked { errors: in_spite_of(error, source, names), names: Vec::new() },
    };
    let (checker, lower) = (Checker::new(names, Some(source), true), Lower::new(source, true));
    let mut walk = Walk { checker, lower };
    walk.stmt(&tree);
    walk.lower.errors.extend(texts_side_by_side(source, false));
    let errors = by_place(walk.checker.errors, walk.lower.errors);
    Checked { errors, names: outer_names(&tree) }
}

/// The mistakes of a template that cannot be read: the one that it cannot be read for, and, where that is in a `{{ … }}`, those of
/// the rest of it.
fn in_spite_of(error: SyntaxError, source: &str, names: &Names) -> Vec<TypeError> {
    let mut errors: Vec<TypeError> = Vec::new();
    let mut text = source.to_owned();
    let mut next = Some(error);
    while let Some(error) = next.take() {
        let without = without_place(&text, error.range.start);
        errors.push(error.into());
        let Some(without) = without.filter(|_| errors.len() < MOST_UNREADABLE) else { break };
        text = without;
        match tree(&text) {
            Err(error) => next = Some(error),
            Ok(_) => errors.extend(check_template(&text, names).errors),
        }
    }
    errors.sort_by_key(|error| (error.range.start, error.range.end));
    errors
}

/// How many places of a template that cannot be read are told.
const MOST_UNREADABLE: usize = 8;

/// The text with blanks where the `{{ … }}` around a byte was, so that all else stays in its place.
fn without_place(text: &str, at: usize) -> Option<String> {
    const OPEN: &str = "{{";
    let open = text.match_indices(OPEN).map(|(open, _)| open).take_while(|open| *open <= at).last()?;
    let inner = text.get(open + OPEN.len()..)?;
    // Where a statement begins between the two, the mistake is in that.
    if text.get(open..at.max(open)).is_none_or(|between| between.contains("{%")) {
        return None;
    }
    let closed = inner.find("}}").map(|end| end + 2);
    let opened = [OPEN, "{%", "{#"].iter().filter_map(|mark| inner.find(mark)).min();
    let length = match (closed, opened) {
        (Some(closed), Some(opened)) => closed.min(opened),
        (closed, opened) => closed.or(opened).unwrap_or(inner.len()),
    };
    let end = open + OPEN.len() + length;
    Some(format!("{}{}{}", text.get(..open)?, " ".repeat(end - open), text.get(end..)?))
}

struct Walk<'n, 's> {
    checker: Checker<'n, 's>,
    lower: Lower<'s>,
}

impl Walk<'_, '_> {
    fn body(&mut self, body: &[ast::Stmt<'_>]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>) {
        match stmt {
            ast::Stmt::Template(template) => self.body(&template.children),
            ast::Stmt::EmitRaw(_) => {}
            ast::Stmt::EmitExpr(emit) => {
                let expr = self.lower.expr(&emit.expr);
                self.checker.printable(&expr, "texts, numbers and booleans print");
            }
            ast::Stmt::IfCond(cond) => self.branches(cond),
            ast::Stmt::ForLoop(each) => self.each(at_of(each.span()), each),
            ast::Stmt::Set(set) => self.set(set),
            ast::Stmt::Continue(_) | ast::Stmt::Break(_) => self.checker.flow.dead = true,
            other => self.refused(other),
        }
    }

    /// A chain of `if`, `elif`, `else`: in each branch the questions before it were answered with no. It is walked in a loop,
    /// since `elif` nests as deep as it is repeated.
    fn branches(&mut self, first: &ast::IfCond<'_>) {
        let mut cond = first;
        let mut ended = None;
        loop {
            let test = self.lower.expr(&cond.expr);
            self.checker.condition(&test);
            let mut otherwise = self.checker.flow.clone();
            self.checker.flow.assume(&test, true);
            self.body(&cond.true_body);
            otherwise.assume(&test, false);
            let branch = std::mem::replace(&mut self.checker.flow, otherwise);
            ended = Some(match ended {
                None => branch,
                Some(before) => branch.merge(before, self.checker.outer),
            });
            match cond.false_body.as_slice() {
                [ast::Stmt::IfCond(next)] => cond = next,
                otherwise => {
                    self.body(otherwise);
                    break;
                }
            }
        }
        let last = std::mem::take(&mut self.checker.flow);
        self.checker.flow = match ended {
            Some(before) => before.merge(last, self.checker.outer),
            None => last,
        };
    }

    fn each(&mut self, at: At, each: &ast::ForLoop<'_>) {
        let list = self.lower.expr(&each.iter);
        if let ast::Expr::List(list) = &each.target
            && list.items.iter().any(|item| !matches!(item, ast::Expr::Var(_)))
        {
            self.lower.refuse(at_of(list.span()), "names in brackets", "write the names side by side: `a, b`");
        }
        let types = self.items(&list, &each.target);
        if each.recursive {
            self.lower.refuse(At(at.0, at.0 + 3), "a recursive loop", "remove `recursive`: nest one loop in another");
        }
        let before = self.checker.flow.clone();
        self.checker.flow.enter();
        for (name, ty) in targets(&each.target).into_iter().zip(types) {
            self.bind(name, ty);
        }
        if let Some(filter) = &each.filter_expr {
            let filter = self.lower.expr(filter);
            self.checker.condition(&filter);
            self.checker.flow.assume(&filter, true);
        }
        self.checker.flow.set("loop".into(), LOOP.clone());
        self.body(&each.body);
        self.checker.flow = before;
        if !each.else_body.is_empty() {
            let before = self.checker.flow.clone();
            self.body(&each.else_body);
            let after = std::mem::take(&mut self.checker.flow);
            self.checker.flow = before.merge(after, self.checker.outer);
        }
    }

    /// The types of the names that a loop binds.
    fn items(&mut self, list: &Expr, target: &ast::Expr<'_>) -> Vec<Type> {
        let names = targets(target);
        let ty = self.checker.need(list);
        if names.len() == 2
            && let Kind::Call(Function::Items, arguments) = &list.kind
        {
            let map = self.checker_type_again(arguments);
            return vec![Type::Str, values_of(&map)];
        }
        let item = match ty {
            Type::List(item) => *item,
            Type::Any => Type::Any,
            other => {
                let text = self.checker.text(list);
                let help = match &other {
                    Type::Str => {
                        format!("make it a list: `{text} | split(',')`, or `{text} | list` for its characters")
                    }
                    Type::Int => format!("count up to it: `range({text})`"),
                    Type::Number | Type::Bool => "a `for` goes through the items of a list".to_owned(),
                    _ => format!("go through its pairs: `{{% for key, value in {text} | items %}}`"),
                };
                let message = format!("`for` goes through a list, and `{text}` is {}", describe(&other));
                self.checker.mismatch(list, message, help)
            }
        };
        if names.len() < 2 {
            return vec![item];
        }
        match item {
            Type::List(part) => vec![*part; names.len()],
            Type::Any => vec![Type::Any; names.len()],
            other => {
                let at = at_of(target.span());
                let count = names.len();
                let message = format!("each item is {}, which does not fall into {count} names", describe(&other));
                let help = "write one name; of a map, `{% for key, value in m | items %}`";
                self.checker.error(Mistake::Type, at.range(), message, help);
                vec![Type::Any; count]
            }
        }
    }

    /// The type of the map whose pairs are gone through; its mistakes are known already.
    fn checker_type_again(&mut self, arguments: &[Expr]) -> Type {
        let known = self.checker.errors.len();
        let ty = arguments.first().map_or(Type::Any, |map| self.checker.need(map));
        self.checker.errors.truncate(known);
        ty
    }

    fn set(&mut self, set: &ast::Set<'_>) {
        let value = self.lower.expr(&set.expr);
        let ty = self.checker.ty(&value);
        match &set.target {
            ast::Expr::Var(var) => self.bind(var, ty),
            ast::Expr::List(list) => {
                let at = at_of(list.span());
                self.lower.refuse(at, "several names in one `set`", "set one after the other");
                for name in targets(&set.target) {
                    self.bind(name, Type::Any);
                }
            }
            other => {
                self.lower.refuse(at_of(other.span()), "`set` of an attribute", "set a name: values do not change");
            }
        }
    }

    fn bind(&mut self, name: &ast::Spanned<ast::Var<'_>>, ty: Type) {
        self.checker.flow.set(name.id.into(), ty);
    }

    fn refused(&mut self, stmt: &ast::Stmt<'_>) {
        let (span, what, help) = match stmt {
            ast::Stmt::WithBlock(s) => (s.span(), "with", "use `{% set name = … %}`"),
            ast::Stmt::SetBlock(s) => (s.span(), "set", "give the value behind `=`: `{% set name = 'text' ~ x %}`"),
            ast::Stmt::AutoEscape(s) => (s.span(), "autoescape", "nothing is escaped; remove it"),
            ast::Stmt::FilterBlock(s) => (s.span(), "filter", "use the filter on a value: `{{ x | upper }}`"),
            ast::Stmt::Macro(s) => (s.span(), "macro", "write the text where it is used"),
            ast::Stmt::CallBlock(s) => (s.span(), "call", "write the text where it is used"),
            ast::Stmt::Do(s) => (s.span(), "do", "values do not change; use `{% set name = … %}`"),
            _ => return,
        };
        let at = at_of(span);
        let at = At(at.0, at.0 + u32::try_from(what.len()).unwrap_or(0));
        let what = if what == "set" {
            "`{% set %}` without a value".to_owned()
        } else {
            format!("`{{% {what} %}}` in a template")
        };
        self.lower.refuse(at, what, help);
    }
}

/// The names that a `for` or `set` binds.
fn targets<'t, 'a>(target: &'t ast::Expr<'a>) -> Vec<&'t ast::Spanned<ast::Var<'a>>> {
    match target {
        ast::Expr::Var(var) => vec![var],
        ast::Expr::List(list) => list.items.iter().flat_map(targets).collect(),
        _ => Vec::new(),
    }
}
