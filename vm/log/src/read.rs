//! Reading a log: its header and its end at once, its trials one by one.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use aigo_ir::diagnostic::Diagnostic;

use crate::error::{LogError, TORN};
use crate::folder;
use crate::line::{self, Flaw, Head};
use crate::record::{Ask, Close, End, Got, Open, Record, Run};
use crate::scan::{Scan, refuse, scan};
use crate::spans::Spans;

const CHUNK: usize = 256 << 10;

/// Whether the log ends where its writer left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It ends with an intact line.
    Clean,
    /// Its end was being written when the writer stopped, or is being written now. No line of it was acknowledged as
    /// durable by a marker; reopening the journal cuts it off and keeps it aside.
    Torn {
        /// Where the torn end begins.
        at: u64,
        /// Its length.
        bytes: u64,
    },
}

impl State {
    /// The warning that a person should see.
    pub fn warning(&self, log: &str) -> Option<Diagnostic> {
        match self {
            Self::Clean => None,
            Self::Torn { at, bytes } => Some(TORN.nowhere(format!(
                "{log}: its last {bytes} bytes (from byte {at}) were being written when the writer stopped; resuming the run keeps \
                 them in the folder `torn` and goes on before them"
            ))),
        }
    }
}

/// What a trial recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its beginning.
    pub open: Open,
    /// Its calls in the order in which they were made.
    pub calls: Vec<Call>,
    /// Its end; none if it is still open.
    pub close: Option<Close>,
}

/// A call that was about to be made, and its answer if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The number of the line that asked.
    pub n: u64,
    /// What was asked.
    pub ask: Ask,
    /// What came back.
    pub got: Option<Got>,
}

trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// An open log. It keeps the header and the places of the lines, not their text.
pub struct Log {
    name: String,
    source: Mutex<Box<dyn Source>>,
    scan: Scan,
}

impl Log {
    /// Opens a run's folder, or its file. The run may be going on: what is being written then looks like a torn end.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let path = if path.is_dir() { path.join(folder::LOG) } else { path.to_owned() };
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                LogError::NotALog { log: name.clone(), why: "there is no such file".to_owned() }
            }
            _ => LogError::io(&name, "opening", error),
        })?;
        Self::read(name, file)
    }

    /// Reads a log from any bytes, a file or a `Cursor`. `name` is for errors.
    pub fn read(name: impl Into<String>, source: impl Read + Seek + Send + 'static) -> Result<Self, LogError> {
        let name = aigo_ir::text::printable(&name.into());
        let mut source = source;
        source.seek(SeekFrom::Start(0)).map_err(|error| LogError::io(&name, "reading", error))?;
        let scan = scan(BufReader::with_capacity(CHUNK, &mut source), &name)?;
        Ok(Self { name, source: Mutex::new(Box::new(source)), scan })
    }

    /// What the run is.
    pub fn header(&self) -> &Run {
        &self.scan.header
    }

    /// The end of the run, unless it was resumed after it.
    pub fn end(&self) -> Option<&End> {
        self.scan.end.as_ref()
    }

    /// Whether the log ends with an intact line.
    pub fn state(&self) -> State {
        match &self.scan.torn {
            None => State::Clean,
            Some((bytes, _)) => State::Torn { at: self.scan.size, bytes: *bytes },
        }
    }

    /// The number of the last intact line.
    pub fn lines(&self) -> u64 {
        self.scan.lines
    }

    /// The number of the last line that a marker says to be on the disk.
    pub fn durable(&self) -> u64 {
        self.scan.durable
    }

    /// The numbers of the trials, rising.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.scan.trials.keys().copied()
    }

    /// The trials in the order of their numbers, read as the iterator comes to them.
    pub fn trials(&self) -> impl Iterator<Item = Result<Trial, LogError>> {
        self.numbers().map(|number| self.trial(number))
    }

    /// One trial.
    pub fn trial(&self, number: u64) -> Result<Trial, LogError> {
        let (mut open, mut close) = (None, None);
        let mut calls: Vec<Call> = Vec::new();
        let mut line = Vec::new();
        for (at, length) in self.scan.trials.get(&number).into_iter().flat_map(Spans::iter) {
            let (n, record) = self.line(at, length, &mut line)?;
            match record {
                Record::Open(record) => {
                    once(&mut open, record).map_err(|()| self.misfit(n, "opens", number, "again"))?;
                }
                Record::Close(record) => {
                    once(&mut close, record).map_err(|()| self.misfit(n, "closes", number, "again"))?;
                }
                Record::Ask(ask) => calls.push(Call { n, ask, got: None }),
                // The calls are in the order of their numbers.
                Record::Got(got) => {
                    match calls.binary_search_by_key(&got.ask, |call| call.n).map(|at| calls.get_mut(at)) {
                        Ok(Some(call)) if call.got.is_none() => call.got = Some(got),
                        Ok(_) => return Err(self.misfit(n, "answers in", number, "what is answered already")),
                        Err(_) => return Err(self.misfit(n, "answers in", number, "what was not asked there")),
                    }
                }
                _ => {}
            }
            if open.is_none() {
                return Err(self.misfit(n, "speaks of", number, "before that trial is opened"));
            }
        }
        match open {
            Some(open) => Ok(Trial { open, calls, close }),
            None => Err(LogError::NoTrial { log: self.name.clone(), trial: number }),
        }
    }

    /// The cut of a torn end is the writer's; it needs the size and number of what is intact.
    pub(crate) fn scan(&self) -> &Scan {
        &self.scan
    }

    fn line(&self, at: u64, length: u64, buffer: &mut Vec<u8>) -> Result<(u64, Record), LogError> {
        buffer.clear();
        {
            let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            source
                .seek(SeekFrom::Start(at))
                .and_then(|_| (&mut **source).take(length).read_to_end(buffer))
                .map_err(|error| LogError::io(&self.name, "reading", error))?;
        }
        // It was intact when the log was opened; the file may have changed since.
        let found = if buffer.pop_if(|byte| *byte == b'\n').is_some() { line::decode(buffer) } else { Err(Flaw::Cut) };
        found.map_err(|flaw| match Head::read(buffer) {
            Ok(head) => refuse(&self.name, head.n, at, flaw),
            Err(flaw) => LogError::io(&self.name, "reading a line again", std::io::Error::other(flaw)),
        })
    }

    fn misfit(&self, line: u64, does: &str, trial: u64, how: &str) -> LogError {
        LogError::Misfit { log: self.name.clone(), line, what: format!("the record {does} trial {trial} {how}") }
    }
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), ()> {
    if slot.is_some() {
        return Err(());
    }
    *slot = Some(value);
    Ok(())
}
