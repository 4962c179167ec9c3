//! Sources of samples, and the declared types of their fields.

use aigo_ir::diagnostic;
use aigo_ir::span::Spanned;
use aigo_ir::value::{Map, Value};
use aigo_source::{Format, Kind as NodeKind, NodeRef};

use super::Reader;
use crate::ast::{Column, ColumnValues, DataFile, InlineRow, Samples, Shuffle, Source};
use crate::catalog;
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
        let going_on = fields.get("continue");
        let each_turn = going_on.and_then(|node| self.one_of(node, "continue", &[("each_turn", true)]));
        let samples = match verb.value {
            "samples" => Samples::Inline(self.inline(value)),
            "file" => Samples::File(self.data_file(value)?),
            "transcripts" => Samples::Transcripts { paths: self.paths(value), each_turn: each_turn.is_some() },
            _ => Samples::Matrix(self.matrix(value)),
        };
        if fields.is_idle("continue", verb.value) {
            let message = format!("`continue` goes on with recorded conversations, and `{}` gives none", verb.value);
            let help = "it belongs beside `transcripts`";
            self.report(catalog::BAD_VALUE.at(fields.key_span("continue"), message).help(help));
        }
        let mut source = Source::new(samples, value.site());
        if let Some(node) = fields.get("tags") {
            let tags = self.items(node, "tags", "texts");
            source.tags = tags.into_iter().filter_map(|tag| self.text(tag, "a tag")).map(|tag| tag.value).collect();
        }
        source.cluster = fields.get("cluster").and_then(|node| self.text(node, "cluster"));
        source.filter = fields.get("filter").and_then(|node| self.leaf(node, "filter"));
        source.shuffle = fields.get("shuffle").and_then(|node| self.shuffle(node));
        source.limit =
            fields.get("limit").and_then(|node| self.whole(node, "limit", 1, i64::MAX)).map(i64::unsigned_abs);
        Some(source)
    }

    fn inline(&mut self, node: NodeRef<'_>) -> Vec<InlineRow> {
        let mut rows = Vec::new();
        for item in self.items(node, "samples", "maps") {
            if !matches!(item.kind(), NodeKind::Map(_)) {
                self.wrong_kind(item, "a sample", "a map of its fields");
            } else if let Some(Value::Map(fields)) = self.value(item) {
                let places = item.entries().map(|entry| entry.value.site()).collect();
                rows.push(InlineRow { fields: Map::clone(&fields), places, span: item.site() });
            }
        }
        rows
    }

    fn data_file(&mut self, node: NodeRef<'_>) -> Option<DataFile> {
        if node.as_str().is_some() || !matches!(node.kind(), NodeKind::Map(_)) {
            return self.text(node, "file").map(|path| DataFile { path, format: None });
        }
        let fields = self.map(node, &shape::DATA_FILE)?;
        let path = self.required(&fields, "path").and_then(|node| self.text(node, "path"))?;
        let format = fields.get("format").and_then(|node| self.one_of(node, "format", &Format::WORDS));
        Some(DataFile { path, format })
    }

    fn paths(&mut self, node: NodeRef<'_>) -> Vec<Spanned<String>> {
        match node.kind() {
            NodeKind::List(items) => {
                items.filter(|item| !item.is_error()).filter_map(|item| self.text(item, "a path")).collect()
            }
            _ => self.text(node, "transcripts").into_iter().collect(),
        }
    }

    fn matrix(&mut self, node: NodeRef<'_>) -> Vec<Column> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`matrix`", "a map of fields to lists of values");
        }
        let mut columns = Vec::new();
        for entry in node.entries().filter(|entry| !entry.value.is_error()) {
            let name = entry.key.map(str::to_owned);
            if ["id", "tags"].contains(&&*name.value) || is_reserved(&name.value) {
                let message =
                    format!("a field of a matrix cannot be called `{}`, which means something else", name.value);
                self.report(catalog::BAD_VALUE.at(name.span, message).help("choose another name"));
                continue;
            }
            let values = match entry.value.kind() {
                NodeKind::Map(_) => {
                    let Some(fields) = self.map(entry.value, &shape::COLUMN) else { continue };
                    let Some(node) = self.required(&fields, "file") else { continue };
                    let Some(file) = self.data_file(node) else { continue };
                    ColumnValues::File(file)
                }
                _ => {
                    let items = self.items(entry.value, &name.value, "values");
                    let values =
                        items.into_iter().filter_map(|item| Some(Spanned::new(self.value(item)?, item.site())));
                    ColumnValues::Inline(values.collect())
                }
            };
            columns.push(Column { name, values });
        }
        columns
    }

    fn shuffle(&mut self, node: NodeRef<'_>) -> Option<Shuffle> {
        match node.value() {
            Some(Value::Bool(true)) => Some(Shuffle::OfTask),
            Some(Value::Bool(false)) => None,
            Some(Value::Int(_)) => {
                self.whole(node, "shuffle", 0, i64::MAX).map(|seed| Shuffle::Seed(seed.unsigned_abs()))
            }
            _ => {
                self.wrong_kind(node, "`shuffle`", "a seed, or `true` for the task's");
                None
            }
        }
    }
}

/// The names that are always in scope, which no field may have.
pub(crate) fn is_reserved(name: &str) -> bool {
    let stem = name.strip_prefix('_').map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()));
    ["turn", "last", "messages", "sample"].contains(&name) || stem.is_some_and(|stem| OF_LOWERING.contains(&stem))
}

/// Names of slots that programs have, behind their `_`: a field that is called so would be hidden by the slot.
const OF_LOWERING: [&str; 34] = [
    "again",
    "all",
    "attempt",
    "batch",
    "call",
    "confirm",
    "confirmed",
    "confirms",
    "drawn",
    "draws",
    "expected",
    "found",
    "give",
    "held",
    "line",
    "list",
    "member",
    "members",
    "outcome",
    "panel",
    "pass",
    "persona",
    "reply",
    "result",
    "said",
    "says",
    "status",
    "turn",
    "turns",
    "value",
    "values",
    "verdict",
    "verdicts",
    "whole",
];

/// Words of other languages for types, and ours.
pub(super) const OTHER_WORDS: [(&str, &str); 9] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("bool", "boolean"),
    ("float", "number"),
    ("double", "number"),
    ("list", "list<any>"),
    ("array", "list<any>"),
    ("object", "any"),
];

/// The word for a type that was probably meant.
pub(super) fn nearest_type(seen: &str) -> Option<&'static str> {
    let other = OTHER_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(seen)).map(|(_, ours)| *ours);
    other.or_else(|| diagnostic::nearest(seen, ["string", "integer", "number", "boolean", "any", "null"]))
}
