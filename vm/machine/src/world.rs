//! The world that tools work on: the state, how often each tool was called, and how a tool's rules answer a call.

use std::sync::Arc;

use aigo_ir::eval::{Scope, eval, truth};
use aigo_ir::expr::{Expr, Kind};
use aigo_ir::message::{Conversation, MessageKind};
use aigo_ir::node::Ending;
use aigo_ir::program::{Program, Tool, ToolAnswer, ToolRules};
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};

use crate::scope::{Sample, ambient};

/// The world of one sample in one epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct World {
    /// What expressions read as `state`; none where the task has none.
    pub(crate) state: Option<Value>,
    /// What the calls of `setup` brought, by their names; none where they brought nothing.
    pub(crate) setup: Option<Value>,
    /// How often each tool was called, in the program's order.
    called: Vec<u32>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    /// What the assistant is told.
    pub(crate) text: Arc<str>,
    /// How the call ends the conversation, if it does.
    pub(crate) ends: Option<Ending>,
    /// Why the call was refused, if it was.
    pub(crate) refused: Option<String>,
}

/// Whether the fault on order of a tool is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    /// It is, on its turn.
    Played,
    /// It is not: of calls that were expected or recorded, and not made.
    Ignored,
}

/// What the rules of a tool read.
struct OfCall<'c> {
    args: &'c Map,
    state: Option<&'c Value>,
    sample: &'c Sample,
    conversation: &'c Conversation,
}

impl Scope for OfCall<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        let own = self.args.get(name).cloned();
        let state = || self.state.filter(|_| name == "state").cloned();
        own.or_else(state).or_else(|| ambient(self.sample, self.conversation, name))
    }

    fn conversation(&self) -> &Conversation {
        self.conversation
    }
}

impl World {
    /// The world in which a sample begins: what the task says, changed by the calls that the sample's own conversation has.
    pub(crate) fn of(program: &Program, sample: &Sample) -> Self {
        let mut world = Self { state: program.state.clone(), setup: None, called: vec![0; program.tools.len()] };
        for message in sample.conversation.messages() {
            if let MessageKind::Call { tool, arguments, .. } = &message.kind {
                world.call(program, tool, arguments, Faults::Ignored, sample, &sample.conversation);
            }
        }
        world
    }

    /// Answers a call by the tool's rules. A call that is refused leaves the state as it was: one of a tool that is not
    /// there, one whose arguments do not fit, the one whose fault is on order, one that `require` does not allow, and one
    /// for which an expression has no value. A tool that a role answers is none of ours: no result.
    pub(crate) fn call(
        &mut self,
        program: &Program,
        name: &str,
        arguments: &str,
        faults: Faults,
        sample: &Sample,
        conversation: &Conversation,
    ) -> Option<Response> {
        let Some(at) = program.tools.iter().position(|tool| &*tool.name == name) else {
            return Some(refused(format!("there is no tool `{name}`")));
        };
        let tool = program.tools.get(at)?;
        let ToolAnswer::Rules(rules) = &tool.answer else { return None };
        let number = match self.called.get_mut(at) {
            Some(called) => {
                *called = called.saturating_add(1);
                *called
            }
            None => 0,
        };
        if let Some((_, error)) = rules.fail.as_ref().filter(|(turn, _)| faults == Faults::Played && *turn == number) {
            return Some(refused(error.to_string()));
        }
        let args = match filled(tool, arguments) {
            Ok(args) => args,
            Err(why) => return Some(refused(why)),
        };
        Some(match self.apply(rules, &args, sample, conversation) {
            Ok(text) => Response { text, ends: rules.ends, refused: None },
            Err(why) => refused(why),
        })
    }

    fn apply(
        &mut self,
        rules: &ToolRules,
        args: &Map,
        sample: &Sample,
        conversation: &Conversation,
    ) -> Result<Arc<str>, String> {
        let mut next = self.state.clone();
        {
            let scope = OfCall { args, state: self.state.as_ref(), sample, conversation };
            if let Some(require) = &rules.require
                && !truth(require, &scope).map_err(|fault| fault.message)?
            {
                return Err(format!("not possible: it needs {require}"));
            }
            let computed = rules.set.iter().map(|(path, value)| {
                let steps = steps(path, &scope)?;
                Ok((steps, eval(value, &scope).map_err(|fault| fault.message)?))
            });
            let computed: Vec<(Vec<Step>, Value)> = computed.collect::<Result<_, String>>()?;
            for (steps, value) in computed {
                next = Some(put(&next.unwrap_or_default(), &steps, value)?);
            }
        }
        let scope = OfCall { args, state: next.as_ref(), sample, conversation };
        let text = match &rules.returns {
            None => r#"{"ok":true}"#.into(),
            Some(returns) => match eval(returns, &scope).map_err(|fault| fault.message)? {
                Value::Str(text) => text,
                other => other.to_json().into(),
            },
        };
        self.state = next;
        Ok(text)
    }
}

