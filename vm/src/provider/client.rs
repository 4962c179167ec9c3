//! The network under the dialects, a thin layer: one attempt, with every time-out set, every body capped, and the secrets of
//! its own endpoint alone.

use std::time::{Duration, SystemTime};

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::ChatModel;
use aigo_machine::Request;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, timeout, timeout_at};

use super::secrets::Redactor;
use super::wire::{MOST_BYTES, Wire, too_long};
use super::{Header, Reply};
use crate::error::NO_CLIENT;
use crate::fault::{Class, Fault};
use crate::rates::Rates;

const CONNECT: Duration = Duration::from_secs(10);
/// A whole reply can take long, and so can the first word of a streamed one: a model that thinks sends nothing.
pub(super) const FIRST: Duration = Duration::from_mins(10);
/// Between two signs of life of a model that has begun to speak.
pub(super) const IDLE: Duration = Duration::from_secs(90);
/// For what may follow the reason to stop: counts of tokens, the end of the stream.
const AFTER_STOP: Duration = Duration::from_secs(5);
/// For the last bytes of a stream that is over, without which its connection could not be used again.
const LAST_BYTES: Duration = Duration::from_millis(200);
/// Servers close connections that rest for five seconds or more.
const IDLE_CONNECTION: Duration = Duration::from_secs(4);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Of an error's body no more is read.
pub(super) const MOST_OF_ERROR: usize = 64 << 10;

/// What all clients of a run share: connections.
pub(super) fn http(concurrency: usize) -> Result<reqwest::Client, Box<Diagnostic>> {
    // One process-wide choice; a second call finds it made.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        // The two others are set for each request: a stream has no total.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .dns_resolver(super::address::resolver())
        .tcp_keepalive(KEEP_ALIVE)
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(concurrency)
        .user_agent(concat!("aigo/", env!("CARGO_PKG_VERSION")))
        .build();
    client.map_err(|error| Box::new(NO_CLIENT.nowhere(format!("no connection can be set up: {error}"))))
}

/// A client of one endpoint with one credential.
pub(crate) struct Client {
    http: reqwest::Client,
    pub(super) wire: Wire,
    /// Where requests go: parsed once, and not for each.
    url: reqwest::Url,
    /// All of them; those that hold secrets are marked, so that no debug output shows them.
    headers: HeaderMap,
    secrets: Redactor,
    /// The longest a call may take, if the task says.
    longest: Option<Duration>,
}

impl Client {
    /// A client; the message of a failure repeats no secret.
    pub(super) fn new(
        http: reqwest::Client,
        model: &ChatModel,
        key: Option<String>,
        headers: Vec<Header>,
    ) -> Result<Self, Box<Diagnostic>> {
        let failed = |why: String| {
            Box::new(NO_CLIENT.nowhere(format!("no connection to {} can be set up: {why}", model.base_url)))
        };
        if super::address::leads_to_link_local(&model.base_url) {
            return Err(failed("its host is link-local, and nothing is sent there".to_owned()));
        }
        let name = model.api_key.as_deref().unwrap_or_default();
        let of_key = key.clone().map(|key| (key, name.to_owned()));
        let of_headers = headers.iter().filter_map(|header| header.secret.clone());
        let secrets = Redactor::new(of_key.into_iter().chain(of_headers));
        let wire = Wire::new(model);
        let url = reqwest::Url::parse(wire.url()).map_err(|error| failed(error.to_string()))?;
        let mut map = HeaderMap::with_capacity(headers.len() + 4);
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accepted = if wire.streams() { "text/event-stream, application/json" } else { "application/json" };
        map.insert(ACCEPT, HeaderValue::from_static(accepted));
        for (name, value) in wire.headers() {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let (name, value) = match wire.key_header() {
                Some(name) => (HeaderName::from_static(name), key),
                None => (AUTHORIZATION, format!("Bearer {key}")),
            };
            let value = HeaderValue::from_str(&value);
            let mut value =
                value.map_err(|_| failed("the key has characters that a header cannot carry".to_owned()))?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        for header in headers {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let value = HeaderValue::from_str(&header.value);
            let (Ok(name), Ok(mut value)) = (name, value) else {
                return Err(failed(format!("the header `{}` has characters that a header cannot carry", header.name)));
            };
            value.set_sensitive(header.secret.is_some());
            map.insert(name, value);
        }
        let longest = model.timeout_ms.map(Duration::from_millis);
        Ok(Self { http, wire, url, headers: map, secrets, longest })
    }

    /// One attempt.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        let mut outcome = self.post(request).await;
        self.secrets.clean(&mut outcome);
        outcome
    }

