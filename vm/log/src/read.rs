//! Reading a log: its header and its end at once, its trials one by one.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::text::printable;

use crate::blocks::Blocks;
use crate::error::{LogError, TORN};
use crate::folder;
use crate::line::{self, Flaw, Head};
use crate::pack;
use crate::record::{Ask, Close, End, Got, Open, Record, Run, Site};
use crate::scan::{Scan, refuse, scan};
use crate::sealed::Sealed;
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
    /// Where in the program it stands.
    pub site: Site,
    /// What was asked.
    pub ask: Ask,
    /// What came back.
    pub got: Option<Got>,
}

/// Bytes that can be read anywhere.
pub(crate) trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// How a log stands in its file.
enum Body {
    /// As lines.
    Text { blocks: Blocks, scan: Scan },
    /// In frames.
    Sealed(Sealed),
}

/// An open log, as lines or sealed. It keeps the header and the places of the lines, not their text.
pub struct Log {
    name: String,
    body: Body,
}

impl Log {
    /// Opens a run's folder, or its file, sealed or not. The run may be going on: what is being written then looks like a torn
    /// end.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        if !path.is_dir() {
            return Self::file(path);
        }
        let (text, sealed) = (path.join(folder::LOG), path.join(folder::SEALED));
        if !sealed.exists() {
            return Self::file(&text);
        }
        // Where sealing was cut short there are both, and the sealed one was read back before it got its name.
        Self::file(&sealed).or_else(|error| if text.exists() { Self::file(&text) } else { Err(error) })
    }

    fn file(path: &Path) -> Result<Self, LogError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                LogError::NotALog { log: printable(&name), why: "there is no such file".to_owned() }
            }
            _ => LogError::io(&name, "opening", error),
        })?;
        Self::read(name, file)
    }

    /// Reads a log from any bytes, a file or a `Cursor`. `name` is for errors.
    pub fn read(name: impl Into<String>, source: impl Read + Seek + Send + 'static) -> Result<Self, LogError> {
        let name = printable(&name.into());
        let failed = |error| LogError::io(&name, "reading", error);
        let mut source = source;
        let mut first = Vec::new();
        source.seek(SeekFrom::Start(0)).map_err(failed)?;
        source.by_ref().take(pack::MAGIC.len() as u64).read_to_end(&mut first).map_err(failed)?;
        if first == pack::MAGIC {
            let sealed = Sealed::read(&name, Box::new(source))?;
            return Ok(Self { name, body: Body::Sealed(sealed) });
        }
        source.seek(SeekFrom::Start(0)).map_err(failed)?;
        let scan = scan(BufReader::with_capacity(CHUNK, &mut source), &name)?;
        Ok(Self { name, body: Body::Text { blocks: Blocks::new(Box::new(source)), scan } })
    }

    /// Its file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is sealed.
    pub const fn is_sealed(&self) -> bool {
        matches!(self.body, Body::Sealed(_))
    }

    /// What the run is.
    pub fn header(&self) -> &Run {
        match &self.body {
            Body::Text { scan, .. } => &scan.header,
            Body::Sealed(sealed) => &sealed.header,
        }
    }

    /// The end of the run, unless it was resumed after it.
    pub fn end(&self) -> Option<&End> {
        match &self.body {
            Body::Text { scan, .. } => scan.end.as_ref(),
            Body::Sealed(sealed) => sealed.end.as_ref(),
        }
    }

    /// Whether the log ends with an intact line.
    pub fn state(&self) -> State {
        match &self.body {
            Body::Text { scan: Scan { torn: Some((bytes, _)), size, .. }, .. } => {
                State::Torn { at: *size, bytes: *bytes }
            }
            _ => State::Clean,
        }
    }

    /// The warning that a person should see, if there is one.
    pub fn warning(&self) -> Option<Diagnostic> {
        self.state().warning(&self.name)
    }

    /// The number of the last intact line; of a sealed log, that of the log that was sealed.
    pub fn lines(&self) -> u64 {
        match &self.body {
            Body::Text { scan, .. } => scan.lines,
            Body::Sealed(sealed) => sealed.lines(),
        }
    }

    /// The number of the last line that a marker says to be on the disk. All lines of a sealed log are.
    pub fn durable(&self) -> u64 {
        match &self.body {
            Body::Text { scan, .. } => scan.durable,
            Body::Sealed(sealed) => sealed.lines(),
        }
    }

    /// The numbers of the trials: rising, and of a sealed log by their samples.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let numbers: Vec<u64> = match &self.body {
            Body::Text { scan, .. } => scan.trials.keys().copied().collect(),
            Body::Sealed(sealed) => sealed.numbers(),
        };
        numbers.into_iter()
    }

    /// The trials in the order of [`Self::numbers`], read as the iterator comes to them.
    pub fn trials(&self) -> impl Iterator<Item = Result<Trial, LogError>> {
        self.numbers().map(|number| self.trial(number))
    }

    /// The numbers of a sample's trials, by epoch. Of a log as lines this reads the beginning of every trial.
    pub fn of_sample(&self, key: &str) -> Result<Vec<u64>, LogError> {
        if let Body::Sealed(sealed) = &self.body {
            return sealed.of_sample(key);
        }
        let mut found = Vec::new();
        for number in self.numbers() {
            let open = self.open_of(number)?;
            if open.key == key {
                found.push((open.epoch, number));
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, number)| number).collect())
    }

    /// One trial.
    pub fn trial(&self, number: u64) -> Result<Trial, LogError> {
        let sites = &self.header().sites;
        match &self.body {
            Body::Sealed(sealed) => gather(&self.name, number, sites, sealed.trial(number)?.into_iter().map(Ok)),
            Body::Text { .. } => {
                let mut text = Vec::new();
                self.copy(self.spans(number), &mut text)?;
                gather(
                    &self.name,
                    number,
                    sites,
                    self.spans(number).scan(&*text, |rest, (at, length)| {
                        let (line, behind) =
                            rest.split_at_checked(usize::try_from(length).ok()?).unwrap_or((rest, &[]));
                        *rest = behind;
                        Some(self.line(at, line))
                    }),
                )
            }
        }
    }

    /// Where the lines of a trial of a log as lines are.
    fn spans(&self, number: u64) -> impl Iterator<Item = (u64, u64)> {
        self.scan().and_then(|scan| scan.trials.get(&number)).into_iter().flat_map(Spans::iter)
    }

    /// Reads every line once more, and what a log says of itself: damage that opening does not see is found. A log as lines is
    /// read as a whole when it is opened.
    pub fn verify(&self) -> Result<(), LogError> {
        match &self.body {
            Body::Text { .. } => Ok(()),
            Body::Sealed(sealed) => sealed.verify(),
        }
    }

    /// The cut of a torn end is the writer's; it needs the size and number of what is intact.
    pub(crate) const fn scan(&self) -> Option<&Scan> {
        match &self.body {
            Body::Text { scan, .. } => Some(scan),
            Body::Sealed(_) => None,
        }
    }

    /// The length of the lines.
    pub(crate) const fn size(&self) -> u64 {
        match self.scan() {
            Some(scan) => scan.size,
            None => 0,
        }
    }

    /// How many trials have ended.
    pub(crate) const fn closed(&self) -> u64 {
        match self.scan() {
            Some(scan) => scan.closed,
            None => 0,
        }
    }

    /// The beginning of a trial of a log as lines.
    pub(crate) fn open_of(&self, number: u64) -> Result<Open, LogError> {
        let Some((at, length)) = self.spans(number).next() else {
            return Err(LogError::NoTrial { log: self.name.clone(), trial: number });
        };
        let mut line = Vec::new();
        self.copy(std::iter::once((at, length)), &mut line)?;
        match self.line(at, &line)? {
            (_, Record::Open(open)) => Ok(open),
            (n, _) => Err(misfit(&self.name, n, "speaks of", number, "before that trial is opened")),
        }
    }

    /// Appends the lines of a trial of a log as lines, as they stand; their checksums hold.
    pub(crate) fn raw(&self, number: u64, out: &mut Vec<u8>) -> Result<(), LogError> {
        let start = out.len();
        self.copy(self.spans(number), out)?;
        let mut rest = out.get(start..).unwrap_or_default();
        self.spans(number).try_for_each(|(_, length)| {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let (line, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            rest = behind;
            whole(line).and_then(|line| line::check(line).map(drop)).map_err(|flaw| self.changed(flaw))
        })
    }

    /// The run's own lines of a log as lines.
    pub(crate) fn run_lines(&self) -> Result<Vec<Vec<u8>>, LogError> {
        let spans = self.scan().map(|scan| &scan.run).into_iter().flat_map(Spans::iter);
        let line = |span| {
            let mut line = Vec::new();
            self.copy(std::iter::once(span), &mut line)?;
            let checked = whole(&line).and_then(|line| line::check(line).map(drop));
            checked.map(|()| line).map_err(|flaw| self.changed(flaw))
        };
        spans.map(line).collect()
    }

    /// Appends parts of the file.
    fn copy(&self, spans: impl Iterator<Item = (u64, u64)>, out: &mut Vec<u8>) -> Result<(), LogError> {
        let Body::Text { blocks, .. } = &self.body else { return Ok(()) };
        blocks.copy(spans, out).map_err(|error| LogError::io(&self.name, "reading", error))
    }

    /// A line was intact when the log was opened, and is not any more.
    fn changed(&self, flaw: Flaw) -> LogError {
        LogError::io(&self.name, "reading a line again", std::io::Error::other(flaw))
    }

    /// The record of a line. It was intact when the log was opened; the file may have changed since.
    fn line(&self, at: u64, line: &[u8]) -> Result<(u64, Record), LogError> {
        whole(line).and_then(line::decode).map_err(|flaw| match whole(line).and_then(Head::read) {
            Ok(head) => refuse(&self.name, head.n, at, flaw),
            Err(flaw) => self.changed(flaw),
        })
    }
}

