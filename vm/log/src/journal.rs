//! The writer: one file, one mutex, one thread that syncs.
//!
//! Lines are encoded by the threads that write them and numbered under the mutex, so their order in the file is the order
//! of their numbers. The syncer sleeps until somebody waits; then it writes what is buffered, syncs once for all who wait,
//! and wakes them. While it syncs, others write and begin to wait, and they share the next sync. No timer is needed: the
//! slower the disk, the larger the batches.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use aigo_ir::text::printable;

use crate::error::LogError;
use crate::folder::Folder;
use crate::line;
use crate::read::Log;
use crate::record::{Durable, FORMAT, Record, Resumed, Run, Site};
use crate::storage::{FileStorage, Storage};

/// Lines that nobody waits for are written at the latest when this many bytes have gathered.
const GATHER: usize = 64 << 10;

/// The buffer's memory between writes.
const KEEP: usize = 1 << 20;

/// What `commit` waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The line is on the disk: it survives a loss of power.
    #[default]
    Batch,
    /// The system has the line: it survives the end of the process, and nothing is synced.
    Process,
}

/// What [`Journal::reopen`] found.
pub struct Recovery {
    /// The log up to the point where the journal goes on.
    pub log: Log,
    /// What was cut off.
    pub torn: Option<TornTail>,
}

/// An end that was being written when the writer stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Where it began.
    pub at: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The file that holds it now.
    pub kept: PathBuf,
}

/// The one writer of a log. Threads share it by reference.
pub struct Journal {
    shared: Arc<Shared>,
    syncer: Mutex<Option<JoinHandle<()>>>,
}

/// What a log has before a journal adds to it.
struct Begun {
    /// The number of the last line in the file.
    last: u64,
    /// The greatest `upto` in it.
    marked: u64,
    sites: Vec<Site>,
}

type Then = Box<dyn FnOnce(Result<(), LogError>) + Send>;

struct Shared {
    name: String,
    storage: Box<dyn Storage>,
    durability: Durability,
    /// The header's.
    sites: Vec<Site>,
    state: Mutex<State>,
    wake: Condvar,
    /// Held, not used.
    _lock: Option<File>,
}

struct State {
    /// Lines that are not yet in the file.
    buffer: Vec<u8>,
    /// The file's size.
    size: u64,
    /// The number of the next line.
    next: u64,
    /// The number of the last line in the file.
    written: u64,
    /// The number of the last line on the disk.
    synced: u64,
    /// The `upto` of the last marker.
    marked: u64,
    waiting: VecDeque<Then>,
    finishing: bool,
    failure: Option<LogError>,
}

impl Journal {
    /// Begins a run in a new or empty folder. When this returns, the folder and the first line are durable.
    pub fn create(folder: &Path, header: &Run, durability: Durability) -> Result<Self, LogError> {
        let first = first(header)?;
        let folder = Folder::create(folder).map_err(LogError::at_the_beginning)?;
        let name = folder.log().display().to_string();
        let storage = FileStorage::new(folder.create_log().map_err(LogError::at_the_beginning)?);
        let begun = Begun { last: 0, marked: 0, sites: header.sites.clone() };
        let started = Self::start(&name, Box::new(storage), Some(folder.into_lock()), durability, begun, &first);
        started.map_err(LogError::at_the_beginning)
    }

    /// Goes on with a run: cuts off a torn end and keeps it aside, refuses damage. `aigo` is the version that goes on.
    pub fn reopen(folder: &Path, aigo: &str, durability: Durability) -> Result<(Self, Recovery), LogError> {
        if folder.join(crate::folder::SEALED).exists() {
            let sealed = folder.join(crate::folder::SEALED).display().to_string();
            return Err(LogError::Sealed { log: printable(&sealed) });
        }
        if !folder.join(crate::folder::LOG).exists() {
            let why = "there is no log.jsonl in this folder".to_owned();
            return Err(LogError::NotALog { log: printable(&folder.display().to_string()), why });
        }
        let folder = Folder::lock(folder)?;
        let name = folder.log().display().to_string();
        let log = Log::open(&folder.log())?;
        // A sealed log under the name of the other.
        let Some(scan) = log.scan() else { return Err(LogError::Sealed { log: log.name().to_owned() }) };
        let mut torn = None;
        if let Some((bytes, _)) = scan.torn {
            torn = Some(TornTail { at: scan.size, bytes, kept: folder.cut(scan.size)? });
        }
        let storage = Box::new(FileStorage::new(folder.append_log()?));
        let begun = Begun { last: scan.lines, marked: scan.durable, sites: scan.header.sites.clone() };
        let resumed = line::body(&Record::Resumed(Resumed { aigo: aigo.to_owned() }), &[])?;
        let journal = Self::start(&name, storage, Some(folder.into_lock()), durability, begun, &resumed)?;
        Ok((journal, Recovery { log, torn }))
    }

