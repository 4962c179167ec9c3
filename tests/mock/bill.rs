//! What keys were billed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What a key was billed. Requests without a key are billed to the empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Every request, refused ones included.
    pub requests: u64,
    /// The answers, those that nobody heard included.
    pub answers: u64,
    /// Their prompts.
    pub input_tokens: u64,
    /// The answers' own.
    pub output_tokens: u64,
}

pub(super) fn to_json(bills: &BTreeMap<String, Bill>) -> Value {
    let each = |bill: &Bill| {
        json!({
            "requests": bill.requests,
            "answers": bill.answers,
            "input_tokens": bill.input_tokens,
            "output_tokens": bill.output_tokens,
        })
    };
    Value::Object(bills.iter().map(|(key, bill)| (key.clone(), each(bill))).collect())
}
