//! What the assistant is told of its tools.

use std::sync::Arc;

use crate::program::Tool;
use crate::ty::Type;
use crate::value::{Map, Value};

/// A tool as it is offered to a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for; may be empty.
    pub description: Arc<str>,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
}

/// A tool as it is offered: those of its parameters are required that have no default and must not be missing.
pub fn offered(tool: &Tool) -> Offered {
    let is_required = |ty: &Type| !matches!(ty, Type::Maybe(_) | Type::Any);
    let properties: Map = tool
        .params
        .iter()
        .map(|param| {
            let mut schema: Map = of_type(&param.ty).as_map().cloned().unwrap_or_default();
            if let Some(default) = &param.default {
                schema.set("default", default.clone());
            }
            (Arc::clone(&param.name), Value::Map(Arc::new(schema)))
        })
        .collect();
    let required = tool.params.iter().filter(|param| param.default.is_none() && is_required(&param.ty));
    let required = required.map(|param| Value::Str(Arc::clone(&param.name))).collect();
    Offered {
        name: Arc::clone(&tool.name),
        description: Arc::clone(&tool.description),
        parameters: Value::map([
            ("type", Value::str("object")),
            ("properties", Value::Map(Arc::new(properties))),
            ("required", Value::list(required)),
            ("additionalProperties", Value::Bool(false)),
        ]),
    }
}

/// The JSON Schema of a type.
fn of_type(ty: &Type) -> Value {
    let word = |word: &str| Value::map([("type", Value::str(word))]);
    match ty {
        Type::Null => word("null"),
        Type::Bool => word("boolean"),
        Type::Int => word("integer"),
        Type::Number => word("number"),
        Type::Str => word("string"),
        Type::List(item) => Value::map([("type", Value::str("array")), ("items", of_type(item))]),
        Type::Maybe(ty) => of_type(ty),
        Type::Record(fields) => {
            let required = fields.iter().filter(|(_, ty)| !matches!(ty, Type::Maybe(_) | Type::Any));
            let required = required.map(|(name, _)| Value::Str(Arc::clone(name))).collect();
            let properties = fields.iter().map(|(name, ty)| (Arc::clone(name), of_type(ty)));
            Value::map([
                ("type", Value::str("object")),
                ("properties", Value::map(properties)),
                ("required", Value::list(required)),
            ])
        }
        Type::Any | Type::Message | Type::Reply | Type::Verdict | Type::UserTurn => Value::map::<Arc<str>>([]),
    }
}
