//! Roles and their rules, calls before and after a sample, limits.

use std::sync::Arc;

use super::{Read, expr};
use crate::lines::{Cursor, Statement};
use crate::path::Path;
use crate::program::{
    Answer, Call, CallKind, ChatModel, CommandCall, CommandRole, Dialect, Fault, Header, HeaderValue, HttpCall,
    HttpMethod, HttpRole, Limits, Player, Price, ReplyPaths, Role, Rule, SampleLimits, ScriptedCall, Session,
    Structured,
};
use crate::span::Origin;
use crate::template::Template;

pub(super) fn role(mut cursor: Cursor<'_>) -> Read<Role> {
    let name = cursor.text("the role's name")?.into();
    let player = match cursor.word("who plays it")? {
        "scripted" => Player::Scripted(cursor.block().iter().map(rule).collect::<Read<_>>()?),
        "chat" => Player::Chat(model(&cursor)?),
        "http" => Player::Http(Box::new(http_role(&cursor)?)),
        "command" => {
            let (call, resumable, version) = command(&cursor)?;
            Player::Command(CommandRole { call, resumable, version })
        }
        other => return cursor.fail(format!("unknown player `{other}`")),
    };
    cursor.finish()?;
    Ok(Role { name, player, origin: Origin::default() })
}

fn rule(statement: &Statement) -> Read<Rule> {
    let mut line = Cursor::new(statement);
    if line.word("`rule`")? != "rule" {
        return line.fail("a scripted role consists of rules");
    }
    let when = match line.text_of("when")? {
        Some(text) => Some(expr(&line, text)?),
        None => None,
    };
    let (mut texts, mut calls, mut context) = (Vec::new(), Vec::new(), Vec::new());
    for statement in line.block() {
        let mut part = Cursor::new(statement);
        match part.word("a part of the rule")? {
            "choice" => {
                let text = Template::new(part.text("the text")?);
                let Some(weight) = part.count_of("weight")? else { return part.fail("`weight=` is missing") };
                texts.push((text, weight));
            }
            "call" => {
                let name = part.text("the tool")?.into();
                let Some(args) = part.value_of("args")? else { return part.fail("`args=` is missing") };
                calls.push(ScriptedCall { name, args: args.clone() });
            }
            "chunk" => context.push(Template::new(part.text("the chunk")?)),
            other => return part.fail(format!("`{other}`: a rule has `choice`, `call` and `chunk`")),
        }
        part.finish()?;
    }
    let status = line.word_of("status")?.map(Arc::from);
    let drawn = line.has_items();
    if drawn && line.word("`any_of`")? != "any_of" {
        return line.fail("the only word of a rule is `any_of`");
    }
    if !drawn && !texts.is_empty() {
        return line.fail("choices need `any_of`");
    }
    let answer = if drawn {
        Answer::AnyOf { texts, status }
    } else if let Some(text) = line.text_of("say")? {
        Answer::Say { text: Template::new(text), status }
    } else if status.is_some() {
        return line.fail("`status=` goes with `say=` and `any_of`");
    } else if let Some(shape) = line.value_of("verdict")? {
        Answer::Verdict(shape.clone())
    } else if let Some(word) = line.word_of("fault")? {
        match Fault::parse(word) {
            Some(fault) => Answer::Fault(fault),
            None => return line.fail(format!("`fault={word}`: a status or a known word is expected")),
        }
    } else {
        return line.fail("a rule needs one of `say=`, `any_of`, `verdict=`, `fault=`");
    };
    line.finish()?;
    Ok(Rule { when, answer, calls, context })
}