/// A line without its newline.
fn whole(line: &[u8]) -> Result<&[u8], Flaw> {
    line.strip_suffix(b"\n").ok_or(Flaw::Cut)
}

/// A trial from its lines, which have to fit each other.
fn gather(
    name: &str,
    number: u64,
    sites: &[Site],
    lines: impl Iterator<Item = Result<(u64, Record), LogError>>,
) -> Result<Trial, LogError> {
    let misfit = |n: u64, does: &str, how: &str| misfit(name, n, does, number, how);
    let (mut open, mut close) = (None, None);
    let mut calls: Vec<Call> = Vec::new();
    for line in lines {
        let (n, record) = line?;
        match record {
            // An index of a sealed log could say that they belong here.
            _ if record.trial() != Some(number) => return Err(misfit(n, "stands in", "and is not of it")),
            Record::Open(record) => once(&mut open, record).map_err(|()| misfit(n, "opens", "again"))?,
            Record::Close(record) => once(&mut close, record).map_err(|()| misfit(n, "closes", "again"))?,
            Record::Ask(ask) => {
                let missing = || misfit(n, "asks in", "at a place that the log's first record does not have");
                calls.push(Call { n, site: ask.at.site(sites).ok_or_else(missing)?, ask, got: None });
            }
            // The calls are in the order of their numbers.
            Record::Got(got) => match calls.binary_search_by_key(&got.ask, |call| call.n).map(|at| calls.get_mut(at)) {
                Ok(Some(call)) if call.got.is_none() => call.got = Some(got),
                Ok(_) => return Err(misfit(n, "answers in", "what is answered already")),
                Err(_) => return Err(misfit(n, "answers in", "what was not asked there")),
            },
            _ => {}
        }
        if open.is_none() {
            return Err(misfit(n, "speaks of", "before that trial is opened"));
        }
    }
    match open {
        Some(open) => Ok(Trial { open, calls, close }),
        None => Err(LogError::NoTrial { log: name.to_owned(), trial: number }),
    }
}

fn misfit(name: &str, line: u64, does: &str, trial: u64, how: &str) -> LogError {
    LogError::Misfit { log: name.to_owned(), line, what: format!("the record {does} trial {trial} {how}") }
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), ()> {
    if slot.is_some() {
        return Err(());
    }
    *slot = Some(value);
    Ok(())
}
