//! The errors of servers: what their status, codes and words mean for what is to be done.

use serde_json::Value;

use crate::fault::{Class, Fault};

/// What a server says of an error.
#[derive(Debug, Default)]
struct Told {
    /// Its codes and types, in lower case, each between blanks.
    words: String,
    /// The status that stands in the body.
    status: Option<u16>,
    /// What it says to people.
    message: String,
}

/// The fault of a reply with this status, whose body may be anything.
pub(super) fn of_reply(status: u16, body: &[u8]) -> Fault {
    let told = match serde_json::from_slice::<Value>(body) {
        Ok(body) => told(&body),
        Err(_) => Told { message: String::from_utf8_lossy(body).into_owned(), ..Told::default() },
    };
    fault(status, &told)
}

/// The fault of an error that stands in a reply which began as a good one.
pub(super) fn of_error(error: &Value) -> Fault {
    let told = told(error);
    let fault = fault(told.status.unwrap_or(500), &told);
    // A status that nobody has named is not shown.
    let message = match (told.status, fault.message.strip_prefix("HTTP 500: ")) {
        (None, Some(said)) => said.to_owned(),
        _ => fault.message.clone(),
    };
    // It was taken as a good one once, so it may have been billed as one.
    Fault { message, billed: true, ..fault }
}

/// Gathers what is known of an error, wherever the server has put it.
fn told(body: &Value) -> Told {
    // Gemini's compatible endpoint puts the one error into a list.
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
    let mut told = Told::default();
    if let Some(text) = error.as_str() {
        text.clone_into(&mut told.message);
        return told;
    }
    let inner = [error.get("innererror"), error.get("inner_error")];
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    for place in [Some(error)].into_iter().chain(inner).flatten().chain(details) {
        for key in ["code", "type", "status", "reason"] {
            match place.get(key) {
                Some(Value::String(word)) => {
                    told.words.push(' ');
                    told.words.push_str(&word.to_ascii_lowercase());
                    told.words.push(' ');
                }
                Some(Value::Number(number)) => {
                    let status = number.as_u64().and_then(|status| u16::try_from(status).ok());
                    told.status = told.status.or(status.filter(|status| (400..600).contains(status)));
                }
                _ => {}
            }
        }
    }
    let said = ["message", "detail", "error"].into_iter().find_map(|key| error.get(key));
    told.message = match said {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    };
    told
}

/// Words in codes and types of errors, and what they mean; codes are compared in lower case.
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
const FILTERED: [&str; 6] =
    ["content_filter", "content_policy", "responsibleaipolicy", "data_inspection_failed", "invalid_prompt", "safety"];
