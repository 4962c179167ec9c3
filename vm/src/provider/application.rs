//! Applications behind HTTP: a request with its templates filled in, one attempt, and what its reply means. The same asks
//! tools, and makes the calls before and after a sample.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aigo_ir::program::{HttpCall, HttpMethod, Session};
use aigo_ir::value::Value;
use aigo_machine::{Answer, Linked, Request, Sent, TASK_ERROR};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, Url};
use tokio::time::{Instant, timeout, timeout_at};

use super::client::{self, FIRST, IDLE, MOST_OF_ERROR};
use super::events::Events;
use super::reading::{Gathered, Places};
use super::secrets::Redactor;
use super::talk::{InSession, Talk};
use super::wire::{MOST_BYTES, too_long};
use super::{Header, Reply};
use crate::fault::{Class, Fault};
use crate::rates::Rates;

/// What an application is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To say something.
    Talk,
    /// The result of a tool.
    Tool,
    /// To do something before or after a sample.
    Around,
}

/// The longest that a call before or after a sample takes, unless the task says.
const AROUND: Duration = Duration::from_mins(1);

/// An application.
pub(crate) struct Application {
    pub(super) http: reqwest::Client,
    pub(super) call: HttpCall,
    pub(super) places: Places,
    pub(super) session: Session,
    pub(super) streams: bool,
    pub(super) purpose: Purpose,
    /// Whether a request that may have arrived can be sent again.
    pub(super) repeats: bool,
    /// The headers that hold secrets, marked as such. They go where the task says and nowhere else.
    pub(super) secret_headers: HeaderMap,
    pub(super) secrets: Redactor,
}

