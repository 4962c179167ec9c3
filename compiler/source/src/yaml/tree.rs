//! The tree of one YAML file: an arena of nodes with exact spans, and the handles to walk it.

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::{FileId, Span, Spanned};
use aigo_ir::value::{Map, Value};

use crate::catalog;
use crate::scalar::{ScalarSource, Style};

/// How deep lists and maps nest, aliases followed.
pub(super) const MAX_DEPTH: usize = 64;
/// How many nodes one value may have, aliases followed.
const MAX_VALUE_NODES: usize = 100_000;
/// How much text one value may have, aliases followed: twice what a file may have.
const MAX_VALUE_BYTES: usize = 16 << 20;
/// How many entries one map of a value may have.
const MAX_VALUE_ENTRIES: usize = 10_000;

/// The place of a node in its arena.
pub(super) type NodeId = u32;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Scalar {
        value: Value,
        text: Arc<str>,
        style: Style,
        implicit: bool,
    },
    /// A range of [`Tree::items`].
    List {
        first: u32,
        length: u32,
    },
    /// A range of [`Tree::entries`].
    Map {
        first: u32,
        length: u32,
        flow: bool,
    },
    Alias(NodeId),
    Error,
}

/// A key and its value in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: NodeId,
    pub(super) value: NodeId,
    pub(super) merged: bool,
}

/// A comment of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From the `#` to the end of the line.
    pub span: Span,
    /// What follows the `#`.
    pub text: String,
}

/// One YAML file. It owns its text, so that it can outlive the reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(super) file: FileId,
    pub(super) text: Arc<str>,
    pub(super) nodes: Vec<Node>,
    pub(super) items: Vec<NodeId>,
    pub(super) entries: Vec<Pair>,
    pub(super) comments: Vec<Comment>,
    /// The parts that were left out because of syntax errors, in order.
    pub(super) masked: Vec<Span>,
    pub(super) root: NodeId,
}

static LOST: Node = Node { span: Span { file: FileId(0), start: 0, end: 0 }, data: Data::Error };

impl Tree {
    /// The tree of a file that was not read.
    pub(super) fn broken(file: FileId) -> Self {
        let nodes = vec![Node { span: Span::new(file, 0, 0), data: Data::Error }];
        Self {
            file,
            text: Arc::from(""),
            nodes,
            items: vec![],
            entries: vec![],
            comments: vec![],
            masked: vec![],
            root: 0,
        }
    }

    /// The document. An empty file is an implicit null.
    pub const fn root(&self) -> NodeRef<'_> {
        NodeRef { tree: self, id: self.root }
    }

    /// The comments, in the order of the file.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The file that spans point into.
    pub const fn file(&self) -> FileId {
        self.file
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first thing that another text of the same file says differently: a value, the way in which a scalar is written, an
    /// alias, or a comment. Where things stand does not matter, nor whether a collection is written in brackets.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let is_same = |a: &Data, b: &Data| match (a, b) {
            (
                Data::Scalar { value, text, style, implicit },
                Data::Scalar { value: value_b, text: text_b, style: style_b, implicit: implicit_b },
            ) => {
                // Not a number is no number, itself included.
                let values = value == value_b || (value.kind() == value_b.kind() && text == text_b);
                values && text == text_b && style == style_b && implicit == implicit_b
            }
            (Data::List { first, length }, Data::List { first: first_b, length: length_b })
            | (Data::Map { first, length, .. }, Data::Map { first: first_b, length: length_b, .. }) => {
                first == first_b && length == length_b
            }
            (Data::Alias(a), Data::Alias(b)) => a == b,
            (Data::Error, Data::Error) => true,
            _ => false,
        };
        if let Some((before, after)) = self.nodes.iter().zip(&other.nodes).find(|(a, b)| !is_same(&a.data, &b.data)) {
            return Some(format!(
                "the value at byte {} became another at byte {}",
                before.span.start, after.span.start
            ));
        }
        let pairs =
            |tree: &Self| tree.entries.iter().map(|pair| (pair.key, pair.value, pair.merged)).collect::<Vec<_>>();
        if self.nodes.len() != other.nodes.len() || self.items != other.items || pairs(self) != pairs(other) {
            return Some("a list or a map became another".to_owned());
        }
        let mut texts = self.comments.iter().zip(&other.comments);
        if let Some((before, _)) = texts.find(|(a, b)| a.text.trim() != b.text.trim()) {
            return Some(format!("the comment at byte {} became another", before.span.start));
        }
        (self.comments.len() != other.comments.len()).then(|| "there are not as many comments as before".to_owned())
    }

    /// Whether a part was left out just before or just behind a place, with nothing but blanks between.
    pub(super) fn is_next_to_mask(&self, span: Span) -> bool {
        let blank = |from: u32, to: u32| {
            self.text.get(from as usize..to as usize).is_some_and(|between| between.trim().is_empty())
        };
        self.masked.iter().any(|mask| blank(mask.end, span.start) || blank(span.end, mask.start))
    }

    fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&LOST)
    }

    /// The node itself, or what it is an alias of. An alias never refers to an alias.
    pub(super) fn resolved(&self, id: NodeId) -> &Node {
        let node = self.node(id);
        if let Data::Alias(target) = node.data { self.node(target) } else { node }
    }
}

