//! A program from its text form. The result may break invariants: [`crate::verify`] says which.

pub(crate) mod check;
mod role;
pub(crate) mod score;
mod tool;

use std::sync::Arc;

use crate::expr::Expr;
use crate::expr_parse;
use crate::lines::{self, Cursor, ReadError};
use crate::print::VERSION;
use crate::program::{Field, Limits, Persona, Program};
use crate::read_graph;
use crate::ty::Type;
use crate::value::Value;

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
        state: None,
        fields: Vec::new(),
        roles: Vec::new(),
        tools: Vec::new(),
        setup: Vec::new(),
        teardown: Vec::new(),
        solves: Vec::new(),
        scorers: Vec::new(),
        gates: Vec::new(),
        personas: Vec::new(),
        library: Vec::new(),
    };
    for statement in rest {
        let mut cursor = Cursor::new(statement);
        match cursor.word("a declaration")? {
            "program" => head_of(&mut program, cursor)?,
            "role" => program.roles.push(role::role(cursor)?),
            "tool" => program.tools.push(tool::tool(cursor)?),
            "setup" => program.setup.push(role::call(cursor)?),
            "teardown" => program.teardown.push(role::call(cursor)?),
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
            "limits" => role::limits(&mut line, &mut program.limits)?,
            "sample_limits" => program.limits.sample = role::sample_limits(&mut line)?,
            "library" => {
                let name = line.text("the library's name")?.into();
                let Some(version) = line.count_of("version")? else { return line.fail("`version=` is missing") };
                program.library.push((name, version));
            }
            "persona" => {
                let name = line.text("the persona's name")?.into();
                let (must, probes) = (texts(&mut line, "must")?, texts(&mut line, "probes")?);
                program.personas.push(Persona { name, must, probes });
            }
            "state" => program.state = Some(line.value("the state")?.clone()),
            "field" => program.fields.push(field(&mut line)?),
            other => return line.fail(format!("unknown property `{other}` of a program")),
        }
        line.finish()?;
    }
    cursor.finish()
}

/// A list of texts.
fn texts(line: &mut Cursor<'_>, key: &str) -> Read<Vec<Arc<str>>> {
    let texts = line
        .value_of(key)?
        .and_then(Value::as_list)
        .map(|items| items.iter().map(|item| item.as_str().map(Arc::from)).collect::<Option<Vec<_>>>());
    texts.flatten().map_or_else(|| line.fail(format!("`{key}=` is a list of texts")), Ok)
}

/// A field, behind its word.
pub(crate) fn field(line: &mut Cursor<'_>) -> Read<Field> {
    let name: Arc<str> = line.text("the field's name")?.into();
    Ok(Field { name, ty: ty(line)? })
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