const BAD_KEY: [&str; 5] =
    ["invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "unauthenticated"];
const NO_MODEL: [&str; 4] = ["model_not_found", "deploymentnotfound", "deployment_not_found", "invalid_model"];
const TOO_LONG: [&str; 5] =
    ["context_length", "exceed_context", "context_window", "string_above_max_length", "request_too_large"];

/// Sentences of servers that have no codes, in lower case.
const SAID_QUOTA: [&str; 6] = [
    "exceeded your current quota",
    "insufficient balance",
    "insufficient credits",
    "credit balance is too low",
    "requires more credits",
    "out of credits",
];
const SAID_FILTERED: [&str; 3] = ["content filtering policy", "content management policy", "was flagged"];
const SAID_NO_MODEL: [&str; 2] = ["is not a valid model", "model identifier is invalid"];
const SAID_TOO_LONG: [&str; 8] = [
    "maximum context length",
    "context window",
    "context length",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "exceeds the available context",
];
/// A body that was cut off on its way: ours is whole JSON.
const SAID_CUT: [&str; 6] = [
    "unexpected end of",
    "unexpected eof",
    "unterminated string",
    "premature end",
    "not valid json",
    "could not parse the json body",
];

/// Sorts an error by what helps.
fn fault(status: u16, told: &Told) -> Fault {
    let message = told.message.to_ascii_lowercase();
    let coded = |words: &[&str]| words.iter().any(|word| told.words.contains(word));
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    // Gemini calls a rate by the words that others keep for an empty account.
    let is_rate = coded(&["resource_exhausted"]);
    let class = match status {
        _ if coded(&QUOTA) => Class::Quota,
        400 | 403 | 429 if says(&SAID_QUOTA) && !is_rate => Class::Quota,
        _ if coded(&FILTERED) => Class::Request("filtered"),
        400..=499 if says(&SAID_FILTERED) => Class::Request("filtered"),
        _ if coded(&NO_MODEL) => Class::Config,
        400 if says(&SAID_NO_MODEL) => Class::Config,
        _ if coded(&BAD_KEY) => Class::Auth,
        _ if coded(&["overloaded"]) => Class::Overloaded,
        401 | 403 => Class::Auth,
        402 => Class::Quota,
        404 | 405 | 410 | 501 | 300..=399 => Class::Config,
        407 => Class::Unreachable,
        // One request that is larger than what a minute allows is too large in every minute.
        429 if message.starts_with("request too large") => Class::Request("context_length"),
        429 => Class::RateLimit,
        _ if coded(&["rate_limit"]) => Class::RateLimit,
        503 | 529 => Class::Overloaded,
        408 | 409 | 425 | 500..=599 => Class::Transient,
        400 | 422 if says(&SAID_CUT) => Class::Transient,
        413 => Class::Request("context_length"),
        400..=499 if coded(&TOO_LONG) || says(&SAID_TOO_LONG) => Class::Request("context_length"),
        400..=499 => Class::Request("bad_request"),
        _ => Class::Protocol,
    };
    let said = match status {
        300..=399 => "the address redirects, and redirects are not followed; write the final address".to_owned(),
        _ => aigo_ir::text::excerpt(&told.message, 200),
    };
    let message = if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") };
    let fault = Fault::new(class, message);
    // What a server refuses it does not bill. What broke inside it may have been.
    Fault { billed: fault.billed && status >= 500, ..fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(status: u16, code: &str, message: &str) -> Class {
        let body = serde_json::json!({"error": {"code": code, "message": message}});
        of_reply(status, body.to_string().as_bytes()).class
    }

    #[test]
    fn statuses_and_codes_are_told_apart() {
        assert_eq!(class(429, "credit_balance_exhausted", ""), Class::Quota);
        let quota = "You exceeded your current quota, please check your plan";
        assert_eq!((class(429, "", quota), class(429, "RESOURCE_EXHAUSTED", quota)), (Class::Quota, Class::RateLimit));
        assert_eq!(class(429, "rate_limit_exceeded", "Rate limit reached"), Class::RateLimit);
        assert_eq!(
            (class(404, "model_not_found", ""), class(400, "model_not_found", "")),
            (Class::Config, Class::Config)
        );
        let long = "This model's maximum context length is 8192 tokens";
        assert_eq!(class(400, "", long), Class::Request("context_length"));
        assert_eq!(class(429, "tokens", "Request too large for m"), Class::Request("context_length"));
        assert_eq!(class(400, "ResponsibleAIPolicyViolation content_filter", ""), Class::Request("filtered"));
        assert_eq!(class(400, "", "Unexpected end of JSON input"), Class::Transient);
        assert_eq!(
            (class(529, "overloaded_error", ""), class(200, "overloaded_error", "")),
            (Class::Overloaded, Class::Overloaded)
        );
        assert_eq!(
            (class(302, "", ""), class(522, "", ""), class(600, "", "")),
            (Class::Config, Class::Transient, Class::Protocol)
        );
    }

    #[test]
    fn a_body_may_be_anything() {
        let class = |status, body: &str| of_reply(status, body.as_bytes()).class;
        let overflow = r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error"}}"#;
        assert_eq!(class(400, overflow), Class::Request("context_length"));
        assert_eq!(class(502, "<html>bad gateway"), Class::Transient);
        assert_eq!((class(401, "{}"), class(401, "")), (Class::Auth, Class::Auth));
        assert_eq!(class(400, r#""nothing to see""#), Class::Request("bad_request"));
        assert_eq!(class(400, r#"[{"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}]"#), Class::Auth);
        let hidden = serde_json::json!({"code": 429, "message": "slow down"});
        assert_eq!(of_error(&hidden).class, Class::RateLimit);
        assert_eq!(of_error(&serde_json::json!({"type": "server_error"})).class, Class::Transient);
    }

    #[test]
    fn refusals_are_not_billed_and_breakdowns_may_be() {
        let billed = |status| of_reply(status, b"").billed;
        assert_eq!([400, 401, 408, 429, 500, 503].map(billed), [false, false, false, false, true, true]);
    }
}
