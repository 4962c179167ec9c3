//! The task with its expressions read and typed: what lowering takes.

mod scorers;
mod steps;

pub(crate) use scorers::*;
pub(crate) use steps::*;

use std::sync::Arc;

use aigo_ir::gate::Gate;
use aigo_ir::program::{self, Call, Field, Limits, Role, Tool};
use aigo_ir::value::Value;

/// A task without mistakes of names, kinds and types.
pub(crate) struct Task {
    pub(crate) name: Arc<str>,
    pub(crate) seed: u64,
    pub(crate) epochs: u32,
    pub(crate) limits: Limits,
    pub(crate) fields: Vec<Field>,
    pub(crate) roles: Vec<Role>,
    pub(crate) state: Option<Value>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) setup: Vec<Call>,
    pub(crate) teardown: Vec<Call>,
    pub(crate) solves: Vec<Solve>,
    pub(crate) expects: bool,
    /// The personas in scope, where a user is simulated.
    pub(crate) personas: Vec<program::Persona>,
    /// The scorers of checkpoints.
    pub(crate) checkpoints: Vec<program::Scorer>,
    pub(crate) scorers: Vec<Scorer>,
    pub(crate) gates: Vec<Gate>,
}

/// How samples of one kind proceed.
pub(crate) struct Solve {
    /// The name of the graph.
    pub(crate) name: Arc<str>,
    /// The fields of its samples whose types are others than over all samples.
    pub(crate) fields: Vec<Field>,
    pub(crate) steps: Vec<Step>,
    /// Where it is written.
    pub(crate) origin: aigo_ir::span::Span,
}
