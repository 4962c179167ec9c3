//! The keys of samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::value::Value;

use super::raw::Raw;

/// How the keys of a dataset are made.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// The fields that the solve graph reads, in its order.
    pub(super) read: Vec<Arc<str>>,
    /// The keys, as hashes in order, of several rows without ids that are equal in what the solve graph reads.
    pub(super) shared: Vec<[u8; 16]>,
}

/// The first 16 bytes: enough to tell rows apart.
pub(super) fn short(key: &Key) -> [u8; 16] {
    let mut short = [0; 16];
    short.iter_mut().zip(key.0).for_each(|(to, from)| *to = from);
    short
}

/// A hash of a whole row.
pub(super) fn whole(raw: &Raw) -> Key {
    let mut writer = KeyWriter::new("aigo.row.1");
    writer.maybe_str(raw.id.as_deref()).value(&Value::Map(Arc::clone(&raw.fields)));
    if !raw.conversation.messages().is_empty() {
        raw.conversation.hash_into(&mut writer);
    }
    writer.finish()
}

impl Keys {
    /// The key of a row. One without an id has a hash of what its solve graph reads, which of a transcript are its messages.
    /// Where several rows share it, a hash of the whole row goes with it, and where whole rows are equal, an ordinal: so no key
    /// depends on the order of the rows.
    pub(super) fn key(&self, raw: &Raw, seen: &mut BTreeMap<[u8; 16], u32>) -> Arc<str> {
        if let Some(id) = &raw.id {
            return id.as_str().into();
        }
        let key = self.content(raw);
        if self.shared.binary_search(&short(&key)).is_err() {
            return key.hex(8).into();
        }
        let whole = whole(raw);
        let ordinal = seen.entry(short(&whole)).or_default();
        *ordinal += 1;
        let ordinal = if *ordinal > 1 { format!("-{ordinal}") } else { String::new() };
        format!("{}-{}{ordinal}", key.hex(8), whole.hex(4)).into()
    }

    pub(super) fn content(&self, raw: &Raw) -> Key {
        if !raw.conversation.messages().is_empty() {
            return of_messages(&raw.conversation);
        }
        let mut writer = KeyWriter::new("aigo.sample.1");
        for name in &self.read {
            writer.str(name).value(raw.fields.get(name).unwrap_or(&Value::Null));
        }
        writer.finish()
    }
}

/// A hash of messages.
pub(super) fn of_messages(conversation: &aigo_ir::message::Conversation) -> Key {
    let mut writer = KeyWriter::new("aigo.transcript.1");
    conversation.hash_into(&mut writer);
    writer.finish()
}
