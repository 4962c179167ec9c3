//! `fields`: the declared types of the samples' fields.

use std::sync::Arc;

use aigo_ir::ty::Type;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::Reader;
use super::data::{is_reserved, nearest_type};
use crate::ast::Declared;
use crate::catalog;
use crate::shape;

/// How deep a declared type may nest.
const MOST_DEPTH: usize = 16;

impl Reader<'_> {
    pub(super) fn declared(&mut self, node: NodeRef<'_>) -> Vec<Declared> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`fields`", "a map of names to types, such as `{plan: string, seats: integer}`");
        }
        let mut declared = Vec::new();
        for entry in node.entries() {
            let name = entry.key.value;
            if ["id", "tags"].contains(&name) || is_reserved(name) {
                let message = format!("`{name}` is no field of the samples: its meaning is fixed");
                self.report(catalog::BAD_VALUE.at(entry.key.span, message).help("remove it, or choose another name"));
            } else if let Some(ty) = self.field_type(entry.value, 0) {
                declared.push(Declared { name: entry.key.map(Arc::from), ty });
            }
        }
        declared
    }

    fn field_type(&mut self, node: NodeRef<'_>, depth: usize) -> Option<Type> {
        if depth > MOST_DEPTH {
            let message = format!("a type that is nested more than {MOST_DEPTH} deep");
            self.report(catalog::BAD_TYPE.at(node.site(), message).help("declare `any` further down"));
            return None;
        }
        match node.kind() {
            NodeKind::Scalar(_) | NodeKind::Null => self.type_text(node),
            NodeKind::List(mut items) => match (items.next(), items.next()) {
                (Some(item), None) => self.field_type(item, depth + 1).map(|item| Type::List(Box::new(item))),
                _ => {
                    let message = "a list as a type has one item, which is the type of all its items";
                    self.report(catalog::BAD_TYPE.at(node.site(), message).help("write `[string]` or `list<string>`"));
                    None
                }
            },
            NodeKind::Map(_) if is_long_form(node) => {
                let fields = self.map(node, &shape::FIELD)?;
                if let Some(node) = fields.get("doc") {
                    self.text(node, "doc");
                }
                let optional = fields.get("optional").and_then(|node| {
                    let value = node.value().and_then(|value| value.as_bool());
                    if value.is_none() {
                        self.wrong_kind(node, "`optional`", "true or false");
                    }
                    value
                });
                let ty = self.required(&fields, "type").and_then(|node| self.field_type(node, depth + 1))?;
                Some(if optional == Some(true) && !matches!(ty, Type::Maybe(_)) {
                    Type::Maybe(Box::new(ty))
                } else {
                    ty
                })
            }
            NodeKind::Map(entries) => {
                let mut parts = Vec::new();
                for entry in entries {
                    parts.push((Arc::from(entry.key.value), self.field_type(entry.value, depth + 1)?));
                }
                Some(Type::Record(parts))
            }
            NodeKind::Error => None,
        }
    }

    fn type_text(&mut self, node: NodeRef<'_>) -> Option<Type> {
        let Some(text) = node.as_str() else {
            self.wrong_kind(node, "a type", "text, such as `string` or `list<integer>`");
            return None;
        };
        if let Some(ty) = Type::parse(text).filter(is_of_data) {
            return Some(ty);
        }
        let bare = text.trim().trim_end_matches('?');
        let message = format!("`{text}` is no type");
        let diagnostic = catalog::BAD_TYPE.at(node.site(), message);
        let known = "known are `string`, `integer`, `number`, `boolean`, `any`, `list<…>`, maps of names to types, and `?` behind \
                     a type that may be missing";
        self.report(match nearest_type(bare) {
            Some(near) => {
                let near = format!("{near}{}", if text.trim().ends_with('?') { "?" } else { "" });
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), node.site(), near)
            }
            None if text.contains('{') => {
                diagnostic.help("write the map as YAML: `goal: {id: string}`, a list of maps `goals: [{id: string}]`")
            }
            None => diagnostic.help(known),
        });
        None
    }
}

/// `{type: …, doc: …, optional: …}`: a map with `type` and nothing else than these keys.
fn is_long_form(node: NodeRef<'_>) -> bool {
    node.get("type").is_some() && node.entries().all(|entry| shape::FIELD.key(entry.key.value).is_some())
}

/// Whether rows can hold values of the type.
fn is_of_data(ty: &Type) -> bool {
    match ty {
        Type::Message | Type::Reply | Type::Verdict | Type::UserTurn => false,
        Type::List(item) | Type::Maybe(item) => is_of_data(item),
        Type::Record(fields) => fields.iter().all(|(_, ty)| is_of_data(ty)),
        _ => true,
    }
}
