//! Events to the arena: places nodes, follows anchors, and reports what YAML allows and tasks do not.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, suggest};
use aigo_ir::span::{FileId, Span};
use aigo_ir::value::Value;

use super::events::{Core, Event, Events, Placed, Stop, Tag};
use super::recover::Mask;
use super::resolve::{self, Refusal};
use super::tree::{Comment, Data, MAX_DEPTH, Node, NodeId, Pair, Tree};
use super::{lint, place};
use crate::catalog;
use crate::scalar::Style;

mod untagged;

/// How many nodes one file may hold.
const MAX_NODES: usize = 500_000;
/// How many findings are kept of one file.
const MAX_DIAGNOSTICS: usize = 10_000;
/// In maps of more entries than this, keys are looked up in a tree.
const MANY_ENTRIES: usize = 12;
/// How many entries merge keys may visit in one file.
const MAX_MERGED: usize = 100_000;

/// Where reading stopped, and what may be the cause further up.
pub(super) struct Broken {
    pub(super) stop: Stop,
    /// The outermost bracket that was open.
    pub(super) bracket: Option<usize>,
    /// Where the document began, if it had ended already: a first line without a colon makes it one long scalar.
    pub(super) ended: Option<usize>,
    /// Where the unquoted scalar began that reaches up to the error: a line without a colon takes in those that follow.
    pub(super) scalar: Option<usize>,
}

/// A list or map whose end has not come yet.
struct Open {
    node: NodeId,
    children: Children,
    start: usize,
    flow: bool,
    wrong: bool,
    height: usize,
}

/// The children so far: what lies above `base` on the builder's stack of items or of pairs.
#[derive(Clone, Copy)]

enum Children {
    Items { base: usize },
    Pairs { base: usize, key: Option<NodeId> },
}

struct Anchor {
    name: String,
    node: NodeId,
}

