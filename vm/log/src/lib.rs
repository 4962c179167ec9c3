//! The log of a run: what is recorded, how it stands on a line, and what is left of it after a crash.
//!
//! ```text
//! Record --encode--> body --line--> bytes --journal--> log.jsonl   (one writer, group commit)
//!                                                          |
//! Trial  <--read-- spans, blocks <--scan-- line <----------+       (any number of readers)
//!            ^                                             |
//!            +---- sealed <--index-- log.jsonl.zst <-seal--+       (once the run has ended)
//! ```
//!
//! `spec/log.md` defines the format for other implementations. This crate knows bytes, files and durability; what the
//! records mean to a run is the driver's business.

mod blocks;
mod digest;
mod encode;
mod error;
mod folder;
mod index;
mod journal;
mod line;
mod pack;
mod parse;
mod read;
mod record;
mod scan;
mod seal;
mod sealed;
mod spans;
mod storage;

pub use digest::{Digest, SUMMED};
pub use error::{LogError, ROWS};
pub use journal::{Durability, Journal, Recovery, TornTail};
pub use line::{Flaw, MAX_LINE, decode, encode, marked, upto};
pub use read::{Call, Log, State, Trial};
pub use record::{Ask, At, Close, Durable, End, FORMAT, Got, Open, Parent, Record, Resumed, Run, Score, Site, Usage};
pub use seal::{Sealing, seal};
pub use storage::{FileStorage, Storage};