fn model(cursor: &Cursor<'_>) -> Read<ChatModel> {
    let mut found: Option<ChatModel> = None;
    for statement in cursor.block() {
        let mut line = Cursor::new(statement);
        match (line.word("a property of the model")?, &mut found) {
            ("model", None) => {
                let name = line.text("the model's name")?.into();
                let word = line.needed_word("dialect")?;
                let Some(dialect) = Dialect::ALL.into_iter().find(|known| known.word() == word) else {
                    return line.fail(format!("unknown dialect `{word}`"));
                };
                found = Some(ChatModel {
                    dialect,
                    model: name,
                    endpoint: line.needed_text("endpoint")?.into(),
                    base_url: line.needed_text("base_url")?.into(),
                    api_key: line.text_of("api_key")?.map(Arc::from),
                    timeout_ms: line.count_of("timeout_ms")?,
                    stream: stream(&mut line)?,
                    structured: structured(&mut line)?,
                    headers: Vec::new(),
                    parameters: Vec::new(),
                    price: None,
                });
            }
            ("header", Some(model)) => model.headers.push(header(&mut line)?),
            ("parameter", Some(model)) => {
                let name = line.text("the parameter's name")?.into();
                model.parameters.push((name, line.value("the parameter's value")?.clone()));
            }
            ("price", Some(model)) => {
                let (input, output) = (line.needed_number("input")?, line.needed_number("output")?);
                model.price = Some(Price { input, output, cached_input: number_of(&mut line, "cached_input")? });
            }
            (other, _) => {
                return line
                    .fail(format!("`{other}`: a chat role has one `model`, then `header`, `parameter` and `price`"));
            }
        }
        line.finish()?;
    }
    found.map_or_else(|| cursor.fail("a chat role needs a `model`"), Ok)
}

fn stream(line: &mut Cursor<'_>) -> Read<Option<bool>> {
    match line.word_of("stream")? {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => line.fail(format!("`stream={other}`: `true` or `false` is expected")),
    }
}

fn structured(line: &mut Cursor<'_>) -> Read<Structured> {
    let Some(word) = line.word_of("structured")? else { return Ok(Structured::default()) };
    let known = Structured::ALL.into_iter().find(|known| known.word() == word);
    known.map_or_else(|| line.fail(format!("unknown way of structured answers `{word}`")), Ok)
}

fn number_of(line: &mut Cursor<'_>, key: &str) -> Read<Option<f64>> {
    match line.value_of(key)? {
        None => Ok(None),
        Some(value) => value.as_f64().map_or_else(|| line.fail(format!("`{key}=` takes a number")), |x| Ok(Some(x))),
    }
}

fn header(line: &mut Cursor<'_>) -> Read<Header> {
    let name = line.text("the header's name")?.into();
    let value = match (line.text_of("say")?, line.text_of("env")?) {
        (Some(text), None) => HeaderValue::Text(Template::new(text)),
        (None, Some(name)) => {
            HeaderValue::Env { name: name.into(), prefix: line.text_of("prefix")?.unwrap_or_default().into() }
        }
        _ => return line.fail("a header needs one of `say=` and `env=`"),
    };
    Ok(Header { name, value })
}

fn path(line: &Cursor<'_>, text: &str) -> Read<Path> {
    Path::parse(text).or_else(|error| line.fail(format!("the path `{text}`: {}", error.message)))
}

fn path_of(line: &mut Cursor<'_>, key: &str) -> Read<Option<Path>> {
    match line.text_of(key)? {
        None => Ok(None),
        Some(text) => path(line, text).map(Some),
    }
}

/// `request`, `header`, `body`; gives whether the line was one of them.
fn http_part(word: &str, line: &mut Cursor<'_>, found: &mut Option<HttpCall>) -> Read<bool> {
    match (word, found) {
        ("request", found @ None) => {
            let word = line.word("the method")?;
            let Some(method) = HttpMethod::ALL.into_iter().find(|known| known.word() == word) else {
                return line.fail(format!("unknown method `{word}`"));
            };
            let url = Template::new(line.needed_text("url")?);
            let timeout_ms = line.count_of("timeout_ms")?;
            *found =
                Some(HttpCall { method, url, headers: Vec::new(), body: None, allow_hosts: Vec::new(), timeout_ms });
        }
        ("allow_hosts", Some(call)) if call.allow_hosts.is_empty() => call.allow_hosts = texts(line, "the hosts")?,
        ("header", Some(call)) => call.headers.push(header(line)?),
        ("body", Some(call)) if call.body.is_none() => call.body = Some(line.value("the body")?.clone()),
        _ => return Ok(false),
    }
    Ok(true)
}

/// A list of texts.
fn texts(line: &mut Cursor<'_>, what: &str) -> Read<Vec<Arc<str>>> {
    let value = line.value(what)?;
    let texts: Option<Vec<Arc<str>>> =
        value.as_list().and_then(|list| list.iter().map(|text| text.as_str().map(Arc::from)).collect());
    texts.map_or_else(|| line.fail(format!("{what}: a list of texts is expected")), Ok)
}

