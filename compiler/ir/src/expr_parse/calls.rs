//! Functions, filters and tests: what is called, with what, and what to write instead of what the language does not have.

use minijinja::machinery::ast;

use super::places::length;
use super::{Lower, at_of};
use crate::diagnostic;
use crate::expr::{At, Expr, Function, Kind, Test};

impl Lower<'_> {
    pub(super) fn filter(&mut self, at: At, filter: &ast::Filter<'_>) -> Expr {
        let named = At(at.0, at.0 + length(filter.name));
        let Some(operand) = &filter.expr else {
            return self.refuse(named, "a filter without a value", "write `x | lower`");
        };
        let operand = self.expr(operand);
        let at = self.spanning(at, &operand);
        let function = Function::named(filter.name);
        let rest = self.arguments(named, &filter.args);
        match function {
            Some(function) if !self.in_template || function.is_filter() => {
                let arguments = std::iter::once(operand).chain(rest).collect();
                self.called(at, function, arguments)
            }
            Some(function) => self.only_in_expressions(named, function),
            None => self.unknown_function(named, "filter", filter.name),
        }
    }

    pub(super) fn call(&mut self, at: At, call: &ast::Call<'_>) -> Expr {
        match &call.expr {
            ast::Expr::Var(name) => {
                let named = at_of(name.span());
                let arguments = self.arguments(named, &call.args);
                match Function::named(name.id) {
                    Some(function) if !self.in_template || function == Function::Range => {
                        self.called(at, function, arguments)
                    }
                    Some(function) if !function.is_filter() => self.only_in_expressions(named, function),
                    Some(function) => {
                        let instead = self.as_filter(function, &arguments);
                        let what = format!("a call of `{}` in a template", name.id);
                        let hole = self.refuse(at, what, format!("write `{instead}`"));
                        self.fix(instead);
                        hole
                    }
                    None => self.unknown_function(named, "function", name.id),
                }
            }
            ast::Expr::GetAttr(get) => {
                let object = self.expr(&get.expr);
                let rest = self.arguments(at, &call.args);
                let at = self.spanning(at, &object);
                self.method(at, get.name, object, rest)
            }
            other => {
                let at = at_of(other.span());
                self.refuse(at, "a call of something that is no function", "write `name(x)`")
            }
        }
    }

    fn method(&mut self, at: At, name: &str, object: Expr, rest: Vec<Expr>) -> Expr {
        let what = format!("a call of the method `{name}`");
        if let Some(function) = Function::named(name).or_else(|| Function::meant_by(name)) {
            let arguments: Vec<Expr> = std::iter::once(object).chain(rest).collect();
            let instead = if self.in_template {
                self.as_filter(function, &arguments)
            } else {
                format!("{}({})", function.name(), self.texts(&arguments))
            };
            let fits = function.arity().contains(&arguments.len());
            let hole = self.refuse(at, what, format!("values have no methods: write `{instead}`"));
            if fits {
                self.fix(instead);
            }
            return hole;
        }
        let help = match name {
            "get" => "values have no methods: write `x.key`, or `default(x.key, …)` where it may be missing",
            "format" => "values have no methods: join texts with `~`",
            "cycle" | "changed" => "loops have no methods: ask `loop.index is odd`, `loop.first`",
            _ if self.in_template => "values have no methods: use a filter, `{{ x | upper }}`",
            _ => "values have no methods: use a function, `upper(x)`",
        };
        self.refuse(at, what, help)
    }

    /// The call as a filter of its first argument, in the words of the source.
    fn as_filter(&self, function: Function, arguments: &[Expr]) -> String {
        let Some((first, rest)) = arguments.split_first() else { return format!("x | {}", function.name()) };
        let operand = self.texts(std::slice::from_ref(first));
        // A filter holds together tighter than every operator.
        let operand = if operand.contains(' ') { format!("({operand})") } else { operand };
        let rest = if rest.is_empty() { String::new() } else { format!("({})", self.texts(rest)) };
        format!("{operand} | {}{rest}", function.name())
    }

    fn texts(&self, parts: &[Expr]) -> String {
        let texts = parts.iter().map(|part| self.source.get(part.at.range()).unwrap_or_default());
        texts.collect::<Vec<_>>().join(", ")
    }

    /// The last refusal can be mended by this text in its place.
    fn fix(&mut self, text: String) {
        if let Some(error) = self.errors.last_mut() {
            error.fix = Some(text);
        }
    }

    fn only_in_expressions(&mut self, at: At, function: Function) -> Expr {
        let name = function.name();
        let help = format!("compute it in a step before: `set: {{name: {name}(…)}}`");
        self.refuse(at, format!("`{name}` in a template, which cannot ask for the conversation"), help)
    }

    fn unknown_function(&mut self, at: At, what: &str, name: &str) -> Expr {
        let known: Vec<&str> = match (self.in_template, what) {
            (true, "function") => vec!["range"],
            (true, _) => Function::ALL.iter().filter(|f| f.is_filter()).map(|f| f.name()).collect(),
            _ => Function::ALL.iter().map(|f| f.name()).collect(),
        };
        let meant = Function::meant_by(name).filter(|_| what == "filter" || !self.in_template).map(Function::name);
        let near = meant.or_else(|| diagnostic::nearest(name, known.iter().copied()));
        let help = match (name, near) {
            ("int" | "float" | "bool", _) => {
                "values keep the type that the samples give them: write the number without quotes there".to_owned()
            }
            (_, Some(near)) => format!("did you mean `{near}`?"),
            (_, None) if what == "function" && self.in_template => {
                "templates call no functions but `range`; filters are written `x | upper`".to_owned()
            }
            (_, None) => diagnostic::suggest(name, known.iter().copied()).unwrap_or_default(),
        };
        let hole = self.refuse(at, format!("unknown {what} `{name}`"), help);
        if let Some(near) = near {
            self.fix(near.to_owned());
        }
        hole
    }

    pub(super) fn unknown_test(&mut self, at: At, name: &str) -> Expr {
        let near = match name {
            "null" | "nil" | "empty" => Some("none"),
            "list" | "iterable" | "array" => Some("sequence"),
            "dict" | "map" | "object" => Some("mapping"),
            "bool" => Some("boolean"),
            "text" | "str" => Some("string"),
            "integer" | "float" | "int" => Some("number"),
            _ => diagnostic::nearest(name, Test::names()),
        };
        let help = match name {
            "in" => "write `x in y`".to_owned(),
            "divisibleby" => "write `x % n == 0`".to_owned(),
            "eq" | "equalto" | "sameas" | "true" | "false" => {
                "compare with `==`, or write the boolean itself".to_owned()
            }
            "ne" | "lt" | "le" | "gt" | "ge" | "lessthan" | "greaterthan" => {
                "compare with `<`, `<=`, `>`, `>=`, `!=`".to_owned()
            }
            _ => match near {
                Some(near) => format!("did you mean `is {near}`?"),
                None => {
                    let all: Vec<String> = Test::names().map(|name| format!("`is {name}`")).collect();
                    format!("the tests are {}; compare with `==`, `in`, `<`", all.join(", "))
                }
            },
        };
        self.refuse(at, format!("unknown test `is {name}`"), help)
    }

    fn called(&mut self, at: At, function: Function, arguments: Vec<Expr>) -> Expr {
        let arity = function.arity();
        if !arity.contains(&arguments.len()) {
            let (name, seen) = (function.name(), arguments.len());
            let what = format!("`{name}` with {seen} value{}", if seen == 1 { "" } else { "s" });
            let wanted = if arity.start() == arity.end() {
                arity.end().to_string()
            } else {
                format!("{} or {}", arity.start(), arity.end())
            };
            let params: Vec<&str> = function.params().iter().map(|param| param.words()).collect();
            let help = if params.is_empty() {
                format!("write `{name}()`")
            } else {
                format!("it takes {wanted}, the first before `|`: {}", params.join(", "))
            };
            return self.refuse(at, what, help);
        }
        Expr { kind: Kind::Call(function, arguments), at }
    }

    fn arguments(&mut self, at: At, arguments: &[ast::CallArg<'_>]) -> Vec<Expr> {
        let mut out = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            match argument {
                ast::CallArg::Pos(value) => out.push(self.expr(value)),
                ast::CallArg::Kwarg(name, value) => {
                    out.push(self.expr(value));
                    self.refuse(
                        at,
                        format!("the argument `{name}` by name"),
                        "functions take their arguments in order",
                    );
                }
                ast::CallArg::PosSplat(value) | ast::CallArg::KwargSplat(value) => {
                    out.push(self.expr(value));
                    self.refuse(at, "arguments spread with `*`", "write them one by one");
                }
            }
        }
        out
    }
}
