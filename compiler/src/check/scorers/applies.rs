//! Whether a scorer applies: decided from fields and the user's side, never from what the assistant said. Otherwise hard
//! cases would leave the denominator, and a changed application would change who is counted.

use aigo_ir::expr::{Expr, Function, Kind};
use aigo_ir::message::USER;
use aigo_ir::program::VOIDS_ALL;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

use super::Checker;
use crate::ast::Leaf;
use crate::catalog;

impl Checker<'_> {
    pub(in crate::check) fn applies(&mut self, leaf: &Leaf) -> Option<Expr> {
        let before = self.found.len();
        let expr = self.condition(leaf)?;
        // A condition that is wrong as one is reported once.
        if self.found.len() > before {
            return None;
        }
        let mut bad: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        expr.visit(&mut |part| {
            let what = match &part.kind {
                Kind::Name(name) if ["last", "messages"].contains(&&**name) => format!("`{name}` has"),
                Kind::Call(Function::JudgedTurns, _) => "`judged_turns` depends on".to_owned(),
                Kind::Call(Function::SaidIn, arguments) if !is_of_user(arguments) => "`said_in` gives".to_owned(),
                _ => return,
            };
            bad.push((part.at.range(), what));
        });
        for (range, what) in &bad {
            let message =
                format!("{what} what the assistant says, and whether a scorer applies must not depend on that");
            let help = "read fields of the sample, `turn`, or the user's side: `said_in(1, 'user')`";
            self.found
                .push(catalog::WHEN_READS_ANSWERS.at(leaf.locate(self.sources, range.clone()), message).help(help));
        }
        bad.is_empty().then_some(expr)
    }

    /// The scorers that are void where a scorer fails: a list of names, of which `*` stands for all.
    pub(in crate::check) fn voids(&mut self, leaf: &Leaf) -> Option<Expr> {
        if leaf.text.trim() == "all" {
            return Some(Expr::literal(Value::list(vec![Value::str(VOIDS_ALL)])));
        }
        let (expr, ty) = self.expr(leaf)?;
        if ty.fits(&Type::List(Box::new(Type::Str))) {
            return Some(expr);
        }
        let message = format!("`voids` names scorers, and this is of type {ty}");
        let help = "write `all`, or a list such as `['helpful']`";
        self.found.push(catalog::WRONG_TYPE.at(leaf.span, message).help(help));
        None
    }
}

/// Whether the second argument is surely the user.
fn is_of_user(arguments: &[Expr]) -> bool {
    arguments.get(1).and_then(Expr::constant) == Some(Value::str(USER))
}