/// The response of a call that is refused, with what the assistant is told.
pub(crate) fn refused(why: String) -> Response {
    let text = Value::map([("error", Value::str(why.as_str()))]).to_json();
    Response { text: text.into(), ends: None, refused: Some(why) }
}

/// The arguments of a call, defaults filled in; the error is for the assistant.
pub(crate) fn filled(tool: &Tool, arguments: &str) -> Result<Map, String> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let Some(Value::Map(written)) = Value::of_json(text) else {
        return Err(format!("the arguments of `{}` are no JSON object", tool.name));
    };
    let known = |name: &str| tool.params.iter().any(|param| &*param.name == name);
    if let Some((name, _)) = written.iter().find(|(name, _)| !known(name)) {
        return Err(format!("`{}` takes no `{}`", tool.name, aigo_ir::text::excerpt(name, 60)));
    }
    let mut args = Map::default();
    for param in &tool.params {
        let given = written.get(&param.name).cloned().or_else(|| param.default.clone());
        let value = match given {
            Some(value) => of_type(value, &param.ty),
            None if matches!(param.ty, Type::Maybe(_) | Type::Any) => Value::Null,
            None => return Err(format!("`{}` needs `{}`, of type {}", tool.name, param.name, param.ty)),
        };
        if !Type::of(&value).fits(&param.ty) {
            let seen = aigo_ir::text::excerpt(&value.to_json(), 60);
            return Err(format!("`{}` of `{}` is of type {}, and was {seen}", param.name, tool.name, param.ty));
        }
        args.set(Arc::clone(&param.name), value);
    }
    Ok(args)
}

/// JSON has one kind of number: `5.0` is a whole one where a whole one is wanted.
fn of_type(value: Value, ty: &Type) -> Value {
    let wants = if let Type::Maybe(ty) = ty { ty } else { ty };
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number well within the range")]
        Value::Float(x) if *wants == Type::Int && x.fract() == 0.0 && x.abs() < 9e15 => Value::Int(x as i64),
        value => value,
    }
}

/// A step of a path of the state.
enum Step {
    Key(Arc<str>),
    Index(i64),
}

/// The steps of a path, from the outside in; indices are computed.
fn steps(path: &Expr, scope: &OfCall<'_>) -> Result<Vec<Step>, String> {
    match &path.kind {
        Kind::Attribute(object, name) => {
            let mut found = steps(object, scope)?;
            found.push(Step::Key(Arc::clone(name)));
            Ok(found)
        }
        Kind::Item(object, index) => {
            let mut found = steps(object, scope)?;
            found.push(match eval(index, scope).map_err(|fault| fault.message)? {
                Value::Str(key) => Step::Key(key),
                Value::Int(at) => Step::Index(at),
                other => return Err(format!("{} is no place in the state", other.kind())),
            });
            Ok(found)
        }
        _ => Ok(Vec::new()),
    }
}

/// The value with another one at a place. A map takes a new key; what lies on the way has to be there.
fn put(value: &Value, steps: &[Step], new: Value) -> Result<Value, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(new) };
    match (step, value) {
        (Step::Key(key), Value::Map(map)) => {
            let inner = match (map.get(key), rest.is_empty()) {
                (_, true) => new,
                (Some(inner), false) => put(inner, rest, new)?,
                (None, false) => return Err(format!("there is no `{key}`")),
            };
            let mut map = Map::clone(map);
            map.set(Arc::clone(key), inner);
            Ok(Value::Map(Arc::new(map)))
        }
        (Step::Index(at), Value::List(items)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let place = usize::try_from(if *at < 0 { length.saturating_add(*at) } else { *at }).ok();
            let found = place.and_then(|place| Some((place, items.get(place)?)));
            let Some((place, inner)) = found else {
                return Err(format!("there is no item {at} in a list of {length}"));
            };
            let inner = put(inner, rest, new)?;
            let mut items = Vec::clone(items);
            if let Some(item) = items.get_mut(place) {
                *item = inner;
            }
            Ok(Value::list(items))
        }
        (Step::Key(key), other) => Err(format!("{} has no `{key}`", other.kind())),
        (Step::Index(at), other) => Err(format!("{} has no item {at}", other.kind())),
    }
}
