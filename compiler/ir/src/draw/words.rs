//! Nodes in people's words.

use crate::check::Test;
use crate::expr::{Expr, Function, Kind};
use crate::lines::Line;
use crate::message::ASSISTANT;
use crate::node::{Bound, Ending, Node, Said, Unit, View};
use crate::schema::Schema;
use crate::template::Template;

/// What a node does: a title, further lines, and all that there is to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    /// The role that speaks or is asked.
    pub(super) role: Option<String>,
}

impl Words {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    fn by(mut self, role: &str) -> Self {
        self.role = Some(role.to_owned());
        self
    }

    pub(super) fn line(mut self, line: impl Into<String>) -> Self {
        let line = line.into();
        if !line.trim().is_empty() {
            self.lines.push(line);
        }
        self
    }

    /// All of it, as one text.
    pub(super) fn whole(&self) -> String {
        let mut out = self.title.clone();
        for line in &self.lines {
            out.push('\n');
            out.push_str(line);
        }
        out
    }
}

pub(super) fn ending(ending: Ending) -> String {
    ending.word().replace('_', " ")
}

/// Of any node.
pub(super) fn of(node: &Node) -> Words {
    match node {
        Node::Append { audience: Some(audience), said, .. } => {
            Words::new(format!("instruct {audience}")).by(audience).line(text_of(said))
        }
        Node::Append { said: Said::History(list), .. } => {
            Words::new("add recorded messages").line(format!("from {list}"))
        }
        Node::Append { author, said: said @ Said::Reply(_), .. } => {
            Words::new(format!("add what {author} said")).by(author).line(text_of(said))
        }
        Node::Append { author, said, .. } => Words::new(format!("{author} says")).by(author).line(text_of(said)),
        Node::Generate { role, view, schema, tools, timeout_s, .. } => {
            let words = asked(role, view, schema.as_ref());
            let words = if *tools { words.line("may call tools") } else { words };
            match timeout_s {
                Some(seconds) => words.line(format!("within {seconds} s")),
                None => words,
            }
        }
        Node::Branch { when } => Words::new(question(when)),
        Node::Loop { .. } | Node::Map { .. } => Words::new(repeats(node)),
        Node::Let { into, value } => Words::new(format!("set {into}")).line(value.to_string()),
        Node::Parse { into, .. } => Words::new(format!("read the answer as {into}")),
        Node::Check { test, negated, author, .. } => {
            Words::new(format!("check what {author} said")).line(check(test, *negated))
        }
        Node::Tool { .. } => Words::new("answer a tool call"),
        Node::Reduce { reducer, quorum, .. } => {
            let words = Words::new("join the verdicts").line(format!("by {}", reducer.word()));
            match quorum {
                Some(n) => words.line(format!("at least {n} must be there")),
                None => words,
            }
        }
        Node::Score { scorer, unit, .. } => Words::new(match unit {
            Unit::Conversation => format!("score {scorer}"),
            Unit::Turn(_) => format!("score {scorer} for the turn"),
        }),
        Node::Exit { ending: how } => Words::new(format!("end: {}", ending(*how))),
    }
}

/// What a check asks, as the program writes it.
pub(super) fn check(test: &Test, negated: bool) -> String {
    let not = if negated { "not " } else { "" };
    match test {
        Test::Text(_, wanted) => return format!("{not}{}: {}", test.word().replace('_', " "), wanted.source),
        Test::Expr(expr) => return format!("{not}{expr}"),
        Test::NoReply | Test::NoRepetition(..) => return format!("{not}{}", test.word().replace('_', " ")),
        _ => {}
    }
    let mut line = Line::new(0, "");
    crate::print::test(test, negated, &mut line);
    line.end().trim().to_owned()
}

/// A condition. Those that the lowering makes are said as what they ask.
fn question(when: &Expr) -> String {
    let text = when.to_string();
    if !is_plumbing(when) {
        return format!("if {text}");
    }
    let known = [
        (".pass == false", "if the verdict fails"),
        (".outcome == 'scored'", "if there is a verdict"),
        (".complaint == ''", "if the list could be read"),
        ("_status == 'met'", "if the loop came to its end"),
        ("_status == 'done'", "if the user is done"),
        ("_status == 'gave_up'", "if the user gave up"),
        ("length(_batch", "if there is any"),
    ];
    known
        .iter()
        .find(|(part, _)| text.contains(part))
        .map_or_else(|| format!("if {text}"), |(_, words)| (*words).to_owned())
}

