//! HTTP/1.1, as much as the mock needs, and as broken as its faults want it.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fault::{Fault, How};

/// No request is longer.
const LONGEST: usize = 64 << 20;

/// A request, as it lies in the connection's buffer.
pub(super) struct Request<'c> {
    pub(super) path: &'c str,
    /// The key in its headers; empty where there is none.
    pub(super) key: &'c str,
    pub(super) body: &'c str,
}

/// A connection and what was read of it.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::with_capacity(16 << 10) }
    }

    /// Reads until a whole request is there; gives its length, or nothing at the end.
    pub(super) async fn receive(&mut self) -> io::Result<Option<usize>> {
        loop {
            if let Some(head) = head_of(&self.buffer) {
                let length = head + content_length(&self.buffer[..head]);
                if self.buffer.len() >= length {
                    return Ok(Some(length));
                }
                if length > LONGEST {
                    return Ok(None);
                }
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
            // Whoever speaks TLS is told in plain words, as servers do.
            if !self.buffer.first().is_some_and(u8::is_ascii_uppercase) {
                self.send(b"HTTP/1.1 400 X\r\n\r\n").await?;
                return Ok(None);
            }
        }
    }

    /// The request that is there.
    pub(super) fn request(&self, length: usize) -> Option<Request<'_>> {
        let head = head_of(&self.buffer)?;
        let text = std::str::from_utf8(&self.buffer[..head]).ok()?;
        let path = text.split(' ').nth(1)?;
        let key = header(text, "authorization").map(|value| value.trim_start_matches("Bearer "));
        let key = key.or_else(|| header(text, "x-api-key")).unwrap_or_default();
        Some(Request { path, key, body: std::str::from_utf8(&self.buffer[head..length]).ok()? })
    }

    /// The request was read.
    pub(super) fn done(&mut self, length: usize) {
        self.buffer.drain(..length);
    }

    pub(super) async fn send(&mut self, reply: &[u8]) -> io::Result<()> {
        self.stream.write_all(reply).await
    }

    /// Sends the reply of a fault as it wants it. Whether the connection is broken by it.
    pub(super) async fn fail(&mut self, fault: &Fault) -> io::Result<bool> {
        let headers: Vec<(&str, &str)> = fault.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let whole = reply(fault.status, &headers, &fault.body);
        let part = |bytes: usize| &whole[..bytes.min(whole.len())];
        match &fault.how {
            How::Whole | How::Answer => {
                self.send(&whole).await?;
                return Ok(false);
            }
            How::Cut(bytes) => self.send(part(*bytes)).await?,
            How::Reset(bytes) => {
                self.send(part(*bytes)).await?;
                // Closing without waiting for what is unsent resets the connection.
                self.stream.set_zero_linger()?;
            }
            How::Stall(bytes) => {
                self.send(part(*bytes)).await?;
                // Until the client has had enough.
                let mut rest = [0; 16];
                let _ = self.stream.read(&mut rest).await;
            }
            How::Drip(bytes, pause) => {
                for part in whole.chunks(*bytes) {
                    self.send(part).await?;
                    tokio::time::sleep(*pause).await;
                }
                return Ok(false);
            }
            How::UntilClosed => {
                let head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n\r\n", fault.status);
                self.send(head.as_bytes()).await?;
                self.send(&fault.body).await?;
            }
            How::Endless => {
                self.send(b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n").await?;
                while self.send(&fault.body).await.is_ok() {
                    tokio::time::sleep(Duration::ZERO).await;
                }
            }
        }
        Ok(true)
    }
}

/// A reply with a length, unless the headers have one.
pub(super) fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        let _ = write!(head, "content-length: {}\r\n", body.len());
    }
    head.push_str("\r\n");
    let mut reply = head.into_bytes();
    reply.extend_from_slice(body);
    reply
}

/// Where the head of a request ends.
fn head_of(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn content_length(head: &[u8]) -> usize {
    let text = std::str::from_utf8(head).unwrap_or_default();
    header(text, "content-length").and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn header<'h>(head: &'h str, wanted: &str) -> Option<&'h str> {
    let lines = head.split("\r\n").skip(1);
    let mut fields = lines.filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
}
