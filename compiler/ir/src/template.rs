//! Templates: text with places to fill in, in Jinja's syntax. Their analysis; rendering is [`crate::engine`]'s.

use std::ops::Range;
use std::sync::Arc;

use minijinja::machinery::{self, Token, ast};
use minijinja::syntax::SyntaxConfig;

use crate::diagnostic;
use crate::expr::At;
use crate::expr_parse::at_of;
use crate::span::Origin;

/// A template's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Jinja text.
    pub source: Arc<str>,
    /// Where it was written.
    pub origin: Origin,
}

impl Template {
    /// A template that nobody wrote in a task.
    pub fn new(source: impl Into<Arc<str>>) -> Self {
        Self { source: source.into(), origin: Origin::default() }
    }

    /// The names that it takes from outside; none of a template that cannot be read.
    pub fn names(&self) -> Vec<Arc<str>> {
        let uses = analyse(&self.source).unwrap_or_default();
        uses.into_iter().filter_map(|one| one.path.into_iter().next()).collect()
    }

    /// Whether rendering gives the text itself, without looking at anything.
    pub fn is_literal(&self) -> bool {
        is_literal(&self.source)
    }
}

/// Whether Jinja would leave the text as it is. Jinja drops one newline at the end.
pub fn is_literal(source: &str) -> bool {
    !source.contains("{{") && !source.contains("{%") && !source.contains("{#") && !source.ends_with('\n')
}

/// Why a template or expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What was seen.
    pub message: String,
    /// Where, in bytes of the text; on character boundaries.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(range: Range<usize>, source: &str, message: impl Into<String>) -> Self {
        let floor = |mut at: usize| {
            at = at.min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(range.start);
        Self { message: message.into(), range: start..floor(range.end).max(start), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into()).filter(|text| !text.is_empty());
        self
    }
}

pub(crate) fn syntax_error(error: &minijinja::Error, source: &str) -> SyntaxError {
    let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    SyntaxError::new(error.range().unwrap_or(0..source.len()), source, message)
}

/// The parser recurses on chains of operators; these bounds keep it far from the end of a small thread's stack.
const MOST_BYTES: usize = 64 << 10;
const MOST_TOKENS: usize = 400;
const MOST_PREFIXES: usize = 24;
const MOST_BLOCKS: usize = 400;

pub(crate) fn guard_expression(source: &str) -> Result<(), SyntaxError> {
    guard(source, true)
}

fn guard(source: &str, expression: bool) -> Result<(), SyntaxError> {
    if source.len() > MOST_BYTES {
        let message = format!("{} bytes; at most {MOST_BYTES} are read", source.len());
        return Err(SyntaxError::new(0..source.len(), source, message).help("split it into several steps"));
    }
    let (mut tokens, mut prefixes, mut blocks) = (0, 0, 0);
    for token in machinery::tokenize(source, expression, SyntaxConfig::default()) {
        let (token, span) = token.map_err(|error| syntax_error(&error, source))?;
        tokens += 1;
        prefixes = if matches!(token, Token::Minus | Token::Plus | Token::Ident("not")) { prefixes + 1 } else { 0 };
        if matches!(token, Token::BlockStart) {
            blocks += 1;
        }
        if matches!(token, Token::VariableStart | Token::BlockStart) {
            tokens = 0;
        }
        let excess = [
            (tokens > MOST_TOKENS, "an expression of more than 400 tokens"),
            (prefixes > MOST_PREFIXES, "more than 24 signs in a row"),
            (blocks > MOST_BLOCKS, "more than 400 statements in one template"),
        ];
        if let Some((_, what)) = excess.iter().find(|(over, _)| *over) {
            return Err(SyntaxError::new(at_of(span).range(), source, *what).help("split it into several steps"));
        }
    }
    Ok(())
}

/// A value that a template reads from outside: a name and the attributes after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// `last` and `text` of `last.text`.
    pub path: Vec<Arc<str>>,
    /// Where the whole path stands.
    pub at: At,
    /// Whether it is printed as it is, without a filter.
    pub printed: bool,
    /// Whether the template asks first whether the name is defined, or gives a default.
    pub guarded: bool,
}

/// The filters that templates may use; all of minijinja's that are pure and print the same on every platform.
pub const FILTERS: &[&str] = &[
    "abs",
    "capitalize",
    "default",
    "first",
    "indent",
    "items",
    "join",
    "json",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "replace",
    "reverse",
    "round",
    "sort",
    "split",
    "title",
    "trim",
    "unique",
    "upper",
];

/// The tests that templates may use.
pub const TESTS: &[&str] = &["defined", "undefined", "none", "string", "number", "sequence", "mapping", "odd", "even"];

