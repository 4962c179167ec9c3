//! Roles and their rules.

use std::sync::Arc;

use super::{Read, expr};
use crate::lines::{Cursor, Statement};
use crate::program::{Answer, ChatModel, Dialect, Player, Role, Rule};
use crate::template::Template;

pub(super) fn role(mut cursor: Cursor<'_>) -> Read<Role> {
    let name = cursor.text("the role's name")?.into();
    let player = match cursor.word("who plays it")? {
        "scripted" => Player::Scripted(cursor.block().iter().map(rule).collect::<Read<_>>()?),
        "chat" => Player::Chat(model(&cursor)?),
        other => return cursor.fail(format!("unknown player `{other}`")),
    };
    cursor.finish()?;
    Ok(Role { name, player })
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
    let answer = if line.has_block() {
        let word = line.word("`any_of`")?;
        if word != "any_of" {
            return line.fail(format!("`{word}` where `any_of` is expected"));
        }
        Answer::AnyOf(line.block().iter().map(choice).collect::<Read<_>>()?)
    } else if let Some(text) = line.text_of("say")? {
        Answer::Say { text: Template::new(text), status: line.word_of("status")?.map(Arc::from) }
    } else if let Some(shape) = line.value_of("verdict")? {
        Answer::Verdict(shape.clone())
    } else if let Some(status) = line.count_of("fault")? {
        Answer::Fault(status)
    } else {
        return line.fail("a rule needs one of `say=`, `any_of`, `verdict=`, `fault=`");
    };
    line.finish()?;
    Ok(Rule { when, answer })
}

fn choice(statement: &Statement) -> Read<(Template, u32)> {
    let mut line = Cursor::new(statement);
    if line.word("`choice`")? != "choice" {
        return line.fail("`any_of` consists of choices");
    }
    let text = Template::new(line.text("the text")?);
    let Some(weight) = line.count_of("weight")? else { return line.fail("`weight=` is missing") };
    line.finish()?;
    Ok((text, weight))
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
                    parameters: Vec::new(),
                    price: None,
                });
            }
            ("parameter", Some(model)) => {
                let name = line.text("the parameter's name")?.into();
                model.parameters.push((name, line.value("the parameter's value")?.clone()));
            }
            ("price", Some(model)) => model.price = Some((line.needed_number("input")?, line.needed_number("output")?)),
            (other, _) => {
                return line.fail(format!("`{other}`: a chat role has one `model`, then `parameter` and `price`"));
            }
        }
        line.finish()?;
    }
    found.map_or_else(|| cursor.fail("a chat role needs a `model`"), Ok)
}
