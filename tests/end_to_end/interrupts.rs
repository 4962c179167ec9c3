//! Ctrl-C at many moments: once, and the calls in flight come home; twice, and the run ends where it is. Nothing recorded is
//! lost or bought again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use aigo_tests::mock::Mock;

use crate::harness::{assert_replays, folder, only_run, run, start, task, trials};

/// How long a test waits for something that surely comes.
const LONGEST: Duration = Duration::from_mins(1);

fn interrupt(process: u32) {
    assert!(Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap().success());
}

/// Answers and unanswered calls in a log.
fn counted(path: &Path) -> (i64, i64) {
    let calls: Vec<_> = trials(path).into_iter().flat_map(|trial| trial.calls).collect();
    let answered = calls.iter().filter(|call| call.got.is_some()).count();
    (answered as i64, (calls.len() - answered) as i64)
}

#[test]
fn once_at_many_moments() {
    // 120 calls, eight at a time.
    for moment in [0, 1, 6, 7, 8, 9, 25, 40, 77, 99, 111] {
        let mock = Mock::start(0, Duration::ZERO).unwrap();
        let folder = folder(&format!("interrupt_{moment}"));
        task(&folder, "remote", &[("BASE_URL", &mock.base_url())]);
        mock.hold_after(moment);
        let running = start(&folder, &["run", "task.yaml", "-j", "8", "--format", "json"]);
        assert!(mock.wait_until_held(LONGEST));
        interrupt(running.id());
        // What it says on the interruption is the sign that the switch is thrown; then the held answers may come.
        let stopped = running.wait_after_note("stopping:", || mock.lift());
        assert_eq!(stopped.code, 130, "{}", stopped.err);
        let path = only_run(&folder);
        let (answered, unanswered) = counted(&path);
        assert_eq!(unanswered, 0, "at {moment} calls in flight came home");
        let told = stopped.json()["calls"].as_object().unwrap().values().map(|n| n.as_i64().unwrap()).sum::<i64>();
        assert_eq!(told, answered, "every answer counts, also those of open conversations");
        assert_eq!(answered, mock.arrivals().len() as i64);
        assert_replays(&folder, &path, &stopped);

        let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "8"]);
        assert_eq!(resumed.code, 0, "{}", resumed.err);
        assert!(mock.billed().values().all(|&billed| billed == 1), "at {moment}: {:?}", mock.billed());
        assert_replays(&folder, &path, &resumed);
    }
}

#[test]
fn while_everyone_rests() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let refused = aigo_tests::mock::Fault::new(1..=u64::MAX, 429, "slow_down").header("retry-after", "200");
    mock.script(vec![refused]);
    let folder = folder("interrupt_resting");
    task(&folder, "remote", &[("BASE_URL", &mock.base_url())]);
    let running = start(&folder, &["run", "task.yaml", "-j", "8"]);
    assert!(mock.wait_until_arrived(1, LONGEST));
    let began = std::time::Instant::now();
    interrupt(running.id());
    let stopped = running.wait();
    assert_eq!(stopped.code, 130, "{}", stopped.err);
    assert!(stopped.out.contains("exit 130\n"), "{}", stopped.out);
    assert!(began.elapsed() < Duration::from_secs(20), "a rest is not slept through");
    mock.script(Vec::new());
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "8"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_replays(&folder, &only_run(&folder), &resumed);
}

#[test]
fn twice_ends_at_once_and_only_what_was_in_flight_is_bought_again() {
    let mock = Mock::start(0, Duration::ZERO).unwrap();
    let folder = folder("interrupt_twice");
    task(&folder, "remote", &[("BASE_URL", &mock.base_url())]);
    mock.hold_after(30);
    let running = start(&folder, &["run", "task.yaml", "-j", "8", "--format", "json"]);
    assert!(mock.wait_until_held(LONGEST));
    let process = running.id();
    interrupt(process);
    // Nothing that is held comes home: without the second one it would wait for ever.
    let stopped = running.wait_after_note("stopping:", || interrupt(process));
    assert_eq!(stopped.code, 130, "{}", stopped.err);
    let path = only_run(&folder);
    let (answered, unanswered) = counted(&path);
    assert!(unanswered > 0 && answered >= 30 - 8, "{answered} answered, {unanswered} not");
    mock.lift();
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", "8"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let twice = mock.billed().values().filter(|&&billed| billed > 1).count() as i64;
    assert!(mock.billed().values().all(|&billed| billed <= 2) && twice <= unanswered, "{twice} of {unanswered}");
    assert_replays(&folder, &path, &resumed);
}
