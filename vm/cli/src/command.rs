//! The commands, one file each. A command gives its exit code.

mod against;
pub(crate) mod baseline;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod coverage;
pub(crate) mod drive;
pub(crate) mod explain;
mod fix;
pub(crate) mod fmt;
pub(crate) mod from;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod library;
pub(crate) mod lock;
pub(crate) mod noise;
pub(crate) mod plan;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod score;
