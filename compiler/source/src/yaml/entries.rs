//! The entries of one map: keys are strings and unique, merge keys are expanded.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::text::excerpt;
use aigo_ir::value::Value;

use super::build::Builder;
use super::lint;
use super::tree::{Data, NodeId, Pair};
use crate::catalog;
use crate::scalar::Style;

/// Keys seen so far in one map, with the node of the first of each.
type Seen = BTreeMap<Arc<str>, NodeId>;

impl Builder<'_> {
    /// The pairs of one map without those that cannot be used, which are reported. Merged entries stand where their `<<`
    /// stood; an entry that is written out wins over a merged one, an earlier merged one over a later one.
    pub(super) fn entries(&mut self, pairs: &[Pair]) -> Vec<Pair> {
        let mut seen = Seen::new();
        let mut kept = Vec::with_capacity(pairs.len());
        let mut merges = false;
        for &pair in pairs {
            let Some(key) = self.key(pair.key) else { continue };
            if let Some(&first) = seen.get(&key) {
                self.duplicate(&key, pair.key, first);
                continue;
            }
            merges |= self.is_merge(pair.key);
            seen.insert(key, pair.key);
            kept.push(pair);
        }
        if !merges {
            return kept;
        }
        let mut all = Vec::with_capacity(kept.len());
        for pair in kept {
            if self.is_merge(pair.key) { self.merge(pair, &mut seen, &mut all) } else { all.push(pair) }
        }
        all
    }

    fn duplicate(&mut self, key: &str, second: NodeId, first: NodeId) {
        // What was left out between the two may have ended the map of the first.
        if self.is_masked_between(self.span_of(first).start, self.span_of(second).start) {
            return;
        }
        let message = format!("the key `{}` stands twice in this map", excerpt(key, 60));
        let diagnostic = catalog::DUPLICATE_KEY
            .at(self.span_of(second), message)
            .related(self.span_of(first), "it was given first here")
            .help("remove one of the two; the first is used");
        self.report(diagnostic);
    }

    /// The text of a key, if it can be one.
    fn key(&mut self, id: NodeId) -> Option<Arc<str>> {
        let span = self.span_of(id);
        let (kind, text) = match &self.tree.resolved(id).data {
            Data::Scalar { value: Value::Str(text), .. } => return Some(text.clone()),
            // `1: poor` in a scale: a whole number as people write it is its own text.
            Data::Scalar { value: Value::Int(n), text, .. } if n.to_string() == **text => return Some(text.clone()),
            // Its text may be what was left out.
            Data::Scalar { implicit: true, .. } if self.tree.is_next_to_mask(span) => return None,
            Data::Scalar { implicit: true, .. } => ("nothing", None),
            Data::Scalar { value, text, .. } => (value.kind(), Some(text.clone())),
            Data::List { .. } => ("a list", None),
            Data::Map { .. } => ("a map", None),
            Data::Alias(_) | Data::Error => return None,
        };
        let raw = self.tree.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let shown = if raw.is_empty() { String::new() } else { format!(", `{}`", excerpt(raw, 40)) };
        let found = catalog::KEY_NOT_STRING.at(span, format!("this key is {kind}{shown}; keys are strings"));
        let found = match &text {
            Some(_) if !raw.is_empty() && !raw.starts_with('*') => {
                found.fix("quote the key", span, lint::quoted(raw)).help("put the key in quotes")
            }
            _ => found.help("write `key: value` with a key that is text"),
        };
        self.report(found);
        text
    }

    fn is_merge(&self, key: NodeId) -> bool {
        let node = self.tree.nodes.get(key as usize);
        node.is_some_and(|node| matches!(&node.data, Data::Scalar { text, style: Style::Plain, .. } if &**text == "<<"))
    }

    fn merge(&mut self, merge: Pair, seen: &mut Seen, all: &mut Vec<Pair>) {
        let sources: Vec<NodeId> = match self.tree.resolved(merge.value).data {
            Data::List { first, length } => {
                let range = first as usize..first as usize + length as usize;
                self.tree.items.get(range).unwrap_or_default().to_vec()
            }
            _ => vec![merge.value],
        };
        for source in sources {
            let range = match self.tree.resolved(source).data {
                Data::Map { first, length, .. } => first as usize..first as usize + length as usize,
                Data::Error => continue,
                _ => {
                    let message = "the merge key `<<` takes a map or a list of maps, and this is neither";
                    let help = "give it an alias of a map, such as `<<: *base`";
                    self.report(catalog::MERGE_NOT_MAP.at(self.span_of(source), message).help(help));
                    continue;
                }
            };
            let Some(left) = self.merges_left.checked_sub(range.len() + 1) else {
                let message = "the merge keys of this file copy more than 100000 entries";
                let help = "write the entries out where they are used";
                self.report(catalog::MERGE_TOO_LARGE.at(self.span_of(merge.key), message).help(help));
                return;
            };
            self.merges_left = left;
            for index in range {
                let Some(&pair) = self.tree.entries.get(index) else { break };
                let Data::Scalar { text, .. } = &self.tree.resolved(pair.key).data else { continue };
                let text = text.clone();
                if let std::collections::btree_map::Entry::Vacant(slot) = seen.entry(text) {
                    slot.insert(pair.key);
                    all.push(Pair { merged: true, ..pair });
                }
            }
        }
    }
}
