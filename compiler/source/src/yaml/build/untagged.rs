//! Scalars without tags in a text without gaps: what most of almost every file is.

use std::borrow::Cow;
use std::sync::Arc;

use aigo_ir::span::Span;
use aigo_ir::value::Value;

use super::super::events::{Event, Placed};
use super::super::tree::{Data, Node, NodeId};
use super::super::{lint, place, resolve};
use super::{Builder, MAX_NODES};
use crate::scalar::Style;

impl Builder<'_> {
    /// Takes a scalar without a tag, as [`Builder::take`] takes its event. Both ends are on characters.
    pub(in crate::yaml) fn untagged(&mut self, text: Cow<'_, str>, style: Style, start: usize, end: usize) -> bool {
        let at = self.tree.nodes.len();
        if !self.masks.is_empty() || self.skipping > 0 || self.root.is_none() || at >= MAX_NODES {
            return self.take(Placed { event: Event::Scalar { text, style, tag: None }, start, end });
        }
        self.last_end = end;
        let implicit = style == Style::Plain && start == end;
        let (start, end) = place::scalar(self.parsed, style, &text, start, end, implicit);
        let span = Span::new(self.tree.file, start, end);
        let text: Arc<str> = if implicit { Arc::from("") } else { Arc::from(text) };
        let value = if style == Style::Plain { resolve::plain(&text) } else { Ok(Value::Str(text.clone())) };
        let data = match value {
            Ok(value) => Data::Scalar { value, text, style, implicit },
            Err(refusal) => {
                self.report(lint::refused(&refusal, &text, span, None));
                Data::Error
            }
        };
        let node = Node { span, data };
        let id = NodeId::try_from(at).unwrap_or(NodeId::MAX);
        if style == Style::Plain {
            self.last_plain = Some(id);
            self.report(lint::read_differently(&node));
        }
        self.tree.nodes.push(node);
        self.heights.push(0);
        self.put(id);
        true
    }
}
