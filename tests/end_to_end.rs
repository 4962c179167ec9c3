//! The binary from outside: what a person types, what comes back, what lies on the disk after.

mod apps;
mod around;
mod check;
mod check_formats;
mod check_hostile;
mod data;
mod exits;
mod explain;
mod fault_table;
mod faults;
mod fix;
mod fmt;
mod init;
mod interrupts;
mod keys;
mod limits;
mod lints;
mod lock;
mod providers;
mod quickstart;
mod resume;
mod roles;
mod scorers;
mod security;
mod spine;
mod tools;
