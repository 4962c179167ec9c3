//! Faults of providers, by what to do about them.

use std::time::Duration;

/// A fault of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What to do about it.
    pub(crate) class: Class,
    /// What was seen, for people.
    pub(crate) message: String,
}

/// The classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The key is refused: everything will be.
    Auth,
    /// The money is gone.
    Quota,
    /// The address or the model does not exist.
    Config,
    /// This request will always be refused; the word is recorded as the answer's fault.
    Request(&'static str),
    /// Too many requests: the endpoint rests, for as long as it says.
    RateLimit(Option<Duration>),
    /// It may go well next time.
    Transient,
    /// What came back is no answer.
    Protocol,
}

impl Fault {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }

    /// By the status of a reply, the code in its body and what it says.
    pub(crate) fn of_status(status: u16, code: &str, message: &str, retry_after: Option<Duration>) -> Self {
        let known = |words: &[&str]| words.iter().any(|word| code.contains(word));
        let class = match status {
            _ if known(&["insufficient_quota", "billing", "credit_balance", "payment"]) => Class::Quota,
            _ if known(&["content_filter", "content_policy"]) => Class::Request("filtered"),
            401 | 403 => Class::Auth,
            402 => Class::Quota,
            404 | 405 | 410 => Class::Config,
            429 => Class::RateLimit(retry_after),
            408 | 409 | 425 | 500..=599 => Class::Transient,
            400..=499 if known(&["context_length", "exceed_context"]) => Class::Request("context_length"),
            400..=499 => Class::Request("bad_request"),
            _ => Class::Protocol,
        };
        let said = aigo_ir::text::excerpt(message, 200);
        Self::new(class, if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") })
    }
}
