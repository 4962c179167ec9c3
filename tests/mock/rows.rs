//! The table of faults: what APIs do, one row each, as scripts of the mock.

use std::time::Duration;

use serde_json::json;

use super::fault::{Fault, How};

/// Every request.
const ALL: std::ops::RangeInclusive<u64> = 1..=u64::MAX;

/// What `choices` holds of an answer that is one.
fn choice(content: &str, finish: &str) -> String {
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}]})
        .to_string()
}

fn rate_limited(ms: u64) -> Fault {
    Fault::new(ALL, 429, "rate_limit_exceeded").lasting(ms)
}

/// The bytes of a whole reply's head are some eighty: this many lie in its body.
const IN_THE_BODY: usize = 90;

/// The rows, by name.
pub const ROWS: [&str; 66] = [
    "01-retry-after",
    "02-retry-after-date",
    "03-retry-after-hour",
    "03-retry-after-negative",
    "03-retry-after-garbage",
    "03-retry-after-overflow",
    "04-hint-on-every-refusal",
    "05-quota-by-code",
    "05-quota-by-words",
    "06-herd",
    "07-overloaded-529",
    "08-overloaded-after-200",
    "08-overloaded-in-a-stream",
    "09-500-502-503",
    "09-504-522-524",
    "10-reset-before",
    "10-reset-after-headers",
    "10-cut-in-the-body",
    "11-stall-before",
    "11-stall-in-the-body",
    "11-stall-in-a-stream",
    "12-steady-drip",
    "13-stall-for-ever",
    "14-slow-loris",
    "15-end-before-stop",
    "15-stream-without-a-stop",
    "15-stop-without-done",
    "16-cut-json",
    "16-length-too-long",
    "17-login-page",
    "18-error-in-200",
    "18-choices-null",
    "19-choices-empty",
    "20-filter-400",
    "20-filter-200",
    "20-filter-400-with-text",
    "21-refusal",
    "22-length",
    "22-length-without-text",
    "23-invalid-utf8",
    "24-lone-surrogate",
    "25-length-of-a-tebibyte",
    "25-endless",
    "26-compressed",
    "29-clock-ahead",
    "30-key-expires",
    "31-wrong-key",
    "31-forbidden",
    "32-no-model",
    "32-no-model-404",
    "33-context-length",
    "33-context-length-in-words",
    "34-request-cut-on-its-way",
    "35-ids-twice",
    "36-content-null",
    "36-content-missing",
    "37-no-usage",
    "38-openai-durations",
    "38-anthropic-moments",
    "38-epoch-seconds",
    "38-epoch-milliseconds",
    "38-delta",
    "38-retry-after-ms",
    "39-none-left-on-200",
    "40-billed-and-dropped",
    "40-billed-and-broken",
];

/// The faults of a row; none where there is no such row.
pub fn by_name(name: &str) -> Option<Vec<Fault>> {
    let of_limits = limits(name);
    let found = of_limits
        .or_else(|| transport(name))
        .or_else(|| streams(name))
        .or_else(|| contents(name))
        .or_else(|| refusals(name));
    found.filter(|_| ROWS.contains(&name))
}

fn limits(name: &str) -> Option<Vec<Fault>> {
    let date = |fault: Fault| fault.header("date", "Mon, 30 Nov 2026 12:00:00 GMT");
    Some(vec![match name {
        "01-retry-after" => rate_limited(1000).header("retry-after", "1"),
        "02-retry-after-date" => date(rate_limited(900)).header("retry-after", "Mon, 30 Nov 2026 12:00:01 GMT"),
        "03-retry-after-hour" => rate_limited(60_000).header("retry-after", "3600"),
        "03-retry-after-negative" => rate_limited(300).header("retry-after", "-5"),
        "03-retry-after-garbage" => rate_limited(300).header("retry-after", "abc"),
        "03-retry-after-overflow" => rate_limited(300).header("retry-after", "1e309"),
        "04-hint-on-every-refusal" => rate_limited(1500).header("retry-after", "0.4"),
        "05-quota-by-code" => Fault::new(ALL, 429, "credit_balance_exhausted"),
        "05-quota-by-words" => Fault::new(ALL, 429, "").body(
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":null,"type":null}}"#,
        ),
        "06-herd" => rate_limited(700),
        "38-openai-durations" => rate_limited(500)
            .header("x-ratelimit-remaining-requests", "0")
            .header("x-ratelimit-reset-requests", "0m0s600ms"),
        "38-anthropic-moments" => date(rate_limited(500))
            .header("anthropic-ratelimit-output-tokens-remaining", "0")
            .header("anthropic-ratelimit-output-tokens-reset", "2026-11-30T12:00:00.6Z"),
        "38-epoch-seconds" => date(rate_limited(900)).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "1796040001"),
        "38-epoch-milliseconds" => {
            date(rate_limited(500)).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", "1796040000600")
        }
        "38-delta" => rate_limited(900).header("ratelimit-remaining", "0").header("ratelimit-reset", "1"),
        "38-retry-after-ms" => rate_limited(500).header("retry-after-ms", "600").header("retry-after", "60"),
        "39-none-left-on-200" => Fault::new(1..=1, 200, "")
            .how(How::Answer)
            .header("x-ratelimit-remaining-requests", "0")
            .header("x-ratelimit-reset-requests", "300ms"),
        "29-clock-ahead" => date(Fault::new(ALL, 200, "").how(How::Answer)),
        _ => return None,
    }])
}

