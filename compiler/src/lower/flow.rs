//! Building a graph step by step: what is open is connected to whatever comes next.

use std::sync::Arc;

use aigo_ir::graph::{GraphBuilder, NodeId};
use aigo_ir::node::{Jump, Node, Port};
use aigo_ir::span::Origin;

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Flow {
    pub(crate) builder: GraphBuilder,
    /// The edges that lead to whatever comes next.
    open: Vec<(NodeId, Port)>,
    /// The headers of the regions that are open, the outermost first.
    regions: Vec<NodeId>,
    started: bool,
}

impl Flow {
    /// Whether what comes next can be reached.
    pub(crate) fn is_open(&self) -> bool {
        !self.started || !self.open.is_empty()
    }

    /// Whether a loop is open.
    pub(crate) fn in_loop(&self) -> bool {
        !self.regions.is_empty()
    }

    /// A path that no node has yet: an ordinal is added among equal siblings.
    pub(crate) fn path(&mut self, wanted: &str) -> Arc<str> {
        self.builder.free_path(wanted)
    }

    /// Adds a node; everything open leads to it, and its ports are open but for those that are taken up by the caller.
    pub(crate) fn add(&mut self, node: Node, path: &str, origin: Origin) -> NodeId {
        let id = self.builder.add_free(node, path, self.regions.last().copied(), origin);
        for (from, port) in self.open.drain(..) {
            self.builder.connect(from, port, Jump::On, id);
        }
        self.started = true;
        self.open.extend(self.builder.ports(id).iter().map(|&port| (id, port)));
        id
    }

    /// Adds the header of a region and enters it.
    pub(crate) fn enter(&mut self, header: Node, path: &str, origin: Origin) -> NodeId {
        let id = self.add(header, path, origin);
        self.regions.push(id);
        self.open = vec![(id, Port::Body)];
        id
    }

    /// Leaves the region: what is open goes to the next pass, and `done` is open.
    pub(crate) fn leave(&mut self) {
        if let Some(header) = self.regions.pop() {
            for (from, port) in std::mem::take(&mut self.open) {
                if from != header {
                    self.builder.connect(from, port, Jump::Again, header);
                }
            }
            self.open = vec![(header, Port::Done)];
        }
    }

    /// Takes an open edge out, to lead it elsewhere later.
    pub(crate) fn take(&mut self, from: NodeId, port: Port) {
        self.open.retain(|edge| *edge != (from, port));
    }

    /// Sets what is open, and gives what was.
    pub(crate) fn replace(&mut self, open: Vec<(NodeId, Port)>) -> Vec<(NodeId, Port)> {
        std::mem::replace(&mut self.open, open)
    }

    /// Adds to what is open.
    pub(crate) fn also(&mut self, more: Vec<(NodeId, Port)>) {
        self.open.extend(more);
    }

    /// Everything open breaks out of the innermost loop.
    pub(crate) fn break_out(&mut self) {
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect_break(from, port);
        }
    }
}
