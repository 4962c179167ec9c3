//! Graphs from their text form.

use std::sync::Arc;

use crate::graph::{Graph, GraphBuilder, NodeId};
use crate::lines::{Cursor, ReadError, Statement};
use crate::node::{Bound, Ending, Jump, Node, Port, Said, Unit, View};
use crate::program::Field;
use crate::read::{expr, field, ty};
use crate::reduce::Reducer;
use crate::schema::{ItemKind, Items, Judged, Schema};
use crate::span::Origin;
use crate::template::Template;
use crate::value::Value;

type Read<T> = Result<T, ReadError>;

/// A graph whose name is the statement's next item.
pub(crate) fn graph(mut cursor: Cursor<'_>) -> Read<Graph> {
    let name: Arc<str> = cursor.text("the graph's name")?.into();
    named(&name, cursor)
}

/// The graph in the statement's block.
pub(crate) fn named(name: &Arc<str>, cursor: Cursor<'_>) -> Read<Graph> {
    let mut reader = Reader { builder: GraphBuilder::default(), fields: Vec::new(), edges: Vec::new(), count: 0 };
    reader.block(cursor.block(), None)?;
    cursor.finish()?;
    reader.connect()?;
    let mut graph = reader.builder.finish(name.clone());
    graph.fields = reader.fields;
    Ok(graph)
}

/// An edge as it stands in the text.
struct Edge {
    line: usize,
    from: NodeId,
    port: Port,
    region: Option<NodeId>,
    to: String,
}

struct Reader {
    builder: GraphBuilder,
    fields: Vec<Field>,
    edges: Vec<Edge>,
    count: u32,
}

impl Reader {
    fn block(&mut self, statements: &[Statement], region: Option<NodeId>) -> Read<()> {
        for statement in statements {
            let mut line = Cursor::new(statement);
            let word = line.word("a node or a slot")?;
            if word == "field" && region.is_none() {
                self.fields.push(field(&mut line)?);
                line.finish()?;
            } else if word == "slot" && region.is_none() {
                let name = line.text("the slot's name")?;
                if self.builder.has_slot(name) {
                    return line.fail(format!("the slot `{name}` twice"));
                }
                self.builder.slot(name, ty(&mut line)?);
                line.finish()?;
            } else if word == format!("n{}", self.count) {
                self.node(line, statement, region)?;
            } else {
                return line.fail(format!(
                    "`{word}` where the node `n{}` is expected: nodes are numbered in order",
                    self.count
                ));
            }
        }
        Ok(())
    }

    fn node(&mut self, mut line: Cursor<'_>, statement: &Statement, region: Option<NodeId>) -> Read<()> {
        let path = line.text("the node's path")?;
        let node = node(&mut line)?;
        let (ports, is_header) = (node.ports(), node.is_header());
        if line.has_block() != is_header {
            return line.fail(if is_header { "a loop or map has a block" } else { "only a loop or map has a block" });
        }
        let id = self.builder.add(node, path, region, Origin::default());
        self.count += 1;
        for &port in ports {
            let edge = Edge { line: statement.line, from: id, port, region, to: String::new() };
            if port == Port::Body {
                if !line.block().is_empty() {
                    self.edges.push(Edge { to: format!("n{}", self.count), ..edge });
                }
            } else if let Some(to) = line.word_of(port.word())? {
                self.edges.push(Edge { to: to.to_owned(), ..edge });
            }
        }
        self.block(line.block(), Some(id))?;
        line.finish()
    }

    fn connect(&mut self) -> Read<()> {
        for edge in std::mem::take(&mut self.edges) {
            let fail = |message: String| Err(ReadError { line: edge.line, message });
            match (edge.to.as_str(), edge.region) {
                ("again" | "break", None) => return fail(format!("`{}` outside a loop or map", edge.to)),
                ("again", Some(header)) => self.builder.connect(edge.from, edge.port, Jump::Again, header),
                ("break", Some(_)) => self.builder.connect_break(edge.from, edge.port),
                (word, _) => match word.strip_prefix('n').and_then(|n| n.parse().ok()) {
                    Some(n) if n < self.count => self.builder.connect(edge.from, edge.port, Jump::On, NodeId(n)),
                    _ => return fail(format!("`{word}`: there is no such node")),
                },
            }
        }
        Ok(())
    }
}

fn node(line: &mut Cursor<'_>) -> Read<Node> {
    let word = line.word("the node's kind")?;
    let arc = |text: &str| -> Arc<str> { text.into() };
    Ok(match word {
        "append" => append(line)?,
        "generate" => generate(line)?,
        "branch" => Node::Branch { when: needed_expr(line, "when")? },
        "loop" => {
            let bound = match line.count_of("times")? {
                Some(times) => Bound::Times(times),
                None => Bound::Items {
                    list: needed_expr(line, "in")?,
                    item: arc(line.needed_text("item")?),
                    cap: cap(line)?,
                },
            };
            Node::Loop { bound, counter: arc(line.needed_text("counter")?) }
        }
        "map" => Node::Map {
            list: needed_expr(line, "in")?,
            item: arc(line.needed_text("item")?),
            cap: cap(line)?,
            give: arc(line.needed_text("give")?),
            into: arc(line.needed_text("into")?),
        },
        "let" => Node::Let { into: arc(line.needed_text("into")?), value: needed_expr(line, "value")? },
        "parse" => {
            let from = arc(line.needed_text("from")?);
            let Some(schema) = schema(line)? else { return line.fail("`schema=` is missing") };
            Node::Parse { from, schema, into: arc(line.needed_text("into")?) }
        }
        "check" => crate::read::check::check(line)?,
        "tool" => Node::Tool { call: arc(line.needed_text("call")?), into: arc(line.needed_text("into")?) },
        "reduce" => {
            let (from, by) = (arc(line.needed_text("from")?), line.needed_word("by")?);
            let Some(reducer) = Reducer::parse(by) else { return line.fail(format!("unknown reducer `{by}`")) };
            let quorum = line.count_of("quorum")?;
            Node::Reduce { from, reducer, quorum, into: arc(line.needed_text("into")?) }
        }
        "score" => {
            let scorer = arc(line.needed_text("scorer")?);
            let unit = match line.text_of("turn")? {
                Some(text) => Unit::Turn(expr(line, text)?),
                None => Unit::Conversation,
            };
            Node::Score { scorer, unit, from: arc(line.needed_text("from")?) }
        }
        "exit" => {
            let word = line.word("the ending")?;
            match Ending::ALL.into_iter().find(|ending| ending.word() == word) {
                Some(ending) => Node::Exit { ending },
                None => return line.fail(format!("unknown ending `{word}`")),
            }
        }
        other => return line.fail(format!("unknown kind of node `{other}`")),
    })
}