pub(super) struct Builder<'a> {
    /// The text that is parsed; the tree keeps the original, which differs where it is masked.
    parsed: &'a str,
    masks: &'a [Mask],
    pub(super) tree: Tree,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The height of each node, in the order of the arena.
    heights: Vec<u8>,
    open: Vec<Open>,
    /// The items of open lists and the pairs of open maps, the outermost below.
    items: Vec<NodeId>,
    pairs: Vec<Pair>,
    anchors: BTreeMap<usize, Anchor>,
    documents: usize,
    /// The first node of the document.
    root: Option<NodeId>,
    /// The end of the last event, where the search for an unmarked place begins.
    last_end: usize,
    /// The last scalar, for the comment that may follow it.
    last_plain: Option<NodeId>,
    /// How many collections are open inside one that is too deep.
    skipping: usize,
    pub(super) merges_left: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: Arc<str>, parsed: &'a str, file: FileId, masks: &'a [Mask]) -> Self {
        let masked = masks.iter().map(|mask| Span::new(file, mask.start, mask.end)).collect();
        // Tasks have a key or value every dozen bytes.
        let expected = (text.len() / 12).min(1 << 16);
        let tree = Tree {
            file,
            text,
            nodes: Vec::with_capacity(expected),
            items: vec![],
            entries: vec![],
            comments: vec![],
            masked,
            root: 0,
        };
        Self {
            parsed,
            masks,
            tree,
            diagnostics: vec![],
            heights: Vec::with_capacity(expected),
            open: vec![],
            items: vec![],
            pairs: vec![],
            anchors: BTreeMap::new(),
            documents: 0,
            root: None,
            last_end: 0,
            last_plain: None,
            skipping: 0,
            merges_left: MAX_MERGED,
        }
    }

    /// Reads to the end, or says where reading stopped.
    pub(super) fn read(&mut self) -> Result<(), Broken> {
        let mut events = Events::new(self.parsed);
        loop {
            let next = events.next().map_err(|stop| self.broken(stop))?;
            let Some(placed) = next else { break };
            if !self.take(placed) {
                break;
            }
        }
        self.finish();
        Ok(())
    }

    /// Takes the next event. Says whether what follows is still of interest.
    pub(super) fn take(&mut self, placed: Placed<'_>) -> bool {
        if matches!(placed.event, Event::DocumentStart) {
            self.documents += 1;
            if self.documents > 1 {
                self.second_document(placed.start, placed.end);
            }
            return self.documents == 1;
        }
        let first = self.tree.nodes.len();
        self.event(placed);
        if self.root.is_none() && self.tree.nodes.len() > first {
            self.root = NodeId::try_from(first).ok();
        }
        if self.tree.nodes.len() > MAX_NODES {
            let message = format!("this file holds more than {MAX_NODES} keys and values");
            let help = "move data to a file of its own, such as JSON Lines";
            self.report(catalog::TOO_MANY_NODES.at(self.span(0, 0), message).help(help));
            self.root = Some(self.node(0, 0, Data::Error));
            return false;
        }
        true
    }

    /// Completes the tree, once there is no further event.
    pub(super) fn finish(&mut self) {
        self.tree.root = match self.root {
            Some(root) => root,
            None => self.node(
                0,
                0,
                Data::Scalar { value: Value::Null, text: Arc::from(""), style: Style::Plain, implicit: true },
            ),
        };
        self.tree.comments.sort_by_key(|comment| comment.span);
    }

    fn broken(&self, stop: Stop) -> Broken {
        let bracket = self.open.iter().find(|open| open.flow).map(|open| open.start);
        let ended = self.root.filter(|_| self.open.is_empty() && self.skipping == 0);
        let reaches = |span: &Span| {
            let between = self.parsed.get(span.end as usize..stop.at);
            between.is_some_and(|text| text.trim().is_empty())
        };
        let scalar = self.last_plain.map(|id| self.span_of(id)).filter(reaches).map(|span| span.start as usize);
        Broken { bracket, ended: ended.map(|root| self.span_of(root).start as usize), scalar, stop }
    }

    /// Keeps a finding. Nobody reads more than some thousands, and a hostile file could have millions.
    pub(super) fn report(&mut self, found: impl Into<Option<Diagnostic>>) {
        if !self.is_full() {
            self.diagnostics.extend(found.into());
        }
    }

    fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    fn second_document(&mut self, start: usize, end: usize) {
        let message = "a second document starts here; a file holds one";
        let help = "remove the `---`, or move what follows to a file of its own";
        let diagnostic = catalog::SEVERAL_DOCUMENTS.at(self.span(start, end), message).help(help);
        self.report(diagnostic);
    }

    pub(super) fn span(&self, mut start: usize, mut end: usize) -> Span {
        // The parser may stop inside what is one character in the file and several spaces in the masked text.
        while !self.tree.text.is_char_boundary(start) && start > 0 {
            start -= 1;
        }
        while !self.tree.text.is_char_boundary(end) && end < self.tree.text.len() {
            end += 1;
        }
        Span::new(self.tree.file, start, end)
    }

    pub(super) fn span_of(&self, id: NodeId) -> Span {
        self.tree.nodes.get(id as usize).map_or(self.span(0, 0), |node| node.span)
    }

    fn node(&mut self, start: usize, end: usize, data: Data) -> NodeId {
        let id = NodeId::try_from(self.tree.nodes.len()).unwrap_or(NodeId::MAX);
        let span = self.span(start, end);
        self.tree.nodes.push(Node { span, data });
        self.heights.push(0);
        id
    }

    fn event(&mut self, placed: Placed<'_>) {
        let Placed { event, start, end } = placed;
        let last_end = self.last_end;
        if !matches!(event, Event::Anchor(..)) {
            self.last_end = end;
        }
        match event {
            Event::Comment(text) => self.comment(&text, start, end),
            Event::Anchor(id, name) => {
                let node = NodeId::try_from(self.tree.nodes.len().saturating_sub(1)).unwrap_or(0);
                self.anchors.insert(id, Anchor { name: name.into_owned(), node });
            }
            _ if self.skipping > 0 => match event {
                Event::ListStart { .. } | Event::MapStart { .. } => self.skipping += 1,
                Event::End => self.skipping -= 1,
                _ => {}
            },
            Event::Scalar { text, style, tag } => self.scalar(text, style, tag.as_ref(), start, end),
            Event::ListStart { flow, tag } => {
                let start = if flow { start } else { place::dash(self.parsed, last_end, start) };
                self.start(Children::Items { base: self.items.len() }, flow, tag.as_ref(), Core::Seq, start);
            }
            Event::MapStart { flow, tag } => {
                let children = Children::Pairs { base: self.pairs.len(), key: None };
                self.start(children, flow, tag.as_ref(), Core::Map, start);
            }
            Event::End => self.end(end),
            Event::Alias(id) => self.alias(id, start, end),
            Event::UnknownAlias(name) => self.unknown_alias(&name, start, end),
            Event::DocumentStart => {}
        }
    }

    fn comment(&mut self, text: &str, start: usize, end: usize) {
        let span = self.span(start, end);
        if let Some(node) = self.last_plain.take().and_then(|id| self.tree.nodes.get(id as usize)) {
            self.report(lint::comment_cuts(&self.tree.text, node, text, span));
        }
        self.tree.comments.push(Comment { span, text: text.to_owned() });
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: Style, tag: Option<&Tag>, start: usize, end: usize) {
        // A scalar that reaches over a blanked part, such as an open quote, does not say what the file says.
        let masked = self.masks.iter().find(|mask| mask.start < end.max(start + 1) && start < mask.end);
        if let Some(mask) = masked {
            let end = if mask.hole == Some(start) { mask.end } else { end };
            let id = self.node(start, end, Data::Error);
            return self.put(id);
        }
        let nothing = style == Style::Plain && start == end;
        if nothing && self.is_gap_of_mask(start) {
            let (at, _) = place::scalar(self.parsed, style, &text, start, end, nothing);
            let id = self.node(at, at, Data::Error);
            return self.put(id);
        }
        let implicit = nothing && tag.is_none();
        let (start, end) = place::scalar(self.parsed, style, &text, start, end, nothing);
        let text: Arc<str> = if nothing { Arc::from("") } else { Arc::from(text) };
        let value = match tag.map(|tag| tag.core) {
            None if style == Style::Plain => resolve::plain(&text),
            None => Ok(Value::Str(text.clone())),
            Some(Some(core)) => resolve::tagged(&text, core),
            Some(None) => Err(Refusal::Mismatch),
        };
        let data = match value {
            Ok(value) => Data::Scalar { value, text, style, implicit },
            Err(refusal) => {
                let span = self.span(start, end);
                self.report(lint::refused(&refusal, &text, span, tag));
                Data::Error
            }
        };
        let id = self.node(start, end, data);
        if style == Style::Plain && tag.is_none() {
            self.last_plain = Some(id);
            self.report(self.tree.nodes.get(id as usize).and_then(lint::read_differently));
        }
        self.put(id);
    }

    /// Whether a value that is not written at `at` may be what was left out: blanked text stands where it belongs.
    fn is_gap_of_mask(&self, at: usize) -> bool {
        if self.masks.is_empty() {
            return false;
        }
        let (before, after) = self.parsed.split_at_checked(at).unwrap_or_default();
        let start = before.trim_end().len();
        let mut rest = after.strip_prefix(':').unwrap_or(after).trim_start();
        while rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, next)| next).trim_start();
        }
        let end = self.parsed.len() - rest.len();
        self.masks.iter().any(|mask| mask.start < end && start < mask.end)
    }

    /// Whether a part was left out between two places.
    pub(super) fn is_masked_between(&self, start: u32, end: u32) -> bool {
        self.masks.iter().any(|mask| mask.start < end as usize && (start as usize) < mask.end)
    }

    fn start(&mut self, children: Children, flow: bool, tag: Option<&Tag>, core: Core, start: usize) {
        self.last_plain = None;
        let node = self.node(start, start, Data::Error);
        if self.open.len() >= MAX_DEPTH {
            self.too_deep(start, start + 1);
            self.skipping = 1;
            return self.put(node);
        }
        let fits = tag.is_none_or(|tag| tag.core == Some(core) || tag.core == Some(Core::Plain));
        if let Some(tag) = tag.filter(|_| !fits) {
            let what = if core == Core::Seq { "a list" } else { "a map" };
            self.report(lint::tag_refused(tag, self.span(tag.start, tag.end), what));
        }
        self.open.push(Open { node, children, start, flow, wrong: !fits, height: 0 });
    }

    fn too_deep(&mut self, start: usize, end: usize) {
        let message = format!("lists and maps are nested more than {MAX_DEPTH} deep here, aliases included");
        let diagnostic = catalog::TOO_DEEP.at(self.span(start, end), message).help("flatten the value");
        self.report(diagnostic);
    }

    fn end(&mut self, end: usize) {
        self.last_plain = None;
        let Some(open) = self.open.pop() else { return };
        let node = open.node;
        let last = match open.children {
            Children::Items { base } => self.items.get(base..).and_then(<[NodeId]>::last).copied(),
            Children::Pairs { base, .. } => self.pairs.get(base..).and_then(<[Pair]>::last).map(|pair| pair.value),
        };
        // A block collection ends with its last child; the parser's mark is at the next token.
        let end = match last {
            Some(last) if !open.flow => self.span_of(last).end as usize,
            _ => end,
        };
        let span = self.span(open.start, end);
        let data = match open.children {
            Children::Items { base } => {
                let first = self.tree.items.len();
                self.tree.items.extend(self.items.drain(base..));
                Data::List { first: count(first), length: count(self.tree.items.len() - first) }
            }
            Children::Pairs { base, .. } => self.map(base, span, open.flow),
        };
        if let Some(slot) = self.tree.nodes.get_mut(node as usize) {
            *slot = Node { span, data: if open.wrong { Data::Error } else { data } };
        }
        let height = open.height + 1;
        if let Some(slot) = self.heights.get_mut(node as usize) {
            *slot = u8::try_from(height).unwrap_or(u8::MAX);
        }
        if let Some(parent) = self.open.last_mut() {
            parent.height = parent.height.max(height);
        }
        self.put(node);
    }

    /// A map of the pairs above `base`.
    fn map(&mut self, base: usize, span: Span, flow: bool) -> Data {
        let pairs = self.pairs.get(base..).unwrap_or_default();
        let template = flow
            && pairs.iter().any(|pair| {
                let key = self.tree.nodes.get(pair.key as usize);
                key.is_some_and(|key| {
                    matches!(key.data, Data::Map { flow: true, .. }) && key.span.start == span.start + 1
                })
            });
        let first = self.tree.entries.len();
        if template {
            self.pairs.truncate(base);
            self.report(lint::unquoted_template(&self.tree.text, span));
            return Data::Error;
        }
        if self.is_plain(base) {
            self.tree.entries.extend(self.pairs.drain(base..));
        } else {
            let pairs = self.pairs.split_off(base);
            let pairs = self.entries(&pairs);
            self.tree.entries.extend(pairs);
        }
        Data::Map { first: count(first), length: count(self.tree.entries.len() - first), flow }
    }

    /// Whether the pairs above `base` are an ordinary map's: few, with keys that are different texts, and no merge key.
    fn is_plain(&self, base: usize) -> bool {
        let pairs = self.pairs.get(base..).unwrap_or_default();
        let text = |pair: &Pair| match self.tree.nodes.get(pair.key as usize).map(|key| &key.data) {
            Some(Data::Scalar { value: Value::Str(text), .. }) if &**text != "<<" => Some(text),
            _ => None,
        };
        let alone = |(at, pair): (usize, &Pair)| {
            let Some(key) = text(pair) else { return false };
            pairs.iter().take(at).all(|earlier| text(earlier) != Some(key))
        };
        pairs.len() <= MANY_ENTRIES && pairs.iter().enumerate().all(alone)
    }

    fn put(&mut self, id: NodeId) {
        match self.open.last_mut().map(|open| &mut open.children) {
            Some(Children::Items { .. }) => self.items.push(id),
            Some(Children::Pairs { key, .. }) => match key.take() {
                Some(key) => self.pairs.push(Pair { key, value: id, merged: false }),
                None => *key = Some(id),
            },
            None => {}
        }
    }

    fn alias(&mut self, id: usize, start: usize, end: usize) {
        self.last_plain = None;
        let target = self.anchors.get(&id).map(|anchor| anchor.node);
        let data = match target {
            None => Data::Error,
            Some(target) if self.open.iter().any(|open| open.node == target) => {
                let name = self.parsed.get(start + 1..end).unwrap_or_default();
                let message =
                    format!("`*{name}` stands inside the value that `&{name}` names, so it would contain itself");
                let diagnostic = catalog::ALIAS_CYCLE.at(self.span(start, end), message).help("write the value out");
                self.report(diagnostic);
                Data::Error
            }
            Some(target) => {
                let height = self.heights.get(target as usize).map_or(0, |&height| usize::from(height));
                if self.open.len() + height > MAX_DEPTH {
                    self.too_deep(start, end);
                    Data::Error
                } else {
                    if let Some(parent) = self.open.last_mut() {
                        parent.height = parent.height.max(height);
                    }
                    Data::Alias(target)
                }
            }
        };
        let id = self.node(start, end, data);
        self.put(id);
    }

    fn unknown_alias(&mut self, name: &str, start: usize, end: usize) {
        self.last_plain = None;
        if !self.is_full() {
            let message = format!("no `&{name}` stands before this `*{name}`");
            // A file of nothing but anchors and wrong aliases would make the list of candidates quadratic.
            let known: Vec<&str> = self.anchors.values().rev().take(50).map(|anchor| anchor.name.as_str()).collect();
            let help = suggest(name, known.iter().copied()).unwrap_or_else(|| {
                format!("name a value with `&{name}` first, or quote the text if the `*` belongs to it")
            });
            self.report(catalog::UNKNOWN_ALIAS.at(self.span(start, end), message).help(help));
        }
        let id = self.node(start, end, Data::Error);
        self.put(id);
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
