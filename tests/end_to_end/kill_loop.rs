//! The kill loop: runs with 64 calls in flight that are killed at random moments, and their resumes as well. No recorded answer
//! is lost or bought twice, and what is bought in vain is at most what was in flight.
//!
//! `AIGO_KILLS=200 cargo test -p aigo-tests kill_loop` is the long one.

use std::collections::BTreeSet;
use std::time::Duration;

use aigo_tests::mock::Mock;

use crate::harness::{assert_replays, folder, only_run, recorded, run, start, task};

const IN_FLIGHT: usize = 64;
/// Each of the task's three models has as many calls in flight.
const MODELS: usize = 3;
/// How many kills there are unless the environment says.
const KILLS: usize = 12;
/// Far more than a process needs to make its next call; a run that makes none in this time has a fault.
const LONGEST: Duration = Duration::from_mins(2);

fn kills() -> usize {
    std::env::var("AIGO_KILLS").ok().map_or(KILLS, |kills| kills.parse().expect("a number of kills"))
}

#[expect(clippy::print_stderr, reason = "how hard it was tried is the point")]
#[test]
fn kill_loop_loses_nothing_recorded_and_buys_nothing_twice() {
    let kills = kills();
    let mock = Mock::start(0, Duration::from_millis(3)).unwrap();
    let folder = folder("kill_loop");
    let topics: Vec<String> = (0..kills.max(8)).map(|at| format!("topic{at}")).collect();
    let topics = format!("[{}]", topics.join(", "));
    let replaced = [
        ("BASE_URL", mock.base_url()),
        ("[seats, prices, plans, refunds, invoices, limits]", topics),
        ("[terse, confused]", "[terse, confused, angry]".to_owned()),
    ];
    let replaced: Vec<(&str, &str)> = replaced.iter().map(|(from, to)| (*from, to.as_str())).collect();
    task(&folder, "remote", &replaced);
    let jobs = IN_FLIGHT.to_string();

    let mut chance = 0x5eed_cafe_u64;
    let mut random = move |below: usize| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) as usize % below
    };
    let mut held: BTreeSet<String> = BTreeSet::new();
    let (mut landed_inside, mut lost_before) = (0, 0);
    for kill in 0..kills {
        let before = mock.arrivals().len();
        let killed = match kill {
            0 => start(&folder, &["run", "task.yaml", "-j", &jobs]),
            _ => start(&folder, &["resume", "last", "-j", &jobs]),
        };
        // Some of the resumes are killed while they still read the log; the others after some calls, at whatever the process
        // is doing when that many have come in.
        if kill == 0 || random(8) > 0 {
            assert!(mock.wait_until_arrived(before + 1 + random(24), LONGEST), "kill {kill}: the run asks nothing");
        }
        killed.kill();
        let path = only_run(&folder);
        let (marks, lost) = recorded(&path);
        assert!(marks.is_superset(&held), "kill {kill}: a recorded answer is gone");
        let asked: BTreeSet<String> = mock.arrivals()[before..].iter().map(|arrival| arrival.mark.clone()).collect();
        let again: Vec<_> = asked.intersection(&held).collect();
        assert!(again.is_empty(), "kill {kill}: asks again for what it had: {again:?}");
        assert!(lost - lost_before <= MODELS * IN_FLIGHT, "kill {kill}: {lost} lost, {lost_before} before it");
        landed_inside += usize::from(lost > lost_before);
        (held, lost_before) = (marks, lost);
    }
    assert!(
        landed_inside * 2 > kills,
        "of {kills} kills only {landed_inside} landed inside of a call: this proves little"
    );

    let before = mock.arrivals().len();
    let resumed = run(&folder, &["resume", "last", "--format", "json", "-j", &jobs]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let last: BTreeSet<String> = mock.arrivals()[before..].iter().map(|arrival| arrival.mark.clone()).collect();
    assert!(!last.is_empty() && last.is_disjoint(&held), "the last resume asks again for what it had, or for nothing");
    let path = only_run(&folder);
    let (marks, lost) = recorded(&path);
    let billed: u64 = mock.bills().values().map(|bill| bill.answers).sum();
    assert!(billed as usize <= marks.len() + lost, "{billed} billed, {} recorded, {lost} lost", marks.len());
    assert!(billed as usize <= marks.len() + kills * MODELS * IN_FLIGHT);
    assert_replays(&folder, &path, &resumed);
    eprintln!("{kills} kills, {landed_inside} inside of a call: {} answers, {billed} billed, {lost} lost", marks.len());
}