fn transport(name: &str) -> Option<Vec<Fault>> {
    let whole = choice("Noted.", "stop");
    let answer = |nth| Fault::reply(nth, whole.as_str());
    let html = |nth: u64, status| {
        Fault::new(nth..=nth, status, "")
            .each()
            .body("<html><body>Bad gateway</body></html>")
            .header("content-type", "text/html")
    };
    Some(match name {
        "07-overloaded-529" => vec![Fault::new(1..=2, 529, "overloaded_error").each()],
        "08-overloaded-after-200" => vec![Fault::new(1..=1, 200, "overloaded_error").each()],
        "09-500-502-503" => vec![html(1, 500), html(2, 502), html(3, 503)],
        "09-504-522-524" => vec![html(1, 504), html(2, 522), html(3, 524)],
        "10-reset-before" => vec![answer(1..=1).each().how(How::Reset(0))],
        "10-reset-after-headers" => vec![answer(1..=1).each().how(How::Reset(40))],
        "10-cut-in-the-body" => vec![answer(1..=1).each().how(How::Cut(IN_THE_BODY))],
        "11-stall-before" => vec![answer(1..=1).each().how(How::Stall(0))],
        "11-stall-in-the-body" => vec![answer(1..=1).each().how(How::Stall(IN_THE_BODY))],
        "12-steady-drip" => vec![answer(ALL).how(How::Drip(8, Duration::from_millis(100)))],
        "13-stall-for-ever" => vec![answer(ALL).how(How::Stall(IN_THE_BODY))],
        "14-slow-loris" => vec![answer(1..=1).each().how(How::Drip(1, Duration::from_millis(200)))],
        "15-end-before-stop" => {
            let cut = whole.get(..whole.len() / 2).unwrap_or_default();
            vec![answer(1..=1).each().body(cut).how(How::UntilClosed)]
        }
        "16-cut-json" => vec![answer(1..=1).each().body(whole.get(..50).unwrap_or_default())],
        "16-length-too-long" => {
            vec![answer(1..=1).each().header("content-length", "5000").how(How::Cut(usize::MAX))]
        }
        "25-length-of-a-tebibyte" => {
            vec![answer(1..=1).each().header("content-length", "1099511627776").how(How::Cut(usize::MAX))]
        }
        "25-endless" => vec![answer(1..=2).body(vec![b' '; 1 << 20]).how(How::Endless)],
        "26-compressed" => {
            let bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xed, 0xc1, 1, 1, 0, 0, 0, 0x80]].concat();
            vec![answer(1..=1).each().body(bomb).header("content-encoding", "gzip")]
        }
        "40-billed-and-dropped" => vec![answer(1..=2).each().how(How::Reset(0))],
        "40-billed-and-broken" => {
            let broken = Fault::new(1..=2, 500, "server_error").each();
            vec![Fault { billed: true, ..broken }]
        }
        _ => return None,
    })
}

/// The beginning of a streamed answer, and what follows it.
fn stream(nth: std::ops::RangeInclusive<u64>, rest: &str) -> Fault {
    let part = |text: &str| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}));
    let body = ["Not", "ed", "."].map(part).concat() + rest;
    Fault::reply(nth, body).header("content-type", "text/event-stream")
}

