//! Scripted roles: the first rule whose condition holds answers. A pure function of the ask and the program's seed.

use std::sync::Arc;

use aigo_ir::engine::SharedScope;
use aigo_ir::eval::truth;
use aigo_ir::key::KeyWriter;
use aigo_ir::program::{Answer as Says, Rule, ScriptedCall};
use aigo_ir::template::Template;
use aigo_ir::value::Value;
use aigo_machine::{Answer, Ask, Linked, TASK_ERROR, ToolCall};

/// The answer of a scripted role. Where no rule holds, or a rule is at fault, the answer is that fault.
pub(crate) fn answer(linked: &Linked, rules: &[Rule], ask: &Ask) -> Answer {
    let Some(scope) = &ask.request.scope else { return fault("no_scope") };
    match says(linked, rules, ask, scope) {
        Ok(answer) => answer,
        Err(message) => {
            let text = format!("a rule of the role `{}`: {}", ask.request.role, aigo_ir::text::excerpt(&message, 300));
            Answer { text: text.into(), ..fault(TASK_ERROR) }
        }
    }
}

fn fault(class: &str) -> Answer {
    Answer { stop: "fault".into(), fault: Some(class.into()), ..Answer::default() }
}

fn text(text: impl Into<Arc<str>>) -> Answer {
    Answer { text: text.into(), stop: "stop".into(), ..Answer::default() }
}

fn says(linked: &Linked, rules: &[Rule], ask: &Ask, scope: &SharedScope) -> Result<Answer, String> {
    for rule in rules {
        let holds = match &rule.when {
            None => true,
            Some(when) => truth(when, scope.as_ref()).map_err(|fault| format!("`{when}`: {}", fault.message))?,
        };
        if holds {
            let calls = rule.calls.iter().enumerate().map(|(at, call)| made(linked, at, call, scope));
            let calls = calls.collect::<Result<Vec<_>, String>>()?;
            let context = rule.context.iter().map(|chunk| linked.engine.render(chunk, scope));
            let context = context.collect::<Result<Vec<_>, String>>()?;
            return Ok(Answer { calls, context, ..rule_says(linked, &rule.answer, ask, scope)? });
        }
    }
    Ok(fault("no_rule"))
}

fn rule_says(linked: &Linked, says: &Says, ask: &Ask, scope: &SharedScope) -> Result<Answer, String> {
    let render = |template: &Template| linked.engine.render(template, scope);
    match says {
        Says::Say { text: template, status } => {
            let said = render(template)?;
            Ok(text(structured(ask, &said, status.as_deref())))
        }
        Says::AnyOf { texts, status } => {
            let total: u64 = texts.iter().map(|(_, weight)| u64::from(*weight)).sum();
            let mut writer = KeyWriter::new("aigo.choice.1");
            writer.u64(linked.program.seed);
            if let Some(Value::Map(sample)) = scope.get("sample") {
                writer.value(&Value::Map(sample));
            }
            ask.position.hash_into(&mut writer);
            let mut drawn = writer.finish().number() % total.max(1);
            for (template, weight) in texts {
                if drawn < u64::from(*weight) {
                    let said = render(template)?;
                    return Ok(text(structured(ask, &said, status.as_deref())));
                }
                drawn -= u64::from(*weight);
            }
            Ok(fault("no_choice"))
        }
        Says::Verdict(shape) => Ok(text(filled(linked, shape, scope)?.to_json())),
        Says::Fault(played) => Ok(fault(&played.class())),
    }
}

/// A tool call that a rule makes. It has an id of its own within the answer.
fn made(linked: &Linked, at: usize, call: &ScriptedCall, scope: &SharedScope) -> Result<ToolCall, String> {
    let arguments = filled(linked, &call.args, scope)?.to_json().into();
    Ok(ToolCall { id: format!("call_{at}").into(), tool: call.name.clone(), arguments })
}

/// A simulated user that is asked for an object gives one.
fn structured(ask: &Ask, said: &Arc<str>, status: Option<&str>) -> Arc<str> {
    match (&ask.request.schema, status) {
        (Some(("user_turn", _)), Some(status)) => {
            let turn = Value::map([("message", Value::Str(said.clone())), ("status", Value::str(status))]);
            turn.to_json().into()
        }
        _ => said.clone(),
    }
}

/// The shape with its texts rendered.
fn filled(linked: &Linked, shape: &Value, scope: &SharedScope) -> Result<Value, String> {
    Ok(match shape {
        Value::Str(text) => Value::Str(linked.engine.render(&Template::new(text.clone()), scope)?),
        Value::List(items) => {
            Value::list(items.iter().map(|item| filled(linked, item, scope)).collect::<Result<Vec<_>, _>>()?)
        }
        Value::Map(map) => {
            let pairs = map.iter().map(|(key, item)| Ok((key.clone(), filled(linked, item, scope)?)));
            Value::map(pairs.collect::<Result<Vec<_>, String>>()?)
        }
        plain => plain.clone(),
    })
}
