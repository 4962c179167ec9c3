//! The task with its expressions read and typed: what lowering takes.

mod scorers;
mod steps;

pub(crate) use scorers::*;
pub(crate) use steps::*;

use std::sync::Arc;

use aigo_ir::gate::Gate;
use aigo_ir::program::{Call, Field, Limits, Role};

/// A task without mistakes of names, kinds and types.
pub(crate) struct Task {
    pub(crate) name: Arc<str>,
    pub(crate) seed: u64,
    pub(crate) epochs: u32,
    pub(crate) limits: Limits,
    pub(crate) fields: Vec<Field>,
    pub(crate) roles: Vec<Role>,
    pub(crate) setup: Vec<Call>,
    pub(crate) teardown: Vec<Call>,
    pub(crate) steps: Vec<Step>,
    pub(crate) expects: bool,
    pub(crate) scorers: Vec<Scorer>,
    pub(crate) gates: Vec<Gate>,
}
