//! The JSON Schema of what a tool takes.

use super::object;
use crate::program::Parameter;
use crate::ty::Type;
use crate::value::Value;

/// JSON Schema of the arguments of a tool's calls. A parameter with a default may be left out; its default is named.
pub fn parameters_schema(params: &[Parameter]) -> Value {
    let mut properties = Vec::with_capacity(params.len());
    for param in params {
        let mut schema = of_type(&param.ty);
        if let (Value::Map(map), Some(default)) = (&schema, &param.default) {
            let mut map = (**map).clone();
            map.set("default", default.clone());
            schema = Value::Map(map.into());
        }
        properties.push((&*param.name, schema));
    }
    let required = params.iter().filter(|param| param.default.is_none() && !matches!(param.ty, Type::Maybe(_)));
    let required = required.map(|param| Value::Str(param.name.clone())).collect();
    with_required(object(properties), required)
}

fn with_required(object: Value, required: Vec<Value>) -> Value {
    let Value::Map(map) = object else { return object };
    let mut map = (*map).clone();
    map.set("required", Value::list(required));
    Value::Map(map.into())
}

/// JSON Schema of the values of a type; of what only exists within a run, any object.
fn of_type(ty: &Type) -> Value {
    let named = |word: &str| Value::map([("type", Value::str(word))]);
    match ty {
        Type::Any => Value::map::<&str>([]),
        Type::Null => named("null"),
        Type::Bool => named("boolean"),
        Type::Int => named("integer"),
        Type::Number => named("number"),
        Type::Str => named("string"),
        Type::List(item) => Value::map([("type", Value::str("array")), ("items", of_type(item))]),
        Type::Record(fields) => {
            let required = fields.iter().filter(|(_, ty)| !matches!(ty, Type::Maybe(_)));
            let required = required.map(|(name, _)| Value::Str(name.clone())).collect();
            with_required(object(fields.iter().map(|(name, ty)| (&**name, of_type(ty))).collect()), required)
        }
        Type::Maybe(ty) => Value::map([("anyOf", Value::list(vec![of_type(ty), named("null")]))]),
        Type::Message | Type::Reply | Type::Verdict | Type::UserTurn => named("object"),
    }
}
