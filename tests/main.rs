//! One test binary: data in, data out, through the front door. Each module is a suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "generated numbers and counts of tests are small"
)]

mod broken;
mod end_to_end;
mod expressions;
mod golden;
mod harness;
mod invariants;
mod keys;
mod lock;
mod manual;
mod picture;
mod plan;
mod properties;
mod recipes;
mod served;
mod shipped;
mod standard;
mod tidy;
mod wire;
