//! The standard library: each scorer on conversations whose faults are known, by a judge whose answers are written down; what
//! judges and simulated users are told, as golden files for people to read.

mod cases;
mod library;
mod peers;
mod personas;
mod played;
mod shared;

use std::sync::Arc;

/// The sample of a row, in its first epoch.
fn sample(row: aigo_compiler::Row) -> aigo_machine::Sample {
    aigo_machine::Sample {
        key: row.key,
        epoch: 1,
        graph: row.graph,
        row: row.fields,
        conversation: row.conversation,
        tags: Arc::default(),
        cluster: None,
    }
}
