//! A server whose every reply is bytes that a test gives: for what a mock of a provider would never do.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The method and the path.
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().and_then(|line| line.strip_suffix(" HTTP/1.1")).unwrap_or_default()
    }
}

/// A running server; each connection carries one request.
pub(crate) struct Served {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Served {
    /// Answers each request by what `answer` says of it and of its number, from 1. Where it says nothing the connection stays
    /// open, and nothing more comes.
    pub(crate) fn start(answer: impl Fn(&Seen, usize) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream) else { return };
                    let number = {
                        let mut kept = kept.lock().unwrap();
                        kept.push(request.clone());
                        kept.len()
                    };
                    match answer(&request, number) {
                        Some(bytes) => {
                            let _ = stream.write_all(&bytes);
                        }
                        // Until the other side has had enough.
                        None => {
                            let _ = stream.read_to_end(&mut Vec::new());
                        }
                    }
                });
            }
        });
        Self { url, seen }
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// One request, as long as its head says.
fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(Seen { head: head.to_owned(), body: body.to_owned() });
            }
        }
        let mut buffer = [0; 4096];
        let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
    }
}

/// A reply with a body that ends with the connection.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} OK\r\nconnection: close\r\n{headers}\r\n{body}").into_bytes()
}

/// A reply of JSON.
pub(crate) fn json(status: u16, body: &str) -> Vec<u8> {
    reply(status, "content-type: application/json\r\n", body)
}

/// A stream of events.
pub(crate) fn events(body: &str) -> Vec<u8> {
    reply(200, "content-type: text/event-stream\r\n", body)
}

/// A chat completion with a text.
pub(crate) fn completion(text: &str) -> Vec<u8> {
    let text = serde_json::Value::from(text);
    json(
        200,
        &format!(
            r#"{{"model":"m-1","choices":[{{"message":{{"content":{text}}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":3,"completion_tokens":2}}}}"#
        ),
    )
}
