//! The contract between compiler, machine, log and report.

pub mod check;
pub mod diagnostic;
pub mod engine;
pub mod eval;
pub mod expr;
pub mod expr_parse;
pub mod gate;
pub mod graph;
pub mod key;
pub mod lines;
pub mod message;
pub mod node;
pub mod print;
pub mod program;
pub mod quote;
pub mod read;
mod read_graph;
pub mod reduce;
pub mod schema;
pub mod span;
pub mod template;
pub mod text;
pub mod ty;
pub mod typing;
pub mod value;
pub mod verdict;
pub mod verify;
