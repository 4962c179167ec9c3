//! Names of definitions as slots: each definition has its own, so that nothing of the caller's is hidden.

use std::sync::Arc;

use aigo_ir::check::Test;
use aigo_ir::expr::Expr;
use aigo_ir::template;
use aigo_ir::typing::Names;

use super::Checker;

impl Checker<'_> {
    /// The slot of a name of a definition; none where the name stays what it is.
    fn slot_of(&self, name: &str) -> Option<String> {
        // What a check itself binds is nobody's slot.
        let of_check = self.of_check && Test::NAMES.contains(&name);
        let own = !of_check && !self.prefix.is_empty() && name != "state" && Names::always().get(name).is_none();
        (own && self.names.get(name).is_some()).then(|| format!("{}{name}", self.prefix))
    }

    /// The expression with the names of the definition as slots.
    pub(super) fn renamed(&self, expr: &Expr) -> Expr {
        if self.prefix.is_empty() { expr.clone() } else { expr.renamed(&|name| self.slot_of(name)) }
    }

    /// The template with the names of the definition as slots.
    pub(super) fn renamed_template(&self, source: &str) -> Arc<str> {
        if self.prefix.is_empty() {
            return source.into();
        }
        // One that cannot be read has been reported.
        template::renamed(source, &|name| self.slot_of(name)).map_or_else(|_| source.into(), Arc::from)
    }
}
