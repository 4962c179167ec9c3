//! Names of definitions as slots: each definition has its own, so that nothing of the caller's is hidden.

use std::sync::Arc;

use aigo_ir::expr::{Expr, Kind};
use aigo_ir::template;
use aigo_ir::typing::Names;

use super::Checker;

impl Checker<'_> {
    /// The slot of a name of a definition; none where the name stays what it is.
    fn slot_of(&self, name: &str) -> Option<String> {
        let own = !self.prefix.is_empty() && name != "state" && Names::always().get(name).is_none();
        (own && self.names.get(name).is_some()).then(|| format!("{}{name}", self.prefix))
    }

    /// The expression with the names of the definition as slots.
    pub(super) fn renamed(&self, mut expr: Expr) -> Expr {
        if !self.prefix.is_empty() {
            rename(&mut expr, &|name| self.slot_of(name));
        }
        expr
    }

    /// The template with the names of the definition as slots.
    pub(super) fn renamed_template(&self, source: &str) -> Arc<str> {
        if self.prefix.is_empty() {
            return source.into();
        }
        let mut text = source.to_owned();
        let mut uses = template::analyse(source).unwrap_or_default();
        uses.sort_by_key(|one| std::cmp::Reverse(one.at.0));
        uses.dedup_by_key(|one| one.at.0);
        for one in &uses {
            let Some(name) = one.path.first() else { continue };
            let start = one.at.0 as usize;
            if let Some(slot) = self.slot_of(name) {
                text.replace_range(start..start + name.len(), &slot);
            }
        }
        text.into()
    }
}

fn rename(expr: &mut Expr, slot: &dyn Fn(&str) -> Option<String>) {
    match &mut expr.kind {
        Kind::Literal(_) => {}
        Kind::Name(name) => {
            if let Some(slot) = slot(name) {
                *name = slot.into();
            }
        }
        Kind::Attribute(a, _) | Kind::Not(a) | Kind::Minus(a) | Kind::Defined(a) => rename(a, slot),
        Kind::Item(a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Compare(_, a, b)
        | Kind::In(a, b)
        | Kind::Arithmetic(_, a, b) => {
            rename(a, slot);
            rename(b, slot);
        }
        Kind::If(a, b, c) => {
            rename(a, slot);
            rename(b, slot);
            rename(c, slot);
        }
        Kind::Call(_, items) | Kind::List(items) => items.iter_mut().for_each(|item| rename(item, slot)),
        Kind::Map(pairs) => pairs.iter_mut().for_each(|(_, value)| rename(value, slot)),
    }
}
