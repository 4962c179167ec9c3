//! Walking graphs forward: an order in which every node comes after what leads to it, `again` left aside.

use crate::graph::{Graph, NodeId};
use crate::node::Port;

/// The nodes in an order that respects every edge but `again`; nodes on a cycle are left out.
pub(crate) fn topological(graph: &Graph) -> Vec<NodeId> {
    let mut waiting = vec![0_usize; graph.nodes().len()];
    let forward = |id| graph.edges(id).filter(move |(_, jump, _)| !graph.goes_back(id, *jump));
    for (id, _) in graph.nodes() {
        for (_, _, to) in forward(id) {
            if let Some(n) = waiting.get_mut(to.0 as usize) {
                *n += 1;
            }
        }
    }
    let mut ready: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    ready.retain(|id| waiting.get(id.0 as usize) == Some(&0));
    ready.reverse();
    let mut order = Vec::with_capacity(waiting.len());
    while let Some(id) = ready.pop() {
        order.push(id);
        for (_, _, to) in forward(id) {
            if let Some(n) = waiting.get_mut(to.0 as usize) {
                *n -= 1;
                if *n == 0 {
                    ready.push(to);
                }
            }
        }
    }
    order
}

/// Carries facts forward from the entry, along an order of [`topological`]: `visit` sees what comes into each node,
/// `through` changes it to what leaves by one of its ports, `meet` joins what comes in by several edges. What has been handed
/// on is not kept, because a task can have many thousands of steps.
pub(super) fn forward<T: Clone>(
    graph: &Graph,
    order: &[NodeId],
    start: T,
    through: impl Fn(NodeId, Port, &mut T),
    meet: impl Fn(&mut T, &T),
    mut visit: impl FnMut(NodeId, &T),
) {
    let mut incoming: Vec<Option<T>> = vec![None; graph.nodes().len()];
    if let Some(slot) = graph.entry().and_then(|entry| incoming.get_mut(entry.0 as usize)) {
        *slot = Some(start);
    }
    for &id in order {
        let mut held = incoming.get_mut(id.0 as usize).and_then(Option::take);
        if let Some(state) = &held {
            visit(id, state);
        }
        let mut edges = graph.edges(id).filter(|(_, jump, _)| !graph.goes_back(id, *jump)).peekable();
        while let Some((port, _, to)) = edges.next() {
            // The last edge takes the facts themselves.
            let Some(mut out) = (if edges.peek().is_some() { held.clone() } else { held.take() }) else { continue };
            through(id, port, &mut out);
            match incoming.get_mut(to.0 as usize) {
                Some(Some(known)) => meet(known, &out),
                Some(slot) => *slot = Some(out),
                None => {}
            }
        }
    }
}