fn http_role(cursor: &Cursor<'_>) -> Read<HttpRole> {
    let (mut call, mut reply, mut stream, mut session, mut version) = (None, None, false, Session::Stateless, None);
    let mut resumable = false;
    for statement in cursor.block() {
        let mut line = Cursor::new(statement);
        match line.word("a property of the application")? {
            "reply" => {
                let text = line.needed_text("text")?;
                reply = Some(ReplyPaths {
                    text: path(&line, text)?,
                    calls: path_of(&mut line, "calls")?,
                    context: path_of(&mut line, "context")?,
                    done: path_of(&mut line, "done")?,
                });
            }
            "stream" => stream = true,
            "resumable" => resumable = true,
            "session" => {
                session = match (line.word("who makes its id")?, path_of(&mut line, "id")?) {
                    ("client", None) => Session::Client,
                    ("server", Some(id)) => Session::Server { id },
                    _ => return line.fail("a session is `client`, or `server id=`"),
                };
            }
            "version" => version = Some(line.text("the version")?.into()),
            word => {
                if !http_part(word, &mut line, &mut call)? {
                    return line.fail(format!("`{word}` is not possible here: an application has one `request` first"));
                }
            }
        }
        line.finish()?;
    }
    let Some(call) = call else { return cursor.fail("an application needs a `request`") };
    Ok(HttpRole { call, reply, stream, session, resumable, version })
}

fn command(cursor: &Cursor<'_>) -> Read<(CommandCall, bool, Option<Arc<str>>)> {
    let mut found: Option<CommandCall> = None;
    let (mut resumable, mut version) = (false, None);
    for statement in cursor.block() {
        let mut line = Cursor::new(statement);
        match (line.word("a property of the program")?, &mut found) {
            ("run", None) => {
                let run = texts(&mut line, "the program and its arguments")?;
                found = Some(CommandCall { run, env: Vec::new(), timeout_ms: line.count_of("timeout_ms")? });
            }
            ("env", Some(call)) => {
                let name = line.text("the variable's name")?.into();
                call.env.push((name, line.needed_text("from")?.into()));
            }
            ("resumable", Some(_)) => resumable = true,
            ("version", Some(_)) => version = Some(line.text("the version")?.into()),
            (other, _) => return line.fail(format!("`{other}`: a command has one `run`, then `env` and `version`")),
        }
        line.finish()?;
    }
    found.map_or_else(|| cursor.fail("a command needs `run`"), |call| Ok((call, resumable, version)))
}

pub(super) fn call(mut cursor: Cursor<'_>) -> Read<Call> {
    let word = cursor.word("`http` or `command`")?;
    let name = cursor.text_of("as")?.map(Arc::from);
    let does = match word {
        "http" => {
            let mut found = None;
            for statement in cursor.block() {
                let mut line = Cursor::new(statement);
                let word = line.word("a property of the request")?;
                if !http_part(word, &mut line, &mut found)? {
                    return line.fail(format!("`{word}` is not possible here: a call has one `request` first"));
                }
                line.finish()?;
            }
            let Some(call) = found else { return cursor.fail("a call needs a `request`") };
            CallKind::Http(call)
        }
        "command" => match command(&cursor)? {
            (call, false, None) => CallKind::Command(call),
            _ => return cursor.fail("a call has no version"),
        },
        other => return cursor.fail(format!("unknown call `{other}`")),
    };
    cursor.finish()?;
    Ok(Call { name, does, origin: Origin::default() })
}

pub(super) fn limits(line: &mut Cursor<'_>, limits: &mut Limits) -> Read<()> {
    limits.calls = line.count_of("calls")?;
    limits.time_s = line.count_of("time_s")?;
    limits.cost_usd = number_of(line, "cost_usd")?;
    Ok(())
}

pub(super) fn sample_limits(line: &mut Cursor<'_>) -> Read<SampleLimits> {
    Ok(SampleLimits {
        calls: line.count_of("calls")?,
        tokens: line.count_of("tokens")?,
        turns: line.count_of("turns")?,
        time_s: line.count_of("time_s")?,
        cost_usd: number_of(line, "cost_usd")?,
    })
}
