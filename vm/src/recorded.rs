//! Answers that a log holds, by position.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::message::Conversation;
use aigo_ir::value::Map;
use aigo_log::{Call, Trial as LoggedTrial};
use aigo_machine::{Answer, Ask, Position, Sample};
use aigo_report::Answered;

use crate::outcome;
use crate::reuse::{Held, Reusable};

/// The recorded answers of one trial.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    answers: BTreeMap<Position, (String, Answer)>,
    /// Where a call was about to be made and has no answer.
    asked: BTreeSet<Position>,
    /// The answers, as the report counts them.
    answered: Vec<Answered>,
    /// Calls that were about to be made and have no answer: they may have been billed.
    pub unanswered: usize,
    /// What an earlier run has of the sample.
    pub reusable: Option<Arc<Reusable>>,
}

/// What a log says of a call.
pub(crate) enum Found {
    /// It was answered.
    Answer(Answer),
    /// It was not made, or has no answer.
    Nothing,
    /// Something else was asked at its place: the first digits of what was recorded, and of what is asked.
    Other { recorded: String, asked: String },
}

impl Recorded {
    /// Looks an ask up.
    pub(crate) fn find(&self, ask: &Ask) -> Found {
        let Some((recorded, answer)) = self.answers.get(&ask.position) else { return Found::Nothing };
        let asked = if recorded.len() == DIGITS { content_in_digits(ask) } else { content(ask) };
        if *recorded == asked {
            return Found::Answer(answer.clone());
        }
        Found::Other { recorded: recorded.clone(), asked }
    }

    /// The answer at an ask's place, whatever was asked there.
    pub(crate) fn at(&self, ask: &Ask) -> Option<&Answer> {
        self.answers.get(&ask.position).map(|(_, answer)| answer)
    }

    /// Looks an ask up in the earlier run; none where there is none, or none of its answers will do.
    pub(crate) fn held(&self, ask: &Ask) -> Option<&Held> {
        self.reusable.as_ref().and_then(|reusable| reusable.find(ask).ok())
    }

    /// Whether nobody may be asked for this call.
    pub(crate) fn keeps(&self, ask: &Ask) -> bool {
        self.reusable.as_ref().is_some_and(|reusable| reusable.keeps(ask))
    }

    /// Where answers are.
    pub(crate) fn positions(&self) -> impl Iterator<Item = &Position> {
        self.answers.keys()
    }

    /// Whether the call was about to be made when a writer stopped.
    pub(crate) fn was_asked(&self, ask: &Ask) -> bool {
        self.asked.contains(&ask.position)
    }

    /// The answers, as the report counts them.
    pub(crate) fn answered(&self) -> Vec<Answered> {
        self.answered.clone()
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

/// The content key as logs write it.
pub(crate) fn content(ask: &Ask) -> String {
    ask.content.base64(9)
}

/// The content key as older logs have it.
pub(crate) fn content_in_digits(ask: &Ask) -> String {
    ask.content.hex(DIGITS / 2)
}

/// How many digits that has.
const DIGITS: usize = 24;

/// A logged trial as the machine takes it: its sample and its answers.
pub fn recorded_trial(trial: &LoggedTrial) -> (Arc<Sample>, Recorded) {
    let open = &trial.open;
    let row = open.row.as_map().cloned().unwrap_or_else(Map::default);
    let sample = Sample {
        key: open.key.as_str().into(),
        epoch: open.epoch,
        graph: open.graph.as_str().into(),
        row: Arc::new(row),
        conversation: Arc::new(open.messages.as_ref().and_then(Conversation::of_record).unwrap_or_default()),
        tags: open.tags.iter().map(|tag| tag.as_str().into()).collect(),
        cluster: open.cluster.as_deref().map(Into::into),
    };
    let mut recorded = Recorded::default();
    for call in &trial.calls {
        let Call { site, ask, .. } = call;
        let (graph, node) = (Arc::clone(&site.graph), Arc::clone(&site.node));
        let position = Position { graph, node, index: ask.index.clone() };
        match &call.got {
            None => {
                recorded.asked.insert(position);
            }
            Some(got) => {
                let answer = outcome::answer(got);
                recorded.answered.push(outcome::answered(&site.role, &answer));
                recorded.answers.insert(position, (ask.content.clone(), answer));
            }
        }
    }
    // A call that was interrupted, made again and then answered is answered.
    recorded.asked.retain(|position| !recorded.answers.contains_key(position));
    recorded.unanswered = recorded.asked.len();
    (Arc::new(sample), recorded)
}