/// A node of a tree. Aliases are followed: all but [`NodeRef::site`] speak of what the alias refers to.
#[derive(Clone, Copy)]
pub struct NodeRef<'t> {
    tree: &'t Tree,
    id: NodeId,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind<'t> {
    /// `null`, `~` or nothing at all; see [`NodeRef::is_implicit`].
    Null,
    /// A boolean, number or string.
    Scalar(&'t Value),
    /// A list.
    List(Items<'t>),
    /// A map.
    Map(Entries<'t>),
    /// What could not be read. Its diagnostics exist already, so say nothing more about it.
    Error,
}

impl Kind<'_> {
    /// The kind, as messages name it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Scalar(value) => value.kind(),
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Error => "an error",
        }
    }
}

impl<'t> NodeRef<'t> {
    fn node(self) -> &'t Node {
        self.tree.resolved(self.id)
    }

    /// The bytes of the content: a quoted scalar with its quotes, a block scalar from its first character to its last line
    /// break, a flow collection with its brackets, a block collection from its first entry to the end of its last. An
    /// implicit null is empty, and stands where the value belongs. Of an alias, the bytes of what it refers to.
    pub fn span(self) -> Span {
        self.node().span
    }

    /// Where the node stands: of an alias, the `*name`; otherwise its span.
    pub fn site(self) -> Span {
        self.tree.node(self.id).span
    }

    /// Whether the node is an alias.
    pub fn is_alias(self) -> bool {
        matches!(self.tree.node(self.id).data, Data::Alias(_))
    }

    /// What the node is.
    pub fn kind(self) -> Kind<'t> {
        match &self.node().data {
            Data::Scalar { value: Value::Null, .. } => Kind::Null,
            Data::Scalar { value, .. } => Kind::Scalar(value),
            Data::List { .. } => Kind::List(self.items()),
            Data::Map { .. } => Kind::Map(self.entries()),
            Data::Alias(_) | Data::Error => Kind::Error,
        }
    }

    /// The text of a string; nothing for any other node, also for numbers.
    pub fn as_str(self) -> Option<&'t str> {
        match &self.node().data {
            Data::Scalar { value, .. } => value.as_str(),
            _ => None,
        }
    }

    /// The value of a scalar.
    pub fn value(self) -> Option<Value> {
        match &self.node().data {
            Data::Scalar { value, .. } => Some(value.clone()),
            _ => None,
        }
    }

    /// A scalar's text after escapes and folding, also of numbers and booleans: `1.0` stays `1.0`.
    pub fn scalar_text(self) -> Option<&'t str> {
        match &self.node().data {
            Data::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether the node is a null that nobody wrote: `key:` and nothing.
    pub fn is_implicit(self) -> bool {
        matches!(self.node().data, Data::Scalar { implicit: true, .. })
    }

    /// Whether the node could not be read.
    pub fn is_error(self) -> bool {
        matches!(self.kind(), Kind::Error)
    }

    /// Whether a part of this list or map was left out because of a syntax error, so that what is missing in it may have been
    /// written. True also of a node just before or behind such a part, which may have been its first or next entry.
    pub fn is_incomplete(self) -> bool {
        let span = self.span();
        match self.node().data {
            Data::List { .. } | Data::Map { .. } => {
                let inside = |mask: &Span| mask.start < span.end && span.start < mask.end;
                self.tree.masked.iter().any(inside) || self.tree.is_next_to_mask(span)
            }
            Data::Scalar { .. } => false,
            Data::Alias(_) | Data::Error => true,
        }
    }

    /// Whether something was left out just before or just behind the node because of a syntax error, so that the node may be
    /// the rest of something else: a key that is not known there is then no second mistake.
    pub fn is_next_to_damage(self) -> bool {
        self.tree.is_next_to_mask(self.site())
    }

    /// The items of a list; none for any other node.
    pub fn items(self) -> Items<'t> {
        let ids = match self.node().data {
            Data::List { first, length } => slice(&self.tree.items, first, length),
            _ => &[],
        };
        Items { tree: self.tree, ids: ids.iter() }
    }

    /// The entries of a map in the order of the file, merged ones at the place of their `<<`; none for any other node.
    pub fn entries(self) -> Entries<'t> {
        let pairs = match self.node().data {
            Data::Map { first, length, .. } => slice(&self.tree.entries, first, length),
            _ => &[],
        };
        Entries { tree: self.tree, pairs: pairs.iter() }
    }

    /// The value of a map's key.
    pub fn get(self, key: &str) -> Option<NodeRef<'t>> {
        // Most keys are told apart by their first byte, without a call that compares all.
        let is_same = |text: &str| text.len() == key.len() && text.bytes().next() == key.bytes().next() && text == key;
        let is_key =
            |pair: &&Pair| matches!(&self.tree.resolved(pair.key).data, Data::Scalar { text, .. } if is_same(text));
        self.entries().pairs.find(is_key).map(|pair| NodeRef { tree: self.tree, id: pair.value })
    }

    /// The text of the span, as it stands in the file.
    pub fn raw(self) -> &'t str {
        let span = self.span();
        self.tree.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// How a scalar's text lies in the file.
    pub fn scalar_source(self) -> Option<ScalarSource> {
        match &self.node().data {
            Data::Scalar { style, .. } => Some(ScalarSource::new(*style, self.span(), &self.tree.text)),
            _ => None,
        }
    }

    /// The value of the whole subtree; errors in it are null. Refused, with a diagnostic, beyond 100,000 nodes or 16 MiB of
    /// text (aliases count as often as they are used) or 10,000 entries in one map.
    pub fn to_value(self) -> Result<Value, Box<Diagnostic>> {
        let mut left = Budget { nodes: MAX_VALUE_NODES, bytes: MAX_VALUE_BYTES };
        self.build(&mut left).ok_or_else(|| {
            let message = format!(
                "this value is larger than {MAX_VALUE_NODES} nodes or {MAX_VALUE_BYTES} bytes of text, or one of its maps than \
                 {MAX_VALUE_ENTRIES} entries"
            );
            let help = "use fewer aliases, or move the data to a file of its own";
            Box::new(catalog::VALUE_TOO_LARGE.at(self.site(), message).help(help))
        })
    }

    /// The recursion is at most [`MAX_DEPTH`] deep: the builder refuses deeper trees, also through aliases.
    fn build(self, left: &mut Budget) -> Option<Value> {
        left.nodes = left.nodes.checked_sub(1)?;
        match self.kind() {
            Kind::Null | Kind::Error => Some(Value::Null),
            Kind::Scalar(Value::Str(text)) => {
                left.bytes = left.bytes.checked_sub(text.len())?;
                Some(Value::Str(text.clone()))
            }
            Kind::Scalar(value) => Some(value.clone()),
            Kind::List(items) => items.map(|item| item.build(left)).collect::<Option<Vec<_>>>().map(Value::list),
            Kind::Map(entries) if entries.len() > MAX_VALUE_ENTRIES => None,
            Kind::Map(entries) => {
                let pairs = entries.map(|entry| Some((entry.key_text(), entry.value.build(left)?)));
                Some(Value::Map(Arc::new(pairs.collect::<Option<Map>>()?)))
            }
        }
    }
}

