//! The journal on a disk that loses, reorders, tears and refuses: what `commit` acknowledged is in the log.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may unwrap, and their files are small")]

use std::collections::BTreeSet;
use std::io::{self, Cursor, ErrorKind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use aigo_log::{Ask, At, Durability, Journal, Log, LogError, Record, Site, Storage};
use proptest::prelude::*;

use crate::sample::{self, ask, got, header, open};

/// Blocks are small, so that lines are torn at many places.
const BLOCK: usize = 16;

/// A file whose unsynced blocks are on the disk or not, as chance has it.
#[derive(Default)]
struct Disk {
    file: Vec<u8>,
    /// How much of the file is on the disk.
    synced: usize,
    /// Writes and syncs so far.
    operations: u64,
    syncs: u64,
    /// Lose the power before this operation: what is on the disk then is kept in `crashed`.
    crash_at: Option<u64>,
    crashed: Option<(Vec<u8>, usize, BTreeSet<u64>)>,
    acknowledged: BTreeSet<u64>,
    fail_sync: Option<u64>,
    capacity: Option<usize>,
    /// At most so much in one write.
    part: Option<usize>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Disk>>);

impl Shared {
    fn with<T>(&self, f: impl FnOnce(&mut Disk) -> T) -> T {
        f(&mut self.0.lock().unwrap())
    }

    fn new(set: impl FnOnce(&mut Disk)) -> Self {
        let shared = Self::default();
        shared.with(set);
        shared
    }

    fn log(&self) -> Log {
        Log::read("disk", Cursor::new(self.with(|disk| disk.file.clone()))).unwrap()
    }
}

impl Disk {
    fn step(&mut self) {
        self.operations += 1;
        if self.crash_at == Some(self.operations) {
            self.crashed = Some((self.file.clone(), self.synced, self.acknowledged.clone()));
        }
    }
}

impl Storage for Shared {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|disk| {
            disk.step();
            let room = disk.capacity.map_or(usize::MAX, |capacity| capacity - disk.file.len().min(capacity));
            let length = bytes.len().min(room).min(disk.part.unwrap_or(usize::MAX));
            if length == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            disk.file.extend_from_slice(&bytes[..length]);
            Ok(length)
        })
    }

    fn sync(&self) -> io::Result<()> {
        let upto = self.with(|disk| {
            disk.step();
            disk.syncs += 1;
            if disk.fail_sync == Some(disk.syncs) { Err(io::Error::other("EIO")) } else { Ok(disk.file.len()) }
        })?;
        self.with(|disk| disk.synced = upto);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.with(|disk| disk.file.len()) as u64)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.with(|disk| disk.file.truncate(length as usize));
        Ok(())
    }
}

fn start(disk: &Shared) -> Journal {
    Journal::on("disk", disk.clone(), &header(), Durability::Batch).unwrap()
}

/// Threads that open, ask and wait for each answer, like a run, until the end or a failure.
fn run(disk: &Shared, threads: u64, calls: u64, size: usize) -> Vec<LogError> {
    let journal = start(disk);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for trial in 0..threads {
            let (journal, failures) = (&journal, &failures);
            scope.spawn(move || {
                let one = |call: u64| -> Result<(), LogError> {
                    let asked = journal.write(&ask(trial))?;
                    let (tell, told) = channel();
                    let text = "x".repeat(size + call as usize * 7 % 50);
                    let n = journal.commit(&got(trial, asked, &text), move |outcome| tell.send(outcome).unwrap())?;
                    let outcome = told.recv().unwrap();
                    if outcome.is_ok() {
                        disk.with(|disk| disk.acknowledged.insert(n));
                    }
                    outcome
                };
                let failed = journal.append(&open(trial)).map(drop).and_then(|()| (0..calls).try_for_each(one));
                failures.lock().unwrap().extend(failed.err());
            });
        }
    });
    failures.lock().unwrap().extend(journal.finish().err());
    failures.into_inner().unwrap()
}