pub(crate) fn needed_expr(line: &mut Cursor<'_>, key: &str) -> Read<crate::expr::Expr> {
    let text = line.needed_text(key)?;
    expr(line, text)
}

fn cap(line: &mut Cursor<'_>) -> Read<u32> {
    line.count_of("cap")?.map_or_else(|| line.fail("`cap=` is missing"), Ok)
}

fn append(line: &mut Cursor<'_>) -> Read<Node> {
    let (author, audience) = (line.needed_text("author")?.into(), line.text_of("for")?.map(Arc::from));
    let said = if let Some(text) = line.text_of("say")? {
        Said::Template(Template::new(text))
    } else if let Some(value) = line.value_of("any_of")? {
        match choices(value) {
            Some(choices) => Said::AnyOf(choices),
            None => return line.fail("`any_of=` is a list of `{\"say\": TEXT, \"weight\": N}`"),
        }
    } else if let Some(text) = line.text_of("text")? {
        Said::Text(expr(line, text)?)
    } else if let Some(text) = line.text_of("history")? {
        Said::History(expr(line, text)?)
    } else {
        Said::Reply(line.needed_text("reply")?.into())
    };
    Ok(Node::Append { author, audience, said })
}

/// The choices of an `any_of`.
fn choices(value: &Value) -> Option<Vec<(Template, u32)>> {
    let one = |item: &Value| {
        let weight = item.get("weight").and_then(Value::as_int)?;
        Some((Template::new(item.get("say")?.as_str()?), u32::try_from(weight).ok()?))
    };
    value.as_list()?.iter().map(one).collect()
}

fn generate(line: &mut Cursor<'_>) -> Read<Node> {
    let role = line.needed_text("role")?.into();
    let kind = line.needed_word("view")?;
    let system = line.text_of("system")?.map(Template::new);
    let view = match kind {
        "chat" => View::Chat { system, opening: line.text_of("opening")?.map(Template::new) },
        "text" => {
            let question = Template::new(line.needed_text("question")?);
            let up_to = match line.text_of("up_to")? {
                Some(text) => Some(expr(line, text)?),
                None => None,
            };
            let window = line.count_of("window")?;
            let sees_system = match line.word_of("sees")? {
                None => false,
                Some("system") => true,
                Some(other) => return line.fail(format!("`sees={other}`: the one thing to see is `system`")),
            };
            let only = line.text_of("only")?.map(Arc::from);
            View::Text { system, question, up_to, window, sees_system, only }
        }
        other => return line.fail(format!("unknown view `{other}`")),
    };
    let schema = schema(line)?;
    let timeout_s = line.count_of("timeout_s")?;
    let tools = line.has_items();
    if tools && line.word("`tools`")? != "tools" {
        return line.fail("the one word that may stand here is `tools`");
    }
    Ok(Node::Generate { role, view, schema, tools, timeout_s, into: line.needed_text("into")?.into() })
}

fn schema(line: &mut Cursor<'_>) -> Read<Option<Schema>> {
    Ok(match line.word_of("schema")? {
        None => None,
        Some("user_turn") => Some(Schema::UserTurn),
        Some("verdict") => Some(Schema::Verdict(line.needed_text("of")?.into())),
        Some("judged") => Some(Schema::Judged(judged(line)?)),
        Some("verdicts") => Some(Schema::Verdicts(line.needed_text("of")?.into(), judged(line)?)),
        Some("items") => Some(Schema::Items(items(line)?)),
        Some(other) => return line.fail(format!("unknown schema `{other}`")),
    })
}

fn judged(line: &mut Cursor<'_>) -> Read<Judged> {
    let (scale, pass) = (crate::read::score::scale(line)?, line.needed_number("pass")?);
    let (rule, skips) = (crate::read::score::evidence(line)?, crate::read::score::skips(line)?);
    Ok(Judged { scale, pass, rule, skips })
}

fn items(line: &mut Cursor<'_>) -> Read<Items> {
    let fields = line.value_of("fields")?.and_then(Value::as_map);
    let field = |(name, word): (&Arc<str>, &Value)| {
        let kind = ItemKind::ALL.into_iter().find(|kind| Some(kind.word()) == word.as_str())?;
        Some((name.clone(), kind))
    };
    let fields = fields.and_then(|fields| fields.iter().map(field).collect::<Option<Vec<_>>>());
    let Some(fields) = fields.filter(|fields| !fields.is_empty()) else {
        return line.fail("`fields=` is a map of names to kinds of values");
    };
    let max = line.count_of("max")?.map_or_else(|| line.fail("`max=` is missing"), Ok)?;
    Ok(Items { fields, max })
}
