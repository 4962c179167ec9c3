//! Sources of samples.

use aigo_ir::span::Spanned;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::Reader;
use crate::ast::Source;
use crate::shape;

impl Reader<'_> {
    pub(super) fn dataset(&mut self, node: NodeRef<'_>) -> Vec<Source> {
        match node.kind() {
            NodeKind::List(items) => {
                items.filter(|item| !item.is_error()).filter_map(|item| self.source(item)).collect()
            }
            _ => self.source(node).into_iter().collect(),
        }
    }

    fn source(&mut self, node: NodeRef<'_>) -> Option<Source> {
        let fields = self.map(node, &shape::DATASET)?;
        let (verb, value) = self.verb(&fields)?;
        match verb.value {
            "samples" => {
                let mut rows = Vec::new();
                for item in self.items(value, "samples", "maps") {
                    if !matches!(item.kind(), NodeKind::Map(_)) {
                        self.wrong_kind(item, "a sample", "a map of its fields");
                    } else if let Some(row) = self.value(item) {
                        rows.push(Spanned::new(row, item.site()));
                    }
                }
                Some(Source::Samples(rows))
            }
            "file" => self.text(value, "file").map(Source::File),
            _ => {
                if !matches!(value.kind(), NodeKind::Map(_)) {
                    self.wrong_kind(value, "`matrix`", "a map of fields to lists of values");
                }
                let mut columns = Vec::new();
                for entry in value.entries() {
                    let items = self.items(entry.value, entry.key.value, "values");
                    let values = items.into_iter().filter_map(|item| self.value(item)).collect();
                    columns.push((entry.key.value.to_owned(), values));
                }
                Some(Source::Matrix(columns, value.site()))
            }
        }
    }
}