fn streams(name: &str) -> Option<Vec<Fault>> {
    Some(vec![match name {
        "08-overloaded-in-a-stream" => {
            let error = json!({"error": {"type": "overloaded_error", "message": "Overloaded"}});
            stream(1..=1, &format!("event: error\ndata: {error}\n\n")).each()
        }
        // The head is some eighty bytes, and the first part is behind it.
        "11-stall-in-a-stream" => stream(1..=1, "").each().how(How::Stall(150)),
        "15-stream-without-a-stop" => stream(1..=1, "").each(),
        "15-stop-without-done" => {
            let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            stream(ALL, &format!("data: {stop}\n\n"))
        }
        _ => return None,
    }])
}

fn contents(name: &str) -> Option<Vec<Fault>> {
    let once = |body: &str| vec![Fault::reply(1..=1, body).each()];
    let always = |body: &str| vec![Fault::reply(ALL, body)];
    Some(match name {
        "17-login-page" => {
            let page = "<!doctype html><title>Sign in</title><form></form>";
            vec![Fault::reply(ALL, page).header("content-type", "text/html")]
        }
        "18-error-in-200" => {
            vec![Fault::reply(ALL, r#"{"error":{"code":429,"message":"slow down"}}"#).lasting(400)]
        }
        "18-choices-null" => once(r#"{"choices":null}"#),
        "19-choices-empty" => once(r#"{"choices":[]}"#),
        "20-filter-200" => always(&choice("", "content_filter")),
        "21-refusal" => always(
            r#"{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I can't. Noted."},"finish_reason":"stop"}]}"#,
        ),
        "22-length" => always(&choice("Noted, but", "length")),
        "22-length-without-text" | "36-content-null" => {
            let finish = if name.starts_with("22") { "length" } else { "stop" };
            always(&format!(
                r#"{{"choices":[{{"message":{{"role":"assistant","content":null}},"finish_reason":"{finish}"}}]}}"#
            ))
        }
        "23-invalid-utf8" => {
            let body = choice("Noted. \u{1}", "stop").replace("\\u0001", "\u{1}").into_bytes();
            let body = body.into_iter().map(|byte| if byte == 1 { 0xff } else { byte });
            vec![Fault::reply(ALL, body.collect::<Vec<u8>>())]
        }
        "24-lone-surrogate" => {
            always(r#"{"choices":[{"message":{"content":"Noted. \ud83d"},"finish_reason":"stop"}]}"#)
        }
        "35-ids-twice" => always(
            r#"{"choices":[{"message":{"content":"Noted.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
        ),
        "36-content-missing" => always(r#"{"choices":[{"message":{"role":"assistant"},"finish_reason":"stop"}]}"#),
        "37-no-usage" => always(&choice("Noted.", "stop")),
        _ => return None,
    })
}

fn refusals(name: &str) -> Option<Vec<Fault>> {
    let said = |status, code: &str, message: &str| {
        let body = json!({"error": {"code": code, "message": message, "type": "invalid_request_error"}}).to_string();
        Fault::new(ALL, status, code).body(body)
    };
    Some(vec![match name {
        "20-filter-400" => Fault::new(ALL, 400, "content_filter"),
        "20-filter-400-with-text" => {
            let body = json!({
                "error": {"code": "content_filter", "message": "filtered"},
                "choices": [{"message": {"content": "Noted."}, "finish_reason": "content_filter"}],
            });
            Fault::new(ALL, 400, "").body(body.to_string())
        }
        "30-key-expires" => Fault::new(6..=u64::MAX, 401, "invalid_api_key"),
        "31-wrong-key" => Fault::new(ALL, 401, "invalid_api_key"),
        "31-forbidden" => Fault::new(ALL, 403, ""),
        "32-no-model" => said(400, "model_not_found", "The model does not exist"),
        "32-no-model-404" => said(404, "model_not_found", "The model does not exist"),
        "33-context-length" => said(400, "context_length_exceeded", "too long"),
        "33-context-length-in-words" => said(400, "", "This model's maximum context length is 8192 tokens."),
        "34-request-cut-on-its-way" => {
            let fault = said(400, "", "Could not parse the body: unexpected end of data");
            Fault { nth: 1..=1, ..fault }.each()
        }
        _ => return None,
    }])
}
