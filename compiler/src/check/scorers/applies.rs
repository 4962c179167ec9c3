//! Whether a scorer applies: decided from fields and the user's side, never from what the assistant said. Otherwise hard
//! cases would leave the denominator, and a changed application would change who is counted.

use aigo_ir::diagnostic;
use aigo_ir::expr::{Expr, Function, Kind};
use aigo_ir::message::USER;
use aigo_ir::program::{EXPECTATIONS, VOIDS_ALL};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;

use super::Checker;
use crate::ast::{self, Leaf};
use crate::catalog;
use crate::resolve::Checkpoint;
use crate::typed::Scorer;

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

    /// The names that `voids` writes out are scorers of the task. What is computed, as from a persona, may name others.
    pub(in crate::check) fn void_names(&mut self, task: &ast::Task, checkpoints: &[Checkpoint], scorers: &[Scorer]) {
        if task.damaged || task.scorers_damaged {
            return;
        }
        let mut known: Vec<&str> = task.scorers.iter().map(|scorer| scorer.name.value.as_str()).collect();
        known.extend(checkpoints.iter().map(|checkpoint| checkpoint.name.value.as_str()));
        known.push(EXPECTATIONS);
        for (written, scorer) in task.scorers.iter().filter_map(|written| {
            let scorer = scorers.iter().find(|scorer| *scorer.name == *written.name.value)?;
            Some((written.voids.as_ref()?, scorer))
        }) {
            let Some(Value::List(names)) = scorer.voids.as_ref().and_then(Expr::constant) else { continue };
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != VOIDS_ALL);
            for name in names.filter(|name| !known.contains(name)) {
                let message = format!("`voids` names `{name}`, and no scorer is called that");
                let found = catalog::UNKNOWN_SCORER.at(written.span, message);
                self.found.push(found.maybe_help(diagnostic::suggest(name, known.iter().copied())));
            }
        }
    }
}

/// Whether the second argument is surely the user.
fn is_of_user(arguments: &[Expr]) -> bool {
    arguments.get(1).and_then(Expr::constant) == Some(Value::str(USER))
}
