//! Stage 4: the typed task to a [`Program`].

mod flow;
mod prompts;
mod score;
mod solve;

use std::sync::Arc;

use aigo_ir::program::{EXPECTATIONS, Program, Scorer};
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::typed::Task;

/// Lowers a task. Steps that can never run are given back by their places.
pub(crate) fn lower(task: Task) -> (Program, Vec<aigo_ir::span::Origin>) {
    let mut never = Vec::new();
    let solve = solve::solve(&task.steps, &mut never);
    let mut scorers: Vec<Scorer> = task.scorers.iter().map(score::scorer).collect();
    if task.expects {
        scorers.insert(0, expectations());
    }
    let mut library: Vec<(Arc<str>, u32)> = Vec::new();
    if task.steps.iter().any(solve::simulates) {
        library.push((prompts::SIMULATED_USER.0.into(), prompts::SIMULATED_USER.1));
    }
    if task.scorers.iter().any(|scorer| scorer.method.judges()) {
        library.push((prompts::JUDGE.0.into(), prompts::JUDGE.1));
    }
    if task.scorers.iter().any(|scorer| scorer.method.extracts()) {
        library.push((prompts::EXTRACT.0.into(), prompts::EXTRACT.1));
    }
    let program = Program {
        name: task.name,
        seed: task.seed,
        epochs: task.epochs,
        limits: task.limits,
        fields: task.fields,
        roles: task.roles,
        tools: Vec::new(),
        solves: vec![solve],
        scorers,
        gates: task.gates,
        library,
    };
    (program, never)
}

/// The scorer of the steps' expectations: its verdicts come from the solve graph.
fn expectations() -> Scorer {
    Scorer {
        name: EXPECTATIONS.into(),
        scale: Scale::Boolean,
        pass: 1.0,
        over: None,
        evidence: EvidenceRule::None,
        at: None,
        tags: Vec::new(),
        graph: None,
    }
}
