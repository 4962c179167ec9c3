//! Gates: the fields by whose values they group.

use std::sync::Arc;

use aigo_ir::diagnostic;
use aigo_ir::span::Spanned;

use super::Checker;
use crate::catalog;

impl Checker<'_> {
    /// Every field that a gate groups by is one that some sample has.
    pub(super) fn gates(&mut self, fields: &[Spanned<Arc<str>>]) {
        for field in fields {
            let mut parts = field.value.split('.');
            let name = parts.next().unwrap_or_default();
            let Some(ty) = self.all.fields().iter().find(|field| &*field.name == name).map(|field| field.ty.clone())
            else {
                if !self.fields_known {
                    continue;
                }
                let known: Vec<&str> = self.all.fields().iter().map(|field| &*field.name).collect();
                let message = format!("the gate groups by `{name}`, and no sample has such a field");
                let mut diagnostic = catalog::NO_SUCH_GROUP.at(field.span, message);
                if let Some(near) = diagnostic::nearest(name, known.iter().copied()) {
                    let whole = field.value.replacen(name, near, 1);
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?")).fix(
                        format!("write `{whole}`"),
                        field.span,
                        whole,
                    );
                } else {
                    diagnostic = diagnostic.maybe_help(diagnostic::suggest(name, known));
                }
                self.found.push(diagnostic);
                continue;
            };
            let plain = |ty: aigo_ir::ty::Type| if let aigo_ir::ty::Type::Maybe(inner) = ty { *inner } else { ty };
            let mut ty = plain(ty);
            for part in parts {
                let Some(inner) = ty.attribute(part) else {
                    let message =
                        format!("the gate groups by `{}`, and `{part}` is nothing that the field has", field.value);
                    let help =
                        diagnostic::suggest(part, ty.attributes().iter().map(String::as_str).collect::<Vec<_>>());
                    self.found.push(catalog::NO_SUCH_GROUP.at(field.span, message).maybe_help(help));
                    break;
                };
                ty = plain(inner);
            }
        }
    }
}
