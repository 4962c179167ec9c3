//! What expressions and templates read while a lane runs.

use std::sync::Arc;

use aigo_ir::eval::Scope;
use aigo_ir::message::{Conversation, Message};
use aigo_ir::value::{Map, Value};

/// One sample in one epoch, as it enters the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its key: the row's id, or a hash of what its graph reads; never a row number.
    pub key: Arc<str>,
    /// From 1.
    pub epoch: u32,
    /// The solve graph it runs.
    pub graph: Arc<str>,
    /// Its fields.
    pub row: Arc<Map>,
    /// What it brings; empty but for transcripts.
    pub conversation: Arc<Conversation>,
    /// Its tags: for reports, no step reads them.
    pub tags: Arc<[Arc<str>]>,
    /// Which samples it belongs together with, where those are not its own epochs alone.
    pub cluster: Option<Arc<str>>,
}

/// Names and their values.
pub(crate) type Names = Vec<(Arc<str>, Value)>;

/// A lane's names at one moment, owned, so that the template engine and scripted roles can keep it.
#[derive(Clone)]
pub struct Snapshot {
    /// The sample.
    pub sample: Arc<Sample>,
    /// The conversation at that moment.
    pub conversation: Arc<Conversation>,
    /// Slots that have a value, and what else is in scope, by name.
    pub names: Vec<(Arc<str>, Value)>,
}

impl Scope for Snapshot {
    fn get(&self, name: &str) -> Option<Value> {
        let own = self.names.iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone());
        own.or_else(|| ambient(&self.sample, &self.conversation, name))
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

/// The names that are always there, then the sample's fields.
pub(crate) fn ambient(sample: &Sample, conversation: &Conversation, name: &str) -> Option<Value> {
    match name {
        "turn" => Some(Value::Int(i64::from(conversation.turn()))),
        "last" => Some(conversation.last().map_or_else(|| Message::none().to_value(), Message::to_value)),
        "messages" => Some(Value::list(conversation.messages().iter().map(Message::to_value).collect())),
        "sample" => {
            Some(Value::map([("id", Value::Str(sample.key.clone())), ("epoch", Value::Int(i64::from(sample.epoch)))]))
        }
        field => sample.row.get(field).cloned(),
    }
}
