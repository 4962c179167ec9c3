//! What the suites and the examples share: the mock of a chat-completions server. The suites themselves are in `main.rs`.

pub mod bot;
pub mod mock;
