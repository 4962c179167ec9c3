//! Nothing: the suites are in `main.rs`.
