//! What of a program holds in all its graphs: how long answers can be, which roles tools ask, the numbers of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::size::{Size, Sizes};
use super::walk::{Passes, UNBOUNDED};
use super::{ANSWER_TOKENS, COMPLAINT_BYTES, tokens};
use crate::graph::Graph;
use crate::node::{Bound, Node};
use crate::program::{Answer, Player, Program, Role, ToolAnswer};
use crate::schema::{ItemKind, Schema};
use crate::value::Value;

/// Where the longest answer of a role comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Longest {
    /// Its limit of tokens.
    Limit,
    /// Nothing says it, so it is assumed.
    Assumed,
    /// The longest text of its rules.
    Rules,
}

/// The numbers of the variables of affine maps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variables {
    roles: u16,
}

impl Variables {
    /// Always 1.
    pub(super) const ONE: u16 = super::affine::ONE;
    /// The conversation as judges are shown it, in tokens.
    pub(super) const TRANSCRIPT: u16 = 1;
    /// The instructions in it, in tokens.
    pub(super) const INSTRUCTIONS: u16 = 2;
    /// The sum over the turns in which the assistant spoke, of the conversation up to the turn's end.
    pub(super) const PREFIXES: u16 = 3;
    /// In a map over turns: the conversation up to its turn.
    pub(super) const PREFIX: u16 = 4;
    /// The turns in which the assistant spoke.
    pub(super) const JUDGED: u16 = 5;
    /// The turns.
    pub(super) const TURNS: u16 = 6;
    const FIRST: u16 = 7;

    pub(super) fn new(roles: usize) -> Self {
        Self { roles: u16::try_from(roles).unwrap_or(u16::MAX / 8) }
    }

    pub(super) const fn count(self) -> usize {
        (Self::FIRST + 4 * self.roles + 2) as usize
    }

    /// The conversation as a role sees it, in tokens.
    #[expect(clippy::unused_self, reason = "beside the others, which count the roles")]
    pub(super) const fn history(self, role: u16) -> u16 {
        Self::FIRST + role
    }

    /// The tokens of a role's prompts.
    pub(super) const fn prompts(self, role: u16) -> u16 {
        Self::FIRST + self.roles + role
    }

    /// The calls of a role; behind the last role, of all.
    pub(super) const fn calls(self, role: u16) -> u16 {
        Self::FIRST + 2 * self.roles + role
    }

    /// The same with those of the scorers.
    pub(super) const fn calls_with_scores(self, role: u16) -> u16 {
        Self::FIRST + 3 * self.roles + 1 + role
    }

    /// How many roles there are: the number that stands for all.
    pub(super) const fn all(self) -> u16 {
        self.roles
    }

    /// Whether a variable counts: it is exact, and no estimate.
    pub(super) const fn counts(self, variable: u16) -> bool {
        variable >= self.calls(0) || variable == Self::JUDGED || variable == Self::TURNS
    }
}

/// What holds in all graphs of a program.
pub(super) struct Facts<'p> {
    pub(super) program: &'p Program,
    pub(super) variables: Variables,
    /// Of each role: its longest answer in tokens, and where that comes from.
    pub(super) answers: Vec<(u64, Longest)>,
    /// The roles that answer tools.
    pub(super) tool_roles: Vec<u16>,
    /// What the tools add to a prompt, in tokens.
    pub(super) offered: u64,
    /// What only the run knows, in bytes.
    pub(super) long: u64,
    /// Whether the length of a value had to be guessed.
    pub(super) guessed: bool,
    pub(super) fields: BTreeMap<Arc<str>, Size>,
}

