//! Reading a sealed log: its index and the run's own lines at once, each trial with the frame that holds it.

use std::io::{Read as _, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::LogError;
use crate::index::{Group, Index};
use crate::line::{self, Flaw, Head, unknown_flag};
use crate::pack;
use crate::read::Source;
use crate::record::{End, Record, Run};
use crate::scan::refuse;

/// Where a trial is: its number, its group, its place in it.
type Place = (u64, usize, usize);

/// Of so many groups the texts are kept.
const KEPT: usize = 8;

/// A sealed log.
pub(crate) struct Sealed {
    name: String,
    source: Mutex<Box<dyn Source>>,
    index: Index,
    pub(crate) header: Run,
    pub(crate) end: Option<End>,
    /// By number; made when a trial is first asked for by it.
    places: OnceLock<Vec<Place>>,
    /// The texts of the groups that were read last, the last one first: threads that go through parts of a log side by side
    /// each have theirs.
    last: Mutex<Vec<(usize, Arc<Vec<u8>>)>>,
}

impl Sealed {
    /// Reads the index, and the lines that are no trial's.
    pub(crate) fn read(name: &str, mut source: Box<dyn Source>) -> Result<Self, LogError> {
        let read = Index::read(&mut source).map_err(|error| LogError::io(name, "reading", error))?;
        let index = read.map_err(|(at, what)| LogError::Broken { log: name.to_owned(), at, what })?;
        let mut groups = Vec::new();
        for group in index.groups.iter().filter(|group| group.trials.is_empty()) {
            groups.push((group.at, text(name, &mut source, group)?));
        }
        let (mut header, mut end) = (None, None);
        for (at, lines) in &groups {
            for record in records(name, *at, lines) {
                match record?.1 {
                    Record::Run(run) => header = header.or(Some(run)),
                    Record::Resumed(_) => end = None,
                    Record::End(record) => end = Some(record),
                    _ => {}
                }
            }
        }
        let why = "the record `run` is not among the lines that are no trial's".to_owned();
        let header = header.ok_or_else(|| LogError::NotALog { log: name.to_owned(), why })?;
        if let Some(flaw) = unknown_flag(&header) {
            return Err(refuse(name, 1, 0, flaw));
        }
        let (places, last) = (OnceLock::new(), Mutex::new(Vec::new()));
        Ok(Self { name: name.to_owned(), source: Mutex::new(source), index, header, end, places, last })
    }

    /// The number of the last line of the log that was sealed.
    pub(crate) const fn lines(&self) -> u64 {
        self.index.lines
    }

    /// The numbers of the trials, in the order of the file.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.index.groups.iter().flat_map(|group| &group.trials).map(|(number, _)| *number).collect()
    }

    /// The lines of a trial; none where it is not in the log.
    pub(crate) fn trial(&self, number: u64) -> Result<Vec<(u64, Record)>, LogError> {
        let places = self.places.get_or_init(|| {
            let groups = self.index.groups.iter().enumerate();
            let all =
                groups.flat_map(|(at, group)| group.trials.iter().enumerate().map(move |(i, (n, _))| (*n, at, i)));
            let mut places: Vec<Place> = all.collect();
            places.sort_unstable();
            places
        });
        let found = places.binary_search_by_key(&number, |(number, ..)| *number).ok().and_then(|at| places.get(at));
        let Some((_, group, slot)) = found else { return Ok(Vec::new()) };
        self.lines_of(*group, *slot)
    }

    /// The numbers of a sample's trials. The groups are sorted by key, so one or two of them are read.
    pub(crate) fn of_sample(&self, key: &str) -> Result<Vec<u64>, LogError> {
        let groups = &self.index.groups;
        // Groups without trials are the first and the last.
        let is_before =
            |group: &Group| group.trials.is_empty() && group.at == 0 || !group.trials.is_empty() && *group.first < *key;
        let behind = groups.partition_point(is_before);
        let mut found = Vec::new();
        for (at, group) in groups.iter().enumerate().skip(behind.saturating_sub(1)) {
            if group.trials.is_empty() {
                continue;
            }
            if *group.first > *key {
                break;
            }
            let text = self.group(at)?;
            for (slot, (number, _)) in group.trials.iter().enumerate() {
                let lines = range(group, slot).and_then(|range| text.get(range)).unwrap_or_default();
                let first = lines.split(|byte| *byte == b'\n').next().unwrap_or_default();
                match line::decode(first) {
                    Ok((_, Record::Open(open))) if *open.key == *key => found.push(*number),
                    Ok(_) => {}
                    Err(flaw) => return Err(broken(&self.name, group.at, &flaw)),
                }
            }
        }
        Ok(found)
    }

    /// Reads every frame and every line: what is wrong anywhere is found.
    pub(crate) fn verify(&self) -> Result<(), LogError> {
        for (at, group) in self.index.groups.iter().enumerate() {
            let text = self.group(at)?;
            if group.trials.is_empty() {
                records(&self.name, group.at, &text).try_for_each(|record| record.map(drop))?;
            }
            (0..group.trials.len()).try_for_each(|slot| self.lines_of(at, slot).map(drop))?;
        }
        Ok(())
    }

    fn lines_of(&self, at: usize, slot: usize) -> Result<Vec<(u64, Record)>, LogError> {
        let Some(group) = self.index.groups.get(at) else { return Ok(Vec::new()) };
        let text = self.group(at)?;
        let lines = range(group, slot).and_then(|range| text.get(range)).unwrap_or_default();
        records(&self.name, group.at, lines).collect()
    }

    /// The text of a group.
    fn group(&self, at: usize) -> Result<Arc<Vec<u8>>, LogError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = last.iter().position(|(known, _)| *known == at) {
            let (_, text) = last.get(place).cloned().unwrap_or_default();
            last.get_mut(..=place).into_iter().for_each(|kept| kept.rotate_right(1));
            return Ok(text);
        }
        let Some(group) = self.index.groups.get(at) else { return Ok(Arc::default()) };
        let found = {
            let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::new(text(&self.name, &mut *source, group)?)
        };
        last.truncate(KEPT - 1);
        last.insert(0, (at, Arc::clone(&found)));
        Ok(found)
    }
}

