//! Running programs: the driver that performs what the machine asks for and records it, and replay, which performs nothing.
//!
//! ```text
//! rows -> driver: a task per trial -> machine -> Ask -> limiter -> log `ask` -> provider -> log `got` -> machine ...
//!            |                                                                                     |
//!            +-- outcome -> log `close` -> report <---------------- replay: log -> machine --------+
//! ```
//! This is the only crate that knows tokio and reqwest.

mod again;
mod attempts;
mod driver;
pub mod error;
mod fault;
mod limiter;
mod outcome;
mod progress;
mod provider;
mod purse;
mod rates;
mod recorded;
mod replay;
mod stop;
pub mod support;

pub use again::{begins_again, superseded};
pub use attempts::most_attempts;
pub use driver::{Finished, Planned, Settings, run};
pub use error::{ROWS, RunError};
pub use fault::{Class, Fault};
pub use progress::Progress;
pub use provider::{Players, Probes, Reply, Secrets, Verdict, wire};
pub use purse::spent_by;
pub use recorded::{Recorded, recorded_trial};
pub use replay::{Divergence, Replayed, replay};
pub use stop::{Stop, StopReason};
pub use support::missing;