impl<'p> Facts<'p> {
    pub(super) fn new(program: &'p Program, fields: BTreeMap<Arc<str>, Size>) -> Self {
        let variables = Variables::new(program.roles.len());
        let answers: Vec<(u64, Longest)> = program.roles.iter().map(|role| longest(role, &fields)).collect();
        let long = answers.iter().map(|(tokens, _)| *tokens).max().unwrap_or(ANSWER_TOKENS).max(16).saturating_mul(3);
        let mut facts =
            Self { program, variables, answers, tool_roles: Vec::new(), offered: 0, long, guessed: false, fields };
        for tool in &program.tools {
            if let ToolAnswer::Role(role) = &tool.answer {
                facts.tool_roles.extend(facts.role(role));
            }
            let params = tool.params.iter().map(|param| param.name.len() + param.ty.to_string().len() + 24);
            facts.offered += tokens((tool.name.len() + tool.description.len() + 60 + params.sum::<usize>()) as u64);
        }
        facts.tool_roles.sort_unstable();
        facts.tool_roles.dedup();
        facts
    }

    /// The number of a role.
    pub(super) fn role(&self, name: &str) -> Option<u16> {
        let at = self.program.roles.iter().position(|role| &*role.name == name)?;
        u16::try_from(at).ok()
    }

    /// The longest answer of a role, in tokens.
    pub(super) fn answer(&self, role: u16) -> u64 {
        self.answers.get(usize::from(role)).map_or(ANSWER_TOKENS, |answer| answer.0)
    }

    /// How long what the slots of a graph hold can be. What grows from pass to pass is taken as what only the run knows.
    pub(super) fn slots(&mut self, graph: &Graph, lists: &BTreeMap<Arc<str>, Size>) -> BTreeMap<Arc<str>, Size> {
        let mut slots: BTreeMap<Arc<str>, Size> = BTreeMap::new();
        for round in 0..6 {
            let mut changed = Vec::new();
            for (_, placed) in graph.nodes() {
                for (slot, size) in self.assigned(&placed.node, &slots, lists, round > 0) {
                    let merged = slots.get(&slot).map_or_else(|| size.clone(), |known| known.or(&size));
                    if slots.get(&slot) != Some(&merged) {
                        slots.insert(slot.clone(), merged);
                        changed.push(slot);
                    }
                }
            }
            if changed.is_empty() {
                break;
            }
            if round >= 4 {
                for slot in changed {
                    self.guessed = true;
                    let part = Some(Box::new(Size::text(self.long)));
                    slots.insert(slot, Size { items: Some(UNBOUNDED), part, ..Size::text(self.long) });
                }
            }
        }
        slots
    }

    fn assigned(
        &mut self,
        node: &Node,
        slots: &BTreeMap<Arc<str>, Size>,
        lists: &BTreeMap<Arc<str>, Size>,
        settled: bool,
    ) -> Vec<(Arc<str>, Size)> {
        let known = vec![slots, lists, &self.fields];
        let mut sizes = Sizes { known, long: self.long, guessed: false };
        let assigned = match node {
            Node::Generate { role, into, .. } => {
                let bytes = self.role(role).map_or(self.long, |role| self.answer(role).saturating_mul(3));
                let call =
                    Size::map([("id", Size::text(20)), ("tool", Size::text(40)), ("arguments", Size::text(bytes))]);
                let reply = [
                    ("text", Size::text(bytes)),
                    ("fault", Size::text(20)),
                    ("calls", Size::list(Passes::OfCalls, call)),
                ];
                vec![(into.clone(), Size::map(reply))]
            }
            Node::Parse { from, schema, into } => {
                let text =
                    slots.get(from).and_then(|reply| reply.keys.get("text")).map_or(self.long, |text| text.bytes);
                vec![(into.clone(), parsed(schema, text, slots))]
            }
            Node::Let { into, value } => vec![(into.clone(), sizes.expr(value, &[]))],
            Node::Check { into, .. } | Node::Reduce { into, .. } => vec![(into.clone(), verdict(COMPLAINT_BYTES))],
            Node::Tool { into, .. } => vec![(into.clone(), Size::text(self.long))],
            Node::Loop { bound, counter } => {
                let mut bound_to = vec![(counter.clone(), Size::text(5))];
                if let Bound::Items { list, item, .. } = bound {
                    bound_to.push((item.clone(), item_of(&sizes.expr(list, &[]), self.long)));
                }
                bound_to
            }
            Node::Map { list, item, give, into, .. } => {
                let list = sizes.expr(list, &[]);
                let given = slots.get(give).cloned().unwrap_or_else(|| Size::text(0));
                let items = list.items.unwrap_or(UNBOUNDED);
                vec![(item.clone(), item_of(&list, self.long)), (into.clone(), Size::list(items, given))]
            }
            Node::Append { .. } | Node::Branch { .. } | Node::Score { .. } | Node::Exit { .. } => Vec::new(),
        };
        // Names that are bound later in the text are not known in the first round, and are no guess.
        let guessed = sizes.guessed;
        self.guessed |= guessed && settled;
        assigned
    }
}

