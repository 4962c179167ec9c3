//! Whether values are of their declared types.

use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::ty::Type;
use aigo_ir::value::Value;

/// The declared types of fields, in the order of their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Arc<[(Arc<str>, Type)]>);

impl Fields {
    pub(super) fn new(declared: &[crate::ast::Declared]) -> Self {
        let mut fields: Vec<_> = declared.iter().map(|field| (field.name.value.clone(), field.ty.clone())).collect();
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(fields.into())
    }

    pub(super) fn all(&self) -> &[(Arc<str>, Type)] {
        &self.0
    }

    pub(super) fn get(&self, name: &str) -> Option<&Type> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.0.get(at).map(|(_, ty)| ty)
    }
}

/// The first part of a value that does not fit: its path behind the field, what it is, what was wanted.
pub(super) fn misfit(value: &Value, ty: &Type) -> Option<String> {
    let mut path = String::new();
    let (seen, wanted) = find(value, ty, &mut path)?;
    let seen = match seen {
        None => "missing".to_owned(),
        Some(value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => format!("{value}"),
        Some(value) => value.kind().to_owned(),
    };
    Some(match path.as_str() {
        "" => format!("is {seen}, and is declared as {wanted}"),
        path => format!("has `{path}` that is {seen}, and is declared as {wanted}"),
    })
}

fn find<'v>(value: &'v Value, ty: &'v Type, path: &mut String) -> Option<(Option<&'v Value>, &'v Type)> {
    match (value, ty) {
        (_, Type::Any)
        | (Value::Null, Type::Null | Type::Maybe(_))
        | (Value::Bool(_), Type::Bool)
        | (Value::Int(_), Type::Int | Type::Number)
        | (Value::Float(_), Type::Number)
        | (Value::Str(_), Type::Str) => None,
        (value, Type::Maybe(ty)) => find(value, ty, path),
        (Value::List(items), Type::List(ty)) => {
            let length = path.len();
            items.iter().enumerate().find_map(|(at, item)| {
                path.truncate(length);
                let _ = write!(path, "[{at}]");
                find(item, ty, path)
            })
        }
        (Value::Map(map), Type::Record(fields)) => {
            let length = path.len();
            fields.iter().find_map(|(name, ty)| {
                path.truncate(length);
                let _ = write!(path, "{}{name}", if length == 0 { "" } else { "." });
                match map.get(name) {
                    Some(value) => find(value, ty, path),
                    None if matches!(ty, Type::Maybe(_) | Type::Any | Type::Null) => None,
                    None => Some((None, ty)),
                }
            })
        }
        (value, ty) => Some((Some(value), ty)),
    }
}
