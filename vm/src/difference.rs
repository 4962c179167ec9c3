//! What differs between two calls, part by part of what makes their content.

use std::collections::BTreeSet;
use std::fmt;

use aigo_ir::print;
use aigo_ir::program::{ChatModel, Player, Role};
use aigo_ir::text::printable;
use aigo_machine::{Ask, ChatMessage, ToolCall, ToolOffer};

/// A part of a call that is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Which: `model`, `parameter temperature`, `message 3 (user)`, `schema`, `tool add_seats`, `draw`, …
    pub field: String,
    /// As it was, cut around the difference; empty where it was not there.
    pub recorded: String,
    /// As it is.
    pub now: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { format!("`{}`", printable(text)) };
        write!(f, "{}: recorded {}, now {}", self.field, shown(&self.recorded), shown(&self.now))
    }
}

/// How much is shown of a text before its first difference, and from there on, in characters.
const BEFORE: usize = 24;
const AFTER: usize = 56;

impl Difference {
    /// Two texts, cut to where they part.
    pub(crate) fn of(field: impl Into<String>, recorded: &str, now: &str) -> Self {
        let same = recorded.chars().zip(now.chars()).take_while(|(a, b)| a == b).count();
        let cut = |text: &str| {
            let from = same.saturating_sub(BEFORE);
            let shown: String = text.chars().skip(from).take(same - from + AFTER).collect();
            let more = text.chars().count() > from + shown.chars().count();
            let (head, tail) = (if from > 0 { "…" } else { "" }, if more { "…" } else { "" });
            format!("{head}{}{tail}", shown.replace(['\n', '\t'], " "))
        };
        Self { field: field.into(), recorded: cut(recorded), now: cut(now) }
    }
}

/// A call, and who is asked.
#[derive(Clone, Copy)]
pub(crate) struct Side<'s> {
    pub(crate) ask: &'s Ask,
    pub(crate) role: Option<&'s Role>,
    pub(crate) seed: u64,
}

/// What differs, in the order of the content: who is asked, the messages, the schema, the tools; where all of it is the same,
/// the draw.
pub(crate) fn differences(recorded: Side<'_>, now: Side<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(then), Some(now_role)) = (recorded.role, now.role) {
        players(then, now_role, (recorded.seed, now.seed), &mut found);
    }
    let (then, is) = (&recorded.ask.request, &now.ask.request);
    messages(&then.messages, &is.messages, &mut found);
    let schema = |request: &aigo_machine::Request| {
        request.schema.as_ref().map_or_else(String::new, |(name, schema)| format!("{name} {}", schema.to_json()))
    };
    unequal("schema", &schema(then), &schema(is), &mut found);
    let call = |call: &Option<ToolCall>| {
        call.as_ref().map_or_else(String::new, |call| format!("{}({}) {}", call.tool, call.arguments, call.id))
    };
    unequal("tool call", &call(&then.tool), &call(&is.tool), &mut found);
    tools(&then.tools, &is.tools, &mut found);
    if found.is_empty() && recorded.ask.content != now.ask.content {
        let draw = |side: Side<'_>| format!("{} at {}", side.ask.position.graph, side.ask.content.hex(12));
        found.push(Difference::of("draw (sample, epoch, graph, item or repeat)", &draw(recorded), &draw(now)));
    }
    found
}

fn unequal(field: &str, recorded: &str, now: &str, found: &mut Vec<Difference>) {
    if recorded != now {
        found.push(Difference::of(field, recorded, now));
    }
}

fn players(then: &Role, now: &Role, seeds: (u64, u64), found: &mut Vec<Difference>) {
    match (&then.player, &now.player) {
        (Player::Chat(then), Player::Chat(now)) => models(then, now, found),
        (Player::Scripted(_), Player::Scripted(_)) => {
            unequal("seed", &seeds.0.to_string(), &seeds.1.to_string(), found);
            printed("rules", then, now, found);
        }
        (Player::Http(one), Player::Http(other)) if one.version != other.version => {
            unequal(
                "version",
                one.version.as_deref().unwrap_or_default(),
                other.version.as_deref().unwrap_or_default(),
                found,
            );
        }
        (Player::Command(one), Player::Command(other)) if one.version != other.version => {
            unequal(
                "version",
                one.version.as_deref().unwrap_or_default(),
                other.version.as_deref().unwrap_or_default(),
                found,
            );
        }
        (Player::Http(_), Player::Http(_)) | (Player::Command(_), Player::Command(_)) => {
            printed("application", then, now, found);
        }
        _ => unequal("player", word(&then.player), word(&now.player), found),
    }
}

