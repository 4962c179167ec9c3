//! Faults: which requests get them, and what they get.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A fault: which requests get it, and what they get.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Only requests that name this model count and are hit; all where there is none.
    pub model: Option<String>,
    /// Which of them, from 1.
    pub nth: RangeInclusive<u64>,
    /// Whether they are counted together or for each body.
    pub per: Per,
    /// Only so long after the first request that it could hit.
    pub lasts: Option<Duration>,
    /// The status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body, as it is.
    pub body: Vec<u8>,
    /// How it is sent.
    pub how: How,
    /// Whether the request is billed all the same.
    pub billed: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// All requests, or those of the model.
    All,
    /// Requests with the same body: the attempts of one call.
    Body,
}

/// How a reply is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Whole.
    Whole,
    /// No fault at all: the usual answer, with the fault's headers.
    Answer,
    /// So many of its bytes, and the connection is closed.
    Cut(usize),
    /// So many of its bytes, and the connection is reset.
    Reset(usize),
    /// So many of its bytes, and then nothing more.
    Stall(usize),
    /// So many bytes at once, and a pause after each.
    Drip(usize, Duration),
    /// Without a length: the end of the connection is the end of the body.
    UntilClosed,
    /// The body again and again, without an end.
    Endless,
}

impl Fault {
    /// A fault with an error object that has this code.
    pub fn new(nth: RangeInclusive<u64>, status: u16, code: &str) -> Self {
        let body = json!({"error": {"code": code, "message": format!("the script says {status}"), "type": code}});
        Self {
            model: None,
            nth,
            per: Per::All,
            lasts: None,
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
            how: How::Whole,
            billed: false,
        }
    }

    /// A reply with status 200 and this body.
    pub fn reply(nth: RangeInclusive<u64>, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), billed: true, ..Self::new(nth, 200, "") }
    }

    /// Only for requests that name this model.
    #[must_use]
    pub fn of(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Counted for each body.
    #[must_use]
    pub fn each(mut self) -> Self {
        self.per = Per::Body;
        self
    }

    /// For so many milliseconds from the first request on.
    #[must_use]
    pub fn lasting(mut self, ms: u64) -> Self {
        self.lasts = Some(Duration::from_millis(ms));
        self
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sent like this. What breaks on its way may have been billed.
    #[must_use]
    pub fn how(mut self, how: How) -> Self {
        self.billed = true;
        self.how = how;
        self
    }

    /// From a script: a list of `{"model": …, "from": 1, "to": 2, "status": 429, "headers": {…}, "body": "…", "per": "body",
    /// "lasts_ms": 500, "cut": 10}`; in place of `cut`, `reset` and `stall` take a number of bytes too.
    pub fn script(text: &str) -> Result<Vec<Self>, String> {
        let items: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        items.iter().map(Self::from_json).collect()
    }

    fn from_json(item: &Value) -> Result<Self, String> {
        const KEYS: [&str; 12] =
            ["model", "from", "to", "status", "headers", "body", "code", "per", "lasts_ms", "cut", "reset", "stall"];
        let fields = item.as_object().ok_or("a fault is a map")?;
        if let Some(unknown) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("a fault has no `{unknown}`; it has {}", KEYS.join(", ")));
        }
        let whole = |key: &str| item.get(key).and_then(Value::as_u64);
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let status = whole("status").and_then(|n| u16::try_from(n).ok()).ok_or("a fault needs a `status`")?;
        let from = whole("from").unwrap_or(1);
        let mut fault = Self::new(from..=whole("to").unwrap_or(from), status, text("code").unwrap_or_default());
        fault.model = text("model").map(str::to_owned);
        fault.lasts = whole("lasts_ms").map(Duration::from_millis);
        if text("per") == Some("body") {
            fault.per = Per::Body;
        }
        if let Some(body) = text("body") {
            fault.body = body.as_bytes().to_vec();
        }
        let bytes = |key: &str| whole(key).and_then(|n| usize::try_from(n).ok());
        let broken = [bytes("cut").map(How::Cut), bytes("reset").map(How::Reset), bytes("stall").map(How::Stall)];
        if let Some(how) = broken.into_iter().flatten().next() {
            fault = fault.how(how);
        }
        for (name, value) in item.get("headers").and_then(Value::as_object).into_iter().flatten() {
            fault.headers.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
        }
        Ok(fault)
    }
}

/// How many requests came in, as faults count them.
#[derive(Default)]
pub(super) struct Counts {
    all: u64,
    by_model: BTreeMap<String, u64>,
    by_mark: BTreeMap<String, u64>,
    began: Option<Instant>,
}

impl Counts {
    /// Counts a request, and gives its fault.
    pub(super) fn hit(&mut self, faults: &[Fault], model: &str, mark: &str) -> Option<Fault> {
        if faults.is_empty() {
            return None;
        }
        let one_more = |counts: &mut BTreeMap<String, u64>, key: &str| {
            let count = counts.entry(key.to_owned()).or_default();
            *count += 1;
            *count
        };
        self.all += 1;
        let (of_model, of_mark) = (one_more(&mut self.by_model, model), one_more(&mut self.by_mark, mark));
        let began = *self.began.get_or_insert_with(Instant::now);
        let hit = |fault: &&Fault| {
            let counted = match (fault.per, &fault.model) {
                (Per::Body, _) => of_mark,
                (Per::All, Some(_)) => of_model,
                (Per::All, None) => self.all,
            };
            fault.model.as_ref().is_none_or(|wanted| wanted == model)
                && fault.nth.contains(&counted)
                && fault.lasts.is_none_or(|lasts| began.elapsed() < lasts)
        };
        faults.iter().find(hit).cloned()
    }
}
