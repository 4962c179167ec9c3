//! One pass over a log: which lines are intact, whether the rest is a torn end or damage, and where each trial's lines are.
//!
//! The rule: let G be the number of intact lines from the start, and U the greatest `upto` of any valid line in the
//! file, wherever it stands. If U is greater than G, a line is gone that was on the disk: damage. Otherwise what follows
//! line G never was acknowledged as durable: a torn end.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

use crate::error::LogError;
use crate::line::{self, Flaw, Head, MAX_LINE};
use crate::record::{End, Record, Run};
use crate::spans::Spans;

/// What a log holds.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Its first record.
    pub(crate) header: Run,
    /// The lines of each trial.
    pub(crate) trials: BTreeMap<u64, Spans>,
    /// How many trials have ended.
    pub(crate) closed: u64,
    /// The lines of the run: `run`, `resumed` and `end`.
    pub(crate) run: Spans,
    /// The end of the run, if nothing goes on after it.
    pub(crate) end: Option<End>,
    /// How many lines are intact.
    pub(crate) lines: u64,
    /// How many bytes these are.
    pub(crate) size: u64,
    /// The last line that a marker says to be on the disk.
    pub(crate) durable: u64,
    /// How many bytes follow that are no intact lines, and what is wrong with the first of them.
    pub(crate) torn: Option<(u64, Flaw)>,
}

/// Reads a log from its start to its end. `name` is for errors.
pub(crate) fn scan(reader: impl BufRead, name: &str) -> Result<Scan, LogError> {
    let mut pass = Pass {
        name,
        scan: None,
        trials: BTreeMap::new(),
        closed: 0,
        run: Spans::default(),
        lines: 0,
        size: 0,
        durable: 0,
        end: None,
    };
    let mut lines = Lines { reader, at: 0, buffer: Vec::new() };
    let mut flaw = None;
    loop {
        let at = lines.at;
        let Some(found) = lines.advance().map_err(|error| LogError::io(name, "reading", error))? else { break };
        let head = found.and_then(|()| Head::read(&lines.buffer));
        if flaw.is_none() {
            match pass.intact(&head) {
                Ok(head) => {
                    pass.take(head, &lines.buffer, at, lines.at - at)?;
                    continue;
                }
                Err(first) => flaw = Some(first),
            }
        }
        if let (Ok(head), Some(flaw)) = (&head, &flaw)
            && let Some(durable) = head.durable().filter(|&upto| upto > pass.lines)
        {
            return Err(LogError::Damage {
                log: name.to_owned(),
                line: pass.lines + 1,
                at: pass.size,
                flaw: flaw.to_string(),
                durable,
            });
        }
    }
    let torn = flaw.map(|flaw| (lines.at - pass.size, flaw));
    let Some(header) = pass.scan else {
        let why = torn.map_or_else(|| "it is empty".to_owned(), |(_, flaw)| format!("its first line is none: {flaw}"));
        return Err(LogError::NotALog { log: name.to_owned(), why });
    };
    let Pass { trials, closed, run, end, lines, size, durable, .. } = pass;
    Ok(Scan { header, trials, closed, run, end, lines, size, durable, torn })
}

/// The error of a line that was intact when it was scanned, or should have been.
pub(crate) fn refuse(name: &str, line: u64, at: u64, flaw: Flaw) -> LogError {
    let log = name.to_owned();
    match flaw {
        Flaw::Unknown(what) => LogError::Version { log, line, at, what },
        Flaw::Fields { .. } => LogError::Misfit { log, line, what: flaw.to_string() },
        _ => LogError::Damage { log, line, at, flaw: flaw.to_string(), durable: line },
    }
}

/// What is known of the intact lines so far.
struct Pass<'a> {
    name: &'a str,
    scan: Option<Run>,
    trials: BTreeMap<u64, Spans>,
    closed: u64,
    run: Spans,
    lines: u64,
    size: u64,
    durable: u64,
    end: Option<End>,
}

impl Pass<'_> {
    /// The head of the next line, if it is intact.
    fn intact<'h, 'l>(&self, head: &'h Result<Head<'l>, Flaw>) -> Result<&'h Head<'l>, Flaw> {
        let head = head.as_ref().map_err(Clone::clone)?;
        head.complete()?;
        if head.n != self.lines + 1 {
            return Err(Flaw::Number { found: head.n });
        }
        Ok(head)
    }

    /// Takes an intact line.
    fn take(&mut self, head: &Head<'_>, line: &[u8], at: u64, length: u64) -> Result<(), LogError> {
        self.lines += 1;
        self.size += length;
        if let Some(flaw) = head.unknown() {
            return Err(refuse(self.name, head.n, at, flaw));
        }
        let misfit = |what: &str| LogError::Misfit { log: self.name.to_owned(), line: head.n, what: what.to_owned() };
        let record = match &*head.kind {
            "run" | "end" => Some(line::decode(line).map_err(|flaw| refuse(self.name, head.n, at, flaw))?.1),
            _ => None,
        };
        match record {
            Some(Record::Run(run)) if head.n == 1 => match line::unknown_flag(&run) {
                Some(flaw) => return Err(refuse(self.name, head.n, at, flaw)),
                None => self.scan = Some(run),
            },
            Some(Record::Run(_)) => return Err(misfit("a record `run` stands in the middle of the log")),
            _ if head.n == 1 => {
                let why = format!("its first record is `{}`", head.kind);
                return Err(LogError::NotALog { log: self.name.to_owned(), why });
            }
            Some(Record::End(end)) => self.end = Some(end),
            _ => {}
        }
        if head.kind == "resumed" {
            self.end = None;
        }
        self.durable = self.durable.max(head.durable().unwrap_or_default());
        if head.kind == "durable" {
            return Ok(());
        }
        if let Some(trial) = head.trial.filter(|_| matches!(&*head.kind, "open" | "ask" | "got" | "close")) {
            self.trials.entry(trial).or_default().push(at, length);
            self.closed += u64::from(head.kind == "close");
        } else {
            self.run.push(at, length);
        }
        Ok(())
    }
}

/// The lines of a file, one at a time, in bounded memory.
struct Lines<R> {
    reader: R,
    /// Where the next line begins.
    at: u64,
    /// The line that was read last, without its newline.
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line into `buffer`, or finds why it is none, or nothing at the end.
    fn advance(&mut self) -> io::Result<Option<Result<(), Flaw>>> {
        self.buffer.clear();
        let read = (&mut self.reader).take(MAX_LINE as u64).read_until(b'\n', &mut self.buffer)?;
        self.at += read as u64;
        if read == 0 {
            return Ok(None);
        }
        if self.buffer.pop_if(|byte| *byte == b'\n').is_some() {
            return Ok(Some(Ok(())));
        }
        if read < MAX_LINE {
            return Ok(Some(Err(Flaw::Cut)));
        }
        self.at += self.reader.skip_until(b'\n')? as u64;
        Ok(Some(Err(Flaw::TooLong)))
    }
}