const fn word(player: &Player) -> &'static str {
    match player {
        Player::Scripted(_) => "scripted",
        Player::Chat(_) => "chat model",
        Player::Http(_) => "http",
        Player::Command(_) => "command",
    }
}

fn models(then: &ChatModel, now: &ChatModel, found: &mut Vec<Difference>) {
    unequal("dialect", then.dialect.word(), now.dialect.word(), found);
    unequal("endpoint", &then.endpoint, &now.endpoint, found);
    unequal("model", &then.model, &now.model, found);
    let names: BTreeSet<&str> = then.parameters.iter().chain(&now.parameters).map(|(name, _)| &**name).collect();
    let of = |model: &ChatModel, wanted: &str| {
        let found = model.parameters.iter().find(|(name, _)| **name == *wanted);
        found.map_or_else(String::new, |(_, value)| value.to_json())
    };
    for name in names {
        unequal(&format!("parameter {name}"), &of(then, name), &of(now, name), found);
    }
    let order = |model: &ChatModel| model.parameters.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        unequal("order of parameters", &order(then), &order(now), found);
    }
    unequal("structured answers", then.structured.word(), now.structured.word(), found);
}

/// The first line that differs of two roles as they are printed.
fn printed(field: &str, then: &Role, now: &Role, found: &mut Vec<Difference>) {
    let (then, now) = (print::role(then), print::role(now));
    if then == now {
        return;
    }
    let same = then.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or_default().trim().to_owned();
    found.push(Difference::of(field, &line(&then), &line(&now)));
}

fn messages(then: &[ChatMessage], now: &[ChatMessage], found: &mut Vec<Difference>) {
    for at in 0..then.len().max(now.len()) {
        let (old, new) = (then.get(at), now.get(at));
        let who = new.or(old).map_or("", |message| message.role.word());
        let field = format!("message {} ({who})", at + 1);
        match (old, new) {
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) if old.role != new.role => {
                found.push(Difference::of(format!("{field}, its role"), old.role.word(), new.role.word()));
            }
            (Some(old), Some(new)) if old.text != new.text => found.push(Difference::of(field, &old.text, &new.text)),
            (Some(old), Some(new)) => {
                found.push(Difference::of(format!("{field}, its tool calls"), &calls(old), &calls(new)));
            }
            (old, new) => {
                let text = |message: Option<&ChatMessage>| message.map_or_else(String::new, |one| one.text.to_string());
                found.push(Difference::of(field, &text(old), &text(new)));
            }
        }
    }
}

fn calls(message: &ChatMessage) -> String {
    let calls = message.calls.iter().map(|call| format!("{}({}) {}", call.tool, call.arguments, call.id));
    calls.chain(message.answers.iter().map(|id| format!("answers {id}"))).collect::<Vec<_>>().join(", ")
}

fn tools(then: &[ToolOffer], now: &[ToolOffer], found: &mut Vec<Difference>) {
    let shown = |tool: &ToolOffer| format!("{} {}", tool.description, tool.parameters.to_json());
    let names: BTreeSet<&str> = then.iter().chain(now).map(|tool| &*tool.name).collect();
    let of =
        |tools: &[ToolOffer], name: &str| tools.iter().find(|tool| &*tool.name == name).map_or_else(String::new, shown);
    let before = found.len();
    for name in names {
        unequal(&format!("tool {name}"), &of(then, name), &of(now, name), found);
    }
    let order = |tools: &[ToolOffer]| tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(", ");
    if found.len() == before {
        unequal("order of tools", &order(then), &order(now), found);
    }
}
