//! An application of somebody's own, small enough to read: a bot that is told facts and asked for them. It stands behind HTTP
//! in the ways that such applications do, and is a program that reads lines.
//!
//! ```text
//! POST   /chat                 is sent the whole conversation, and keeps nothing
//! POST   /sessions/ID          keeps the conversation under an id that it is given
//! POST   /sessions             makes the id itself, and says it with its first reply
//! POST   /stream, /lines       as /chat, in parts: server-sent events, lines of JSON
//! POST   /forgets              looks at the last message alone
//! POST   /slow, /faulty, ...   as /chat, but late, with a 500 for some conversations, and so on
//! POST   /users, DELETE /users/ID, GET /orders/ID, PUT /orders/ID
//!                              what `setup`, `teardown` and tools are answered by
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// What the bot says when it has heard these messages of its user: of a question it looks for the last word with a digit in it
/// among what was said before; everything else it takes note of.
pub fn says(heard: &[String]) -> String {
    let Some((last, before)) = heard.split_last() else { return "Hello.".to_owned() };
    if !last.contains('?') {
        return "Noted.".to_owned();
    }
    let words = before.iter().rev().flat_map(|text| text.split_whitespace().rev());
    let mut bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let fact = bare.find(|word| word.chars().any(|c| c.is_ascii_digit()));
    fact.map_or_else(|| "You have not told me.".to_owned(), |fact| format!("It is {fact}."))
}

/// What the user has said in messages as chat APIs have them.
pub fn heard(messages: &Value) -> Vec<String> {
    let messages = messages.as_array().into_iter().flatten();
    let by_user = messages.filter(|message| message["role"] == "user");
    by_user.filter_map(|message| message["content"].as_str().map(ToOwned::to_owned)).collect()
}

/// A request that the bot was sent.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `POST /chat`
    pub line: String,
    /// The headers, as they came.
    pub head: String,
    /// The body, JSON or null.
    pub body: Value,
}

#[derive(Default)]
struct Seen {
    asked: Vec<Asked>,
    sessions: BTreeMap<String, Vec<String>>,
    users: BTreeMap<String, Value>,
    orders: BTreeMap<String, i64>,
    /// Requests after so many get no answer until this is lifted.
    held_after: Option<usize>,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bot behind HTTP, running. Each connection carries one request.
pub struct Bot {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Bot {
    /// Starts on a port of this machine; 0 takes any that is free.
    pub fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let address = listener.local_addr()?;
        let shared: Arc<Shared> = Arc::default();
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.seen().asked.clone()
    }

    /// Lets so many more requests be answered, and none after them.
    pub fn hold_after(&self, more: usize) {
        let mut seen = self.shared.seen();
        seen.held_after = Some(seen.asked.len() + more);
    }

    /// Answers everything again.
    pub fn lift(&self) {
        self.shared.seen().held_after = None;
        self.shared.changed.notify_all();
    }

