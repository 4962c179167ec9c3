//! A server that speaks chat completions, for tests: it answers from the request alone, counts what each request body was
//! billed, and has the faults that its script asks for.
//!
//! ```text
//! POST …/chat/completions -> arrival (counted, billed) -> held? -> fault of the script? -> pause -> answer
//! ```
//! Equal bodies get equal answers, and each answer carries the mark of its body, so that a log says which bodies it holds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aigo_ir::key::KeyWriter;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// A fault: which requests get it, and what they get.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Only requests that name this model count and are hit; all where there is none.
    pub model: Option<String>,
    /// Which of them, from 1.
    pub nth: RangeInclusive<u64>,
    /// The status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body, as it is.
    pub body: String,
}

impl Fault {
    /// A fault with an error object that has this code.
    pub fn new(nth: RangeInclusive<u64>, status: u16, code: &str) -> Self {
        let body = json!({"error": {"code": code, "message": format!("the script says {status}"), "type": code}});
        Self { model: None, nth, status, headers: Vec::new(), body: body.to_string() }
    }

    /// Only for requests that name this model.
    #[must_use]
    pub fn of(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// From a script: a list of `{"model": …, "from": 1, "to": 2, "status": 429, "headers": {…}, "body": "…"}`.
    pub fn script(text: &str) -> Result<Vec<Self>, String> {
        let items: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        items.iter().map(Self::from_json).collect()
    }

    fn from_json(item: &Value) -> Result<Self, String> {
        let whole = |key: &str| item.get(key).and_then(Value::as_u64);
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let status = whole("status").and_then(|n| u16::try_from(n).ok()).ok_or("a fault needs a `status`")?;
        let from = whole("from").unwrap_or(1);
        let mut fault = Self::new(from..=whole("to").unwrap_or(from), status, text("code").unwrap_or_default());
        fault.model = text("model").map(str::to_owned);
        if let Some(body) = text("body") {
            body.clone_into(&mut fault.body);
        }
        for (name, value) in item.get("headers").and_then(Value::as_object).into_iter().flatten() {
            fault.headers.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
        }
        Ok(fault)
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The mark of its body.
    pub mark: String,
    /// The model that it names.
    pub model: String,
    /// When.
    pub at: Instant,
}

#[derive(Default)]
struct Seen {
    arrivals: Vec<Arrival>,
    by_model: BTreeMap<String, u64>,
    billed: BTreeMap<String, u64>,
    faults: Vec<Fault>,
    /// Requests after so many arrivals get no answer until this is lifted.
    held_after: Option<usize>,
}

struct Shared {
    seen: Mutex<Seen>,
    arrived: Condvar,
    lifted: tokio::sync::Notify,
    pause: Duration,
}

/// A running server. It stops when it is dropped.
pub struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
    _runtime: tokio::runtime::Runtime,
}

impl Mock {
    /// Starts on a port of this machine; 0 takes any that is free. Every answer waits for `pause`, as a model would.
    pub fn start(port: u16, pause: Duration) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            arrived: Condvar::new(),
            lifted: tokio::sync::Notify::new(),
            pause,
        });
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", port)))?;
        let address = listener.local_addr()?;
        let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self { address, shared, _runtime: runtime })
    }

    /// What a task names as `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sets the script, and counts requests anew.
    pub fn script(&self, faults: Vec<Fault>) {
        let mut seen = self.shared.seen();
        seen.faults = faults;
        seen.by_model.clear();
    }

    /// Lets so many more requests be answered, and none after them.
    pub fn hold_after(&self, more: usize) {
        let mut seen = self.shared.seen();
        seen.held_after = Some(seen.arrivals.len() + more);
    }

    /// Answers whatever is held, and everything after it.
    pub fn lift(&self) {
        self.shared.seen().held_after = None;
        self.shared.lifted.notify_waiters();
    }

    /// Waits until the server holds a request. Gives false where none came within the time.
    pub fn wait_until_held(&self, longest: Duration) -> bool {
        let waiting = |seen: &mut Seen| seen.held_after.is_none_or(|most| seen.arrivals.len() <= most);
        let waited = self.shared.arrived.wait_timeout_while(self.shared.seen(), longest, waiting);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Every request so far, in the order of arrival.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.shared.seen().arrivals.clone()
    }

    /// How often each body was billed, by its mark. Faults cost nothing; an answer that nobody heard does.
    pub fn billed(&self) -> BTreeMap<String, u64> {
        self.shared.seen().billed.clone()
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request. Gives its fault, if it has one, and whether it is held.
    fn arrive(&self, mark: &str, model: &str) -> (Option<Fault>, bool) {
        let mut seen = self.seen();
        seen.arrivals.push(Arrival { mark: mark.to_owned(), model: model.to_owned(), at: Instant::now() });
        let of_model = {
            let count = seen.by_model.entry(model.to_owned()).or_default();
            *count += 1;
            *count
        };
        let all = seen.by_model.values().sum();
        let hit = |fault: &&Fault| match &fault.model {
            Some(wanted) => wanted == model && fault.nth.contains(&of_model),
            None => fault.nth.contains(&all),
        };
        let fault = seen.faults.iter().find(hit).cloned();
        if fault.is_none() {
            *seen.billed.entry(mark.to_owned()).or_default() += 1;
        }
        let held = seen.held_after.is_some_and(|most| seen.arrivals.len() > most);
        self.arrived.notify_all();
        (fault, held)
    }
}

/// A short hash of a body. It stands in the answer.
fn mark_of(body: &str) -> String {
    format!("#{}", KeyWriter::new("mock").str(body).finish().hex(6))
}

async fn answer(State(shared): State<Arc<Shared>>, body: String) -> Response {
    let mark = mark_of(&body);
    let request: Value = serde_json::from_str(&body).unwrap_or_default();
    let model = request.get("model").and_then(Value::as_str).unwrap_or_default();
    // Registered before the request is counted, so that a lift in between is not missed.
    let lifted = shared.lifted.notified();
    let (fault, held) = shared.arrive(&mark, model);
    if held {
        lifted.await;
    }
    if let Some(fault) = fault {
        return fault_of(&fault);
    }
    tokio::time::sleep(shared.pause).await;
    let content = content(&request, &mark);
    let length = |text: &str| text.len() / 4;
    let reply = json!({
        "id": mark, "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": length(&body), "completion_tokens": length(&content)},
    });
    ([("content-type", "application/json")], reply.to_string()).into_response()
}

fn fault_of(fault: &Fault) -> Response {
    let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, fault.body.clone()).into_response();
    for (name, value) in &fault.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// What the model says: a user's turn or a verdict where one is asked for, else a sentence.
fn content(request: &Value, mark: &str) -> String {
    let format = request.pointer("/response_format/json_schema");
    match format.and_then(|format| format.get("name")).and_then(Value::as_str) {
        Some("user_turn") => {
            let said = request.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
            let status = if said >= 7 { "done" } else { "going" };
            json!({"message": format!("Go on, please {mark}"), "status": status}).to_string()
        }
        Some("verdict") => {
            let score = format.and_then(|format| format.pointer("/schema/properties/score"));
            let best = score.and_then(|score| score.get("enum")).and_then(Value::as_array).and_then(|all| all.last());
            let best = best.cloned().unwrap_or(Value::Bool(true));
            json!({"evidence": [], "reason": format!("fine {mark}"), "score": best}).to_string()
        }
        _ => {
            let mut said = String::from("Noted.");
            let _ = write!(said, " {mark}");
            said
        }
    }
}
