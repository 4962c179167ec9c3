//! Stage 4: the typed task to a [`Program`].

mod aside;
mod flow;
pub(crate) mod prompts;
mod recorded;
mod score;
mod solve;

pub(crate) use aside::Aside;
pub(crate) use recorded::of_transcripts;

use std::sync::Arc;

use aigo_ir::gate::CONFIRM;
use aigo_ir::graph::Graph;
use aigo_ir::program::{EXPECTATIONS, Player, Program, Role, Scorer};
use aigo_ir::span::Span;
use aigo_ir::verdict::{EvidenceRule, Scale};

use crate::typed::{Method, Task};

/// What a task is lowered to.
pub(crate) struct Lowered {
    pub(crate) program: Program,
    /// The steps that can never run, by their places.
    pub(crate) never: Vec<Span>,
    /// The scorers of the program that have no graphs yet.
    pub(crate) aside: Aside,
}

/// Lowers a task. Where only `findings` are wanted, scorers whose graphs can have none are put aside.
pub(crate) fn lower(mut task: Task, findings: bool) -> Lowered {
    confirm(&mut task);
    let (solves, never) = solves(&task);
    let is_aside = |scorer: &&crate::typed::Scorer| findings && aside::is_plain(scorer);
    let lowered = |scorer| if is_aside(&scorer) { score::without_graph(scorer) } else { score::scorer(scorer) };
    let mut scorers: Vec<Scorer> = task.scorers.iter().map(lowered).collect();
    let checkpoints = !task.checkpoints.is_empty();
    scorers.splice(0..0, task.checkpoints);
    if task.expects {
        scorers.insert(0, expectations());
    }
    let simulates = task.solves.iter().flat_map(|solve| &solve.steps).any(solve::simulates);
    let personas = if simulates { task.personas } else { Vec::new() };
    let mut library: Vec<(Arc<str>, u32)> = Vec::new();
    if simulates {
        library.push((prompts::SIMULATED_USER.0.into(), prompts::SIMULATED_USER.1));
    }
    if checkpoints || task.scorers.iter().any(|scorer| scorer.method.judges()) {
        library.push((prompts::JUDGE.0.into(), prompts::JUDGE.1));
    }
    if task.scorers.iter().any(|scorer| scorer.method.extracts()) {
        library.push((prompts::EXTRACT.0.into(), prompts::EXTRACT.1));
    }
    for one in task.scorers.iter().filter_map(|scorer| scorer.library.as_ref()) {
        if !library.contains(one) {
            library.push(one.clone());
        }
    }
    let program = Program {
        name: task.name,
        seed: task.seed,
        epochs: task.epochs,
        limits: task.limits,
        fields: task.fields,
        roles: task.roles,
        state: task.state,
        tools: task.tools,
        setup: task.setup,
        teardown: task.teardown,
        solves,
        scorers,
        gates: task.gates,
        personas,
        library,
    };
    task.scorers.retain(|scorer| is_aside(&scorer));
    Lowered { program, never, aside: Aside(task.scorers) }
}

/// Where one verdict could turn a gate red, a judge's failing one is asked for again, unless the task says how often or has
/// several draws joined anyway.
fn confirm(task: &mut Task) {
    let (scorers, gates) = (&mut task.scorers, &task.gates);
    for scorer in scorers.iter_mut().filter(|scorer| matches!(scorer.method, Method::Judge(_))) {
        let bears_none = gates.iter().any(|gate| gate.scorer == scorer.name && gate.bears_none());
        let by_default = (bears_none && scorer.runs.is_none()).then_some(CONFIRM);
        scorer.confirm = scorer.confirm.or(by_default).filter(|times| *times > 1);
    }
}

fn solves(task: &Task) -> (Vec<Graph>, Vec<Span>) {
    let (mut graphs, mut never) = (Vec::new(), Vec::new());
    let ends = |role: &&Role| match &role.player {
        Player::Http(http) => http.reply.as_ref().is_some_and(|reply| reply.done.is_some()),
        _ => false,
    };
    let enders: Vec<&str> = task.roles.iter().filter(ends).map(|role| &*role.name).collect();
    for solve in &task.solves {
        let mut unreached = Vec::new();
        let mut graph = solve::solve(&solve.name, &solve.steps, !task.tools.is_empty(), &enders, &mut unreached);
        graph.fields.clone_from(&solve.fields);
        never.extend(unreached.into_iter().map(|origin| origin.0.unwrap_or(solve.origin)));
        graphs.push(graph);
    }
    (graphs, never)
}

/// The scorer of the steps' expectations: its verdicts come from the solve graph.
fn expectations() -> Scorer {
    Scorer {
        name: EXPECTATIONS.into(),
        scale: Scale::Boolean,
        pass: 1.0,
        over: None,
        evidence: EvidenceRule::None,
        skips: false,
        at: None,
        turns: None,
        completion: false,
        tags: Vec::new(),
        graph: None,
    }
}
