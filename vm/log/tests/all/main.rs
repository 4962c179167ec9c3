//! The crate's integration tests, in one binary: each links once.

mod damage;
mod kill;
mod records;
mod sample;
mod sealed;
mod spec;
mod storage;
