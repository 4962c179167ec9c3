//! Faults of attempts, by what to do about them.

use std::error::Error;

use crate::rates::Rates;

/// A fault of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What to do about it.
    pub(crate) class: Class,
    /// What was seen, for people.
    pub(crate) message: String,
    /// Whether the attempt may have been billed all the same: it was sent, and nobody refused it.
    pub(crate) billed: bool,
    /// What the endpoint said about its limits with it.
    pub(crate) rates: Rates,
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
    /// The endpoint cannot be reached, and it will most likely stay so: its name, its certificate, a proxy.
    Unreachable,
    /// This request will always be refused; the word is recorded as the answer's fault.
    Request(&'static str),
    /// Too many requests: the endpoint rests, for as long as it says.
    RateLimit,
    /// The endpoint has too much to do: as transient, and fewer calls are made side by side.
    Overloaded,
    /// It may go well next time.
    Transient,
    /// What came back is no answer.
    Protocol,
}

/// Words in codes and types of errors, and what they mean. Codes are compared in lower case.
const QUOTA: [&str; 9] = [
    "insufficient_quota",
    "quota_exceeded",
    "billing",
    "credit_balance",
    "payment",
    "insufficient_balance",
    "insufficient_credit",
    "insufficient_funds",
    "out_of_credits",
];
const FILTERED: [&str; 4] = ["content_filter", "content_policy", "responsibleaipolicy", "safety"];
const TOO_LONG: [&str; 4] = ["context_length", "exceed_context", "context_window", "string_above_max_length"];
const NO_MODEL: [&str; 2] = ["model_not_found", "deployment_not_found"];
const BAD_KEY: [&str; 3] = ["invalid_api_key", "authentication_error", "permission_error"];

/// Sentences of servers that have no codes.
const SAID_QUOTA: [&str; 5] = [
    "exceeded your current quota",
    "insufficient balance",
    "insufficient credits",
    "credit balance is too low",
    "requires more credits",
];
const SAID_TOO_LONG: [&str; 5] =
    ["maximum context length", "context window", "prompt is too long", "too many tokens", "exceeds the context"];
/// A body that was cut off on its way: ours is whole.
const SAID_CUT: [&str; 4] = ["unexpected end of", "unexpected eof", "unterminated string", "premature end"];

impl Fault {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        let billed = matches!(class, Class::Transient | Class::Overloaded | Class::Protocol);
        Self { class, message: message.into(), billed, rates: Rates::default() }
    }

    /// With what the endpoint said about its limits.
    #[must_use]
    pub(crate) fn with(mut self, rates: Rates) -> Self {
        self.rates = rates;
        self
    }

    /// By the status of a reply, the code in its body and what it says.
    pub(crate) fn of_status(status: u16, code: &str, message: &str, rates: Rates) -> Self {
        let (code, told) = (code.to_ascii_lowercase(), message.to_ascii_lowercase());
        let known = |words: &[&str]| words.iter().any(|word| code.contains(word));
        let said = |words: &[&str]| words.iter().any(|word| told.contains(word));
        let class = match status {
            _ if known(&QUOTA) => Class::Quota,
            _ if known(&FILTERED) => Class::Request("filtered"),
            _ if known(&NO_MODEL) => Class::Config,
            _ if known(&BAD_KEY) => Class::Auth,
            _ if code.contains("overloaded") => Class::Overloaded,
            402 => Class::Quota,
            400 | 403 | 429 if said(&SAID_QUOTA) => Class::Quota,
            401 | 403 => Class::Auth,
            404 | 405 | 410 => Class::Config,
            407 => Class::Unreachable,
            429 => Class::RateLimit,
            503 | 529 => Class::Overloaded,
            408 | 409 | 425 | 500..=599 => Class::Transient,
            400..=499 if known(&TOO_LONG) || said(&SAID_TOO_LONG) => Class::Request("context_length"),
            413 => Class::Request("context_length"),
            400 | 422 if said(&SAID_CUT) => Class::Transient,
            400..=499 => Class::Request("bad_request"),
            300..=399 => Class::Config,
            _ => Class::Protocol,
        };
        let said = aigo_ir::text::excerpt(message, 200);
        let message = if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") };
        let fault = Self::new(class, message).with(rates);
        // What a server refuses it does not bill. What broke inside it may have been.
        Self { billed: fault.billed && status >= 500, ..fault }
    }

    /// Of an attempt that brought no status. `connecting` says that nothing was sent.
    pub(crate) fn of_connection(error: &(dyn Error + 'static), connecting: bool) -> Self {
        let mut message = error.to_string();
        let mut unreachable = false;
        let mut source = error.source();
        while let Some(cause) = source {
            let said = cause.to_string();
            // What the platform says of names and certificates has no code that lasts through the layers.
            unreachable |= connecting && is_lasting(&said);
            if !message.ends_with(&said) {
                message = format!("{message}: {said}");
            }
            source = cause.source();
        }
        let class = if unreachable { Class::Unreachable } else { Class::Transient };
        let fault = Self::new(class, aigo_ir::text::excerpt(&message, 300));
        Self { billed: !connecting, ..fault }
    }
}

/// Whether a cause of a failed connection will be there again: a name that does not exist, a certificate that is refused, a
/// proxy that wants to know who asks.
fn is_lasting(cause: &str) -> bool {
    let cause = cause.to_ascii_lowercase();
    let again = ["try again", "temporary"].iter().any(|word| cause.contains(word));
    let lasting = [
        "name or service not known",
        "no such host",
        "nodename nor servname",
        "certificate",
        "invalid peer",
        "unknownissuer",
        "corrupt message",
        "proxy authentication",
        "unsuccessful tunnel",
    ];
    !again && lasting.iter().any(|word| cause.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_codes_are_told_apart() {
        let class = |status, code: &str, message: &str| Fault::of_status(status, code, message, Rates::default()).class;
        assert_eq!(class(429, "credit_balance_exhausted", ""), Class::Quota);
        assert_eq!(class(429, "", "You exceeded your current quota, please check your plan"), Class::Quota);
        assert_eq!(class(429, "rate_limit_exceeded", "Rate limit reached"), Class::RateLimit);
        assert_eq!(class(404, "model_not_found", ""), Class::Config);
        assert_eq!(class(400, "model_not_found", ""), Class::Config);
        assert_eq!(
            class(400, "", "This model's maximum context length is 8192 tokens"),
            Class::Request("context_length")
        );
        assert_eq!(class(400, "ResponsibleAIPolicyViolation content_filter", ""), Class::Request("filtered"));
        assert_eq!(class(400, "", "Unexpected end of JSON input"), Class::Transient);
        assert_eq!(class(529, "overloaded_error", ""), Class::Overloaded);
        assert_eq!(class(200, "overloaded_error", ""), Class::Overloaded);
        assert_eq!(class(302, "", ""), Class::Config);
        assert_eq!(class(522, "", ""), Class::Transient);
    }

    #[test]
    fn refusals_are_not_billed_and_breakdowns_may_be() {
        let billed = |status| Fault::of_status(status, "", "", Rates::default()).billed;
        assert_eq!([400, 401, 408, 429, 500, 503].map(billed), [false, false, false, false, true, true]);
    }
}