    /// What a request without a body brings: the status, and the body.
    pub(super) async fn read(&self, url: &str, longest: Duration) -> Result<(u16, Vec<u8>), Fault> {
        let response = self.sent(self.http.get(url).headers(self.headers.clone()).timeout(longest)).await?;
        let status = response.status().as_u16();
        whole(response, MOST_BYTES).await.map(|body| (status, body))
    }

    /// A fault without secrets.
    pub(super) fn cleaned<T>(&self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        outcome.map_err(|fault| match self.secrets.cleaned(&fault.message) {
            Some(message) => Fault { message, ..fault },
            None => fault,
        })
    }

    async fn post(&self, request: &Request) -> Result<Reply, Fault> {
        let mut post = self.http.post(self.url.clone()).headers(self.headers.clone()).body(self.wire.body(request));
        let streams = self.wire.streams();
        // A stream has no total unless the task sets one: as long as it comes, it comes.
        if let Some(total) = self.longest.or((!streams).then_some(FIRST)) {
            post = post.timeout(total);
        }
        let response = self.sent(post).await?;
        let status = response.status().as_u16();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let rates = Rates::read(headers, SystemTime::now());
        let outcome = if is_stream(&response, streams) {
            self.streamed(request, response).await
        } else {
            let most = if (200..300).contains(&status) { MOST_BYTES } else { MOST_OF_ERROR };
            whole(response, most).await.and_then(|body| self.wire.reply(request, status, &body))
        };
        match outcome {
            Ok(reply) => Ok(Reply { rates, ..reply }),
            Err(fault) => Err(fault.with(rates)),
        }
    }

    /// Sends, and waits for the head of the reply.
    async fn sent(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, Fault> {
        let first = self.first();
        let response = timeout(first, request.send()).await.map_err(|_| silent(first))?;
        let response = response.map_err(|error| connection(&error))?;
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING).filter(|value| *value != "identity") {
            let encoding = aigo_ir::text::excerpt(encoding.to_str().unwrap_or("?"), 20);
            let message = format!("a reply that is compressed ({encoding}), which was not asked for");
            return Err(Fault::new(Class::Protocol, message));
        }
        Ok(response)
    }

    fn first(&self) -> Duration {
        self.longest.unwrap_or(FIRST)
    }

    async fn streamed(&self, request: &Request, mut response: reqwest::Response) -> Result<Reply, Fault> {
        let mut stream = self.wire.stream(request);
        let (mut signs, mut since) = (0, Instant::now());
        while !stream.is_over() {
            let patience = match (stream.has_stopped(), stream.has_begun()) {
                (true, _) => AFTER_STOP,
                (false, true) => IDLE.min(self.first()),
                (false, false) => self.first(),
            };
            // What was said stands, however the connection ends behind the reason to stop.
            let chunk = match timeout_at(since + patience, response.chunk()).await {
                Err(_) => return stream.finish().map_err(|_| silent(patience)),
                Ok(Err(error)) => return stream.finish().map_err(|_| connection(&error)),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(chunk))) => chunk,
            };
            stream.push(&chunk)?;
            if stream.signs() != signs {
                (signs, since) = (stream.signs(), Instant::now());
            }
        }
        if stream.is_over() {
            let _ = timeout(LAST_BYTES, response.chunk()).await;
        }
        stream.finish()
    }
}

/// Whether a reply is to be read as a stream: servers that know none answer whole, and some stream unasked.
fn is_stream(response: &reqwest::Response, asked: bool) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_plain = kind.is_empty() || kind.starts_with("text/plain");
    response.status().is_success() && (kind.starts_with("text/event-stream") || (asked && is_plain))
}

/// A body of at most so many bytes. Of an error's the beginning is enough.
pub(super) async fn whole(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, Fault> {
    let length = response.content_length().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let mut bytes = Vec::with_capacity(length.min(most).min(1 << 20));
    while let Some(chunk) = response.chunk().await.map_err(|error| connection(&error))? {
        let left = most.saturating_sub(bytes.len());
        if chunk.len() > left && most == MOST_BYTES {
            return Err(too_long());
        }
        bytes.extend_from_slice(chunk.get(..left).unwrap_or(&chunk));
        if chunk.len() >= left {
            break;
        }
    }
    // Some servers begin with the mark of UTF-8.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(bytes)
}

/// Nothing came for too long.
pub(super) fn silent(waited: Duration) -> Fault {
    Fault::new(Class::Transient, format!("the server was silent for {} s", waited.as_secs_f64()))
}

/// Whatever has no status.
pub(super) fn connection(error: &reqwest::Error) -> Fault {
    if error.is_builder() || error.is_redirect() {
        return Fault::new(Class::Config, error.to_string());
    }
    Fault::of_connection(error, error.is_connect())
}
