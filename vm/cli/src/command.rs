//! The commands, one file each. A command gives its exit code.

pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod drive;
pub(crate) mod explain;
pub(crate) mod keys;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
