//! A program for `aigo score`: the conversations of one program, which stay as they are, with the scorers of another.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::graph::Graph;
use aigo_ir::node::Node;
use aigo_ir::program::{Field, Limits, Program, Role, Scorer, ToolAnswer};
use aigo_machine::role_key;

use crate::error::{NO_GRAFT, RunError};

/// A program that was put together.
pub struct Grafted {
    /// The program.
    pub program: Program,
    /// The gates of the task that are left out: they are over scorers of the conversation that these do not have.
    pub without: Vec<String>,
}

/// The roles that scorers ask.
pub fn asked_by_scorers(program: &Program) -> BTreeSet<Arc<str>> {
    asked(program.scorers.iter().filter_map(|scorer| scorer.graph.as_ref()))
}

fn asked<'g>(graphs: impl Iterator<Item = &'g Graph>) -> BTreeSet<Arc<str>> {
    let mut roles = BTreeSet::new();
    for graph in graphs {
        roles.extend(graph.nodes().filter_map(|(_, placed)| match &placed.node {
            Node::Generate { role, .. } => Some(Arc::clone(role)),
            _ => None,
        }));
    }
    roles
}

/// The roles that conversations ask, those that answer tools among them.
fn asked_by_conversations(program: &Program) -> BTreeSet<Arc<str>> {
    let mut roles = asked(program.solves.iter());
    roles.extend(program.tools.iter().filter_map(|tool| match &tool.answer {
        ToolAnswer::Role(role) => Some(Arc::clone(role)),
        ToolAnswer::Rules(_) => None,
    }));
    roles
}

/// Puts the scorers, gates and limits of `task` on the conversations of `own`, the program of a log.
pub fn graft(own: &Program, task: &Program) -> Result<Grafted, RunError> {
    let scorers = scorers(own, task)?;
    let names: BTreeSet<&Arc<str>> = scorers.iter().map(|scorer| &scorer.name).collect();
    let (gates, without): (Vec<_>, Vec<_>) = task.gates.iter().cloned().partition(|gate| names.contains(&gate.scorer));
    let mut library = own.library.clone();
    library.extend(task.library.iter().filter(|part| !own.library.contains(part)).cloned());
    let program = Program {
        name: Arc::clone(&task.name),
        roles: roles(own, task)?,
        fields: fields(own, task),
        // A limit of a sample has ended its conversation, or has not.
        limits: Limits { sample: own.limits.sample.clone(), ..task.limits.clone() },
        gates,
        library,
        scorers,
        ..own.clone()
    };
    Ok(Grafted { program, without: without.iter().map(aigo_ir::gate::Gate::text).collect() })
}

/// Scores that conversations give themselves, expectations and checkpoints, are the log's; all others are the task's.
fn scorers(own: &Program, task: &Program) -> Result<Vec<Scorer>, RunError> {
    let of_conversations = || own.scorers.iter().filter(|scorer| scorer.graph.is_none());
    let mut scorers: Vec<Scorer> = of_conversations().cloned().collect();
    for scorer in task.scorers.iter().filter(|scorer| scorer.graph.is_some()) {
        if of_conversations().any(|own| own.name == scorer.name) {
            let message = format!(
                "the scorer `{}` has the name of a score that the recorded conversations give themselves",
                scorer.name
            );
            return Err(RunError::told(NO_GRAFT.nowhere(message).help("give it a name of its own")));
        }
        scorers.push(scorer.clone());
    }
    let place = |scorer: &Scorer| task.scorers.iter().position(|known| known.name == scorer.name).unwrap_or(usize::MAX);
    scorers.sort_by_key(place);
    Ok(scorers)
}

/// Who talks is the log's, who is asked by scorers the task's.
fn roles(own: &Program, task: &Program) -> Result<Vec<Role>, RunError> {
    let (talk, score) = (asked_by_conversations(own), asked_by_scorers(task));
    let mut roles = own.roles.clone();
    for name in &score {
        let Some(of_task) = task.role(name) else { continue };
        match roles.iter_mut().find(|role| role.name == *name) {
            None => roles.push(of_task.clone()),
            Some(of_log) if !talk.contains(name) || role_key(of_log, own) == role_key(of_task, own) => {
                *of_log = of_task.clone();
            }
            Some(_) => {
                let message = format!(
                    "the role `{name}` is asked by scorers and in the recorded conversations, and another player has it now"
                );
                let help = "give the scorers a role of their own, or use `aigo run --from`";
                return Err(RunError::told(NO_GRAFT.nowhere(message).help(help)));
            }
        }
    }
    roles.retain(|role| talk.contains(&role.name) || score.contains(&role.name));
    Ok(roles)
}

fn fields(own: &Program, task: &Program) -> Vec<Field> {
    let mut fields = own.fields.clone();
    for field in &task.fields {
        match fields.iter_mut().find(|known| known.name == field.name) {
            Some(known) => known.ty = known.ty.join(&field.ty),
            None => fields.push(field.clone()),
        }
    }
    fields
}
