//! The crate's integration tests, in one binary: each links once.

mod datasets;
mod documents;
mod hostile;
mod layout;
mod locating;
mod oracle;
mod quick;
mod reading;
mod recovering;
mod transcripts;