/// The numbers of the lines in a log whose questions were answered.
fn answers(log: &Log) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for trial in log.trials() {
        found.extend(trial.unwrap().calls.iter().filter(|call| call.got.is_some()).map(|call| call.n));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 150 } else { 1000 }))]

    /// The power goes at any operation; of the blocks that were not synced, any may be on the disk.
    #[test]
    fn a_loss_of_power_loses_nothing_acknowledged(
        crash_at in 3_u64..60, threads in 1_u64..5, size in 0_usize..200, part in proptest::option::of(1_usize..300),
        survive in proptest::collection::vec(any::<bool>(), 64), length in 0_usize..=100,
    ) {
        let disk = Shared::new(|disk| { disk.crash_at = Some(crash_at); disk.part = part; });
        prop_assert!(run(&disk, threads, 6, size).is_empty());
        let Some((mut file, synced, acknowledged)) = disk.with(|disk| disk.crashed.take()) else { return Ok(()) };
        if synced == 0 { return Ok(()) }
        // The length is metadata, and it may be ahead of the blocks or behind them.
        file.truncate(synced + (file.len() - synced) * length / 100);
        for (block, survives) in (synced / BLOCK..=file.len() / BLOCK).zip(survive.iter().cycle()) {
            let (from, to) = ((block * BLOCK).max(synced), ((block + 1) * BLOCK).min(file.len()));
            if !survives && from < to { file[from..to].fill(0); }
        }
        let log = Log::read("disk", Cursor::new(file)).unwrap();
        for n in acknowledged {
            prop_assert!(n <= log.lines(), "line {n} was acknowledged, and {} are left", log.lines());
        }
        answers(&log);
    }
}

/// A disk whose syncs wait to be allowed.
struct Slow {
    disk: Shared,
    begun: Sender<()>,
    allowed: Mutex<Receiver<()>>,
}

impl Storage for Slow {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        // The test may be gone before the last sync.
        let _ = self.begun.send(());
        let _ = self.allowed.lock().unwrap().recv();
        self.disk.sync()
    }

    fn size(&self) -> io::Result<u64> {
        self.disk.size()
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.disk.set_len(length)
    }
}

#[test]
fn what_is_written_during_a_sync_waits_for_the_next_and_is_not_marked_by_this_one() {
    let (disk, (begun, begins), (allow, allowed)) = (Shared::default(), channel(), channel());
    let slow = Slow { disk: disk.clone(), begun, allowed: Mutex::new(allowed) };
    allow.send(()).unwrap();
    // Dropped before the journal, so that a failed assertion does not wait for a sync.
    let (journal, allow) = (Journal::on("disk", slow, &header(), Durability::Batch).unwrap(), allow);
    begins.recv().unwrap();
    let (tell, told) = channel();
    let commit = |trial: u64| {
        let tell = tell.clone();
        journal.commit(&open(trial), move |outcome| tell.send((trial, outcome.is_ok())).unwrap()).unwrap()
    };
    let first = commit(0);
    begins.recv().unwrap();
    // A write does not wait for the sync; two that wait share the next.
    let written = journal.write(&ask(0)).unwrap();
    assert_eq!(disk.log().lines(), written);
    commit(1);
    commit(2);
    assert!(told.try_recv().is_err());
    allow.send(()).unwrap();
    assert_eq!(told.recv().unwrap(), (0, true));
    begins.recv().unwrap();
    assert!(told.try_recv().is_err());
    // This line brings the marker of the first sync, which began before `written` was.
    journal.write(&ask(0)).unwrap();
    assert_eq!(disk.log().durable(), first);
    allow.send(()).unwrap();
    assert_eq!([told.recv().unwrap(), told.recv().unwrap()], [(1, true), (2, true)]);
    drop(allow);
    journal.finish().unwrap();
    let syncs = disk.with(|disk| disk.syncs);
    // The header's, one for each batch, and two of `finish`.
    assert_eq!(syncs, 5);
}

#[test]
fn a_failed_sync_fails_everyone_and_is_never_tried_again() {
    for at in 2..6 {
        let disk = Shared::new(|disk| disk.fail_sync = Some(at));
        let failures = run(&disk, 4, 100, 10);
        // Four threads and `finish`.
        assert_eq!(failures.len(), 5);
        for failure in failures {
            assert!(failure.code() == "L0105" && failure.to_string().contains("syncing failed: EIO"), "{failure}");
        }
        let (syncs, acknowledged) = disk.with(|disk| (disk.syncs, disk.acknowledged.clone()));
        assert_eq!(syncs, at);
        let log = disk.log();
        assert!(acknowledged.iter().all(|n| *n <= log.lines()));
    }
    let disk = Shared::new(|disk| disk.fail_sync = Some(1));
    assert_eq!(Journal::on("disk", disk, &header(), Durability::Batch).err().unwrap().code(), "L0105");
}

