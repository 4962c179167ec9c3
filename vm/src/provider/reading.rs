//! What an application's reply means: the parts of an answer at their paths, from a whole reply or from a stream of parts.

use std::sync::Arc;

use aigo_ir::path::Path;
use aigo_ir::program::ReplyPaths;
use aigo_ir::text::excerpt;
use aigo_ir::value::Value;
use aigo_machine::{Answer, ToolCall};

/// Where a reply has what.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// None where the whole reply is the text.
    pub(super) reply: Option<ReplyPaths>,
    /// The id of the session that the application makes.
    pub(super) session: Option<Path>,
}

/// What a reply has brought so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    text: Option<String>,
    calls: Vec<ToolCall>,
    context: Vec<Arc<str>>,
    done: bool,
    session: Option<Arc<str>>,
    /// The beginning of what was read, for people.
    seen: String,
}

impl Gathered {
    /// Takes a whole reply, or a part of one. The message of a failure stands alone.
    pub(super) fn take(&mut self, places: &Places, text: &str) -> Result<(), String> {
        if self.seen.is_empty() {
            self.seen = excerpt(text, 120);
        }
        let value = if places.reply.is_some() || places.session.is_some() { Value::of_json(text) } else { None };
        let Some(paths) = &places.reply else {
            self.text.get_or_insert_default().push_str(text);
            self.session(places, value.as_ref());
            return Ok(());
        };
        let Some(value) = value else { return Err(format!("the reply is no JSON: {}", excerpt(text, 120))) };
        self.session(places, Some(&value));
        match paths.text.get(&value) {
            None | Some(Value::Null) => {}
            Some(Value::Str(part)) => self.text.get_or_insert_default().push_str(part),
            Some(plain @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => {
                self.text.get_or_insert_default().push_str(&plain.to_json());
            }
            Some(other) => return Err(format!("`{}` of the reply is {}, and no text", paths.text, other.kind())),
        }
        let at = |path: &Option<Path>| path.as_ref().and_then(|path| path.get(&value)).filter(|v| **v != Value::Null);
        if let Some(calls) = at(&paths.calls) {
            self.calls(calls)?;
        }
        match at(&paths.context) {
            None => {}
            Some(Value::List(chunks)) => self.context.extend(chunks.iter().map(chunk)),
            Some(one) => self.context.push(chunk(one)),
        }
        match at(&paths.done) {
            None => {}
            Some(Value::Bool(done)) => self.done |= done,
            Some(other) => return Err(format!("the path of `done` leads to {}, and no boolean", other.kind())),
        }
        Ok(())
    }

    fn session(&mut self, places: &Places, value: Option<&Value>) {
        if let (None, Some(path), Some(value)) = (&self.session, &places.session, value) {
            self.session = match path.get(value) {
                Some(Value::Str(id)) => Some(id.clone()),
                Some(Value::Int(id)) => Some(id.to_string().into()),
                _ => None,
            };
        }
    }

    /// The calls that an application made, or wants made: `{name, args}`, and what chat APIs call these.
    fn calls(&mut self, calls: &Value) -> Result<(), String> {
        let Some(calls) = calls.as_list() else {
            return Err(format!("the path of `calls` leads to {}, and no list", calls.kind()));
        };
        for call in calls {
            let call_of = call.get("function").unwrap_or(call);
            let text = |key: &str| call_of.get(key).and_then(Value::as_str);
            let Some(tool) = text("name").or_else(|| text("tool")) else {
                return Err(format!("a call without a `name`: {}", excerpt(&call.to_json(), 80)));
            };
            let arguments = match ["args", "arguments"].into_iter().find_map(|key| call_of.get(key)) {
                None | Some(Value::Null) => "{}".into(),
                Some(Value::Str(json)) => json.clone(),
                Some(value) => value.to_json().into(),
            };
            let id = call.get("id").and_then(Value::as_str).map(Arc::<str>::from);
            let is_free = |id: &Arc<str>| !id.is_empty() && !self.calls.iter().any(|known| known.id == *id);
            let id = id.filter(is_free).unwrap_or_else(|| format!("call_{}", self.calls.len()).into());
            self.calls.push(ToolCall { id, tool: tool.into(), arguments });
        }
        Ok(())
    }

    /// The answer, when all has come. `first` says that a session has to be made with it.
    pub(super) fn answer(self, places: &Places, first: bool) -> Result<Answer, String> {
        let Self { text, calls, context, done, session, seen } = self;
        if let (Some(path), None, true) = (&places.session, &session, first) {
            return Err(format!("the first reply has no id of its session at `{path}`: {seen}"));
        }
        let text = match (text, &places.reply) {
            (Some(text), _) => text,
            (None, Some(paths)) if calls.is_empty() => {
                return Err(format!("the reply has nothing at `{}`: {seen}", paths.text));
            }
            (None, _) => String::new(),
        };
        let stop = match (done, calls.is_empty()) {
            (true, _) => "done",
            (false, false) => "tool_calls",
            (false, true) => "stop",
        };
        Ok(Answer { text: text.into(), calls, stop: stop.into(), context, session, ..Answer::default() })
    }
}

fn chunk(value: &Value) -> Arc<str> {
    match value {
        Value::Str(text) => text.clone(),
        other => other.to_json().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn places() -> Places {
        let reply = ReplyPaths {
            text: path("a[0].text"),
            calls: Some(path("calls")),
            context: Some(path("docs")),
            done: Some(path("over")),
        };
        Places { reply: Some(reply), session: Some(path("sid")) }
    }

    fn read(parts: &[&str], first: bool) -> Result<Answer, String> {
        let mut gathered = Gathered::default();
        for part in parts {
            gathered.take(&places(), part)?;
        }
        gathered.answer(&places(), first)
    }

    #[test]
    fn everything_is_found_at_its_path_whole_or_in_parts() {
        let whole = r#"{"a":[{"text":"Hi there"}],"calls":[{"name":"f","args":{"n":1}}],"docs":["d1",{"x":1}],"over":true,"sid":7}"#;
        let parts = [
            r#"{"sid":7,"a":[{"text":"Hi"}]}"#,
            r#"{"a":[{"text":" there"}],"docs":["d1"]}"#,
            r#"{"calls":[{"name":"f","args":{"n":1}}],"docs":[{"x":1}],"over":true}"#,
        ];
        let answer = read(&[whole], true).unwrap();
        assert_eq!(answer, read(&parts, true).unwrap());
        assert_eq!((&*answer.text, &*answer.stop, answer.session.as_deref()), ("Hi there", "done", Some("7")));
        assert_eq!(answer.context, ["d1".into(), Arc::<str>::from(r#"{"x":1}"#)]);
        assert_eq!((&*answer.calls[0].id, &*answer.calls[0].arguments), ("call_0", r#"{"n":1}"#));
    }

    #[test]
    fn what_is_missing_is_named_with_what_was_seen() {
        let said = |parts: &[&str], first| read(parts, first).unwrap_err();
        assert_eq!(said(&["<html>"], true), "the reply is no JSON: <html>");
        assert_eq!(said(&[r#"{"b":1,"sid":"s"}"#], true), r#"the reply has nothing at `a[0].text`: {"b":1,"sid":"s"}"#);
        let no_session = said(&[r#"{"a":[{"text":"x"}]}"#], true);
        assert!(no_session.contains("no id of its session at `sid`"), "{no_session}");
        assert!(read(&[r#"{"a":[{"text":"x"}]}"#], false).is_ok());
        assert!(said(&[r#"{"a":[{"text":["x"]}]}"#], false).contains("and no text"));
        assert!(said(&[r#"{"calls":{}}"#], false).contains("no list"));
    }
}
