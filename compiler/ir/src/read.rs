//! A program from its text form. The result may break invariants: [`crate::verify`] says which.

pub(crate) mod check;
mod role;
pub(crate) mod score;

use std::sync::Arc;

use crate::expr::Expr;
use crate::expr_parse;
use crate::lines::{self, Cursor, ReadError};
use crate::print::VERSION;
use crate::program::{Field, Limits, Program, Tool};
use crate::read_graph;
use crate::ty::Type;

type Read<T> = Result<T, ReadError>;

/// Reads a program.
pub fn read(text: &str) -> Read<Program> {
    let statements = lines::read(text)?;
    let Some((first, rest)) = statements.split_first() else {
        return Err(ReadError { line: 1, message: format!("the text is empty; it begins with `aigo-ir {VERSION}`") });
    };
    let mut head = Cursor::new(first);
    if (head.word("`aigo-ir`")?, head.word("the version")?) != ("aigo-ir", &VERSION.to_string()) {
        return head.fail(format!("this build reads `aigo-ir {VERSION}`"));
    }
    head.finish()?;
    let mut program = Program {
        name: "".into(),
        seed: 0,
        epochs: 1,
        limits: Limits::default(),
        fields: Vec::new(),
        roles: Vec::new(),
        tools: Vec::new(),
        solves: Vec::new(),
        scorers: Vec::new(),
        gates: Vec::new(),
        library: Vec::new(),
    };
    for statement in rest {
        let mut cursor = Cursor::new(statement);
        match cursor.word("a declaration")? {
            "program" => head_of(&mut program, cursor)?,
            "role" => program.roles.push(role::role(cursor)?),
            "tool" => {
                let tool =
                    Tool { name: cursor.text("the tool's name")?.into(), role: cursor.needed_text("role")?.into() };
                cursor.finish()?;
                program.tools.push(tool);
            }
            "solve" => program.solves.push(read_graph::graph(cursor)?),
            "score" => program.scorers.push(score::scorer(cursor)?),
            "gate" => program.gates.push(score::gate(cursor)?),
            other => return cursor.fail(format!("unknown declaration `{other}`")),
        }
    }
    Ok(program)
}

fn head_of(program: &mut Program, mut cursor: Cursor<'_>) -> Read<()> {
    program.name = cursor.text("the program's name")?.into();
    for statement in cursor.block() {
        let mut line = Cursor::new(statement);
        match line.word("a property")? {
            "seed" => program.seed = number(&mut line, "the seed")?,
            "epochs" => program.epochs = number(&mut line, "the number of epochs")?,
            "limits" => program.limits = Limits { calls: line.count_of("calls")?, time_s: line.count_of("time_s")? },
            "library" => {
                let name = line.text("the library's name")?.into();
                let Some(version) = line.count_of("version")? else { return line.fail("`version=` is missing") };
                program.library.push((name, version));
            }
            "field" => {
                let name: Arc<str> = line.text("the field's name")?.into();
                program.fields.push(Field { name, ty: ty(&mut line)? });
            }
            other => return line.fail(format!("unknown property `{other}` of a program")),
        }
        line.finish()?;
    }
    cursor.finish()
}

fn number<N: std::str::FromStr>(line: &mut Cursor<'_>, what: &str) -> Read<N> {
    let word = line.word(what)?;
    word.parse().or_else(|_| line.fail(format!("`{word}` is not {what}: a whole number is expected")))
}

pub(crate) fn ty(line: &mut Cursor<'_>) -> Read<Type> {
    let text = line.needed_text("type")?;
    Type::parse(text).map_or_else(|| line.fail(format!("`{text}` is no type")), Ok)
}

pub(crate) fn expr(line: &Cursor<'_>, text: &str) -> Read<Expr> {
    expr_parse::parse(text).or_else(|error| line.fail(format!("the expression `{text}`: {}", error.message)))
}
