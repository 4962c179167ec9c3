//! Checks.

use std::sync::Arc;

use crate::check::{Between, CallMode, CallPattern, Likeness, Operand, Repeated, Test};
use crate::lines::Line;
use crate::value::Value;

pub(crate) fn test(test: &Test, negated: bool, line: &mut Line) {
    let key = format!("{}{}", if negated { "not_" } else { "" }, test.word());
    let value = match test {
        Test::Text(_, wanted) => {
            line.pair(&key, &wanted.source);
            return;
        }
        Test::Expr(expr) => {
            line.pair(&key, &expr.to_string());
            return;
        }
        Test::OneOf(texts) => Value::list(texts.iter().map(|text| Value::Str(text.source.clone())).collect()),
        Test::JsonSchema(schema) => schema.clone(),
        Test::Words(range) | Test::Turns(range) => between(*range),
        Test::Within(ms) => Value::map([("ms", Value::Int(i64::try_from(*ms).unwrap_or(i64::MAX)))]),
        Test::NoReply => Value::Bool(true),
        Test::NoRepetition(of, likeness) => {
            let of = (*of != Repeated::default()).then(|| ("of", Value::str(of.word())));
            Value::map(of.into_iter().chain(alike(*likeness)))
        }
        Test::ToolCalls(list, mode) => Value::map(
            [("calls", calls(list)), ("mode", Value::str(mode.word()))]
                .into_iter()
                .filter(|(key, _)| *key != "mode" || *mode != CallMode::Strict),
        ),
        Test::State(pairs) => operands(pairs),
        Test::StateAfter(list) => calls(list),
        Test::Similarity(to, likeness) => {
            let to = ("to", Value::Str(to.source.clone()));
            Value::map([to].into_iter().chain(alike(*likeness)))
        }
    };
    line.pair_value(&key, &value);
}

/// A range as a map of its ends.
pub(super) fn between(range: Between) -> Value {
    let ends = [("min", range.least), ("max", range.most)];
    Value::map(ends.into_iter().filter_map(|(key, end)| Some((key, Value::Int(i64::from(end?))))))
}

fn alike(likeness: Likeness) -> [(&'static str, Value); 2] {
    let least = Value::float(likeness.least).unwrap_or_default();
    [("measure", Value::str(likeness.measure.word())), ("least", least)]
}

fn operands(pairs: &[(Arc<str>, Operand)]) -> Value {
    let value = |operand: &Operand| match operand {
        Operand::Text(text) => Value::Str(text.source.clone()),
        Operand::Data(value) => value.clone(),
    };
    Value::map(pairs.iter().map(|(name, operand)| (name.clone(), value(operand))))
}

fn calls(list: &[CallPattern]) -> Value {
    let call = |call: &CallPattern| {
        let args = call.args.as_ref().map(|args| ("args", operands(args)));
        Value::map([("name", Value::Str(call.name.clone()))].into_iter().chain(args))
    };
    Value::list(list.iter().map(call).collect())
}
