//! Running programs: the driver that performs what the machine asks for and records it, and replay, which performs nothing.
//!
//! ```text
//! rows -> driver: a task per trial -> machine -> Ask -> limiter -> log `ask` -> provider -> log `got` -> machine ...
//!            |                                                                                     |
//!            +-- outcome -> log `close` -> report <---------------- replay: log -> machine --------+
//! ```
//! This is the only crate that knows tokio and reqwest.

mod again;
mod against;
mod attempts;
mod coverage;
mod difference;
mod divergence;
mod driver;
pub mod error;
mod fault;
mod fold;
mod foreseen;
mod graft;
mod limiter;
mod outcome;
mod preview;
mod progress;
mod provider;
mod purse;
mod rates;
mod recorded;
mod replay;
mod retrace;
mod reuse;
mod sheet;
mod sites;
mod stop;
pub mod support;
mod survey;

pub use again::{begins_again, counted, superseded};
pub use against::{Against, replay_against};
pub use attempts::most_attempts;
pub use coverage::coverage;
pub use difference::Difference;
pub use divergence::{Cause, Divergence, engines};
pub use driver::{Finished, Planned, Settings, run};
pub use error::{ROWS, RunError};
pub use fault::{Class, Fault};
pub use fold::{Depth, Folded, fold};
pub use foreseen::{ByRole, Foreseen, Reason, Reasoned};
pub use graft::{Grafted, asked_by_scorers, graft};
pub use outcome::report as reported;
pub use preview::{Miss, Preview};
pub use progress::Progress;
pub use provider::{Players, Probes, Reply, Secrets, Verdict, end_programs, wire};
pub use purse::spent_by;
pub use recorded::{Recorded, recorded_trial};
pub use replay::{Replayed, Schedule, baseline, linked, replay, replay_in};
pub use retrace::{Retold, Retraced, retrace};
pub use reuse::{Bar, Parent, Reusable, Rule, Rules, rule};
pub use sheet::{draws, retold, sheet};
pub use sites::sites;
pub use stop::{Stop, StopReason};
pub use support::missing;
pub use survey::{Survey, survey};
