//! A program from its text form. The result may break invariants: [`crate::verify`] says which.

use std::sync::Arc;

use crate::expr::Expr;
use crate::expr_parse;
use crate::gate::Gate;
use crate::lines::{self, Cursor, ReadError, Statement};
use crate::print::VERSION;
use crate::program::{Answer, ChatModel, Dialect, Field, Limits, Player, Program, Role, Rule, Scorer, Tool};
use crate::read_graph;
use crate::reduce::Reducer;
use crate::template::Template;
use crate::ty::Type;
use crate::value::Value;
use crate::verdict::{EvidenceRule, Scale};

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
            "role" => program.roles.push(role(cursor)?),
            "tool" => {
                let tool =
                    Tool { name: cursor.text("the tool's name")?.into(), role: cursor.needed_text("role")?.into() };
                cursor.finish()?;
                program.tools.push(tool);
            }
            "solve" => program.solves.push(read_graph::graph(cursor)?),
            "score" => program.scorers.push(scorer(cursor)?),
            "gate" => program.gates.push(gate(cursor)?),
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

fn role(mut cursor: Cursor<'_>) -> Read<Role> {
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

fn scorer(mut cursor: Cursor<'_>) -> Read<Scorer> {
    let name: Arc<str> = cursor.text("the scorer's name")?.into();
    let scale = scale(&mut cursor)?;
    let pass = cursor.needed_number("pass")?;
    let over = match cursor.word_of("over")? {
        None => None,
        Some(word) => match Reducer::parse(word) {
            Some(reducer) => Some(reducer),
            None => return cursor.fail(format!("unknown reducer `{word}`")),
        },
    };
    let word = cursor.needed_word("evidence")?;
    let Some(evidence) = EvidenceRule::ALL.into_iter().find(|rule| rule.word() == word) else {
        return cursor.fail(format!("unknown evidence rule `{word}`"));
    };
    let graph = if cursor.has_block() {
        Some(read_graph::named(&name, cursor)?)
    } else {
        cursor.finish()?;
        None
    };
    Ok(Scorer { name, scale, pass, over, evidence, graph })
}

fn scale(cursor: &mut Cursor<'_>) -> Read<Scale> {
    if let Some(word) = cursor.word_of("scale")? {
        return Scale::parse(word).map_or_else(|| cursor.fail(format!("`{word}` is no scale")), Ok);
    }
    let labels = cursor.value_of("labels")?.and_then(Value::as_map);
    let Some(labels) = labels.filter(|labels| !labels.is_empty()) else {
        return cursor.fail("a scorer needs `scale=` or `labels=`");
    };
    let pairs = labels.iter().map(|(label, x)| x.as_f64().map(|x| (label.clone(), x))).collect::<Option<Vec<_>>>();
    pairs.map_or_else(|| cursor.fail("labels are worth numbers"), |pairs| Ok(Scale::Labels(pairs)))
}

fn gate(mut cursor: Cursor<'_>) -> Read<Gate> {
    let text = cursor.text("the gate")?;
    let (mut gate, _) =
        Gate::parse(text).or_else(|error| cursor.fail(format!("the gate `{text}`: {}", error.message)))?;
    let Some(min_n) = cursor.count_of("min_n")? else { return cursor.fail("`min_n=` is missing") };
    gate.min_n = min_n;
    gate.max_missing = cursor.needed_number("max_missing")?;
    cursor.finish()?;
    Ok(gate)
}
