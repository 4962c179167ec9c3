//! Tools: their rules are expressions over the parameters and the state.

use std::sync::Arc;

use aigo_ir::expr::Expr;
use aigo_ir::program::{Parameter, Tool, ToolAnswer, ToolRules};
use aigo_ir::span::Spanned;
use aigo_ir::ty::Type;
use aigo_ir::verify;

use super::Checker;
use crate::ast::{self, Leaf, Operand, Returns};
use crate::catalog;
use crate::resolve::meant;

impl Checker<'_> {
    pub(super) fn tool(&mut self, tool: &ast::Tool) -> Tool {
        let before = self.names.clone();
        for param in &tool.params {
            if before.get(&param.name.value).is_some() {
                let message = format!("the parameter `{}` hides what is in scope already", param.name.value);
                self.found.push(catalog::NAME_TWICE.at(param.name.span, message).help("choose another name"));
            }
            self.names.insert(param.name.value.as_str(), param.ty.clone());
        }
        let require = tool.require.as_ref().and_then(|leaf| self.condition(leaf));
        let set = tool.set.iter().filter_map(|(path, value)| self.change(path, value)).collect();
        let returns = tool.returns.as_ref().and_then(|returns| self.returns(returns));
        self.names = before;
        let fail = tool.fail.as_ref().map(|(on_call, error)| (*on_call, error.as_str().into()));
        let params = tool.params.iter().map(|param| Parameter {
            name: param.name.value.as_str().into(),
            ty: param.ty.clone(),
            default: param.default.as_ref().map(|default| default.value.clone()),
        });
        Tool {
            name: tool.name.value.as_str().into(),
            description: tool.description.as_deref().unwrap_or_default().into(),
            params: params.collect(),
            answer: match &tool.by {
                Some(_) => ToolAnswer::Role(aigo_ir::reuse::tool_role(&tool.name.value)),
                None => ToolAnswer::Rules(Box::new(ToolRules { require, set, returns, fail, ends: tool.ends })),
            },
            idempotent: tool.by.as_ref().is_some_and(|by| by.idempotent),
        }
    }

    /// A path of the state, and what becomes of it. The path is written without `state.` before it.
    fn change(&mut self, path: &Leaf, value: &Leaf) -> Option<(Expr, Expr)> {
        if self.names.get("state").is_none() {
            let message = "`set` changes the state, and the task has none";
            let help = "add it: `world: {state: {…}}`";
            self.found.push(catalog::UNKNOWN_NAME.at(path.span, message).help(help));
            return None;
        }
        let (to, ty) = self.path_of_state(path)?;
        let (value_expr, given) = self.expr(value)?;
        if !given.fits(&ty) {
            let message = format!("`{}` of the state is of type {ty}, and this is of type {given}", path.text);
            self.found.push(catalog::WRONG_TYPE.at(value.span, message).help("set it to a value of that type"));
            return None;
        }
        Some((to, value_expr))
    }

    /// A path of the state: `orders[order].seats`.
    pub(super) fn path_of_state(&mut self, leaf: &Leaf) -> Option<(Expr, Type)> {
        const ROOT: &str = "state.";
        let full = format!("{ROOT}{}", leaf.text);
        let shift = |range: std::ops::Range<usize>| {
            range.start.saturating_sub(ROOT.len())..range.end.saturating_sub(ROOT.len())
        };
        let expr = match aigo_ir::expr_parse::parse(&full) {
            Ok(expr) if verify::is_path_of_state(&expr) => expr,
            Ok(_) => {
                let message = format!("`{}` is no path of the state", leaf.text);
                let help = "write a path such as `orders[order].seats`";
                self.found.push(catalog::BAD_EXPRESSION.at(leaf.span, message).help(help));
                return None;
            }
            Err(error) => {
                let at = leaf.locate(self.sources, shift(error.range));
                let message = format!("the path cannot be read: {}", error.message);
                self.found.push(catalog::BAD_EXPRESSION.at(at, message).maybe_help(error.help));
                return None;
            }
        };
        let mut errors = Vec::new();
        let ty = aigo_ir::typing::check(&expr, &self.names, &mut errors);
        let failed = !errors.is_empty();
        for error in &mut errors {
            error.range = shift(error.range.clone());
        }
        self.report(leaf, &catalog::BAD_EXPRESSION, errors);
        (!failed).then_some((expr, ty))
    }

    /// Calls that are expected, against the tools that the task declares. An application may have tools of its own, so a
    /// task that declares none expects what it likes.
    pub(super) fn expected_calls(&mut self, calls: &[ast::CallPattern]) {
        let tools = self.task.map_or(&[][..], |task| &task.tools);
        for call in calls.iter().filter(|_| !tools.is_empty()) {
            let Some(tool) = tools.iter().find(|tool| tool.name.value == call.name.value) else {
                let message = format!("the task declares no tool `{}`", call.name.value);
                let known = tools.iter().map(|tool| tool.name.value.as_str());
                let found = catalog::UNKNOWN_DEFINITION.at(call.name.span, message);
                self.found.push(meant(found, &call.name.value, call.name.span, known));
                continue;
            };
            for (name, value) in call.args.iter().flatten() {
                self.expected_argument(tool, name, value);
            }
        }
    }

    fn expected_argument(&mut self, tool: &ast::Tool, name: &Spanned<String>, value: &Operand) {
        let Some(param) = tool.params.iter().find(|param| param.name.value == name.value) else {
            let message = format!("the tool `{}` takes no `{}`", tool.name.value, name.value);
            let known = tool.params.iter().map(|param| param.name.value.as_str());
            let found = catalog::BAD_ARGUMENT.at(name.span, message).help("it takes nothing: remove it");
            self.found.push(meant(found, &name.value, name.span, known));
            return;
        };
        let span = value.span();
        if let Some(ty) = self.unfit(value, &param.ty) {
            let message =
                format!("`{}` of `{}` is of type {}, and this is of type {ty}", name.value, tool.name.value, param.ty);
            let found = catalog::WRONG_TYPE.at(span, message).related(param.name.span, "the parameter");
            self.found.push(found.help("no call can have it: write a value of the parameter's type"));
        }
    }

    fn returns(&mut self, returns: &Returns) -> Option<Expr> {
        Some(match returns {
            Returns::Leaf(leaf) => self.expr(leaf)?.0,
            Returns::List(items) => Expr::list(items.iter().map(|item| self.returns(item)).collect::<Option<_>>()?),
            Returns::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, item)| Some((Arc::from(key.as_str()), self.returns(item)?)));
                Expr::map(pairs.collect::<Option<Vec<_>>>()?)
            }
        })
    }
}