/// The bytes of a trial within the text of its group.
fn range(group: &Group, slot: usize) -> Option<Range<usize>> {
    let before: u64 = group.trials.iter().take(slot).map(|(_, length)| length).sum();
    let length = group.trials.get(slot)?.1;
    Some(usize::try_from(before).ok()?..usize::try_from(before.checked_add(length)?).ok()?)
}

/// Reads a frame and unpacks it.
pub(crate) fn text(name: &str, source: &mut dyn Source, group: &Group) -> Result<Vec<u8>, LogError> {
    let mut frame = Vec::new();
    source
        .seek(SeekFrom::Start(group.at))
        .and_then(|_| source.take(group.packed).read_to_end(&mut frame))
        .map_err(|error| LogError::io(name, "reading", error))?;
    let wrong = |what: String| LogError::Broken { log: name.to_owned(), at: group.at, what };
    let found = crc32c::crc32c(&frame);
    if found != group.sum || frame.len() as u64 != group.packed {
        return Err(wrong(format!("the frame's checksum is {found:08x}, and the index says {:08x}", group.sum)));
    }
    pack::unpack(&frame, group.text).map_err(|error| wrong(format!("the frame does not unpack: {error}")))
}

/// The records of whole lines. `at` is the frame's place, for errors.
fn records<'t>(name: &'t str, at: u64, text: &'t [u8]) -> impl Iterator<Item = Result<(u64, Record), LogError>> + 't {
    text.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let whole = line.strip_suffix(b"\n").ok_or(Flaw::Cut);
        whole.and_then(line::decode).map_err(|flaw| match (line.strip_suffix(b"\n").map(Head::read), flaw) {
            // The bytes are sound, and what they say is not known or does not fit.
            (Some(Ok(head)), flaw @ (Flaw::Unknown(_) | Flaw::Fields { .. })) => refuse(name, head.n, at, flaw),
            (_, flaw) => broken(name, at, &flaw),
        })
    })
}

fn broken(name: &str, at: u64, flaw: &Flaw) -> LogError {
    LogError::Broken { log: name.to_owned(), at, what: format!("a line in the frame that begins there: {flaw}") }
}