fn item_of(list: &Size, long: u64) -> Size {
    list.part.as_deref().cloned().unwrap_or_else(|| Size::text(long))
}

/// A verdict whose reason has so many bytes.
fn verdict(reason: u64) -> Size {
    let evidence = Size::map([("turn", Size::text(8)), ("quote", Size::text(COMPLAINT_BYTES))]);
    Size::map([
        ("outcome", Size::text(16)),
        ("value", Size::text(24)),
        ("pass", Size::text(5)),
        ("reason", Size::text(reason)),
        ("complaint", Size::text(COMPLAINT_BYTES)),
        ("evidence", Size::list(Passes::AtMost(4), evidence)),
    ])
}

/// What is read of a reply of so many bytes.
fn parsed(schema: &Schema, text: u64, slots: &BTreeMap<Arc<str>, Size>) -> Size {
    match schema {
        Schema::UserTurn => Size::map([("message", Size::text(text)), ("status", Size::text(7))]),
        Schema::Verdict(_) | Schema::Judged(_) => verdict(text),
        Schema::Items(items) => {
            let field = |kind: &ItemKind| match kind {
                ItemKind::Str | ItemKind::Quote => Size::text(text),
                ItemKind::Int | ItemKind::Number | ItemKind::Bool | ItemKind::Turn => Size::text(24),
            };
            let item = Size::map(items.fields.iter().map(|(name, kind)| (name.clone(), field(kind))));
            found(Passes::AtMost(u64::from(items.max)), item)
        }
        Schema::Verdicts(of, _) => {
            let items = slots.get(of).and_then(|list| list.items).unwrap_or(Passes::Exactly(0));
            found(items, verdict(text))
        }
    }
}

fn found(items: Passes, item: Size) -> Size {
    Size::map([("items", Size::list(items, item)), ("complaint", Size::text(COMPLAINT_BYTES))])
}

/// The longest answer of a role in tokens, and where that comes from.
fn longest(role: &Role, fields: &BTreeMap<Arc<str>, Size>) -> (u64, Longest) {
    match &role.player {
        Player::Chat(model) => {
            let limit = model.parameters.iter().find_map(|(name, value)| match (&**name, value) {
                ("max_tokens" | "max_completion_tokens" | "max_output_tokens", Value::Int(n)) => u64::try_from(*n).ok(),
                _ => None,
            });
            limit.map_or((ANSWER_TOKENS, Longest::Assumed), |limit| (limit, Longest::Limit))
        }
        Player::Http(_) | Player::Command(_) => (ANSWER_TOKENS, Longest::Assumed),
        Player::Scripted(rules) => {
            let mut sizes = Sizes { known: vec![fields], long: 3 * ANSWER_TOKENS, guessed: false };
            let texts = rules.iter().map(|rule| match &rule.answer {
                Answer::Say { text, .. } => sizes.template(text),
                Answer::AnyOf { texts, .. } => texts.iter().map(|(text, _)| sizes.template(text)).max().unwrap_or(0),
                // Its texts are templates, whose places are rarely longer than what they stand for.
                Answer::Verdict(shape) => shape.to_json().len() as u64,
                Answer::Fault(_) => 0,
            });
            (tokens(texts.max().unwrap_or(0)).max(1), Longest::Rules)
        }
    }
}
