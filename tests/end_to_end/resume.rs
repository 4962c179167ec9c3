//! Runs that are killed in the middle: what was recorded is never bought again, and the end is that of a run left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use aigo_tests::mock::Mock;

use crate::harness::{assert_replays, folder, only_run, recorded, run, start, task, trials};

const JOBS: &str = "6";
const ROUNDS: usize = 7;
/// Far more than a process needs to make its next call; a run that makes none in this time has a fault.
const LONGEST: Duration = Duration::from_mins(1);

/// A server, and a folder with a task that asks it.
fn server(name: &str, fixture: &str) -> (Mock, PathBuf) {
    let mock = Mock::start(0, Duration::from_millis(2)).unwrap();
    let folder = folder(name);
    task(&folder, fixture, &[("BASE_URL", &mock.base_url())]);
    (mock, folder)
}

#[test]
fn nothing_recorded_is_bought_again_and_the_end_is_that_of_a_run_left_alone() {
    let (mock, folder) = server("resume", "remote");
    let alone = run(&folder, &["run", "task.yaml", "--runs", "alone", "--format", "json", "-j", JOBS]);
    assert_eq!(alone.code, 0, "{}", alone.err);
    let (arrived, bodies) = (mock.arrivals().len(), mock.billed());
    assert!(bodies.values().all(|&billed| billed == 1), "all bodies of the task differ, so marks tell calls apart");

    let mut chance = 0x00c0_ffee_u64;
    let (mut held, mut first_recorded_in) = (BTreeSet::new(), BTreeMap::new());
    let (mut answers_at_kills, mut unanswered_at_kills) = (Vec::new(), Vec::new());
    let mut asked_in_round: Vec<BTreeSet<String>> = Vec::new();
    for round in 0..ROUNDS {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let before = mock.arrivals().len();
        // Some thirty calls a round, of about two hundred in all, so that no round comes to the end.
        mock.hold_after((chance >> 33) as usize % 28 + 1);
        let killed = match round {
            0 => start(&folder, &["run", "task.yaml", "-j", JOBS]),
            _ => start(&folder, &["resume", "last", "-j", JOBS]),
        };
        assert!(mock.wait_until_held(LONGEST), "round {round}: the run asks nothing");
        killed.kill();
        let path = only_run(&folder);
        let (marks, unanswered) = recorded(&path);
        assert!(marks.is_superset(&held), "round {round}: an answer is gone from the log");
        for mark in &marks {
            first_recorded_in.entry(mark.clone()).or_insert(round);
        }
        asked_in_round.push(mock.arrivals()[before..].iter().map(|arrival| arrival.mark.clone()).collect());
        let again: Vec<_> = asked_in_round[round].intersection(&held).collect();
        assert!(again.is_empty(), "round {round} asks again for what it had: {again:?}");
        answers_at_kills.push(marks.len());
        unanswered_at_kills.push(unanswered);
        held = marks;
    }
    // A test that killed nothing in the middle would prove nothing.
    assert!(answers_at_kills.iter().any(|&n| n > 0) && answers_at_kills.iter().all(|&n| n < arrived));
    assert!(unanswered_at_kills.iter().any(|&n| n > 0), "{unanswered_at_kills:?}");

    mock.lift();
    let before = mock.arrivals().len();
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", JOBS]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let last: BTreeSet<String> = mock.arrivals()[before..].iter().map(|arrival| arrival.mark.clone()).collect();
    assert!(last.is_disjoint(&held), "the last resume asks again for what it had");
    let path = only_run(&folder);
    assert_eq!(resumed.digest(), alone.digest());
    assert_replays(&folder, &path, &resumed);

    for (mark, billed) in mock.billed() {
        // Once in the run left alone, once here, and once more for each kill before its answer was in the log.
        let kills = first_recorded_in.get(&mark).copied().unwrap_or(ROUNDS);
        assert!(billed <= 2 + kills as u64, "{mark} was billed {billed} times, with {kills} kills before its answer");
    }
    let total: u64 = mock.billed().values().sum();
    let lost: usize = trials(&path).iter().flat_map(|trial| &trial.calls).filter(|call| call.got.is_none()).count();
    assert_eq!(lost, *unanswered_at_kills.last().unwrap(), "the log keeps every call that was lost");
    assert!(total as usize <= 2 * arrived + lost, "{total} bought: {arrived} twice, and {lost} lost to kills");
}

#[test]
fn a_run_that_has_ended_asks_nothing_when_it_is_resumed() {
    let (mock, folder) = server("resume_ended", "simple");
    let first = run(&folder, &["run", "task.yaml", "--format", "json"]);
    assert_eq!(first.code, 0, "{}", first.err);
    let asked = mock.arrivals().len();
    let again = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!((again.code, &again.out), (0, &first.out), "{}", again.err);
    assert_eq!(mock.arrivals().len(), asked);
    assert_replays(&folder, &only_run(&folder), &again);
}

#[test]
fn a_second_writer_is_refused_and_the_first_goes_on() {
    let (mock, folder) = server("resume_twice", "simple");
    mock.hold_after(0);
    let first = start(&folder, &["run", "task.yaml", "--format", "json"]);
    assert!(mock.wait_until_held(LONGEST));
    let second = run(&folder, &["resume", "last"]);
    assert_eq!(second.code, 6, "{}", second.err);
    assert!(second.err.contains("[L0103]") && second.err.contains("another process is writing"), "{}", second.err);
    mock.lift();
    let first = first.wait();
    assert_eq!(first.code, 0, "{}", first.err);
    assert_replays(&folder, &only_run(&folder), &first);
}

#[test]
fn an_interrupted_run_lets_calls_come_home_and_goes_on_later() {
    let (mock, folder) = server("interrupt", "simple");
    mock.hold_after(2);
    let first = start(&folder, &["run", "task.yaml", "-j", "2", "--format", "json"]);
    assert!(mock.wait_until_held(LONGEST));
    let sent = std::process::Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap();
    assert!(sent.success());
    // What it says on the interruption is the sign that the switch is thrown; then the held answers may come.
    let first = first.wait_after_note("stopping:", || mock.lift());
    assert_eq!(first.code, 130, "{}", first.err);
    assert!(first.json()["outcomes"]["good"]["open"].as_i64().unwrap() > 0);
    let path = only_run(&folder);
    let (_, unanswered) = recorded(&path);
    assert_eq!(unanswered, 0, "calls in flight came home");
    let resumed = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_replays(&folder, &path, &resumed);
    assert!(mock.billed().values().all(|&billed| billed == 1), "{:?}", mock.billed());
}