/// Reads a template and lists what it takes from outside, in order of appearance.
pub fn analyse(source: &str) -> Result<Vec<Use>, SyntaxError> {
    guard(source, false)?;
    let tree = machinery::parse(source, "<template>", SyntaxConfig::default()).map_err(|e| syntax_error(&e, source))?;
    let mut walk = Walk { source, uses: Vec::new(), guarded: Vec::new(), scopes: vec![vec!["loop".to_owned()]] };
    walk.stmt(&tree)?;
    let Walk { mut uses, guarded, .. } = walk;
    for one in &mut uses {
        one.guarded |= one.path.first().is_some_and(|name| guarded.contains(name));
    }
    Ok(uses)
}

struct Walk<'s> {
    source: &'s str,
    uses: Vec<Use>,
    guarded: Vec<Arc<str>>,
    scopes: Vec<Vec<String>>,
}

type Walked = Result<(), SyntaxError>;

impl Walk<'_> {
    fn refuse(&self, at: At, what: impl Into<String>, help: impl Into<String>) -> Walked {
        Err(SyntaxError::new(at.range(), self.source, what).help(help))
    }

    fn bind(&mut self, target: &ast::Expr<'_>) {
        let names: Vec<&ast::Expr<'_>> = match target {
            ast::Expr::List(list) => list.items.iter().collect(),
            ast::Expr::Tuple(tuple) => tuple.items.iter().collect(),
            one => vec![one],
        };
        for name in names {
            if let (ast::Expr::Var(var), Some(scope)) = (name, self.scopes.last_mut()) {
                scope.push(var.id.to_owned());
            }
        }
    }

    fn body(&mut self, body: &[ast::Stmt<'_>]) -> Walked {
        self.scopes.push(Vec::new());
        let walked = body.iter().try_for_each(|stmt| self.stmt(stmt));
        self.scopes.pop();
        walked
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>) -> Walked {
        match stmt {
            ast::Stmt::Template(template) => template.children.iter().try_for_each(|stmt| self.stmt(stmt)),
            ast::Stmt::EmitExpr(emit) => self.expr(&emit.expr, true),
            ast::Stmt::IfCond(cond) => {
                self.expr(&cond.expr, false)?;
                self.body(&cond.true_body)?;
                self.body(&cond.false_body)
            }
            ast::Stmt::ForLoop(each) => {
                self.expr(&each.iter, false)?;
                self.scopes.push(Vec::new());
                self.bind(&each.target);
                let filter = each.filter_expr.as_ref().map_or(Ok(()), |filter| self.expr(filter, false));
                let walked = filter.and_then(|()| self.body(&each.body));
                self.scopes.pop();
                walked?;
                self.body(&each.else_body)
            }
            ast::Stmt::Set(set) => {
                self.expr(&set.expr, false)?;
                self.bind(&set.target);
                Ok(())
            }
            ast::Stmt::EmitRaw(_) | ast::Stmt::Continue(_) | ast::Stmt::Break(_) => Ok(()),
            other => {
                let (at, what) = refused(other);
                self.refuse(at, format!("`{{% {what} %}}` in a template"), "templates have `if`, `for` and `set`")
            }
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|known| known == name)
    }

    fn expr(&mut self, expr: &ast::Expr<'_>, printed: bool) -> Walked {
        if let Some((path, at)) = path_of(expr) {
            if let Some(name) = path.first()
                && !self.is_local(name)
            {
                self.uses.push(Use { path, at, printed, guarded: false });
            }
            return Ok(());
        }
        match expr {
            ast::Expr::Const(_) | ast::Expr::Var(_) => Ok(()),
            ast::Expr::Slice(slice) => {
                self.expr(&slice.expr, false)?;
                [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                    .try_for_each(|part| self.expr(part, false))
            }
            ast::Expr::UnaryOp(op) => self.expr(&op.expr, false),
            ast::Expr::BinOp(op) => {
                self.expr(&op.left, false)?;
                self.expr(&op.right, false)
            }
            ast::Expr::Compare(chain) => {
                self.expr(&chain.expr, false)?;
                chain.ops.iter().try_for_each(|op| self.expr(&op.expr, false))
            }
            ast::Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr, false)?;
                self.expr(&choice.true_expr, printed)?;
                choice.false_expr.as_ref().map_or(Ok(()), |otherwise| self.expr(otherwise, printed))
            }
            ast::Expr::Filter(filter) => self.filter(filter),
            ast::Expr::Test(test) => self.test(test),
            ast::Expr::GetAttr(get) => self.expr(&get.expr, false),
            ast::Expr::GetItem(get) => {
                self.expr(&get.expr, false)?;
                self.expr(&get.subscript_expr, false)
            }
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::List(list) => list.items.iter().try_for_each(|item| self.expr(item, false)),
            ast::Expr::Tuple(tuple) => tuple.items.iter().try_for_each(|item| self.expr(item, false)),
            ast::Expr::Map(map) => map.keys.iter().chain(&map.values).try_for_each(|part| self.expr(part, false)),
        }
    }

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Walked {
        if !FILTERS.contains(&filter.name) {
            let help = diagnostic::suggest(filter.name, FILTERS.iter().copied());
            return self.refuse(
                named_at(self.source, filter),
                format!("unknown filter `{}`", filter.name),
                help.unwrap_or_default(),
            );
        }
        if let Some(operand) = &filter.expr {
            if filter.name == "default"
                && let Some((path, _)) = path_of(operand)
            {
                self.guarded.extend(path.into_iter().next());
            }
            self.expr(operand, false)?;
        }
        self.arguments(&filter.args)
    }

    fn test(&mut self, test: &ast::Test<'_>) -> Walked {
        if !TESTS.contains(&test.name) {
            let help = diagnostic::suggest(test.name, TESTS.iter().copied());
            return self.refuse(
                at_of(test.expr.span()),
                format!("unknown test `is {}`", test.name),
                help.unwrap_or_default(),
            );
        }
        if matches!(test.name, "defined" | "undefined")
            && let Some((path, _)) = path_of(&test.expr)
        {
            self.guarded.extend(path.into_iter().next());
        }
        self.expr(&test.expr, false)?;
        self.arguments(&test.args)
    }

    fn call(&mut self, call: &ast::Call<'_>) -> Walked {
        match &call.expr {
            ast::Expr::Var(name) if name.id == "range" => self.arguments(&call.args),
            other => {
                let at = at_of(other.span());
                self.refuse(
                    at,
                    "a call in a template",
                    "templates call no functions but `range`; use a filter: `{{ x | upper }}`",
                )
            }
        }
    }

    fn arguments(&mut self, arguments: &[ast::CallArg<'_>]) -> Walked {
        arguments.iter().try_for_each(|argument| match argument {
            ast::CallArg::Pos(value)
            | ast::CallArg::Kwarg(_, value)
            | ast::CallArg::PosSplat(value)
            | ast::CallArg::KwargSplat(value) => self.expr(value, false),
        })
    }
}

