//! A disk that becomes full in the middle of a run, a real one of 5 MB. Where nothing may be mounted there is none, and this
//! says so; the journal's own tests have a disk that is played.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use aigo_tests::mock::Mock;

use crate::harness::{assert_replays, folder, only_run, run, task, trials};

/// A file system of 5 MB, as long as this value lives.
struct Small<'f>(&'f Path);

impl<'f> Small<'f> {
    fn mount(at: &'f Path) -> Option<Self> {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=5m", "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

#[expect(clippy::print_stderr, reason = "a test that did not run says so")]
#[test]
fn a_full_disk_ends_a_run_that_can_be_resumed() {
    let folder = folder("full_disk");
    let runs = folder.join("runs");
    std::fs::create_dir(&runs).unwrap();
    let Some(_disk) = Small::mount(&runs) else {
        eprintln!("skipped: nothing may be mounted here");
        return;
    };
    // What is left of the 5 MB is less than the run needs.
    let filler = folder.join("runs/filler");
    std::fs::write(&filler, vec![b'x'; (5 << 20) - (40 << 10)]).unwrap();
    let mock = Mock::start(0, Duration::from_millis(1)).unwrap();
    task(&folder, "remote", &[("BASE_URL", &mock.base_url())]);
    let full = run(&folder, &["run", "task.yaml", "-j", "16"]);
    assert_eq!(full.code, 6, "{}", full.err);
    assert!(full.err.contains("[L0106]") && full.err.contains("no space is left"), "{}", full.err);
    std::fs::remove_file(&filler).unwrap();
    let path = only_run(&folder);
    let answered = trials(&path).iter().flat_map(|trial| &trial.calls).filter(|call| call.got.is_some()).count();
    assert!(answered > 0, "nothing was recorded: the disk was full too early");
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "16"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    // What was in flight when the disk was full, at each of the three models, was bought in vain, and nothing that is recorded
    // twice.
    let billed: u64 = mock.bills().values().map(|bill| bill.answers).sum();
    let recorded = trials(&path).iter().flat_map(|trial| &trial.calls).filter(|call| call.got.is_some()).count();
    assert!(billed as usize <= recorded + 3 * 16, "{billed} billed, {recorded} recorded");
    assert_replays(&folder, &path, &resumed);
}