fn text_of(said: &Said) -> String {
    match said {
        Said::Template(text) => text.source.to_string(),
        Said::AnyOf(choices) => {
            let texts: Vec<&str> = choices.iter().map(|(text, _)| &*text.source).collect();
            format!("one of: {}", texts.join(" | "))
        }
        Said::Text(expr) => format!("the text of {expr}"),
        Said::History(list) => list.to_string(),
        Said::Reply(_) => String::new(),
    }
}

fn asked(role: &str, view: &View, schema: Option<&Schema>) -> Words {
    match (view, schema) {
        (View::Chat { system, .. }, Some(Schema::UserTurn)) => {
            let mut words = Words::new(format!("{role}, simulated, writes the next message")).by(role);
            for line in system.iter().flat_map(told) {
                words = words.line(line);
            }
            words
        }
        (View::Chat { system, .. }, _) => {
            let title = if role == ASSISTANT { "assistant answers".to_owned() } else { format!("{role} is asked") };
            let words = Words::new(title).by(role);
            system.iter().fold(words, |words, system| words.line(&*system.source))
        }
        (View::Text { question, up_to, window, sees_system, only, .. }, schema) => {
            let title = match schema {
                Some(Schema::Items(_)) => format!("{role} lists what it finds"),
                Some(Schema::Verdicts(..)) => format!("{role} judges each of the list"),
                _ => format!("{role} judges"),
            };
            let mut words = Words::new(title).by(role).line(subject(question));
            words = words.line(match (up_to, window) {
                (Some(_), Some(n)) => format!("reads the turn and {n} before it"),
                (Some(_), None) => "reads the conversation up to the turn".to_owned(),
                (None, Some(n)) => format!("reads the last {n} turns"),
                (None, None) => "reads the whole conversation".to_owned(),
            });
            if let Some(only) = only {
                words = words.line(format!("only what {only} says"));
            }
            if *sees_system { words.line("and the instructions") } else { words }
        }
    }
}

/// Of the instructions of a simulated user: what the task says of it.
fn told(system: &Template) -> Vec<String> {
    const HEADS: [(&str, &str); 6] = [
        ("What you want: ", "wants: "),
        ("How you are: ", "is: "),
        ("What you know, and tell only when asked: ", "knows: "),
        ("What you know, and never tell unless the assistant asks for exactly that: ", "keeps back: "),
        ("The language that you write: ", "writes: "),
        ("You are also done when: ", "is done when: "),
    ];
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in system.source.lines() {
        if let Some((rest, word)) = HEADS.iter().find_map(|(head, word)| Some((line.strip_prefix(head)?, word))) {
            out.push(format!("{word}{rest}"));
            open = true;
        } else if line.is_empty() {
            open = false;
        } else if let (true, Some(last)) = (open, out.last_mut()) {
            // A text of the task can have several lines.
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    if out.is_empty() { vec![system.source.to_string()] } else { out }
}

/// What a question is about: its first paragraph, without the line that only announces it.
fn subject(question: &Template) -> String {
    let first = question.source.split("\n\n").next().unwrap_or_default();
    match first.split_once('\n') {
        Some((head, rest)) if head.ends_with(':') => rest.to_owned(),
        _ => first.to_owned(),
    }
}

/// How often a region is gone through.
pub(super) fn repeats(node: &Node) -> String {
    match node {
        Node::Loop { bound: Bound::Times(1), .. } => "once".to_owned(),
        Node::Loop { bound: Bound::Times(n), .. } => format!("loop, at most {n} passes"),
        Node::Loop { bound: Bound::Items { list, item, .. }, .. } => {
            format!("for each {} of {list}, one after the other", readable(item))
        }
        Node::Map { list, item, .. } => match &list.kind {
            Kind::Call(Function::JudgedTurns, _) => "for each turn in which the assistant spoke".to_owned(),
            Kind::Call(Function::Turns, _) => "for each turn".to_owned(),
            Kind::Literal(crate::value::Value::List(items)) if item.starts_with('_') => {
                format!("{} times, side by side", items.len())
            }
            _ => format!("for each {} of {}, side by side", readable(item), short(list)),
        },
        _ => String::new(),
    }
}

fn short(list: &Expr) -> String {
    list.to_string()
}

/// A slot's name, without the mark of those that the lowering binds.
fn readable(slot: &str) -> &str {
    match slot.trim_start_matches('_') {
        "" => slot,
        name => name,
    }
}

/// Whether the condition asks only for what the lowering has bound.
pub(super) fn is_plumbing(expr: &Expr) -> bool {
    let names = expr.names();
    !names.is_empty() && names.iter().all(|name| name.starts_with('_'))
}
