//! The step machine: what a program does next, given what it has been told. No clock, no randomness, no files, no network:
//! every value that it reads arrives as an event, so the driver and replay are two callers of the same function.
//!
//! ```text
//! Sample -> Trial -> lanes: step(linked, sample, lane, event) -> (lane, effects)
//!              ^                                                      |
//!              +---- answer(lane, Answer) <---- the caller <---- Ask --+
//! ```

mod ask;
mod lane;
mod linked;
mod outcome;
mod regular;
mod scope;
mod sent;
mod step;
mod trial;
mod used;
mod view;
mod world;

pub use ask::{Answer, Ask, ChatMessage, ChatRole, Position, Request, TASK_ERROR, ToolCall, ToolOffer, Usage};
pub use lane::{Effect, Event, Given, GraphRef, Lane};
pub use linked::{Linked, role_key};
pub use outcome::{Call, Outcome, ScoreRow};
pub use scope::{Sample, Snapshot};
pub use sent::Sent;
pub use step::step;
pub use trial::{LaneId, Pending, Taken, Trial};
pub use used::cost;