    /// Waits until a request is held. Gives false where none came within the time.
    pub fn wait_until_held(&self, longest: Duration) -> bool {
        let waiting = |seen: &mut Seen| seen.held_after.is_none_or(|most| seen.asked.len() <= most);
        let waited = self.shared.changed.wait_timeout_while(self.shared.seen(), longest, waiting);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A reply: its status, what it is, and its body.
type Reply = (u16, &'static str, String);

const JSON: &str = "application/json";

fn serve(shared: &Shared, mut stream: TcpStream) {
    let Some(asked) = receive(&stream) else { return };
    let number = {
        let mut seen = shared.seen();
        seen.asked.push(asked.clone());
        seen.asked.len()
    };
    shared.changed.notify_all();
    let held = |seen: &mut Seen| seen.held_after.is_some_and(|most| number > most);
    drop(shared.changed.wait_while(shared.seen(), held));
    let Some((status, kind, body)) = reply(shared, &asked) else { return };
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

fn receive(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = head.lines().next()?.rsplit_once(' ')?.0.to_owned();
    Some(Asked { line, head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// What the bot replies; nothing where it hangs up.
fn reply(shared: &Shared, asked: &Asked) -> Option<Reply> {
    let (method, path) = asked.line.split_once(' ')?;
    let text = asked.body["text"].as_str().unwrap_or_default().to_owned();
    let whole = heard(&asked.body["messages"]);
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    Some(match (method, parts.as_slice()) {
        ("POST", ["forgets"]) => spoken(&says(whole.last().cloned().as_slice())),
        ("POST", ["slow"]) => {
            std::thread::sleep(Duration::from_millis(1500));
            spoken(&says(&whole))
        }
        // Half of the conversations of this one have no luck, whatever is asked and however often.
        ("POST", ["faulty"]) if whole.first().is_some_and(|first| first.len() % 2 == 1) => {
            (500, "text/plain", "out of order".to_owned())
        }
        ("POST", ["chat" | "faulty"]) => spoken(&says(&whole)),
        ("POST", ["hangs_up"]) => return None,
        ("POST", ["garbled"]) => (200, "text/html", "<html>Welcome!</html>".to_owned()),
        ("POST", ["elsewhere"]) => (307, "text/plain", "moved".to_owned()),
        ("POST", ["ends"]) => (200, JSON, json!({"reply": says(&whole), "over": true}).to_string()),
        ("POST", ["sessions", id]) => {
            let mut seen = shared.seen();
            let known = seen.sessions.entry((*id).to_owned()).or_default();
            known.push(text);
            spoken(&says(known))
        }
        ("POST", ["sessions"]) => in_session(shared, asked, text),
        ("POST", ["stream"]) => {
            (200, "text/event-stream", in_parts(&says(&whole), "data: ", "\n\n") + "data: [DONE]\n\n")
        }
        ("POST", ["lines"]) => (200, "application/x-ndjson", in_parts(&says(&whole), "", "\n")),
        ("POST", ["users"]) => {
            let mut seen = shared.seen();
            let id = format!("u{}", seen.users.len() + 1);
            seen.users.insert(id.clone(), asked.body.clone());
            (201, JSON, json!({"id": id}).to_string())
        }
        ("DELETE", ["users", id]) => {
            let gone = shared.seen().users.remove(*id).is_some();
            (if gone { 200 } else { 404 }, JSON, json!({"gone": gone}).to_string())
        }
        ("GET", ["orders", id]) => match shared.seen().orders.get(*id) {
            Some(seats) => (200, JSON, json!({"order": {"id": id, "seats": seats}}).to_string()),
            None => (404, JSON, json!({"error": "no such order"}).to_string()),
        },
        ("PUT", ["orders", id]) => {
            let seats = asked.body["seats"].as_i64().unwrap_or_default();
            shared.seen().orders.insert((*id).to_owned(), seats);
            (200, JSON, json!({"order": {"id": id, "seats": seats}}).to_string())
        }
        _ => (404, "text/plain", "there is nothing here".to_owned()),
    })
}

fn spoken(text: &str) -> Reply {
    let read = if text.starts_with("It is") { json!(["what the user has said"]) } else { Value::Null };
    (200, JSON, json!({"reply": text, "used": {"chunks": read}}).to_string())
}

/// A session that the bot makes: its first reply says the id, and each further request names it.
fn in_session(shared: &Shared, asked: &Asked, text: String) -> Reply {
    let mut seen = shared.seen();
    let id = match asked.body["session"].as_str() {
        None | Some("") => format!("s{}", seen.sessions.len() + 1),
        Some(id) => id.to_owned(),
    };
    let known = seen.sessions.entry(id.clone()).or_default();
    known.push(text);
    (200, JSON, json!({"reply": says(known), "session": {"id": id}}).to_string())
}

fn in_parts(text: &str, before: &str, after: &str) -> String {
    text.split_inclusive(' ').fold(String::new(), |mut out, word| {
        let _ = write!(out, "{before}{}{after}", json!({"reply": word}));
        out
    })
}

/// The bot as a program: a line of JSON in, a line out, until its input ends.
pub fn program(input: impl BufRead, mut output: impl Write, flags: &[String]) -> io::Result<()> {
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let mut kept: Vec<String> = Vec::new();
    for line in input.lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let whole = heard(&asked["messages"]);
        kept.extend(whole.last().cloned());
        let text = match () {
            () if has("--forgets") => says(whole.last().cloned().as_slice()),
            // It does not look at what it is sent but into its own memory.
            () if has("--keeps") => says(&kept),
            () => says(&whole),
        };
        if has("--crashes") && text.starts_with("It is") {
            return Err(io::Error::other("out of order"));
        }
        writeln!(output, "{}", json!({"text": text, "context": ["what the user has said"]}))?;
        output.flush()?;
        if has("--once") {
            break;
        }
    }
    Ok(())
}