#[test]
fn a_full_disk_leaves_whole_lines_and_all_that_was_acknowledged() {
    for capacity in (400..1400).step_by(13) {
        let disk = Shared::new(|disk| disk.capacity = Some(capacity));
        let failures = run(&disk, 3, 100, 10);
        assert_eq!(failures.len(), 4);
        assert!(failures.iter().all(|failure| failure.code() == "L0106"), "{failures:?}");
        let log = disk.log();
        assert_eq!(log.state(), aigo_log::State::Clean);
        let acknowledged = disk.with(|disk| disk.acknowledged.clone());
        assert!(acknowledged.iter().all(|n| *n <= log.lines()), "{acknowledged:?} {}", log.lines());
    }
}

#[test]
fn a_finished_log_is_marked_to_its_end() {
    let disk = Shared::default();
    assert!(run(&disk, 4, 25, 10).is_empty());
    let log = disk.log();
    assert_eq!(log.durable() + 1, log.lines());
    assert_eq!(disk.with(|disk| disk.synced), disk.with(|disk| disk.file.len()));
    assert_eq!(answers(&log).len(), 100);
    // The header, the lines of the trials, and the marker.
    assert_eq!(log.lines(), 1 + 4 + 200 + 1);
}

#[test]
fn asks_name_their_place_by_its_number_where_the_header_has_it() {
    let disk = Shared::default();
    let header = aigo_log::Run { sites: vec![sample::site("steps"), sample::site("steps.0")], ..header() };
    let journal = Journal::on("disk", disk.clone(), &header, Durability::Batch).unwrap();
    let Record::Ask(asked) = ask(0) else { unreachable!() };
    let elsewhere = Record::Ask(Ask { at: At::Site(sample::site("steps.1")), ..asked.clone() });
    let missing = Record::Ask(Ask { trial: 1, at: At::Row(2), ..asked });
    for record in [open(0), ask(0), elsewhere, open(1), missing] {
        journal.append(&record).unwrap();
    }
    journal.finish().unwrap();
    let text = String::from_utf8(disk.with(|disk| disk.file.clone())).unwrap();
    assert!(text.contains(r#""s":0,"p":1,"i":[2]"#) && text.contains(r#""g":"solve","p":"steps.1","role":"target""#));
    let log = disk.log();
    let sites: Vec<Site> = log.trial(0).unwrap().calls.into_iter().map(|call| call.site).collect();
    assert_eq!(sites, [sample::site("steps.0"), sample::site("steps.1")]);
    let error = log.trial(1).unwrap_err();
    assert!(error.code() == "L0108" && error.to_string().contains("at a place that"), "{error}");
}

#[test]
fn waiting_in_a_process_is_for_the_system_alone() {
    let disk = Shared::default();
    let journal = Journal::on("disk", disk.clone(), &header(), Durability::Process).unwrap();
    let (tell, told) = channel();
    let n = journal.commit(&open(0), move |outcome| tell.send(outcome).unwrap()).unwrap();
    told.recv().unwrap().unwrap();
    assert_eq!(disk.log().lines(), n);
    journal.finish().unwrap();
    assert_eq!(disk.with(|disk| disk.syncs), 0);
    assert_eq!(disk.log().durable(), 0);
}

#[test]
fn who_waits_may_write_panic_and_drop_the_journal() {
    let disk = Shared::default();
    let journal = Arc::new(start(&disk));
    let (tell, told) = channel();
    let inner = Arc::clone(&journal);
    journal.commit(&open(0), |_| panic!("the fault of one who waits")).unwrap();
    let (go, gone) = channel::<()>();
    journal
        .commit(&open(1), move |outcome| {
            outcome.unwrap();
            // By now this is the last one that holds the journal.
            gone.recv().unwrap();
            let n = inner.append(&open(2)).unwrap();
            drop(inner);
            tell.send(n).unwrap();
        })
        .unwrap();
    drop(journal);
    go.send(()).unwrap();
    let n = told.recv().unwrap();
    // The thread finishes behind our back; its storage is gone when it has.
    while Arc::strong_count(&disk.0) > 1 {
        std::thread::yield_now();
    }
    assert!(disk.log().lines() > n);
}

#[test]
fn what_the_journal_writes_itself_is_refused_and_harms_nothing() {
    let disk = Shared::default();
    let journal = start(&disk);
    for record in [sample::durable(0), sample::resumed(), aigo_log::Record::Run(header())] {
        assert_eq!(journal.write(&record).unwrap_err().code(), "L0109");
    }
    let other = aigo_log::Run { format: 2, ..header() };
    assert_eq!(Journal::on("disk", Shared::default(), &other, Durability::Batch).err().unwrap().code(), "L0109");
    // The header is line 1.
    assert_eq!(journal.write(&open(0)).unwrap(), 2);
}