fn named_at(source: &str, filter: &ast::Spanned<ast::Filter<'_>>) -> At {
    let span = at_of(filter.span());
    let found = source.get(span.range()).and_then(|text| text.rfind(filter.name));
    found.and_then(|at| u32::try_from(at).ok()).map_or(span, |offset| {
        let start = span.0 + offset;
        At(start, start + u32::try_from(filter.name.len()).unwrap_or(0))
    })
}

/// `a.b.c` as a path, where the expression is one.
fn path_of(expr: &ast::Expr<'_>) -> Option<(Vec<Arc<str>>, At)> {
    let at = at_of(expr.span());
    match expr {
        ast::Expr::Var(var) => Some((vec![var.id.into()], at)),
        ast::Expr::GetAttr(get) => {
            let (mut path, start) = path_of(&get.expr)?;
            path.push(get.name.into());
            Some((path, At(start.0.min(at.0), at.1)))
        }
        _ => None,
    }
}

fn refused(stmt: &ast::Stmt<'_>) -> (At, &'static str) {
    match stmt {
        ast::Stmt::WithBlock(s) => (at_of(s.span()), "with"),
        ast::Stmt::SetBlock(s) => (at_of(s.span()), "set … endset"),
        ast::Stmt::AutoEscape(s) => (at_of(s.span()), "autoescape"),
        ast::Stmt::FilterBlock(s) => (at_of(s.span()), "filter"),
        ast::Stmt::Macro(s) => (at_of(s.span()), "macro"),
        ast::Stmt::CallBlock(s) => (at_of(s.span()), "call"),
        ast::Stmt::Do(s) => (at_of(s.span()), "do"),
        _ => (At(0, 0), "statement"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_have_exact_places_scopes_and_guards() {
        let source = "é {{ goal.text }}{% if plan is defined %}{{ plan }}{% endif %}{% for x in xs %}{{ x }}{{ y|upper }}{% endfor %}";
        let uses = analyse(source).unwrap();
        let shown: Vec<_> = uses.iter().map(|u| (&source[u.at.range()], u.printed, u.guarded)).collect();
        let expected = [
            ("goal.text", true, false),
            ("plan", false, true),
            ("plan", true, true),
            ("xs", false, false),
            ("y", false, false),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_templates_do_not_have_is_refused_with_its_place() {
        let error = |source: &str| analyse(source).unwrap_err();
        assert_eq!(&"{{ a | uper }}"[error("{{ a | uper }}").range], "uper");
        assert_eq!(error("{{ a | uper }}").help.unwrap(), "did you mean `upper`?");
        for bad in [
            "{{ debug() }}",
            "{% macro m() %}{% endmacro %}",
            "{% include 'x' %}",
            "{{ ",
            "{{ a is foo }}",
            "{{ x.y() }}",
        ] {
            assert!(analyse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn long_chains_are_refused_before_they_are_parsed() {
        for hostile in [
            format!("{{{{ {}1 }}}}", "-".repeat(50_000)),
            format!("{{{{ {}1 }}}}", "not ".repeat(12_000)),
            format!("{{{{ 1{} }}}}", "+a".repeat(20_000)),
            format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(5_000)),
            format!("{{{{ x{} }}}}", ".b".repeat(20_000)),
        ] {
            assert!(analyse(&hostile).is_err());
        }
    }
}
