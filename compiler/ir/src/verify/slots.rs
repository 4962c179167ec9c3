//! Invariants of slots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Found, Violation, flow};
use crate::graph::{Graph, NodeId};
use crate::node::{Jump, Node};

/// What is surely assigned when a node is entered, on all paths: a bit for each slot. A body may run zero times, so what it
/// assigns is not.
#[derive(Clone)]
struct Assigned {
    first: u64,
    /// Few graphs have more than 64 slots.
    more: Vec<u64>,
}

impl Assigned {
    fn none_of(slots: usize) -> Self {
        Self { first: 0, more: vec![0; slots.saturating_sub(1) / 64] }
    }

    fn set(&mut self, slot: usize) {
        let word = match (slot / 64).checked_sub(1) {
            None => Some(&mut self.first),
            Some(at) => self.more.get_mut(at),
        };
        if let Some(word) = word {
            *word |= 1 << (slot % 64);
        }
    }

    fn has(&self, slot: usize) -> bool {
        let word = match (slot / 64).checked_sub(1) {
            None => Some(&self.first),
            Some(at) => self.more.get(at),
        };
        word.is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    fn meet(&mut self, other: &Self) {
        self.first &= other.first;
        self.more.iter_mut().zip(&other.more).for_each(|(word, theirs)| *word &= theirs);
    }
}

/// A graph's slots by name.
struct Slots<'g>(BTreeMap<&'g str, usize>);

impl<'g> Slots<'g> {
    fn of(graph: &'g Graph) -> Self {
        Self(graph.slots.iter().enumerate().rev().map(|(at, slot)| (&*slot.name, at)).collect())
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// Visits the nodes with what is assigned when they are entered.
    fn assigned(&self, graph: &Graph, order: &[NodeId], visit: impl FnMut(NodeId, &Assigned)) {
        let start = Assigned::none_of(graph.slots.len());
        let through = |id: NodeId, port, state: &mut Assigned| {
            let slots = graph.get(id).into_iter().flat_map(|placed| placed.node.assigns(port));
            slots.filter_map(|slot| self.number(slot)).for_each(|slot| state.set(slot));
        };
        flow::forward(graph, order, start, through, Assigned::meet, visit);
    }
}

/// Slots are assigned on all paths before they are read. `reads` has the names that each node reads.
pub(super) fn assigned_before_read(graph: &Graph, order: &[NodeId], reads: &[Vec<Arc<str>>]) -> Vec<Violation> {
    let mut violations = unassigned(graph, order, reads);
    let (slots, mut found) = (Slots::of(graph), Found::new("assigned_before_read", graph));
    for (id, placed) in graph.nodes() {
        for port in placed.node.ports() {
            for slot in placed.node.assigns(*port) {
                if slots.number(slot).is_none() {
                    found.at(id, format!("the slot `{slot}` is assigned and not declared"));
                }
            }
        }
    }
    violations.append(&mut found.violations);
    violations.sort_by_key(|violation| violation.node);
    violations
}

/// Where slots are read that are not assigned on all paths.
pub(super) fn unassigned(graph: &Graph, order: &[NodeId], reads: &[Vec<Arc<str>>]) -> Vec<Violation> {
    let mut found = Found::new("assigned_before_read", graph);
    let slots = Slots::of(graph);
    let mut unassigned: BTreeMap<NodeId, Vec<&Arc<str>>> = BTreeMap::new();
    slots.assigned(graph, order, |id, state| {
        let names = reads.get(id.0 as usize).map(Vec::as_slice).unwrap_or_default();
        let missing = |name: &&Arc<str>| slots.number(name).is_some_and(|slot| !state.has(slot));
        for name in names.iter().filter(missing) {
            let known = unassigned.entry(id).or_default();
            if !known.contains(&name) {
                known.push(name);
            }
        }
    });
    for (id, names) in unassigned {
        for name in names {
            found.at(id, format!("the slot `{name}` is read, and not assigned on every path to here"));
        }
    }
    found.violations
}

/// What a map gives is assigned on every path to the end of an item, and nothing else of a map is seen outside.
pub(super) fn map_gives(graph: &Graph, order: &[NodeId]) -> Vec<Violation> {
    let mut found = Found::new("map_gives", graph);
    if !graph.nodes().any(|(_, placed)| matches!(placed.node, Node::Map { .. })) {
        return found.violations;
    }
    let slots = Slots::of(graph);
    let mut not_given: BTreeMap<NodeId, Vec<&Arc<str>>> = BTreeMap::new();
    slots.assigned(graph, order, |id, state| {
        for (port, jump, header) in graph.edges(id) {
            let Some(Node::Map { give, .. }) = graph.get(header).map(|h| &h.node) else { continue };
            let here = graph.get(id).is_some_and(|placed| placed.node.assigns(port).any(|slot| slot == give));
            if jump == Jump::Again && !here && !slots.number(give).is_some_and(|slot| state.has(slot)) {
                not_given.entry(id).or_default().push(give);
            }
        }
    });
    let outside = seen_outside(graph);
    for (id, _) in graph.nodes() {
        for give in not_given.remove(&id).into_iter().flatten() {
            found.at(id, format!("the item ends here, and the slot `{give}` that the map gives is not assigned"));
        }
        for (slot, other) in outside.get(&id).into_iter().flatten() {
            found.at(id, format!("the slot `{slot}` is assigned inside a map and, by n{}, outside it", other.0));
        }
    }
    found.violations
}

/// The nodes inside maps that assign a slot which is also assigned outside of that map, with the first node that does.
fn seen_outside(graph: &Graph) -> BTreeMap<NodeId, Vec<(&Arc<str>, NodeId)>> {
    let mut places: BTreeMap<&Arc<str>, Vec<(NodeId, Option<NodeId>)>> = BTreeMap::new();
    for (id, placed) in graph.nodes() {
        let assigns: BTreeSet<_> = placed.node.ports().iter().flat_map(|port| placed.node.assigns(*port)).collect();
        for slot in assigns {
            places.entry(slot).or_default().push((id, map_of_assignment(graph, id, slot)));
        }
    }
    let mut found: BTreeMap<NodeId, Vec<_>> = BTreeMap::new();
    for (slot, places) in places {
        let Some(&(first, map)) = places.first() else { continue };
        // What differs from the first differs first from it; what is like the first differs from the first other one.
        let Some(&(other, _)) = places.iter().find(|(_, theirs)| *theirs != map) else { continue };
        for &(id, own) in &places {
            if graph.in_map(id) {
                found.entry(id).or_default().push((slot, if own == map { other } else { first }));
            }
        }
    }
    found
}

/// The map inside which a node assigns a slot: the item of a map is assigned inside it, its result outside.
fn map_of_assignment(graph: &Graph, id: NodeId, slot: &Arc<str>) -> Option<NodeId> {
    match graph.get(id).map(|placed| &placed.node) {
        Some(Node::Map { item, .. }) if item == slot => Some(id),
        _ => graph.map_around(id),
    }
}
