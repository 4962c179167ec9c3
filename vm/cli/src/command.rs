//! The commands, one file each. A command gives its exit code.

pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod drive;
pub(crate) mod explain;
mod fix;
pub(crate) mod fmt;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod lock;
pub(crate) mod plan;
mod probe;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
