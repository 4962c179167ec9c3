//! Running programs: the driver that performs what the machine asks for and records it, and replay, which performs nothing.
//!
//! ```text
//! rows -> driver: a task per trial -> machine -> Ask -> limiter -> log `ask` -> provider -> log `got` -> machine ...
//!            |                                                                                     |
//!            +-- outcome -> log `close` -> report <---------------- replay: log -> machine --------+
//! ```
//! This is the only crate that knows tokio and reqwest.

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
mod retrace;
mod stop;
pub mod support;
mod survey;

pub use attempts::most_attempts;
pub use driver::{Finished, Planned, Settings, run};
pub use error::{ROWS, RunError};
pub use fault::{Class, Fault};
pub use outcome::report as reported;
pub use progress::Progress;
pub use provider::{Players, Probes, Reply, Secrets, Verdict, wire};
pub use purse::spent_by;
pub use recorded::{Recorded, recorded_trial};
pub use replay::{Divergence, Replayed, linked, replay};
pub use retrace::{Retold, Retraced, retrace};
pub use stop::{Stop, StopReason};
pub use support::missing;
pub use survey::{Survey, survey};
