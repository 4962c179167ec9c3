//! What bounds need of the samples: how many there are of each kind, how long their values are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::facts::Variables;
use super::size::Size;
use super::walk::Talk;
use super::{LABEL_TOKENS, MESSAGE_TOKENS, tokens};
use crate::message::{ASSISTANT, Conversation, MessageKind, USER};
use crate::program::Program;
use crate::value::Map;

/// More kinds than these are taken together, each as the longest of them.
const MOST_KINDS: usize = 256;

/// The samples of a run, as far as bounds depend on them.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The fields that the program reads.
    read: BTreeSet<Arc<str>>,
    roles: Vec<Arc<str>>,
    pub(super) kinds: BTreeMap<(Arc<str>, Talk, String), Kind>,
    /// The longest of each field.
    pub(super) fields: BTreeMap<Arc<str>, Size>,
    /// Whether there are too many kinds to keep them apart.
    pub(super) joined: bool,
}

/// Samples for which all passes are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Kind {
    pub(super) count: u64,
    /// Their fields with lists.
    pub(super) lists: BTreeMap<Arc<str>, Size>,
    /// The sums of the variables at the start.
    pub(super) sum: Vec<u64>,
    /// The greatest of each.
    pub(super) most: Vec<u64>,
}

impl Samples {
    /// No samples yet.
    pub fn of(program: &Program) -> Self {
        let own = program.solves.iter().flat_map(|graph| &graph.fields);
        let read = program.fields.iter().chain(own).map(|field| field.name.clone()).collect();
        let roles = program.roles.iter().map(|role| role.name.clone()).collect();
        Self { read, roles, kinds: BTreeMap::new(), fields: BTreeMap::new(), joined: false }
    }

    /// Adds a sample: the solve graph that it runs, its fields, the messages that it begins with.
    pub fn add(&mut self, graph: &str, fields: &Map, conversation: &Conversation) {
        let (mut lists, mut shape) = (BTreeMap::new(), String::new());
        for (name, value) in fields.iter().filter(|(name, _)| self.read.contains(*name)) {
            let size = Size::of(value);
            if size.has_list() {
                shape.push('|');
                shape.push_str(name);
                size.shape(&mut shape);
                lists.insert(name.clone(), size.clone());
            }
            let merged = self.fields.get(name).map_or_else(|| size.clone(), |known| known.or(&size));
            self.fields.insert(name.clone(), merged);
        }
        let (talk, start) = self.start(conversation);
        let mut key = (Arc::from(graph), talk, shape);
        if self.kinds.len() >= MOST_KINDS && !self.kinds.contains_key(&key) {
            self.joined = true;
            "+".clone_into(&mut key.2);
        }
        let kind = self.kinds.entry(key).or_default();
        kind.count += 1;
        for (name, size) in lists {
            let merged = kind.lists.get(&name).map_or_else(|| size.clone(), |known| known.or(&size));
            kind.lists.insert(name, merged);
        }
        kind.sum.resize(start.len(), 0);
        kind.most.resize(start.len(), 0);
        for ((sum, most), value) in kind.sum.iter_mut().zip(&mut kind.most).zip(start) {
            *sum = sum.saturating_add(value);
            *most = (*most).max(value);
        }
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.kinds.values().map(|kind| kind.count).sum()
    }

    /// How many samples run each solve graph; a graph may come more than once.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.kinds.iter().map(|((graph, ..), kind)| (&**graph, kind.count))
    }

    /// The variables at the start of a conversation, and where it is in its turn.
    fn start(&self, conversation: &Conversation) -> (Talk, Vec<u64>) {
        let variables = Variables::new(self.roles.len());
        let mut values = vec![0_u64; variables.count()];
        let mut add = |variable: u16, n: u64| {
            if let Some(value) = values.get_mut(usize::from(variable)) {
                *value = value.saturating_add(n);
            }
        };
        add(Variables::ONE, 1);
        let (mut talk, mut transcript) = (Talk::Before, 0_u64);
        for message in conversation.messages() {
            let (length, audience) = match &message.kind {
                MessageKind::System { audience } => (tokens(message.text.len() as u64), Some(audience)),
                MessageKind::Call { tool, arguments, .. } => (tokens((tool.len() + arguments.len()) as u64), None),
                MessageKind::Say | MessageKind::Result { .. } | MessageKind::Read => {
                    (tokens(message.text.len() as u64), None)
                }
            };
            if let Some(audience) = audience {
                add(Variables::INSTRUCTIONS, length + LABEL_TOKENS);
                if let Some(role) = (0_u16..).zip(&self.roles).find(|(_, role)| *role == audience) {
                    add(variables.history(role.0), length + MESSAGE_TOKENS);
                }
                continue;
            }
            match (&message.kind, &*message.author) {
                (MessageKind::Say, USER) => {
                    if talk == Talk::Answered {
                        add(Variables::PREFIXES, transcript);
                    }
                    add(Variables::TURNS, 1);
                    talk =
                        if matches!(talk, Talk::Before | Talk::Unanswered) { Talk::Unanswered } else { Talk::Pending };
                }
                (MessageKind::Say, ASSISTANT) if matches!(talk, Talk::Unanswered | Talk::Pending) => {
                    add(Variables::JUDGED, 1);
                    talk = Talk::Answered;
                }
                _ => {}
            }
            transcript += length + LABEL_TOKENS;
            add(Variables::TRANSCRIPT, length + LABEL_TOKENS);
            for role in 0..variables.all() {
                add(variables.history(role), length + MESSAGE_TOKENS);
            }
        }
        (talk, values)
    }
}