    /// Begins a log in any storage, without folder and lock: for tests and for logs that are not files. `name` is for errors.
    pub fn on(
        name: &str,
        storage: impl Storage + 'static,
        header: &Run,
        durability: Durability,
    ) -> Result<Self, LogError> {
        let begun = Begun { last: 0, marked: 0, sites: header.sites.clone() };
        Self::start(name, Box::new(storage), None, durability, begun, &first(header)?)
    }

    fn start(
        name: &str,
        storage: Box<dyn Storage>,
        lock: Option<File>,
        durability: Durability,
        Begun { last, marked, sites }: Begun,
        first: &str,
    ) -> Result<Self, LogError> {
        let failed = |doing| move |error| LogError::io(name, doing, error);
        let size = storage.size().map_err(failed("opening"))?;
        let mut state = State {
            buffer: Vec::new(),
            size,
            next: last + 1,
            written: last,
            synced: marked,
            marked,
            waiting: VecDeque::new(),
            finishing: false,
            failure: None,
        };
        // The process before may have ended without a sync of what it wrote.
        if durability == Durability::Batch && last > marked {
            storage.sync().map_err(failed("syncing"))?;
            state.synced = last;
        }
        state.put(first);
        let shared = Shared {
            name: printable(name),
            storage,
            durability,
            sites,
            state: Mutex::new(state),
            wake: Condvar::new(),
            _lock: lock,
        };
        {
            let mut state = shared.state();
            shared.flush(&mut state)?;
            if durability == Durability::Batch {
                shared.storage.sync().map_err(failed("syncing"))?;
                state.synced = state.written;
            }
        }
        let shared = Arc::new(shared);
        let syncer = thread::Builder::new()
            .name("journal".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.run()
            })
            .map_err(failed("starting the syncing thread"))?;
        Ok(Self { shared, syncer: Mutex::new(Some(syncer)) })
    }

    /// The body of a record that a caller may write.
    fn body(&self, record: &Record) -> Result<String, LogError> {
        match record {
            Record::Run(_) | Record::Durable(_) | Record::Resumed(_) => {
                Err(LogError::Unwritable { record: record.name(), why: "the journal writes these itself".to_owned() })
            }
            _ => line::body(record, &self.shared.sites),
        }
    }

    /// Adds a record that nobody waits for: it goes to the file with the next `write`, `commit` or `finish`, or when enough
    /// has gathered. Gives the line's number.
    pub fn append(&self, record: &Record) -> Result<u64, LogError> {
        let body = self.body(record)?;
        let mut state = self.shared.open()?;
        let n = state.put(&body);
        if state.buffer.len() >= GATHER {
            self.shared.flush(&mut state)?;
        }
        Ok(n)
    }

    /// Adds a record; when this returns, the system has it and all before it, so they survive the end of this process.
    pub fn write(&self, record: &Record) -> Result<u64, LogError> {
        let body = self.body(record)?;
        let mut state = self.shared.open()?;
        let n = state.put(&body);
        self.shared.flush(&mut state)?;
        Ok(n)
    }

    /// Adds a record and calls `then` when it and all before it are durable, or when they never will be. It is called
    /// exactly once if this returns a number, and never if this fails; on the journal's own thread, so it should only wake
    /// who waits.
    pub fn commit(
        &self,
        record: &Record,
        then: impl FnOnce(Result<(), LogError>) + Send + 'static,
    ) -> Result<u64, LogError> {
        let (body, then) = (self.body(record)?, Box::new(then));
        let mut state = self.shared.open()?;
        let n = state.put(&body);
        state.waiting.push_back(then);
        // The syncer looks again before it sleeps, so only the first who waits has to wake it.
        if state.waiting.len() == 1 {
            self.shared.wake.notify_one();
        }
        Ok(n)
    }

    /// Writes and syncs everything, marks it as durable, and ends the syncing thread. Later records are refused; finishing
    /// again gives the same answer. Called from within a `then`, it does not wait.
    pub fn finish(&self) -> Result<(), LogError> {
        self.shared.state().finishing = true;
        self.shared.wake.notify_one();
        let mut syncer = self.syncer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = syncer.take_if(|handle| handle.thread().id() != thread::current().id()) {
            // It has told everyone who waited; a panic in a `then` was caught there.
            let _ = handle.join();
        }
        self.shared.state().failure.clone().map_or(Ok(()), Err)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// The body of a log's first line.
fn first(header: &Run) -> Result<String, LogError> {
    if header.format != FORMAT {
        let why = format!("its format is {}, and this version writes format {FORMAT}", header.format);
        return Err(LogError::Unwritable { record: "run", why });
    }
    line::body(&Record::Run(header.clone()), &[])
}

impl State {
    /// Buffers a line. The first one after a sync tells of it: whoever finds that knows that the lines before were on the
    /// disk, and bad bytes among them no torn end.
    fn put(&mut self, body: &str) -> u64 {
        let n = self.next;
        let upto = (self.synced > self.marked).then_some(self.synced);
        self.marked = self.marked.max(self.synced);
        line::frame(n, upto, body, &mut self.buffer);
        self.next += 1;
        n
    }

    /// A line that only tells of a sync, where no other follows it.
    fn mark(&mut self) {
        let upto = self.synced;
        self.marked = upto;
        // A number is never too deep or too long.
        if let Ok(body) = line::body(&Record::Durable(Durable { upto }), &[]) {
            self.put(&body);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a journal that takes records.
    fn open(&self) -> Result<MutexGuard<'_, State>, LogError> {
        let state = self.state();
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None if state.finishing => Err(LogError::Finished { log: self.name.clone() }),
            None => Ok(state),
        }
    }

    /// Hands the buffer to the system, in one write unless the system takes less.
    fn flush(&self, state: &mut State) -> Result<(), LogError> {
        let mut done = 0;
        while let Some(rest) = state.buffer.get(done..).filter(|rest| !rest.is_empty()) {
            match self.storage.write(rest) {
                Ok(0) => return Err(self.cut_back(state, done, io::Error::from(ErrorKind::WriteZero))),
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cut_back(state, done, error)),
            }
        }
        state.size += done as u64;
        state.written = state.next - 1;
        state.buffer.clear();
        // One long answer should not hold its memory until the end of the run.
        state.buffer.shrink_to(KEEP);
        Ok(())
    }

    /// A write failed after `done` bytes of the buffer: leaves whole lines in the file, if the system lets us.
    fn cut_back(&self, state: &mut State, done: usize, error: io::Error) -> LogError {
        let part = state.buffer.get(..done).unwrap_or_default();
        let whole = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < done {
            // If it fails, the reader finds a torn end.
            let _ = self.storage.set_len(state.size + whole as u64);
        }
        self.fail(state, LogError::io(&self.name, "writing", error))
    }

    /// From here on every call and everyone who waits gets this error.
    fn fail(&self, state: &mut State, failure: LogError) -> LogError {
        state.buffer.clear();
        let failure = state.failure.get_or_insert(failure).clone();
        self.wake.notify_one();
        failure
    }

    /// The syncing thread.
    fn run(&self) {
        let mut state = self.state();
        loop {
            while state.waiting.is_empty() && !state.finishing {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.waiting.is_empty() {
                break;
            }
            let waiting = std::mem::take(&mut state.waiting);
            let outcome;
            (state, outcome) = self.sync(state);
            drop(state);
            for then in waiting {
                let outcome = outcome.clone();
                // The panic of one who waits must not leave the others waiting for ever.
                let _ = catch_unwind(AssertUnwindSafe(move || then(outcome)));
            }
            state = self.state();
        }
        let (mut state, outcome) = self.sync(state);
        if outcome.is_ok() && state.synced > state.marked {
            state.mark();
            drop(self.sync(state));
        }
    }

    /// Makes all lines durable that are buffered or written now. The mutex is free during the sync.
    fn sync<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, Result<(), LogError>) {
        if let Some(failure) = state.failure.clone() {
            return (state, Err(failure));
        }
        if let Err(failure) = self.flush(&mut state) {
            return (state, Err(failure));
        }
        if self.durability == Durability::Process || state.synced == state.written {
            return (state, Ok(()));
        }
        let upto = state.written;
        drop(state);
        let synced = self.storage.sync();
        let mut state = self.state();
        let outcome = match synced {
            Ok(()) => {
                state.synced = upto;
                // A write may have failed meanwhile; these lines are safe all the same.
                Ok(())
            }
            // After a failed sync the system may have dropped the bytes and reports success the next time.
            Err(error) => Err(self.fail(&mut state, LogError::io(&self.name, "syncing", error))),
        };
        (state, outcome)
    }
}
