//! Numbers on the command line.

/// A number of things, of which there is one at least.
pub(super) fn from_one(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "a whole number from 1 on was expected".to_owned())
}
