//! Sealing: a log whose run has ended becomes a fraction of its size, sorted by sample, with an index. Its lines stay what
//! they are, byte for byte; only the markers of syncs are left out, which tell of a file that is then gone.
//!
//! ```text
//! log.jsonl --sort, pack--> log.jsonl.zst.part --sync, read back--> log.jsonl.zst --then--> log.jsonl is removed
//! ```
//! A process that is killed on the way leaves the log as it was, or both files, of which the sealed one counts.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::LogError;
use crate::folder::{Folder, sync_folder};
use crate::index::{Group, Index, MOST_TEXT};
use crate::pack::Packer;
use crate::read::Log;
use crate::sealed;

/// So much text makes a group: the more, the better it packs, and the more is read for one conversation.
const GROUP: usize = 2 << 20;

/// A log that was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealing {
    /// The sealed log.
    pub path: PathBuf,
    /// The length of the log before, in bytes; 0 where it was sealed already.
    pub before: u64,
    /// Its length now.
    pub after: u64,
}

/// Seals the log of a run that has ended. What is sealed already stays as it is.
pub fn seal(folder: &Path) -> Result<Sealing, LogError> {
    let folder = Folder::lock(folder)?;
    let (text, sealed) = (folder.log(), folder.sealed());
    let failed = |doing| move |error| LogError::io(folder_name(&text), doing, error);
    let length = |path: &Path| fs::metadata(path).map(|meta| meta.len());
    if sealed.exists() {
        // The process before may have been killed between the two last steps.
        match Log::open(&sealed).and_then(|log| log.verify()) {
            Ok(()) if folder.log().exists() => folder.remove_log()?,
            Ok(()) => {}
            Err(error) if !folder.log().exists() => return Err(error),
            Err(_) => return anew(&folder),
        }
        let after = length(&sealed).map_err(failed("reading"))?;
        return Ok(Sealing { path: sealed, before: 0, after });
    }
    anew(&folder)
}

fn folder_name(log: &Path) -> String {
    log.display().to_string()
}

/// Seals the text that is there.
fn anew(folder: &Folder) -> Result<Sealing, LogError> {
    let log = Log::open(&folder.log())?;
    let order = order(&log)?;
    let part = folder.part();
    let name = part.display().to_string();
    let failed = |doing| {
        let name = name.clone();
        move |error| LogError::io(&name, doing, error)
    };
    let written = write(&log, &order, &part);
    let kept = written.and_then(|sums| read_back(&name, &part, &sums));
    if let Err(error) = kept {
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    let path = folder.sealed();
    let after = fs::metadata(&part).map_err(failed("reading"))?.len();
    fs::rename(&part, &path).and_then(|()| sync_folder(folder.path())).map_err(failed("renaming"))?;
    folder.remove_log()?;
    Ok(Sealing { path, before: log.size(), after })
}

/// The trials of a log that has ended, sorted by sample and epoch. The error says what has not ended.
fn order(log: &Log) -> Result<Vec<u64>, LogError> {
    let unfinished = |why: &str| LogError::Unfinished { log: log.name().to_owned(), why: why.to_owned() };
    if log.is_sealed() {
        return Err(LogError::Sealed { log: log.name().to_owned() });
    }
    if log.warning().is_some() {
        return Err(unfinished("it has a torn end"));
    }
    if log.end().is_none() {
        return Err(unfinished("the run has not ended"));
    }
    let (mut keys, mut sorted) = (BTreeSet::new(), Vec::new());
    for number in log.numbers() {
        let open = log.open_of(number)?;
        keys.insert((open.key.clone(), open.epoch));
        sorted.push((open.key, open.epoch, number));
    }
    // A trial that began anew has ended once; its earlier beginnings have not.
    let ended = log.closed();
    if ended < keys.len() as u64 || log.header().trials.is_some_and(|trials| ended < trials) {
        return Err(unfinished("some of its conversations have not ended"));
    }
    sorted.sort();
    Ok(sorted.into_iter().map(|(.., number)| number).collect())
}

/// Writes the frames and the index into a file that is on the disk when this returns. Gives the checksum of each text.
fn write(log: &Log, order: &[u64], part: &Path) -> Result<Vec<u32>, LogError> {
    let name = part.display().to_string();
    let failed = |error| LogError::io(&name, "writing", error);
    let mut writer = Writer {
        file: BufWriter::with_capacity(1 << 20, File::create(part).map_err(failed)?),
        packer: Packer::new().map_err(failed)?,
        index: Index { lines: log.lines(), groups: Vec::new() },
        sums: Vec::new(),
        at: 0,
    };
    let own = log.run_lines()?;
    let (header, rest) = own.split_at_checked(1).unwrap_or((&own, &[]));
    let (mut text, mut group) = (header.concat(), Group::default());
    writer.flush(&mut text, &mut group).map_err(failed)?;
    for &number in order {
        let before = text.len();
        log.raw(number, &mut text)?;
        let length = (text.len() - before) as u64;
        if length > MOST_TEXT / 2 {
            let why =
                format!("trial {number} alone has {length} bytes, and a group of a sealed log has at most {MOST_TEXT}");
            return Err(LogError::Unwritable { record: "open", why });
        }
        if group.trials.is_empty() {
            group.first = log.open_of(number)?.key;
        }
        group.trials.push((number, length));
        if text.len() >= GROUP {
            writer.flush(&mut text, &mut group).map_err(failed)?;
        }
    }
    writer.flush(&mut text, &mut group).map_err(failed)?;
    text.extend(rest.concat());
    writer.flush(&mut text, &mut group).map_err(failed)?;
    writer.finish().map_err(failed)
}

struct Writer {
    file: BufWriter<File>,
    packer: Packer,
    index: Index,
    sums: Vec<u32>,
    at: u64,
}

impl Writer {
    /// Writes what has gathered as a frame, and begins a new group.
    fn flush(&mut self, text: &mut Vec<u8>, group: &mut Group) -> std::io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let frame = self.packer.pack(text)?;
        self.file.write_all(&frame)?;
        self.sums.push(crc32c::crc32c(text));
        let mut done = std::mem::take(group);
        (done.at, done.packed, done.text) = (self.at, frame.len() as u64, text.len() as u64);
        done.sum = crc32c::crc32c(&frame);
        self.at += done.packed;
        self.index.groups.push(done);
        text.clear();
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<Vec<u32>> {
        self.file.write_all(&self.index.frame()?)?;
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(self.sums)
    }
}

/// Reads the file from the disk, and compares each text with what was packed.
fn read_back(name: &str, part: &Path, sums: &[u32]) -> Result<(), LogError> {
    let mut file = File::open(part).map_err(|error| LogError::io(name, "reading back", error))?;
    let index = Index::read(&mut file).map_err(|error| LogError::io(name, "reading back", error))?;
    let index = index.map_err(|(at, what)| LogError::Broken { log: name.to_owned(), at, what })?;
    let mut found = Vec::new();
    for group in &index.groups {
        found.push(crc32c::crc32c(&sealed::text(name, &mut file, group)?));
    }
    if found == sums {
        return Ok(());
    }
    Err(LogError::Broken { log: name.to_owned(), at: 0, what: "it does not read as it was written".to_owned() })
}
