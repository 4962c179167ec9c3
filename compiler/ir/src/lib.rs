//! The contract between compiler, machine, log and report.

pub mod diagnostic;
pub mod key;
pub mod span;
pub mod text;
pub mod value;
