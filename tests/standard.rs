//! The standard library: each scorer on conversations whose faults are known, by a judge whose answers are written down; what
//! judges and simulated users are told, as golden files for people to read.

mod cases;
mod library;
mod peers;
mod personas;
mod played;
mod shared;