/// What a value may still take up.
struct Budget {
    nodes: usize,
    bytes: usize,
}

impl std::fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let span = self.span();
        write!(f, "{}@{}..{}", self.kind().name(), span.start, span.end)
    }
}

fn slice<T>(all: &[T], first: u32, length: u32) -> &[T] {
    all.get(first as usize..first as usize + length as usize).unwrap_or_default()
}

/// The items of a list.
#[derive(Clone)]
pub struct Items<'t> {
    tree: &'t Tree,
    ids: std::slice::Iter<'t, NodeId>,
}

impl<'t> Iterator for Items<'t> {
    type Item = NodeRef<'t>;

    fn next(&mut self) -> Option<NodeRef<'t>> {
        self.ids.next().map(|&id| NodeRef { tree: self.tree, id })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ids.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}

/// One entry of a map.
#[derive(Clone, Debug)]
pub struct Entry<'t> {
    /// The key and where it is written; for a merged entry, in the map it came from.
    pub key: Spanned<&'t str>,
    /// The key's node.
    pub key_node: NodeRef<'t>,
    /// The value.
    pub value: NodeRef<'t>,
    /// Whether a merge key brought the entry here.
    pub merged: bool,
}

impl Entry<'_> {
    fn key_text(&self) -> Arc<str> {
        match &self.key_node.node().data {
            Data::Scalar { text, .. } => text.clone(),
            _ => Arc::from(""),
        }
    }
}

/// The entries of a map, their keys unique.
#[derive(Clone)]
pub struct Entries<'t> {
    tree: &'t Tree,
    pairs: std::slice::Iter<'t, Pair>,
}

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        self.pairs.next().map(|pair| {
            let key_node = NodeRef { tree: self.tree, id: pair.key };
            let key = Spanned::new(key_node.scalar_text().unwrap_or_default(), key_node.site());
            Entry { key, key_node, value: NodeRef { tree: self.tree, id: pair.value }, merged: pair.merged }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.pairs.size_hint()
    }
}

impl ExactSizeIterator for Entries<'_> {}

macro_rules! debug_as_list {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_list().entries(self.clone()).finish()
            }
        }
    )*};
}
debug_as_list!(Items, Entries);