/// The secrets among headers, as they are sent. An error names the header that cannot be.
pub(super) fn secret_headers(headers: &[Header]) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for header in headers.iter().filter(|header| header.secret.is_some()) {
        let (name, mut value) = pair(&header.name, &header.value)?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

fn pair(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let found = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
    found.ok_or_else(|| format!("the header `{name}` has characters that a header cannot carry"))
}

impl Application {
    /// One attempt.
    pub(super) async fn ask(&self, linked: &Linked, request: &Request, talk: &Talk) -> Result<Reply, Fault> {
        let longest = self.call.timeout_ms.map(Duration::from_millis);
        let usual = if self.purpose == Purpose::Around { AROUND } else { FIRST };
        // A stream has no total unless the task sets one.
        let total = longest.or((!self.streams).then_some(usual));
        let asking = self.exchange(linked, request, talk);
        let mut outcome = match total {
            None => asking.await,
            Some(total) => timeout(total, asking).await.unwrap_or_else(|_| {
                Err(Fault::failed("timeout", format!("no answer within {} s", total.as_secs_f64()), false))
            }),
        };
        if let Ok(reply) = &mut outcome
            && let Some(session) = &reply.answer.session
        {
            talk.keep(&request.role, session);
        }
        self.secrets.clean(&mut outcome);
        outcome
    }

    async fn exchange(&self, linked: &Linked, request: &Request, talk: &Talk) -> Result<Reply, Fault> {
        let session = talk.session(&request.role, &self.session);
        let is_first = session.is_empty();
        let (url, headers, body) = self.filled(linked, request, session).map_err(of_task)?;
        let mut builder = self.http.request(method(self.call.method), url).headers(headers);
        if let Some(body) = body {
            builder = builder.body(body);
        }
        let response = timeout(FIRST, builder.send()).await.map_err(|_| self.of_connection(client::silent(FIRST)))?;
        let response = response.map_err(|error| {
            if error.is_builder() {
                // An address that no request can have, such as one of 64 KiB.
                return of_task(format!(
                    "the request cannot be sent: {}",
                    aigo_ir::text::excerpt(&error.without_url().to_string(), 120)
                ));
            }
            self.of_connection(client::connection(&error))
        })?;
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING).filter(|value| *value != "identity") {
            let encoding = aigo_ir::text::excerpt(encoding.to_str().unwrap_or("?"), 20);
            let message = format!("a reply that is compressed ({encoding}), which was not asked for");
            return Err(Fault::failed("bad_reply", message, false));
        }
        let status = response.status().as_u16();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let rates = Rates::read(headers, SystemTime::now());
        let answered = if (200..300).contains(&status) {
            match parts(&response, self.streams) {
                Parts::Whole => self.whole(response, is_first).await,
                kind => self.streamed(response, kind == Parts::Lines, is_first).await,
            }
        } else {
            self.refused(status, response).await
        };
        match answered {
            Ok((answer, lossy)) => Ok(Reply { answer, model: None, lossy, rates }),
            Err(fault) => Err(fault.with(rates)),
        }
    }

    /// The request, filled in; it leads to where the task says, or there is none. The message of a failure stands alone.
    fn filled(
        &self,
        linked: &Linked,
        request: &Request,
        session: Arc<str>,
    ) -> Result<(Url, HeaderMap, Option<String>), String> {
        let Some(names) = request.scope.clone() else { return Err("a request without its names".to_owned()) };
        let sent = Sent::of(&linked.engine, &self.call, &(Arc::new(InSession { names, session }) as _))?;
        let url = super::address::checked(&sent.url, &self.call)?;
        let mut headers = HeaderMap::new();
        let accepted = if self.streams { "text/event-stream, application/x-ndjson, application/json" } else { "*/*" };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        let is_get = self.call.method == HttpMethod::Get;
        // A tool's request that says nothing of its body sends the arguments.
        let arguments = request.input.as_deref().filter(|_| self.purpose == Purpose::Tool && !is_get);
        let body = sent.body.or_else(|| arguments.map(ToOwned::to_owned));
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in &sent.headers {
            let (name, value) = pair(name, value)?;
            headers.insert(name, value);
        }
        headers.extend(self.secret_headers.clone());
        Ok((url, headers, body))
    }

    async fn whole(&self, response: Response, is_first: bool) -> Result<(Answer, bool), Fault> {
        let bytes = client::whole(response, MOST_BYTES).await.map_err(|fault| self.of_connection(fault))?;
        let text = String::from_utf8_lossy(&bytes);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        if self.purpose == Purpose::Around {
            return Ok((said(&text), lossy));
        }
        if self.purpose == Purpose::Tool {
            return self.result(&text).map(|answer| (answer, lossy)).map_err(bad_reply);
        }
        let mut gathered = Gathered::default();
        let answer = gathered.take(&self.places, &text).and_then(|()| gathered.answer(&self.places, is_first));
        answer.map(|answer| (answer, lossy)).map_err(bad_reply)
    }

    /// The result of a tool: what stands at the path of `reply`, or all of it.
    fn result(&self, text: &str) -> Result<Answer, String> {
        let Some(paths) = &self.places.reply else { return Ok(said(text)) };
        let shown = || aigo_ir::text::excerpt(text, 120);
        let value = Value::of_json(text).ok_or_else(|| format!("the reply is no JSON: {}", shown()))?;
        match paths.text.get(&value) {
            None => Err(format!("the reply has nothing at `{}`: {}", paths.text, shown())),
            Some(Value::Str(text)) => Ok(said(text)),
            Some(other) => Ok(said(&other.to_json())),
        }
    }

    async fn streamed(&self, mut response: Response, lines: bool, is_first: bool) -> Result<(Answer, bool), Fault> {
        let (mut events, mut line) = (Events::default(), Vec::new());
        let (mut gathered, mut bytes, mut lossy, mut over) = (Gathered::default(), 0, false, false);
        let mut since = Instant::now();
        let mut patience = FIRST;
        let mut part = |data: &[u8]| -> Result<(), Fault> {
            let text = String::from_utf8_lossy(data);
            lossy |= matches!(text, std::borrow::Cow::Owned(_));
            over |= text.trim() == "[DONE]";
            if over || (lines && text.trim().is_empty()) {
                return Ok(());
            }
            gathered.take(&self.places, &text).map_err(bad_reply)
        };
        loop {
            let chunk = timeout_at(since + patience, response.chunk()).await;
            let chunk = chunk.map_err(|_| {
                let message = format!("the application was silent for {} s in the middle", patience.as_secs_f64());
                Fault::failed("timeout", message, false)
            })?;
            let Some(chunk) = chunk.map_err(|error| self.of_connection(client::connection(&error)))? else { break };
            bytes += chunk.len();
            if bytes > MOST_BYTES {
                return Err(bad_reply(too_long().message));
            }
            (since, patience) = (Instant::now(), IDLE);
            if lines {
                line.extend_from_slice(&chunk);
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    part(&std::mem::replace(&mut line, rest))?;
                }
            } else {
                events.push(&chunk, &mut part)?;
            }
        }
        if lines {
            part(&line)?;
        } else {
            events.finish(&mut part)?;
        }
        gathered.answer(&self.places, is_first).map(|answer| (answer, lossy)).map_err(bad_reply)
    }

    /// What a status that is no success means.
    async fn refused(&self, status: u16, response: Response) -> Result<(Answer, bool), Fault> {
        let body = client::whole(response, MOST_OF_ERROR).await.unwrap_or_default();
        let said = aigo_ir::text::excerpt(String::from_utf8_lossy(&body).trim(), 200);
        let message = if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") };
        let transient = matches!(status, 408 | 409 | 425 | 500..);
        match (self.purpose, status) {
            (_, 429) => Err(Fault::new(Class::RateLimit, message)),
            (Purpose::Talk | Purpose::Tool, 401 | 407) => Err(Fault::new(Class::Auth, message)),
            (_, 300..=399) => {
                Err(Fault::failed(format!("http_{status}"), format!("{message} (redirects are not followed)"), false))
            }
            // What a tool refuses is for the assistant to see.
            (Purpose::Tool, 400..500) if !transient && status != 403 => {
                let error = Value::map([("error", Value::str(message))]);
                Ok((self::said(&error.to_json()), false))
            }
            _ => Err(Fault::failed(format!("http_{status}"), message, transient && self.repeats)),
        }
    }

    /// A failed connection: before anything was sent nothing has happened; after that the application has broken off.
    fn of_connection(&self, fault: Fault) -> Fault {
        match fault.class {
            Class::Transient if !fault.billed => Fault { class: Class::NoConnection, ..fault },
            Class::Transient => Fault::failed("broken", fault.message, self.repeats),
            Class::Protocol => bad_reply(fault.message),
            _ => fault,
        }
    }
}

fn said(text: &str) -> Answer {
    Answer { text: text.into(), stop: "stop".into(), ..Answer::default() }
}

fn bad_reply(message: String) -> Fault {
    Fault::failed("bad_reply", message, false)
}

/// The request cannot be made: the task, or a value of the row, is at fault, and nobody is asked.
fn of_task(message: String) -> Fault {
    Fault::new(Class::Request(TASK_ERROR), message)
}

fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
    }
}

/// In which parts a reply comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Whole,
    /// Server-sent events.
    Events,
    /// A line of JSON each.
    Lines,
}

/// How a reply is to be read, where streams are asked for: one that knows none answers whole.
fn parts(response: &Response, asked: bool) -> Parts {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is = |starts: &[&str]| starts.iter().any(|start| kind.starts_with(start));
    if asked && is(&["application/x-ndjson", "application/jsonl"]) {
        return Parts::Lines;
    }
    if asked && !is(&["application/json", "text/html"]) { Parts::Events } else { Parts::Whole }
}
