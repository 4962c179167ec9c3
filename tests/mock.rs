//! A server that speaks chat completions, for tests: it answers from the request alone, counts what each request and each key
//! was billed, and has the faults that its script asks for.
//!
//! ```text
//! POST …/chat/completions -> arrival (counted, billed) -> held? -> fault of the script? -> pause -> answer
//! POST /row/NAME/…        -> the same, with the faults of that row of the table
//! GET  /bill              -> what each key was billed, as JSON
//! ```
//! Equal bodies get equal answers, and each answer carries the mark of its body, so that a log says which bodies it holds.
//! It reads and writes HTTP/1.1 itself: most faults are replies that no library would send.

mod answers;
mod bill;
mod fault;
pub mod rows;
mod wire;

pub use bill::Bill;
pub use fault::{Fault, How, Per};

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aigo_ir::key::KeyWriter;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

use answers::Asked;
use fault::Counts;
use wire::Connection;

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
    billed: BTreeMap<String, u64>,
    bills: BTreeMap<String, Bill>,
    faults: Vec<Fault>,
    counts: Counts,
    /// Of each row of the table that was asked for by its path: its faults, and what it has counted.
    rows: BTreeMap<String, (Vec<Fault>, Counts)>,
    /// Requests after so many arrivals get no answer until this is lifted.
    held_after: Option<usize>,
    /// Whether answers are billed as long as they may be, and prompts a token for each byte.
    worst: bool,
}

struct Shared {
    seen: Mutex<Seen>,
    arrived: Condvar,
    lifted: tokio::sync::Notify,
    pause: Duration,
    /// Arrivals and marks are kept; a server for speed keeps counts alone.
    keeps: bool,
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
        Self::with_threads(port, pause, 1, true)
    }

    /// Starts with so many threads. Where it does not keep, it counts requests and bills, and remembers none of them.
    pub fn with_threads(port: u16, pause: Duration, threads: usize, keeps: bool) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            arrived: Condvar::new(),
            lifted: tokio::sync::Notify::new(),
            pause,
            keeps,
        });
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", port)))?;
        let address = listener.local_addr()?;
        let serving = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve(Arc::clone(&serving), stream));
            }
        });
        Ok(Self { address, shared, _runtime: runtime })
    }

    /// What a task names as `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Its address, without a path.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the script, and counts requests anew.
    pub fn script(&self, faults: Vec<Fault>) {
        let mut seen = self.shared.seen();
        seen.faults = faults;
        seen.counts = Counts::default();
    }

    /// Whether prompts are billed a token for each of their bytes from now on, and answers all the tokens that they may have,
    /// those included that nobody hears.
    pub fn bill_worst(&self, worst: bool) {
        self.shared.seen().worst = worst;
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
        self.wait_while(longest, waiting)
    }

    /// Waits until so many requests have come in. Gives false where they did not within the time.
    pub fn wait_until_arrived(&self, requests: usize, longest: Duration) -> bool {
        self.wait_while(longest, |seen| seen.arrivals.len() < requests)
    }

    fn wait_while(&self, longest: Duration, waiting: impl FnMut(&mut Seen) -> bool) -> bool {
        let waited = self.shared.arrived.wait_timeout_while(self.shared.seen(), longest, waiting);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Every request so far, in the order of arrival.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.shared.seen().arrivals.clone()
    }

    /// How often each body was billed, by its mark. Refusals cost nothing; an answer that nobody heard does.
    pub fn billed(&self) -> BTreeMap<String, u64> {
        self.shared.seen().billed.clone()
    }

    /// What each key was billed.
    pub fn bills(&self) -> BTreeMap<String, Bill> {
        self.shared.seen().bills.clone()
    }
}

/// What becomes of a request.
struct Fate {
    fault: Option<Fault>,
    held: bool,
    worst: bool,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request and says what becomes of it.
    fn arrive(&self, request: &wire::Request<'_>, mark: &str, asked: &Asked) -> Fate {
        let mut guard = self.seen();
        let seen = &mut *guard;
        if self.keeps {
            let arrival = Arrival { mark: mark.to_owned(), model: asked.model.clone(), at: Instant::now() };
            seen.arrivals.push(arrival);
        }
        let row = request.path.strip_prefix("/row/").and_then(|rest| rest.split('/').next());
        let fault = match row {
            Some(name) => {
                let (faults, counts) = seen
                    .rows
                    .entry(name.to_owned())
                    .or_insert_with(|| (rows::by_name(name).unwrap_or_default(), Counts::default()));
                counts.hit(faults, &asked.model, mark)
            }
            None => seen.counts.hit(&seen.faults, &asked.model, mark),
        };
        let billed = fault.as_ref().is_none_or(|fault| fault.billed);
        let bill = seen.bills.entry(request.key.to_owned()).or_default();
        bill.requests += 1;
        if billed {
            let usage = asked.usage(seen.worst);
            bill.answers += 1;
            bill.input_tokens += usage.0;
            bill.output_tokens += usage.1;
            if self.keeps {
                *seen.billed.entry(mark.to_owned()).or_default() += 1;
            }
        }
        let held = seen.held_after.is_some_and(|most| seen.arrivals.len() > most);
        let worst = seen.worst;
        drop(guard);
        self.arrived.notify_all();
        Fate { fault, held, worst }
    }
}

/// A short hash of a body. It stands in the answer.
fn mark_of(body: &str) -> String {
    format!("#{}", KeyWriter::new("mock").str(body).finish().hex(6))
}

/// Answers the requests of a connection, one after the other, until it is closed or a fault has broken it.
async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    let mut connection = Connection::new(stream);
    while let Ok(Some(length)) = connection.receive().await {
        let Some(request) = connection.request(length) else { break };
        if request.path == "/bill" {
            let bill = bill::to_json(&shared.seen().bills).to_string();
            let reply = wire::reply(200, &[("content-type", "application/json")], bill.as_bytes());
            connection.done(length);
            if connection.send(&reply).await.is_err() {
                break;
            }
            continue;
        }
        let mark = mark_of(request.body);
        let body: Value = serde_json::from_str(request.body).unwrap_or_default();
        let asked = Asked::new(request.path, &body, request.body.len());
        // Registered before the request is counted, so that a lift in between is not missed.
        let lifted = shared.lifted.notified();
        let Fate { fault, held, worst } = shared.arrive(&request, &mark, &asked);
        connection.done(length);
        if held {
            lifted.await;
        }
        let broken = match &fault {
            Some(fault) if fault.how != How::Answer => connection.fail(fault).await,
            _ => {
                if !shared.pause.is_zero() {
                    tokio::time::sleep(shared.pause).await;
                }
                let headers = fault.as_ref().map_or(&[][..], |fault| &fault.headers[..]);
                connection.send(&answers::answer(&asked, &body, &mark, worst, headers)).await.map(|()| false)
            }
        };
        if broken.unwrap_or(true) {
            break;
        }
    }
}
