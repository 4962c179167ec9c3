//! What a sample in an epoch came to.

use std::sync::Arc;

use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::message::Conversation;
use aigo_ir::node::Ending;
use aigo_ir::value::Value;
use aigo_ir::verdict::Verdict;

use crate::ask::{Answer, Position, Usage};
use crate::scope::Sample;
use crate::trial::Asked;

/// A verdict and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRow {
    /// Whose.
    pub scorer: Arc<str>,
    /// The turn; none for the conversation.
    pub turn: Option<u32>,
    /// The node that gave it: tells several of one turn apart.
    pub part: Arc<str>,
    /// What it says.
    pub verdict: Verdict,
}

/// A call that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where it stands.
    pub position: Position,
    /// The role.
    pub role: Arc<str>,
    /// What was asked.
    pub content: Key,
    /// What was answered.
    pub answer: Key,
    /// The tokens of the answer.
    pub usage: Usage,
    /// How long it took, in milliseconds; none where nobody outside was asked.
    pub ms: Option<u64>,
    /// Whether an earlier run has paid for it.
    pub is_reused: bool,
    /// Whether it is a fault, and no answer.
    pub is_fault: bool,
}

impl Call {
    pub(crate) fn new(asked: Asked, answer: &Answer) -> Self {
        let Asked { position, role, content } = asked;
        let Answer { usage, ms, is_reused, .. } = *answer;
        let is_fault = answer.fault.is_some();
        Self { position, role, content, answer: answer.key(), usage, ms, is_reused, is_fault }
    }
}

/// What a sample in an epoch came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The sample.
    pub sample: Arc<Sample>,
    /// How the conversation ended.
    pub ending: Ending,
    /// Why it ended badly, for people: what was wrong with the task, or with an answer.
    pub fault: Option<String>,
    /// The conversation.
    pub conversation: Arc<Conversation>,
    /// Every verdict, sorted by scorer in the program's order, the conversation's before its turns'.
    pub scores: Vec<ScoreRow>,
    /// Every answered call, sorted by position.
    pub calls: Vec<Call>,
}

impl Outcome {
    /// The leaf of the run's digest: positions, contents, answers, ending and scores; no time, no attempts, no order of
    /// arrival.
    pub fn leaf(&self) -> Key {
        let mut writer = KeyWriter::new("aigo.leaf.1");
        writer.str(&self.sample.key).u64(u64::from(self.sample.epoch)).str(self.ending.word()).list(self.calls.len());
        for call in &self.calls {
            call.position.hash_into(&mut writer);
            writer.str(&call.role).key(&call.content).key(&call.answer);
        }
        writer.list(self.scores.len());
        for row in &self.scores {
            writer
                .str(&row.scorer)
                .value(&row.turn.map_or(Value::Null, |turn| Value::Int(i64::from(turn))))
                .str(&row.part);
            writer.value(&row.verdict.to_value());
        }
        writer.finish()
    }
}
