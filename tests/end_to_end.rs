//! The binary from outside: what a person types, what comes back, what lies on the disk after.

mod data;
mod exits;
mod faults;
mod quickstart;
mod resume;
mod roles;
mod scorers;
mod spine;
