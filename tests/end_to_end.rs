//! The binary from outside: what a person types, what comes back, what lies on the disk after.

mod check;
mod check_formats;
mod check_hostile;
mod data;
mod exits;
mod explain;
mod faults;
mod quickstart;
mod resume;
mod roles;
mod scorers;
mod spine;
mod tools;
