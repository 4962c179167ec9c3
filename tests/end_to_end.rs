//! The binary from outside: what a person types, what comes back, what lies on the disk after.

mod exits;
mod faults;
mod quickstart;
mod resume;
mod scorers;
mod spine;
