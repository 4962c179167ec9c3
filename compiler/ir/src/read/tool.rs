//! Tools.

use super::{Read, expr, ty};
use crate::lines::Cursor;
use crate::node::Ending;
use crate::program::{Parameter, Tool, ToolAnswer, ToolRules};

pub(super) fn tool(mut cursor: Cursor<'_>) -> Read<Tool> {
    let name = cursor.text("the tool's name")?.into();
    let mut tool = Tool {
        name,
        description: "".into(),
        params: Vec::new(),
        answer: ToolAnswer::Role("".into()),
        idempotent: false,
    };
    if !cursor.has_block() {
        tool.answer = ToolAnswer::Role(cursor.needed_text("role")?.into());
        cursor.finish()?;
        return Ok(tool);
    }
    let (mut rules, mut role) = (ToolRules::default(), None);
    for statement in cursor.block() {
        let mut line = Cursor::new(statement);
        match line.word("a property of a tool")? {
            "description" => tool.description = line.text("the description")?.into(),
            "param" => {
                let name = line.text("the parameter's name")?.into();
                let ty = ty(&mut line)?;
                tool.params.push(Parameter { name, ty, default: line.value_of("default")?.cloned() });
            }
            "role" => role = Some(line.text("the role")?.into()),
            "idempotent" => tool.idempotent = true,
            "require" => {
                let text = line.text("the condition")?;
                rules.require = Some(expr(&line, text)?);
            }
            "set" => {
                let path = line.text("the path")?;
                let path = expr(&line, path)?;
                let value = line.needed_text("to")?;
                rules.set.push((path, expr(&line, value)?));
            }
            "returns" => {
                let text = line.text("the result")?;
                rules.returns = Some(expr(&line, text)?);
            }
            "fail" => {
                let Some(on_call) = line.count_of("on_call")? else { return line.fail("`on_call=` is missing") };
                rules.fail = Some((on_call, line.needed_text("error")?.into()));
            }
            "ends" => {
                let word = line.word("the ending")?;
                let Some(ending) = Ending::ALL.into_iter().find(|ending| ending.word() == word) else {
                    return line.fail(format!("unknown ending `{word}`"));
                };
                rules.ends = Some(ending);
            }
            other => return line.fail(format!("unknown property `{other}` of a tool")),
        }
        line.finish()?;
    }
    tool.answer = match role {
        None if tool.idempotent => return cursor.fail("a tool with rules is not `idempotent`"),
        None => ToolAnswer::Rules(Box::new(rules)),
        Some(role) if rules == ToolRules::default() => ToolAnswer::Role(role),
        Some(_) => return cursor.fail("a tool that a role answers has no rules"),
    };
    cursor.finish()?;
    Ok(tool)
}
