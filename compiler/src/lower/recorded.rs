//! The solve graphs of transcripts.

use aigo_ir::graph::{Graph, GraphBuilder};
use aigo_ir::message::ASSISTANT;
use aigo_ir::node::{Ending, Node};
use aigo_ir::span::Origin;

use super::solve;
use crate::dataset::{EACH_TURN, RECORDED};
use crate::typed::{Step, Verb};

/// The graphs that a task's transcripts run: one that ends at once, and one that answers what the user said last.
pub(crate) fn of_transcripts((recorded, each_turn): (bool, bool), tools: bool) -> Vec<Graph> {
    let mut graphs = Vec::new();
    if recorded {
        let mut builder = GraphBuilder::default();
        builder.add(Node::Exit { ending: Ending::Recorded }, RECORDED, None, Origin::default());
        graphs.push(builder.finish(RECORDED));
    }
    if each_turn {
        let step = Step {
            verb: Verb::Generate { role: ASSISTANT.into(), rounds: solve::TOOL_ROUNDS },
            label: None,
            reply: None,
            when: None,
            expect: Vec::new(),
            stop_on_fail: false,
            timeout_s: None,
            origin: Origin::default(),
        };
        graphs.push(solve::solve(EACH_TURN, &[step], tools, &[], &mut Vec::new()));
    }
    graphs
}
